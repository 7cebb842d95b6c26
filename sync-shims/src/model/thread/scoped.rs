//! Threads that borrow from the one that started them.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dpor::{Action, Info, Role, ThreadId};

use super::handle::{Kind, Thread, current};
use super::packet::{Fate, Started, delivered, start};
use super::spawn::Builder;
use crate::model::controller::current as controller;
use crate::model::event::{Site, perform_alone};

/// Stands in for [`std::thread::Scope`].
pub struct Scope<'scope, 'env: 'scope> {
    inner: Inner,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

enum Inner {
    /// The `std::thread::Scope`, set as soon as there is one.
    Real(AtomicPtr<()>),
    Model(ModelScope),
}

/// A scope in a model.
struct ModelScope {
    /// All threads ever started in it.
    children: Mutex<Vec<(ThreadId, Arc<Fate>)>>,
    owner: Thread,
}

/// Stands in for [`std::thread::scope`].
///
/// # Panics
///
/// If a thread of the scope panicked and was not joined by hand, and if `f` panics; after all threads have ended.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let site = Location::caller();
    if controller(|controller| controller.is_none()) {
        let scope = Scope::new(Inner::Real(AtomicPtr::new(ptr::null_mut())));
        return std::thread::scope(|real| {
            scope.set_real(real);
            f(&scope)
        });
    }
    let inner = ModelScope { children: Mutex::new(Vec::new()), owner: current() };
    let scope = Scope::new(Inner::Model(inner));
    // The threads may borrow from the callers of this function, so nothing may leave it before they have ended.
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let Inner::Model(model) = &scope.inner else { unreachable!("just made") };
    let unhandled = model.join_all(site);
    match result {
        Err(payload) => resume_unwind(payload),
        Ok(_) if unhandled => panic!("a scoped thread panicked"),
        Ok(value) => value,
    }
}

impl ModelScope {
    fn children(&self) -> std::sync::MutexGuard<'_, Vec<(ThreadId, Arc<Fate>)>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for all threads; tells whether one of them panicked without anybody having been told.
    fn join_all(&self, site: Site) -> bool {
        const INFO: &Info = &Info { name: "end of scope", family: "thread", role: Role::Wait };
        let mut unhandled = false;
        let mut next = 0;
        // The threads of a scope may start more while this one waits.
        while let Some((thread, fate)) = { self.children().get(next).cloned() } {
            perform_alone(Action::Join { thread }, INFO, site);
            if fate.unhandled() {
                unhandled = true;
                delivered(Some(thread));
            }
            next += 1;
        }
        unhandled
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    fn new(inner: Inner) -> Self {
        Scope { inner, scope: PhantomData, env: PhantomData }
    }

    fn set_real(&self, real: &std::thread::Scope<'_, 'env>) {
        if let Inner::Real(pointer) = &self.inner {
            pointer.store(ptr::from_ref(real).cast_mut().cast(), Ordering::Release);
        }
    }

    /// Stands in for [`std::thread::Scope::spawn`].
    ///
    /// # Panics
    ///
    /// If the operating system cannot start a thread (outside a model).
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_with(Builder::new(), f, Location::caller()).expect("failed to spawn thread")
    }

    #[track_caller]
    pub(super) fn spawn_with<F, T>(
        &'scope self,
        builder: Builder,
        f: F,
        site: Site,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        match &self.inner {
            Inner::Real(real) => {
                // SAFETY: 1. `scope` has set the pointer before anybody could get hold of `self`. 2. It points to std's
                // scope, which lives until all threads of the scope have ended, and after that nobody has `self` any more.
                // 3. Its lifetimes are those of `self`: std would have let `f` choose them just as freely.
                let real = unsafe { &*real.load(Ordering::Acquire).cast::<std::thread::Scope<'scope, 'env>>() };
                let handle = builder.into_std().spawn_scoped(real, f)?;
                let thread = Thread(Kind::Real(handle.thread().clone()));
                Ok(ScopedJoinHandle(Handle::Real(handle, thread)))
            }
            Inner::Model(scope) => {
                let name = builder.checked_name();
                let fate = Arc::new(Fate::default());
                let its_fate = Some(fate.clone());
                let started = controller(|controller| {
                    let controller = controller.expect("a scope does not outlive its model");
                    // SAFETY: 1. `scope` does not return before the thread has ended, and both outlive the scope.
                    unsafe { start(controller, name, its_fate, f, site) }
                });
                if let Some(id) = started.id {
                    scope.children().push((id, fate));
                }
                Ok(ScopedJoinHandle(Handle::Model(started)))
            }
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner {
            Inner::Real(real) => {
                // SAFETY: 1. As in `spawn_with`; the lifetimes do not matter here.
                let real = unsafe { &*real.load(Ordering::Acquire).cast::<std::thread::Scope<'_, '_>>() };
                real.fmt(f)
            }
            Inner::Model(scope) => {
                let children = scope.children().clone();
                f.debug_struct("Scope")
                    .field("num_running_threads", &children.len())
                    .field("a_thread_panicked", &children.iter().any(|(_, fate)| fate.panicked()))
                    .field("main_thread", &scope.owner)
                    .finish_non_exhaustive()
            }
        }
    }
}

/// Stands in for [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T>(Handle<'scope, T>);

enum Handle<'scope, T> {
    Real(std::thread::ScopedJoinHandle<'scope, T>, Thread),
    Model(Started<T>),
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Stands in for [`std::thread::ScopedJoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Handle::Real(_, thread) => thread,
            Handle::Model(started) => started.thread(),
        }
    }

    /// Stands in for [`std::thread::ScopedJoinHandle::join`].
    ///
    /// # Errors
    ///
    /// What the thread panicked with.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        match self.0 {
            Handle::Real(handle, _) => handle.join(),
            Handle::Model(started) => started.join(Location::caller()),
        }
    }

    /// Stands in for [`std::thread::ScopedJoinHandle::is_finished`].
    #[must_use]
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Handle::Real(handle, _) => handle.is_finished(),
            Handle::Model(started) => started.is_finished(Location::caller()),
        }
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
