//! What models find.

use interleave::parking_lot::{
    Condvar, FairMutex, Mutex, ReentrantMutex, RwLock, RwLockUpgradableReadGuard, const_mutex, const_rwlock,
};
use interleave::sync::Arc;
use interleave::{Builder, Kind, Verdict, model, thread};

use crate::{executions, failure, panic_message};

/// The report of a model that deadlocks.
fn deadlock(body: impl Fn() + Send + Sync) -> String {
    let (kind, report) = failure(body);
    assert_eq!(kind, Kind::Deadlock, "{report}");
    report
}

#[test]
fn whoever_locks_twice_waits_for_itself() {
    for body in [
        || {
            let mutex = Mutex::new(());
            let _both = (mutex.lock(), mutex.lock());
        },
        || {
            let mutex = FairMutex::new(());
            let _both = (mutex.lock(), mutex.lock());
        },
        || {
            let lock = RwLock::new(());
            let _both = (lock.read(), lock.write());
        },
        || {
            let lock = RwLock::new(());
            let _both = (lock.write(), lock.read_recursive());
        },
        || {
            let lock = RwLock::new(());
            let _both = (lock.upgradable_read(), lock.upgradable_read());
        },
        || {
            let lock = RwLock::new(());
            let _both = (lock.read(), RwLockUpgradableReadGuard::upgrade(lock.upgradable_read()));
        },
    ] {
        let report = deadlock(body);
        assert!(report.contains("thread `main` waits for itself"), "{report}");
    }
    assert_eq!(
        executions(|| {
            let mutex = ReentrantMutex::new(());
            let _both = (mutex.lock(), mutex.lock());
        }),
        1
    );
}

#[test]
fn locks_in_opposite_orders() {
    deadlock(|| {
        let locks = (ReentrantMutex::new(()), RwLock::new(()));
        thread::scope(|scope| {
            scope.spawn(|| drop((locks.1.write(), locks.0.lock())));
            drop((locks.0.lock(), locks.1.upgradable_read()));
        });
    });
}

/// The second read waits for the writer, which waits for the first. With `read_recursive` it does not: see
/// `counts::recursive_reading_while_a_writer_waits`.
#[test]
fn reading_while_reading() {
    let report = deadlock(|| {
        let lock = Arc::new(RwLock::new(0));
        let same = lock.clone();
        let writer = thread::spawn(move || *same.write() += 1);
        drop((lock.read(), lock.read()));
        writer.join().unwrap();
    });
    // What follows names the place of the replay file.
    let (explained, _) = report.split_once("  replay").expect("it can be replayed");
    insta::assert_snapshot!("reading_while_reading", explained);
}

/// The writer waits for the first reader, which waits for the second, which waits for the writer.
#[test]
fn reading_while_another_thread_reads_that_is_waited_for() {
    for second_by_number in [false, true] {
        deadlock(|| {
            let lock = RwLock::new(());
            thread::scope(|scope| {
                let read = || drop(lock.read());
                let early = second_by_number.then(|| scope.spawn(read));
                scope.spawn(|| drop(lock.write()));
                let late = (!second_by_number).then(|| scope.spawn(read));
                let _guard = lock.read();
                early.or(late).unwrap().join().unwrap();
            });
        });
    }
    executions(|| {
        let lock = RwLock::new(());
        thread::scope(|scope| {
            scope.spawn(|| drop(lock.write()));
            let reader = scope.spawn(|| drop(lock.read_recursive()));
            let _guard = lock.read();
            reader.join().unwrap();
        });
    });
}

#[test]
fn two_upgrades_by_readers() {
    // Each has the lock as a reader, and waits for the other.
    deadlock(|| {
        let lock = RwLock::new(());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let reader = lock.read();
                    let upgradable = lock.upgradable_read();
                    drop((RwLockUpgradableReadGuard::upgrade(upgradable), reader));
                });
            }
        });
    });
}

#[test]
fn a_notification_before_the_wait_is_lost() {
    let report = deadlock(|| {
        let pair = (Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| pair.1.notify_one());
            pair.1.wait(&mut pair.0.lock());
        });
    });
    assert!(report.contains("lost wake-up"), "{report}");
}

#[test]
fn notify_one_may_wake_the_wrong_one() {
    deadlock(|| {
        let (value, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|scope| {
            for wanted in [1, 2] {
                let (value, changed) = (&value, &changed);
                scope.spawn(move || {
                    changed.wait_while(&mut value.lock(), |value| *value != wanted);
                    *value.lock() = 2;
                    changed.notify_one();
                });
            }
            *value.lock() = 1;
            changed.notify_one();
        });
    });
}

