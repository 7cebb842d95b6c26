//! Futures, and the reads without synchronisation that their runtimes are fond of.

use std::future::poll_fn;
use std::task::Poll;

use interleave::future::{AtomicWaker, Notify, block_on};
use interleave::sync::Arc;
use interleave::sync::atomic::AtomicUsize;
use interleave::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use interleave::{Kind, thread};

use crate::{executions, failure};

/// Waits for a flag that another thread sets; `look_again` says whether it looks after it has left its waker.
fn wait_for_flag(look_again: bool) {
    let shared = Arc::new((AtomicUsize::new(0), AtomicWaker::new()));
    let same = shared.clone();
    let t = thread::spawn(move || {
        same.0.store(1, Relaxed);
        same.1.wake();
    });
    block_on(poll_fn(|context| {
        if !look_again && shared.0.load(Relaxed) == 1 {
            return Poll::Ready(());
        }
        shared.1.register_by_ref(context.waker());
        if look_again && shared.0.load(Relaxed) == 1 { Poll::Ready(()) } else { Poll::Pending }
    }));
    t.join().unwrap();
}

#[test]
fn who_looks_again_is_woken() {
    // `wake` before `register`: the flag is seen. After it: the flag is seen or not; then the wake-up ends the wait.
    assert_eq!(executions(|| wait_for_flag(true)), 3);
}

#[test]
fn who_does_not_look_again_may_miss_it() {
    assert_eq!(failure(|| wait_for_flag(false)), Kind::Deadlock);
}

#[test]
fn all_polls_have_one_waker() {
    assert_eq!(
        executions(|| {
            let mut first = None;
            block_on(poll_fn(|context| {
                let Some(first) = &first else {
                    first = Some(context.waker().clone());
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                };
                assert!(context.waker().will_wake(first));
                Poll::Ready(())
            }));
        }),
        1
    );
}

#[test]
fn wake_ups_merge() {
    let two_waits = || {
        let notify = Arc::new(Notify::new());
        let same = notify.clone();
        let t = thread::spawn(move || {
            same.notify();
            same.notify();
        });
        notify.wait();
        t.join().unwrap();
        // Of the two, one may be left, or none.
        notify.wait();
    };
    assert_eq!(failure(two_waits), Kind::Deadlock);
}

#[test]
fn a_waker_that_is_replaced_is_dropped() {
    assert_eq!(
        executions(|| {
            let place = AtomicWaker::new();
            let counted = std::sync::Arc::new(Counted);
            for _ in 0..3 {
                place.register(counted.clone().into());
            }
            assert_eq!(std::sync::Arc::strong_count(&counted), 2);
            drop(place.take_waker());
            assert_eq!(std::sync::Arc::strong_count(&counted), 1);
        }),
        1
    );
}

struct Counted;

impl std::task::Wake for Counted {
    fn wake(self: std::sync::Arc<Self>) {}
}

/// The owner of a counter reads it as plain memory, which others change if `theirs`.
fn read_without_synchronisation(theirs: bool, order: std::sync::atomic::Ordering) -> impl Fn() + Send + Sync {
    move || {
        let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        shared.0.store(1, Relaxed);
        let same = shared.clone();
        let t = thread::spawn(move || {
            if theirs {
                same.0.store(2, Relaxed);
            }
            same.1.store(1, order);
            same.0.load(Relaxed)
        });
        if shared.1.load(Acquire) == 1 {
            // SAFETY: 1. None, if the other thread writes: that is what the tests are about.
            assert_eq!(unsafe { shared.0.unsync_load() }, if theirs { 2 } else { 1 });
        }
        t.join().unwrap();
    }
}

#[test]
fn reads_without_synchronisation_race_with_writes_alone() {
    // The load of the flag sees it or not; the value is always the newest.
    assert_eq!(executions(read_without_synchronisation(false, Relaxed)), 2);
    assert_eq!(executions(read_without_synchronisation(true, Release)), 2);
    assert_eq!(failure(read_without_synchronisation(true, Relaxed)), Kind::DataRace);
}

#[test]
fn an_owner_changes_an_atomic_in_place() {
    assert_eq!(
        executions(|| {
            let mut n = AtomicUsize::new(1);
            assert_eq!(n.with_mut(|value| std::mem::replace(value, 5)), 1);
            assert_eq!(n.fetch_add(1, Relaxed), 5);
            assert_eq!(n.with_mut(|value| *value), 6);
        }),
        1
    );
}
