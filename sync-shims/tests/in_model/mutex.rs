use std::panic::{AssertUnwindSafe, catch_unwind};

use sync_shims::model::sync::{Mutex, TryLockError};

use crate::controller::{Failed, Fake};

#[test]
fn locks_are_operations_on_one_object() {
    let model = Fake::new();
    model.run(|| {
        let mut mutex = Mutex::new(1);
        *mutex.lock().unwrap() += 1;
        let guard = mutex.try_lock().unwrap();
        assert!(matches!(mutex.try_lock(), Err(TryLockError::WouldBlock)));
        drop(guard);
        assert_eq!(*mutex.get_mut().unwrap(), 2);
        assert_eq!(mutex.into_inner().unwrap(), 2);
    });
    assert_eq!(
        model.log(),
        [
            "t0 Mutex::lock of 0",
            "t0 Mutex::unlock of 0",
            "t0 Mutex::try_lock of 0",
            "t0 Mutex::try_lock of 0",
            "t0 Mutex::unlock of 0",
            "t0 exclusive get_mut",
            "t0 exclusive get_mut",
        ]
    );
}

#[test]
fn whoever_locks_twice_is_blocked() {
    let model = Fake::new();
    let payload = catch_unwind(AssertUnwindSafe(|| {
        model.run(|| {
            let mutex = Mutex::new(1);
            let _guard = mutex.lock();
            let _again = mutex.lock();
        });
    }));
    assert_eq!(payload.unwrap_err().downcast_ref::<Failed>().unwrap().0, "blocked");
}

#[test]
fn poison_is_part_of_the_state() {
    Fake::new().run(|| {
        let mut mutex = Mutex::new(1);
        let poison = |mutex: &Mutex<i32>| {
            let result = catch_unwind(AssertUnwindSafe(|| {
                let _guard = mutex.lock();
                panic!("with the lock held");
            }));
            assert!(result.is_err());
        };
        poison(&mutex);
        assert!(mutex.is_poisoned());
        assert!(mutex.lock().is_err());
        assert!(matches!(mutex.try_lock(), Err(TryLockError::Poisoned(_))));
        assert!(mutex.get_mut().is_err());
        assert!(mutex.lock().is_err());
        mutex.clear_poison();
        assert!(mutex.lock().is_ok());
        poison(&mutex);
        assert!(mutex.into_inner().is_err());
    });
}

#[test]
fn poison_from_outside_is_what_a_model_starts_from() {
    let mutex = Mutex::new(1);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let _guard = mutex.lock();
        panic!("with the lock held");
    }));
    Fake::new().run(|| {
        assert!(mutex.lock().is_err());
        mutex.clear_poison();
        assert!(mutex.lock().is_ok());
    });
    assert!(mutex.is_poisoned());
}
