//! Objects of a running execution, used by a thread that is not part of it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sync_shims::model::atomic::{AtomicUsize, Ordering::Relaxed};
use sync_shims::model::cell::UnsafeCell;
use sync_shims::model::sync::Mutex;

use crate::controller::Fake;

fn message_from_another_os_thread(f: impl FnOnce() + Send) -> String {
    std::thread::scope(|scope| {
        let payload = scope.spawn(|| catch_unwind(AssertUnwindSafe(f)).unwrap_err()).join().unwrap();
        payload.downcast_ref::<String>().unwrap().clone()
    })
}

struct Shared(UnsafeCell<u8>);
// SAFETY: 1. Nobody follows its pointers.
unsafe impl Sync for Shared {}

#[test]
fn use_from_outside_is_noticed() {
    let atomic = AtomicUsize::new(0);
    let mutex = Mutex::new(0);
    let cell = Shared(UnsafeCell::new(0));
    Fake::new().run(|| {
        atomic.load(Relaxed);
        drop(mutex.lock());
        cell.0.with(|_| ());
        let message = message_from_another_os_thread(|| _ = atomic.load(Relaxed));
        assert!(
            message.starts_with("error[interleave::outside]: AtomicUsize::load from outside the model"),
            "{message}"
        );
        let message = message_from_another_os_thread(|| _ = mutex.lock());
        assert!(message.starts_with("error[interleave::outside]: Mutex::lock from outside the model"), "{message}");
        let message = message_from_another_os_thread(|| {
            let cell = &cell;
            _ = cell.0.get()
        });
        assert!(message.starts_with("error[interleave::outside]: UnsafeCell::get from outside the model"), "{message}");
    });
    atomic.store(1, Relaxed);
    assert!(mutex.lock().is_ok());
    cell.0.with(|_| ());
}
