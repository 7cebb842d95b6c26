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
//!
//! With a load and a store in place of `fetch_add`, the test would fail with a report: the steps of all threads in an order
//! that loses an update, with as few preemptions as possible.
//!
//! # Models
//!
//! A *model* is a closure that is run once for each execution the memory model allows, where executions that no thread can
//! tell apart are one. Its threads are those of [`thread`], and what they share must be of the types in [`sync`], [`cell`],
//! [`fs`], [`net`] and [`os`]: the checker sees nothing else. The closure must do the same when its operations give the same results;
//! so it creates the objects it uses, or has them in `static`s, which are fresh in every execution.
//!
//! Code that runs for real as well imports these types from the crate `interleave-shims`, where they are std's own unless the
//! program is built with `--cfg interleave`.
//!
//! # Verdicts
//!
//! [`model`] and [`Builder::check`] panic if an execution fails; [`Builder::explore`] never does. What came of it is in the
//! [`Report`]:
//!
//! * [`Verdict::Complete`]: every execution was explored, under the memory model ([`Memory`]) and the budgets that the verdict
//!   line names.
//! * [`Verdict::Bounded`]: a limit cut something. [`Report::cut`] says what.
//! * [`Verdict::Vacuous`]: no two threads touched a common object. Usually the code under test uses std's types.
//! * [`Verdict::Failed`]: with a [`Kind`], whose code does not change between versions.
//!
//! ```
//! use interleave::sync::{Arc, Mutex};
//! use interleave::{Builder, Kind, Verdict, thread};
//!
//! let report = Builder::new().explore(|| {
//!     let locks = Arc::new((Mutex::new(()), Mutex::new(())));
//!     let same = locks.clone();
//!     let t = thread::spawn(move || drop((same.0.lock(), same.1.lock())));
//!     drop((locks.1.lock(), locks.0.lock()));
//!     t.join().unwrap();
//! });
//! assert_eq!(report.verdict, Verdict::Failed(Kind::Deadlock));
//! ```
//!
//! # Configuration
//!
//! [`Builder`] has a method for each knob, and names the environment variable that wins over it. `INTERLEAVE_LOG=summary`
//! prints the verdict of models that pass; `INTERLEAVE_REPLAY`, a file or a token from a report, runs one execution again.
//!
//! # Features
//!
//! `parking_lot`: what stands in for the crate of that name, as `interleave::parking_lot`.
//!
//! The others say what model threads run on; of several, the last is used.
//!
//! * `corosensei` (default), `generator`: coroutines of the crate of that name.
//! * `os-threads`: an OS thread for each model thread, for Miri and sanitizers. Slow, and a stack overflow or a panic
//!   that would abort ends the process there.

mod budgets;
mod builder;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod directions;
mod engine;
mod environment;
mod events;
mod explore;
mod fiber;
mod focus;
mod labels;
mod limits;
mod progress;
mod record;
mod replay;
#[allow(dead_code, reason = "the renderer has uses that come with the other sinks")]
mod report;
mod value;
mod verdict;

pub use builder::{Builder, Strategy};
pub use directions::Directions;
pub use dpor::Memory;
pub use interleave_macros::test;
pub use labels::Finding;
pub use progress::{Estimate, Progress};
pub use sync_shims::{reachable, sometimes};
pub use verdict::{Failure, Kind, Panics, Report, Verdict};

pub use sync_shims::label;
#[cfg(feature = "crossbeam")]
pub use sync_shims::model::crossbeam;
pub use sync_shims::model::quarantine::Quarantine;
pub use sync_shims::model::{alloc, cell, fs, future, ghost, hint, net, os, process, sync, thread, thread_local, time};

#[cfg(feature = "parking_lot")]
pub use sync_shims::model::parking_lot;

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
