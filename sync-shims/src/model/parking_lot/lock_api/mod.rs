//! What stands in for the crate `lock_api`, which `parking_lot` re-exports: its traits as they are, and its types.
//!
//! The types differ from the originals where a model needs it: a lock knows where it was created, a guard where it was taken,
//! and what a `static` lock protects is the same at the beginning of every execution. They work with any raw lock that
//! implements the traits; one that is made of this crate's types is explored.
//!
//! The methods that take an `Arc` take this crate's, and so are there twice: as methods of that `Arc` (`lock.read_arc()`), as
//! only std's can be the receiver of a method of another type; and as functions of the lock (`RwLock::read_arc(&lock)`).
//!
//! | file | holds |
//! |---|---|
//! | `guard` | what is the same for all guards |
//! | `mutex`, `remutex`, `rwlock` | the locks |
//! | `mutex_guards`, `remutex_guards`, `rwlock_guards`, `upgradable` | their guards |
//! | `raw_remutex` | the raw mutex that a thread can lock again |

#[macro_use]
mod guard;
mod mutex;
mod mutex_guards;
mod raw_remutex;
mod remutex;
mod remutex_guards;
mod rwlock;
mod rwlock_guards;
mod upgradable;

use ::parking_lot::lock_api as real;

pub use mutex::Mutex;
pub use mutex_guards::{ArcMutexGuard, MappedMutexGuard, MutexGuard};
pub use raw_remutex::RawReentrantMutex;
#[doc(no_inline)]
pub use real::{
    GetThreadId, GuardNoSend, GuardSend, RawMutex, RawMutexFair, RawMutexTimed, RawRwLock, RawRwLockDowngrade,
    RawRwLockFair, RawRwLockRecursive, RawRwLockRecursiveTimed, RawRwLockTimed, RawRwLockUpgrade,
    RawRwLockUpgradeDowngrade, RawRwLockUpgradeFair, RawRwLockUpgradeTimed,
};
pub use remutex::ReentrantMutex;
pub use remutex_guards::{ArcReentrantMutexGuard, MappedReentrantMutexGuard, ReentrantMutexGuard};
pub use rwlock::RwLock;
pub use rwlock_guards::{
    ArcRwLockReadGuard, ArcRwLockWriteGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard, RwLockReadGuard,
    RwLockWriteGuard,
};
pub use upgradable::{ArcRwLockUpgradableReadGuard, RwLockUpgradableReadGuard};
