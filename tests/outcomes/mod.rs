//! What programs come to, for the tests that count executions: a program says it in a word.

use std::collections::BTreeSet;
use std::sync::Mutex;

use interleave::{Builder, Report, Strategy, Verdict};

/// Explores `program`, which must not fail. All that it has come to.
#[track_caller]
pub(crate) fn outcomes(builder: Builder, program: impl Fn() -> String + Send + Sync) -> (Report, BTreeSet<String>) {
    let seen = Mutex::new(BTreeSet::new());
    let report = builder.explore(|| {
        let outcome = program();
        seen.lock().unwrap().insert(outcome);
    });
    if let Some(failure) = &report.failure {
        panic!("{}", failure.report);
    }
    (report, seen.into_inner().unwrap())
}

/// `program` comes to exactly these outcomes, in so many executions. All interleavings come to the same; if there are more
/// than `most`, those that are run come to nothing else.
#[track_caller]
pub(crate) fn comes_to(
    builder: Builder,
    most: u64,
    executions: u64,
    expected: &[&str],
    program: impl Fn() -> String + Send + Sync,
) -> Report {
    let expected: BTreeSet<String> = expected.iter().map(|&outcome| outcome.to_owned()).collect();
    let (report, seen) = outcomes(builder.clone(), &program);
    assert_eq!(seen, expected);
    assert_ne!(report.verdict, Verdict::Bounded, "{report}");
    let (all, seen) = outcomes(builder.strategy(Strategy::Interleavings).max_executions(most), &program);
    match all.verdict {
        Verdict::Bounded => assert!(seen.is_subset(&expected), "{seen:?} in some interleavings"),
        _ => assert_eq!(seen, expected, "in {} interleavings", all.executions),
    }
    assert_eq!(report.executions, executions, "{report}");
    report
}
