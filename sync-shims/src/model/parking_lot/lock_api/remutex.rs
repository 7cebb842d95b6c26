//! A mutex that a thread can lock again while it holds it.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use dpor::{Info, Role};
use real::{GetThreadId, RawMutex, RawMutexFair, RawMutexTimed};

use super::guard::show;
use super::{ArcReentrantMutexGuard, RawReentrantMutex, ReentrantMutexGuard, real};
use crate::model::parking_lot::core::{Origin, is_reentrant, own};
use crate::model::sync::Arc;

static GET_MUT: Info = Info { name: "get_mut", family: "ReentrantMutex", role: Role::Plain };
static INTO_INNER: Info = Info { name: "into_inner", family: "ReentrantMutex", role: Role::Plain };

/// Stands in for `lock_api::ReentrantMutex`.
///
/// With the raw mutexes of this crate, every order in which threads can take the lock is explored. To lock it again while it
/// is held is no operation that others can notice, and adds no executions. `static` ones are fresh in every execution, as
/// with [`Mutex`](super::Mutex).
pub struct ReentrantMutex<R, G, T: ?Sized> {
    pub(super) raw: RawReentrantMutex<R, G>,
    origin: Origin,
    pub(super) data: UnsafeCell<T>,
}

// SAFETY: 1. The mutex owns its value.
unsafe impl<R: RawMutex + Send, G: GetThreadId + Send, T: ?Sized + Send> Send for ReentrantMutex<R, G, T> {}
// SAFETY: 1. A shared reference only gives access to the value under the lock, to one thread at a time.
unsafe impl<R: RawMutex + Sync, G: GetThreadId + Sync, T: ?Sized + Send> Sync for ReentrantMutex<R, G, T> {}

impl<R: RawMutex, G: GetThreadId, T> ReentrantMutex<R, G, T> {
    /// Stands in for `lock_api::ReentrantMutex::new`.
    #[inline]
    #[track_caller]
    pub const fn new(val: T) -> ReentrantMutex<R, G, T> {
        ReentrantMutex::from_raw(R::INIT, G::INIT, val)
    }

    /// Stands in for `lock_api::ReentrantMutex::into_inner`.
    #[inline]
    #[track_caller]
    pub fn into_inner(self) -> T {
        own(&self.raw.mutex, &INTO_INNER);
        self.data.into_inner()
    }
}

impl<R, G, T> ReentrantMutex<R, G, T> {
    /// Stands in for `lock_api::ReentrantMutex::from_raw`.
    #[inline]
    #[track_caller]
    pub const fn from_raw(raw_mutex: R, get_thread_id: G, val: T) -> ReentrantMutex<R, G, T> {
        let raw = RawReentrantMutex::around(raw_mutex, get_thread_id);
        ReentrantMutex { raw, origin: Origin::new(), data: UnsafeCell::new(val) }
    }

    /// Stands in for `lock_api::ReentrantMutex::const_new`.
    #[inline]
    #[track_caller]
    pub const fn const_new(raw_mutex: R, get_thread_id: G, val: T) -> ReentrantMutex<R, G, T> {
        ReentrantMutex::from_raw(raw_mutex, get_thread_id, val)
    }
}

impl<R: RawMutex, G: GetThreadId, T: ?Sized> ReentrantMutex<R, G, T> {
    #[track_caller]
    fn enter(&self) -> &RawReentrantMutex<R, G> {
        self.origin.enter(&self.raw.mutex, self.data.get());
        is_reentrant(&self.raw.mutex);
        &self.raw
    }

