//! What stands in for [`std::sync::Arc`] and its `Weak`.
//!
//! | file | holds |
//! |---|---|
//! | `count` | the counts, real and modelled |
//! | `memory` | where they lie: next to the value |
//! | `strong`, `weak` | the types |
//! | `convert`, `traits` | what they can be made from, and the traits that pass on to the value |

mod convert;
mod count;
mod memory;
mod strong;
mod traits;
mod weak;

pub use strong::Arc;
pub use weak::Weak;
