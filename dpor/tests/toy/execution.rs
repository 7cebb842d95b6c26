//! The canonical form of an execution: what it did, without the order in which it was found.

use std::fmt;

/// The n-th visible operation of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) thread: u8,
    pub(crate) index: u8,
}

/// Which write an operation reads from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Source {
    /// It reads nothing.
    None,
    /// The initial value.
    Init,
    /// The write (part) of this operation.
    Write(At),
}

/// One visible operation as it was performed. Both parts of a read-modify-write are one entry: they cannot be told apart by
/// anything that the comparison looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Entry {
    /// Which instruction.
    pub(crate) pc: u16,
    pub(crate) source: Source,
    /// Which of its outcomes.
    pub(crate) choice: u8,
    /// What the thread got.
    pub(crate) result: u64,
    /// What was written.
    pub(crate) written: Option<u64>,
}

/// How a thread ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Status {
    Finished,
    /// It cannot perform this instruction.
    Blocked(u16),
    /// It waits at the end of an iteration of a loop, or for ever after a failed assumption.
    Stopped(u16),
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Complete,
    Deadlock,
    Livelock,
}

/// One class of executions.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Execution {
    pub(crate) kind: Kind,
    pub(crate) threads: Vec<(Vec<Entry>, Status)>,
    /// The writes of every variable in modification order.
    pub(crate) order: Vec<Vec<At>>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::None => write!(f, "-"),
            Source::Init => write!(f, "init"),
            Source::Write(at) => write!(f, "{at:?}"),
        }
    }
}

impl fmt::Debug for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}.{}", self.thread + 1, self.index)
    }
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)?;
        for (t, (entries, status)) in self.threads.iter().enumerate() {
            write!(f, "\n    t{}:", t + 1)?;
            for e in entries {
                write!(f, " [{} rf {:?}", e.pc, e.source)?;
                if e.choice != 0 {
                    write!(f, " choice {}", e.choice)?;
                }
                write!(f, " -> {}", e.result as i64)?;
                if let Some(value) = e.written {
                    write!(f, " writes {}", value as i64)?;
                }
                write!(f, "]")?;
            }
            write!(f, " {status:?}")?;
        }
        write!(f, "\n    order: {:?}", self.order)
    }
}

/// What brute force, or an explorer, says about one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Facts {
    /// It has a data race.
    pub(crate) racy: bool,
    /// It violates an assertion or a final condition.
    pub(crate) violating: bool,
    /// The smallest number of preemptions of its sequentially consistent orders; `None` if it has none.
    pub(crate) preemptions: Option<u32>,
    /// The same of its orders with at most one and at most two stale accesses.
    pub(crate) with_stale: [Option<u32>; 2],
}
