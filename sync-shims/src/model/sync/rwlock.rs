//! What stands in for [`std::sync::RwLock`] and its guards.

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::{self, NonNull};

use super::mutex::result;
use super::raw_rwlock::{RawRwLock, Reading, Writing};
use super::{LockResult, TryLockError, TryLockResult};

/// Stands in for [`std::sync::RwLock`], poisoning included.
///
/// Every order in which threads can take the lock is explored, but for the order of readers among themselves, which nobody
/// can see: 2 readers and 1 writer have 4 executions. With [`RwLock::try_write`] the order of readers is explored as well.
///
/// Whether a reader is let in while a writer waits, std leaves open. Both is explored if the reader has the lock already: a
/// thread that reads while it reads deadlocks with a writer that comes in between. Of other readers, a waiting writer keeps
/// some out and lets some in: it waits for the threads that read in the order in which they were spawned, and keeps those out
/// that it has waited for.
///
/// What a `static` one protects is the same at the beginning of every execution, as with [`Mutex`](super::Mutex).
pub struct RwLock<T: ?Sized> {
    raw: RawRwLock,
    data: UnsafeCell<T>,
}

// SAFETY: 1. The lock owns its value, so that it may be sent if the value may.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: 1. Readers share the value, hence `Sync`; a writer has it alone, which is as good as sending it there and back.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

impl<T> RwLock<T> {
    /// Stands in for [`std::sync::RwLock::new`].
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        RwLock { raw: RawRwLock::new(), data: UnsafeCell::new(value) }
    }

    /// Stands in for [`std::sync::RwLock::into_inner`].
    ///
    /// # Errors
    ///
    /// If the lock is poisoned; the error holds the value.
    #[track_caller]
    pub fn into_inner(mut self) -> LockResult<T> {
        let poisoned = self.raw.poisoned_for_owner();
        result(poisoned, self.data.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Stands in for [`std::sync::RwLock::read`].
    ///
    /// # Errors
    ///
    /// If the lock is poisoned; the error holds the guard.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.raw.keep_fresh(self.data.get());
        self.reading(self.raw.read())
    }

    /// Stands in for [`std::sync::RwLock::try_read`].
    ///
    /// # Errors
    ///
    /// If somebody writes, or if the lock is poisoned; the latter error holds the guard.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        self.raw.keep_fresh(self.data.get());
        match self.raw.try_read() {
            None => Err(TryLockError::WouldBlock),
            Some(taken) => Ok(self.reading(taken)?),
        }
    }

    /// Stands in for [`std::sync::RwLock::write`].
    ///
    /// # Errors
    ///
    /// If the lock is poisoned; the error holds the guard.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.raw.keep_fresh(self.data.get());
        self.writing(self.raw.write())
    }

    /// Stands in for [`std::sync::RwLock::try_write`].
    ///
    /// # Errors
    ///
    /// If somebody has the lock, or if it is poisoned; the latter error holds the guard.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        self.raw.keep_fresh(self.data.get());
        match self.raw.try_write() {
            None => Err(TryLockError::WouldBlock),
            Some(taken) => Ok(self.writing(taken)?),
        }
    }

    fn reading<'a>(&'a self, taken: Reading<'a>) -> LockResult<RwLockReadGuard<'a, T>> {
        let poisoned = taken.poisoned;
        // SAFETY: 1. The value of a lock is not at null.
        let data = unsafe { NonNull::new_unchecked(self.data.get()) };
        result(poisoned, RwLockReadGuard { data, raw: &self.raw, taken })
    }

    fn writing<'a>(&'a self, taken: Writing<'a>) -> LockResult<RwLockWriteGuard<'a, T>> {
        let poisoned = taken.poisoned;
        result(poisoned, RwLockWriteGuard { lock: self, taken })
    }

    /// Stands in for [`std::sync::RwLock::is_poisoned`].
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.raw.is_poisoned()
    }

    /// Stands in for [`std::sync::RwLock::clear_poison`].
    #[track_caller]
    pub fn clear_poison(&self) {
        self.raw.clear_poison();
    }

    /// Stands in for [`std::sync::RwLock::get_mut`].
    ///
    /// # Errors
    ///
    /// If the lock is poisoned; the error holds the reference.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.raw.poisoned_for_owner();
        result(poisoned, self.data.get_mut())
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

/// Tries to read, and then looks at the poison flag, as std does.
impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => out.field("data", &&*guard),
            Err(TryLockError::Poisoned(error)) => out.field("data", &&**error.get_ref()),
            Err(TryLockError::WouldBlock) => out.field("data", &format_args!("<locked>")),
        };
        out.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

/// Stands in for [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized + 'a> {
    /// A pointer, so that the guard is covariant as std's is.
    data: NonNull<T>,
    raw: &'a RawRwLock,
    taken: Reading<'a>,
}

// SAFETY: 1. A shared guard only gives out `&T`.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}

/// Stands in for [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized + 'a> {
    lock: &'a RwLock<T>,
    taken: Writing<'a>,
}

// SAFETY: 1. A shared guard only gives out `&T`.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Stands in for [`std::sync::RwLockWriteGuard::downgrade`].
    #[track_caller]
    pub fn downgrade(this: Self) -> RwLockReadGuard<'a, T> {
        let this = ManuallyDrop::new(this);
        // SAFETY: 1. The guard is not used or dropped any more.
        let taken = unsafe { ptr::read(&this.taken) };
        let lock = this.lock;
        let taken = lock.raw.downgrade(taken);
        // A poisoned lock has been reported to whoever took it.
        lock.reading(taken).unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: 1. The guard exists only while its thread reads, and nobody writes then; an inert one only while nobody else
        // runs, as the threads of a model that is over are unwound one after the other on one OS thread.
        unsafe { self.data.as_ref() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: 1. The guard exists only while its thread has the lock alone, or is inert, as above.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: 1. As for `deref`. 2. The guard is borrowed exclusively, and there is one guard for a lock that is written.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.raw.unlock_read(&mut self.taken);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.raw.unlock_write(&mut self.taken);
    }
}

macro_rules! shown_as_value {
    ($($guard:ident)*) => {$(
        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}

shown_as_value!(RwLockReadGuard RwLockWriteGuard);
