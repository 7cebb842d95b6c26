//! `Cell`.

use std::cmp::Ordering;
use std::fmt;
use std::mem;
use std::ptr;

use super::UnsafeCell;

/// Stands in for [`std::cell::Cell`]; every access is checked for races.
pub struct Cell<T>(UnsafeCell<T>);

impl<T> Cell<T> {
    /// Stands in for [`std::cell::Cell::new`].
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Cell(UnsafeCell::new(value))
    }

    /// Stands in for [`std::cell::Cell::set`].
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Stands in for [`std::cell::Cell::swap`].
    #[track_caller]
    pub fn swap(&self, other: &Self) {
        if ptr::eq(self, other) {
            return;
        }
        // SAFETY: 1. The cells are two, and neither gives out references.
        self.0.with_mut(|a| other.0.with_mut(|b| unsafe { ptr::swap(a, b) }));
    }

    /// Stands in for [`std::cell::Cell::replace`].
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: 1. The cell gives out no references.
        self.0.with_mut(|place| unsafe { mem::replace(&mut *place, value) })
    }

    /// Stands in for [`std::cell::Cell::get`].
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: 1. The cell gives out no references.
        self.0.with(|place| unsafe { *place })
    }

    /// Stands in for [`std::cell::Cell::take`].
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// Stands in for [`std::cell::Cell::into_inner`].
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: Default> Default for Cell<T> {
    #[track_caller]
    fn default() -> Self {
        Cell::new(T::default())
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Cell::new(value)
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        Cell::new(self.get())
    }
}

impl<T: Copy + PartialEq> PartialEq for Cell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Copy + Eq> Eq for Cell<T> {}

impl<T: Copy + PartialOrd> PartialOrd for Cell<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Copy + Ord> Ord for Cell<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.get().cmp(&other.get())
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").field("value", &self.get()).finish()
    }
}
