//! The events of one recorded execution: what the sinks (text, later JSON and HTML) print. No addresses, no times.

use std::time::Duration;

use dpor::Role;

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file as the compiler names it (relative to the workspace or absolute).
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A model thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The given name, "main", or none: then the report names it after its creation site.
    pub name: Option<String>,
    /// Where it was spawned; `None` for main.
    pub spawned: Option<Place>,
    /// The simulated process it belongs to, when there are any.
    pub process: Option<String>,
}

/// A shared object.
#[derive(Clone, Debug)]
pub struct Object {
    /// The type, as the user writes it: `AtomicUsize`, `Mutex`.
    pub family: &'static str,
    /// A name given by the user, a path, …; none: the report takes the receiver expression from the source of its uses, or
    /// else type and creation site.
    pub name: Option<String>,
    /// Where it was created.
    pub created: Option<Place>,
}

/// What a thread's column shows at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Not started yet, or ended: blank.
    Absent,
    /// Performs this step: `●`.
    Steps,
    /// Could run: `│`.
    CouldRun,
    /// Waits: `○`.
    Blocked,
    /// Fails here: `✗`.
    Fails,
}

/// What a step did to its object; values are rendered already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing to show.
    None,
    /// `→ v`
    Read(String),
    /// `a → b`
    Write {
        /// Value before (the co-predecessor's).
        from: String,
        /// Value after.
        to: String,
    },
    /// `CAS a→b failed (was v)`, with `spuriously` if it need not have.
    CasFailed {
        /// What it expected.
        expected: String,
        /// What it would have written.
        new: String,
        /// What was there.
        was: String,
        /// Failed although the value was as expected.
        spurious: bool,
    },
    /// Anything else: `acquired`, `would block`, `AddrInUse`.
    Text(String),
}

/// What a read took its value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadsFrom {
    /// The step that wrote it, or `None` for the initial value.
    pub step: Option<usize>,
    /// If that was not the newest write in this order: the step that wrote the newest.
    pub stale: Option<usize>,
}

/// One step of the printed order. Numbers count from 1.
#[derive(Clone, Debug)]
pub struct Step {
    /// Which thread (index into `Trace::threads`).
    pub thread: usize,
    /// On what (index into `Trace::objects`).
    pub object: Option<usize>,
    /// The method: `load`, `lock`, `spawn`.
    pub method: &'static str,
    /// What is written in its parentheses: the ordering, the value, the name of the spawned thread.
    pub arguments: String,
    /// What it means for who waits for whom.
    pub role: Role,
    /// What it did.
    pub effect: Effect,
    /// Reads only.
    pub reads: Option<ReadsFrom>,
    /// Writes of atomics only: the step that wrote the value which this one replaces, if that was another thread's and this
    /// step did not read it.
    pub overwrites: Option<usize>,
    /// The time since the start of the execution, if there is a clock that has moved.
    pub time: Option<Duration>,
    /// Where.
    pub site: Place,
    /// The thread that was preempted right before this step: it could have gone on.
    pub preempts: Option<usize>,
    /// One mark a thread, `Mark::Steps` (or `Fails`) for `thread`.
    pub marks: Vec<Mark>,
}

/// Why a thread cannot go on at the end of a deadlock or livelock.
#[derive(Clone, Debug)]
pub struct Waiter {
    /// The thread.
    pub thread: usize,
    /// What it wants to do: `lock`, `join`, `park`.
    pub method: &'static str,
    /// On what.
    pub object: Option<usize>,
    /// Who could let it go on: the owners of a lock (thread, step of the acquisition), the thread joined.
    pub waits_for: Vec<(usize, Option<usize>)>,
    /// What the wait means.
    pub role: Role,
    /// The last step that signalled the object (`unpark`, `notify_one`), if any.
    pub last_signal: Option<usize>,
    /// The other ends of a channel that are there, whose holders do nothing.
    pub ends: Vec<End>,
    /// Where it waits.
    pub site: Place,
}

/// One end of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// What it is called: `sender`.
    pub what: &'static str,
    /// Where it was created.
    pub created: Place,
    /// The thread that used it last, if any has.
    pub user: Option<usize>,
}

