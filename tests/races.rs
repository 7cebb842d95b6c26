//! Data races and weak memory through the whole engine.

use std::collections::BTreeSet;

use interleave::cell::UnsafeCell;
use interleave::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use interleave::sync::{Arc, Mutex};
use interleave::{Builder, Kind, Memory, Verdict, thread};

use Ordering::{Acquire, Relaxed, Release, SeqCst};

/// A cell that its users promise to order.
struct Shared(UnsafeCell<u32>);

// SAFETY: 1. The tests are about whether accesses are ordered; the checker runs them on one OS thread at a time.
unsafe impl Sync for Shared {}

impl Shared {
    fn write(&self, value: u32) {
        self.0.with_mut(|p| {
            // SAFETY: 1. `p` is the address of the cell's value, which is alive.
            unsafe { *p = value }
        });
    }

    fn read(&self) -> u32 {
        self.0.with(|p| {
            // SAFETY: 1. `p` is the address of the cell's value, which is alive.
            unsafe { *p }
        })
    }
}

/// The spawned thread publishes once; main reads if it sees the flag.
fn publish(store: Ordering, load: Ordering) -> impl Fn() + Send + Sync {
    move || {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicBool::new(false)));
        let theirs = shared.clone();
        let t = thread::spawn(move || {
            if !theirs.1.load(Relaxed) {
                theirs.0.write(1);
                theirs.1.store(true, store);
            }
        });
        if shared.1.load(load) {
            assert_eq!(shared.0.read(), 1);
        }
        t.join().unwrap();
    }
}

#[test]
fn a_relaxed_flag_publishes_nothing() {
    for (store, load) in [(Relaxed, Relaxed), (Release, Relaxed), (Relaxed, Acquire)] {
        let report = Builder::new().explore(publish(store, load));
        assert_eq!(report.verdict, Verdict::Failed(Kind::DataRace), "{store:?} {load:?}: {report}");
    }
}

/// The line of a report about memory.
fn memory_line(builder: Builder, body: impl Fn() + Send + Sync) -> String {
    let failure = builder.explore(body).failure.expect("it races");
    assert_eq!(failure.kind, Kind::DataRace, "{}", failure.report);
    let flat = failure.report.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = flat.split("= memory: ").nth(1).unwrap_or_else(|| panic!("no line about memory: {flat}"));
    line.split(" the breaking order").next().unwrap_or_default().to_owned()
}

/// A race is by happens-before, which orderings make: whether an ordering would cure it is asked with all of them `SeqCst`.
#[test]
fn a_race_says_whether_orderings_would_cure_it() {
    let cured = "no race with every ordering `SeqCst`: an ordering is too weak";
    for (store, load) in [(Relaxed, Relaxed), (Release, Relaxed), (Relaxed, Acquire)] {
        assert_eq!(memory_line(Builder::new(), publish(store, load)), cured, "{store:?} {load:?}");
        // Each is found without a preemption: the first accesses come before those that race with them.
        let bounded = Builder::new().preemption_bound(2);
        assert_eq!(memory_line(bounded, publish(store, load)), cured, "{store:?} {load:?}");
    }
    let nothing = || {
        let shared = Arc::new(Shared(UnsafeCell::new(0)));
        let theirs = shared.clone();
        let t = thread::spawn(move || theirs.write(1));
        shared.write(2);
        t.join().unwrap();
    };
    let incurable = "races with every ordering `SeqCst` too: the accesses need a lock or a wait";
    assert_eq!(memory_line(Builder::new(), nothing), incurable);
    let sc = "ran under SC, with every ordering `SeqCst`: behaviours that only weak memory has were not explored";
    assert_eq!(memory_line(Builder::new().memory(Memory::Sc), nothing), sc);
    // Under SC every ordering is `SeqCst`: there is nothing to be found.
    let report = Builder::new().memory(Memory::Sc).explore(publish(Relaxed, Relaxed));
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 2), "{report}");
}

/// What "with 0 preemptions" says is of the program as it is, not of the one with other orderings. Main goes on to the join
/// unless it is preempted, and has read the flag then: 1 preemption. Two spawned threads need none: one ends before the other
/// begins.
#[test]
fn the_fewest_preemptions_of_a_race_are_those_of_the_program() {
    let failure = Builder::new().explore(publish(Relaxed, Relaxed)).failure.expect("it races");
    assert_eq!(failure.preemptions, Some(1), "{}", failure.report);
    let proof = "1 preemption (with 0 preemptions: 1 execution, which does not fail)";
    assert!(failure.report.contains(proof), "{}", failure.report);
    for reader_first in [false, true] {
        let failure = Builder::new().explore(move || {
            let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicBool::new(false)));
            let write = {
                let shared = shared.clone();
                move || {
                    shared.0.write(1);
                    shared.1.store(true, Relaxed);
                }
            };
            let read = move || {
                if shared.1.load(Relaxed) {
                    shared.0.read();
                }
            };
            let threads = match reader_first {
                false => [thread::spawn(write), thread::spawn(read)],
                true => [thread::spawn(read), thread::spawn(write)],
            };
            threads.into_iter().for_each(|t| t.join().unwrap());
        });
        let failure = failure.failure.expect("it races");
        assert_eq!(failure.preemptions, Some(0), "{}", failure.report);
        assert!(failure.report.contains("; 0 preemptions\n"), "{}", failure.report);
    }
}

