//! The guards of a reentrant mutex.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::Location;
use std::ptr;

use real::{GetThreadId, GuardNoSend, RawMutex, RawMutexFair};

use super::guard::Finally;
use super::{RawReentrantMutex, ReentrantMutex, real};
use crate::model::event::Site;
use crate::model::parking_lot::core::at;
use crate::model::sync::Arc;

/// Stands in for `lock_api::ReentrantMutexGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the ReentrantMutex will immediately unlock"]
pub struct ReentrantMutexGuard<'a, R: RawMutex, G: GetThreadId, T: ?Sized> {
    pub(super) lock: &'a ReentrantMutex<R, G, T>,
    pub(super) site: Site,
    pub(super) marker: PhantomData<(&'a T, GuardNoSend)>,
}

// SAFETY: 1. A shared guard only gives out `&T`, and the lock.
unsafe impl<'a, R: RawMutex + Sync + 'a, G: GetThreadId + Sync + 'a, T: ?Sized + Sync + 'a> Sync
    for ReentrantMutexGuard<'a, R, G, T>
{
}

impl<'a, R: RawMutex + 'a, G: GetThreadId + 'a, T: ?Sized + 'a> ReentrantMutexGuard<'a, R, G, T> {
    /// Stands in for `lock_api::ReentrantMutexGuard::remutex`.
    #[inline]
    pub fn remutex(s: &Self) -> &'a ReentrantMutex<R, G, T> {
        s.lock
    }
}

/// Stands in for `lock_api::ArcReentrantMutexGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the ReentrantMutex will immediately unlock"]
pub struct ArcReentrantMutexGuard<R: RawMutex, G: GetThreadId, T: ?Sized> {
    pub(super) lock: Arc<ReentrantMutex<R, G, T>>,
    pub(super) site: Site,
    pub(super) marker: PhantomData<GuardNoSend>,
}

/// Stands in for `lock_api::MappedReentrantMutexGuard`.
#[clippy::has_significant_drop]
#[must_use = "if unused the ReentrantMutex will immediately unlock"]
pub struct MappedReentrantMutexGuard<'a, R: RawMutex, G: GetThreadId, T: ?Sized> {
    raw: &'a RawReentrantMutex<R, G>,
    data: *const T,
    site: Site,
    marker: PhantomData<&'a T>,
}

// SAFETY: 1. A shared guard only gives out `&T`.
unsafe impl<'a, R: RawMutex + Sync + 'a, G: GetThreadId + Sync + 'a, T: ?Sized + Sync + 'a> Sync
    for MappedReentrantMutexGuard<'a, R, G, T>
{
}

holds_lock! {
    "ReentrantMutexGuard": ['a, R: RawMutex + 'a, G: GetThreadId + 'a, T: ?Sized + 'a]
    ['a, R: RawMutexFair + 'a, G: GetThreadId + 'a, T: ?Sized + 'a] ReentrantMutexGuard<'a, R, G, T>,
    core: [mutex], unlock, lock, unlock_fair, bump
}
maps! {
    "ReentrantMutexGuard": ['a, R: RawMutex + 'a, G: GetThreadId + 'a, T: ?Sized + 'a]
    ReentrantMutexGuard<'a, R, G, T> => MappedReentrantMutexGuard<['a, R, G]>, [&],
    try_map_or_err, |s: &Self| s.lock.data.get(), |s: &Self| &s.lock.raw
}

holds_lock! {
    "ArcReentrantMutexGuard": [R: RawMutex, G: GetThreadId, T: ?Sized] [R: RawMutexFair, G: GetThreadId, T: ?Sized]
    ArcReentrantMutexGuard<R, G, T>, core: [mutex], unlock, lock, unlock_fair, bump
}
has_arc! {
    "ArcReentrantMutexGuard": [R: RawMutex, G: GetThreadId, T: ?Sized] [R: RawMutexFair, G: GetThreadId, T: ?Sized]
    ArcReentrantMutexGuard<R, G, T>, ReentrantMutex<R, G, T>, remutex, unlock, unlock_fair
}

mapped! {
    "MappedReentrantMutexGuard": ['a, R: RawMutex + 'a, G: GetThreadId + 'a, T: ?Sized + 'a]
    ['a, R: RawMutexFair + 'a, G: GetThreadId + 'a, T: ?Sized + 'a] MappedReentrantMutexGuard<'a, R, G, T>,
    core: [mutex], unlock, unlock_fair
}
maps! {
    "MappedReentrantMutexGuard": ['a, R: RawMutex + 'a, G: GetThreadId + 'a, T: ?Sized + 'a]
    MappedReentrantMutexGuard<'a, R, G, T> => MappedReentrantMutexGuard<['a, R, G]>, [&],
    try_map_or_err, |s: &Self| s.data, |s: &Self| s.raw
}

shown_as_value! {
    ['a, R: RawMutex + 'a, G: GetThreadId + 'a, T: ?Sized + 'a] ReentrantMutexGuard<'a, R, G, T>,
    ['a, R: RawMutex + 'a, G: GetThreadId + 'a, T: ?Sized + 'a] MappedReentrantMutexGuard<'a, R, G, T>,
}
