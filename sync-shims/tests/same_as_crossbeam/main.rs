//! Each file here is compiled three times: against the crate crossbeam, against what the facade calls `crossbeam`, and against
//! the model types outside of a model. They have the same items, signatures, traits, results and panics if all compile and pass.

#![allow(missing_docs)]
// What is tested here is what one would not write.
#![allow(
    dead_code,
    clippy::borrow_interior_mutable_const,
    clippy::declare_interior_mutable_const,
    clippy::extra_unused_lifetimes,
    clippy::large_const_arrays,
    clippy::never_loop,
    clippy::redundant_closure,
    clippy::type_complexity
)]

#[macro_use]
#[path = "../assertions/mod.rs"]
mod assertions;

use assertions::panic_message;

/// The files, as modules in which `lib` is the library under test.
macro_rules! same_for_all {
    ($($name:ident)*) => {
        mod crossbeam_itself {
            $(mod $name {
                use crossbeam as lib;
                use std::time;
                include!(concat!(stringify!($name), ".rs"));
            })*
        }
        mod facade {
            $(mod $name {
                use sync_shims::crossbeam as lib;
                use sync_shims::time;
                include!(concat!(stringify!($name), ".rs"));
            })*
        }
        mod shims {
            $(mod $name {
                use sync_shims::model::crossbeam as lib;
                use sync_shims::model::time;
                include!(concat!(stringify!($name), ".rs"));
            })*
        }
    };
}

same_for_all! {
    channel
    select
    surface
    utils
}
