//! A reader-writer lock around a raw one.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use dpor::{Info, Role};
use real::{
    RawRwLock, RawRwLockFair, RawRwLockRecursive, RawRwLockRecursiveTimed, RawRwLockTimed, RawRwLockUpgrade,
    RawRwLockUpgradeTimed,
};

use super::guard::show;
use super::{
    ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard, ArcRwLockWriteGuard, RwLockReadGuard, RwLockUpgradableReadGuard,
    RwLockWriteGuard, real,
};
use crate::model::parking_lot::core::{Origin, own};
use crate::model::sync::Arc;

static GET_MUT: Info = Info { name: "get_mut", family: "RwLock", role: Role::Plain };
static INTO_INNER: Info = Info { name: "into_inner", family: "RwLock", role: Role::Plain };

/// Stands in for `lock_api::RwLock`.
///
/// With the raw lock of this crate, every order in which threads can take the lock is explored, with the rules of
/// parking_lot: a writer that waits keeps new readers out, but those that `read_recursive`. `static` ones are fresh in every
/// execution, as with [`Mutex`](super::Mutex).
pub struct RwLock<R, T: ?Sized> {
    pub(super) raw: R,
    origin: Origin,
    pub(super) data: UnsafeCell<T>,
}

// SAFETY: 1. The lock owns its value.
unsafe impl<R: RawRwLock + Send, T: ?Sized + Send> Send for RwLock<R, T> {}
// SAFETY: 1. Readers share the value, hence `Sync`; a writer has it alone, which is as good as sending it there and back.
unsafe impl<R: RawRwLock + Sync, T: ?Sized + Send + Sync> Sync for RwLock<R, T> {}

impl<R: RawRwLock, T> RwLock<R, T> {
    /// Stands in for `lock_api::RwLock::new`.
    #[inline]
    #[track_caller]
    pub const fn new(val: T) -> RwLock<R, T> {
        RwLock::from_raw(R::INIT, val)
    }

    /// Stands in for `lock_api::RwLock::into_inner`.
    #[inline]
    #[track_caller]
    pub fn into_inner(self) -> T {
        own(&self.raw, &INTO_INNER);
        self.data.into_inner()
    }
}

impl<R, T> RwLock<R, T> {
    /// Stands in for `lock_api::RwLock::from_raw`.
    #[inline]
    #[track_caller]
    pub const fn from_raw(raw_rwlock: R, val: T) -> RwLock<R, T> {
        RwLock { raw: raw_rwlock, origin: Origin::new(), data: UnsafeCell::new(val) }
    }

    /// Stands in for `lock_api::RwLock::const_new`.
    #[inline]
    #[track_caller]
    pub const fn const_new(raw_rwlock: R, val: T) -> RwLock<R, T> {
        RwLock::from_raw(raw_rwlock, val)
    }
}

/// The methods that take the lock if they can, for a guard and for a guard with an `Arc`.
macro_rules! tries {
    (
        [$($generics:tt)*] $guard:ident, $arc_guard:ident;
        $($method:ident, $arc_method:ident($($timeout:ident: $type:ty)?) $raw:ident;)*
    ) => {
        impl<$($generics)*> RwLock<R, T> {$(
            #[doc = concat!("Stands in for `lock_api::RwLock::", stringify!($method), "`.")]
            #[inline]
            #[track_caller]
            pub fn $method(&self $(, $timeout: $type)?) -> Option<$guard<'_, R, T>> {
                let site = Location::caller();
                self.enter().$raw($($timeout)?).then(|| $guard { lock: self, site, marker: PhantomData })
            }
        )*}

        arc_methods! {
            "RwLock": [$($generics)*] RwLock<R, T>;
            $(fn $arc_method(this $(, $timeout: $type)?) -> Option<$arc_guard<R, T>> {
                let site = Location::caller();
                this.enter().$raw($($timeout)?).then(|| $arc_guard { lock: this.clone(), site, marker: PhantomData })
            })*
        }
    };
}

