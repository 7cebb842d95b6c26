//! What stands in for the crate [`crossbeam`](https://docs.rs/crossbeam), and for those it is made of:
//! [`crossbeam_channel`] ([`channel`]) and [`crossbeam_utils`] ([`utils`]).
//!
//! What has no shared state of its own, such as `CachePadded`, is the real thing. Deques, queues and epochs are not here: they
//! are made of atomics, and can be tested as any code that is.

pub mod atomic;
mod backoff;
pub mod channel;
pub mod sync;
pub mod thread;

/// `Backoff` and `CachePadded`, where the crate `crossbeam` has them, and all of `crossbeam-utils`.
pub mod utils {
    pub use super::atomic;
    pub use super::backoff::Backoff;
    pub use super::sync;
    pub use super::thread;
    pub use crossbeam_utils::CachePadded;
}

#[doc(no_inline)]
pub use channel::select;
#[doc(no_inline)]
pub use thread::scope;
#[doc(no_inline)]
pub use utils::{Backoff, CachePadded};

use super::controller::current;
use super::event::Site;

/// Ends a model that is about to wait for something real: it would wait for ever, as its threads share one OS thread.
fn no_waiting(what: &str, thing: &str, site: Site) {
    current(|controller| {
        if let Some(controller) = controller
            && !controller.inert()
        {
            let message = format!("{what} would wait for {thing} that was created outside of the model");
            controller.fail("outside", message, site);
        }
    });
}
