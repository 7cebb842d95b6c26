use std::sync::atomic::AtomicIsize;

use interleave::cell::UnsafeCell;
use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::sync::{Arc, Mutex, Weak};
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

/// A value that counts how many there are of it, in memory that no model knows.
struct Dropped(std::sync::Arc<AtomicIsize>);
impl Dropped {
    fn new() -> (Self, std::sync::Arc<AtomicIsize>) {
        let alive = std::sync::Arc::new(AtomicIsize::new(1));
        (Dropped(alive.clone()), alive)
    }
    fn is_alive(&self) -> bool {
        self.0.load(Relaxed) > 0
    }
}
impl Clone for Dropped {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Relaxed);
        Dropped(self.0.clone())
    }
}
impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Which handle is the last is decided while others are in the middle of theirs.
#[test]
fn upgrades_in_three_threads() {
    for reversed in [false, true] {
        let count = executions(|| {
            let (value, alive) = Dropped::new();
            let a = Arc::new(value);
            let w: Weak<_> = Arc::downgrade(&a);
            let (w1, w2) = (w.clone(), w.clone());
            let (a1, a2) = (a.clone(), a.clone());
            let upgrade = |w: &Weak<Dropped>| w.upgrade().is_none_or(|a| a.is_alive());
            let t1 = thread::spawn(move || {
                let _a = a1;
                assert!(upgrade(&w1));
            });
            let t2 = thread::spawn(move || {
                drop(a2);
                assert!(upgrade(&w2));
            });
            if reversed {
                drop(a);
                assert!(upgrade(&w));
            } else {
                assert!(upgrade(&w));
                drop(a);
            }
            t1.join().unwrap();
            t2.join().unwrap();
            drop(w);
            assert_eq!(alive.load(Relaxed), 0);
        });
        assert!(count > 1000, "{count}");
    }
}

/// The memory goes with the last weak handle, whoever has it, also after the value.
#[test]
fn weak_handles_outlive_the_value() {
    executions(|| {
        let (value, alive) = Dropped::new();
        let a = Arc::new(value);
        let w = Arc::downgrade(&a);
        let threads = [w.clone(), w.clone()].map(|w| {
            thread::spawn(move || {
                let again = w.clone();
                drop(w);
                assert!(again.upgrade().is_none_or(|a| a.is_alive()));
            })
        });
        drop(a);
        drop(w);
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(alive.load(Relaxed), 0);
    });
}

/// Nobody gets the value exclusively while a weak handle could be upgraded.
#[test]
fn get_mut_misses_no_weak_handle() {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    executions(|| {
        let mut a = Arc::new(5);
        let b = a.clone();
        let t = thread::spawn(move || {
            let w = Arc::downgrade(&b);
            drop(b);
            w
        });
        let unique = Arc::get_mut(&mut a).is_some();
        seen.lock().unwrap().insert(unique);
        let w = t.join().unwrap();
        assert!(!unique && w.upgrade().is_some());
    });
    assert_eq!(seen.into_inner().unwrap().into_iter().collect::<Vec<_>>(), [false]);
}

#[test]
fn owners_against_a_weak_handle() {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    for way in 0..4 {
        executions(|| {
            let (value, alive) = Dropped::new();
            let a = Arc::new(value);
            let w = Arc::downgrade(&a);
            let t = thread::spawn(move || w.upgrade().map(|a| a.is_alive()));
            let mut a = Some(a);
            let got = match way {
                0 => Arc::get_mut(a.as_mut().unwrap()).is_some(),
                1 => {
                    let a = a.as_mut().unwrap();
                    let before = Arc::as_ptr(a);
                    _ = Arc::make_mut(a);
                    before == Arc::as_ptr(a)
                }
                2 => Arc::try_unwrap(a.take().unwrap()).is_ok(),
                _ => Arc::into_inner(a.take().unwrap()).is_some(),
            };
            drop(a);
            let upgraded = t.join().unwrap();
            assert_ne!(upgraded, Some(false));
            assert_eq!(alive.load(Relaxed), 0);
            seen.lock().unwrap().insert((way, got, upgraded.is_some()));
        });
    }
    let seen: Vec<_> = seen.into_inner().unwrap().into_iter().collect();
    assert_eq!(
        seen,
        [
            // The weak handle is in the way of `get_mut` as long as it exists.
            (0, false, false),
            (0, false, true),
            (0, true, true),
            // `make_mut` keeps the value in its place only if there is no weak handle left; meanwhile nobody can upgrade.
            (1, false, false),
            (1, false, true),
            (1, true, false),
            (1, true, true),
            (2, false, true),
            (2, true, false),
            (2, true, true),
            // One of two strong handles gets the value.
            (3, false, true),
            (3, true, false),
            (3, true, true),
        ]
    );
}

/// A weak handle that gets to another thread before there is a value.
#[test]
fn a_cyclic_one_is_upgraded_once_it_is_made() {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    executions(|| {
        let thread = std::cell::Cell::new(None);
        let a = Arc::new_cyclic(|me| {
            let me = me.clone();
            thread.set(Some(thread::spawn(move || me.upgrade().map(|a: Arc<u8>| *a))));
            7
        });
        assert!(Arc::weak_count(&a) <= 1);
        let upgraded = thread.take().unwrap().join().unwrap();
        assert_eq!((Arc::strong_count(&a), Arc::weak_count(&a)), (1, 0));
        seen.lock().unwrap().insert(upgraded);
    });
    assert_eq!(seen.into_inner().unwrap().into_iter().collect::<Vec<_>>(), [None, Some(7)]);
}

/// Every execution is cut short at another place, and leaves nothing behind.
#[test]
fn executions_that_are_cut_short_drop_the_value() {
    for way in 0..4 {
        let all = std::sync::Mutex::new(Vec::new());
        let kind = failure(|| {
            let (value, alive) = Dropped::new();
            all.lock().unwrap().push(alive);
            let mut a = Arc::new(value);
            let w = Arc::downgrade(&a);
            let b = a.clone();
            let t = thread::spawn(move || drop((w.upgrade(), w.clone())));
            let u = thread::spawn(move || assert_ne!(Arc::strong_count(&b), 1 + way % 3));
            if way == 3 {
                drop(Arc::make_mut(&mut a).clone());
            }
            drop(a);
            t.join().unwrap();
            u.join().unwrap();
        });
        assert_eq!(kind, Kind::Panic);
        assert!(all.into_inner().unwrap().iter().all(|alive| alive.load(Relaxed) == 0));
    }
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
