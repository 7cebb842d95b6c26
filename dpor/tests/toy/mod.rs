//! Toy programs, and brute force over their executions that shares nothing with the explorer.
//!
//! * `program`, `objects`, `machine`: what a program is, the states of its guarded objects, and how a thread steps.
//! * `language`: the notation of `data/programs.tsv`.
//! * `execution`: the canonical form in which executions are compared, whoever produced them.
//! * `graph`: a growing execution graph; `interleavings` (operational, sequential consistency) and `enumerate` (all reads-from
//!   times all modification orders, filtered by `axioms`) grow it in every possible way.
//! * `preemptions`: the smallest number of preemptions that an execution needs.
//! * `random`: random programs.

#![allow(dead_code)]

pub(crate) mod axioms;
pub(crate) mod enumerate;
pub(crate) mod execution;
pub(crate) mod graph;
pub(crate) mod interleavings;
pub(crate) mod language;
pub(crate) mod machine;
pub(crate) mod objects;
pub(crate) mod preemptions;
pub(crate) mod program;
pub(crate) mod random;
