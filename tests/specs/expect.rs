//! What an exploration must come to.

use interleave::{Builder, Kind, Report, Verdict};

/// With at most `preemptions` it is found, as a failure of this kind, and it needs that many.
#[track_caller]
pub(crate) fn found(kind: Kind, preemptions: u32, program: impl Fn() + Send + Sync + 'static) {
    let report = Builder::new().preemption_bound(preemptions).explore(program);
    let failure = report.failure.as_ref().unwrap_or_else(|| panic!("not found: {report}"));
    assert_eq!(failure.kind, kind, "{}", failure.report);
    assert_eq!(failure.preemptions, Some(preemptions), "{}", failure.report);
    assert_eq!(report.verdict, Verdict::Failed(kind));
}

/// It is found, and no interleaving shows it: it needs weak memory.
#[track_caller]
pub(crate) fn found_in_weak_memory_only(kind: Kind, program: impl Fn() + Send + Sync + 'static) {
    let report = Builder::new().explore(program);
    let failure = report.failure.as_ref().unwrap_or_else(|| panic!("not found: {report}"));
    assert_eq!(failure.kind, kind, "{}", failure.report);
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
