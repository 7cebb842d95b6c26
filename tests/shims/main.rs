//! The shims through the whole engine: exact numbers of executions, and what they find.

mod arc;
mod blocking;
mod cells;
mod channels;
mod futures;
mod handshakes;
mod leaks;
mod rwlock;
mod statics;
mod threads;

use interleave::{Builder, Kind, Report, Verdict};

fn explore(body: impl Fn() + Send + Sync) -> Report {
    Builder::new().explore(body)
}

/// The number of executions of a model that has no failure.
fn executions(body: impl Fn() + Send + Sync) -> u64 {
    let report = Builder::new().spurious(0).explore(body);
    if let Some(failure) = &report.failure {
        panic!("{}", failure.report);
    }
    assert!(matches!(report.verdict, Verdict::Complete | Verdict::Vacuous), "{report}");
    report.executions
}

/// How a model fails.
fn failure(body: impl Fn() + Send + Sync) -> Kind {
    let report = explore(body);
    let Some(failure) = &report.failure else { panic!("it does not fail: {report}") };
    failure.kind
}
