//! The controller of a running model: takes turns between model threads, asks `dpor` what each operation does, and ends
//! executions.
//!
//! | file | decides |
//! |---|---|
//! | `mod` | what an engine is made of; its state is in cells |
//! | `controller` | what the shims see of it |
//! | `execution` | one run from the first thread to the last, and its teardown |
//! | `threads` | what is known of a model thread; how its body is run |
//! | `foreign` | objects that come from somewhere else |
//! | `tracked` | what has to be gone at the end of an execution |
//! | `unseen` | races that are none |
//! | `storage` | values that live as long as a thread or an execution |
//! | `label` | labels that executions come by |
//! | `process` | threads of simulated processes that end where they are |
//! | `spy` | what a thread was doing when its worker was given up |
//! | `exit` | what to say when the program exits |
//! | `hook` | panics: one report for a failure, none for an unwinding that is only a teardown |
//!
//! Everything runs on one OS thread, the worker, but for short looks from the outside after it was abandoned. Model code runs
//! on fibers, and comes back here through `&dyn Controller` at every operation. So all state is in `Cell`s and in
//! `Shared` cells that are borrowed only for the length of one call which runs no code of the program and does not switch.

mod controller;
mod execution;
pub(crate) mod exit;
mod foreign;
pub(crate) mod hook;
mod label;
mod process;
pub(crate) mod spy;
mod storage;
mod threads;
mod tracked;
mod unseen;

use std::cell::{Cell, UnsafeCell};
use std::panic::Location;
use std::sync::Arc;

use dpor::{EventId, Explorer, Mismatch, Race, ThreadId};
use sync_shims::model::live::Live;

use crate::fiber::{self, Lease, Pulse};
use crate::labels::Watch;
use crate::record::Recorder;
use crate::verdict::Panics;
use threads::Threads;

pub(crate) use threads::PanicNote;

/// A source location.
pub(crate) type Site = &'static Location<'static>;

/// Facts about the objects that are created at a place: see `Controller::learn`.
pub(crate) type Learnt = (Site, u64);

/// State that is borrowed for the length of one call.
pub(crate) struct Shared<T>(UnsafeCell<T>);

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Shared(UnsafeCell::new(value))
    }

    /// Calls `f` with the state. `f` must not run code of the program, switch fibers, or come back to the same cell.
    #[inline]
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: 1. The cell is not `Sync`, so everything happens on one OS thread. 2. By the contract of this method no two
        // calls on the same cell are ever active at once: `f` does not call back, and a fiber is not left within it.
        f(unsafe { &mut *self.0.get() })
    }
}

/// Why the model does not go on.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// A thread panicked.
    Panic(PanicNote),
    /// Threads remain and none can go on.
    Deadlock,
    /// Threads spin, and nobody can change what they read.
    Livelock,
    /// Two plain accesses race.
    Race { race: Race, family: &'static str, what: (&'static str, &'static str), created: Site },
    /// The program did something else than before.
    Nondeterminism(Mismatch),
    /// By its stable code.
    Other { code: &'static str, message: String, help: Option<String>, site: Option<Site> },
}

impl Failure {
    /// The stable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Failure::Panic(_) => "panic",
            Failure::Deadlock => "deadlock",
            Failure::Livelock => "livelock",
            Failure::Race { .. } => "data_race",
            Failure::Nondeterminism(_) => "nondeterminism",
            Failure::Other { code, .. } => code,
        }
    }

    /// Whether two failures are the same for a replay: the same kind at the same place. Threads have other numbers when what
    /// was explored before is another thing.
    pub(crate) fn is_like(&self, other: &Failure) -> bool {
        match (self, other) {
            (Failure::Panic(a), Failure::Panic(b)) => a.place == b.place && a.message == b.message,
            _ => self.code() == other.code(),
        }
    }
}

/// What a fiber asks of the scheduler when it gives up control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// Run that thread.
    Run(ThreadId),
    /// The thread is over.
    Ended,
    /// The thread is over, but has not come back: its stack is kept until the end of the execution.
    Halted,
    /// The execution is over.
    Stop,
}

/// What the engine is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Running an execution.
    Running,
    /// Unwinding what is left of it: shims are inert.
    Ending,
}

/// How one execution came out.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The explorer's own ending.
    Ended(dpor::Ending),
    /// It failed. The events are the last ones that matter for the failure.
    Failed(Failure, Vec<EventId>),
    /// It has to start from the beginning with more facts known.
    Restart,
}

