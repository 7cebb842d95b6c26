//! Fixture for the reports: two threads, two increments.

use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicUsize, Ordering::*};
use interleave::thread;

#[test]
fn two_increments() {
    interleave::model(two);
}

fn start(n: &Arc<AtomicUsize>, name: &str) -> thread::JoinHandle<()> {
    let n = n.clone();
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || counter::increment(&n))
        .unwrap()
}

fn two() {
    let n = Arc::new(AtomicUsize::new(0));
    let threads = ["inc-1", "inc-2"];
    for name in threads {
        let t = thread::spawn(&n, name);
        drop(t);
    }

    wait_for_both();

    assert_eq!(2, n.load(Relaxed));
}
