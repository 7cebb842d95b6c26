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

#[macro_use]
#[path = "../../sync-shims/tests/assertions/mod.rs"]
mod assertions;
mod api;
mod counts;
mod failures;
#[path = "../outcomes/mod.rs"]
mod outcomes;
mod time;
#[path = "../outcomes/timed.rs"]
mod timed;

use assertions::panic_message;
use interleave::{Builder, Kind, Report, Verdict};

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
    use std::time;

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
    use interleave::time;

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
    use interleave::time;

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
