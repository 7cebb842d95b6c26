//! What stands in for [`crossbeam_utils::thread`]: threads that borrow from the one that started them, and are joined by `scope`.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

use super::sync::WaitGroup;
use crate::model::sync::mpsc::chan::locked;
use crate::model::thread::{Builder, JoinHandle, Result, Thread};

type Handle = Arc<Mutex<Option<JoinHandle<()>>>>;

/// The threads started in a scope: by the one that made it, or by a thread of it, in the order in which that did it.
#[derive(Default)]
struct Children(Mutex<Vec<(Handle, Arc<Children>)>>);

/// Stands in for [`crossbeam_utils::thread::Scope`].
pub struct Scope<'env> {
    children: Arc<Children>,
    running: WaitGroup,
    env: PhantomData<&'env mut &'env ()>,
}

// SAFETY: 1. Whatever it gives access to is behind a mutex or, for the group, can be shared.
unsafe impl Sync for Scope<'_> {}

/// Stands in for [`crossbeam_utils::thread::scope`].
///
/// # Errors
///
/// What the threads of the scope panicked with that were not joined by hand.
///
/// # Panics
///
/// If `f` panics; after all threads have ended.
#[track_caller]
pub fn scope<'env, F, R>(f: F) -> Result<R>
where
    F: FnOnce(&Scope<'env>) -> R,
{
    let running = WaitGroup::new();
    let scope = Scope { children: Arc::default(), running: running.clone(), env: PhantomData };
    // The threads may borrow from the callers of this function, so nothing may leave it before they have ended.
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    drop(scope.running);
    running.wait();
    let mut panics = Vec::new();
    scope.children.join(&mut panics);
    match result {
        Err(payload) => resume_unwind(payload),
        Ok(value) if panics.is_empty() => Ok(value),
        Ok(_) => Err(Box::new(panics)),
    }
}

impl Children {
    /// Joins all that nobody has joined, and those that they started.
    #[track_caller]
    fn join(&self, panics: &mut Vec<Box<dyn std::any::Any + Send>>) {
        let children = std::mem::take(&mut *locked(&self.0));
        for (handle, children) in children {
            let handle = locked(&handle).take();
            if let Some(Err(payload)) = handle.map(JoinHandle::join) {
                panics.push(payload);
            }
            children.join(panics);
        }
    }
}

impl<'env> Scope<'env> {
    /// Stands in for [`crossbeam_utils::thread::Scope::spawn`].
    ///
    /// # Panics
    ///
    /// If the operating system cannot start a thread (outside a model).
    #[track_caller]
    pub fn spawn<'scope, F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce(&Scope<'env>) -> T,
        F: Send + 'env,
        T: Send + 'env,
    {
        self.builder().spawn(f).expect("failed to spawn scoped thread")
    }

    /// Stands in for [`crossbeam_utils::thread::Scope::builder`].
    pub fn builder<'scope>(&'scope self) -> ScopedThreadBuilder<'scope, 'env> {
        ScopedThreadBuilder { scope: self, builder: Builder::new() }
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Scope { .. }")
    }
}

/// Stands in for [`crossbeam_utils::thread::ScopedThreadBuilder`].
#[derive(Debug)]
pub struct ScopedThreadBuilder<'scope, 'env> {
    scope: &'scope Scope<'env>,
    builder: Builder,
}

impl<'scope, 'env> ScopedThreadBuilder<'scope, 'env> {
    /// Stands in for [`crossbeam_utils::thread::ScopedThreadBuilder::name`].
    pub fn name(mut self, name: String) -> ScopedThreadBuilder<'scope, 'env> {
        self.builder = self.builder.name(name);
        self
    }

    /// Stands in for [`crossbeam_utils::thread::ScopedThreadBuilder::stack_size`].
    pub fn stack_size(mut self, size: usize) -> ScopedThreadBuilder<'scope, 'env> {
        self.builder = self.builder.stack_size(size);
        self
    }

    /// Stands in for [`crossbeam_utils::thread::ScopedThreadBuilder::spawn`].
    ///
    /// # Errors
    ///
    /// If the operating system cannot start a thread (outside a model).
    ///
    /// # Panics
    ///
    /// If the name contains a null byte.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce(&Scope<'env>) -> T,
        F: Send + 'env,
        T: Send + 'env,
    {
        let result = Arc::new(Mutex::new(None));
        let children = Arc::new(Children::default());
        let inner: Scope<'env> =
            Scope { children: children.clone(), running: self.scope.running.clone(), env: PhantomData };
        let its_result = result.clone();
        let body = move || {
            let scope = inner;
            let value = f(&scope);
            *locked(&its_result) = Some(value);
        };
        // SAFETY: 1. `scope` waits until every thread has dropped its `Scope`, which this one does last of all that it does
        // with anything of `'env`, and then joins it. 2. Its result lives in `'env` too, and is taken by a handle that does
        // not outlive the scope, or dropped.
        let handle = unsafe { self.builder.spawn_unchecked(body) }?;
        let thread = handle.thread().clone();
        let handle = Arc::new(Mutex::new(Some(handle)));
        locked(&self.scope.children.0).push((handle.clone(), children));
        Ok(ScopedJoinHandle { handle, result, thread, scope: PhantomData })
    }
}

/// Stands in for [`crossbeam_utils::thread::ScopedJoinHandle`]. (It does not have the platform's extension traits.)
pub struct ScopedJoinHandle<'scope, T> {
    handle: Handle,
    result: Arc<Mutex<Option<T>>>,
    thread: Thread,
    scope: PhantomData<&'scope ()>,
}

// SAFETY: 1. As for the handle of a thread: the only access to the result is `join`, which takes the handle, and whoever started
// the thread had to show that the result may be sent.
unsafe impl<T> Send for ScopedJoinHandle<'_, T> {}
// SAFETY: 1. As above; a shared handle gives no access to the result.
unsafe impl<T> Sync for ScopedJoinHandle<'_, T> {}

impl<T> ScopedJoinHandle<'_, T> {
    /// Stands in for [`crossbeam_utils::thread::ScopedJoinHandle::join`].
    ///
    /// # Errors
    ///
    /// What the thread panicked with.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let handle = locked(&self.handle).take().expect("it is joined once");
        handle.join().map(|()| locked(&self.result).take().expect("a thread that ends leaves its result"))
    }

    /// Stands in for [`crossbeam_utils::thread::ScopedJoinHandle::thread`].
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("ScopedJoinHandle { .. }")
    }
}
