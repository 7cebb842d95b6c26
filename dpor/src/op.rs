//! What a thread asks for: one visible operation, as plain data and pure functions.

use core::fmt;
use core::panic::Location;

pub use core::sync::atomic::Ordering;

/// Where in the source an operation was written.
pub type Site = &'static Location<'static>;

/// A model thread. The number is a function of the spawn path (parent, n-th child), so it is the same in every
/// execution; the main thread is 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The thread that runs the body of the model.
    pub const MAIN: ThreadId = ThreadId(0);

    /// The number as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

/// A shared object (an atomic, a mutex, a path, …) within one execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// The object of operations that have none (fences, choices).
    pub const NONE: ObjectId = ObjectId(u32::MAX);

    /// The number as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == ObjectId::NONE { f.write_str("-") } else { write!(f, "o{}", self.0) }
    }
}

/// One possible effect of an operation on the state of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The state afterwards; ignored unless `writes`.
    pub state: u64,
    /// What the caller gets.
    pub result: u64,
    /// Whether a new state is written (even an equal one), or the object was only read.
    pub writes: bool,
    /// Which budget the outcome draws on.
    pub budget: Budget,
}

impl Outcome {
    /// The state becomes `state`, the caller gets `result`.
    #[inline]
    pub fn write(state: u64, result: u64) -> Self {
        Outcome { state, result, writes: true, budget: Budget::Free }
    }

    /// The state is only read, the caller gets `result`.
    #[inline]
    pub fn read(result: u64) -> Self {
        Outcome { state: 0, result, writes: false, budget: Budget::Free }
    }

    /// The same outcome, drawn from `budget`.
    #[inline]
    pub fn costs(self, budget: Budget) -> Self {
        Outcome { budget, ..self }
    }
}

/// What limits how often an outcome may be taken in one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Budget {
    /// No limit.
    #[default]
    Free = 0,
    /// Spurious wake-ups and spurious failures of `compare_exchange_weak`.
    Spurious = 1,
    /// Crashes of simulated processes.
    Crash = 2,
    /// Process ids given out again.
    PidReuse = 3,
    /// Moves of the clock that no idle thread asked for.
    Clock = 4,
}

/// Number of budgets, `Free` included.
pub const BUDGETS: usize = 5;

/// The outcomes of an operation in a state: none if it cannot proceed, else the canonical one first (not a timeout, not
/// spurious, the first waiter, the first alternative).
#[derive(Debug, Default)]
pub struct Outcomes {
    list: Vec<Outcome>,
}

impl Outcomes {
    /// Adds one more.
    #[inline]
    pub fn push(&mut self, outcome: Outcome) {
        self.list.push(outcome);
    }

    /// Forgets all.
    #[inline]
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// All of them, in order.
    #[inline]
    pub fn as_slice(&self) -> &[Outcome] {
        &self.list
    }
}

/// The pure function behind an operation on a guarded or simulated object: pushes the outcomes of `args` in `state` for
/// `thread`; pushing none means that the operation cannot proceed in this state.
///
/// The discipline (see the crate documentation): an operation that changes the state of an object with guarded operations is
/// read-modify-write like (`Outcome::write`); a guarded operation writes too, unless its guard is monotone.
pub type Outs = fn(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes);

/// The pure function behind an atomic read-modify-write: the new value, or `None` if it writes nothing (a failed
/// `compare_exchange`). The result of the operation is the old value.
pub type Update = fn(old: u64, operands: [u64; 2]) -> Option<u64>;

