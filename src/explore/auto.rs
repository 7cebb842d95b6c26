//! What fits: everything, or else what has few preemptions, and then random executions.

use std::time::Instant;

use dpor::{Draws, Sampling, Stats};

use super::Run;
use super::search::{Explored, Job, Limits, Searched, about, explored_in_full};
use crate::builder::Builder;
use crate::fiber::Abandoned;
use crate::progress::Estimate;
use crate::report::count;

/// Executions that the whole search may take, if nothing else is said.
const BUDGET: u64 = 100_000;

/// Executions after which the search makes up its mind.
const FIRST: u64 = 2_000;

impl Run<'_> {
    pub(super) fn auto(&self, builder: &Builder, limits: Limits) -> Result<Searched, Abandoned> {
        let budget = limits.executions.unwrap_or(BUDGET);
        let began = Instant::now();
        self.watchers.enter("exhaustive", None, None);
        let first = self.run(builder, &Job::exhaustive(builder, limits.at_most(budget.min(FIRST))), &[])?;
        if first.hit.is_some() || first.cut.is_empty() || budget <= FIRST {
            return Ok(first.into());
        }
        let rate = first.stats.executions as f64 / began.elapsed().as_secs_f64().max(1e-9);
        let survey = self.survey(builder, limits)?;
        if survey.hit.is_some() {
            return Ok(Searched { drawn: Some("estimating".to_owned()), ..survey.into() });
        }
        let in_time = limits.until.map(|until| until.saturating_duration_since(Instant::now()).as_secs_f64() * rate);
        let fits = |estimate: Estimate| {
            estimate.executions <= budget as f64 && in_time.is_none_or(|most| estimate.executions <= most)
        };
        match survey.estimate {
            Some(estimate) if !fits(estimate) => {
                self.announce(estimate, "exploring those with few preemptions, then random ones");
                self.few_then_random(builder, limits, budget, estimate)
            }
            estimate => {
                if let Some(estimate) = estimate {
                    self.announce(estimate, "exploring all of them");
                }
                self.watchers.start_again();
                self.watchers.enter("exhaustive", None, estimate);
                Ok(self.run(builder, &Job::exhaustive(builder, limits.at_most(budget)), &[])?.into())
            }
        }
    }

    /// Half of the budget for few preemptions, the rest for random executions.
    fn few_then_random(
        &self,
        builder: &Builder,
        limits: Limits,
        budget: u64,
        estimate: Estimate,
    ) -> Result<Searched, Abandoned> {
        let now = Instant::now();
        let half = |until: Instant| now + until.saturating_duration_since(now) / 2;
        let mut spent = 0;
        let mut bounds = Bounds::default();
        let stopped = loop {
            let left = (budget / 2).saturating_sub(spent);
            let limits = Limits { executions: Some(left.max(1)), until: limits.until.map(half) };
            let explored = self.within(builder, Some(bounds.fewer.len() as u32), limits)?;
            spent += explored.stats.executions;
            bounds.stats = sum(bounds.stats, explored.stats);
            if explored.hit.is_some() || (explored.cut.is_empty() && !explored.is_beyond()) {
                return Ok(Searched { explored, fewer: bounds.fewer, drawn: None });
            }
            if !explored.cut.is_empty() {
                break explored;
            }
            bounds.fewer.push(explored.stats.executions);
        };
        let left = budget.saturating_sub(spent).max(1);
        let mut found = self.random(builder, Draws::new(Sampling::Portfolio, builder.seed, left), limits)?;
        let drawn = found.explored.stats.executions;
        found.explored.stats = sum(bounds.stats, found.explored.stats);
        found.explored.met |= stopped.met;
        found.fewer = bounds.fewer;
        if found.explored.hit.is_none() {
            let few = explored_in_full(&found.fewer);
            found
                .explored
                .cut
                .splice(0..0, [about(estimate), few, format!("then {} at random", count(drawn, "execution"))]);
        }
        Ok(found)
    }
}

impl Explored {
    /// Whether there are executions beyond the bounds.
    pub(super) fn is_beyond(&self) -> bool {
        self.stats.pruned + self.stats.bounded + self.stats.refused > 0
    }
}

/// The bounds that have been explored.
#[derive(Debug, Default)]
struct Bounds {
    fewer: Vec<u64>,
    stats: Stats,
}

/// What was counted since `before`.
pub(super) fn difference(now: Stats, before: Stats) -> Stats {
    Stats {
        executions: now.executions - before.executions,
        deadlocks: now.deadlocks - before.deadlocks,
        livelocks: now.livelocks - before.livelocks,
        dropped: now.dropped - before.dropped,
        bounded: now.bounded - before.bounded,
        pruned: now.pruned - before.pruned,
        probes: now.probes - before.probes,
        unfinished: now.unfinished - before.unfinished,
        weak: now.weak - before.weak,
        refused: now.refused - before.refused,
        spin_cut: now.spin_cut - before.spin_cut,
        steps: now.steps - before.steps,
    }
}

/// Both together.
pub(super) fn sum(a: Stats, b: Stats) -> Stats {
    Stats {
        executions: a.executions + b.executions,
        deadlocks: a.deadlocks + b.deadlocks,
        livelocks: a.livelocks + b.livelocks,
        dropped: a.dropped + b.dropped,
        bounded: a.bounded + b.bounded,
        pruned: a.pruned + b.pruned,
        probes: a.probes + b.probes,
        unfinished: a.unfinished + b.unfinished,
        weak: a.weak + b.weak,
        refused: a.refused + b.refused,
        spin_cut: a.spin_cut + b.spin_cut,
        steps: a.steps + b.steps,
    }
}
