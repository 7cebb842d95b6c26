//! loom's interface on top of the `interleave` checker.
//!
//! This package has the name of the loom that it takes the place of, so that a `[patch]` section puts it under every crate
//! that has loom models, without a change to the crate:
//!
//! ```toml
//! [patch.crates-io]
//! loom = { path = "<interleave>/sync-shims/loom" }
//! ```
//!
//! What the types are and do is said where they come from: [`interleave::sync`], [`interleave::thread`] and so on. What differs
//! from loom, and what is missing, is listed in `docs/loom.md`.
//!
//! | module | what is particular to loom |
//! |---|---|
//! | [`mod@model`] | `Builder` with public fields; the texts of failures |
//! | [`cell`] | `UnsafeCell` whose `get` and `get_mut` give guards, `Cell` |
//! | [`thread`] | `spawn` without `Send` |
//! | [`sync`] | `Notify` |
//! | [`mod@lazy_static`], [`alloc`], [`hint`], `future` | what loom has beyond std |

pub mod alloc;
pub mod cell;
mod explore;
#[cfg(feature = "futures")]
pub mod future;
pub mod hint;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

pub use explore::{explore, skip_branch, stop_exploring};
#[doc(inline)]
pub use interleave::thread_local;
#[doc(inline)]
pub use model::model;

/// What loom takes for the greatest number of threads. Here it is no limit: a model may have more.
pub const MAX_THREADS: usize = 5;

/// Models that free memory and compare pointers would not repeat themselves otherwise.
#[global_allocator]
static ALLOCATOR: interleave::Quarantine = interleave::Quarantine;