/// What an operation does.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Atomic load.
    Load {
        /// Memory ordering.
        order: Ordering,
    },
    /// Atomic store: blind, it reads nothing.
    Store {
        /// Memory ordering.
        order: Ordering,
        /// What is stored.
        value: u64,
    },
    /// Atomic read-modify-write; returns the old value.
    Update {
        /// New value from old value and operands.
        update: Update,
        /// Passed to `update`.
        operands: [u64; 2],
        /// Memory ordering if it writes.
        order: Ordering,
        /// Memory ordering if it does not.
        failure: Ordering,
        /// Whether it may also fail spuriously (`compare_exchange_weak`), at the cost of `Budget::Spurious`.
        weak: bool,
    },
    /// An operation on a guarded or simulated object. Acquire on its read part, release on its write part, sequentially
    /// consistent with all other operations on such objects. An outcome that does not write has the ordering `failure`.
    Object {
        /// Its outcomes.
        outs: Outs,
        /// Passed to `outs`.
        args: [u64; 2],
        /// Ordering of outcomes that only read: `Relaxed` for those that tell nothing (a failed `try_lock`), `Acquire`
        /// for those that pass something on (a done `Once`).
        failure: Ordering,
        /// Whether a switch to another thread at this operation costs no preemption (timed waits).
        yields: bool,
    },
    /// Memory fence.
    Fence {
        /// Memory ordering.
        order: Ordering,
    },
    /// A choice among `alternatives` values; returns the one chosen. Every alternative but 0 costs `budget`.
    Choose {
        /// How many.
        alternatives: u32,
        /// What a choice other than 0 costs.
        budget: Budget,
    },
    /// Waits until the program can tell which of several things has come about, each of which stays so and rules out the
    /// others: a message has been sent, or all who could send it are gone. It returns what `settled` says of `arg`.
    ///
    /// It is no decision, and it orders nothing. What it says must follow from what the thread waits for and reads right
    /// after it, with operations of their own.
    Await {
        /// What has come about; `None` as long as it is open.
        settled: fn(arg: u64) -> Option<u32>,
        /// Passed to `settled`.
        arg: u64,
    },
    /// A new thread; returns its `ThreadId`.
    Spawn,
    /// Waits for the end of a thread.
    Join {
        /// Which.
        thread: ThreadId,
    },
    /// Whether a thread has ended (0 or 1), without waiting.
    Ended {
        /// Which.
        thread: ThreadId,
    },
    /// The thread is over. Every thread performs it last.
    End,
    /// Closes an iteration of a spinning loop (`spin_loop`): the thread may wait for a value it read to change.
    ///
    /// With [`Role::Wait`], the thread waits until anything changes that it has read since it last did something else than to
    /// read: a wait for several objects at once. If nothing does, that is a deadlock.
    Spin,
    /// `yield_now`: as `Spin`, and a switch at it costs no preemption.
    Yield,
    /// The thread stops for ever here and the execution does not count, unless something it read changes.
    Assume,
}

/// The part of an operation's description that is the same wherever it is used.
#[derive(Debug, PartialEq, Eq)]
pub struct Info {
    /// The method, as the user writes it: `fetch_add`, `lock`.
    pub name: &'static str,
    /// The type it belongs to, as the user writes it: `AtomicUsize`, `Mutex`.
    pub family: &'static str,
    /// What it means for who waits for whom.
    pub role: Role,
}

/// What an operation means for the explanation of a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing.
    Plain,
    /// Success makes the thread an owner of the object (`lock`); being blocked at it waits for the owners.
    Acquire,
    /// As `Acquire`, beside others that share the object (`read`); being blocked at it waits for owners that do not.
    Share,
    /// Keeps those out who want to share the object, until the thread owns it.
    Announce,
    /// Ends the ownership (`unlock`).
    Release,
    /// Blocked until somebody signals (`park`, condition variable wait, `recv`, `accept`).
    Wait,
    /// Signals (`unpark`, `notify_one`, `send`).
    Signal,
    /// A wait has ended by itself, which the thread has decided already ([`Action::Spin`]).
    Elapsed,
}

/// One visible operation that a thread wants to do next.
#[derive(Clone, Copy)]
pub struct Op {
    /// What it does.
    pub action: Action,
    /// On which object (from [`Explorer::resolve`](crate::Explorer::resolve)); `ObjectId::NONE` if on none.
    pub object: ObjectId,
    /// Its description.
    pub info: &'static Info,
    /// Where it was written.
    pub site: Site,
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{} on {:?} at {}", self.info.family, self.info.name, self.object, self.site)
    }
}

/// A plain (non-atomic) access to memory that the race detector watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads the memory.
    Read,
    /// Writes, moves, drops or frees it.
    Write,
}
