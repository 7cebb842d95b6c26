use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::thread;

#[test]
#[should_panic(expected = "interleave::panic")]
fn two_increments() {
    interleave::model(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = thread::spawn(move || m.store(m.load(Relaxed) + 1, Relaxed));
        n.store(n.load(Relaxed) + 1, Relaxed);
        t.join().unwrap();
        assert_eq!(n.load(Relaxed), 2);
    });
}
