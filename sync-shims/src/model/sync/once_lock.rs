//! What stands in for [`std::sync::OnceLock`].

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use super::raw_once::{COMPLETE, INCOMPLETE, RawOnce, Stored, Words};
use crate::model::event::Site;

static WORDS: Words = Words::of("OnceLock", "get_or_init", "get");

/// Stands in for [`std::sync::OnceLock`]. A `static` one is empty again in every execution, unless it was filled outside of a
/// model.
pub struct OnceLock<T> {
    raw: RawOnce<MaybeUninit<T>>,
    owns: PhantomData<T>,
}

// SAFETY: 1. The value can be sent in and taken out by different threads, and be shared by several, once it is complete.
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}

impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}

/// Drops the value if there is one.
///
/// # Safety
///
/// The pointer must be valid, and the value not be used any more.
unsafe fn drop_stored<T>(stored: *mut Stored<MaybeUninit<T>>) {
    // SAFETY: 1. The caller's promise.
    let stored = unsafe { &mut *stored };
    if stored.state_for_owner() == COMPLETE {
        // SAFETY: 1. The state says that there is a value.
        unsafe { stored.data.assume_init_drop() };
    }
}

impl<T> OnceLock<T> {
    /// Stands in for [`std::sync::OnceLock::new`].
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        OnceLock { raw: RawOnce::new(&WORDS, INCOMPLETE, MaybeUninit::uninit()), owns: PhantomData }
    }

    /// The value.
    ///
    /// # Safety
    ///
    /// It must be complete.
    unsafe fn value(&self) -> &T {
        // SAFETY: 1. The caller's promise. 2. It is not changed any more, but by owners.
        unsafe { (*self.raw.data()).assume_init_ref() }
    }

    /// Stands in for [`std::sync::OnceLock::get`].
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: 1. It is complete.
        self.raw.is_complete(Location::caller()).then(|| unsafe { self.value() })
    }

    /// Stands in for [`std::sync::OnceLock::get_mut`].
    #[track_caller]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        let stored = self.raw.own(Location::caller());
        // SAFETY: 1. The state says that there is a value.
        (stored.state_for_owner() == COMPLETE).then(|| unsafe { stored.data.assume_init_mut() })
    }

    /// Stands in for [`std::sync::OnceLock::wait`].
    ///
    /// # Panics
    ///
    /// After the end of a model, if there is no value.
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.raw.wait(true, Location::caller()).expect("the execution is over");
        // SAFETY: 1. It is complete.
        unsafe { self.value() }
    }

    /// Stands in for [`std::sync::OnceLock::set`].
    ///
    /// # Errors
    ///
    /// The value, if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init_at(|| value.take().expect("it is taken once"), Location::caller());
        value.map_or(Ok(()), Err)
    }

    /// Stands in for [`std::sync::OnceLock::get_or_init`].
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        self.get_or_init_at(f, Location::caller())
    }

    #[track_caller]
    fn get_or_init_at(&self, f: impl FnOnce() -> T, site: Site) -> &T {
        // It cannot be an error, as poison does not matter.
        if let Ok(Some(running)) = self.raw.begin(true, site) {
            // SAFETY: 1. `drop_stored` goes by the state.
            unsafe { running.enter(drop_stored) };
            let value = f();
            // SAFETY: 1. Nobody else is at it, and nobody reads it before it is finished.
            unsafe { (*self.raw.data()).write(value) };
            running.finish();
        }
        // SAFETY: 1. It is complete.
        unsafe { self.value() }
    }

    /// Stands in for [`std::sync::OnceLock::into_inner`].
    #[track_caller]
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Stands in for [`std::sync::OnceLock::take`].
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        let stored = self.raw.own(Location::caller());
        if stored.state_for_owner() != COMPLETE {
            return None;
        }
        // SAFETY: 1. The state says that there is a value, and says no more that there is in a moment.
        let value = unsafe { stored.data.assume_init_read() };
        self.raw.reset(INCOMPLETE);
        Some(value)
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        // SAFETY: 1. It is not used any more.
        unsafe { drop_stored(self.raw.last()) };
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        OnceLock { raw: RawOnce::new(&WORDS, COMPLETE, MaybeUninit::new(value)), owns: PhantomData }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.get().map_or_else(OnceLock::new, |value| OnceLock::from(value.clone()))
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

/// Looks whether there is a value, as std does.
impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => out.field(value),
            None => out.field(&format_args!("<uninit>")),
        };
        out.finish()
    }
}
