//! Each file here is compiled twice, against std and against the model types outside of a model: the types have the same
//! items, signatures, traits, results and panics if both compile and pass.

#![allow(missing_docs)]
// What is tested here is what one would not write.
#![allow(
    clippy::arc_with_non_send_sync,
    clippy::bool_assert_comparison,
    clippy::borrow_interior_mutable_const,
    clippy::declare_interior_mutable_const,
    clippy::needless_late_init,
    clippy::missing_const_for_thread_local,
    clippy::readonly_write_lock,
    clippy::redundant_allocation,
    clippy::redundant_closure,
    clippy::unit_arg
)]

#[macro_use]
#[path = "../assertions/mod.rs"]
mod assertions;

use assertions::panic_message;

/// The files, as modules in which `lib` is the library under test.
macro_rules! same_for_both {
    ($($name:ident)*) => {
        mod std_itself {
            $(mod $name {
                use std as lib;
                include!(concat!(stringify!($name), ".rs"));
            })*
        }
        mod shims {
            $(mod $name {
                use sync_shims::model as lib;
                include!(concat!(stringify!($name), ".rs"));
            })*
        }
    };
}

same_for_both! {
    arc
    atomic
    cell
    condvar
    mpsc
    mutex
    net
    once
    rwlock
    surface
    thread
    thread_local
    unix_net
}
