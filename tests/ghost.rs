//! Specification state, and labels that an exploration should come by.

use std::panic::{AssertUnwindSafe, catch_unwind};

use interleave::cell::UnsafeCell;
use interleave::ghost::State;
use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicBool, Ordering::Relaxed};
use interleave::{Builder, Finding, Kind, Strategy, Verdict, reachable, sometimes, thread};

/// Three updates by one thread, two by another: C(5, 2) orders.
fn updates() {
    let order = State::new(Vec::new()).invariant("each thread's own are in order", |order: &Vec<(u8, u8)>| {
        let of = |thread: u8| order.iter().filter(move |(t, _)| *t == thread).map(|(_, n)| *n).collect::<Vec<_>>();
        of(0).is_sorted() && of(1).is_sorted()
    });
    let same = order.clone();
    let other = thread::spawn(move || {
        for n in 0..2 {
            assert_eq!(
                same.update(|order| order.len()),
                same.update(|order| {
                    order.push((1, n));
                    order.len() - 1
                })
            );
        }
    });
    for n in 0..3 {
        order.update(|order| order.push((0, n)));
    }
    other.join().unwrap();
    assert_eq!(order.get().len(), 5);
}

#[test]
fn updates_have_one_order() {
    let two_threads = || {
        let sum = State::new(String::new());
        let same = sum.clone();
        let other = thread::spawn(move || ["c", "d"].iter().for_each(|s| same.update(|sum| sum.push_str(s))));
        ["A", "B", "C"].iter().for_each(|s| sum.update(|sum| sum.push_str(s)));
        other.join().unwrap();
        let sum = sum.get();
        assert_eq!(sum.len(), 5);
        assert_eq!(sum.replace(char::is_lowercase, ""), "ABC");
    };
    let report = Builder::new().check(two_threads);
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 10));
    let report = Builder::new().strategy(Strategy::Interleavings).check(two_threads);
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 10));
}

/// A value that a thread has got may be old by its next update.
#[test]
fn two_updates_are_not_one() {
    let report = Builder::new().explore(updates);
    assert_eq!(report.verdict, Verdict::Failed(Kind::Panic));
    let failure = report.failure.unwrap();
    assert!(failure.report.contains("assertion `left == right` failed"), "{}", failure.report);
}

#[test]
fn an_invariant_that_does_not_hold_says_which() {
    let report = Builder::new().explore(|| {
        let claims = State::new(0u32).invariant("at most one has claimed", |claims| *claims <= 1);
        let claimed = Arc::new(AtomicBool::new(false));
        let claim = |claimed: Arc<AtomicBool>, claims: State<u32>| {
            move || {
                if !claimed.load(Relaxed) {
                    claimed.store(true, Relaxed);
                    claims.update(|claims| *claims += 1);
                }
            }
        };
        let other = thread::spawn(claim(claimed.clone(), claims.clone()));
        claim(claimed, claims)();
        other.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Failed(Kind::Panic));
    let failure = report.failure.unwrap();
    assert!(failure.report.contains("the invariant `at most one has claimed` does not hold: 2"), "{}", failure.report);
    assert_eq!(failure.preemptions, Some(1));
}

struct Racy(UnsafeCell<i32>);

// SAFETY: none, it races.
unsafe impl Sync for Racy {}

/// An update before the write and one after the read of the other thread order nothing: the race is still there.
#[test]
fn updates_synchronise_nothing() {
    let report = Builder::new().explore(|| {
        let cell = Arc::new(Racy(UnsafeCell::new(0)));
        let turns = State::new(0);
        let (same, theirs) = (cell.clone(), turns.clone());
        let other = thread::spawn(move || {
            // SAFETY: none, it races.
            same.0.with_mut(|cell| unsafe { *cell = 1 });
            theirs.update(|turns| *turns += 1);
        });
        if turns.update(|turns| *turns) == 1 {
            // SAFETY: none, it races.
            cell.0.with(|cell| unsafe { *cell });
        }
        other.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Failed(Kind::DataRace));
}

#[test]
fn outside_a_model_a_state_is_a_value() {
    let state = State::new(vec![1]).invariant("short", |values| values.len() < 3);
    state.update(|values| values.push(2));
    assert_eq!(state.get(), [1, 2]);
    let broken = catch_unwind(AssertUnwindSafe(|| state.update(|values| values.push(3)))).unwrap_err();
    assert_eq!(broken.downcast_ref::<String>().unwrap(), "the invariant `short` does not hold: [1, 2, 3]");
}

/// Two threads, one flag.
fn flags(who_sees: impl Fn(bool) + Send + Sync) -> impl Fn() + Send + Sync {
    move || {
        let flag = Arc::new(AtomicBool::new(false));
        let same = flag.clone();
        let other = thread::spawn(move || same.store(true, Relaxed));
        who_sees(flag.load(Relaxed));
        other.join().unwrap();
    }
}

fn never(_: bool) -> bool {
    false
}

#[test]
fn what_holds_in_some_execution_is_fine() {
    let report = Builder::new().check(flags(|seen| sometimes!(seen, "the flag is seen")));
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 2));
    assert_eq!(report.unreached, [""; 0]);
}

#[test]
fn a_condition_that_never_holds_makes_the_model_vacuous() {
    let model = || flags(|seen| sometimes!(never(seen), "both"));
    let report = Builder::new().explore(model());
    assert_eq!((report.verdict, report.unreached.as_slice()), (Verdict::Vacuous, ["both".to_owned()].as_slice()));
    assert!(report.to_string().starts_with("vacuous: 2 executions, `both` was never true, RC11, "), "{report}");
    let panic = catch_unwind(AssertUnwindSafe(|| Builder::new().check(model()))).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.starts_with("error[interleave::vacuous]: `both` was never true in 2 executions\n"), "{message}");
}

#[test]
fn a_place_that_is_expected_must_be_reached() {
    let model = || {
        flags(|seen| {
            if !seen {
                reachable!("too early")
            }
        })
    };
    let report = Builder::new().reaches("too early").check(model());
    assert_eq!(report.verdict, Verdict::Complete);
    let report = Builder::new().reaches("too late").explore(model());
    assert_eq!((report.verdict, report.unreached), (Verdict::Vacuous, vec!["too late".to_owned()]));
    let report = Builder::new().reaches("too late").max_executions(1).explore(model());
    assert_eq!(report.verdict, Verdict::Bounded);
    assert!(report.to_string().contains("`too late` was not reached so far"), "{report}");
}

#[test]
fn a_label_is_found_with_an_order() {
    let found = Builder::new().find("seen", flags(|seen| sometimes!(seen, "seen")));
    let order = found.order().expect("it is found").to_owned();
    assert!(order.starts_with("found[interleave::found]: `seen` is reached\n"), "{order}");
    assert!(order.contains(".load(Relaxed)") && order.contains("→ true"), "{order}");
    assert!(found.to_string().starts_with("found, here is the order\n\nfound["));
    assert_eq!(found.report().failure.as_ref().unwrap().preemptions, Some(1));
}

#[test]
fn a_label_is_not_found_and_nothing_is_left() {
    let found = Builder::new().find(
        "seen twice",
        flags(|seen| {
            if never(seen) {
                reachable!("seen twice")
            }
        }),
    );
    assert!(matches!(&found, Finding::NotFound(report) if report.verdict == Verdict::Complete));
    assert!(found.to_string().starts_with("not found, complete: 2 executions (0 blocked), "), "{found}");
}
