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

#[test]
#[cfg_attr(miri, ignore = "statics are not known under Miri")]
fn what_a_static_protects_is_put_back() {
    static LIST: Mutex<Vec<String>> = Mutex::new(Vec::new());
    static NUMBER: Mutex<u32> = Mutex::new(1);
    *NUMBER.lock().unwrap() += 1;
    for _ in 0..3 {
        Fake::new().run(|| {
            for expected in 2..4 {
                let mut number = NUMBER.lock().unwrap();
                assert_eq!(*number, expected);
                *number += 1;
            }
            let mut list = LIST.try_lock().unwrap();
            assert!(list.is_empty());
            list.push("a".into());
        });
    }
    assert_eq!((*NUMBER.lock().unwrap(), LIST.lock().unwrap().len()), (2, 0));
    // It may refer to the heap from now on, so the bytes may not be put back.
    LIST.lock().unwrap().push("outside".into());
    for expected in 1..4 {
        Fake::new().run(|| {
            assert_eq!(LIST.lock().unwrap().len(), expected);
            LIST.lock().unwrap().push("a".into());
        });
    }
}
