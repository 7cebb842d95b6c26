//! Exact numbers of executions.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use interleave::parking_lot::lock_api;
use interleave::parking_lot::{
    ArcMutexGuard, ArcRwLockWriteGuard, Condvar, FairMutex, FairMutexGuard, Mutex, MutexGuard, Once, OnceState,
    RawMutex, RawRwLock, ReentrantMutex, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard, const_mutex,
    const_reentrant_mutex, const_rwlock,
};
use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicBool, Ordering};
use interleave::{hint, thread};

use crate::executions;

/// Runs the closures as threads of a model and waits for them.
fn threads<const N: usize>(bodies: [&(dyn Fn() + Sync); N]) {
    thread::scope(|scope| {
        for body in bodies {
            scope.spawn(body);
        }
    });
}

/// The executions in which `bodies` with a fresh `T` each time end, and what they come to.
fn explored<T: Sync, O: Ord + Clone + Send>(
    new: impl Fn() -> T + Send + Sync,
    first: impl Fn(&T) -> O + Send + Sync,
    second: impl Fn(&T) -> O + Send + Sync,
) -> (u64, BTreeSet<(O, O)>) {
    let seen = std::sync::Mutex::new(BTreeSet::new());
    let count = executions(|| {
        let shared = new();
        let results = thread::scope(|scope| {
            let second = scope.spawn(|| second(&shared));
            let first = scope.spawn(|| first(&shared));
            (first.join().unwrap(), second.join().unwrap())
        });
        seen.lock().unwrap().insert(results);
    });
    (count, seen.into_inner().unwrap())
}

/// `(n * k)! / (k!)^n`: the orders of `k` sections of each of `n` threads.
fn orders(n: u64, k: u64) -> u64 {
    let factorial = |m: u64| (1..=m).product::<u64>();
    factorial(n * k) / factorial(k).pow(n as u32)
}

#[test]
fn sections_of_a_mutex() {
    for (n, k) in [(2u32, 1u32), (2, 2), (2, 3), (3, 1), (3, 2)] {
        let sections = |section: &(dyn Fn() + Sync)| {
            thread::scope(|scope| {
                for _ in 0..n {
                    scope.spawn(|| (0..k).for_each(|_| section()));
                }
            });
        };
        let plain = executions(|| {
            let mutex = Mutex::new(0);
            sections(&|| *mutex.lock() += 1);
            assert_eq!(mutex.into_inner(), n * k);
        });
        let fair = executions(|| {
            let mutex = FairMutex::new(0);
            sections(&|| {
                let mut guard = mutex.lock();
                *guard += 1;
                FairMutexGuard::unlock_fair(guard);
            });
            assert_eq!(mutex.into_inner(), n * k);
        });
        let reentrant = executions(|| {
            let mutex = ReentrantMutex::new(Cell::new(0));
            sections(&|| {
                let outer = mutex.lock();
                let inner = mutex.lock();
                inner.set(outer.get() + 1);
            });
            assert_eq!(mutex.into_inner().get(), n * k);
        });
        let expected = orders(u64::from(n), u64::from(k));
        assert_eq!((plain, fair, reentrant), (expected, expected, expected), "{n} threads, {k} sections");
    }
}

/// One thread has two sections, the other one: 3! / 2!.
#[test]
fn giving_the_lock_away_makes_two_sections() {
    let bump = |mutex: &Mutex<u32>| {
        let mut guard = mutex.lock();
        *guard += 1;
        MutexGuard::bump(&mut guard);
        *guard += 1;
    };
    let unlocked = |mutex: &Mutex<u32>| {
        let mut guard = mutex.lock();
        *guard += 1;
        MutexGuard::unlocked(&mut guard, || ());
        *guard += 1;
    };
    for first in [bump, unlocked] {
        let (count, _) = explored(|| Mutex::new(0), first, |mutex| *mutex.lock() += 1);
        assert_eq!(count, 3);
    }
}

