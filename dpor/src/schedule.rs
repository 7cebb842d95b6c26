//! One execution as a list of decisions: what a replay needs.

use crate::event::{EventId, Part};
use crate::graph::Graph;
use crate::op::ThreadId;

/// One operation of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decision {
    /// Who performs it.
    pub thread: ThreadId,
    /// Reads: how many newer writes there are than the one it reads from; 0 for the newest.
    pub read: u32,
    /// Blind stores: how many writes there are after the place where it is put; 0 for the last.
    pub place: u32,
    /// Which outcome.
    pub choice: u32,
}

/// The operations of an execution in the order in which they are performed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// One for each operation.
    pub decisions: Vec<Decision>,
}

impl Schedule {
    /// The schedule that performs `order`, events of `graph`, which must extend program order and reads-from.
    ///
    /// Threads are numbered in the order of their spawns in it, as an explorer does that runs nothing else: the numbers in
    /// `graph` depend on what was explored before.
    pub fn of(graph: &Graph, order: &[EventId]) -> Schedule {
        let mut numbers: Vec<Option<ThreadId>> = vec![None; graph.thread_count().max(1)];
        numbers[0] = Some(ThreadId::MAIN);
        let mut count = 1;
        let mut performed: Vec<Vec<EventId>> = vec![Vec::new(); graph.object_count()];
        let mut decisions = Vec::with_capacity(order.len());
        for &event in order {
            let e = graph.event(event);
            let thread = numbers[e.thread.index()].unwrap_or(e.thread);
            if e.part == Part::Spawn
                && let Some(child) = graph.spawned_thread(event)
            {
                numbers[child.index()] = Some(ThreadId(count));
                count += 1;
            }
            let mut decision = Decision { thread, read: 0, place: 0, choice: e.choice };
            if e.is_access() {
                let newer = |than: EventId, writes: &[EventId]| {
                    writes.iter().filter(|&&w| graph.rank(w) > graph.rank(than)).count() as u32
                };
                let writes = &mut performed[e.object.index()];
                match e.part {
                    Part::Read => decision.read = newer(e.rf, writes),
                    _ => {
                        decision.place = newer(event, writes);
                        writes.push(event);
                    }
                }
            }
            if !graph.is_write_part(event) {
                decisions.push(decision);
            }
        }
        Schedule { decisions }
    }
}
