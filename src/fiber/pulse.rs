//! What the owner of a worker can see of it while it is at work.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Written by the worker, with plain loads and stores as there is one writer at a time; looked at by its owner about once a
/// second.
#[derive(Debug)]
pub(crate) struct Pulse {
    /// Operations of model threads so far. A thread that runs without any does not let it grow.
    beats: AtomicU64,
    /// The checker itself is at work, and may take its time.
    checking: AtomicBool,
    /// Executions that were begun.
    begun: AtomicU64,
    /// What was learnt and led to a new start.
    learnt: Mutex<Vec<(&'static Location<'static>, u64)>>,
}

impl Default for Pulse {
    fn default() -> Self {
        Pulse {
            beats: AtomicU64::new(0),
            // Until it runs code of the program.
            checking: AtomicBool::new(true),
            begun: AtomicU64::new(0),
            learnt: Mutex::new(Vec::new()),
        }
    }
}

impl Pulse {
    /// A model thread has come to an operation.
    #[inline]
    pub(crate) fn beat(&self) {
        self.beats.store(self.beats.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Whether the checker is at work, as opposed to code of the program.
    #[inline]
    pub(crate) fn set_checking(&self, checking: bool) {
        self.checking.store(checking, Ordering::Relaxed);
    }

    /// The execution with this number begins.
    pub(crate) fn begin(&self, number: u64) {
        self.begun.store(number, Ordering::Relaxed);
    }

    /// Something was learnt that everything has to begin anew for.
    pub(crate) fn learn(&self, site: &'static Location<'static>, facts: u64) {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner).push((site, facts));
    }

    /// How many executions were begun.
    pub(super) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// What was learnt. Whoever was at it is over.
    pub(super) fn learnt(&self) -> Vec<(&'static Location<'static>, u64)> {
        self.learnt.try_lock().map_or_else(|_| Vec::new(), |learnt| learnt.clone())
    }

    /// A number that changes when code of the program comes to an operation; `None` while the checker is at work.
    /// Async-signal-safe.
    pub(super) fn count(&self) -> Option<u64> {
        (!self.checking.load(Ordering::Relaxed)).then(|| self.beats.load(Ordering::Relaxed))
    }
}
