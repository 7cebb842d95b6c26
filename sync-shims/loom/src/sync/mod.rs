//! What loom has of [`std::sync`], and the rest of [`interleave::sync`].

mod barrier;
mod notify;

pub use barrier::Barrier;
pub use interleave::sync::*;
pub use notify::Notify;
