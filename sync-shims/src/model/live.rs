//! Which executions are running: an object that belongs to one must not be touched from outside of it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// One cell for each worker that ever existed; a cell holds the number of the execution it runs now, or 0. Cells are reused.
static CELLS: Mutex<Vec<(&'static AtomicU64, bool)>> = Mutex::new(Vec::new());

/// A worker's entry in the list of running executions. Each worker keeps one and updates it as it goes from execution to
/// execution, which costs one store.
#[derive(Debug)]
pub struct Live(&'static AtomicU64);

impl Live {
    /// An entry that names no execution yet.
    #[expect(clippy::new_without_default, reason = "it takes a place in a process-wide list")]
    pub fn new() -> Self {
        let mut cells = CELLS.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((cell, used)) = cells.iter_mut().find(|(_, used)| !used) {
            *used = true;
            return Live(cell);
        }
        let cell: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
        cells.push((cell, true));
        Live(cell)
    }

    /// The worker runs `execution` from now on (0: none).
    #[inline]
    pub fn set(&self, execution: u64) {
        self.0.store(execution, Ordering::Relaxed);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.set(0);
        let mut cells = CELLS.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(entry) = cells.iter_mut().find(|(cell, _)| std::ptr::eq(*cell, self.0)) {
            entry.1 = false;
        }
    }
}

/// Whether `execution` is running on some worker.
pub fn execution_is_live(execution: u64) -> bool {
    let cells = CELLS.lock().unwrap_or_else(|e| e.into_inner());
    execution != 0 && cells.iter().any(|(cell, _)| cell.load(Ordering::Relaxed) == execution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_is_live_while_its_worker_says_so() {
        let live = Live::new();
        assert!(!execution_is_live(7_000_001));
        live.set(7_000_001);
        assert!(execution_is_live(7_000_001));
        live.set(7_000_002);
        assert!(!execution_is_live(7_000_001));
        drop(live);
        assert!(!execution_is_live(7_000_002));
    }

    #[test]
    fn zero_is_never_live() {
        let _idle = Live::new();
        assert!(!execution_is_live(0));
    }
}
