//! A mutex around a raw one.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use dpor::{Info, Role};
use real::{RawMutex, RawMutexFair, RawMutexTimed};

use super::guard::show;
use super::{ArcMutexGuard, MutexGuard, real};
use crate::model::parking_lot::core::{Origin, own};
use crate::model::sync::Arc;

static GET_MUT: Info = Info { name: "get_mut", family: "Mutex", role: Role::Plain };
static INTO_INNER: Info = Info { name: "into_inner", family: "Mutex", role: Role::Plain };

/// Stands in for `lock_api::Mutex`.
///
/// With the raw mutexes of this crate, every order in which threads can take the lock is explored. A thread that locks it
/// twice is found as a deadlock. What a `static` one protects is the same at the beginning of every execution; unless it has
/// drop glue and was locked outside a model before: then it is carried over.
pub struct Mutex<R, T: ?Sized> {
    pub(super) raw: R,
    origin: Origin,
    pub(super) data: UnsafeCell<T>,
}

// SAFETY: 1. The mutex owns its value.
unsafe impl<R: RawMutex + Send, T: ?Sized + Send> Send for Mutex<R, T> {}
// SAFETY: 1. A shared reference only gives access to the value under the lock, to one thread at a time.
unsafe impl<R: RawMutex + Sync, T: ?Sized + Send> Sync for Mutex<R, T> {}

impl<R: RawMutex, T> Mutex<R, T> {
    /// Stands in for `lock_api::Mutex::new`.
    #[inline]
    #[track_caller]
    pub const fn new(val: T) -> Mutex<R, T> {
        Mutex::from_raw(R::INIT, val)
    }

    /// Stands in for `lock_api::Mutex::into_inner`.
    #[inline]
    #[track_caller]
    pub fn into_inner(self) -> T {
        own(&self.raw, &INTO_INNER);
        self.data.into_inner()
    }
}

impl<R, T> Mutex<R, T> {
    /// Stands in for `lock_api::Mutex::from_raw`.
    #[inline]
    #[track_caller]
    pub const fn from_raw(raw_mutex: R, val: T) -> Mutex<R, T> {
        Mutex { raw: raw_mutex, origin: Origin::new(), data: UnsafeCell::new(val) }
    }

    /// Stands in for `lock_api::Mutex::const_new`.
    #[inline]
    #[track_caller]
    pub const fn const_new(raw_mutex: R, val: T) -> Mutex<R, T> {
        Mutex::from_raw(raw_mutex, val)
    }
}

impl<R: RawMutex, T: ?Sized> Mutex<R, T> {
    #[track_caller]
    fn enter(&self) -> &R {
        self.origin.enter(&self.raw, self.data.get());
        &self.raw
    }

    /// Stands in for `lock_api::Mutex::make_guard_unchecked`.
    ///
    /// # Safety
    ///
    /// The lock must be held, by somebody without a guard.
    #[inline]
    #[track_caller]
    pub unsafe fn make_guard_unchecked(&self) -> MutexGuard<'_, R, T> {
        MutexGuard { lock: self, site: Location::caller(), marker: PhantomData }
    }

    /// The guard, if the lock was `taken`.
    #[track_caller]
    fn guard_if(&self, taken: bool) -> Option<MutexGuard<'_, R, T>> {
        let site = Location::caller();
        taken.then(|| MutexGuard { lock: self, site, marker: PhantomData })
    }

    #[track_caller]
    fn arc_guard_if(this: &Arc<Self>, taken: bool) -> Option<ArcMutexGuard<R, T>> {
        let site = Location::caller();
        taken.then(|| ArcMutexGuard { lock: this.clone(), site, marker: PhantomData })
    }

    /// Stands in for `lock_api::Mutex::lock`.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, R, T> {
        self.enter().lock();
        // SAFETY: 1. It was taken.
        unsafe { self.make_guard_unchecked() }
    }

    /// Stands in for `lock_api::Mutex::try_lock`.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, R, T>> {
        self.guard_if(self.enter().try_lock())
    }

    /// Stands in for `lock_api::Mutex::get_mut`.
    #[inline]
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        own(&self.raw, &GET_MUT);
        self.data.get_mut()
    }

    /// Stands in for `lock_api::Mutex::is_locked`.
    #[inline]
    #[track_caller]
    pub fn is_locked(&self) -> bool {
        self.enter().is_locked()
    }

    /// Stands in for `lock_api::Mutex::force_unlock`.
    ///
    /// # Safety
    ///
    /// The running thread must hold the lock, without a guard.
    #[inline]
    #[track_caller]
    pub unsafe fn force_unlock(&self) {
        // SAFETY: 1. The caller's.
        unsafe { self.raw.unlock() };
    }

    /// Stands in for `lock_api::Mutex::raw`.
    ///
    /// # Safety
    ///
    /// The lock must not be given back while there is a guard.
    #[inline]
    pub unsafe fn raw(&self) -> &R {
        self.enter()
    }

    /// Stands in for `lock_api::Mutex::data_ptr`.
    #[inline]
    pub fn data_ptr(&self) -> *mut T {
        self.enter();
        self.data.get()
    }
}

