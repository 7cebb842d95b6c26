//! Runs a test body under every thread interleaving that matters, and prints the one that breaks it.
//!
//! ```
//! use interleave::sync::Arc;
//! use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
//! use interleave::thread;
//!
//! interleave::model(|| {
//!     let n = Arc::new(AtomicUsize::new(0));
//!     let m = n.clone();
//!     let t = thread::spawn(move || m.fetch_add(1, Relaxed));
//!     n.fetch_add(1, Relaxed);
//!     t.join().unwrap();
//!     assert_eq!(n.load(Relaxed), 2);
//! });
//! ```

mod builder;
mod engine;
mod environment;
mod explore;
mod fiber;
mod record;
mod replay;
#[allow(dead_code, reason = "the renderer has uses that come with the other sinks")]
mod report;
mod value;
mod verdict;

pub use builder::{Builder, Strategy};
pub use dpor::Memory;
pub use verdict::{Failure, Kind, Panics, Report, Verdict};

pub use sync_shims::model::{cell, fs, hint, os, process, sync, thread, thread_local};

/// Explores every execution of `f` with the default configuration.
///
/// # Panics
///
/// With a report that starts with `error[interleave::<code>]` if an execution fails.
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Send + Sync,
{
    Builder::new().check(f);
}
