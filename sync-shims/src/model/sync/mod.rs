//! What stands in for [`std::sync`].

pub mod arc;
pub mod condvar;
pub mod mutex;
pub(crate) mod raw_mutex;

#[doc(no_inline)]
pub use crate::model::atomic;
pub use arc::{Arc, Weak};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
