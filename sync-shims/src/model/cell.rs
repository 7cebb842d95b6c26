//! What stands in for [`std::cell`].
//!
//! [`UnsafeCell`] is what the race detector of a model watches: accesses to it are plain ones, not operations, and two of
//! them that conflict must be ordered by synchronisation. The other cells are std's, as they cannot be shared.

use std::fmt;
use std::panic::{Location, UnwindSafe};

use dpor::{Access, Info, Role};

use super::controller::current;
use super::deferred;
use super::event::{Identity, Site};
use super::statics::touch_shared;

pub use std::cell::{BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut};

/// Stands in for [`std::cell::UnsafeCell`], with accesses that a model checks for data races.
///
/// [`with`](Self::with) and [`with_mut`](Self::with_mut), which std does not have, say what the access is.
/// [`get`](Self::get) does not: see there. Dropping the cell is a write.
///
/// Creating a cell is no access: `new` is `const`, so it cannot learn which thread runs it, and the cell may be moved before it
/// is shared. A thread that finds a cell through a pointer published with a too weak ordering, and is the first to touch it,
/// races with its creation; that is not reported. It is as soon as whoever made the cell has touched it in its place, with
/// [`with_mut`](Self::with_mut) or a write through [`get`](Self::get), before publishing it.
///
/// Where it differs from std: `get`, `get_mut` and `into_inner` are not `const`, and there is no `from_mut`, since the cell
/// is larger than its value.
pub struct UnsafeCell<T: ?Sized> {
    // A field of its own, so that the drop check treats `UnsafeCell<T>` as it treats std's. It comes before the value and is
    // therefore dropped before it.
    tracker: Tracker,
    value: std::cell::UnsafeCell<T>,
}

/// The identity of a cell; its end is a write to the cell.
struct Tracker(Identity);

const fn info(name: &'static str) -> Info {
    Info { name, family: "UnsafeCell", role: Role::Plain }
}

impl Tracker {
    /// Checks an access that happens now.
    #[track_caller]
    fn access(&self, access: Access, info: &'static Info, site: Site) {
        current(|controller| match controller {
            Some(controller) => {
                touch_shared(controller, self.0.slot(), "`cell::UnsafeCell`", site);
                controller.plain(self.0.target(0), access, info, site);
            }
            None => self.0.outside(info),
        });
    }

    /// Checks a write that ends what was done through pointers handed out before.
    #[track_caller]
    fn end(&self, info: &'static Info, site: Site) {
        current(|controller| {
            if let Some(controller) = controller {
                deferred::settle_cell(controller, self.0.slot().get());
            }
        });
        self.access(Access::Write, info, site);
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        static INFO: Info = info("drop");
        // Outside a model there is nothing to check, and a second panic would abort.
        current(|controller| {
            if controller.is_some() {
                self.end(&INFO, self.0.created());
            }
        });
    }
}

impl<T> UnsafeCell<T> {
    /// Stands in for [`std::cell::UnsafeCell::new`].
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Self {
        UnsafeCell { tracker: Tracker(Identity::new()), value: std::cell::UnsafeCell::new(value) }
    }

    /// Stands in for [`std::cell::UnsafeCell::into_inner`]. In a model, a write.
    #[track_caller]
    pub fn into_inner(self) -> T {
        static INFO: Info = info("into_inner");
        self.tracker.end(&INFO, Location::caller());
        let UnsafeCell { tracker, value } = self;
        // It has been accounted for.
        std::mem::forget(tracker);
        value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Stands in for [`std::cell::UnsafeCell::get`].
    ///
    /// What is done through the pointer cannot be seen. So in a model the call counts as a read; the bytes are kept (of large
    /// values, a hash), and if they have changed when the thread comes to its next visible operation, it counts as a write as
    /// well. What this misses: writes that change nothing, and writes through a pointer that is kept across a visible
    /// operation. A cell that was handed out by `get` should stay where it is until then: if it is moved out of a box and the
    /// box freed, the comparison looks at freed memory. Under Miri the call is a read.
    #[track_caller]
    pub fn get(&self) -> *mut T {
        static INFO: Info = info("get");
        let site = Location::caller();
        let pointer = self.value.get();
        current(|controller| match controller {
            Some(controller) => {
                touch_shared(controller, self.tracker.0.slot(), "`cell::UnsafeCell`", site);
                let target = self.tracker.0.target(0);
                controller.plain(target, Access::Read, &INFO, site);
                let size = size_of_val(&self.value);
                deferred::handed_out(controller, target, pointer.cast_const().cast(), size, &INFO, site);
            }
            None => self.tracker.0.outside(&INFO),
        });
        pointer
    }

    /// Stands in for [`std::cell::UnsafeCell::get_mut`]. In a model, a write.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        static INFO: Info = info("get_mut");
        self.tracker.end(&INFO, Location::caller());
        self.value.get_mut()
    }

    /// Stands in for [`std::cell::UnsafeCell::raw_get`]. It only computes an address; a model does not see what is done
    /// through it.
    #[inline]
    #[expect(clippy::not_unsafe_ptr_arg_deref, reason = "no reference is made, and nothing read")]
    pub const fn raw_get(this: *const Self) -> *mut T {
        // SAFETY: 1. The caller has a pointer to a cell whose memory is allocated, if not initialised (as std demands of
        // `raw_get` with a pointer that is to be followed). 2. No reference is made.
        unsafe { std::cell::UnsafeCell::raw_get(&raw const (*this).value) }
    }

    /// By what a model knows the cell, for wrappers that look at more than single accesses.
    #[doc(hidden)]
    pub fn identity(&self) -> &Identity {
        &self.tracker.0
    }

    /// Calls `f` with a pointer to read the value through. In a model, a read.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        static INFO: Info = info("with");
        self.tracker.access(Access::Read, &INFO, Location::caller());
        f(self.value.get().cast_const())
    }

    /// Calls `f` with a pointer to change the value through. In a model, a write.
    #[inline]
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        static INFO: Info = info("with_mut");
        self.tracker.access(Access::Write, &INFO, Location::caller());
        f(self.value.get())
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
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

impl<T: ?Sized + UnwindSafe> UnwindSafe for UnsafeCell<T> {}