    /// Stands in for `lock_api::ReentrantMutex::make_guard_unchecked`.
    ///
    /// # Safety
    ///
    /// The lock must be held, by somebody without a guard.
    #[inline]
    #[track_caller]
    pub unsafe fn make_guard_unchecked(&self) -> ReentrantMutexGuard<'_, R, G, T> {
        ReentrantMutexGuard { lock: self, site: Location::caller(), marker: PhantomData }
    }

    /// The guard, if the lock was `taken`.
    #[track_caller]
    fn guard_if(&self, taken: bool) -> Option<ReentrantMutexGuard<'_, R, G, T>> {
        let site = Location::caller();
        taken.then(|| ReentrantMutexGuard { lock: self, site, marker: PhantomData })
    }

    #[track_caller]
    fn arc_guard_if(this: &Arc<Self>, taken: bool) -> Option<ArcReentrantMutexGuard<R, G, T>> {
        let site = Location::caller();
        taken.then(|| ArcReentrantMutexGuard { lock: this.clone(), site, marker: PhantomData })
    }

    /// Stands in for `lock_api::ReentrantMutex::lock`.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> ReentrantMutexGuard<'_, R, G, T> {
        self.enter().lock();
        // SAFETY: 1. It was taken.
        unsafe { self.make_guard_unchecked() }
    }

    /// Stands in for `lock_api::ReentrantMutex::try_lock`.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> Option<ReentrantMutexGuard<'_, R, G, T>> {
        self.guard_if(self.enter().try_lock())
    }

    /// Stands in for `lock_api::ReentrantMutex::get_mut`.
    #[inline]
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        own(&self.raw.mutex, &GET_MUT);
        self.data.get_mut()
    }

    /// Stands in for `lock_api::ReentrantMutex::is_locked`.
    #[inline]
    #[track_caller]
    pub fn is_locked(&self) -> bool {
        self.enter().is_locked()
    }

    /// Stands in for `lock_api::ReentrantMutex::is_owned_by_current_thread`.
    #[inline]
    pub fn is_owned_by_current_thread(&self) -> bool {
        self.raw.is_owned_by_current_thread()
    }

    /// Stands in for `lock_api::ReentrantMutex::force_unlock`.
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

    /// Stands in for `lock_api::ReentrantMutex::raw`.
    ///
    /// # Safety
    ///
    /// The lock must not be given back while there is a guard.
    #[inline]
    pub unsafe fn raw(&self) -> &R {
        &self.enter().mutex
    }

    /// Stands in for `lock_api::ReentrantMutex::data_ptr`.
    #[inline]
    pub fn data_ptr(&self) -> *mut T {
        self.enter();
        self.data.get()
    }
}

impl<R: RawMutexFair, G: GetThreadId, T: ?Sized> ReentrantMutex<R, G, T> {
    /// Stands in for `lock_api::ReentrantMutex::force_unlock_fair`.
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

impl<R: RawMutexTimed, G: GetThreadId, T: ?Sized> ReentrantMutex<R, G, T> {
    /// Stands in for `lock_api::ReentrantMutex::try_lock_for`. In a model, it either comes after an unlock or gives up.
    #[inline]
    #[track_caller]
    pub fn try_lock_for(&self, timeout: R::Duration) -> Option<ReentrantMutexGuard<'_, R, G, T>> {
        self.guard_if(self.enter().try_lock_for(timeout))
    }

    /// Stands in for `lock_api::ReentrantMutex::try_lock_until`. In a model, it either comes after an unlock or gives up.
    #[inline]
    #[track_caller]
    pub fn try_lock_until(&self, timeout: R::Instant) -> Option<ReentrantMutexGuard<'_, R, G, T>> {
        self.guard_if(self.enter().try_lock_until(timeout))
    }
}

arc_methods! {
    "ReentrantMutex": [R: RawMutex, G: GetThreadId, T: ?Sized] ReentrantMutex<R, G, T>;
    unsafe fn make_arc_guard_unchecked(this) -> ArcReentrantMutexGuard<R, G, T> {
        ArcReentrantMutexGuard { lock: this.clone(), site: Location::caller(), marker: PhantomData }
    }
}

arc_methods! {
    "ReentrantMutex": [R: RawMutex, G: GetThreadId, T: ?Sized] ReentrantMutex<R, G, T>;
    fn lock_arc(this) -> ArcReentrantMutexGuard<R, G, T> {
        this.enter().lock();
        ArcReentrantMutexGuard { lock: this.clone(), site: Location::caller(), marker: PhantomData }
    }
    fn try_lock_arc(this) -> Option<ArcReentrantMutexGuard<R, G, T>> {
        ReentrantMutex::arc_guard_if(this, this.enter().try_lock())
    }
}

arc_methods! {
    "ReentrantMutex": [R: RawMutexTimed, G: GetThreadId, T: ?Sized] ReentrantMutex<R, G, T>;
    fn try_lock_arc_for(this, timeout: R::Duration) -> Option<ArcReentrantMutexGuard<R, G, T>> {
        ReentrantMutex::arc_guard_if(this, this.enter().try_lock_for(timeout))
    }
    fn try_lock_arc_until(this, timeout: R::Instant) -> Option<ArcReentrantMutexGuard<R, G, T>> {
        ReentrantMutex::arc_guard_if(this, this.enter().try_lock_until(timeout))
    }
}

impl<R: RawMutex, G: GetThreadId, T: Default> Default for ReentrantMutex<R, G, T> {
    #[track_caller]
    fn default() -> ReentrantMutex<R, G, T> {
        ReentrantMutex::new(T::default())
    }
}

impl<R: RawMutex, G: GetThreadId, T> From<T> for ReentrantMutex<R, G, T> {
    #[track_caller]
    fn from(t: T) -> ReentrantMutex<R, G, T> {
        ReentrantMutex::new(t)
    }
}

impl<R: RawMutex, G: GetThreadId, T: ?Sized + fmt::Debug> fmt::Debug for ReentrantMutex<R, G, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "ReentrantMutex", self.try_lock().as_deref())
    }
}
