//! Models of the latch. They need the model types, so there is nothing here in a normal build.
#![cfg(interleave)]

use facade_user::Latch;
use sync_shims::sync::Arc;
use sync_shims::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use sync_shims::thread;

fn executions(body: impl Fn() + Send + Sync) -> u64 {
    interleave::Builder::new().spurious(0).check(body).executions
}

/// The waiter comes before or after the other thread.
#[test]
fn whoever_waits_sees_what_was_done() {
    let count = executions(|| {
        let shared = Arc::new((Latch::new(1), AtomicUsize::new(0)));
        let other = shared.clone();
        let t = thread::spawn(move || {
            other.1.store(1, Relaxed);
            other.0.count_down();
        });
        shared.0.wait();
        assert_eq!(shared.1.load(Relaxed), 1);
        t.join().unwrap();
    });
    assert_eq!(count, 2);
}

#[test]
#[should_panic(expected = "interleave::deadlock")]
fn a_count_that_is_too_high_is_found() {
    interleave::model(|| {
        let latch = Arc::new(Latch::new(2));
        let other = latch.clone();
        let t = thread::spawn(move || other.count_down());
        latch.wait();
        t.join().unwrap();
    });
}
