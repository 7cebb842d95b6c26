//! What stands in for [`std::thread`].
//!
//! A model thread is a coroutine of the controller; starting it, its end, and waiting for its end are operations. Outside a
//! model, all of this is std's.
//!
//! | file | holds |
//! |---|---|
//! | `handle` | `Thread`, `ThreadId`, `current` |
//! | `spawn` | `Builder`, `spawn`, `JoinHandle` |
//! | `packet` | how the result of a thread gets to whoever joins it |
//! | `scoped` | `scope` |
//! | `park` | `park` and `Thread::unpark` |
//! | `pause` | `yield_now`, `sleep`, and what a thread can ask about itself |
//! | `local` | `thread_local!` |

mod handle;
mod local;
mod packet;
mod park;
mod pause;
mod scoped;
mod spawn;

pub use handle::{Thread, ThreadId, current};
pub use local::{AccessError, LocalKey};
#[expect(deprecated, reason = "std still has it")]
pub use park::park_timeout_ms;
pub(crate) use park::wakes_up_spuriously;
#[cfg(feature = "crossbeam")]
pub(crate) use park::{ABSENT as TOKEN_ABSENT, park_outs, park_timeout_outs, unpark_outs};
pub use park::{park, park_timeout};
#[expect(deprecated, reason = "std still has it")]
pub use pause::sleep_ms;
pub use pause::{available_parallelism, panicking, sleep, yield_now};
pub use scoped::{Scope, ScopedJoinHandle, scope};
pub use spawn::{Builder, JoinHandle, spawn};
pub use std::thread::Result;
