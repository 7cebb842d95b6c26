//! How the result of a model thread gets to whoever joins it.

use std::any::{Any, type_name};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Result;

use dpor::{Action, Info, Role, ThreadId};

use super::handle::{Thread, handle_from_outside};
use crate::model::controller::{Controller, Life, ThreadSpec, current};
use crate::model::deferred;
use crate::model::event::{Answer, Site, perform_alone, perform_in};
use crate::model::sync as shim;
use crate::model::world;

/// What became of a thread, for its scope.
#[derive(Debug, Default)]
pub(super) struct Fate {
    panicked: AtomicBool,
    joined: AtomicBool,
}

impl Fate {
    /// Whether the thread panicked and nobody has been told by `join`.
    pub(super) fn unhandled(&self) -> bool {
        self.panicked.load(Ordering::Relaxed) && !self.joined.load(Ordering::Relaxed)
    }

    /// Whether the thread panicked.
    pub(super) fn panicked(&self) -> bool {
        self.panicked.load(Ordering::Relaxed)
    }
}

/// A model thread that has been started, as its handles know it.
pub(super) struct Started<T> {
    /// `None` if the execution was over already.
    pub(super) id: Option<ThreadId>,
    execution: u64,
    name: Option<String>,
    site: Site,
    /// The handle, made when somebody asks for it: most programs do not.
    thread: OnceLock<Thread>,
    /// If the thread belongs to a scope.
    fate: Option<Arc<Fate>>,
    /// Counted in the model if dropping the result does something visible: if nobody joins, it is dropped by whoever lets go
    /// last, the thread or its handle.
    result: shim::Arc<Mutex<Option<Result<T>>>>,
}

impl<T> Started<T> {
    /// Waits for the thread and takes what it left.
    pub(super) fn join(self, site: Site) -> Result<T> {
        const INFO: &Info = &Info { name: "join", family: "JoinHandle", role: Role::Wait };
        if let Some(id) = self.id {
            perform_alone(Action::Join { thread: id }, INFO, site);
        }
        match take(&self.result) {
            Some(Err(payload)) => {
                if let Some(fate) = &self.fate {
                    fate.joined.store(true, Ordering::Relaxed);
                }
                delivered(self.id);
                Err(payload)
            }
            Some(Ok(value)) => Ok(value),
            None => {
                nothing().ok_or_else(|| Box::new("the execution of this thread's model is over") as Box<dyn Any + Send>)
            }
        }
    }

    /// The handle of the thread.
    pub(super) fn thread(&self) -> &Thread {
        // The number of a thread that never ran is nobody else's.
        let id = self.id.unwrap_or(ThreadId(u32::MAX));
        self.thread.get_or_init(|| handle_from_outside(self.execution, id, self.name.as_deref(), self.site))
    }

    /// Whether the thread has ended.
    pub(super) fn is_finished(&self, site: Site) -> bool {
        const INFO: &Info = &Info { name: "is_finished", family: "JoinHandle", role: Role::Plain };
        let ended = self.id.map(|thread| perform_alone(Action::Ended { thread }, INFO, site));
        !matches!(ended, Some(Answer::Done(0)))
    }
}

/// What a thread that never came to its end has left, if that is `()`: a destructor that joins threads and insists on their
/// success would be a second panic while an execution that is over is unwound.
fn nothing<T>() -> Option<T> {
    // SAFETY: 1. Only the unit type has this name, and it is read from anywhere.
    (type_name::<T>() == "()" && size_of::<T>() == 0).then(|| unsafe { NonNull::<T>::dangling().read() })
}

/// Tells the controller that the user knows of the panic of `thread`.
pub(super) fn delivered(thread: Option<ThreadId>) {
    current(|controller| {
        if let (Some(controller), Some(thread)) = (controller, thread) {
            controller.delivered(thread);
        }
    });
}

fn take<T>(result: &Mutex<Option<Result<T>>>) -> Option<Result<T>> {
    result.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn put<T>(result: &Mutex<Option<Result<T>>>, value: Result<T>) {
    *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
}

/// What a model thread runs, and where its result goes.
struct Errand<F, T> {
    f: Option<F>,
    /// Given up on the thread itself, and not when the controller happens to drop the errand.
    result: Option<shim::Arc<Mutex<Option<Result<T>>>>>,
    fate: Option<Arc<Fate>>,
    /// It may belong to a simulated process. Model threads that are OS threads have to be told.
    watched: bool,
}

impl<F: FnOnce() -> T, T> Life for Errand<F, T> {
    fn run(&mut self) {
        if self.watched {
            deferred::watch_processes();
        }
        let f = self.f.take().expect("a thread runs once");
        let value = f();
        current(|controller| controller.map(deferred::settle));
        if let Some(result) = self.result.take() {
            put(&result, Ok(value));
        }
    }

    fn panicked(&mut self, payload: Box<dyn Any + Send>) {
        if let Some(fate) = &self.fate {
            fate.panicked.store(true, Ordering::Relaxed);
        }
        if let Some(result) = self.result.take() {
            put(&result, Err(payload));
        }
    }
}

/// Starts a model thread that runs `f`.
///
/// # Safety
///
/// `f` and its result must stay valid until the thread has ended.
pub(super) unsafe fn start<'a, F, T>(
    controller: &dyn Controller,
    name: Option<String>,
    fate: Option<Arc<Fate>>,
    f: F,
    site: Site,
) -> Started<T>
where
    F: FnOnce() -> T + 'a,
    T: 'a,
{
    const INFO: &Info = &Info { name: "spawn", family: "thread", role: Role::Plain };
    let result = shim::Arc::new_at(Mutex::new(None), site);
    // A counted clone is an operation: between the spawn and the start there must be none.
    let theirs = result.clone();
    let id = match perform_in(controller, None, Action::Spawn, INFO, site) {
        Answer::Done(id) => Some(ThreadId(id as u32)),
        Answer::Inert | Answer::Outside => None,
    };
    let started = Started {
        id,
        execution: controller.execution(),
        name: name.clone(),
        site,
        thread: OnceLock::new(),
        fate: fate.clone(),
        result,
    };
    let Some(id) = id else { return started };
    let life: Box<dyn Life + 'a> =
        Box::new(Errand { f: Some(f), result: Some(theirs), fate, watched: deferred::watches_processes() });
    // SAFETY: 1. Only the lifetime changes. 2. The caller keeps what it stands for valid until the thread has ended, and the
    // controller runs and drops it before that.
    let life = unsafe { std::mem::transmute::<Box<dyn Life + 'a>, Box<dyn Life>>(life) };
    let process = world::inherit(controller, id);
    controller.start(id, ThreadSpec { name, process, life, site });
    started
}
