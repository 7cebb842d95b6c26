//! What stands in for [`std::sync::atomic`].
//!
//! In a model an atomic is an object of the execution, known by its slot; the value inside is only what it starts from. An
//! atomic that outlives the execution, like a `static`, is therefore back at that value in the next one. Outside a model the
//! value inside is a real atomic of std and everything is passed on to it.
//!
//! | file | holds |
//! |---|---|
//! | `access` | the operations, on values that are plain words |
//! | `updates` | what each read-modify-write computes |
//! | `orders` | which orderings an operation accepts |
//! | `common` | what all atomic types have, written once |
//! | `integer`, `boolean`, `pointer` | the types |
//! | `fence` | fences |
//!
//! Not available, since the memory of a model atomic is not the memory of the value: `from_ptr` (and the unstable
//! `from_mut`, `get_mut_slice`). `as_ptr` is there for use outside a model; in one it ends the model with the code
//! `outside`.

mod access;
mod boolean;
mod common;
mod fence;
mod integer;
mod orders;
mod pointer;
mod updates;

#[expect(deprecated, reason = "std still has it")]
pub use boolean::ATOMIC_BOOL_INIT;
pub use boolean::AtomicBool;
pub use fence::{compiler_fence, fence};
#[expect(deprecated, reason = "std still has them")]
pub use integer::{ATOMIC_ISIZE_INIT, ATOMIC_USIZE_INIT};
pub use integer::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};
pub use pointer::AtomicPtr;
pub use std::sync::atomic::Ordering;

#[expect(deprecated, reason = "std still has it")]
pub use super::hint::spin_loop_hint;
