//! The search for a failure that is easier to understand.

use dpor::Memory;

use super::Run;
use super::search::{Explored, Hit, Limits};
use crate::builder::{Builder, Strategy};
use crate::engine::{Failure, Learnt};
use crate::report::trace::{Found, MemoryNote};

/// Executions that the search for a simpler failure may take at each bound.
const SIMPLER: u64 = 20_000;
impl Run<'_> {
    /// Looks for a failure that is easier to understand: one that is an interleaving, and one with fewer preemptions.
    pub(super) fn simplify(
        &self,
        builder: &Builder,
        hit: Hit,
        found: &mut Found,
        learnt: &[Learnt],
    ) -> (Hit, Option<MemoryNote>) {
        if !matches!(hit.failure, Failure::Panic(_) | Failure::Deadlock | Failure::Livelock | Failure::Race { .. }) {
            return (hit, None);
        }
        let mut hit = hit;
        let limits = Limits { executions: Some(SIMPLER), until: None };
        let sc = Builder { memory: Memory::Sc, strategy: Strategy::Exhaustive, ..builder.clone() };
        if !hit.interleaving {
            match self.run(&sc, sc.config(None), limits, learnt) {
                Ok(Explored { hit: Some(simpler), .. }) => hit = simpler,
                _ => return (hit, Some(MemoryNote::NeedsWeakMemory)),
            }
        }
        if builder.preemption_bound.is_none() {
            for bound in 0..hit.preemptions.unwrap_or(0) {
                match self.run(&sc, sc.config(Some(bound)), limits, learnt) {
                    Ok(Explored { hit: Some(simpler), .. }) if simpler.interleaving => {
                        hit = simpler;
                        break;
                    }
                    Ok(explored) if explored.hit.is_none() && explored.cut.is_empty() => {
                        found.fewer.push(explored.stats.executions);
                    }
                    _ => break,
                }
            }
        }
        let note = if builder.memory == Memory::Sc { MemoryNote::RanUnderSc } else { MemoryNote::FailsUnderSc };
        (hit, Some(note))
    }
}
