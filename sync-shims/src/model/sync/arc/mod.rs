//! What stands in for [`std::sync::Arc`] and its `Weak`.
//!
//! Most programs never learn anything from a reference count, so a model does not treat one as an object as long as it cannot
//! matter: then the count is a real one, and what cloning and dropping orders costs no execution. It does matter
//!
//! * if the program asks: `strong_count`, `weak_count`, `get_mut`, `make_mut`, `try_unwrap`, `into_inner`,
//!   `unwrap_or_clone`, [`Weak::upgrade`];
//! * if dropping the value does something that other threads can notice, since then it matters which thread is last.
//!
//! When that happens with an `Arc` that is not counted in the model, the exploration starts again with all of those counted
//! that are created at the same place in the source. A counted `Arc` is an object whose state holds both counts; every clone,
//! drop, downgrade and upgrade is an operation, with the orderings of std.
//!
//! | file | holds |
//! |---|---|
//! | `count` | the counts, real and modelled |
//! | `memory` | where they lie: next to the value |
//! | `strong`, `weak` | the types |
//! | `convert`, `traits` | what they can be made from, and the traits that pass on to the value |
//!
//! # Differences from std
//!
//! Only the compiler's own types can be coerced to unsized ones or be the type of `self`. So where std takes
//! `Arc::new(x) as Arc<dyn Trait>`, write `Arc::<dyn Trait>::from(Box::new(x) as Box<_>)`, which is the same with std; and
//! methods with `self: Arc<Self>` need std's `Arc`, which may be used inside of a model, too, if its count does not matter
//! and no [`UnsafeCell`](crate::model::cell::UnsafeCell) is dropped with it.

mod convert;
mod count;
mod memory;
mod strong;
mod traits;
mod weak;

pub use strong::Arc;
pub use weak::Weak;
