//! A latch, written against the facade: in a normal build its types are std's own, with `--cfg interleave` they are model
//! types. Its models are in `tests/models.rs`; the tests here are of the usual kind, and pass in both builds.

use sync_shims::sync::{Condvar, Mutex};

/// Lets threads wait until something has been done so many times.
#[derive(Debug)]
pub struct Latch {
    left: Mutex<usize>,
    opened: Condvar,
}

impl Latch {
    /// A latch that opens after `count` calls of `count_down`.
    pub const fn new(count: usize) -> Self {
        Latch { left: Mutex::new(count), opened: Condvar::new() }
    }

    /// One is done. The last one opens the latch; further ones change nothing.
    ///
    /// # Panics
    ///
    /// If a thread panicked with the lock held, which none does.
    pub fn count_down(&self) {
        let mut left = self.left.lock().expect("nobody panics with the lock held");
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.opened.notify_all();
        }
    }

    /// Waits until the latch is open.
    ///
    /// # Panics
    ///
    /// If a thread panicked with the lock held, which none does.
    pub fn wait(&self) {
        let left = self.left.lock().expect("nobody panics with the lock held");
        drop(self.opened.wait_while(left, |left| *left > 0).expect("nobody panics with the lock held"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// With real threads, in both builds: outside of a model, a model type behaves as the real one.
    #[test]
    fn all_that_was_done_is_seen() {
        let (latch, done) = (Latch::new(8), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    done.fetch_add(1, Relaxed);
                    latch.count_down();
                });
            }
            latch.wait();
            assert_eq!(done.load(Relaxed), 8);
        });
    }

    #[test]
    fn an_open_latch_stays_open() {
        static LATCH: Latch = Latch::new(1);
        LATCH.count_down();
        LATCH.count_down();
        LATCH.wait();
    }
}
