//! The interface of loom 0.5, which is a part of that of 0.7.

pub use current::*;
