//! Running futures in a model.

use std::future::Future;

pub use interleave::future::AtomicWaker;
use interleave::future::{Notify, block_on_with};

/// [`interleave::future::block_on`], which polls the future for no reason at most once, whatever the budget for spurious events.
#[track_caller]
pub fn block_on<F: Future>(f: F) -> F::Output {
    block_on_with(Notify::spurious_once(), f)
}
