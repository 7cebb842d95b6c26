//! What a model needs to run futures. Std has the traits and the [`Waker`](std::task::Waker), but nothing to run a future
//! with, so this has no counterpart there: it is the least that tests of futures need.
//!
//! | file | holds |
//! |---|---|
//! | `notify` | `Notify`: a wake-up that somebody waits for |
//! | `block_on` | `block_on` |
//! | `atomic_waker` | `AtomicWaker`: a place to leave a waker in |

mod atomic_waker;
mod block_on;
mod notify;

pub use atomic_waker::AtomicWaker;
pub use block_on::block_on;
#[doc(hidden)]
pub use block_on::block_on_with;
pub use notify::Notify;
