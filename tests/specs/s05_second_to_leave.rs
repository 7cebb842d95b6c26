//! An object with two owners. The second to leave frees it, while the first is still waking those who wait.

use interleave::sync::atomic::{AtomicBool, Ordering};
use interleave::sync::{Arc, Mutex};
use interleave::thread;

use crate::expect::{clean, panics};

/// Who frees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frees {
    /// Whoever finds that the other has left.
    SecondToMark,
    /// Whoever is the second to be done with everything.
    SecondToFinish,
}

/// The object; freeing it only sets a flag, and each use looks at that.
#[derive(Default)]
struct Shared {
    marked: AtomicBool,
    waiters: Mutex<Vec<u32>>,
    destroy: AtomicBool,
    freed: AtomicBool,
}

impl Shared {
    /// To be called before each use.
    fn alive(&self) -> &Self {
        assert!(!self.freed.load(Ordering::SeqCst), "used after it was freed");
        self
    }

    fn free(&self) {
        assert!(!self.freed.swap(true, Ordering::SeqCst), "freed twice");
    }

    fn leave(&self, frees: Frees) {
        let first = !self.alive().marked.swap(true, Ordering::AcqRel);
        if first {
            self.alive().waiters.lock().unwrap().clear();
        }
        let free = match frees {
            Frees::SecondToMark => !first,
            Frees::SecondToFinish => self.alive().destroy.swap(true, Ordering::AcqRel),
        };
        if free {
            self.free();
        }
    }
}

fn two_owners(frees: Frees) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new(Shared::default());
        let sender = shared.clone();
        let sender = thread::spawn(move || sender.leave(frees));
        shared.leave(frees);
        sender.join().unwrap();
        assert!(shared.freed.load(Ordering::SeqCst), "leaked");
    }
}

/// The program as it was.
pub(crate) fn buggy() -> Box<dyn Fn() + Send + Sync> {
    Box::new(two_owners(Frees::SecondToMark))
}

#[test]
fn the_second_to_mark_frees_too_early() {
    panics("used after it was freed", 1, two_owners(Frees::SecondToMark));
}

#[test]
fn the_second_to_finish_frees() {
    clean(4, two_owners(Frees::SecondToFinish));
}
