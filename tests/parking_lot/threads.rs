// What the types do in threads of the operating system, which only happens outside a model.

use std::thread;
use time::{Duration, Instant};

use lib::{Condvar, Mutex, MutexGuard, Once, ReentrantMutex, RwLock, RwLockUpgradableReadGuard, const_mutex};

use crate::panic_message;

#[test]
fn locks_exclude_each_other() {
    static TOTAL: Mutex<u32> = const_mutex(0);
    let lock = RwLock::new(0);
    let reentrant = ReentrantMutex::new(std::cell::Cell::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    *TOTAL.lock() += 1;
                    *lock.write() += 1;
                    *RwLockUpgradableReadGuard::upgrade(lock.upgradable_read()) += 1;
                    let outer = reentrant.lock();
                    let inner = reentrant.lock();
                    inner.set(outer.get() + 1);
                }
            });
        }
    });
    assert_eq!((*TOTAL.lock(), *lock.read(), reentrant.lock().get()), (800, 1600, 800));
}

#[test]
fn a_reentrant_mutex_belongs_to_a_thread() {
    let mutex = ReentrantMutex::new(());
    let guard = mutex.lock();
    thread::scope(|scope| {
        scope.spawn(|| assert!(mutex.try_lock().is_none() && mutex.is_locked() && !mutex.is_owned_by_current_thread()));
    });
    drop(guard);
    thread::scope(|scope| {
        scope.spawn(|| assert!(mutex.try_lock().is_some()));
    });
}

#[test]
fn condition_variables_count_whom_they_wake() {
    let (waiting, changed, pair) = (Mutex::new(0), Condvar::new(), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut guard = waiting.lock();
                *guard += 1;
                pair.notify_one();
                changed.wait(&mut guard);
                *guard -= 1;
            });
        }
        pair.wait_while(&mut waiting.lock(), |waiting| *waiting != 3);
        let guard = waiting.lock();
        assert!(changed.notify_one());
        assert_eq!((changed.notify_all(), changed.notify_all()), (2, 0));
        drop(guard);
    });
    assert_eq!(waiting.into_inner(), 0);
}

#[test]
fn a_condition_variable_takes_one_mutex_at_a_time() {
    #[derive(PartialEq)]
    enum Stage {
        Begin,
        Waits,
        Done,
    }
    let (mutex, changed) = (Mutex::new(Stage::Begin), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = mutex.lock();
            *guard = Stage::Waits;
            changed.wait_while(&mut guard, |stage| *stage != Stage::Done);
        });
        while *mutex.lock() != Stage::Waits {
            thread::yield_now();
        }
        let other = Mutex::new(());
        let message = panic_message(|| changed.wait(&mut other.lock()));
        assert_eq!(message, "attempted to use a condition variable with more than one mutex");
        assert!(!other.is_locked());
        *mutex.lock() = Stage::Done;
        changed.notify_all();
    });
}

#[test]
fn a_fair_unlock_hands_over() {
    let mutex = Mutex::new(0);
    let end = Instant::now() + Duration::from_secs(20);
    thread::scope(|scope| {
        let mut guard = mutex.lock();
        scope.spawn(|| *mutex.lock() = 1);
        while *guard == 0 && Instant::now() < end {
            MutexGuard::bump(&mut guard);
        }
        assert_eq!(*guard, 1);
    });
}

#[test]
fn everybody_waits_for_once() {
    let (once, value) = (Once::new(), Mutex::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                once.call_once(|| {
                    thread::sleep(Duration::from_millis(5));
                    *value.lock() += 1;
                });
                assert_eq!(*value.lock(), 1);
            });
        }
    });
    panic_message(|| Once::new().call_once(|| panic!("in the closure")));
}
