//! The guards of upgradable readers.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::Location;
use std::ptr;

use real::{RawRwLockUpgrade, RawRwLockUpgradeDowngrade, RawRwLockUpgradeFair, RawRwLockUpgradeTimed};

use super::guard::Finally;
use super::{ArcRwLockReadGuard, ArcRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, real};
use crate::model::event::Site;
use crate::model::parking_lot::core::at;
use crate::model::sync::Arc;

/// Stands in for `lock_api::RwLockUpgradableReadGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockUpgradableReadGuard<'a, R: RawRwLockUpgrade, T: ?Sized> {
    pub(super) lock: &'a RwLock<R, T>,
    pub(super) site: Site,
    pub(super) marker: PhantomData<(&'a T, R::GuardMarker)>,
}

// SAFETY: 1. A shared guard only gives out `&T`, and the lock.
unsafe impl<'a, R: RawRwLockUpgrade + 'a, T: ?Sized + Sync + 'a> Sync for RwLockUpgradableReadGuard<'a, R, T> {}

impl<'a, R: RawRwLockUpgrade + 'a, T: ?Sized + 'a> RwLockUpgradableReadGuard<'a, R, T> {
    /// Stands in for `lock_api::RwLockUpgradableReadGuard::rwlock`.
    #[inline]
    pub fn rwlock(s: &Self) -> &'a RwLock<R, T> {
        s.lock
    }
}

/// Stands in for `lock_api::ArcRwLockUpgradableReadGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct ArcRwLockUpgradableReadGuard<R: RawRwLockUpgrade, T: ?Sized> {
    pub(super) lock: Arc<RwLock<R, T>>,
    pub(super) site: Site,
    pub(super) marker: PhantomData<R::GuardMarker>,
}

/// The ways from an upgradable reader to a writer and to a reader.
macro_rules! upgrades {
    (
        $real:literal: [$($upgrade:tt)*] [$($downgrade:tt)*] [$($timed:tt)*] [$($timed_downgrade:tt)*] $guard:ty =>
        $write:ident<[$($args:tt)*]>, $read:ident
    ) => {
        impl<$($upgrade)*> $guard {
            /// The guard of a writer, if the lock was upgraded, else itself.
            fn upgraded(self, had: bool) -> Result<$write<$($args)*>, Self> {
                if !had {
                    return Err(self);
                }
                let s = ManuallyDrop::new(self);
                // SAFETY: 1. The guard is not used any more.
                let lock = unsafe { ptr::read(&s.lock) };
                Ok($write { lock, site: s.site, marker: PhantomData })
            }

            #[doc = concat!("Stands in for `lock_api::", $real, "::upgrade`.")]
            #[track_caller]
            pub fn upgrade(s: Self) -> $write<$($args)*> {
                let s = ManuallyDrop::new(s);
                // SAFETY: 1. The guard holds it, and is not used any more.
                let lock = unsafe {
                    s.lock.raw.upgrade();
                    ptr::read(&s.lock)
                };
                $write { lock, site: s.site, marker: PhantomData }
            }

            #[doc = concat!("Stands in for `lock_api::", $real, "::try_upgrade`.")]
            ///
            /// # Errors
            ///
            /// The guard, if there are other readers.
            #[track_caller]
            pub fn try_upgrade(s: Self) -> Result<$write<$($args)*>, Self> {
                // SAFETY: 1. The guard holds it.
                let had = unsafe { s.lock.raw.try_upgrade() };
                s.upgraded(had)
            }
        }

        impl<$($downgrade)*> $guard {
            #[doc = concat!("Stands in for `lock_api::", $real, "::downgrade`.")]
            #[track_caller]
            pub fn downgrade(s: Self) -> $read<$($args)*> {
                let s = ManuallyDrop::new(s);
                // SAFETY: 1. The guard holds it, and is not used any more.
                let lock = unsafe {
                    s.lock.raw.downgrade_upgradable();
                    ptr::read(&s.lock)
                };
                $read { lock, site: s.site, marker: PhantomData }
            }

            #[doc = concat!("Stands in for `lock_api::", $real, "::with_upgraded`.")]
            #[track_caller]
            pub fn with_upgraded<Ret, F: FnOnce(&mut T) -> Ret>(&mut self, f: F) -> Ret {
                let site = Location::caller();
                // SAFETY: 1. The guard holds it.
                unsafe { self.lock.raw.upgrade() };
                self.as_writer(site, f)
            }

            /// Calls `f` with the lock held as a writer, and is an upgradable reader again.
            fn as_writer<Ret, F: FnOnce(&mut T) -> Ret>(&mut self, site: Site, f: F) -> Ret {
                let _downgrade = Finally(|| {
                    at(&self.lock.raw, site);
                    // SAFETY: 1. It is held as a writer.
                    unsafe { self.lock.raw.downgrade_to_upgradable() };
                });
                // SAFETY: 1. As above, and nobody else has the guard.
                f(unsafe { &mut *self.lock.data.get() })
            }

            #[doc = concat!("Stands in for `lock_api::", $real, "::try_with_upgraded`.")]
            #[track_caller]
            pub fn try_with_upgraded<Ret, F: FnOnce(&mut T) -> Ret>(&mut self, f: F) -> Option<Ret> {
                let site = Location::caller();
                // SAFETY: 1. The guard holds it.
                let had = unsafe { self.lock.raw.try_upgrade() };
                had.then(|| self.as_writer(site, f))
            }
        }

        impl<$($timed)*> $guard {
            #[doc = concat!("Stands in for `lock_api::", $real, "::try_upgrade_for`.")]
            ///
            /// # Errors
            ///
            /// The guard, if it gave up.
            #[track_caller]
            pub fn try_upgrade_for(s: Self, timeout: R::Duration) -> Result<$write<$($args)*>, Self> {
                // SAFETY: 1. The guard holds it.
                let had = unsafe { s.lock.raw.try_upgrade_for(timeout) };
                s.upgraded(had)
            }

            #[doc = concat!("Stands in for `lock_api::", $real, "::try_upgrade_until`.")]
            ///
            /// # Errors
            ///
            /// The guard, if it gave up.
            #[track_caller]
            pub fn try_upgrade_until(s: Self, timeout: R::Instant) -> Result<$write<$($args)*>, Self> {
                // SAFETY: 1. The guard holds it.
                let had = unsafe { s.lock.raw.try_upgrade_until(timeout) };
                s.upgraded(had)
            }
        }

        impl<$($timed_downgrade)*> $guard {
            #[doc = concat!("Stands in for `lock_api::", $real, "::try_with_upgraded_for`.")]
            #[track_caller]
            pub fn try_with_upgraded_for<Ret, F: FnOnce(&mut T) -> Ret>(
                &mut self,
                timeout: R::Duration,
                f: F,
            ) -> Option<Ret> {
                let site = Location::caller();
                // SAFETY: 1. The guard holds it.
                let had = unsafe { self.lock.raw.try_upgrade_for(timeout) };
                had.then(|| self.as_writer(site, f))
            }

            #[doc = concat!("Stands in for `lock_api::", $real, "::try_with_upgraded_until`.")]
            #[track_caller]
            pub fn try_with_upgraded_until<Ret, F: FnOnce(&mut T) -> Ret>(
                &mut self,
                timeout: R::Instant,
                f: F,
            ) -> Option<Ret> {
                let site = Location::caller();
                // SAFETY: 1. The guard holds it.
                let had = unsafe { self.lock.raw.try_upgrade_until(timeout) };
                had.then(|| self.as_writer(site, f))
            }
        }
    };
}

