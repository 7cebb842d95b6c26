//! `Weak`.

use std::fmt;
use std::mem::ManuallyDrop;
use std::num::NonZero;
use std::ptr::{self, NonNull};

use super::Arc;
use super::count::{Counts, Upgraded, here};
use super::memory::{Shared, around, free, value_of};
use super::strong::Handle;

/// Stands in for [`std::sync::Weak`]. See [`Arc`] for when a model counts handles.
pub struct Weak<T: ?Sized> {
    /// At the address `usize::MAX` if it never had a value.
    pub(super) shared: NonNull<Shared<T>>,
}

// SAFETY: 1. It can become a strong handle, so the same is needed.
unsafe impl<T: ?Sized + Sync + Send> Send for Weak<T> {}
// SAFETY: 1. As above.
unsafe impl<T: ?Sized + Sync + Send> Sync for Weak<T> {}

fn is_dangling<T: ?Sized>(pointer: *const T) -> bool {
    pointer.addr() == usize::MAX
}

impl<T> Weak<T> {
    /// Stands in for [`std::sync::Weak::new`].
    #[must_use]
    pub const fn new() -> Self {
        Weak { shared: NonNull::without_provenance(NonZero::<usize>::MAX) }
    }
}

impl<T: ?Sized> Weak<T> {
    /// The counts, if it ever had a value.
    pub(super) fn counts(&self) -> Option<&Counts> {
        if is_dangling(self.shared.as_ptr()) {
            return None;
        }
        // SAFETY: 1. The memory is allocated as long as there is a handle. 2. The value is not touched.
        Some(unsafe { &(*self.shared.as_ptr()).counts })
    }

    /// Stands in for [`std::sync::Weak::as_ptr`].
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        if is_dangling(self.shared.as_ptr()) {
            return self.shared.as_ptr() as *const T;
        }
        value_of(self.shared)
    }

    /// Stands in for [`std::sync::Weak::into_raw`].
    #[must_use = "losing the pointer will leak memory"]
    pub fn into_raw(self) -> *const T {
        ManuallyDrop::new(self).as_ptr()
    }

    /// Stands in for [`std::sync::Weak::from_raw`].
    ///
    /// # Safety
    ///
    /// The pointer must come from `into_raw`, and stand for a weak handle that is given up.
    #[must_use]
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        if is_dangling(pointer) {
            // SAFETY: 1. The address is not null.
            return Weak { shared: unsafe { NonNull::new_unchecked(pointer as *mut Shared<T>) } };
        }
        // SAFETY: 1. The caller's promise; the memory is allocated as there is a weak handle.
        Weak { shared: unsafe { around(pointer) } }
    }

    /// Stands in for [`std::sync::Weak::upgrade`].
    #[must_use = "this returns a new `Arc`, without modifying the original weak pointer"]
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let counts = self.counts()?;
        // In a model the new handle needs its share of the real count before it is counted there: others may run, and drop
        // theirs, as soon as it is. The share is given up again if that fails or the execution ends.
        let reserved = counts.reserve_for_upgrade().then(|| Handle { shared: self.shared });
        match counts.upgrade(here()) {
            Upgraded::No => return None,
            Upgraded::Really => {}
            Upgraded::InModel => std::mem::forget(reserved.expect("a value that is counted as alive has a handle")),
        }
        // SAFETY: 1. The new handle has been counted, and there is a value.
        Some(unsafe { Arc::from_shared(self.shared) })
    }

    /// Stands in for [`std::sync::Weak::strong_count`].
    #[must_use]
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.counts().map_or(0, |counts| counts.strong_count(here()))
    }

    /// Stands in for [`std::sync::Weak::weak_count`].
    #[must_use]
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.counts().map_or(0, |counts| counts.weak_count_of_weak(here()))
    }

    /// Stands in for [`std::sync::Weak::ptr_eq`].
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        ptr::addr_eq(self.shared.as_ptr(), other.shared.as_ptr())
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        if let Some(counts) = self.counts() {
            counts.add_weak(here());
        }
        Weak { shared: self.shared }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        /// Gives up the memory even if the execution ends at the operation.
        struct Memory<'a, T: ?Sized>(&'a Counts, NonNull<Shared<T>>);
        impl<T: ?Sized> Drop for Memory<'_, T> {
            fn drop(&mut self) {
                if self.0.release_memory() {
                    // SAFETY: 1. No handle of either kind is left, and so no value.
                    unsafe { free(self.1) };
                }
            }
        }
        if let Some(counts) = self.counts() {
            let _memory = Memory(counts, self.shared);
            counts.announce_release_weak();
        }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Self {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
