//! What stands in for [`crossbeam_utils::sync`].

mod parker;
mod sharded_lock;
mod wait_group;

pub use parker::{Parker, Unparker};
pub use sharded_lock::{ShardedLock, ShardedLockReadGuard, ShardedLockWriteGuard};
pub use wait_group::WaitGroup;
