//! Searches that cannot explore everything: what they find, and what they say.

use std::time::Duration;

use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::sync::{Arc, Mutex};
use interleave::{Builder, Directions, Kind, Memory, Report, Strategy, Verdict, label, thread};

/// `threads` threads that each add `times`: (threads * times)! / times!^threads executions.
fn adds(threads: usize, times: usize) -> impl Fn() + Send + Sync {
    move || {
        let n = Arc::new(AtomicUsize::new(0));
        let spawn = |n: Arc<AtomicUsize>| {
            thread::spawn(move || {
                for _ in 0..times {
                    n.fetch_add(1, Relaxed);
                }
            })
        };
        let handles: Vec<_> = (0..threads).map(|_| spawn(n.clone())).collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    }
}

fn increment(n: &AtomicUsize) {
    let seen = n.load(Relaxed);
    n.store(seen + 1, Relaxed);
}

/// Two threads lose an update; others have nothing to do with it.
fn lost_update(others: usize) -> impl Fn() + Send + Sync {
    move || {
        let n = Arc::new(AtomicUsize::new(0));
        let noise = Arc::new(Mutex::new(0));
        let mut handles = Vec::new();
        for _ in 0..others {
            let noise = noise.clone();
            handles.push(thread::spawn(move || {
                for _ in 0..4 {
                    *noise.lock().unwrap() += 1;
                }
            }));
        }
        for _ in 0..2 {
            let n = n.clone();
            handles.push(thread::spawn(move || increment(&n)));
        }
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        assert_eq!(n.load(Relaxed), 2, "an update was lost");
    }
}

#[track_caller]
fn failure(report: &Report, kind: Kind) -> &interleave::Failure {
    assert_eq!(report.verdict, Verdict::Failed(kind), "{report}");
    report.failure.as_ref().expect("a failed exploration has a failure")
}

#[test]
fn auto_explores_everything_that_fits() {
    for (model, executions) in [(adds(3, 1), 6), (adds(7, 1), 5_040)] {
        let report = Builder::new().strategy(Strategy::Auto).explore(model);
        assert_eq!((report.verdict, report.executions), (Verdict::Complete, executions), "{report}");
    }
}

/// C(24, 12) = 2,704,156 executions do not fit.
#[test]
fn auto_explores_few_preemptions_and_then_at_random() {
    let report = Builder::new().strategy(Strategy::Auto).max_executions(4_000).explore(adds(2, 12));
    assert_eq!(report.verdict, Verdict::Bounded, "{report}");
    let [estimate, few, drawn, random] = report.cut.as_slice() else { panic!("{report}") };
    assert!(estimate.starts_with("about 2,") && estimate.contains(" executions (± "), "{report}");
    // With 0, 1, 2 and 3 preemptions: 2, 24, 156, 706 more, so 888 of the 2,000 in the first half of the budget.
    assert!(few.starts_with("nothing fails with at most "), "{report}");
    assert!(drawn.starts_with("then ") && drawn.ends_with(" executions at random"), "{report}");
    assert_eq!(random, "random (portfolio), seed 0");
    assert_eq!(report.executions, 4_000);
}

#[test]
fn a_time_limit_says_how_many_preemptions_were_explored() {
    let report = Builder::new().preemption_bound(9).max_duration(Duration::from_secs(1)).explore(adds(2, 12));
    assert_eq!(report.verdict, Verdict::Bounded, "{report}");
    assert_eq!(report.cut[0], "stopped by the time limit");
    assert!(report.cut[1].starts_with("nothing fails with at most "), "{report}");
    assert_eq!(report.cut[2], "stale reads not looked at");
}

