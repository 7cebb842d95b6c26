//! What stands in for [`crossbeam_utils::atomic`].

mod cell;
mod consume;
mod word;

pub use cell::AtomicCell;
#[doc(no_inline)]
pub use crossbeam_utils::atomic::AtomicConsume;
