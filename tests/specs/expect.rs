//! What an exploration must come to.

use interleave::{Builder, Failure, Kind, Report, Verdict};

/// A panic with this message is found with at most `preemptions`, and needs that many.
#[track_caller]
pub(crate) fn panics(message: &str, preemptions: u32, program: impl Fn() + Send + Sync + 'static) {
    let failure = found(Kind::Panic, preemptions, program);
    assert!(failure.message.contains(message), "{}", failure.report);
}

/// A deadlock is found with at most `preemptions`, and needs that many.
#[track_caller]
pub(crate) fn deadlocks(preemptions: u32, program: impl Fn() + Send + Sync + 'static) {
    found(Kind::Deadlock, preemptions, program);
}

#[track_caller]
fn found(kind: Kind, preemptions: u32, program: impl Fn() + Send + Sync + 'static) -> Failure {
    let report = Builder::new().preemption_bound(preemptions).explore(program);
    assert_eq!(report.verdict, Verdict::Failed(kind), "{report}");
    let failure = report.failure.expect("a failed exploration has a failure");
    assert_eq!(failure.kind, kind, "{}", failure.report);
    assert_eq!(failure.preemptions, Some(preemptions), "{}", failure.report);
    failure
}

/// A deadlock is found, and no interleaving shows it: it needs weak memory.
#[track_caller]
pub(crate) fn deadlocks_in_weak_memory_only(program: impl Fn() + Send + Sync + 'static) {
    let report = Builder::new().explore(program);
    assert_eq!(report.verdict, Verdict::Failed(Kind::Deadlock), "{report}");
    let failure = report.failure.expect("a failed exploration has a failure");
    assert_eq!(failure.preemptions, None, "{}", failure.report);
}

/// There are exactly so many executions, and none fails.
#[track_caller]
pub(crate) fn clean(executions: u64, program: impl Fn() + Send + Sync + 'static) {
    exhausted(executions, Builder::new().explore(program));
}

/// All of them were explored, exactly so many, and none fails.
#[track_caller]
pub(crate) fn exhausted(executions: u64, report: Report) {
    if let Some(failure) = &report.failure {
        panic!("{}", failure.report);
    }
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
    assert_eq!(report.executions, executions, "{report}");
}
