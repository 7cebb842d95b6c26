//! Execution graphs, memory models and exploration.
#![forbid(unsafe_code)]
mod op;
pub use op::*;
