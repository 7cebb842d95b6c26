//! The crates `crossbeam-channel` and `crossbeam-utils`, at the paths of the crate `crossbeam`: re-exports.

#[doc(no_inline)]
pub use crossbeam_channel::{self as channel, select};
#[doc(no_inline)]
pub use crossbeam_utils::thread::{self, scope};
#[doc(no_inline)]
pub use crossbeam_utils::{Backoff, CachePadded, atomic, sync};

/// `Backoff` and `CachePadded`, where the crate `crossbeam` has them, and all of `crossbeam-utils`.
pub mod utils {
    #[doc(no_inline)]
    pub use crossbeam_utils::*;
}
