//! Who goes next in an execution that is not part of a systematic search.
//!
//! | file | decides |
//! |---|---|
//! | `mod` | what can be asked for; which sampler an execution gets |
//! | `uniform` | every thread that can go on is as likely as every other |
//! | `pct` | threads have priorities, which change at a few random points |
//! | `pos` | operations have priorities, which are drawn anew when they conflict |
//! | `focus` | threads are preempted at chosen operations only |
//! | `directed` | an order that somebody has written down |
//! | `plan` | an execution of which something was taken out |
//! | `random` | random numbers |
//!
//! A sampler only decides who goes next. What an operation reads, where a store is placed and which outcome it has is drawn
//! uniformly from what the memory model allows.

mod directed;
mod focus;
mod pct;
mod plan;
mod pos;
mod random;
mod uniform;

use core::fmt;
use std::sync::Arc;

pub(crate) use directed::{Course, Directions, Runner};
pub use directed::{Leg, Until, Who};
pub use plan::Plan;
pub(crate) use random::Random;

use crate::op::{ObjectId, Op, ThreadId};
use focus::Focused;
use pct::Pct;
use pos::Pos;
use uniform::Uniform;

/// How random executions are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// Each time, every thread that can go on is as likely as every other.
    ///
    /// An execution in whose course `c1, c2, …` threads could go on is drawn with probability `1/(c1·c2·…)` at least. Early
    /// operations are shuffled well; long stretches of one thread are rare.
    #[default]
    Uniform,
    /// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with
    /// Probabilistic Guarantees of Finding Bugs, ASPLOS 2010).
    ///
    /// A bug that shows whenever `depth` operations come in one certain order is found by an execution with probability
    /// `1/(n·k^(depth-1))` at least, where `n` is the number of threads and `k` the number of steps. `k` is that of the
    /// longest of the first 16 executions; in longer ones the bound holds for what happens within `k` steps.
    Pct {
        /// Operations whose order matters, from 1.
        depth: u32,
    },
    /// Partial order sampling (Yuan, Yang, Gu: Partial Order Aware Concurrency Sampling, CAV 2018).
    ///
    /// Two conflicting operations that are both about to be performed come in either order with probability 1/2, whatever
    /// others do meanwhile. An operation that was passed over keeps its low priority until something conflicts with it, so
    /// threads also run far ahead of each other, which they hardly ever do in a uniform draw. Every execution class has a
    /// positive probability, for which the paper gives a lower bound.
    Pos,
    /// The others in turn: [`Sampling::Pos`], [`Sampling::Pct`] with depths from 1 to 3, [`Sampling::Uniform`].
    ///
    /// After `5·m` executions each has drawn `m`, so the guarantee of each holds for a fifth of the executions.
    Portfolio,
}

/// Which random executions are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draws {
    /// How.
    pub sampling: Sampling,
    /// The same seed gives the same executions.
    pub seed: u64,
    /// The number of the first one. Every number stands for one execution, whatever is drawn before it.
    pub first: u64,
    /// The distance between numbers: several explorers can share a search.
    pub every: u64,
    /// The executions with smaller numbers than this are drawn.
    pub end: u64,
    /// Steps of a long execution, for [`Sampling::Pct`]; 0: the most in the first 16 ones drawn.
    pub steps: u32,
    /// Operations before which threads are preempted, if only those.
    pub focus: Option<Focus>,
}

impl Draws {
    /// The first `executions` ones.
    pub fn new(sampling: Sampling, seed: u64, executions: u64) -> Draws {
        Draws { sampling, seed, first: 0, every: 1, end: executions, steps: 0, focus: None }
    }
}

/// A set of operations.
#[derive(Clone)]
pub struct Focus(Arc<dyn Fn(&Op) -> bool + Send + Sync>);

impl Focus {
    /// Those for which the predicate holds.
    pub fn on(predicate: impl Fn(&Op) -> bool + Send + Sync + 'static) -> Focus {
        Focus(Arc::new(predicate))
    }

    /// Whether the operation is one of them.
    pub fn has(&self, op: &Op) -> bool {
        (self.0)(op)
    }
}

impl fmt::Debug for Focus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Focus(..)")
    }
}

impl PartialEq for Focus {
    fn eq(&self, other: &Focus) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Focus {}

/// A thread that can go on, and what it wants to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) thread: ThreadId,
    /// Of its next operation; none if it is about no object, or not known yet.
    pub(crate) object: ObjectId,
    /// The operation may write.
    pub(crate) writes: bool,
    /// It is one of those that the search is to preempt at.
    pub(crate) focused: bool,
}

/// An operation that has been performed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Performed {
    pub(crate) thread: ThreadId,
    pub(crate) object: ObjectId,
    pub(crate) wrote: bool,
    /// It let others go first.
    pub(crate) yielded: bool,
}

/// Decides who goes next in one execution.
#[derive(Clone, Debug)]
pub(crate) enum Sampler {
    Uniform(Uniform),
    Pct(Pct),
    Pos(Pos),
    Focused(Focused),
}

impl Sampler {
    /// The sampler of the execution `number`, in which some `steps` decisions are expected.
    pub(crate) fn new(draws: &Draws, number: u64, steps: u32, random: &mut Random) -> Sampler {
        if draws.focus.is_some() {
            return Sampler::Focused(Focused);
        }
        let mut pct = |depth| Sampler::Pct(Pct::new(depth, steps, random));
        match (draws.sampling, number % 5) {
            (Sampling::Uniform, _) | (Sampling::Portfolio, 4) => Sampler::Uniform(Uniform),
            (Sampling::Pos, _) | (Sampling::Portfolio, 0) => Sampler::Pos(Pos::default()),
            (Sampling::Pct { depth }, _) => pct(depth),
            (Sampling::Portfolio, n) => pct(n as u32),
        }
    }

    /// The position in `ready`, which is not empty, of the thread to go next; `last` is what was performed last.
    pub(crate) fn next(&mut self, ready: &[Candidate], last: Option<Performed>, random: &mut Random) -> usize {
        match self {
            Sampler::Uniform(sampler) => sampler.next(ready, random),
            Sampler::Pct(sampler) => sampler.next(ready, last, random),
            Sampler::Pos(sampler) => sampler.next(ready, last, random),
            Sampler::Focused(sampler) => sampler.next(ready, last, random),
        }
    }
}
