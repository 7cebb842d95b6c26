//! Partial order sampling. Each operation that a thread is about to perform has a random priority, and the highest one is
//! performed. Those that conflict with it draw again: that they lost against it says nothing about who wins next.

use super::{Candidate, Performed, Random};
use crate::op::ObjectId;

#[derive(Clone, Debug, Default)]
pub(crate) struct Pos {
    /// Of the next operation of each thread, once drawn.
    priorities: Vec<Option<u64>>,
}

impl Pos {
    pub(super) fn next(&mut self, ready: &[Candidate], last: Option<Performed>, random: &mut Random) -> usize {
        if let Some(slot) = last.and_then(|last| self.priorities.get_mut(last.thread.index())) {
            *slot = None;
        }
        let mut best = (0, 0);
        for (index, candidate) in ready.iter().enumerate() {
            let thread = candidate.thread.index();
            if self.priorities.len() <= thread {
                self.priorities.resize(thread + 1, None);
            }
            let slot = &mut self.priorities[thread];
            if last.is_some_and(|last| conflicts(candidate, last)) {
                *slot = None;
            }
            let mut priority = *slot.get_or_insert_with(|| random.next());
            if last.is_some_and(|last| last.yielded && last.thread == candidate.thread) {
                priority = 0;
                *slot = Some(0);
            }
            if index == 0 || priority > best.1 {
                best = (index, priority);
            }
        }
        best.0
    }
}

fn conflicts(candidate: &Candidate, last: Performed) -> bool {
    candidate.object != ObjectId::NONE && candidate.object == last.object && (candidate.writes || last.wrote)
}
