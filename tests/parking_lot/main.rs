//! `interleave::parking_lot` beside the crate parking_lot: the same items, the same behaviour; and what models find.

#![allow(missing_docs)]
// What is tested here is what one would not write.
#![allow(
    clippy::arc_with_non_send_sync,
    clippy::bool_assert_comparison,
    clippy::declare_interior_mutable_const,
    clippy::extra_unused_lifetimes,
    clippy::borrow_interior_mutable_const,
    clippy::redundant_closure,
    clippy::result_large_err,
    clippy::type_complexity
)]

mod api;
mod counts;
mod failures;

use interleave::{Builder, Kind, Report, Verdict};

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

/// Tests that `run` runs.
macro_rules! cases {
    ($(fn $name:ident() $body:block)*) => {$(
        #[test]
        fn $name() {
            run(|| $body);
        }
    )*};
}

mod real {
    use parking_lot as lib;
    use std::sync::Arc;

    fn run(f: impl Fn()) {
        f();
    }

    mod surface {
        use super::*;
        use std::cell::Cell;
        use std::fmt::{Debug, Display};
        use std::ops::{Deref, DerefMut};
        use std::panic::{RefUnwindSafe, UnwindSafe};
        use std::rc::Rc;
        include!("surface.rs");
    }
    mod behaviour {
        use super::*;
        include!("behaviour.rs");
    }
    mod threads {
        use super::*;
        include!("threads.rs");
    }
}

mod outside_a_model {
    use interleave::parking_lot as lib;
    use interleave::sync::Arc;

    fn run(f: impl Fn()) {
        f();
    }

    mod surface {
        use super::*;
        use std::cell::Cell;
        use std::fmt::{Debug, Display};
        use std::ops::{Deref, DerefMut};
        use std::panic::{RefUnwindSafe, UnwindSafe};
        use std::rc::Rc;
        include!("surface.rs");
    }
    mod behaviour {
        use super::*;
        include!("behaviour.rs");
    }
    mod threads {
        use super::*;
        include!("threads.rs");
    }
}

mod in_a_model {
    use interleave::parking_lot as lib;
    use interleave::sync::Arc;

    fn run(f: impl Fn() + Send + Sync) {
        assert_eq!(crate::executions(f), 1);
    }

    mod behaviour {
        use super::*;
        include!("behaviour.rs");
    }
}

fn explore(body: impl Fn() + Send + Sync) -> Report {
    Builder::new().explore(body)
}

/// The number of executions of a model that has no failure.
fn executions(body: impl Fn() + Send + Sync) -> u64 {
    let report = explore(body);
    if let Some(failure) = &report.failure {
        panic!("{}", failure.report);
    }
    assert!(matches!(report.verdict, Verdict::Complete | Verdict::Vacuous), "{report}");
    report.executions
}

/// How a model fails, and its report.
fn failure(body: impl Fn() + Send + Sync) -> (Kind, String) {
    let report = explore(body);
    let Some(failure) = &report.failure else { panic!("it does not fail: {report}") };
    (failure.kind, failure.report.to_string())
}
