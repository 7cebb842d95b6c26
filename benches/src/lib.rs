//! The same programs under interleave, loom and shuttle, from one source, and a way to run a given number of executions of
//! each.
//!
//! What is compared is the price of an execution. That is not all there is to it: the tools need very different numbers
//! of executions for the same program. loom and shuttle's exhaustive search count interleavings, with some pruned;
//! interleave counts classes of them.
//!
//! * `cargo bench -p interleave-benches`: wall-clock time for each execution, by criterion.
//! * `cargo run --release -p interleave-benches --bin ratios`: CPU time, and one table with the ratios.
//! * `cargo run --release -p interleave-benches --bin operations`: what an operation of each shim costs in interleave.
//! * `callgrind` (a binary): instructions, see there.

mod cpu;
mod kept;
mod programs;
mod tools;

pub use cpu::cpu_time;
pub use kept::{forget_kept, keep};
pub use programs::{PROGRAMS, Program};
pub use tools::Tool;
