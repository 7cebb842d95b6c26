//! One run of the model, from the first thread to the last, and its teardown.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};

use dpor::{Ending, ThreadId};
use sync_shims::model::controller::{Life, ThreadSpec, enter};
use sync_shims::model::{deferred, live, statics};

use super::{Engine, Failure, Outcome, PanicNote, Phase, Request, Site, controller, foreign, hook};
use crate::fiber;

/// Executions are numbered through the process, so that an object of one model is never taken for one of another.
static EXECUTIONS: AtomicU64 = AtomicU64::new(1);

/// What the main thread of every execution runs.
pub(crate) type Body<'a> = &'a (dyn Fn() + Sync);

impl Engine {
    /// Runs `f`, which runs executions: for this OS thread, the engine is the controller of the model and notes its panics.
    pub(crate) fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        hook::noting(self, || enter(self, f))
    }

    /// Runs the next execution; `None` when there is none left. Within `run`.
    pub(crate) fn next(&self, body: Body<'_>, site: Site) -> Option<Outcome> {
        let number = EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        if !self.explorer.with(|explorer| explorer.start_numbered(number)) {
            return None;
        }
        self.begun.set(self.begun.get() + 1);
        self.pulse.begin(self.begun.get());
        self.execution.set(number);
        self.live.set(number);
        self.set_phase(Phase::Running);
        self.tracked.with(|tracked| tracked.start(number));
        if self.failure.with(|failure| failure.take()).is_some() {
            self.failed_at.with(Vec::clear);
        }
        self.add_thread(ThreadId::MAIN, main_thread(body, site));
        self.schedule();
        // Whatever else came of it: others have seen another state than its threads.
        if let Some(touch) = live::touched(number) {
            self.failure.with(|failure| *failure = Some(foreign::touched_from_outside(&touch)));
            self.failed_at.with(Vec::clear);
        }
        let mut outcome = self.outcome();
        if let (Outcome::Failed(failure, _), Some(recorder)) = (&outcome, &self.recorder) {
            self.explorer.with(|explorer| recorder.with(|recorder| recorder.link(explorer)));
            let told = self.explorer.with(|explorer| recorder.with(|recorder| recorder.failure(failure, explorer)));
            self.told.with(|slot| *slot = Some(told));
        }
        self.tear_down();
        if let Outcome::Ended(Ending::Complete) = outcome
            && let Some(failure) = self.tracked.with(|tracked| tracked.leak())
        {
            if let Some(recorder) = &self.recorder {
                let told = recorder.with(|recorder| recorder.plain_failure(&failure));
                self.told.with(|slot| *slot = Some(told));
            }
            outcome = Outcome::Failed(failure, Vec::new());
        }
        Some(outcome)
    }

    /// Runs threads until the execution is over.
    fn schedule(&self) {
        let mut next = ThreadId::MAIN;
        loop {
            self.current.set(next);
            self.request.set(Request::Stop);
            if self.resume(self.fiber_of(next)) == fiber::State::Finished {
                // Also one that was inert since the execution was over, and came to its end that way.
                self.threads.get(next).handle.set(None);
            }
            match self.request.get() {
                Request::Run(thread) => next = thread,
                Request::Ended | Request::Halted => {
                    // A panic that fails the model stops it when its thread has ended.
                    if self.failure.with(|failure| failure.is_some()) {
                        return;
                    }
                    match self.explorer.with(|explorer| explorer.next_thread()) {
                        Some(thread) => next = thread,
                        None => return,
                    }
                }
                Request::Stop => return,
            }
        }
    }

    /// Runs a fiber until it gives up control.
    #[inline(always)]
    fn resume(&self, handle: fiber::Handle) -> fiber::State {
        if self.processes.get() {
            statics::resumed(self);
        }
        self.on_fiber.set(true);
        self.pulse.set_checking(false);
        let state = self.pool.resume(handle);
        self.pulse.set_checking(true);
        self.on_fiber.set(false);
        state
    }

    /// How the execution came out, asked before its threads are unwound.
    fn outcome(&self) -> Outcome {
        if self.restart.get() {
            return Outcome::Restart;
        }
        if self.explorer.with(|explorer| explorer.is_probing()) {
            // What happens in a probe means nothing; a panic is one of the ways to leave a loop.
            let failed = self.failure.with(|failure| failure.is_some());
            return Outcome::Ended(self.explorer.with(|explorer| {
                if failed {
                    explorer.leave_probe();
                }
                explorer.finish()
            }));
        }
        if self.failure.with(|failure| failure.is_none()) {
            self.undelivered_panic();
        }
        if let Some(failure) = self.failure.with(|failure| failure.clone()) {
            return Outcome::Failed(failure, self.failed_at.with(|at| at.clone()));
        }
        self.excuse_doomed();
        let ending = self.explorer.with(|explorer| explorer.finish());
        if matches!(ending, Ending::Deadlock | Ending::Livelock)
            && let Some(note) = self.stuck_panic()
        {
            let roots = self.explorer.with(|explorer| controller::events_before(explorer, note.thread, note.after));
            return Outcome::Failed(Failure::Panic(note), roots);
        }
        match ending {
            Ending::Deadlock => Outcome::Failed(Failure::Deadlock, Vec::new()),
            Ending::Livelock => Outcome::Failed(Failure::Livelock, Vec::new()),
            ending => Outcome::Ended(ending),
        }
    }

    /// The panic of a thread that is stuck on its way out: a destructor waits, or a scope for threads that wait for the
    /// panicked one. The panic is the cause, whatever the others are waiting for.
    fn stuck_panic(&self) -> Option<PanicNote> {
        let leaves_scope = |id| {
            self.explorer
                .with(|explorer| explorer.pending(id).is_some_and(|op| op.info.name.starts_with("end of scope")))
        };
        let stuck = |id, thread: &super::threads::Thread| {
            thread.unwinding.get() && (self.suspended_panics.get() > 0 || leaves_scope(id))
        };
        let (_, thread) = self.threads.all().find(|(id, thread)| stuck(*id, thread))?;
        thread.panic.with(|panic| panic.clone())
    }

    /// A panicked thread that nobody joined.
    fn undelivered_panic(&self) {
        let lost = self.threads.all().find(|(_, thread)| thread.undelivered.get()).map(|(id, _)| id);
        if let Some(id) = lost {
            self.fail_with_panic(id);
        }
    }

    /// Ends all threads: those that have begun are unwound with inert shims, or abandoned, the others forgotten. Of a thread that has ended
    /// nothing is left to do.
    fn tear_down(&self) {
        self.set_phase(Phase::Ending);
        let mut left = Vec::new();
        // The newest first: scoped threads go before what they borrow from.
        for (id, thread) in self.threads.all().rev() {
            self.current.set(id);
            if let Some(handle) = thread.handle.take() {
                // One that is unwinding already has to come to the end of that: panics are counted.
                if self.abandons.get() && !(self.suspended_panics.get() > 0 && thread.unwinding.get()) {
                    left.push(handle);
                } else {
                    fiber::while_unwinding(|| while self.resume(handle) == fiber::State::Suspended {});
                }
            }
            if let Some(life) = thread.life.with(Option::take) {
                quietly(|| drop(life));
            }
            while !thread.storage.is_empty() {
                quietly(|| thread.storage.clear());
            }
        }
        while !self.storage.is_empty() {
            quietly(|| self.storage.clear());
        }
        deferred::clear();
        for handle in left {
            // SAFETY: 1. No thread of the execution runs again, and what the execution has stored has been dropped. 2. Scoped
            // threads, which borrow from the stacks of others, are among those that are left.
            unsafe { self.pool.discard(handle) };
        }
        self.threads.reset();
        self.processes.set(false);
        self.suspended_panics.set(0);
    }
}

/// Runs destructors of the program at the end of an execution. The hook has seen to a panic of theirs.
fn quietly(f: impl FnOnce()) {
    if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(f)) {
        std::mem::forget(payload);
    }
}

/// The main thread. It borrows the body for the length of the execution.
fn main_thread(body: Body<'_>, site: Site) -> ThreadSpec {
    // SAFETY: 1. Only the lifetime changes. 2. The thread has ended, or is never run again, before `Engine::next` returns,
    // within the borrow.
    let body: Body<'static> = unsafe { std::mem::transmute(body) };
    ThreadSpec { name: None, process: None, life: Box::new(Main(body)), site }
}

struct Main(Body<'static>);

impl Life for Main {
    fn run(&mut self) {
        (self.0)();
    }

    fn panicked(&mut self, payload: Box<dyn Any + Send>) {
        std::mem::forget(payload);
    }
}
