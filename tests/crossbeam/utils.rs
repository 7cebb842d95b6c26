use interleave::cell::UnsafeCell;
use interleave::crossbeam::sync::{Parker, ShardedLock, WaitGroup};
use interleave::crossbeam::utils::{Backoff, CachePadded};
use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use interleave::{crossbeam, thread};

use crate::{complete, distinct, failure};

#[test]
fn tokens_are_not_lost() {
    let (count, _) = complete(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let parker = Parker::new();
        let (other, unparker) = (flag.clone(), parker.unparker().clone());
        let t = thread::spawn(move || {
            other.store(true, Relaxed);
            unparker.unpark();
        });
        parker.park();
        assert!(flag.load(Relaxed));
        t.join().unwrap();
    });
    assert_eq!(count, 1);
    assert!(failure(|| Parker::new().park()).starts_with("error[interleave::deadlock]"));
}

struct Shared(UnsafeCell<[u8; 3]>);
// SAFETY: 1. Each thread has an element of its own; the main thread reads them when all are done.
unsafe impl Sync for Shared {}

/// The order in which the handles are dropped is not explored.
#[test]
fn a_group_of_any_size_has_one_execution() {
    for threads in 1..4 {
        let count = distinct(move || {
            let group = WaitGroup::new();
            for _ in 0..threads {
                let group = group.clone();
                thread::spawn(move || {
                    // Cloned while others wait.
                    let inner = group.clone();
                    thread::spawn(move || drop(inner));
                    drop(group);
                });
            }
            group.wait();
        });
        assert_eq!(count, 1, "{threads}");
    }
    assert!(
        failure(|| {
            let group = WaitGroup::new();
            let _kept = group.clone();
            group.wait();
        })
        .starts_with("error[interleave::deadlock]")
    );
}

/// What was done before the handles were dropped comes before what is done after the wait: else this is a data race.
#[test]
fn a_group_orders_accesses() {
    complete(|| {
        let shared = Arc::new(Shared(UnsafeCell::new([0; 3])));
        let group = WaitGroup::new();
        let (other, its_group) = (shared.clone(), group.clone());
        let t = thread::spawn(move || {
            // SAFETY: 1. The main thread does not look before the group is done.
            other.0.with_mut(|data| unsafe { (*data)[0] = 1 });
            drop(its_group);
        });
        group.wait();
        // SAFETY: 1. The other thread has written.
        assert_eq!(shared.0.with(|data| unsafe { (*data)[0] }), 1);
        t.join().unwrap();
    });
}

#[test]
fn scopes_join_all_their_threads() {
    let (count, _) = complete(|| {
        let total = AtomicUsize::new(0);
        let result = crossbeam::thread::scope(|scope| {
            scope.spawn(|scope| {
                scope.spawn(|_| total.fetch_add(1, Relaxed));
            });
            scope.spawn(|_| 7).join().unwrap()
        });
        assert_eq!((result.unwrap(), total.load(Relaxed)), (7, 1));
    });
    assert_eq!(count, 1);
}

#[test]
fn a_sharded_lock_is_a_lock() {
    let (_, results) = complete(|| {
        let lock = Arc::new(ShardedLock::new(0));
        let other = lock.clone();
        let t = thread::spawn(move || *other.write().unwrap() += 1);
        let seen = *lock.read().unwrap();
        t.join().unwrap();
        (seen, *lock.read().unwrap())
    });
    assert_eq!(results, [(0, 1), (1, 1)]);
}

#[test]
fn backing_off_lets_others_go_on() {
    let (_, results) = complete(|| {
        let flag = Arc::new(CachePadded::new(AtomicBool::new(false)));
        let other = flag.clone();
        let t = thread::spawn(move || other.store(true, Relaxed));
        let backoff = Backoff::new();
        while !flag.load(Relaxed) {
            backoff.snooze();
        }
        t.join().unwrap();
        flag.load(Relaxed)
    });
    assert_eq!(results, [true]);
}
