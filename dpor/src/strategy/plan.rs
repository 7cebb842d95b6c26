//! An order to be followed as far as it goes: what is left of an execution when some of it was taken out.

use crate::op::ThreadId;
use crate::schedule::{Decision, Schedule};

/// An execution that may not exist: who runs how far, in turn, and what operations are to read.
///
/// Whoever cannot go on is passed over. After the last turn, each thread goes on as long as it can.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Plan {
    /// Threads in turn, each until it has performed so many operations in all.
    pub turns: Vec<(ThreadId, u32)>,
    /// What each operation of each thread is to do, as far as that is possible; what is beyond the end reads the newest value
    /// and has its usual outcome.
    pub outcomes: Vec<Vec<Decision>>,
}

impl Plan {
    /// The turns and outcomes of a schedule.
    pub fn of(schedule: &Schedule) -> Plan {
        let mut plan = Plan::default();
        for decision in &schedule.decisions {
            let thread = decision.thread;
            if plan.outcomes.len() <= thread.index() {
                plan.outcomes.resize(thread.index() + 1, Vec::new());
            }
            let outcomes = &mut plan.outcomes[thread.index()];
            outcomes.push(*decision);
            let performed = outcomes.len() as u32;
            match plan.turns.last_mut() {
                Some((last, until)) if *last == thread => *until = performed,
                _ => plan.turns.push((thread, performed)),
            }
        }
        plan
    }

    /// What the operation `index` of a thread is to do.
    pub(crate) fn outcome(&self, thread: ThreadId, index: u32) -> Decision {
        let planned = self.outcomes.get(thread.index()).and_then(|outcomes| outcomes.get(index as usize)).copied();
        planned.unwrap_or(Decision { thread, read: 0, place: 0, choice: 0 })
    }
}
