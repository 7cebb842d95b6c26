//! Loops that do not end, or not soon.

use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::{Builder, Kind, Memory, Report, Strategy, Verdict, hint, thread};

use super::{failing, says};

#[test]
fn an_endless_loop_that_only_loads_hits_the_limit() {
    let report = Builder::new().max_steps(500).explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = thread::spawn(move || m.load(Relaxed));
        while n.load(Relaxed) == 0 {}
        t.join().unwrap();
    });
    says(failing(&report, Kind::Limit), &["error[interleave::limit]", "more than 500 operations", "spin_loop()"]);
}

#[test]
fn an_endless_loop_that_spins_is_a_livelock() {
    let report = Builder::new().explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = thread::spawn(move || m.load(Relaxed));
        while n.load(Relaxed) == 0 {
            hint::spin_loop();
        }
        t.join().unwrap();
    });
    says(failing(&report, Kind::Livelock), &["error[interleave::livelock]", "tests/bad_input/loops.rs"]);
}

#[test]
fn a_loop_that_waits_for_somebody_is_no_livelock() {
    let report = Builder::new().explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = thread::spawn(move || m.store(1, Relaxed));
        while n.load(Relaxed) == 0 {
            hint::spin_loop();
        }
        t.join().unwrap();
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 1), "{report}");
}

/// How often a thread looks at what another one changes, until it sees that.
fn looks() -> usize {
    let n = Arc::new(AtomicUsize::new(0));
    let m = n.clone();
    let t = thread::spawn(move || m.store(1, Relaxed));
    let mut looks = 1;
    while n.load(Relaxed) == 0 {
        looks += 1;
        hint::spin_loop();
    }
    t.join().unwrap();
    looks
}

/// What [`looks`] comes to in the executions that are explored.
fn all_looks(builder: Builder) -> (Report, Vec<usize>) {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let report = builder.explore(|| {
        let looks = looks();
        seen.lock().unwrap().insert(looks);
    });
    (report, seen.into_inner().unwrap().into_iter().collect())
}

#[test]
fn a_budget_also_explores_looks_in_vain() {
    let looks = |builder: Builder| {
        let (report, looks) = all_looks(builder);
        assert_eq!(report.verdict, Verdict::Complete, "{report}");
        looks
    };
    assert_eq!(looks(Builder::new()), [1]);
    assert_eq!(looks(Builder::new().spin_budget(2)), [1, 2, 3]);
}

/// With a budget of `b`, an interleaving is one in which the store comes before the first look, or after `1..=b` looks in vain;
/// then it comes before or after the pause: 1 + 2b. Weak memory adds looks that miss the store.
#[test]
fn a_budget_counts_in_every_strategy() {
    for (budget, looks) in [(0, &[1][..]), (1, &[1, 2]), (2, &[1, 2, 3]), (5, &[1, 2, 3, 4, 5, 6])] {
        let all = Builder::new().strategy(Strategy::Interleavings).spin_budget(budget);
        let (report, seen) = all_looks(all.clone().memory(Memory::Sc));
        assert_eq!((report.verdict, seen.as_slice()), (Verdict::Complete, looks), "{budget}: {report}");
        assert_eq!(report.executions, 1 + 2 * u64::from(budget), "{budget}: {report}");
        let (report, seen) = all_looks(all);
        assert_eq!((report.verdict, seen.as_slice()), (Verdict::Complete, looks), "{budget}: {report}");
        let (report, seen) = all_looks(Builder::new().spin_budget(budget));
        assert_eq!((report.verdict, seen.as_slice()), (Verdict::Complete, looks), "{budget}: {report}");
        // A random search has more: what it parks may go on, and read a stale value once more.
        let (_, seen) = all_looks(Builder::new().strategy(Strategy::Random).spin_budget(budget));
        assert!(looks.iter().all(|looks| seen.contains(looks)), "{budget}: {seen:?}");
    }
}

/// A failure behind looks in vain is repeated as it was found, and its token replays it.
#[test]
fn a_failure_after_looks_in_vain_is_told_as_it_is() {
    for strategy in [Strategy::Exhaustive, Strategy::Interleavings, Strategy::Random] {
        let report = Builder::new().strategy(strategy).spin_budget(3).explore(|| {
            assert!(looks() < 4, "it was slow");
        });
        says(failing(&report, Kind::Panic), &["error[interleave::panic]: it was slow"]);
    }
}
