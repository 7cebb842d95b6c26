//! What stands in for the crate `parking_lot`, version 0.12.
//!
//! Outside a model the locks are parking_lot's. In a model they follow its rules, which differ from std's: no poisoning, no
//! spurious wake-ups, and a writer that waits keeps readers out. Timeouts may come at any moment; fairness only matters for
//! how long a thread waits, so a fair unlock is an unlock.
//!
//! The types are complete but for what parking_lot has only with its features `deadlock_detection` (a model finds those),
//! `serde`, `owning_ref` and `nightly`; `arc_lock` is always on, with the `Arc` of this crate.
//!
//! | file | holds |
//! |---|---|
//! | [`lock_api`] | the locks and guards around raw locks |
//! | `raw_mutex`, `raw_rwlock` | the raw locks |
//! | `rwlock_apart` | a reader-writer lock as several objects, so that the order of readers is not explored |
//! | `rwlock_states` | what the operations of a reader-writer lock do, as pure functions |
//! | `core` | what the raw locks have in common |
//! | `condvar`, `once` | the types of these names |
//! | `thread_id` | what tells threads apart for a `ReentrantMutex` |

mod condvar;
mod core;
pub mod lock_api;
mod once;
mod raw_mutex;
mod raw_rwlock;
mod rwlock_apart;
mod rwlock_states;
mod thread_id;

pub use condvar::{Condvar, WaitTimeoutResult};
#[doc(no_inline)]
pub use lock_api::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard, ArcRwLockWriteGuard,
};
pub use once::{Once, OnceState};
pub use raw_mutex::{RawFairMutex, RawMutex};
pub use raw_rwlock::RawRwLock;
pub use thread_id::RawThreadId;

/// Stands in for `parking_lot::Mutex`.
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
/// Stands in for `parking_lot::MutexGuard`.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
/// Stands in for `parking_lot::MappedMutexGuard`.
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

/// Stands in for `parking_lot::FairMutex`.
pub type FairMutex<T> = lock_api::Mutex<RawFairMutex, T>;
/// Stands in for `parking_lot::FairMutexGuard`.
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawFairMutex, T>;
/// Stands in for `parking_lot::MappedFairMutexGuard`.
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawFairMutex, T>;

/// Stands in for `parking_lot::ReentrantMutex`.
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;
/// Stands in for `parking_lot::ReentrantMutexGuard`.
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
/// Stands in for `parking_lot::MappedReentrantMutexGuard`.
pub type MappedReentrantMutexGuard<'a, T> = lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;

/// Stands in for `parking_lot::RwLock`.
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
/// Stands in for `parking_lot::RwLockReadGuard`.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// Stands in for `parking_lot::RwLockWriteGuard`.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
/// Stands in for `parking_lot::RwLockUpgradableReadGuard`.
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;
/// Stands in for `parking_lot::MappedRwLockReadGuard`.
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;
/// Stands in for `parking_lot::MappedRwLockWriteGuard`.
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;

/// Stands in for `parking_lot::const_mutex`.
#[track_caller]
pub const fn const_mutex<T>(val: T) -> Mutex<T> {
    Mutex::new(val)
}

/// Stands in for `parking_lot::const_fair_mutex`.
#[track_caller]
pub const fn const_fair_mutex<T>(val: T) -> FairMutex<T> {
    FairMutex::new(val)
}

/// Stands in for `parking_lot::const_reentrant_mutex`.
#[track_caller]
pub const fn const_reentrant_mutex<T>(val: T) -> ReentrantMutex<T> {
    ReentrantMutex::new(val)
}

/// Stands in for `parking_lot::const_rwlock`.
#[track_caller]
pub const fn const_rwlock<T>(val: T) -> RwLock<T> {
    RwLock::new(val)
}
