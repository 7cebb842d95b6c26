//! What stands in for [`std::sync::LazyLock`].

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use super::raw_once::{COMPLETE, INCOMPLETE, POISONED, RawOnce, Stored, Words};
use crate::model::event::Site;

static WORDS: Words = Words::of("LazyLock", "force", "get");

/// What is stored depends on the state: the closure before it has begun, the value when it is complete, else nothing.
union Data<T, F> {
    value: ManuallyDrop<T>,
    make: ManuallyDrop<F>,
}

/// Stands in for [`std::sync::LazyLock`]. A `static` one is made again in every execution, unless it was made outside of a
/// model.
pub struct LazyLock<T, F = fn() -> T> {
    raw: RawOnce<Data<T, F>>,
    owns: PhantomData<(T, F)>,
}

// SAFETY: 1. The value is made by any one thread, with the closure that may come from another, and shared then. 2. The closure
// itself is never shared.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}

impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

#[cold]
#[track_caller]
fn poisoned() -> ! {
    panic!("LazyLock instance has previously been poisoned")
}

/// Drops what there is.
///
/// # Safety
///
/// The pointer must be valid, and what is there not be used any more.
unsafe fn drop_stored<T, F>(stored: *mut Stored<Data<T, F>>) {
    // SAFETY: 1. The caller's promise. 2. The state says what is there.
    unsafe {
        let stored = &mut *stored;
        match stored.state_for_owner() {
            INCOMPLETE => ManuallyDrop::drop(&mut stored.data.make),
            COMPLETE => ManuallyDrop::drop(&mut stored.data.value),
            _ => {}
        }
    }
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Stands in for [`std::sync::LazyLock::new`].
    #[track_caller]
    pub const fn new(f: F) -> Self {
        let data = Data { make: ManuallyDrop::new(f) };
        LazyLock { raw: RawOnce::new(&WORDS, INCOMPLETE, data), owns: PhantomData }
    }

    /// Stands in for [`std::sync::LazyLock::force`].
    ///
    /// # Panics
    ///
    /// If the closure has panicked before.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        this.force_at(Location::caller())
    }

    #[track_caller]
    fn force_at(&self, site: Site) -> &T {
        match self.raw.begin(false, site) {
            Err(_) => poisoned(),
            Ok(None) => {}
            Ok(Some(running)) => {
                // SAFETY: 1. `drop_stored` goes by the state.
                unsafe { running.enter(drop_stored) };
                let data = self.raw.data();
                // SAFETY: 1. The state was incomplete, so the closure is there. 2. Nobody else is at it, and it is not
                // incomplete any more.
                let make = unsafe { ManuallyDrop::take(&mut (*data).make) };
                let value = ManuallyDrop::new(make());
                // SAFETY: 1. Nobody else is at it, and nobody reads it before it is finished. 2. What was there has gone.
                unsafe { (&raw mut (*data).value).write(value) };
                running.finish();
            }
        }
        // SAFETY: 1. It is complete.
        unsafe { self.value() }
    }

    /// Stands in for [`std::sync::LazyLock::force_mut`].
    ///
    /// # Panics
    ///
    /// If the closure has panicked before.
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        match this.raw.own(Location::caller()).state_for_owner() {
            COMPLETE => {}
            INCOMPLETE => this.make_for_owner(),
            _ => poisoned(),
        }
        // SAFETY: 1. It is complete.
        unsafe { &mut this.raw.last().data.value }
    }

    fn make_for_owner(&mut self) {
        // If the closure panics, nothing is there any more.
        self.raw.reset(POISONED);
        // SAFETY: 1. The state was incomplete, so the closure is there, and says no more that it is.
        let make = unsafe { ManuallyDrop::take(&mut self.raw.last().data.make) };
        let value = make();
        self.raw.last().data.value = ManuallyDrop::new(value);
        self.raw.reset(COMPLETE);
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value.
    ///
    /// # Safety
    ///
    /// It must be complete.
    unsafe fn value(&self) -> &T {
        // SAFETY: 1. The caller's promise. 2. It is not changed any more, but by owners.
        unsafe { &(*self.raw.data()).value }
    }

    /// Stands in for [`std::sync::LazyLock::get`].
    #[must_use]
    #[track_caller]
    pub fn get(this: &Self) -> Option<&T> {
        // SAFETY: 1. It is complete.
        this.raw.is_complete(Location::caller()).then(|| unsafe { this.value() })
    }

    /// Stands in for [`std::sync::LazyLock::get_mut`].
    #[must_use]
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let stored = this.raw.own(Location::caller());
        // SAFETY: 1. The state says that there is a value.
        (stored.state_for_owner() == COMPLETE).then(|| unsafe { &mut *stored.data.value })
    }
}

impl<T, F> Drop for LazyLock<T, F> {
    fn drop(&mut self) {
        // SAFETY: 1. It is not used any more.
        unsafe { drop_stored(self.raw.last()) };
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        LazyLock::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> Self {
        LazyLock::new(T::default)
    }
}

/// Looks whether there is a value, as std does.
impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("LazyLock");
        match LazyLock::get(self) {
            Some(value) => out.field(value),
            None => out.field(&format_args!("<uninit>")),
        };
        out.finish()
    }
}