/// One of the two accesses of a data race.
#[derive(Clone, Debug)]
pub struct RacyAccess {
    /// By whom.
    pub thread: usize,
    /// "read", "write", "drop", …
    pub what: String,
    /// Where.
    pub site: Place,
    /// The last step of that thread before the access (0: none).
    pub after_step: usize,
}

/// What went wrong.
#[derive(Clone, Debug)]
pub enum Failure {
    /// A thread panicked.
    Panic {
        /// Which.
        thread: usize,
        /// The message.
        message: String,
        /// Where.
        site: Place,
    },
    /// Threads remain and none can go on.
    Deadlock {
        /// All that remain.
        waiters: Vec<Waiter>,
    },
    /// Threads spin and nobody can change what they read.
    Livelock {
        /// The spinning (and blocked) threads.
        waiters: Vec<Waiter>,
    },
    /// Two conflicting plain accesses that happens-before does not order.
    DataRace {
        /// The memory.
        object: usize,
        /// The access that came first in this order.
        first: RacyAccess,
        /// The other.
        second: RacyAccess,
        /// The missing edge in a sentence, if one can be named.
        missing: Option<String>,
    },
    /// The same prefix of decisions led to another operation.
    Nondeterminism {
        /// The thread.
        thread: usize,
        /// What it did when recorded: description and place.
        recorded: (String, Place),
        /// What it does now.
        now: (String, Place),
    },
    /// Everything else, by its stable code: `outside`, `limit`, `leak`, `vacuous`, `internal`.
    Other {
        /// The stable code.
        code: &'static str,
        /// One sentence that names the thing.
        message: String,
        /// What to do about it.
        help: Option<String>,
        /// Where.
        site: Option<Place>,
    },
}

/// How a failure was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Number of the execution, from 1.
    pub execution: u64,
    /// Preemptions of the printed order; `None` if it has no SC order.
    pub preemptions: Option<u32>,
    /// For 0, 1, … fewer preemptions: number of executions with at most so many, none of which fails.
    pub fewer: Vec<u64>,
    /// Seed of a random search.
    pub seed: Option<u64>,
    /// How that drew its executions; empty: uniformly.
    pub sampling: String,
    /// Replayed from a file or token.
    pub replayed: bool,
    /// What it was when it was found, if it was reduced.
    pub shrunk: Option<Shrunk>,
}

/// What a failure was before it was reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// Preemptions.
    pub preemptions: u32,
    /// Steps.
    pub steps: u64,
    /// Executions that the reduction took.
    pub executions: u64,
}

/// Whether what waits for an object of this type waits for a thread that initialises it.
pub(crate) fn initialises(family: &str) -> bool {
    ["Once", "OnceLock", "LazyLock"].contains(&family)
}

/// Whether the failure needs weak memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryNote {
    /// It is an interleaving: it fails under SC too.
    FailsUnderSc,
    /// It is a data race, and one with every ordering `SeqCst` too.
    RacesWithEveryOrdering,
    /// It is a data race, and none with every ordering `SeqCst`.
    OrderingCures,
    /// It has a read that no interleaving allows.
    NeedsWeakMemory,
    /// The model ran under SC.
    RanUnderSc,
}

/// A recorded failing execution.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Name of the test: the OS thread that called `model` (libtest names it after the test), else the program.
    pub test: String,
    /// All threads, main first.
    pub threads: Vec<Thread>,
    /// All objects that a step names.
    pub objects: Vec<Object>,
    /// In the printed order.
    pub steps: Vec<Step>,
    /// What went wrong.
    pub failure: Failure,
    /// How it was found.
    pub found: Found,
    /// Whether it needs weak memory.
    pub memory: Option<MemoryNote>,
    /// The verdict line of the whole run.
    pub verdict: String,
    /// Path of the replay file, relative to the package, if written.
    pub replay: Option<String>,
    /// The command that replays it, without the environment: `cargo test two_increments`, `cargo run --example counter`.
    pub command: String,
    /// The replay token.
    pub token: String,
}
