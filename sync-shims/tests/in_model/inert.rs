//! An execution that is over: nothing is performed, nothing panics, nothing waits.

use sync_shims::model::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst, fence};
use sync_shims::model::cell::UnsafeCell;
use sync_shims::model::sync::mpsc::sync_channel;
use sync_shims::model::sync::{Arc, Condvar, Mutex};
use sync_shims::model::{hint, thread};

use crate::controller::Fake;

static STATIC: AtomicUsize = AtomicUsize::new(5);

#[test]
fn nothing_is_performed_and_nothing_panics() {
    for model in [Fake::new(), Fake::counting()] {
        model.run(|| {
            let mutex = Mutex::new(1);
            let (counted, locked) = (Arc::new(3), mutex.lock().unwrap());
            let weak = Arc::downgrade(&counted);
            let before = thread::spawn(|| 7);
            let (sender, receiver) = sync_channel(1);
            sender.send(0).unwrap();
            model.log();
            model.end();

            STATIC.store(6, SeqCst);
            assert_eq!((STATIC.load(SeqCst), STATIC.swap(1, SeqCst), STATIC.fetch_add(1, SeqCst)), (5, 5, 5));
            assert_eq!(STATIC.compare_exchange(8, 1, SeqCst, SeqCst), Ok(8));
            assert_eq!(STATIC.update(SeqCst, SeqCst, |v| v + 1), 5);
            let a = AtomicUsize::new(5);
            assert!(!a.as_ptr().is_null());
            assert!(AtomicPtr::<u8>::default().load(SeqCst).is_null());
            fence(SeqCst);
            hint::spin_loop();

            drop(mutex.lock());
            drop(mutex.try_lock());
            drop(locked);
            drop(Condvar::new().wait(mutex.lock().unwrap()));

            assert_eq!(before.join().unwrap(), 7);
            assert!(thread::spawn(|| 1).join().is_err());
            // A destructor may insist on these.
            thread::spawn(|| ()).join().unwrap();
            sender.send(1).unwrap();
            sender.try_send(2).unwrap();
            assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
            thread::scope(|scope| assert!(scope.spawn(|| 1).is_finished()));
            thread::park();
            thread::current().unpark();
            thread::yield_now();

            assert_eq!(Arc::strong_count(&counted), 1);
            assert!(weak.upgrade().is_some());
            assert_eq!(Arc::try_unwrap(counted).unwrap(), 3);
            // SAFETY: 1. There is one thread.
            unsafe { *UnsafeCell::new(1).get() = 2 };
        });
        let log = model.log();
        assert!(
            log.iter().all(|line| line.contains("exclusive") || line.contains(" get ") || line.contains(" drop ")),
            "{log:?}"
        );
    }
}

/// A destructor that runs then must not free twice what has been freed.
#[test]
#[cfg_attr(miri, ignore = "statics are not known under Miri")]
fn atomics_go_on_from_their_newest_value() {
    let model = Fake::new();
    model.run(|| {
        let (used, new) = (AtomicUsize::new(5), AtomicUsize::new(5));
        used.store(6, SeqCst);
        STATIC.store(6, SeqCst);
        model.end();
        assert_eq!((used.swap(7, SeqCst), used.fetch_add(1, SeqCst), used.load(SeqCst)), (6, 7, 8));
        assert_eq!((new.swap(7, SeqCst), new.compare_exchange(8, 9, SeqCst, SeqCst)), (5, Err(7)));
        assert_eq!(STATIC.load(SeqCst), 5);
    });
}
