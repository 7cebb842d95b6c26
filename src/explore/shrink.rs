//! The search for a failure that is easier to understand: an interleaving rather than one that needs weak memory, then the
//! fewest preemptions, then the fewest steps, then the fewest threads.
//!
//! A failure that was found at random is first reduced: something is taken out of it, what remains is run, and if that still
//! fails in the same way, it is the next to be reduced. Whatever is kept has been run. What this cannot find, executions that
//! are not part of the one at hand, the exploration of all executions with fewer preemptions finds; it also proves that there
//! are none. Both are deterministic, and take no more executions than [`Builder::shrink`](crate::Builder::shrink) says.

use std::collections::HashSet;

use dpor::{Decision, Ending, Memory, Plan, ThreadId};

use super::Run;
use super::search::{Explored, Hit, Job, Limits, locate};
use crate::builder::{Builder, Strategy};
use crate::engine::{Engine, Failure, Learnt, Outcome, hook};
use crate::fiber::{self, Abandoned};
use crate::report::trace::{Found, MemoryNote, Shrunk};

/// What makes a failure hard to understand, the worst first: whether it needs weak memory, how many preemptions, steps and
/// threads it has.
type Size = (bool, u32, usize, usize);

/// The size of a failing execution.
fn size(hit: &Hit) -> Size {
    let threads: HashSet<ThreadId> = hit.schedule.decisions.iter().map(|decision| decision.thread).collect();
    (!hit.interleaving, hit.cost, hit.schedule.decisions.len(), threads.len())
}

impl Run<'_> {
    /// Looks for a failure that is easier to understand.
    pub(super) fn simplify(
        &self,
        builder: &Builder,
        hit: Hit,
        found: &mut Found,
        learnt: &[Learnt],
    ) -> (Hit, Option<MemoryNote>) {
        let effort = builder.shrink;
        let tells =
            matches!(hit.failure, Failure::Panic(_) | Failure::Deadlock | Failure::Livelock | Failure::Race { .. });
        if !(tells || hit.failure.code() == "found") || effort == 0 {
            return (hit, None);
        }
        self.watchers.enter("shrinking", None, None);
        // Of those, a bounded search finds one with the fewest preemptions.
        let among_interleavings = hit.interleaving;
        let mut hit = hit;
        let chosen = found.seed.is_some() || found.replayed;
        if chosen {
            hit = self.reduce_as_found(builder, hit, found, learnt);
        }
        let limits = Limits { executions: Some(effort), until: None };
        // Whoever shares the work, and whatever is done already: these questions are about all executions.
        let whole = Builder { shard: None, checkpoint: None, strategy: Strategy::Exhaustive, ..builder.clone() };
        let sc = Builder { memory: Memory::Sc, ..whole.clone() };
        let races = matches!(hit.failure, Failure::Race { .. });
        let mut note = None;
        if races && builder.memory != Memory::Sc {
            // An interleaving that races here need not race under SC, where every ordering is `SeqCst`.
            let (simpler, answer) = self.without_weak_orderings(&sc, limits, learnt);
            note = answer;
            hit = simpler.filter(|_| !hit.interleaving).unwrap_or(hit);
        } else if !hit.interleaving {
            match self.run(&sc, &Job::exhaustive(&sc, limits), learnt) {
                Ok(Explored { hit: Some(simpler), .. }) => hit = simpler,
                _ => return (hit, Some(MemoryNote::NeedsWeakMemory)),
            }
        }
        let known = !chosen && builder.preemption_bound.is_some() && among_interleavings;
        // Of an interleaving that fails by its values, SC has all there is to find; and it has fewer executions.
        let within = if note == Some(MemoryNote::OrderingCures) { &whole } else { &sc };
        if !known {
            found.fewer.clear();
            for bound in 0..hit.preemptions.unwrap_or(0) {
                match self.run(within, &Job::interleavings(within, Some(bound), limits), learnt) {
                    Ok(Explored { hit: Some(simpler), .. }) if simpler.interleaving => {
                        hit = simpler;
                        if chosen {
                            hit = self.reduce_as_found(builder, hit, found, learnt);
                        }
                        break;
                    }
                    Ok(explored) if explored.hit.is_none() && explored.cut.is_empty() => {
                        found.fewer.push(explored.stats.executions);
                    }
                    _ => break,
                }
            }
        }
        let other = if builder.memory == Memory::Sc { MemoryNote::RanUnderSc } else { MemoryNote::FailsUnderSc };
        (hit, if races && builder.memory != Memory::Sc { note } else { Some(other) })
    }

    /// A data race with every ordering `SeqCst`, and whether there is one; that is not known if something else fails then,
    /// or if it takes too long.
    fn without_weak_orderings(
        &self,
        sc: &Builder,
        limits: Limits,
        learnt: &[Learnt],
    ) -> (Option<Hit>, Option<MemoryNote>) {
        match self.run(sc, &Job::exhaustive(sc, limits), learnt) {
            Ok(Explored { hit: Some(hit), .. }) if matches!(hit.failure, Failure::Race { .. }) => {
                (Some(hit), Some(MemoryNote::RacesWithEveryOrdering))
            }
            Ok(Explored { hit: None, cut, .. }) if cut.is_empty() => (None, Some(MemoryNote::OrderingCures)),
            _ => (None, None),
        }
    }

    /// Reduces a failure, and notes by how much.
    fn reduce_as_found(&self, builder: &Builder, hit: Hit, found: &mut Found, learnt: &[Learnt]) -> Hit {
        let used = found.shrunk.map_or(0, |shrunk| shrunk.executions);
        let limit = builder.shrink.saturating_sub(used);
        match self.reduce(builder, hit.clone(), learnt, limit) {
            Ok((start, reduced, executions)) => {
                let (_, preemptions, steps, _) = start;
                let before = found.shrunk.unwrap_or(Shrunk { preemptions, steps: steps as u64, executions: 0 });
                found.shrunk = Some(Shrunk { executions: used + executions, ..before });
                reduced
            }
            // A candidate that cannot even be run to its end is none.
            Err(_) => hit,
        }
    }

    /// The size of a failure, one that nothing can be taken out of, and how many executions it took to find it.
    fn reduce(
        &self,
        builder: &Builder,
        hit: Hit,
        learnt: &[Learnt],
        limit: u64,
    ) -> Result<(Size, Hit, u64), Abandoned> {
        let work = || {
            let _hook = hook::install();
            let config = builder.config(dpor::Strategy::Planned(Plan::default()), None);
            let engine = self.engine(builder, config, learnt, None);
            engine.run(|| {
                let reduction = Reduction { run: self, builder, engine: &engine, left: limit, tried: HashSet::new() };
                // Of a replay it is not known yet how many preemptions it needs, and what of it matters.
                let again =
                    reduction.try_plan(Plan::of(&hit.schedule)).filter(|again| again.failure.is_like(&hit.failure));
                let hit = again.filter(|_| hit.preemptions.is_none()).unwrap_or(hit);
                let start = size(&hit);
                let (hit, left) = reduction.of(hit);
                (start, hit, left)
            })
        };
        // SAFETY: as in `run_alone`.
        let (start, hit, left) = unsafe { fiber::run_on_worker(Some(&self.test), builder.max_pause, work) }?;
        Ok((start, hit, limit - left))
    }
}

