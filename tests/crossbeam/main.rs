//! What stands in for crossbeam, through the whole engine: exact numbers of executions, and what they find. Each model is also
//! run in all interleavings, without reduction: the results must be the same.

mod atomic_cell;
mod channel;
#[path = "../outcomes/mod.rs"]
mod outcomes;
mod select;
mod time;
#[path = "../outcomes/timed.rs"]
mod timed;
mod utils;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex;

use interleave::{Builder, Report, Strategy, Verdict};

/// What executions of `body` can come to: how many executions there are, and which different results.
fn results<R: Ord + Send>(strategy: Strategy, body: impl Fn() -> R + Send + Sync) -> (u64, BTreeSet<R>) {
    let seen = Mutex::new(BTreeSet::new());
    let report = Builder::new().spurious(0).strategy(strategy).explore(|| {
        let result = body();
        seen.lock().unwrap().insert(result);
    });
    if let Some(failure) = &report.failure {
        panic!("{}", failure.report);
    }
    assert!(matches!(report.verdict, Verdict::Complete | Verdict::Vacuous), "{report}");
    (report.executions, seen.into_inner().unwrap())
}

/// The number of executions of `body`, each of which has another result.
#[track_caller]
fn distinct<R: Ord + Send + Debug>(body: impl Fn() -> R + Send + Sync) -> u64 {
    let (count, found) = results(Strategy::Exhaustive, &body);
    assert_eq!(count, found.len() as u64, "{found:#?}");
    count
}

/// The number of executions of `body`, and its results, which are those that it has among all interleavings.
#[track_caller]
fn complete<R: Ord + Send + Debug>(body: impl Fn() -> R + Send + Sync) -> (u64, Vec<R>) {
    let (count, found) = results(Strategy::Exhaustive, &body);
    let (_, all) = results(Strategy::Interleavings, &body);
    assert_eq!(found, all);
    (count, found.into_iter().collect())
}

/// The number of executions of `body`, and its results; for bodies that have too many interleavings.
#[track_caller]
fn explored<R: Ord + Send>(body: impl Fn() -> R + Send + Sync) -> (u64, Vec<R>) {
    let (count, found) = results(Strategy::Exhaustive, &body);
    (count, found.into_iter().collect())
}

/// How a model fails: the code, and the text of the report.
fn failure(body: impl Fn() + Send + Sync) -> String {
    let report = |strategy| -> Report { Builder::new().strategy(strategy).explore(&body) };
    let texts = [Strategy::Exhaustive, Strategy::Interleavings].map(|strategy| {
        let report = report(strategy);
        let Some(failure) = report.failure else { panic!("it does not fail: {report}") };
        (failure.kind, failure.report)
    });
    assert_eq!(texts[0].0, texts[1].0);
    texts[0].1.clone()
}
