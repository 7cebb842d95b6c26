//! Every thread that can go on is as likely as every other.

use super::{Candidate, Random};

#[derive(Clone, Debug)]
pub(crate) struct Uniform;

impl Uniform {
    pub(super) fn next(&mut self, ready: &[Candidate], random: &mut Random) -> usize {
        random.below(ready.len())
    }
}