/// The methods that wait for the lock, for a guard and for a guard with an `Arc`.
macro_rules! waits {
    ([$($generics:tt)*] $guard:ident, $arc_guard:ident; $method:ident, $arc_method:ident $raw:ident) => {
        impl<$($generics)*> RwLock<R, T> {
            #[doc = concat!("Stands in for `lock_api::RwLock::", stringify!($method), "`.")]
            #[inline]
            #[track_caller]
            pub fn $method(&self) -> $guard<'_, R, T> {
                self.enter().$raw();
                $guard { lock: self, site: Location::caller(), marker: PhantomData }
            }
        }

        arc_methods! {
            "RwLock": [$($generics)*] RwLock<R, T>;
            fn $arc_method(this) -> $arc_guard<R, T> {
                this.enter().$raw();
                $arc_guard { lock: this.clone(), site: Location::caller(), marker: PhantomData }
            }
        }
    };
}

/// The functions that make a guard of a lock that is held without one.
macro_rules! makes {
    ([$($generics:tt)*] $guard:ident, $arc_guard:ident; $method:ident, $arc_method:ident) => {
        impl<$($generics)*> RwLock<R, T> {
            #[doc = concat!("Stands in for `lock_api::RwLock::", stringify!($method), "`.")]
            ///
            /// # Safety
            ///
            /// The lock must be held in this way, by somebody without a guard.
            #[inline]
            #[track_caller]
            pub unsafe fn $method(&self) -> $guard<'_, R, T> {
                $guard { lock: self, site: Location::caller(), marker: PhantomData }
            }
        }

        arc_methods! {
            "RwLock": [$($generics)*] RwLock<R, T>;
            unsafe fn $arc_method(this) -> $arc_guard<R, T> {
                $arc_guard { lock: this.clone(), site: Location::caller(), marker: PhantomData }
            }
        }
    };
}

/// The functions that give a lock back that is held without a guard.
macro_rules! forces {
    ([$($generics:tt)*] $($method:ident $raw:ident)*) => {
        impl<$($generics)*> RwLock<R, T> {$(
            #[doc = concat!("Stands in for `lock_api::RwLock::", stringify!($method), "`.")]
            ///
            /// # Safety
            ///
            /// The running thread must hold the lock in this way, without a guard.
            #[inline]
            #[track_caller]
            pub unsafe fn $method(&self) {
                // SAFETY: 1. The caller's.
                unsafe { self.raw.$raw() };
            }
        )*}
    };
}

