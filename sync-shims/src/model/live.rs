//! Which executions are running: an object that belongs to one must not be touched from outside of it.
//!
//! An object that an execution has used is known by its slot. One that it has not used yet cannot be told from others: if it
//! is touched from outside while anything runs, its slot is marked with the newest execution there was, and an execution that
//! comes to it later, and was running then, knows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use dpor::Info;

use super::controller::Slot;
use super::event::Site;

/// One cell for each worker that ever existed; a cell holds the number of the execution it runs now, or 0. Cells are reused.
static CELLS: Mutex<Vec<(&'static AtomicU64, bool)>> = Mutex::new(Vec::new());

/// A worker's entry in the list of running executions. Each worker keeps one and updates it as it goes from execution to
/// execution, which costs one store.
#[derive(Debug)]
pub struct Live(&'static AtomicU64);

/// How many entries there are. While it is 0, there is nothing to touch.
static WORKERS: AtomicUsize = AtomicUsize::new(0);

/// Something was touched, and nobody has asked about it yet.
static TOUCHED: AtomicBool = AtomicBool::new(false);

/// What was touched from outside.
static TOUCHES: Mutex<Vec<Touch>> = Mutex::new(Vec::new());

/// Touches that are remembered. Who touches more has been told.
const REMEMBERED: usize = 64;

/// The mark in a slot: no execution has a number that large.
const MARK: u64 = 1 << 62;

/// Something that was done to an object from outside of the execution that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// The execution that uses the object; 0 if none had used it.
    pub execution: u64,
    /// What was done, and where the object was created; none of a file or socket of the simulated kernel.
    pub object: Option<(&'static Info, Site)>,
    /// Where it was done.
    pub site: Site,
    /// The address of its slot.
    slot: usize,
}

/// Notes that an object is used outside of models. True if it belongs to an execution that runs.
#[cold]
#[inline(never)]
pub(crate) fn touch(slot: &Slot, info: &'static Info, site: Site, created: Site) -> bool {
    let word = slot.get();
    let execution = if word >= MARK { 0 } else { word >> 24 };
    let newest = {
        let cells = CELLS.lock().unwrap_or_else(|e| e.into_inner());
        let running = cells.iter().map(|(cell, _)| cell.load(Ordering::Relaxed));
        if execution != 0 && !running.clone().any(|number| number == execution) {
            return false;
        }
        running.max().unwrap_or(0)
    };
    if execution == 0 && newest == 0 {
        return false;
    }
    if execution == 0 {
        slot.set(MARK | newest << 24);
    }
    remember(Touch { execution, object: Some((info, created)), site, slot: std::ptr::from_ref(slot).addr() });
    execution != 0
}

/// Notes that a file or socket of an execution is used outside of it. True if that runs.
pub(crate) fn touch_descriptor(execution: u64, site: Site) -> bool {
    let runs = execution_is_live(execution);
    if runs {
        remember(Touch { execution, object: None, site, slot: 0 });
    }
    runs
}

fn remember(touch: Touch) {
    let mut touches = TOUCHES.lock().unwrap_or_else(|e| e.into_inner());
    touches.retain(|other| other.slot != touch.slot);
    if touches.len() == REMEMBERED {
        touches.remove(0);
    }
    touches.push(touch);
    if touch.execution != 0 {
        TOUCHED.store(true, Ordering::Release);
    }
}

/// Whether an object that no execution has used may belong to one that runs.
#[inline]
pub(crate) fn anything_runs() -> bool {
    WORKERS.load(Ordering::Relaxed) != 0
}

/// Whether the word of a slot has a mark.
#[inline]
pub fn is_marked(word: u64) -> bool {
    word >> 62 == 1
}

/// What was done to an object with a marked slot, created at `created`, while this execution ran.
pub fn touch_of(slot: &Slot, created: Site, execution: u64) -> Option<Touch> {
    if (slot.get() & !MARK) >> 24 < execution {
        return None;
    }
    let place = std::ptr::from_ref(slot).addr();
    let touches = TOUCHES.lock().unwrap_or_else(|e| e.into_inner());
    let here = touches.iter().rev().find(|touch| touch.slot == place);
    // It may have been moved since.
    here.or_else(|| touches.iter().rev().find(|touch| touch.object.is_some_and(|(_, at)| at == created))).copied()
}

/// What was done from outside to an object that this execution uses.
#[inline]
pub fn touched(execution: u64) -> Option<Touch> {
    if TOUCHED.load(Ordering::Acquire) { find_touched(execution) } else { None }
}

#[cold]
fn find_touched(execution: u64) -> Option<Touch> {
    let mut touches = TOUCHES.lock().unwrap_or_else(|e| e.into_inner());
    let place = touches.iter().position(|touch| touch.execution == execution)?;
    let touch = touches.remove(place);
    TOUCHED.store(touches.iter().any(|touch| touch.execution != 0), Ordering::Release);
    Some(touch)
}

impl Live {
    /// An entry that names no execution yet.
    #[expect(clippy::new_without_default, reason = "it takes a place in a process-wide list")]
    pub fn new() -> Self {
        WORKERS.fetch_add(1, Ordering::Relaxed);
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
        WORKERS.fetch_sub(1, Ordering::Relaxed);
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
