//! `Notify`.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use interleave::future;

/// A wake-up for one waiter. A wait may end for no reason once, whatever the budget for spurious events.
pub struct Notify {
    wake_up: future::Notify,
    /// A thread is in `wait`.
    waiting: AtomicBool,
}

impl Notify {
    /// No wake-up yet.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        Notify { wake_up: future::Notify::spurious_once(), waiting: AtomicBool::new(false) }
    }

    /// Leaves a wake-up, for the thread that waits or will wait.
    #[track_caller]
    pub fn notify(&self) {
        self.wake_up.notify();
    }

    /// Waits for a wake-up and takes it.
    ///
    /// # Panics
    ///
    /// If another thread is waiting.
    #[track_caller]
    pub fn wait(&self) {
        struct Leave<'a>(&'a AtomicBool);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.store(false, Ordering::Relaxed);
            }
        }
        assert!(!self.waiting.swap(true, Ordering::Relaxed), "only a single thread may wait on `Notify`");
        let _leave = Leave(&self.waiting);
        self.wake_up.wait();
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}