#[test]
fn a_random_failure_is_reduced_to_what_matters() {
    for strategy in [Strategy::Random, Strategy::Pos, Strategy::Pct { depth: 2 }, Strategy::Portfolio] {
        for seed in 0..5 {
            let report = Builder::new().strategy(strategy).seed(seed).explore(lost_update(2));
            let failure = failure(&report, Kind::Panic);
            assert_eq!(failure.preemptions, Some(1), "{}", failure.report);
            assert!(failure.report.contains("; shrunk from "), "{}", failure.report);
            assert!(failure.report.contains("1 preemption (with 0 preemptions: "), "{}", failure.report);
            // The threads that only make noise are joined by main before it looks, but nothing is left of their turns.
            assert_eq!(failure.report.matches("── preempt").count(), 1, "{}", failure.report);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let explore = || Builder::new().strategy(Strategy::Portfolio).seed(7).explore(lost_update(1));
    let (first, second) = (explore(), explore());
    assert_eq!(failure(&first, Kind::Panic).report, failure(&second, Kind::Panic).report);
    assert_eq!(first.executions, second.executions);
}

#[test]
fn without_effort_a_failure_is_told_as_it_was_found() {
    let report = Builder::new().strategy(Strategy::Random).shrink(0).explore(lost_update(0));
    assert!(!failure(&report, Kind::Panic).report.contains("shrunk"), "{report}");
}

/// Hundreds of steps hide an update that is lost if a thread is preempted in one function.
#[test]
fn a_search_is_focused_on_a_function() {
    let model = || {
        let n = Arc::new(AtomicUsize::new(0));
        let noise = Arc::new(AtomicUsize::new(0));
        let (m, more) = (n.clone(), noise.clone());
        let t = thread::spawn(move || {
            for _ in 0..200 {
                more.fetch_add(1, Relaxed);
            }
            increment(&m);
        });
        increment(&n);
        for _ in 0..200 {
            noise.fetch_add(1, Relaxed);
        }
        t.join().unwrap();
        assert_eq!(n.load(Relaxed), 2);
    };
    let builder = Builder::new().memory(Memory::Sc).max_executions(1);
    let report = builder.clone().focus("increment").explore(model);
    let failure = failure(&report, Kind::Panic);
    assert!(failure.report.contains(" of a random search (focused) with seed 0"), "{}", failure.report);
    let elsewhere = builder.focus("decrement").explore(model);
    assert_eq!(elsewhere.verdict, Verdict::Bounded, "{elsewhere}");
}

fn labelled() {
    let n = Arc::new(AtomicUsize::new(0));
    let m = n.clone();
    let t = thread::Builder::new().name("other".to_owned());
    let t = t
        .spawn(move || {
            let seen = m.load(Relaxed);
            label!("between");
            m.store(seen + 1, Relaxed);
        })
        .unwrap();
    increment(&n);
    t.join().unwrap();
    assert_eq!(n.load(Relaxed), 2, "an update was lost");
}

#[test]
fn directions_lead_to_a_failure_or_past_it() {
    let lost = Directions::new().run("other").until("between").run("main");
    let report = Builder::new().directed(lost).explore(labelled);
    assert!(failure(&report, Kind::Panic).message.contains("an update was lost"));
    let fine = Directions::new().run("other").run("main");
    let report = Builder::new().directed(fine).explore(labelled);
    assert_eq!((report.verdict, report.executions), (Verdict::Bounded, 1), "{report}");
    assert_eq!(report.cut, ["one execution, as directed"]);
}

#[test]
fn directions_that_lead_nowhere_name_the_part() {
    let cases = [
        (Directions::new().run("0").until("nowhere"), "part 1, run \"0\" until \"nowhere\""),
        (Directions::new().run("main").steps(1).run("nobody"), "part 2, run \"nobody\""),
    ];
    for (directions, part) in cases {
        let report = Builder::new().directed(directions).explore(labelled);
        assert_eq!(failure(&report, Kind::Config).message, format!("the directions cannot be followed: {part}"));
    }
}

/// A label is a step of its thread that nobody else sees: it adds no execution.
#[test]
fn labels_cost_nothing() {
    let report = Builder::new().explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = thread::spawn(move || {
            label!("before");
            m.fetch_add(1, Relaxed);
            label!("after");
        });
        n.fetch_add(1, Relaxed);
        t.join().unwrap();
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 2), "{report}");
}
