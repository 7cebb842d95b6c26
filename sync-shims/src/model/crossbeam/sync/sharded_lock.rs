//! `ShardedLock`: to those who use it, a `RwLock`.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::model::sync::{
    LockResult, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult,
};

/// Stands in for [`crossbeam_utils::sync::ShardedLock`], poisoning included. In a model it is a
/// [`RwLock`](crate::model::sync::RwLock): that readers do not disturb each other is only a matter of speed.
pub struct ShardedLock<T: ?Sized> {
    lock: RwLock<T>,
}

impl<T: ?Sized> UnwindSafe for ShardedLock<T> {}
impl<T: ?Sized> RefUnwindSafe for ShardedLock<T> {}

/// Stands in for [`crossbeam_utils::sync::ShardedLockReadGuard`].
#[clippy::has_significant_drop]
pub struct ShardedLockReadGuard<'a, T: ?Sized> {
    lock: &'a ShardedLock<T>,
    guard: RwLockReadGuard<'a, T>,
}

/// Stands in for [`crossbeam_utils::sync::ShardedLockWriteGuard`].
#[clippy::has_significant_drop]
pub struct ShardedLockWriteGuard<'a, T: ?Sized> {
    lock: &'a ShardedLock<T>,
    guard: RwLockWriteGuard<'a, T>,
}

/// The same result with another guard.
fn guard<A, B>(result: LockResult<A>, guard: impl FnOnce(A) -> B) -> LockResult<B> {
    match result {
        Ok(inner) => Ok(guard(inner)),
        Err(error) => Err(PoisonError::new(guard(error.into_inner()))),
    }
}

fn try_guard<A, B>(result: TryLockResult<A>, guard: impl FnOnce(A) -> B) -> TryLockResult<B> {
    match result {
        Ok(inner) => Ok(guard(inner)),
        Err(TryLockError::Poisoned(error)) => Err(TryLockError::Poisoned(PoisonError::new(guard(error.into_inner())))),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
    }
}

impl<T> ShardedLock<T> {
    /// Stands in for [`crossbeam_utils::sync::ShardedLock::new`].
    #[track_caller]
    pub fn new(value: T) -> ShardedLock<T> {
        ShardedLock { lock: RwLock::new(value) }
    }

    /// Stands in for [`crossbeam_utils::sync::ShardedLock::into_inner`].
    ///
    /// # Errors
    ///
    /// If the lock is poisoned; the error holds the value.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        self.lock.into_inner()
    }
}

impl<T: ?Sized> ShardedLock<T> {
    /// Stands in for [`crossbeam_utils::sync::ShardedLock::is_poisoned`].
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.lock.is_poisoned()
    }

    /// Stands in for [`crossbeam_utils::sync::ShardedLock::get_mut`].
    ///
    /// # Errors
    ///
    /// If the lock is poisoned; the error holds the reference.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.lock.get_mut()
    }

    /// Stands in for [`crossbeam_utils::sync::ShardedLock::try_read`].
    ///
    /// # Errors
    ///
    /// If somebody writes, or if the lock is poisoned; the latter error holds the guard.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<ShardedLockReadGuard<'_, T>> {
        try_guard(self.lock.try_read(), |guard| ShardedLockReadGuard { lock: self, guard })
    }

    /// Stands in for [`crossbeam_utils::sync::ShardedLock::read`].
    ///
    /// # Errors
    ///
    /// If the lock is poisoned; the error holds the guard.
    #[track_caller]
    pub fn read(&self) -> LockResult<ShardedLockReadGuard<'_, T>> {
        guard(self.lock.read(), |guard| ShardedLockReadGuard { lock: self, guard })
    }

    /// Stands in for [`crossbeam_utils::sync::ShardedLock::try_write`].
    ///
    /// # Errors
    ///
    /// If somebody has the lock, or if it is poisoned; the latter error holds the guard.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<ShardedLockWriteGuard<'_, T>> {
        try_guard(self.lock.try_write(), |guard| ShardedLockWriteGuard { lock: self, guard })
    }

    /// Stands in for [`crossbeam_utils::sync::ShardedLock::write`].
    ///
    /// # Errors
    ///
    /// If the lock is poisoned; the error holds the guard.
    #[track_caller]
    pub fn write(&self) -> LockResult<ShardedLockWriteGuard<'_, T>> {
        guard(self.lock.write(), |guard| ShardedLockWriteGuard { lock: self, guard })
    }
}

impl<T: Default> Default for ShardedLock<T> {
    #[track_caller]
    fn default() -> Self {
        ShardedLock::new(T::default())
    }
}

impl<T> From<T> for ShardedLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        ShardedLock::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ShardedLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("ShardedLock");
        match self.try_read() {
            Ok(guard) => out.field("data", &&*guard),
            Err(TryLockError::Poisoned(error)) => out.field("data", &&**error.get_ref()),
            Err(TryLockError::WouldBlock) => out.field("data", &format_args!("<locked>")),
        };
        out.finish()
    }
}

macro_rules! guards {
    ($($name:ident)*) => {$(
        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.guard
            }
        }

        impl<T: fmt::Debug> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("lock", &self.lock).finish()
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}

guards!(ShardedLockReadGuard ShardedLockWriteGuard);

impl<T: ?Sized> DerefMut for ShardedLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}
