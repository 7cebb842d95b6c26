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

/// The files, as modules in which `lib` is the library under test.
macro_rules! same_for_all {
    ($($name:ident)*) => {
        mod crossbeam_itself {
            $(mod $name {
                use crossbeam as lib;
                include!(concat!(stringify!($name), ".rs"));
            })*
        }
        mod facade {
            $(mod $name {
                use sync_shims::crossbeam as lib;
                include!(concat!(stringify!($name), ".rs"));
            })*
        }
        mod shims {
            $(mod $name {
                use sync_shims::model::crossbeam as lib;
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

same_for_all! {
    channel
    select
    surface
    utils
}
