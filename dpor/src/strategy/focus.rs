//! Threads are preempted at chosen operations only: right before one of them, everybody who can go on is as likely.

use super::{Candidate, Performed, Random};

#[derive(Clone, Debug)]
pub(crate) struct Focused;

impl Focused {
    pub(super) fn next(&mut self, ready: &[Candidate], last: Option<Performed>, random: &mut Random) -> usize {
        let current = last.filter(|last| !last.yielded);
        let current = current.and_then(|last| ready.iter().position(|candidate| candidate.thread == last.thread));
        match current {
            Some(index) if !ready[index].focused => index,
            _ => random.below(ready.len()),
        }
    }
}