/// The other thread comes before, during or after the section; only during it is the lock not had.
#[test]
fn who_does_not_wait_sees_all_states() {
    let section = |mutex: &Mutex<()>| {
        drop(mutex.lock());
        true
    };
    let tries: [fn(&Mutex<()>) -> bool; 3] = [
        |mutex| mutex.try_lock().is_some(),
        |mutex| mutex.try_lock_for(Duration::from_secs(1)).is_some(),
        |mutex| !mutex.is_locked(),
    ];
    for try_lock in tries {
        assert_eq!(explored(|| Mutex::new(()), section, try_lock), (3, [(true, false), (true, true)].into()));
    }
}

#[test]
fn arc_guards() {
    let count = executions(|| {
        let mutex = Arc::new(Mutex::new(0));
        let lock = Arc::new(RwLock::new(0));
        let (other_mutex, other_lock) = (mutex.clone(), lock.clone());
        let t = thread::spawn(move || {
            let mut guard: ArcMutexGuard<RawMutex, i32> = other_mutex.lock_arc();
            *guard += 1;
            drop(guard);
            let mut guard: ArcRwLockWriteGuard<RawRwLock, i32> = other_lock.write_arc();
            *guard += 1;
        });
        *mutex.lock_arc() += 1;
        *lock.write_arc() += 1;
        t.join().unwrap();
        assert_eq!((*mutex.lock(), *lock.read()), (2, 2));
    });
    assert_eq!(count, 4);
}

/// The order of readers is not explored: the writers come in one of w! orders, and each reader after some number of them.
#[test]
fn readers_and_writers() {
    for (readers, writers, expected) in [(1, 1, 2), (2, 1, 4), (3, 1, 8), (2, 2, 18), (1, 3, 24)] {
        let count = executions(|| {
            let lock = RwLock::new(0);
            thread::scope(|scope| {
                for _ in 0..readers {
                    scope.spawn(|| assert!(*lock.read() <= writers));
                }
                for _ in 0..writers {
                    scope.spawn(|| *lock.write() += 1);
                }
            });
        });
        assert_eq!(count, expected, "{readers} readers, {writers} writers");
    }
}

/// A reader that does something meanwhile: the writer comes before it, after it, or waits for it, each kept apart.
#[test]
fn readers_that_do_something_and_a_writer() {
    for (readers, expected) in [(1, 3), (2, 9)] {
        let count = executions(|| {
            let lock = RwLock::new(());
            thread::scope(|scope| {
                for _ in 0..readers {
                    scope.spawn(|| {
                        let own = Mutex::new(());
                        let _both = (lock.read(), own.lock());
                    });
                }
                scope.spawn(|| drop(lock.write()));
            });
        });
        assert_eq!(count, expected);
    }
}

/// As one object, since readers are recursive: of the 6 orders of lock and unlock of two readers, 2 have one reader after the
/// other. A writer can claim the lock at any of 5 points; recursive readers go past it when it waits for the other reader.
/// Readers that are not recursive do not: in 4 orders, the claim cannot be between the two locks.
#[test]
fn two_readers_and_a_writer_of_one_object() {
    let recursive = executions(|| {
        let lock = RwLock::new(0);
        threads([&|| drop(lock.read_recursive()), &|| drop(lock.read_recursive()), &|| drop(lock.write())]);
    });
    let plain = executions(|| {
        let lock = RwLock::new(0);
        // A look from one thread, before the others begin.
        assert!(!lock.is_locked());
        threads([&|| drop(lock.read()), &|| drop(lock.read()), &|| drop(lock.write())]);
    });
    assert_eq!((recursive, plain), (30, 26));
}

/// The writer comes before the other two, or between lock and unlock of any of them, as above with nested locks: 5 points.
#[test]
fn recursive_reading_while_a_writer_waits() {
    let (count, _) = explored(
        || RwLock::new(0),
        |lock| {
            let outer = lock.read_recursive();
            assert_eq!(*lock.read_recursive(), *outer);
        },
        |lock| *lock.write() += 1,
    );
    assert_eq!(count, 5);
}

