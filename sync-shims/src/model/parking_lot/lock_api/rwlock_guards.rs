//! The guards of readers and writers.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::ptr;

use real::{RawRwLock, RawRwLockDowngrade, RawRwLockFair, RawRwLockUpgradeDowngrade};

use super::guard::Finally;
use super::{ArcRwLockUpgradableReadGuard, RwLock, RwLockUpgradableReadGuard, real};
use crate::model::event::Site;
use crate::model::parking_lot::core::at;
use crate::model::sync::Arc;

/// Stands in for `lock_api::RwLockReadGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, R: RawRwLock, T: ?Sized> {
    pub(super) lock: &'a RwLock<R, T>,
    pub(super) site: Site,
    pub(super) marker: PhantomData<(&'a T, R::GuardMarker)>,
}

// SAFETY: 1. A shared guard only gives out `&T`, and the lock.
unsafe impl<R: RawRwLock + Sync, T: Sync + ?Sized> Sync for RwLockReadGuard<'_, R, T> {}

impl<'a, R: RawRwLock + 'a, T: ?Sized + 'a> RwLockReadGuard<'a, R, T> {
    /// Stands in for `lock_api::RwLockReadGuard::rwlock`.
    #[inline]
    pub fn rwlock(s: &Self) -> &'a RwLock<R, T> {
        s.lock
    }
}

/// Stands in for `lock_api::ArcRwLockReadGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct ArcRwLockReadGuard<R: RawRwLock, T: ?Sized> {
    pub(super) lock: Arc<RwLock<R, T>>,
    pub(super) site: Site,
    pub(super) marker: PhantomData<R::GuardMarker>,
}

/// Stands in for `lock_api::RwLockWriteGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, R: RawRwLock, T: ?Sized> {
    pub(super) lock: &'a RwLock<R, T>,
    pub(super) site: Site,
    pub(super) marker: PhantomData<(&'a mut T, R::GuardMarker)>,
}

// SAFETY: 1. A shared guard only gives out `&T`, and the lock.
unsafe impl<R: RawRwLock + Sync, T: Sync + ?Sized> Sync for RwLockWriteGuard<'_, R, T> {}

impl<'a, R: RawRwLock + 'a, T: ?Sized + 'a> RwLockWriteGuard<'a, R, T> {
    /// Stands in for `lock_api::RwLockWriteGuard::rwlock`.
    #[inline]
    pub fn rwlock(s: &Self) -> &'a RwLock<R, T> {
        s.lock
    }
}

/// Stands in for `lock_api::ArcRwLockWriteGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct ArcRwLockWriteGuard<R: RawRwLock, T: ?Sized> {
    pub(super) lock: Arc<RwLock<R, T>>,
    pub(super) site: Site,
    pub(super) marker: PhantomData<R::GuardMarker>,
}

/// Stands in for `lock_api::MappedRwLockReadGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct MappedRwLockReadGuard<'a, R: RawRwLock, T: ?Sized> {
    raw: &'a R,
    data: *const T,
    site: Site,
    marker: PhantomData<&'a T>,
}

// SAFETY: 1. A shared guard only gives out `&T`.
unsafe impl<'a, R: RawRwLock + 'a, T: ?Sized + Sync + 'a> Sync for MappedRwLockReadGuard<'a, R, T> {}
// SAFETY: 1. The lock may be given back by another thread, as the marker says. 2. The value may be shared with it.
unsafe impl<'a, R: RawRwLock + 'a, T: ?Sized + Sync + 'a> Send for MappedRwLockReadGuard<'a, R, T> where
    R::GuardMarker: Send
{
}

/// Stands in for `lock_api::MappedRwLockWriteGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct MappedRwLockWriteGuard<'a, R: RawRwLock, T: ?Sized> {
    raw: &'a R,
    data: *mut T,
    site: Site,
    marker: PhantomData<&'a mut T>,
}

// SAFETY: 1. A shared guard only gives out `&T`.
unsafe impl<'a, R: RawRwLock + 'a, T: ?Sized + Sync + 'a> Sync for MappedRwLockWriteGuard<'a, R, T> {}
// SAFETY: 1. The lock may be given back by another thread, as the marker says. 2. The value may go there.
unsafe impl<'a, R: RawRwLock + 'a, T: ?Sized + Send + 'a> Send for MappedRwLockWriteGuard<'a, R, T> where
    R::GuardMarker: Send
{
}

/// The ways from a writer to a reader.
macro_rules! downgrades {
    (
        $real:literal: [$($plain:tt)*] [$($upgrade:tt)*] $guard:ty =>
        $read:ident<[$($args:tt)*]>, $upgradable:ident
    ) => {
        impl<$($plain)*> $guard {
            #[doc = concat!("Stands in for `lock_api::", $real, "::downgrade`.")]
            #[track_caller]
            pub fn downgrade(s: Self) -> $read<$($args)*> {
                let s = ManuallyDrop::new(s);
                // SAFETY: 1. The guard holds it, and is not used any more.
                let lock = unsafe {
                    s.lock.raw.downgrade();
                    ptr::read(&s.lock)
                };
                $read { lock, site: s.site, marker: PhantomData }
            }
        }

        impl<$($upgrade)*> $guard {
            #[doc = concat!("Stands in for `lock_api::", $real, "::downgrade_to_upgradable`.")]
            #[track_caller]
            pub fn downgrade_to_upgradable(s: Self) -> $upgradable<$($args)*> {
                let s = ManuallyDrop::new(s);
                // SAFETY: 1. The guard holds it, and is not used any more.
                let lock = unsafe {
                    s.lock.raw.downgrade_to_upgradable();
                    ptr::read(&s.lock)
                };
                $upgradable { lock, site: s.site, marker: PhantomData }
            }
        }
    };
}