waits! { [R: RawRwLock, T: ?Sized] RwLockReadGuard, ArcRwLockReadGuard; read, read_arc lock_shared }
waits! { [R: RawRwLock, T: ?Sized] RwLockWriteGuard, ArcRwLockWriteGuard; write, write_arc lock_exclusive }
waits! {
    [R: RawRwLockRecursive, T: ?Sized] RwLockReadGuard, ArcRwLockReadGuard;
    read_recursive, read_arc_recursive lock_shared_recursive
}
waits! {
    [R: RawRwLockUpgrade, T: ?Sized] RwLockUpgradableReadGuard, ArcRwLockUpgradableReadGuard;
    upgradable_read, upgradable_read_arc lock_upgradable
}
tries! {
    [R: RawRwLock, T: ?Sized] RwLockReadGuard, ArcRwLockReadGuard;
    try_read, try_read_arc() try_lock_shared;
}
tries! {
    [R: RawRwLock, T: ?Sized] RwLockWriteGuard, ArcRwLockWriteGuard;
    try_write, try_write_arc() try_lock_exclusive;
}
tries! {
    [R: RawRwLockTimed, T: ?Sized] RwLockReadGuard, ArcRwLockReadGuard;
    try_read_for, try_read_arc_for(timeout: R::Duration) try_lock_shared_for;
    try_read_until, try_read_arc_until(timeout: R::Instant) try_lock_shared_until;
}
tries! {
    [R: RawRwLockTimed, T: ?Sized] RwLockWriteGuard, ArcRwLockWriteGuard;
    try_write_for, try_write_arc_for(timeout: R::Duration) try_lock_exclusive_for;
    try_write_until, try_write_arc_until(timeout: R::Instant) try_lock_exclusive_until;
}
tries! {
    [R: RawRwLockRecursive, T: ?Sized] RwLockReadGuard, ArcRwLockReadGuard;
    try_read_recursive, try_read_recursive_arc() try_lock_shared_recursive;
}
tries! {
    [R: RawRwLockRecursiveTimed, T: ?Sized] RwLockReadGuard, ArcRwLockReadGuard;
    try_read_recursive_for, try_read_arc_recursive_for(timeout: R::Duration) try_lock_shared_recursive_for;
    try_read_recursive_until, try_read_arc_recursive_until(timeout: R::Instant) try_lock_shared_recursive_until;
}
tries! {
    [R: RawRwLockUpgrade, T: ?Sized] RwLockUpgradableReadGuard, ArcRwLockUpgradableReadGuard;
    try_upgradable_read, try_upgradable_read_arc() try_lock_upgradable;
}
tries! {
    [R: RawRwLockUpgradeTimed, T: ?Sized] RwLockUpgradableReadGuard, ArcRwLockUpgradableReadGuard;
    try_upgradable_read_for, try_upgradable_read_arc_for(timeout: R::Duration) try_lock_upgradable_for;
    try_upgradable_read_until, try_upgradable_read_arc_until(timeout: R::Instant) try_lock_upgradable_until;
}
makes! {
    [R: RawRwLock, T: ?Sized]
    RwLockReadGuard, ArcRwLockReadGuard; make_read_guard_unchecked, make_arc_read_guard_unchecked
}
makes! {
    [R: RawRwLock, T: ?Sized]
    RwLockWriteGuard, ArcRwLockWriteGuard; make_write_guard_unchecked, make_arc_write_guard_unchecked
}
makes! {
    [R: RawRwLockUpgrade, T: ?Sized]
    RwLockUpgradableReadGuard, ArcRwLockUpgradableReadGuard;
    make_upgradable_guard_unchecked, make_upgradable_arc_guard_unchecked
}
forces! { [R: RawRwLock, T: ?Sized] force_unlock_read unlock_shared force_unlock_write unlock_exclusive }
forces! {
    [R: RawRwLockFair, T: ?Sized]
    force_unlock_read_fair unlock_shared_fair force_unlock_write_fair unlock_exclusive_fair
}

impl<R: RawRwLock, T: ?Sized> RwLock<R, T> {
    #[track_caller]
    fn enter(&self) -> &R {
        self.origin.enter(&self.raw, self.data.get());
        &self.raw
    }

    /// Stands in for `lock_api::RwLock::get_mut`.
    #[inline]
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        own(&self.raw, &GET_MUT);
        self.data.get_mut()
    }

    /// Stands in for `lock_api::RwLock::is_locked`.
    #[inline]
    #[track_caller]
    pub fn is_locked(&self) -> bool {
        self.enter().is_locked()
    }

    /// Stands in for `lock_api::RwLock::is_locked_exclusive`.
    #[inline]
    #[track_caller]
    pub fn is_locked_exclusive(&self) -> bool {
        self.enter().is_locked_exclusive()
    }

    /// Stands in for `lock_api::RwLock::raw`.
    ///
    /// # Safety
    ///
    /// The lock must not be given back while there is a guard.
    #[inline]
    pub unsafe fn raw(&self) -> &R {
        self.enter()
    }

    /// Stands in for `lock_api::RwLock::data_ptr`.
    #[inline]
    pub fn data_ptr(&self) -> *mut T {
        self.enter();
        self.data.get()
    }
}

impl<R: RawRwLock, T: Default> Default for RwLock<R, T> {
    #[track_caller]
    fn default() -> RwLock<R, T> {
        RwLock::new(T::default())
    }
}

impl<R: RawRwLock, T> From<T> for RwLock<R, T> {
    #[track_caller]
    fn from(t: T) -> RwLock<R, T> {
        RwLock::new(t)
    }
}

impl<R: RawRwLock, T: ?Sized + fmt::Debug> fmt::Debug for RwLock<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "RwLock", self.try_read().as_deref())
    }
}