/// The controller of one model on one worker.
pub(crate) struct Engine {
    explorer: Shared<Explorer>,
    pool: Lease,
    threads: Threads,
    phase: Cell<Phase>,
    /// The number of the execution while it runs and is not recorded, else 0: what an operation on an object looks at first,
    /// which settles the phase, the recorder, and whether the object is known in this execution all at once.
    fast: Cell<u64>,
    current: Cell<ThreadId>,
    request: Cell<Request>,
    execution: Cell<u64>,
    failure: Shared<Option<Failure>>,
    /// The last events of the threads involved in the failure.
    failed_at: Shared<Vec<EventId>>,
    restart: Cell<bool>,
    /// Facts about what is created at a place, by the bits of the shims.
    learnt: Shared<Vec<Learnt>>,
    /// Others explore the same model at the same time.
    shared: Cell<bool>,
    /// An execution used a `static` meanwhile.
    met_static: Cell<bool>,
    /// Fibers that are suspended in the middle of a panic.
    suspended_panics: Cell<u32>,
    storage: storage::Storage,
    tracked: Shared<tracked::Tracked>,
    /// Whether every `Arc` must be gone at the end of an execution.
    leaks: Cell<bool>,
    /// Threads that are left at the end of an execution are not unwound.
    abandons: Cell<bool>,
    panics: Panics,
    recorder: Option<Shared<Recorder>>,
    /// What looked like a race and is none: where it was created, where it ended.
    unseen: Shared<Vec<(Site, Site)>>,
    /// The failure in terms of the recorded steps.
    told: Shared<Option<crate::report::trace::Failure>>,
    live: Live,
    /// There are threads of simulated processes.
    processes: Cell<bool>,
    /// A model thread is running.
    on_fiber: Cell<bool>,
    /// Labels that were come by, and the one that is looked for.
    watch: Watch,
    /// The budgets that the program could draw on, by bit.
    budgets: Cell<u8>,
    /// What the owner of the worker sees.
    pulse: Arc<Pulse>,
    /// Executions that this engine has begun, and the first one that is spied on.
    begun: Cell<u64>,
    spied_from: Cell<u64>,
    spy: Shared<Option<spy::Spy>>,
}

impl Engine {
    pub(crate) fn new(config: dpor::Config, stack_bytes: usize, panics: Panics, recorder: Option<Recorder>) -> Engine {
        Engine {
            explorer: Shared::new(Explorer::new(config)),
            pool: Lease::new(stack_bytes),
            threads: Threads::new(),
            phase: Cell::new(Phase::Running),
            fast: Cell::new(0),
            current: Cell::new(ThreadId::MAIN),
            request: Cell::new(Request::Stop),
            execution: Cell::new(0),
            failure: Shared::new(None),
            failed_at: Shared::new(Vec::new()),
            restart: Cell::new(false),
            learnt: Shared::new(Vec::new()),
            shared: Cell::new(false),
            met_static: Cell::new(false),
            suspended_panics: Cell::new(0),
            storage: storage::Storage::new(),
            tracked: Shared::new(tracked::Tracked::default()),
            leaks: Cell::new(false),
            abandons: Cell::new(false),
            panics,
            recorder: recorder.map(Shared::new),
            unseen: Shared::new(Vec::new()),
            told: Shared::new(None),
            live: Live::new(),
            processes: Cell::new(false),
            on_fiber: Cell::new(false),
            watch: Watch::default(),
            budgets: Cell::new(0),
            pulse: fiber::pulse(),
            begun: Cell::new(0),
            spied_from: Cell::new(u64::MAX),
            spy: Shared::new(None),
        }
    }

    /// The only way to change the phase; `execution` must be right.
    fn set_phase(&self, phase: Phase) {
        self.phase.set(phase);
        let fast = phase == Phase::Running && self.recorder.is_none() && !self.is_spied_on();
        self.fast.set(if fast { self.execution.get() } else { 0 });
    }

    /// Looks at the explorer.
    pub(crate) fn explorer<R>(&self, f: impl FnOnce(&mut Explorer) -> R) -> R {
        self.explorer.with(f)
    }

    /// Explores anew, with what has been learnt.
    pub(crate) fn restart(&self, config: dpor::Config) {
        self.explorer.with(|explorer| *explorer = Explorer::new(config));
        self.restart.set(false);
    }

    /// Other engines explore the same model at the same time: an execution that comes to a `static` is given up, and everything
    /// has to begin anew without the others.
    pub(crate) fn share(&self) {
        self.shared.set(true);
    }

    /// Whether an execution was given up because of a `static`.
    pub(crate) fn met_static(&self) -> bool {
        self.met_static.get()
    }

    /// What has been learnt so far.
    pub(crate) fn learnt(&self) -> Vec<Learnt> {
        self.learnt.with(|learnt| learnt.clone())
    }

    /// Whether an execution fails that leaves an `Arc` behind.
    pub(crate) fn look_for_leaks(&self, leaks: bool) {
        self.leaks.set(leaks);
    }

    /// Threads that are left at the end of an execution are not unwound: the program aborts the process then. What they own is
    /// lost.
    pub(crate) fn abandon_threads(&self, abandons: bool) {
        self.abandons.set(abandons);
    }

    /// Starts with this known.
    pub(crate) fn know(&self, facts: &[Learnt]) {
        self.learnt.with(|learnt| learnt.extend_from_slice(facts));
    }

    /// Records from the beginning again.
    pub(crate) fn record_anew(&self) {
        if let Some(recorder) = &self.recorder {
            recorder.with(|recorder| *recorder = Recorder::new());
        }
    }

    /// The failure as the report tells it, in terms of the recorded steps.
    pub(crate) fn told_failure(&self) -> Option<crate::report::trace::Failure> {
        self.told.with(Option::take)
    }

    /// The recorder of a replay.
    pub(crate) fn into_recorder(self) -> Option<Recorder> {
        self.recorder.map(|recorder| recorder.0.into_inner())
    }
}
