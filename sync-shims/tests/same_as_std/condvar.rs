// `std::sync::Condvar`.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use lib::sync::{Condvar, Mutex, WaitTimeoutResult};

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn traits() {
    assert_impl!(Condvar: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Default);
    assert_impl!(WaitTimeoutResult: Copy + Eq + Debug);
    static CONST: Condvar = Condvar::new();
    assert_eq!(format!("{CONST:?}"), "Condvar { .. }");
}

#[test]
fn waits_end_when_notified() {
    let (flag, condvar) = (Mutex::new(false), Condvar::default());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = flag.lock().unwrap();
            while !*guard {
                guard = condvar.wait(guard).unwrap();
            }
        });
        scope.spawn(|| drop(condvar.wait_while(flag.lock().unwrap(), |set| !*set).unwrap()));
        scope.spawn(|| {
            let long = Duration::from_secs(1000);
            let (guard, result) = condvar.wait_timeout_while(flag.lock().unwrap(), long, |set| !*set).unwrap();
            assert!(*guard && !result.timed_out());
        });
        *flag.lock().unwrap() = true;
        condvar.notify_one();
        condvar.notify_all();
    });
}

#[test]
#[allow(deprecated)]
fn timed_waits_time_out() {
    let (flag, condvar) = (Mutex::new(false), Condvar::new());
    let guard = flag.lock().unwrap();
    let (guard, result) = condvar.wait_timeout_while(guard, SHORT, |set| !*set).unwrap();
    assert!(result.timed_out());
    assert_eq!(format!("{result:?}"), "WaitTimeoutResult(true)");
    let (guard, result) = condvar.wait_timeout_while(guard, SHORT, |_| false).unwrap();
    assert!(!result.timed_out());
    let (guard, _) = condvar.wait_timeout(guard, SHORT).unwrap();
    let (guard, _) = condvar.wait_timeout_ms(guard, 1).unwrap();
    assert!(flag.try_lock().is_err());
    drop(guard);
}

#[test]
fn a_wait_tells_of_the_poison_it_finds() {
    let (flag, condvar) = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let mut guard = flag.lock().unwrap();
            loop {
                match condvar.wait(guard) {
                    Ok(again) => guard = again,
                    Err(error) => return *error.into_inner(),
                }
                if *guard {
                    return false;
                }
            }
        });
        // If the waiter has not begun to wait, it finds the poison at its lock.
        std::thread::sleep(SHORT * 10);
        let poisoner = scope.spawn(|| {
            let mut guard = flag.lock().unwrap();
            *guard = true;
            panic!("with the lock held");
        });
        assert!(poisoner.join().is_err());
        condvar.notify_all();
        assert!(waiter.join().unwrap_or(true));
    });
}
