//! How the result of a model thread gets to whoever joins it.

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Result;

use dpor::{Action, Info, Role, ThreadId};

use super::handle::{Kind, Thread, handle_of};
use crate::model::controller::{Controller, ThreadSpec, current};
use crate::model::deferred;
use crate::model::event::{Answer, Site, perform_alone, perform_in};
use crate::model::sync as shim;

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
    pub(super) thread: Thread,
    pub(super) fate: Arc<Fate>,
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
                self.fate.joined.store(true, Ordering::Relaxed);
                delivered(self.id);
                Err(payload)
            }
            Some(Ok(value)) => Ok(value),
            None => Err(Box::new("the execution of the model that this thread belongs to is over")),
        }
    }

    /// Whether the thread has ended.
    pub(super) fn is_finished(&self, site: Site) -> bool {
        const INFO: &Info = &Info { name: "is_finished", family: "JoinHandle", role: Role::Plain };
        let ended = self.id.map(|thread| perform_alone(Action::Ended { thread }, INFO, site));
        !matches!(ended, Some(Answer::Done(0)))
    }
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

/// Starts a model thread that runs `f`.
///
/// # Safety
///
/// `f` and its result must stay valid until the thread has ended.
pub(super) unsafe fn start<'a, F, T>(controller: &dyn Controller, name: Option<String>, f: F, site: Site) -> Started<T>
where
    F: FnOnce() -> T + 'a,
    T: 'a,
{
    const INFO: &Info = &Info { name: "spawn", family: "thread", role: Role::Plain };
    let fate = Arc::new(Fate::default());
    let result = shim::Arc::new_at(Mutex::new(None), site);
    let id = match perform_in(controller, None, Action::Spawn, INFO, site) {
        Answer::Done(id) => Some(ThreadId(id as u32)),
        Answer::Inert | Answer::Outside => None,
    };
    // The number of a thread that never ran is nobody else's.
    let handle = handle_of(controller, id.unwrap_or(ThreadId(u32::MAX)), name.clone(), site);
    let started = Started { id, thread: Thread(Kind::Model(handle)), fate: fate.clone(), result: result.clone() };
    let Some(id) = id else { return started };

    // Whichever of the two runs takes the packet, so that it goes on the thread itself and not when the controller happens to
    // drop the other.
    let packet = Rc::new(Cell::new(Some(result)));
    let packet_if_panicked = packet.clone();
    let body: Box<dyn FnOnce() + 'a> = Box::new(move || {
        let value = f();
        current(|controller| controller.map(deferred::settle));
        if let Some(result) = packet.take() {
            put(&result, Ok(value));
        }
    });
    let panicked: Box<dyn FnOnce(Box<dyn Any + Send>) + 'a> = Box::new(move |payload| {
        fate.panicked.store(true, Ordering::Relaxed);
        if let Some(result) = packet_if_panicked.take() {
            put(&result, Err(payload));
        }
    });
    // SAFETY: 1. Only the lifetimes change. 2. The caller keeps what they stand for valid until the thread has ended, and the
    // controller runs and drops both before that.
    let (body, panicked) = unsafe {
        (
            std::mem::transmute::<Box<dyn FnOnce() + 'a>, Box<dyn FnOnce()>>(body),
            std::mem::transmute::<Box<dyn FnOnce(Box<dyn Any + Send>) + 'a>, Box<dyn FnOnce(Box<dyn Any + Send>)>>(
                panicked,
            ),
        )
    };
    controller.start(id, ThreadSpec { name, body, panicked, site });
    started
}
