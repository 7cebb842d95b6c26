use std::panic::{AssertUnwindSafe, catch_unwind};

use sync_shims::model::sync::{RwLock, RwLockWriteGuard};
use sync_shims::model::thread;

use crate::controller::Fake;

#[test]
fn a_reader_takes_its_place_and_a_writer_all() {
    let model = Fake::new();
    // The threads 0 to 2 read.
    model.facts.set(0b111);
    model.run(|| {
        let lock = RwLock::new(1);
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(*lock.read().unwrap(), 1));
            scope.spawn(|| assert_eq!(*lock.try_read().unwrap(), 1));
        });
        *lock.write().unwrap() += 1;
        let reader = RwLockWriteGuard::downgrade(lock.write().unwrap());
        assert_eq!(*reader, 2);
    });
    let log = model.log();
    let ours: Vec<_> = log.iter().filter(|line| line.contains("RwLock") || line.contains("learns")).collect();
    assert_eq!(
        ours,
        [
            "t1 RwLock::read of 0",
            "t1 RwLock::unlock (read) of 0",
            "t2 RwLock::try_read of 1",
            "t2 RwLock::unlock (read) of 1",
            "t0 RwLock::write of 2",
            "t0 RwLock::write: wait for readers of 3",
            "t0 RwLock::write: wait for readers of 0",
            "t0 RwLock::write: wait for readers of 1",
            "t0 RwLock::unlock (write): let readers in of 1",
            "t0 RwLock::unlock (write): let readers in of 0",
            "t0 RwLock::unlock (write): let readers in of 3",
            "t0 RwLock::unlock (write) of 2",
            "t0 RwLock::write of 2",
            "t0 RwLock::write: wait for readers of 3",
            "t0 RwLock::write: wait for readers of 0",
            "t0 RwLock::write: wait for readers of 1",
            "t0 RwLock::downgrade of 3",
            "t0 RwLock::unlock (write): let readers in of 1",
            "t0 RwLock::unlock (write): let readers in of 0",
            "t0 RwLock::unlock (write) of 2",
            "t0 RwLock::unlock (read) of 3",
        ]
    );
}

/// Whoever reads first makes the exploration start again, and so does who reads while it reads.
#[test]
fn readers_are_learnt_about() {
    let model = Fake::new();
    model.run(|| {
        let lock = RwLock::new(1);
        let reading = lock.read().unwrap();
        drop(lock.try_read().unwrap());
        drop(reading);
        drop(lock.read().unwrap());
    });
    assert_eq!(model.facts.get(), 0b1);
    let model = Fake::new();
    model.facts.set(0b1);
    model.run(|| {
        let lock = RwLock::new(1);
        // The objects are other ones after that, so nothing of the earlier ones can be given back.
        std::mem::forget((lock.read().unwrap(), lock.try_read().unwrap()));
        drop(lock.read().unwrap());
    });
    assert_eq!(model.facts.get(), 0b1 | 1 << 57);
}

#[test]
fn a_lock_that_is_tried_is_one_object() {
    let model = Fake::new();
    model.run(|| {
        let mut lock = RwLock::new(1);
        drop(lock.try_write().unwrap());
        let readers = (lock.read().unwrap(), lock.try_read().unwrap());
        assert!(lock.try_write().is_err());
        drop(readers);
        *lock.write().unwrap() += 1;
        let reader = RwLockWriteGuard::downgrade(lock.try_write().unwrap());
        assert_eq!(*reader, 2);
        drop(reader);
        assert!(
            catch_unwind(AssertUnwindSafe(|| {
                let _guard = lock.write();
                panic!("on purpose");
            }))
            .is_err()
        );
        assert!(lock.is_poisoned());
        assert!(lock.get_mut().is_err());
        lock.clear_poison();
        assert_eq!(lock.into_inner().unwrap(), 2);
    });
    assert_eq!(
        model.log(),
        [
            "t0 learns 0x100000000000000",
            "t0 RwLock::try_write of 0",
            "t0 RwLock::unlock (write) of 0",
            "t0 RwLock::read of 0",
            "t0 RwLock::try_read of 0",
            "t0 RwLock::try_write of 0",
            "t0 RwLock::unlock (read) of 0",
            "t0 RwLock::unlock (read) of 0",
            "t0 RwLock::write of 0",
            "t0 RwLock::unlock (write) of 0",
            "t0 RwLock::try_write of 0",
            "t0 RwLock::downgrade of 0",
            "t0 RwLock::unlock (read) of 0",
            "t0 RwLock::write of 0",
            "t0 learns 0x400000000000000",
            "t0 RwLock::poison of 1",
            "t0 RwLock::unlock (write) of 0",
            "t0 RwLock::is_poisoned of 1",
            "t0 exclusive get_mut",
            "t0 exclusive get_mut",
            "t0 RwLock::clear_poison of 2",
            "t0 exclusive get_mut",
            "t0 exclusive get_mut",
        ]
    );
}
