//! What stands in for [`std::sync::Mutex`] and its guard.

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use super::raw_mutex::{RawMutex, Taken, Words};
use super::{LockResult, PoisonError, TryLockError, TryLockResult};
use crate::model::event::Site;

static WORDS: Words = Words::of("Mutex");

/// Stands in for [`std::sync::Mutex`], poisoning included.
///
/// Every order in which threads can take the lock is explored. A thread that locks it twice is found as a deadlock. What a
/// `static` one protects is the same at the beginning of every execution; unless it has drop glue and was locked outside a
/// model before: then it is carried over.
pub struct Mutex<T: ?Sized> {
    pub(super) raw: RawMutex,
    data: UnsafeCell<T>,
}

// SAFETY: 1. The mutex owns its value, so that it may be sent if the value may.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: 1. A shared reference only gives access to the value under the lock, to one thread at a time: outside a model the
// real one, in a model the modelled one. 2. What one thread can do with a lock held is no more than what moving the value to
// it and back allows.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

impl<T> Mutex<T> {
    /// Stands in for [`std::sync::Mutex::new`].
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Mutex { raw: RawMutex::new(&WORDS), data: UnsafeCell::new(value) }
    }

    /// Stands in for [`std::sync::Mutex::into_inner`].
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned; the error holds the value.
    #[track_caller]
    pub fn into_inner(mut self) -> LockResult<T> {
        let poisoned = self.raw.poisoned_for_owner();
        result(poisoned, self.data.into_inner())
    }
}

/// `value`, or an error that holds it if the lock was poisoned.
pub(super) fn result<G>(poisoned: bool, value: G) -> LockResult<G> {
    if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
}

impl<T: ?Sized> Mutex<T> {
    /// Stands in for [`std::sync::Mutex::lock`].
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned; the error holds the guard.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.raw.keep_fresh(self.data.get());
        MutexGuard::new(self, self.raw.lock(), Location::caller())
    }

    /// Stands in for [`std::sync::Mutex::try_lock`].
    ///
    /// # Errors
    ///
    /// If somebody holds the lock, or if the mutex is poisoned; the latter error holds the guard.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        self.raw.keep_fresh(self.data.get());
        match self.raw.try_lock() {
            None => Err(TryLockError::WouldBlock),
            Some(taken) => Ok(MutexGuard::new(self, taken, Location::caller())?),
        }
    }

    /// Stands in for [`std::sync::Mutex::is_poisoned`].
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.raw.is_poisoned()
    }

    /// Stands in for [`std::sync::Mutex::clear_poison`].
    #[track_caller]
    pub fn clear_poison(&self) {
        self.raw.clear_poison();
    }

    /// Stands in for [`std::sync::Mutex::get_mut`].
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned; the error holds the reference.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.raw.poisoned_for_owner();
        result(poisoned, self.data.get_mut())
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

/// Tries to take the lock, and then looks at the poison flag, as std does.
impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(guard) => out.field("data", &&*guard),
            Err(TryLockError::Poisoned(error)) => out.field("data", &&**error.get_ref()),
            Err(TryLockError::WouldBlock) => out.field("data", &"<locked>"),
        };
        out.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

/// Stands in for [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    pub(super) lock: &'a Mutex<T>,
    pub(super) taken: Taken<'a>,
    /// Where the lock was taken.
    pub(super) site: Site,
}

// SAFETY: 1. A shared guard only gives out `&T`. (It is not `Send`, as it may hold the guard of a real mutex.)
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    pub(super) fn new(lock: &'a Mutex<T>, taken: Taken<'a>, site: Site) -> LockResult<Self> {
        let poisoned = taken.poisoned;
        result(poisoned, MutexGuard { lock, taken, site })
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: 1. The guard exists only while its thread holds the lock; an inert one only while nobody else runs, as the
        // threads of a model that is over are unwound one after the other on one OS thread.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: 1. As for `deref`. 2. The guard is borrowed exclusively, and there is one guard for a lock that is held.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.raw.unlock(&mut self.taken, self.site);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
