//! How many executions are there? Estimated by sampling the tree of the exhaustive search, in which the alternatives that a run
//! has met are its children.
//!
//! A walk from the root to a leaf that multiplies the numbers of children is an unbiased guess (Knuth: Estimating the
//! Efficiency of Backtrack Programs, Mathematics of Computation 29, 1975), but these trees are too uneven for it. So a sample
//! goes down the whole breadth of the tree, generation by generation, and keeps of each *stratum*, alternatives that are
//! likely to have trees of about the same size, only one, which stands for all (Chen: Heuristic Sampling: A Method for
//! Predicting the Performance of Tree Searching Programs, SIAM Journal on Computing 21, 1992). Whatever the strata are, the
//! guess is unbiased.

use std::collections::BTreeMap;

use super::exhaustive::Alternative;
use super::share::WorkItem;
use super::{Explorer, Frame};
use crate::strategy::Random;

/// An estimated number of executions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of the samples.
    pub executions: f64,
    /// The standard error of that. A few large guesses that did not come up would raise both.
    pub error: f64,
    /// How many samples.
    pub samples: u32,
}

/// Of each generation, graphs are told apart by how long they are, in so many classes.
const LENGTHS: usize = 16;

/// Alternatives that stand for each other: what is to be done, and how much of the graph remains.
type Stratum = (u8, usize);

/// A series of samples.
#[derive(Debug)]
pub(super) struct Survey {
    random: Random,
    left: u32,
    /// How many executions the current run stands for.
    weight: f64,
    /// Executions counted before the current run.
    counted: u64,
    /// Of the current sample so far.
    guess: f64,
    /// Still to be run of this generation, and the next one.
    generation: Vec<(f64, WorkItem)>,
    next: BTreeMap<Stratum, (f64, WorkItem)>,
    guesses: Vec<f64>,
}

impl Survey {
    pub(super) fn new(seed: u64, samples: u32) -> Survey {
        Survey {
            random: Random::new(seed, 0),
            left: samples,
            weight: 1.0,
            counted: 0,
            guess: 0.0,
            generation: Vec::new(),
            next: BTreeMap::new(),
            guesses: Vec::new(),
        }
    }

    /// One more alternative of the next generation, which stands for as much as the run that met it.
    fn meet(&mut self, stratum: Stratum, item: impl FnOnce() -> WorkItem) {
        let weight = self.weight;
        match self.next.get_mut(&stratum) {
            None => _ = self.next.insert(stratum, (weight, item())),
            Some((total, kept)) => {
                *total += weight;
                if self.random.unit() * *total < weight {
                    *kept = item();
                }
            }
        }
    }
}

impl Explorer {
    /// What has been learned by [`Strategy::Estimate`](crate::Strategy::Estimate).
    pub fn estimate(&self) -> Option<Estimate> {
        let guesses = &self.survey.as_ref().filter(|survey| !survey.guesses.is_empty())?.guesses;
        let n = guesses.len() as f64;
        let mean = guesses.iter().sum::<f64>() / n;
        let variance = guesses.iter().map(|guess| (guess - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        Some(Estimate { executions: mean, error: (variance / n).sqrt(), samples: guesses.len() as u32 })
    }

    /// The next run of the survey; false at the end.
    pub(super) fn next_of_survey(&mut self) -> bool {
        if self.run.probe.is_some() {
            return true;
        }
        let Some(mut survey) = self.survey.take() else { return false };
        if core::mem::replace(&mut self.started, true) {
            self.look_around(&mut survey);
        }
        let more = self.go_on(&mut survey);
        survey.counted = self.stats.executions;
        self.survey = Some(survey);
        more
    }

    /// Notes what the last run came to, and what it has met.
    fn look_around(&mut self, survey: &mut Survey) {
        if self.stats.executions > survey.counted {
            survey.guess += survey.weight;
        }
        let alternatives = core::mem::take(&mut self.frame.alternatives);
        for alternative in &alternatives {
            let (turn, kept) = alternative.turn_and_length();
            let length = kept * LENGTHS / self.frame.graph.len().max(1);
            survey.meet((turn, length), || self.item(&self.frame, *alternative));
        }
    }

    fn go_on(&mut self, survey: &mut Survey) -> bool {
        loop {
            while let Some((weight, item)) = survey.generation.pop() {
                survey.weight = weight;
                if self.take_item(item) {
                    return true;
                }
            }
            if survey.next.is_empty() {
                break;
            }
            survey.generation = core::mem::take(&mut survey.next).into_values().collect();
        }
        if !self.frame.graph.is_empty() {
            survey.guesses.push(core::mem::take(&mut survey.guess));
        }
        if survey.left == 0 {
            return false;
        }
        survey.left -= 1;
        survey.weight = 1.0;
        self.frame = Frame::default();
        self.frame.graph.reserve_threads(self.thread_count);
        true
    }

    fn take_item(&mut self, item: WorkItem) -> bool {
        self.outer.clear();
        self.frame = item.into_frame();
        let alternative: Option<Alternative> = self.frame.alternatives.pop();
        alternative.is_some_and(|alternative| self.take(alternative))
    }
}
