//! What stands in for [`std::sync`].
//!
//! | file | holds |
//! |---|---|
//! | `raw_mutex`, `raw_rwlock`, `raw_once` | the protocols, without the values |
//! | `mutex`, `rwlock`, `condvar`, `once`, `once_lock`, `lazy_lock` | the types that go with them |
//! | `barrier` | `Barrier` |
//! | `arc` | `Arc` and `Weak` |
//! | [`mpsc`] | channels |

mod arc;
mod barrier;
pub(crate) mod condvar;
mod lazy_lock;
pub mod mpsc;
mod mutex;
mod once;
mod once_lock;
pub(crate) mod raw_mutex;
pub(crate) mod raw_once;
pub(crate) mod raw_rwlock;
mod rwlock;

#[doc(no_inline)]
pub use crate::model::atomic;
pub use arc::{Arc, Weak};
pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
#[expect(deprecated, reason = "std still has it")]
pub use once::ONCE_INIT;
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
