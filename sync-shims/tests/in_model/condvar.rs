use std::time::Duration;

use sync_shims::model::sync::{Condvar, Mutex};
use sync_shims::model::thread;

use crate::controller::{Failed, Fake};

#[test]
fn a_wait_gives_the_mutex_back() {
    let model = Fake::new();
    let blocked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        model.run(|| {
            let (mutex, condvar) = (Mutex::new(()), Condvar::new());
            let _guard = condvar.wait(mutex.lock().unwrap());
        });
    }));
    assert_eq!(blocked.unwrap_err().downcast_ref::<Failed>().unwrap().0, "blocked");
    assert_eq!(
        model.log(),
        ["t0 Mutex::lock of 0", "t0 thread::wakes up spuriously", "t0 Condvar::wait of 1", "t0 Mutex::unlock of 0"]
    );
}

#[test]
fn timed_waits_time_out_when_nobody_notifies() {
    let model = Fake::new();
    model.run(|| {
        let (mutex, condvar) = (Mutex::new(0), Condvar::new());
        let guard = mutex.lock().unwrap();
        let (guard, result) = condvar.wait_timeout(guard, Duration::from_secs(1000)).unwrap();
        assert!(result.timed_out());
        let (guard, result) = condvar.wait_timeout_while(guard, Duration::from_secs(1000), |_| true).unwrap();
        assert!(result.timed_out());
        drop(guard);
        condvar.notify_one();
        condvar.notify_all();
        assert!(mutex.try_lock().is_ok());
    });
}

#[test]
fn a_spurious_wake_up_takes_the_mutex_again() {
    let model = Fake::new();
    model.choices.borrow_mut().push(1);
    model.run(|| {
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        let guard = condvar.wait(mutex.lock().unwrap()).unwrap();
        assert!(mutex.try_lock().is_err());
        drop(guard);
    });
    assert_eq!(
        model.log(),
        [
            "t0 Mutex::lock of 0",
            "t0 thread::wakes up spuriously",
            "t0 Mutex::unlock of 0",
            "t0 Mutex::lock again of 0",
            "t0 Mutex::try_lock of 0",
            "t0 Mutex::unlock of 0",
        ]
    );
}

#[test]
fn a_timed_wait_that_ends_spuriously_has_not_timed_out() {
    let model = Fake::new();
    model.choices.borrow_mut().push(1);
    model.run(|| {
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        let (guard, result) = condvar.wait_timeout(mutex.lock().unwrap(), Duration::ZERO).unwrap();
        assert!(!result.timed_out());
        let (_guard, result) = condvar.wait_timeout(guard, Duration::ZERO).unwrap();
        assert!(result.timed_out());
    });
}

#[test]
fn too_many_threads_are_said_to_be() {
    let model = Fake::new();
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        model.run(|| {
            for _ in 0..31 {
                thread::spawn(|| ()).join().unwrap();
            }
            let wait = || {
                let (mutex, condvar) = (Mutex::new(()), Condvar::new());
                drop(condvar.wait_timeout(mutex.lock().unwrap(), Duration::ZERO));
            };
            std::panic::resume_unwind(thread::spawn(wait).join().unwrap_err());
        });
    }));
    assert_eq!(payload.unwrap_err().downcast_ref::<Failed>().unwrap().0, "limit");
}