/// The reduction of one failure.
struct Reduction<'a> {
    run: &'a Run<'a>,
    builder: &'a Builder,
    engine: &'a Engine,
    /// Executions that may still be run.
    left: u64,
    tried: HashSet<Plan>,
}

impl Reduction<'_> {
    /// The smallest failure that is reached by taking out one thing after the other, and the executions that are left.
    fn of(mut self, mut hit: Hit) -> (Hit, u64) {
        'smaller: loop {
            for candidate in candidates(&Plan::of(&hit.schedule)) {
                if self.left == 0 {
                    return (hit, 0);
                }
                if !self.tried.insert(candidate.clone()) {
                    continue;
                }
                self.left -= 1;
                if let Some(found) = self.try_plan(candidate)
                    && found.failure.is_like(&hit.failure)
                    && size(&found) < size(&hit)
                {
                    hit = found;
                    continue 'smaller;
                }
            }
            return (hit, self.left);
        }
    }

    /// What comes of a plan, if it fails.
    fn try_plan(&self, plan: Plan) -> Option<Hit> {
        self.run.watchers.advance(1);
        let config = self.builder.config(dpor::Strategy::Planned(plan), None);
        self.engine.restart(config.clone());
        while let Some(outcome) = self.engine.next(self.run.body, self.run.site) {
            match outcome {
                Outcome::Ended(Ending::Probe) => {}
                Outcome::Ended(_) => return None,
                Outcome::Failed(failure, roots) => {
                    return Some(self.engine.explorer(|explorer| locate(explorer, failure, &roots)));
                }
                Outcome::Restart => self.engine.restart(config.clone()),
            }
        }
        None
    }
}

/// What may remain when something is taken out: a thread, a turn, a switch between threads, an unusual outcome, a step. What
/// takes out most comes first.
fn candidates(plan: &Plan) -> Vec<Plan> {
    let mut all = Vec::new();
    let threads: HashSet<ThreadId> = plan.turns.iter().map(|(thread, _)| *thread).collect();
    let mut threads: Vec<ThreadId> = threads.into_iter().filter(|thread| *thread != ThreadId::MAIN).collect();
    threads.sort_unstable();
    for thread in threads {
        let turns = plan.turns.iter().copied().filter(|(other, _)| *other != thread).collect();
        all.push(Plan { turns, outcomes: plan.outcomes.clone() });
    }
    all.push(Plan { turns: plan.turns.clone(), outcomes: Vec::new() });
    for index in 0..plan.turns.len() {
        let (thread, until) = plan.turns[index];
        let next = plan.turns[index + 1..].iter().position(|(other, _)| *other == thread);
        if let Some(next) = next.map(|next| index + 1 + next) {
            // It goes on at once as far as it goes in its next turn; or only then.
            let mut earlier = plan.clone();
            earlier.turns[index].1 = plan.turns[next].1;
            earlier.turns.remove(next);
            all.push(earlier);
        }
        let mut without = plan.clone();
        without.turns.remove(index);
        all.push(without);
        let before = plan.turns[..index].iter().rev().find(|(other, _)| *other == thread).map_or(0, |turn| turn.1);
        if until > before + 1 {
            let mut shorter = plan.clone();
            shorter.turns[index].1 -= 1;
            all.push(shorter);
        }
    }
    for (thread, outcomes) in plan.outcomes.iter().enumerate() {
        for (index, outcome) in outcomes.iter().enumerate() {
            let usual = Decision { read: 0, place: 0, choice: 0, ..*outcome };
            if *outcome != usual {
                let mut plainer = plan.clone();
                plainer.outcomes[thread][index] = usual;
                all.push(plainer);
            }
        }
    }
    all
}
