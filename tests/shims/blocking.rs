use std::time::Duration;

use interleave::sync::atomic::{AtomicBool, Ordering::Relaxed};
use interleave::sync::{Arc, Condvar, LazyLock, Mutex, Once, OnceLock};
use interleave::{Builder, Kind, Verdict, thread};

use crate::{executions, failure};

#[test]
fn a_condition_variable_hands_over() {
    let body = || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = pair.clone();
        let t = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let guard = pair.1.wait_while(pair.0.lock().unwrap(), |set| !*set).unwrap();
        assert!(*guard);
        drop(guard);
        t.join().unwrap();
    };
    assert_eq!(executions(body), 2);
    let report = Builder::new().explore(body);
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
}

#[test]
fn a_notification_before_the_wait_is_lost() {
    let kind = failure(|| {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let other = pair.clone();
        let t = thread::spawn(move || other.1.notify_one());
        drop(pair.1.wait(pair.0.lock().unwrap()).unwrap());
        t.join().unwrap();
    });
    assert_eq!(kind, Kind::Deadlock);
}

#[test]
fn notify_one_may_wake_the_wrong_one() {
    let kind = failure(|| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let waiter = |wanted: u32| {
            let shared = shared.clone();
            thread::spawn(move || drop(shared.1.wait_while(shared.0.lock().unwrap(), |v| *v != wanted).unwrap()))
        };
        let waiters = [waiter(1), waiter(1)];
        *shared.0.lock().unwrap() = 1;
        shared.1.notify_one();
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
    assert_eq!(kind, Kind::Deadlock);
}

#[test]
fn a_timed_wait_never_deadlocks() {
    let outcomes = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let count = executions(|| {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let other = pair.clone();
        let t = thread::spawn(move || other.1.notify_one());
        let (_guard, result) = pair.1.wait_timeout(pair.0.lock().unwrap(), Duration::from_secs(1)).unwrap();
        outcomes.lock().unwrap().insert(result.timed_out());
        drop(_guard);
        t.join().unwrap();
    });
    assert_eq!((count, outcomes.into_inner().unwrap().len()), (3, 2));
}

#[test]
fn spurious_wake_ups_are_found() {
    let kind = failure(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = pair.clone();
        let t = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut guard = pair.0.lock().unwrap();
        if !*guard {
            guard = pair.1.wait(guard).unwrap();
            assert!(*guard);
        }
        drop(guard);
        t.join().unwrap();
    });
    assert_eq!(kind, Kind::Panic);
}

#[test]
fn tokens_are_not_lost() {
    let body = || {
        let flag = Arc::new(AtomicBool::new(false));
        let (other, me) = (flag.clone(), thread::current());
        let t = thread::spawn(move || {
            other.store(true, Relaxed);
            me.unpark();
        });
        while !flag.load(Relaxed) {
            thread::park();
        }
        t.join().unwrap();
    };
    executions(body);
    assert_eq!(Builder::new().explore(body).verdict, Verdict::Complete);
}

#[test]
fn a_park_that_nobody_ends_is_a_deadlock() {
    assert_eq!(failure(thread::park), Kind::Deadlock);
    assert_eq!(executions(|| thread::park_timeout(Duration::from_secs(1))), 1);
}

#[test]
fn whoever_locks_twice_waits_for_itself() {
    let kind = failure(|| {
        let mutex = Mutex::new(());
        let _guard = mutex.lock();
        let _again = mutex.lock();
    });
    assert_eq!(kind, Kind::Deadlock);
}

#[test]
fn locks_in_opposite_orders_deadlock() {
    let kind = failure(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = locks.clone();
        let t = thread::spawn(move || {
            let _b = other.1.lock().unwrap();
            let _a = other.0.lock().unwrap();
        });
        {
            let _a = locks.0.lock().unwrap();
            let _b = locks.1.lock().unwrap();
        }
        t.join().unwrap();
    });
    assert_eq!(kind, Kind::Deadlock);
}

/// Each of the threads can be the first; the others only look.
#[test]
fn initialisation_has_one_execution_a_winner() {
    for threads in 1..4 {
        let winners = executions(|| {
            let lock = Arc::new(OnceLock::new());
            let handles: Vec<_> = (0..threads)
                .map(|i| {
                    let lock = lock.clone();
                    thread::spawn(move || *lock.get_or_init(|| i))
                })
                .collect();
            let seen: Vec<_> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
            assert!(seen.iter().all(|i| i == lock.get().unwrap()));
        });
        assert_eq!(winners, threads);
    }
    let lazy = executions(|| {
        let lazy = Arc::new(LazyLock::new(|| 5));
        let other = lazy.clone();
        let t = thread::spawn(move || assert_eq!(**other, 5));
        assert_eq!(**lazy, 5);
        t.join().unwrap();
    });
    assert_eq!(lazy, 2);
}

#[test]
fn a_once_that_waits_for_itself_is_a_deadlock() {
    let kind = failure(|| {
        let once = Once::new();
        once.call_once(|| once.call_once(|| ()));
    });
    assert_eq!(kind, Kind::Deadlock);
}

/// Nobody notifies: a timed wait times out, or ends for no reason if there is a budget for that.
#[test]
fn timed_waits_end_spuriously_too() {
    let seen = |budget| {
        let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
        let report = Builder::new().spurious(budget).explore(|| {
            let (mutex, condvar) = (Mutex::new(()), Condvar::new());
            let (_guard, result) = condvar.wait_timeout(mutex.lock().unwrap(), Duration::from_secs(1)).unwrap();
            seen.lock().unwrap().insert(result.timed_out());
        });
        assert!(report.failure.is_none(), "{report}");
        seen.into_inner().unwrap().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(seen(0), [true]);
    assert_eq!(seen(1), [false, true]);
}