/// U upgradable, G upgrade, R reader, each with its end in lower case: `R r` before U, around it (R U r G, U R r G), with the
/// upgrade waiting (R U G r, U R G r) or after everything: R r U G, R U r G, R U G r, U R r G, U R G r, U G R r.
#[test]
fn an_upgrade_and_a_reader() {
    let (count, seen) = explored(
        || RwLock::new(0),
        |lock| {
            let guard = lock.upgradable_read();
            let before = *guard;
            let mut guard = RwLockUpgradableReadGuard::upgrade(guard);
            assert_eq!(*guard, before);
            *guard += 1;
            before
        },
        |lock| *lock.read(),
    );
    assert_eq!((count, seen), (6, [(0, 0), (0, 1)].into()));
}

/// The reader is in at `try_upgrade` in 2 * 2 orders: it begins before or after the upgradable one, and ends before or after
/// that does. It is not in 3 + 1: it was before, in 3 orders, or comes after all.
#[test]
fn a_try_upgrade_and_a_reader() {
    let (count, seen) = explored(
        || RwLock::new(()),
        |lock| RwLockUpgradableReadGuard::try_upgrade(lock.upgradable_read()).is_ok(),
        |lock| lock.read().eq(&()),
    );
    assert_eq!((count, seen), (8, [(false, true), (true, true)].into()));
}

#[test]
fn upgradable_readers_exclude_each_other() {
    let add = |lock: &RwLock<u32>| {
        let guard = lock.upgradable_read();
        let seen = *guard;
        *RwLockUpgradableReadGuard::upgrade(guard) = seen + 1;
        seen
    };
    assert_eq!(explored(|| RwLock::new(0), add, add), (2, [(0, 1), (1, 0)].into()));
}

/// After the downgrade the other is let in; before, it is not: the reader comes first (around the claim or not), while the
/// thread reads, or after.
#[test]
fn a_downgrade_lets_readers_in() {
    let (count, seen) = explored(
        || RwLock::new(0),
        |lock| {
            let mut guard = lock.write();
            *guard = 1;
            let guard = RwLockWriteGuard::downgrade(guard);
            assert_eq!(*guard, 1);
            *guard
        },
        |lock| *lock.read(),
    );
    // C claim, D downgrade, d the end: R r C D d, R C r D d, C D R r d, C D R d r, C D d R r.
    assert_eq!((count, seen), (5, [(1, 0), (1, 1)].into()));
}

/// As for a writer that waits, and one more in which it gives up while the reader is in.
#[test]
fn a_timed_writer_gives_up_its_claim() {
    let (count, seen) = explored(
        || RwLock::new(()),
        |lock| lock.try_write_for(Duration::from_secs(1)).is_some(),
        |lock| lock.read().eq(&()),
    );
    assert_eq!((count, seen), (4, [(false, true), (true, true)].into()));
}

/// `try_read` fails while a writer waits for another reader, although nobody writes.
#[test]
fn a_claim_can_be_seen() {
    let seen = std::sync::Mutex::new(BTreeSet::new());
    executions(|| {
        let lock = RwLock::new(());
        let reader = lock.read();
        thread::scope(|scope| {
            scope.spawn(|| drop(lock.write()));
            let (plain, recursive) = (lock.try_read().is_some(), lock.try_read_recursive().is_some());
            seen.lock().unwrap().insert((plain, recursive));
            drop(reader);
        });
    });
    assert_eq!(seen.into_inner().unwrap(), [(false, true), (true, true)].into());
}

/// No spurious wake-ups: either the value is set before the other looks, or it waits and is notified.
#[test]
fn a_condition_variable_hands_over() {
    let (count, seen) = explored(
        || (Mutex::new(false), Condvar::new()),
        |(set, changed)| {
            *set.lock() = true;
            changed.notify_one()
        },
        |(set, changed)| {
            let mut guard = set.lock();
            let waits = !*guard;
            if waits {
                changed.wait(&mut guard);
            }
            assert!(*guard);
            waits
        },
    );
    assert_eq!((count, seen), (2, [(false, false), (true, true)].into()));
}

