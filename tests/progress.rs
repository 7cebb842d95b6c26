//! Who watches an exploration is told how far it is.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::{Builder, Verdict, sync, thread};

fn adds(threads: usize) -> impl Fn() + Send + Sync {
    move || {
        let n = sync::Arc::new(AtomicUsize::new(0));
        let add = |n: sync::Arc<AtomicUsize>| thread::spawn(move || n.fetch_add(1, Relaxed));
        let handles: Vec<_> = (0..threads).map(|_| add(n.clone())).collect();
        handles.into_iter().for_each(|handle| _ = handle.join().unwrap());
    }
}

/// What is told: the phase, the bound, executions, and whether it is the end.
type Told = (&'static str, Option<u32>, u64, bool);

fn told(builder: Builder, threads: usize) -> Vec<Told> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let list = told.clone();
    let builder = builder.progress(Duration::ZERO, move |progress| {
        assert!(progress.test.ends_with("told_the_numbers"), "{progress:?}");
        list.lock().unwrap().push((progress.phase, progress.bound, progress.executions, progress.ended));
    });
    let report = builder.explore(adds(threads));
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
    Arc::into_inner(told).unwrap().into_inner().unwrap()
}

/// 5! executions; the clock is looked at after 64 of them and at the end.
#[test]
fn who_watches_is_told_the_numbers() {
    let exhaustive = |executions, ended| ("exhaustive", None, executions, ended);
    let expected = [exhaustive(64, false), exhaustive(120, false), exhaustive(120, true)];
    assert_eq!(told(Builder::new(), 5), expected);
    // Nothing is cut: whoever is preempted could as well have gone first or last.
    let bounded = |executions, ended| ("bounded", Some(0), executions, ended);
    assert_eq!(told(Builder::new().preemption_bound(3), 3), [bounded(6, false), bounded(6, true)]);
}
