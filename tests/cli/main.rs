//! `cargo interleave` as a person runs it: on packages in directories of their own, with what it prints and its exit codes.
//!
//! The packages depend on this repository by path, and are built offline into one directory beside this test's own builds.

mod bisect;
mod commands;
mod fixture;
mod flags;
mod page;