impl<R: RawMutexFair, T: ?Sized> Mutex<R, T> {
    /// Stands in for `lock_api::Mutex::force_unlock_fair`.
    ///
    /// # Safety
    ///
    /// The running thread must hold the lock, without a guard.
    #[inline]
    #[track_caller]
    pub unsafe fn force_unlock_fair(&self) {
        // SAFETY: 1. The caller's.
        unsafe { self.raw.unlock_fair() };
    }
}

impl<R: RawMutexTimed, T: ?Sized> Mutex<R, T> {
    /// Stands in for `lock_api::Mutex::try_lock_for`. In a model, it either comes after an unlock or gives up.
    #[inline]
    #[track_caller]
    pub fn try_lock_for(&self, timeout: R::Duration) -> Option<MutexGuard<'_, R, T>> {
        self.guard_if(self.enter().try_lock_for(timeout))
    }

    /// Stands in for `lock_api::Mutex::try_lock_until`. In a model, it either comes after an unlock or gives up.
    #[inline]
    #[track_caller]
    pub fn try_lock_until(&self, timeout: R::Instant) -> Option<MutexGuard<'_, R, T>> {
        self.guard_if(self.enter().try_lock_until(timeout))
    }
}

arc_methods! {
    "Mutex": [R: RawMutex, T: ?Sized] Mutex<R, T>;
    fn lock_arc(this) -> ArcMutexGuard<R, T> {
        this.enter().lock();
        ArcMutexGuard { lock: this.clone(), site: Location::caller(), marker: PhantomData }
    }
    fn try_lock_arc(this) -> Option<ArcMutexGuard<R, T>> {
        Mutex::arc_guard_if(this, this.enter().try_lock())
    }
}

arc_methods! {
    "Mutex": [R: RawMutexTimed, T: ?Sized] Mutex<R, T>;
    fn try_lock_arc_for(this, timeout: R::Duration) -> Option<ArcMutexGuard<R, T>> {
        Mutex::arc_guard_if(this, this.enter().try_lock_for(timeout))
    }
    fn try_lock_arc_until(this, timeout: R::Instant) -> Option<ArcMutexGuard<R, T>> {
        Mutex::arc_guard_if(this, this.enter().try_lock_until(timeout))
    }
}

impl<R: RawMutex, T: Default> Default for Mutex<R, T> {
    #[track_caller]
    fn default() -> Mutex<R, T> {
        Mutex::new(T::default())
    }
}

impl<R: RawMutex, T> From<T> for Mutex<R, T> {
    #[track_caller]
    fn from(t: T) -> Mutex<R, T> {
        Mutex::new(t)
    }
}

impl<R: RawMutex, T: ?Sized + fmt::Debug> fmt::Debug for Mutex<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "Mutex", self.try_lock().as_deref())
    }
}
