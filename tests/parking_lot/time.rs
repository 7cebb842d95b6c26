//! Timeouts move the clock of a model.

use interleave::parking_lot::{Condvar, Mutex, RwLock, RwLockUpgradableReadGuard};
use interleave::sync::Arc;
use interleave::thread;

use crate::timed::{SECOND, comes_to, takes};

#[test]
fn a_lock_that_cannot_be_had_takes_its_time() {
    comes_to(1, &["1s false"], || {
        let lock = Mutex::new(());
        let _guard = lock.lock();
        takes(|_| lock.try_lock_for(SECOND).is_some())
    });
    comes_to(1, &["1s false"], || {
        let lock = Mutex::new(());
        let _guard = lock.lock();
        takes(|start| lock.try_lock_until(start + SECOND).is_some())
    });
    comes_to(1, &["4s (false, false, false)"], || {
        let lock = RwLock::new(());
        let _guard = lock.read();
        takes(|start| {
            let write = lock.try_write_for(SECOND).is_some();
            let until = lock.try_write_until(start + 2 * SECOND).is_some();
            let upgrade = RwLockUpgradableReadGuard::try_upgrade_for(lock.upgradable_read(), 2 * SECOND).is_ok();
            (write, until, upgrade)
        })
    });
    comes_to(1, &["2s (false, false)"], || {
        let lock = RwLock::new(());
        let _guard = lock.write();
        takes(|_| (lock.try_read_for(SECOND).is_some(), lock.try_upgradable_read_for(SECOND).is_some()))
    });
}

/// It is had before the other thread has it, in vain while that has it, or had after that.
#[test]
fn a_lock_that_is_had_takes_none() {
    comes_to(3, &["0ns true", "1s false"], || {
        let lock = Arc::new(Mutex::new(0));
        let same = lock.clone();
        let other = thread::spawn(move || *same.lock() += 1);
        let taken = takes(|_| lock.try_lock_for(SECOND).is_some());
        other.join().unwrap();
        taken
    });
}

#[test]
fn a_wait_that_times_out_takes_its_time() {
    comes_to(1, &["1s true"], || {
        let (lock, changed) = (Mutex::new(()), Condvar::new());
        takes(|_| changed.wait_for(&mut lock.lock(), SECOND).timed_out())
    });
    comes_to(1, &["2s true"], || {
        let (lock, changed) = (Mutex::new(()), Condvar::new());
        takes(|start| changed.wait_while_until(&mut lock.lock(), |()| true, start + 2 * SECOND).timed_out())
    });
}

/// However often it is woken for nothing, it does not take longer.
#[test]
fn one_wait_of_several_calls_ends_once() {
    comes_to(3, &["1s true"], || {
        let (lock, changed) = (Mutex::new(()), Arc::new(Condvar::new()));
        let same = changed.clone();
        let other = thread::spawn(move || same.notify_one());
        let taken = takes(|_| changed.wait_while_for(&mut lock.lock(), |()| true, SECOND).timed_out());
        other.join().unwrap();
        taken
    });
}
