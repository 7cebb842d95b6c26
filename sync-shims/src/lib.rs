//! Drop-in replacements for std's concurrency types.
//!
//! Code under test imports `sync_shims::sync`, `sync_shims::thread` and so on where it would import `std::sync`,
//! `std::thread`. In a normal build these paths *are* std's items: re-exports, with no cost and no further crates. Built with
//! `RUSTFLAGS="--cfg interleave"` they are model types, which the `interleave` checker drives; outside a running model those
//! still behave as the real thing.
//!
//! ```
//! use sync_shims::sync::{Arc, Mutex};
//! use sync_shims::thread;
//!
//! let total = Arc::new(Mutex::new(0));
//! let threads: Vec<_> = (1..=3)
//!     .map(|n| {
//!         let total = total.clone();
//!         thread::spawn(move || *total.lock().unwrap() += n)
//!     })
//!     .collect();
//! for thread in threads {
//!     thread.join().unwrap();
//! }
//! assert_eq!(*total.lock().unwrap(), 6);
//! ```
//!
//! What only std has (see the documentation of each module of `model`) is missing with the flag, so that nothing goes
//! unmodelled without notice.
//!
//! The feature `model` makes the model types available under `model`, whatever the cfg says: the checker itself needs them.

#[cfg(any(feature = "model", interleave))]
pub mod model;

/// Names a place in a program, for directed schedules and a focused search: in a model, one more step of the thread, at which
/// it can be held up. Outside a model, and without the checker, it is nothing.
///
/// ```
/// sync_shims::label!("before the lock");
/// ```
#[cfg(any(feature = "model", interleave))]
#[macro_export]
macro_rules! label {
    ($name:literal) => {{
        static LABEL: $crate::model::label::Label = $crate::model::label::Label::new($name);
        $crate::model::label::pass(&LABEL)
    }};
}

/// Names a place in a program, for directed schedules and a focused search: in a model, one more step of the thread, at which
/// it can be held up. Outside a model, and without the checker, it is nothing.
#[cfg(not(any(feature = "model", interleave)))]
#[macro_export]
macro_rules! label {
    ($name:literal) => {{
        let _: &str = $name;
    }};
}

#[doc(hidden)]
#[cfg(any(feature = "model", interleave))]
pub use model::ghost::label as __label;

/// There are no models in this build.
#[doc(hidden)]
#[cfg(not(any(feature = "model", interleave)))]
#[inline(always)]
pub fn __label(_: &'static str, _: bool) {}

/// Says that a model should come by here: if no execution does, it is vacuous. That is known only of places which are named
/// to `Builder::reaches`, or whose condition was evaluated ([`sometimes!`]). `Builder::find` looks for such a place.
///
/// Without the model types it does nothing.
#[macro_export]
macro_rules! reachable {
    ($label:literal) => {
        $crate::__label($label, true)
    };
}

/// Says that a condition should hold here at least once: if it does in no execution, the model is vacuous.
///
/// Without the model types it does nothing; the condition is evaluated.
#[macro_export]
macro_rules! sometimes {
    ($condition:expr, $label:literal) => {
        $crate::__label($label, $condition)
    };
}

#[cfg(not(interleave))]
#[doc(no_inline)]
pub use std::{alloc, cell, fs, hint, net, os, process, sync, thread, thread_local, time};

#[cfg(interleave)]
#[doc(no_inline)]
pub use model::{alloc, cell, fs, hint, net, os, process, sync, thread, thread_local, time};

#[cfg(all(feature = "parking_lot", not(interleave)))]
#[doc(no_inline)]
pub use ::parking_lot;

#[cfg(all(feature = "parking_lot", interleave))]
#[doc(no_inline)]
pub use model::parking_lot;

/// The crate `crossbeam` (feature `crossbeam`): the crates `crossbeam-channel` and `crossbeam-utils`, or what stands in for
/// them with the flag.
#[cfg(all(feature = "crossbeam", interleave))]
#[doc(inline)]
pub use model::crossbeam;

#[cfg(all(feature = "crossbeam", not(interleave)))]
pub mod crossbeam;
