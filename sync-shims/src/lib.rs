//! Drop-in replacements for std's concurrency types.
//!
//! Code under test imports `sync_shims::sync`, `sync_shims::thread` and so on where it would import `std::sync`,
//! `std::thread`. In a normal build these paths *are* std's items: re-exports, with no cost and no further crates. Built with
//! `RUSTFLAGS="--cfg interleave"` they are the model types of [`model`], which the `interleave` checker drives; outside a
//! running model those still behave as the real thing.

#[cfg(any(feature = "model", interleave))]
pub mod model;