/// The notification comes before the wait, wakes it, or comes after it has timed out.
#[test]
fn a_timed_wait_may_time_out() {
    let (count, seen) = explored(
        || (Mutex::new(()), Condvar::new()),
        |(_, changed)| changed.notify_all(),
        |(mutex, changed)| usize::from(!changed.wait_for(&mut mutex.lock(), Duration::from_secs(1)).timed_out()),
    );
    assert_eq!((count, seen), (3, [(0, 0), (1, 1)].into()));
}

/// A time that the clock does not have never comes.
#[test]
fn a_wait_without_end_does_not_time_out() {
    let (count, seen) = explored(
        || (Mutex::new(false), Condvar::new()),
        |(set, changed)| {
            *set.lock() = true;
            changed.notify_one();
        },
        |(set, changed)| assert!(!changed.wait_while_for(&mut set.lock(), |set| !*set, Duration::MAX).timed_out()),
    );
    assert_eq!((count, seen.len()), (2, 1));
}

#[test]
fn once_has_one_execution_a_winner() {
    for n in 1..4 {
        let count = executions(|| {
            let (once, calls) = (Once::new(), Mutex::new(0));
            thread::scope(|scope| {
                for _ in 0..n {
                    scope.spawn(|| {
                        once.call_once(|| *calls.lock() += 1);
                        assert_eq!(once.state(), OnceState::Done);
                    });
                }
            });
            assert_eq!(calls.into_inner(), 1);
        });
        assert_eq!(count, n);
    }
}

#[test]
fn statics_are_fresh() {
    static MUTEX: Mutex<Vec<u32>> = const_mutex(Vec::new());
    static LOCK: RwLock<u32> = const_rwlock(0);
    static REENTRANT: ReentrantMutex<Cell<u32>> = const_reentrant_mutex(Cell::new(0));
    let count = executions(|| {
        let t = thread::spawn(|| MUTEX.lock().push(1));
        MUTEX.lock().push(2);
        t.join().unwrap();
        assert_eq!(MUTEX.lock().len(), 2);
        *LOCK.write() += 1;
        assert_eq!(*LOCK.read(), 1);
        // Held for ever: the owner is a thread of this execution, and of no other one.
        assert!(!REENTRANT.is_owned_by_current_thread());
        let guard = REENTRANT.lock();
        guard.set(guard.get() + 1);
        assert_eq!(guard.get(), 1);
        std::mem::forget(guard);
    });
    assert_eq!(count, 2);
}

/// The raw locks are explored in the types of the crate lock_api itself, too.
#[test]
fn raw_locks_in_other_types() {
    let (count, seen) = explored(
        || parking_lot::lock_api::Mutex::<RawMutex, u32>::new(0),
        |mutex| std::mem::replace(&mut *mutex.lock(), 1),
        |mutex| std::mem::replace(&mut *mutex.lock(), 2),
    );
    assert_eq!((count, seen), (2, [(0, 1), (2, 0)].into()));
}

/// And the types take other raw locks: they are as explored as what those are made of.
#[test]
fn other_raw_locks() {
    struct Spin(AtomicBool);
    // SAFETY: 1. Who sets the flag holds it.
    unsafe impl lock_api::RawMutex for Spin {
        const INIT: Self = Spin(AtomicBool::new(false));
        type GuardMarker = lock_api::GuardSend;
        fn lock(&self) {
            while !self.try_lock() {
                hint::spin_loop();
            }
        }
        fn try_lock(&self) -> bool {
            !self.0.swap(true, Ordering::Acquire)
        }
        unsafe fn unlock(&self) {
            self.0.store(false, Ordering::Release);
        }
    }
    let new = || lock_api::Mutex::<Spin, u32>::new(0);
    let (_, seen) = explored(
        new,
        |mutex| std::mem::replace(&mut *mutex.lock(), 1),
        |mutex| std::mem::replace(&mut *mutex.lock(), 2),
    );
    assert_eq!(seen, [(0, 1), (2, 0)].into());
}