#[test]
fn two_mutexes_of_one_condition_variable() {
    let (kind, report) = failure(|| {
        let (mutexes, changed) = ((Mutex::new(()), Mutex::new(())), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| changed.wait(&mut mutexes.0.lock()));
            scope.spawn(|| changed.wait(&mut mutexes.1.lock()));
            changed.notify_all();
        });
    });
    assert!(matches!(kind, Kind::Panic | Kind::Deadlock), "{report}");
    // One after the other is right.
    let count = executions(|| {
        let (mutexes, changed) = ((Mutex::new(false), Mutex::new(false)), Condvar::new());
        for mutex in [&mutexes.0, &mutexes.1] {
            thread::scope(|scope| {
                scope.spawn(|| changed.wait_while(&mut mutex.lock(), |set| !*set));
                *mutex.lock() = true;
                changed.notify_one();
            });
        }
    });
    assert_eq!(count, 4);
}

#[test]
fn what_is_not_held_cannot_be_given_back() {
    let bodies: [fn(); 3] = [
        // SAFETY: 1. None: this is the misuse that is to be found.
        || unsafe { Mutex::new(()).force_unlock() },
        // SAFETY: 1. As above.
        || unsafe { RwLock::new(()).force_unlock_read() },
        // SAFETY: 1. As above.
        || unsafe { RwLock::new(()).force_unlock_write_fair() },
    ];
    for body in bodies {
        let (kind, report) = failure(body);
        assert_eq!(kind, Kind::Panic);
        assert!(report.contains("the lock is not held, so it cannot be given back"), "{report}");
    }
}

#[test]
fn another_thread_may_unlock() {
    let count = executions(|| {
        let mutex = Mutex::new(0);
        std::mem::forget(mutex.lock());
        thread::scope(|scope| {
            // SAFETY: 1. The guard is forgotten.
            scope.spawn(|| unsafe { mutex.force_unlock() });
            *mutex.lock() += 1;
        });
    });
    assert_eq!(count, 1);
}

#[test]
fn what_is_held_in_a_model_ends_with_it() {
    static MUTEX: Mutex<u8> = const_mutex(1);
    static LOCK: RwLock<u8> = const_rwlock(1);
    model(|| {
        std::mem::forget((MUTEX.lock(), LOCK.read(), LOCK.read()));
        assert!(MUTEX.try_lock().is_none() && LOCK.try_write().is_none());
    });
    // SAFETY: 1. The guards are forgotten.
    unsafe {
        MUTEX.force_unlock();
        LOCK.force_unlock_read();
    }
    *MUTEX.try_lock().unwrap() += 1;
    *LOCK.try_write().unwrap() += 1;
    assert_eq!((*MUTEX.lock(), *LOCK.read()), (2, 2));
}

/// What is held outside is free in a model, as with std's locks; and is still held afterwards.
#[test]
fn what_is_held_outside_is_not_of_the_model() {
    let (mutex, lock) = (Mutex::new(1), RwLock::new(1));
    let guards = (mutex.lock(), lock.write());
    model(|| drop((mutex.lock(), lock.write())));
    assert!(mutex.try_lock().is_none() && lock.try_read().is_none());
    drop(guards);
    assert!(mutex.try_lock().is_some() && lock.try_read().is_some());
}

#[test]
fn use_from_outside_is_noticed() {
    static LOCK: RwLock<u8> = const_rwlock(0);
    let (mutex, lock, changed) = (Mutex::new(0), &LOCK, Condvar::new());
    let report = Builder::new().explore(|| {
        drop((mutex.lock(), lock.write()));
        changed.notify_one();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let message = panic_message(|| drop(mutex.lock()));
                assert!(message.starts_with("error[interleave::outside]: Mutex::lock from outside"), "{message}");
                let message = panic_message(|| drop(lock.try_write()));
                assert!(message.starts_with("error[interleave::outside]: RwLock::try_write from outside"), "{message}");
                let message = panic_message(|| changed.notify_all());
                assert!(
                    message.starts_with("error[interleave::outside]: Condvar::notify_all from outside"),
                    "{message}"
                );
            });
        });
    });
    assert_eq!(report.verdict, Verdict::Failed(Kind::Outside), "{report}");
}
