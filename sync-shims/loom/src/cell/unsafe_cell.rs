//! `UnsafeCell` and the guards that give access to it.

use std::fmt;
use std::panic::Location;

use dpor::Access;

use super::access::Lasting;

/// loom's `UnsafeCell`: as [`interleave::cell::UnsafeCell`], but every access says how long it lasts.
pub struct UnsafeCell<T: ?Sized>(interleave::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell with this value.
    #[track_caller]
    pub const fn new(data: T) -> UnsafeCell<T> {
        UnsafeCell(interleave::cell::UnsafeCell::new(data))
    }

    /// The value. In a model, a write.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Calls `f` with a pointer to read the value through. The read lasts as long as `f` runs.
    ///
    /// # Panics
    ///
    /// If the thread is writing to the cell.
    #[inline]
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.get().with(f)
    }

    /// Calls `f` with a pointer to change the value through. The write lasts as long as `f` runs.
    ///
    /// # Panics
    ///
    /// If the thread is reading from the cell or writing to it.
    #[inline]
    #[track_caller]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.get_mut().with(f)
    }

    /// A pointer to read the value through. The read lasts until it is dropped.
    ///
    /// # Panics
    ///
    /// If the thread is writing to the cell.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        let pointer = self.0.with(|pointer| pointer);
        ConstPtr { _access: Lasting::begin(&self.0, Access::Read, Location::caller()), pointer }
    }

    /// A pointer to change the value through. The write lasts until it is dropped.
    ///
    /// # Panics
    ///
    /// If the thread is reading from the cell or writing to it.
    #[inline]
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        let pointer = self.0.with_mut(|pointer| pointer);
        MutPtr { _access: Lasting::begin(&self.0, Access::Write, Location::caller()), pointer }
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> Self {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A read of an [`UnsafeCell`] that lasts until this is dropped.
pub struct ConstPtr<T: ?Sized> {
    _access: Lasting,
    pointer: *const T,
}

impl<T: ?Sized> ConstPtr<T> {
    /// The value.
    ///
    /// # Safety
    ///
    /// The cell must exist, and nobody write to it.
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: 1. The caller's promise.
        unsafe { &*self.pointer }
    }

    /// Calls `f` with the pointer.
    #[inline]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        f(self.pointer)
    }
}

impl<T: ?Sized> fmt::Debug for ConstPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConstPtr").finish_non_exhaustive()
    }
}

/// A write to an [`UnsafeCell`] that lasts until this is dropped.
pub struct MutPtr<T: ?Sized> {
    _access: Lasting,
    pointer: *mut T,
}

impl<T: ?Sized> MutPtr<T> {
    /// The value.
    ///
    /// # Safety
    ///
    /// The cell must exist, and nobody else have a reference to its value.
    #[expect(clippy::mut_from_ref, reason = "the caller answers for it")]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: 1. The caller's promise.
        unsafe { &mut *self.pointer }
    }

    /// Calls `f` with the pointer.
    #[inline]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        f(self.pointer)
    }
}

impl<T: ?Sized> fmt::Debug for MutPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MutPtr").finish_non_exhaustive()
    }
}
