//! A counter that loses increments.

pub struct Counter {
    n: AtomicUsize,
}

pub fn increment(n: &AtomicUsize) {
    // Not atomic: another thread may store in between.
    let v = n.load(Acquire);
    n.store(v + 1, Release);
}
