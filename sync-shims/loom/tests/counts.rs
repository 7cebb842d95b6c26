//! How many executions models have that use what is particular to loom.

use std::rc::Rc;
use std::sync::Arc as Real;
use std::sync::atomic::AtomicUsize as RealUsize;
use std::sync::atomic::Ordering::SeqCst;

use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::Relaxed;
use loom::sync::{Arc, Notify};
use loom::thread;

/// How often `body` is run to its end by `builder`.
fn runs_of(builder: &Builder, body: impl Fn() + Send + Sync + 'static) -> usize {
    let runs = Real::new(RealUsize::new(0));
    let count = runs.clone();
    builder.check(move || {
        body();
        count.fetch_add(1, SeqCst);
    });
    runs.load(SeqCst)
}

fn runs(body: impl Fn() + Send + Sync + 'static) -> usize {
    runs_of(&Builder::new(), body)
}

#[test]
fn threads_may_take_and_give_what_is_not_send() {
    // Nothing is shared that the model sees.
    assert_eq!(
        runs(|| {
            let given = Rc::new(5);
            let same = given.clone();
            let back: Rc<i32> = thread::spawn(move || same).join().unwrap();
            assert!(Rc::ptr_eq(&given, &back));
        }),
        1
    );
}

mod lazy {
    use super::*;

    loom::lazy_static! {
        static ref UNSEEN: AtomicUsize = AtomicUsize::new(0);
        static ref SEEN: usize = {
            let count = AtomicUsize::new(0);
            count.fetch_add(1, Relaxed);
            count.load(Relaxed)
        };
    }

    #[test]
    fn a_value_whose_making_nobody_sees_is_no_step() {
        // The orders of two additions.
        let body = || {
            let t = thread::spawn(|| UNSEEN.fetch_add(1, Relaxed));
            UNSEEN.fetch_add(1, Relaxed);
            t.join().unwrap();
            // It is made anew in every execution.
            assert_eq!(UNSEEN.load(Relaxed), 2);
        };
        assert_eq!(runs(body), 2);
    }

    struct Dropped(AtomicUsize);

    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.store(9, Relaxed);
        }
    }

    loom::lazy_static! {
        static ref DROPPED: Dropped = Dropped(AtomicUsize::new(0));
    }

    #[test]
    fn a_value_whose_drop_is_an_operation_is_made_anew_all_the_same() {
        let body = || {
            let t = thread::spawn(|| DROPPED.0.fetch_add(1, Relaxed));
            DROPPED.0.fetch_add(1, Relaxed);
            t.join().unwrap();
            assert_eq!(DROPPED.0.load(Relaxed), 2);
        };
        assert_eq!(runs(body), 2);
    }

    #[test]
    fn a_value_whose_making_is_seen_is_made_once() {
        // Either thread makes it, and one run is cut short when that is found out.
        let body = || {
            let t = thread::spawn(|| assert_eq!(*SEEN, 1));
            assert_eq!(*SEEN, 1);
            t.join().unwrap();
        };
        assert_eq!(runs(body), 2);
    }
}

#[test]
fn a_wait_ends_for_no_reason_once() {
    // The first wait takes the wake-up or ends for no reason. After the latter, the second one takes it.
    let body = || {
        let notify = Arc::new(Notify::new());
        let same = notify.clone();
        let t = thread::spawn(move || same.notify());
        notify.wait();
        t.join().unwrap();
    };
    assert_eq!(runs(body), 2);
}

#[test]
fn compare_exchange_weak_fails_for_a_reason_only() {
    let body = || {
        let n = AtomicUsize::new(0);
        assert!(n.compare_exchange_weak(0, 1, Relaxed, Relaxed).is_ok());
    };
    assert_eq!(runs(body), 1);
}