#[test]
fn release_and_acquire_publish() {
    let report = Builder::new().explore(publish(Release, Acquire));
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 2), "{report}");
}

#[test]
fn what_is_written_through_a_pointer_is_noticed() {
    let report = Builder::new().explore(|| {
        let shared = Arc::new(Shared(UnsafeCell::new(0)));
        let theirs = shared.clone();
        let t = thread::spawn(move || {
            // SAFETY: 1. The cell is alive.
            unsafe { *theirs.0.get() = 1 }
        });
        // SAFETY: 1. The cell is alive.
        unsafe { *shared.0.get() = 2 }
        t.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Failed(Kind::DataRace), "{report}");
}

#[test]
fn readers_through_pointers_do_not_race() {
    let report = Builder::new().explore(|| {
        let shared = Arc::new((Shared(UnsafeCell::new(7)), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let t = thread::spawn(move || {
            theirs.1.fetch_add(1, Relaxed);
            // SAFETY: 1. The cell is alive.
            unsafe { *theirs.0.0.get() }
        });
        shared.1.fetch_add(1, Relaxed);
        // SAFETY: 1. The cell is alive.
        let mine = unsafe { *shared.0.0.get() };
        assert_eq!(mine, t.join().unwrap());
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 2), "{report}");
}

/// The outcomes that a body was seen to have.
fn outcomes<T: Ord + Send>(memory: Memory, body: impl Fn() -> T + Send + Sync) -> (u64, BTreeSet<T>) {
    let seen = std::sync::Mutex::new(BTreeSet::new());
    let report = Builder::new().memory(memory).explore(|| {
        let outcome = body();
        seen.lock().unwrap().insert(outcome);
    });
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
    (report.executions, seen.into_inner().unwrap())
}

/// Independent reads of independent writes, all relaxed: what the two readers saw.
fn iriw() -> [usize; 4] {
    let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let write = |v: &Arc<AtomicUsize>| {
        let v = v.clone();
        thread::spawn(move || v.store(1, Relaxed))
    };
    let read = |first: &Arc<AtomicUsize>, second: &Arc<AtomicUsize>| {
        let (first, second) = (first.clone(), second.clone());
        thread::spawn(move || (first.load(Relaxed), second.load(Relaxed)))
    };
    let (w1, w2) = (write(&x), write(&y));
    let (r1, r2) = (read(&x, &y), read(&y, &x));
    w1.join().unwrap();
    w2.join().unwrap();
    let ((a, b), (c, d)) = (r1.join().unwrap(), r2.join().unwrap());
    [a, b, c, d]
}

#[test]
fn independent_reads_may_disagree() {
    let (executions, seen) = outcomes(Memory::Rc11, iriw);
    assert_eq!((executions, seen.len()), (16, 16));
    assert!(seen.contains(&[1, 0, 1, 0]));
    let (executions, seen) = outcomes(Memory::Sc, iriw);
    assert_eq!((executions, seen.len()), (15, 15));
    assert!(!seen.contains(&[1, 0, 1, 0]));
}

#[test]
fn try_lock_meets_both_outcomes() {
    let (_, seen) = outcomes(Memory::Rc11, || {
        let m = Arc::new(Mutex::new(0));
        let theirs = m.clone();
        let t = thread::spawn(move || drop(theirs.lock().unwrap()));
        let got = m.try_lock().is_ok();
        t.join().unwrap();
        got
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn fences_order_store_buffering() {
    let body = |fences: bool| {
        move || {
            let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let (x2, y2) = (x.clone(), y.clone());
            let t = thread::spawn(move || {
                x2.store(1, Relaxed);
                if fences {
                    fence(SeqCst);
                }
                y2.load(Relaxed)
            });
            y.store(1, Relaxed);
            if fences {
                fence(SeqCst);
            }
            (x.load(Relaxed), t.join().unwrap())
        }
    };
    assert_eq!(outcomes(Memory::Rc11, body(true)).1, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
    assert_eq!(outcomes(Memory::Rc11, body(false)).1, BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]));
}