holds_lock! {
    "RwLockReadGuard": ['a, R: RawRwLock + 'a, T: ?Sized + 'a] ['a, R: RawRwLockFair + 'a, T: ?Sized + 'a]
    RwLockReadGuard<'a, R, T>, core: [], unlock_shared, lock_shared, unlock_shared_fair, bump_shared
}
maps! {
    "RwLockReadGuard": ['a, R: RawRwLock + 'a, T: ?Sized + 'a] RwLockReadGuard<'a, R, T> =>
    MappedRwLockReadGuard<['a, R]>, [&], try_map_or_err, |s: &Self| s.lock.data.get(), |s: &Self| &s.lock.raw
}

holds_lock! {
    "ArcRwLockReadGuard": [R: RawRwLock, T: ?Sized] [R: RawRwLockFair, T: ?Sized] ArcRwLockReadGuard<R, T>,
    core: [], unlock_shared, lock_shared, unlock_shared_fair, bump_shared
}
has_arc! {
    "ArcRwLockReadGuard": [R: RawRwLock, T: ?Sized] [R: RawRwLockFair, T: ?Sized] ArcRwLockReadGuard<R, T>,
    RwLock<R, T>, rwlock, unlock_shared, unlock_shared_fair
}

holds_lock! {
    "RwLockWriteGuard": ['a, R: RawRwLock + 'a, T: ?Sized + 'a] ['a, R: RawRwLockFair + 'a, T: ?Sized + 'a]
    RwLockWriteGuard<'a, R, T>, core: [], unlock_exclusive, lock_exclusive, unlock_exclusive_fair, bump_exclusive
}
gives_out_mut! { ['a, R: RawRwLock + 'a, T: ?Sized + 'a] RwLockWriteGuard<'a, R, T> }
maps! {
    "RwLockWriteGuard": ['a, R: RawRwLock + 'a, T: ?Sized + 'a] RwLockWriteGuard<'a, R, T> =>
    MappedRwLockWriteGuard<['a, R]>, [&mut], try_map_or_err, |s: &Self| s.lock.data.get(), |s: &Self| &s.lock.raw
}
downgrades! {
    "RwLockWriteGuard": ['a, R: RawRwLockDowngrade + 'a, T: ?Sized + 'a]
    ['a, R: RawRwLockUpgradeDowngrade + 'a, T: ?Sized + 'a] RwLockWriteGuard<'a, R, T> =>
    RwLockReadGuard<['a, R, T]>, RwLockUpgradableReadGuard
}

holds_lock! {
    "ArcRwLockWriteGuard": [R: RawRwLock, T: ?Sized] [R: RawRwLockFair, T: ?Sized] ArcRwLockWriteGuard<R, T>,
    core: [], unlock_exclusive, lock_exclusive, unlock_exclusive_fair, bump_exclusive
}
gives_out_mut! { [R: RawRwLock, T: ?Sized] ArcRwLockWriteGuard<R, T> }
has_arc! {
    "ArcRwLockWriteGuard": [R: RawRwLock, T: ?Sized] [R: RawRwLockFair, T: ?Sized] ArcRwLockWriteGuard<R, T>,
    RwLock<R, T>, rwlock, unlock_exclusive, unlock_exclusive_fair
}
downgrades! {
    "ArcRwLockWriteGuard": [R: RawRwLockDowngrade, T: ?Sized] [R: RawRwLockUpgradeDowngrade, T: ?Sized]
    ArcRwLockWriteGuard<R, T> => ArcRwLockReadGuard<[R, T]>, ArcRwLockUpgradableReadGuard
}

mapped! {
    "MappedRwLockReadGuard": ['a, R: RawRwLock + 'a, T: ?Sized + 'a] ['a, R: RawRwLockFair + 'a, T: ?Sized + 'a]
    MappedRwLockReadGuard<'a, R, T>, core: [], unlock_shared, unlock_shared_fair
}
maps! {
    "MappedRwLockReadGuard": ['a, R: RawRwLock + 'a, T: ?Sized + 'a] MappedRwLockReadGuard<'a, R, T> =>
    MappedRwLockReadGuard<['a, R]>, [&], try_map_or_else, |s: &Self| s.data, |s: &Self| s.raw
}

mapped! {
    "MappedRwLockWriteGuard": ['a, R: RawRwLock + 'a, T: ?Sized + 'a] ['a, R: RawRwLockFair + 'a, T: ?Sized + 'a]
    MappedRwLockWriteGuard<'a, R, T>, core: [], unlock_exclusive, unlock_exclusive_fair
}
mapped_mut! { ['a, R: RawRwLock + 'a, T: ?Sized + 'a] MappedRwLockWriteGuard<'a, R, T> }
maps! {
    "MappedRwLockWriteGuard": ['a, R: RawRwLock + 'a, T: ?Sized + 'a] MappedRwLockWriteGuard<'a, R, T> =>
    MappedRwLockWriteGuard<['a, R]>, [&mut], try_map_or_err, |s: &Self| s.data, |s: &Self| s.raw
}

shown_as_value! {
    ['a, R: RawRwLock + 'a, T: ?Sized + 'a] RwLockReadGuard<'a, R, T>,
    ['a, R: RawRwLock + 'a, T: ?Sized + 'a] RwLockWriteGuard<'a, R, T>,
    [R: RawRwLock, T: ?Sized] ArcRwLockReadGuard<R, T>,
    [R: RawRwLock, T: ?Sized] ArcRwLockWriteGuard<R, T>,
    ['a, R: RawRwLock + 'a, T: ?Sized + 'a] MappedRwLockReadGuard<'a, R, T>,
    ['a, R: RawRwLock + 'a, T: ?Sized + 'a] MappedRwLockWriteGuard<'a, R, T>,
}
