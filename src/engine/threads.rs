//! What is known of a model thread, and how its body is run.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};

use dpor::{Action, Info, ObjectId, Op, Role, ThreadId};
use sync_shims::model::controller::{Controller, Life, ThreadSpec};
use sync_shims::model::deferred;

use super::spy::Point;
use super::storage::Storage;
use super::{Engine, Failure, Phase, Request, Shared, Site};
use crate::fiber::{self, Handle};
use crate::verdict::Panics;

/// A panic, as the hook saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PanicNote {
    pub(crate) thread: ThreadId,
    pub(crate) message: String,
    /// File, line, column.
    pub(crate) place: (String, u32, u32),
    /// How many events the thread had performed.
    pub(crate) after: u32,
}

/// What unwinds a thread whose execution is over. Never seen by the user, except by `catch_unwind`, which cannot make
/// anything of it.
pub(crate) struct Teardown;

/// One model thread.
pub(super) struct Thread {
    pub(super) handle: Cell<Option<Handle>>,
    /// What it will do, until it begins.
    pub(super) life: Shared<Option<Box<dyn Life>>>,
    pub(super) name: Shared<Option<String>>,
    pub(super) site: Cell<Option<Site>>,
    pub(super) storage: Storage,
    /// The last panic that began on it.
    pub(super) panic: Shared<Option<PanicNote>>,
    /// Its body ended with a panic that nobody has been told of.
    pub(super) undelivered: Cell<bool>,
    /// A panic has begun on it and is not known to be over.
    pub(super) unwinding: Cell<bool>,
    /// Depth of code whose plain accesses are ordered by something that is not modelled.
    pub(super) ordered: Cell<u32>,
    pub(super) exists: Cell<bool>,
    /// Its simulated process has been told to end.
    pub(super) doomed: Cell<bool>,
}

impl Thread {
    fn new() -> Self {
        Thread {
            handle: Cell::new(None),
            life: Shared::new(None),
            name: Shared::new(None),
            site: Cell::new(None),
            storage: Storage::new(),
            panic: Shared::new(None),
            undelivered: Cell::new(false),
            unwinding: Cell::new(false),
            ordered: Cell::new(0),
            exists: Cell::new(false),
            doomed: Cell::new(false),
        }
    }

    fn reset(&self) {
        self.handle.set(None);
        self.exists.set(false);
        self.undelivered.set(false);
        self.unwinding.set(false);
        self.ordered.set(0);
        self.doomed.set(false);
        self.site.set(None);
    }
}

/// All model threads by number, reused from execution to execution.
pub(super) struct Threads {
    slots: Box<[Thread]>,
    /// No thread of this execution has this number or a higher one.
    end: Cell<usize>,
}

impl Threads {
    pub(super) fn new() -> Self {
        Threads { slots: (0..dpor::MAX_THREADS).map(|_| Thread::new()).collect(), end: Cell::new(0) }
    }

    #[inline]
    pub(super) fn get(&self, thread: ThreadId) -> &Thread {
        &self.slots[thread.index()]
    }

    /// Those that exist in this execution, the oldest first.
    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = (ThreadId, &Thread)> {
        let slots = self.slots[..self.end.get()].iter().enumerate();
        slots.filter(|(_, t)| t.exists.get()).map(|(i, t)| (ThreadId(i as u32), t))
    }

    pub(super) fn reset(&self) {
        for (_, thread) in self.all() {
            thread.reset();
        }
        self.end.set(0);
    }

    /// The slot of a new thread.
    fn add(&self, id: ThreadId) -> &Thread {
        self.end.set(self.end.get().max(id.index() + 1));
        self.get(id)
    }
}

pub(super) static END: Info = Info { name: "exit", family: "thread", role: Role::Plain };

