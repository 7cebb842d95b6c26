use interleave::cell::UnsafeCell;
use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::sync::{Arc, Mutex};
use interleave::{Kind, thread};

use crate::{executions, failure};

#[test]
fn a_count_that_does_not_matter_costs_nothing() {
    assert_eq!(
        executions(|| {
            let a = Arc::new(5);
            let handles: Vec<_> = (0..3)
                .map(|_| {
                    thread::spawn({
                        let a = a.clone();
                        move || assert_eq!(*a, 5)
                    })
                })
                .collect();
            handles.into_iter().for_each(|handle| handle.join().unwrap());
        }),
        1
    );
}

/// Whether the clone of the other thread is still there.
#[test]
fn a_count_that_is_asked_for_is_explored() {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let count = executions(|| {
        let a = Arc::new(5);
        let b = a.clone();
        let t = thread::spawn(move || drop(b));
        let count = Arc::strong_count(&a);
        seen.lock().unwrap().insert(count);
        t.join().unwrap();
    });
    assert_eq!((count, seen.into_inner().unwrap().into_iter().collect::<Vec<_>>()), (2, vec![1, 2]));
}

struct Last(Arc<AtomicUsize>);
impl Drop for Last {
    fn drop(&mut self) {
        self.0.store(thread::current().name().map_or(0, str::len), Relaxed);
    }
}

/// Each of the threads can be the last.
#[test]
fn a_drop_that_others_can_notice_is_explored() {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    executions(|| {
        let who = Arc::new(AtomicUsize::new(9));
        let a = Arc::new(Last(who.clone()));
        let spawn = |name: &str| {
            let a = a.clone();
            thread::Builder::new().name(name.into()).spawn(move || drop(a)).unwrap()
        };
        let handles = [spawn("x"), spawn("yy")];
        drop(a);
        for handle in handles {
            handle.join().unwrap();
        }
        let who = who.load(Relaxed);
        seen.lock().unwrap().insert(who);
    });
    assert_eq!(seen.into_inner().unwrap().into_iter().collect::<Vec<_>>(), [1, 2, 4]);
}

/// What the last handle drops was used by the others before, without any synchronisation but the count.
#[test]
fn the_count_orders_the_drop_after_every_use() {
    struct Shared(UnsafeCell<u32>);
    // SAFETY: 1. It is only read.
    unsafe impl Sync for Shared {}
    let body = |count: bool| {
        move || {
            let a = Arc::new(Shared(UnsafeCell::new(1)));
            let b = a.clone();
            // SAFETY: 1. Nobody writes.
            thread::spawn(move || b.0.with(|p| assert_eq!(unsafe { *p }, 1)));
            if count {
                assert!(Arc::strong_count(&a) > 0);
            }
            // SAFETY: 1. Nobody writes.
            a.0.with(|p| assert_eq!(unsafe { *p }, 1));
        }
    };
    assert_eq!(executions(body(false)), 1);
    assert_eq!(executions(body(true)), 3);
}

#[test]
fn upgrade_and_unwrap() {
    let count = executions(|| {
        let a = Arc::new(Mutex::new(1));
        let weak = Arc::downgrade(&a);
        let t = thread::spawn(move || weak.upgrade().map(|a| *a.lock().unwrap()));
        let own = Arc::try_unwrap(a);
        let seen = t.join().unwrap();
        assert!(own.is_ok() || seen.is_some());
    });
    assert_eq!(count, 3);
}

/// A reference count made by hand whose decrement is not a release.
#[test]
fn a_hand_made_count_without_release_is_a_race() {
    struct Counted {
        count: AtomicUsize,
        value: UnsafeCell<u32>,
    }
    struct Handle(*const Counted);
    // SAFETY: 1. As `Arc`, if the orderings were right.
    unsafe impl Send for Handle {}
    impl Drop for Handle {
        fn drop(&mut self) {
            // SAFETY: 1. The memory lives until the last handle is gone.
            if unsafe { &*self.0 }.count.fetch_sub(1, Relaxed) == 1 {
                // SAFETY: 1. As above.
                drop(unsafe { Box::from_raw(self.0.cast_mut()) });
            }
        }
    }
    let kind = failure(|| {
        let counted = Box::into_raw(Box::new(Counted { count: AtomicUsize::new(2), value: UnsafeCell::new(1) }));
        let (a, b) = (Handle(counted), Handle(counted));
        thread::spawn(move || {
            let b = b;
            // SAFETY: 1. The memory lives as long as the handle.
            unsafe { &*b.0 }.value.with(|p| assert_eq!(unsafe { *p }, 1));
        });
        drop(a);
    });
    assert_eq!(kind, Kind::DataRace);
}
