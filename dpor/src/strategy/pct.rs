//! Probabilistic concurrency testing. Each thread has a random priority, and the highest one that can go on does. At
//! `depth - 1` random steps, the thread whose turn it is falls below all that others have or had.

use super::{Candidate, Performed, Random};
use crate::op::ThreadId;

#[derive(Clone, Debug)]
pub(crate) struct Pct {
    /// By thread; drawn when a thread is seen first.
    priorities: Vec<Option<i64>>,
    /// Steps at which the thread whose turn it is falls.
    changes: Vec<u32>,
    step: u32,
    /// Below all priorities so far.
    lowest: i64,
}

impl Pct {
    pub(super) fn new(depth: u32, steps: u32, random: &mut Random) -> Pct {
        let changes = if steps == 0 { 0 } else { depth.saturating_sub(1) };
        let changes = (0..changes).map(|_| random.below(steps as usize) as u32).collect();
        Pct { priorities: Vec::new(), changes, step: 0, lowest: 0 }
    }

    pub(super) fn next(&mut self, ready: &[Candidate], last: Option<Performed>, random: &mut Random) -> usize {
        for candidate in ready {
            let index = candidate.thread.index();
            if self.priorities.len() <= index {
                self.priorities.resize(index + 1, None);
            }
            // Positive numbers of 62 bits: never equal in practice, and always above those that fell.
            self.priorities[index].get_or_insert_with(|| (random.next() >> 2) as i64 + 1);
        }
        // A thread that polls would keep the others from what it waits for.
        if let Some(yielded) = last.filter(|last| last.yielded) {
            self.fall(yielded.thread);
        }
        let mut chosen = self.highest(ready);
        for _ in 0..self.changes.iter().filter(|&&change| change == self.step).count() {
            self.fall(ready[chosen].thread);
            chosen = self.highest(ready);
        }
        self.step += 1;
        chosen
    }

    fn fall(&mut self, thread: ThreadId) {
        self.lowest -= 1;
        if let Some(priority) = self.priorities.get_mut(thread.index()) {
            *priority = Some(self.lowest);
        }
    }

    fn highest(&self, ready: &[Candidate]) -> usize {
        let priority = |index: &usize| self.priorities[ready[*index].thread.index()];
        (0..ready.len()).max_by_key(priority).expect("somebody can go on")
    }
}