impl Engine {
    /// Makes a thread known; it begins when it is run first.
    pub(super) fn add_thread(&self, id: ThreadId, spec: ThreadSpec) {
        let thread = self.threads.add(id);
        thread.exists.set(true);
        if spec.process.is_some() {
            self.processes.set(true);
        }
        thread.site.set(Some(spec.site));
        thread.panic.with(|panic| {
            if panic.is_some() {
                *panic = None;
            }
        });
        thread.name.with(|name| {
            if name.is_some() || spec.name.is_some() {
                *name = spec.name;
            }
        });
        let before = thread.life.with(|slot| slot.replace(spec.life));
        debug_assert!(before.is_none());
    }

    /// The fiber of a thread, made when it is run first.
    #[inline]
    pub(super) fn fiber_of(&self, id: ThreadId) -> Handle {
        let thread = self.threads.get(id);
        if let Some(handle) = thread.handle.get() {
            return handle;
        }
        let handle = self.pool.start_call(Engine::run_thread, std::ptr::from_ref(self).cast(), id.0);
        thread.handle.set(Some(handle));
        handle
    }

    /// The whole life of a model thread, on its fiber.
    fn run_thread(engine: *const (), number: u32) {
        // SAFETY: 1. `fiber_of` passes its engine. 2. The engine outlives its executions, and every fiber of an execution has
        // ended, or is never run again, before the execution is over. 3. It is only used through `&self`, by one OS thread at a time: fibers
        // that are OS threads pass a baton.
        let this = unsafe { &*engine.cast::<Engine>() };
        if fiber::ON_OS_THREADS {
            this.run(|| this.live(ThreadId(number)));
        } else {
            this.live(ThreadId(number));
        }
    }

    fn live(&self, id: ThreadId) {
        let thread = self.threads.get(id);
        let mut life = thread.life.with(Option::take).expect("a thread begins once");
        self.guarded(move || {
            if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| {
                if self.is_spied_on()
                    && let Some(site) = thread.site.get()
                {
                    self.look(Point::Begins, site);
                }
                life.run();
                deferred::settle(self);
            })) {
                self.body_panicked(id, payload, life.as_mut());
            }
        });
        while !thread.storage.is_empty() {
            self.guarded(|| thread.storage.clear());
        }
        self.guarded(|| {
            let site = thread.site.get().expect("every thread was started somewhere");
            let op = Op { action: Action::End, object: ObjectId::NONE, info: &END, site };
            let _ = self.perform(None, op);
        });
        self.request.set(if self.phase.get() == Phase::Running { Request::Ended } else { Request::Stop });
    }

    /// Runs code of the program that must not unwind out of a fiber. A panic in it is the thread's.
    fn guarded(&self, f: impl FnOnce()) {
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(f))
            && !payload.is::<Teardown>()
        {
            let id = self.current.get();
            self.fail_with_panic(id);
            // A payload whose destructor panics would escape.
            std::mem::forget(payload);
        }
    }

    #[cold]
    fn body_panicked(&self, id: ThreadId, payload: Box<dyn Any + Send>, life: &mut dyn Life) {
        if payload.is::<Teardown>() || self.phase.get() == Phase::Ending {
            return;
        }
        let thread = self.threads.get(id);
        thread.unwinding.set(false);
        if id == ThreadId::MAIN || self.panics == Panics::Fail {
            self.fail_with_panic(id);
        } else {
            thread.undelivered.set(true);
        }
        life.panicked(payload);
    }

    /// The model fails with the last panic of a thread.
    pub(super) fn fail_with_panic(&self, id: ThreadId) {
        let thread = self.threads.get(id);
        let note = thread.panic.with(|panic| panic.clone()).unwrap_or_else(|| PanicNote {
            thread: id,
            message: "a panic that the panic hook has not seen (`resume_unwind`)".to_owned(),
            place: place_of(thread.site.get()),
            after: self.explorer.with(|explorer| explorer.graph().thread_events(id).len() as u32),
        });
        self.set_failure(Failure::Panic(note));
    }
}

/// A place to name when nothing better is known.
fn place_of(site: Option<Site>) -> (String, u32, u32) {
    site.map_or_else(|| ("unknown".to_owned(), 1, 1), |s| (s.file().to_owned(), s.line(), s.column()))
}
