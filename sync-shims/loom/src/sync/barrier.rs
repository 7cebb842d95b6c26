//! `Barrier`.

use std::fmt;
use std::ptr;
use std::sync::{BarrierWaitResult, OnceLock};

/// [`interleave::sync::Barrier`] with the result type of std, which loom's signature has.
pub struct Barrier(interleave::sync::Barrier);

impl Barrier {
    /// Stands in for [`std::sync::Barrier::new`].
    #[must_use]
    #[track_caller]
    pub const fn new(n: usize) -> Self {
        Barrier(interleave::sync::Barrier::new(n))
    }

    /// Stands in for [`std::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        result(self.0.wait().is_leader())
    }
}

/// A result of std's, which has no constructor: copied from those of a real barrier of two.
fn result(is_leader: bool) -> BarrierWaitResult {
    static REAL: OnceLock<[BarrierWaitResult; 2]> = OnceLock::new();
    const { assert!(!std::mem::needs_drop::<BarrierWaitResult>()) };
    let real = REAL.get_or_init(|| {
        let barrier = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| barrier.wait());
            [barrier.wait(), other.join().expect("a thread that only waits does not panic")]
        })
    });
    let wanted = real.iter().find(|result| result.is_leader() == is_leader).expect("one of two is the leader");
    // SAFETY: 1. The value is never written to. 2. It has no drop glue and is a plain flag, so that a second one does no harm.
    unsafe { ptr::read(wanted) }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_three_leads_in_every_execution() {
        crate::model(|| {
            let barrier = interleave::sync::Arc::new(Barrier::new(3));
            let threads = [(); 2].map(|()| {
                let barrier = barrier.clone();
                crate::thread::spawn(move || barrier.wait().is_leader())
            });
            let mut leaders = usize::from(barrier.wait().is_leader());
            for thread in threads {
                leaders += usize::from(thread.join().unwrap());
            }
            assert_eq!(leaders, 1);
        });
    }
}
