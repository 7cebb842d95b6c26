//! What the tests of two libraries that must be alike assert besides results.

/// What `f` panics with.
pub(crate) fn panic_message<R>(f: impl FnOnce() -> R) -> String {
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