#[test]
fn fields_are_limits() {
    let additions = |threads: usize| {
        move || {
            let n = Arc::new(AtomicUsize::new(0));
            let all: Vec<_> = (1..threads)
                .map(|_| {
                    let n = n.clone();
                    thread::spawn(move || n.fetch_add(1, Relaxed))
                })
                .collect();
            n.fetch_add(1, Relaxed);
            for t in all {
                t.join().unwrap();
            }
        }
    };
    // 3! orders, of which one execution is asked for.
    assert_eq!(runs(additions(3)), 6);
    let mut builder = Builder::new();
    builder.max_permutations = Some(1);
    assert_eq!(runs_of(&builder, additions(3)), 1);
    // loom's limit of threads is none here.
    builder.max_permutations = None;
    builder.max_threads = 2;
    assert_eq!(runs_of(&builder, additions(4)), 24);
}

#[test]
fn a_bound_keeps_free_switches() {
    // Three threads that each take a lock once need no preemption for any of their 3! orders.
    let mut builder = Builder::new();
    builder.preemption_bound = Some(0);
    let body = || {
        let lock = Arc::new(loom::sync::Mutex::new(0));
        let all = [(); 2].map(|()| {
            let lock = lock.clone();
            thread::spawn(move || *lock.lock().unwrap() += 1)
        });
        *lock.lock().unwrap() += 1;
        for t in all {
            t.join().unwrap();
        }
    };
    assert_eq!(runs_of(&builder, body), 6);
}

#[test]
fn what_is_not_explored_is_explored_all_the_same() {
    let body = || {
        let n = Arc::new(AtomicUsize::new(0));
        let same = n.clone();
        let t = thread::spawn(move || same.fetch_add(1, Relaxed));
        loom::stop_exploring();
        n.fetch_add(1, Relaxed);
        loom::explore();
        t.join().unwrap();
    };
    assert_eq!(runs(body), 2);
    let mut builder = Builder::new();
    builder.expect_explicit_explore = true;
    assert_eq!(
        runs_of(&builder, move || {
            loom::explore();
            body();
        }),
        2
    );
}

#[test]
fn a_skipped_branch_does_not_count() {
    // Of the two orders, the one in which the other thread came first is left out.
    let body = || {
        let n = Arc::new(AtomicUsize::new(0));
        let same = n.clone();
        let t = thread::spawn(move || same.store(1, Relaxed));
        if n.load(Relaxed) == 1 {
            loom::skip_branch();
        }
        t.join().unwrap();
    };
    assert_eq!(runs(body), 1);
}

#[cfg(feature = "futures")]
mod future {
    use super::*;
    use loom::future::{AtomicWaker, block_on};
    use std::future::poll_fn;
    use std::task::Poll;

    #[test]
    fn a_waker_reaches_who_waits() {
        // `wake` before the first `register`, which then makes the flag visible: 1. After it: the flag is seen (2) or not; then
        // the wait ends by the wake-up (3), or for no reason. In the latter case `wake` comes before the second `register` (4),
        // or after it: then the flag is seen (5) or not, and the second wait ends by the wake-up (6).
        let body = || {
            let shared = Arc::new((AtomicUsize::new(0), AtomicWaker::new()));
            let same = shared.clone();
            let t = thread::spawn(move || {
                same.0.store(1, Relaxed);
                same.1.wake();
            });
            block_on(poll_fn(|context| {
                shared.1.register_by_ref(context.waker());
                if shared.0.load(Relaxed) == 1 { Poll::Ready(()) } else { Poll::Pending }
            }));
            t.join().unwrap();
        };
        assert_eq!(runs(body), 6);
    }
}

/// The count of a std `Arc` is not modelled, and orders the end of its value all the same.
#[test]
fn a_std_arc_drops_its_value_after_all_that_was_done_to_it() {
    assert_eq!(
        runs(|| {
            #[expect(clippy::arc_with_non_send_sync, reason = "loom's `spawn` takes it")]
            let shared = Real::new((UnsafeCell::new(1), AtomicUsize::new(0)));
            let done = Arc::new(AtomicUsize::new(0));
            let (theirs, tells) = (shared.clone(), done.clone());
            thread::spawn(move || {
                // SAFETY: 1. Nobody writes.
                theirs.0.with(|value| assert_eq!(unsafe { *value }, 1));
                drop(theirs);
                tells.store(1, Relaxed);
            });
            while done.load(Relaxed) == 0 {
                thread::yield_now();
            }
            drop(shared);
        }),
        1
    );
}
