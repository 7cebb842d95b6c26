//! What the shims ask of a controller, and what they make of its answers: with one that takes the first way it finds.

#![allow(missing_docs)]

mod arc;
mod atomic;
mod cell;
mod condvar;
mod controller;
mod inert;
mod mpsc;
mod mutex;
mod once;
mod outside;
mod rwlock;
mod thread;
mod thread_local;