holds_lock! {
    "RwLockUpgradableReadGuard": ['a, R: RawRwLockUpgrade + 'a, T: ?Sized + 'a]
    ['a, R: RawRwLockUpgradeFair + 'a, T: ?Sized + 'a] RwLockUpgradableReadGuard<'a, R, T>,
    core: [], unlock_upgradable, lock_upgradable, unlock_upgradable_fair, bump_upgradable
}
upgrades! {
    "RwLockUpgradableReadGuard": ['a, R: RawRwLockUpgrade + 'a, T: ?Sized + 'a]
    ['a, R: RawRwLockUpgradeDowngrade + 'a, T: ?Sized + 'a] ['a, R: RawRwLockUpgradeTimed + 'a, T: ?Sized + 'a]
    ['a, R: RawRwLockUpgradeTimed + RawRwLockUpgradeDowngrade + 'a, T: ?Sized + 'a]
    RwLockUpgradableReadGuard<'a, R, T> => RwLockWriteGuard<['a, R, T]>, RwLockReadGuard
}

holds_lock! {
    "ArcRwLockUpgradableReadGuard": [R: RawRwLockUpgrade, T: ?Sized] [R: RawRwLockUpgradeFair, T: ?Sized]
    ArcRwLockUpgradableReadGuard<R, T>,
    core: [], unlock_upgradable, lock_upgradable, unlock_upgradable_fair, bump_upgradable
}
has_arc! {
    "ArcRwLockUpgradableReadGuard": [R: RawRwLockUpgrade, T: ?Sized] [R: RawRwLockUpgradeFair, T: ?Sized]
    ArcRwLockUpgradableReadGuard<R, T>, RwLock<R, T>, rwlock, unlock_upgradable, unlock_upgradable_fair
}
upgrades! {
    "ArcRwLockUpgradableReadGuard": [R: RawRwLockUpgrade, T: ?Sized] [R: RawRwLockUpgradeDowngrade, T: ?Sized]
    [R: RawRwLockUpgradeTimed, T: ?Sized] [R: RawRwLockUpgradeTimed + RawRwLockUpgradeDowngrade, T: ?Sized]
    ArcRwLockUpgradableReadGuard<R, T> => ArcRwLockWriteGuard<[R, T]>, ArcRwLockReadGuard
}

shown_as_value! {
    ['a, R: RawRwLockUpgrade + 'a, T: ?Sized + 'a] RwLockUpgradableReadGuard<'a, R, T>,
    [R: RawRwLockUpgrade, T: ?Sized] ArcRwLockUpgradableReadGuard<R, T>,
}
