//! Starting threads and joining them.

use std::ffi::CString;
use std::fmt;
use std::io;
use std::panic::Location;

use super::handle::{Kind, Thread};
use super::packet::{Started, start};
use super::scoped::{Scope, ScopedJoinHandle};
use crate::model::controller::current;
use crate::model::event::Site;

/// Stands in for [`std::thread::Builder`].
#[derive(Debug)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Stands in for [`std::thread::Builder::new`].
    #[expect(clippy::new_without_default, reason = "std's has none")]
    pub fn new() -> Self {
        Builder { name: None, stack_size: None }
    }

    /// Stands in for [`std::thread::Builder::name`].
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// Stands in for [`std::thread::Builder::stack_size`], outside a model: the stacks of model threads are the controller's.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size);
        self
    }

    /// Stands in for [`std::thread::Builder::spawn`].
    ///
    /// # Errors
    ///
    /// As std, outside a model; in a model it does not fail.
    ///
    /// # Panics
    ///
    /// If the name contains a null byte.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: 1. What is `'static` outlives every thread.
        unsafe { self.spawn_unchecked(f) }
    }

    /// Stands in for [`std::thread::Builder::spawn_unchecked`].
    ///
    /// # Errors
    ///
    /// As `spawn`.
    ///
    /// # Panics
    ///
    /// As `spawn`.
    ///
    /// # Safety
    ///
    /// The thread must not outlive what its closure and its result refer to.
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let site = Location::caller();
        current(|controller| match controller {
            None => {
                // SAFETY: 1. The caller's promise is the same.
                let handle = unsafe { self.into_std().spawn_unchecked(f) };
                Ok(JoinHandle::new(Inner::from_std(handle?)))
            }
            Some(controller) => {
                let name = self.checked_name();
                // SAFETY: 1. The caller's promise is the same.
                let started = unsafe { start(controller, name, None, f, site) };
                Ok(JoinHandle::new(Inner::Model(started)))
            }
        })
    }

    /// `spawn` of what need not be `Send`: the threads of a model share one OS thread, or run one at a time.
    ///
    /// # Panics
    ///
    /// Outside a model, and as `spawn`.
    #[doc(hidden)]
    #[track_caller]
    pub fn spawn_not_send<F, T>(self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        let site = Location::caller();
        current(|controller| {
            let controller = controller.expect("a thread of what is not `Send` can only be spawned in a model");
            let name = self.checked_name();
            // SAFETY: 1. What is `'static` outlives every thread.
            JoinHandle::new(Inner::Model(unsafe { start(controller, name, None, f, site) }))
        })
    }

    /// Stands in for [`std::thread::Builder::spawn_scoped`].
    ///
    /// # Errors
    ///
    /// As `spawn`.
    ///
    /// # Panics
    ///
    /// As `spawn`.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        scope.spawn_with(self, f, Location::caller())
    }

    /// The name, for a thread of a model.
    #[track_caller]
    pub(super) fn checked_name(self) -> Option<String> {
        let name = self.name?;
        let name = CString::new(name).expect("thread name may not contain interior null bytes");
        Some(name.into_string().expect("it was made from a string"))
    }

    pub(super) fn into_std(self) -> std::thread::Builder {
        let mut builder = std::thread::Builder::new();
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }
}

/// Stands in for [`std::thread::spawn`].
///
/// # Panics
///
/// If the operating system cannot start a thread (outside a model).
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("failed to spawn thread")
}

/// Stands in for [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(Inner<T>);

// SAFETY: 1. As for std's handle: the only access to the result is `join`, which takes the handle, and whoever started the
// thread had to show that the result may be sent.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: 1. As above; a shared handle gives no access to the result.
unsafe impl<T> Sync for JoinHandle<T> {}

enum Inner<T> {
    Real(std::thread::JoinHandle<T>, Thread),
    Model(Started<T>),
}

impl<T> Inner<T> {
    fn from_std(handle: std::thread::JoinHandle<T>) -> Self {
        let thread = Thread(Kind::Real(handle.thread().clone()));
        Inner::Real(handle, thread)
    }
}

impl<T> JoinHandle<T> {
    fn new(inner: Inner<T>) -> Self {
        JoinHandle(inner)
    }

    /// Stands in for [`std::thread::JoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Inner::Real(_, thread) => thread,
            Inner::Model(started) => started.thread(),
        }
    }

    /// Stands in for [`std::thread::JoinHandle::join`].
    ///
    /// # Errors
    ///
    /// What the thread panicked with.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        let site: Site = Location::caller();
        match self.0 {
            Inner::Real(handle, _) => handle.join(),
            Inner::Model(started) => started.join(site),
        }
    }

    /// Stands in for [`std::thread::JoinHandle::is_finished`].
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Real(handle, _) => handle.is_finished(),
            Inner::Model(started) => started.is_finished(Location::caller()),
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}
