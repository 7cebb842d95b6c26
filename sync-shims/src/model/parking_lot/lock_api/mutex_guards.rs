//! The guards of a mutex.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::ptr;

use real::{RawMutex, RawMutexFair};

use super::guard::Finally;
use super::{Mutex, real};
use crate::model::event::Site;
use crate::model::parking_lot::core::at;
use crate::model::sync::Arc;

/// Stands in for `lock_api::MutexGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, R: RawMutex, T: ?Sized> {
    pub(super) lock: &'a Mutex<R, T>,
    pub(super) site: Site,
    pub(super) marker: PhantomData<(&'a mut T, R::GuardMarker)>,
}

// SAFETY: 1. A shared guard only gives out `&T`, and the lock.
unsafe impl<'a, R: RawMutex + Sync + 'a, T: ?Sized + Sync + 'a> Sync for MutexGuard<'a, R, T> {}

impl<'a, R: RawMutex + 'a, T: ?Sized + 'a> MutexGuard<'a, R, T> {
    /// Stands in for `lock_api::MutexGuard::mutex`.
    #[inline]
    pub fn mutex(s: &Self) -> &'a Mutex<R, T> {
        s.lock
    }

    /// Stands in for `lock_api::MutexGuard::leak`.
    #[inline]
    pub fn leak(s: Self) -> &'a mut T {
        let s = ManuallyDrop::new(s);
        // SAFETY: 1. The lock is held for ever.
        unsafe { &mut *s.lock.data.get() }
    }
}

/// Stands in for `lock_api::ArcMutexGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct ArcMutexGuard<R: RawMutex, T: ?Sized> {
    pub(super) lock: Arc<Mutex<R, T>>,
    pub(super) site: Site,
    pub(super) marker: PhantomData<*const ()>,
}

// SAFETY: 1. The lock may be given back by another thread, as the marker says. 2. The value may go there.
unsafe impl<R: RawMutex + Send + Sync, T: Send + ?Sized> Send for ArcMutexGuard<R, T> where R::GuardMarker: Send {}
// SAFETY: 1. A shared guard only gives out `&T`, and the lock.
unsafe impl<R: RawMutex + Sync, T: Sync + ?Sized> Sync for ArcMutexGuard<R, T> where R::GuardMarker: Sync {}

/// Stands in for `lock_api::MappedMutexGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MappedMutexGuard<'a, R: RawMutex, T: ?Sized> {
    raw: &'a R,
    data: *mut T,
    site: Site,
    marker: PhantomData<&'a mut T>,
}

// SAFETY: 1. A shared guard only gives out `&T`.
unsafe impl<'a, R: RawMutex + Sync + 'a, T: ?Sized + Sync + 'a> Sync for MappedMutexGuard<'a, R, T> {}
// SAFETY: 1. The lock may be given back by another thread, as the marker says. 2. The value may go there.
unsafe impl<'a, R: RawMutex + 'a, T: ?Sized + Send + 'a> Send for MappedMutexGuard<'a, R, T> where R::GuardMarker: Send {}

holds_lock! {
    "MutexGuard": ['a, R: RawMutex + 'a, T: ?Sized + 'a] ['a, R: RawMutexFair + 'a, T: ?Sized + 'a] MutexGuard<'a, R, T>,
    core: [], unlock, lock, unlock_fair, bump
}
gives_out_mut! { ['a, R: RawMutex + 'a, T: ?Sized + 'a] MutexGuard<'a, R, T> }
maps! {
    "MutexGuard": ['a, R: RawMutex + 'a, T: ?Sized + 'a] MutexGuard<'a, R, T> => MappedMutexGuard<['a, R]>, [&mut],
    try_map_or_err, |s: &Self| s.lock.data.get(), |s: &Self| &s.lock.raw
}

holds_lock! {
    "ArcMutexGuard": [R: RawMutex, T: ?Sized] [R: RawMutexFair, T: ?Sized] ArcMutexGuard<R, T>,
    core: [], unlock, lock, unlock_fair, bump
}
gives_out_mut! { [R: RawMutex, T: ?Sized] ArcMutexGuard<R, T> }
has_arc! {
    "ArcMutexGuard": [R: RawMutex, T: ?Sized] [R: RawMutexFair, T: ?Sized] ArcMutexGuard<R, T>, Mutex<R, T>,
    mutex, unlock, unlock_fair
}

mapped! {
    "MappedMutexGuard": ['a, R: RawMutex + 'a, T: ?Sized + 'a] ['a, R: RawMutexFair + 'a, T: ?Sized + 'a]
    MappedMutexGuard<'a, R, T>, core: [], unlock, unlock_fair
}
mapped_mut! { ['a, R: RawMutex + 'a, T: ?Sized + 'a] MappedMutexGuard<'a, R, T> }
maps! {
    "MappedMutexGuard": ['a, R: RawMutex + 'a, T: ?Sized + 'a] MappedMutexGuard<'a, R, T> => MappedMutexGuard<['a, R]>,
    [&mut], try_map_or_err, |s: &Self| s.data, |s: &Self| s.raw
}

shown_as_value! {
    ['a, R: RawMutex + 'a, T: ?Sized + 'a] MutexGuard<'a, R, T>,
    ['a, R: RawMutex + 'a, T: ?Sized + 'a] MappedMutexGuard<'a, R, T>,
}
