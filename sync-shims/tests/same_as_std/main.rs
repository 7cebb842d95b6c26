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

/// What `f` panics with.
fn panic_message<R>(f: impl FnOnce() -> R) -> String {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).map(drop);
    let payload = result.expect_err("it should have panicked");
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload.downcast_ref::<&str>().expect("a message").to_string(),
    }
}

/// Fails to compile unless the type has all of the traits.
macro_rules! assert_impl {
    ($type:ty: $($bounds:tt)*) => {{
        fn check<T: ?Sized + $($bounds)*>() {}
        check::<$type>();
    }};
}

/// Fails to compile if the type has the trait: then there are two candidates for the parameter.
macro_rules! assert_not_impl {
    ($type:ty: $($bounds:tt)*) => {{
        trait AmbiguousIfImplemented<A> {
            fn check() {}
        }
        impl<T: ?Sized> AmbiguousIfImplemented<()> for T {}
        #[allow(dead_code)]
        struct Implemented;
        impl<T: ?Sized + $($bounds)*> AmbiguousIfImplemented<Implemented> for T {}
        <$type as AmbiguousIfImplemented<_>>::check();
    }};
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
