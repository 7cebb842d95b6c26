//! Backward revisits: which older reads a new write may redirect to itself. ALGORITHM.md 3, `revisits` and `maximal`.

use super::Explorer;
use super::exhaustive::{Adding, Pick, Turn, deletable, order_of};
use crate::event::{EventId, Flags, Kind, Order, Part};
use crate::graph::{Clock, Graph};
use crate::op::{ObjectId, Outcome};

impl Explorer {
    /// Keeps the revisits of the write `write`, the last event, which is not in the modification order yet. `blind` is the
    /// lowest rank where coherence lets a blind store be placed; a write part has its place after what it reads.
    ///
    /// A revisit deletes everything that is newer than its read and that the write does not depend on; all of that, and the
    /// read itself, must be as the exploration of the remaining graph would add it, so that only one of the graphs that lead
    /// to the same revisited one passes. What one read asks for, older reads ask for too: the first event that does not pass
    /// ends the search.
    pub(super) fn revisits(&mut self, write: EventId, adding: Adding, blind: Option<usize>) {
        let object = self.frame.graph.events[write.index()].object;
        self.lengths.clear();
        self.lengths.extend(self.frame.graph.threads.iter().map(|t| t.events.len() as u32));
        while let Some(event) = newest_independent(&self.frame.graph, &mut self.lengths, write) {
            let graph = &self.frame.graph;
            let e = &graph.events[event.index()];
            if !deletable(e) || !maximal(graph, event, write) {
                return;
            }
            if e.part == Part::Read && e.object == object && !e.flags.has(Flags::NO_REVISIT) {
                self.revisit(object, event, write, adding, blind);
            }
        }
    }

    /// The read may be revisited: keeps one alternative for each outcome and place.
    fn revisit(&mut self, object: ObjectId, read: EventId, write: EventId, adding: Adding, blind: Option<usize>) {
        let mut outcomes = core::mem::take(&mut self.revisit_outcomes);
        let frame = &mut self.frame;
        let graph = &frame.graph;
        let e = graph.events[read.index()];
        let value = graph.events[write.index()].value;
        if matches!(e.kind, Kind::Update | Kind::Object) {
            let op = self.run.ops[read.index()].as_ref().expect("a performed event has its operation");
            Explorer::eval(&mut outcomes, op, value, e.thread);
        } else {
            outcomes.clear();
            outcomes.push(Outcome::read(value));
        }
        let (first, last) = match blind {
            Some(floor) => (floor, graph.object(object).co.len()),
            None => {
                let rank = graph.rank(graph.events[graph.po_pred(write).index()].rf);
                (rank, rank)
            }
        };
        for rank in first..=last {
            let place = graph.ranked(object, rank);
            if !stays(graph, place, read, write) || splits_kept_update(graph, object, rank, read, write) {
                continue;
            }
            if outcomes.as_slice().is_empty() {
                let turn = Turn::Displace { target: read };
                frame.alternatives.push(adding.alternative(place, turn));
                continue;
            }
            for (index, outcome) in outcomes.as_slice().iter().enumerate() {
                if coherent(graph, object, read, write, rank, order_of(&e, outcome.writes)) {
                    let turn = Turn::Revisit { target: read, pick: Pick::of(index, outcome) };
                    frame.alternatives.push(adding.alternative(place, turn));
                }
            }
        }
        self.revisit_outcomes = outcomes;
    }
}

/// The newest event that `write` does not depend on, among the first `lengths` ones of each thread; they get shorter by it.
/// In each thread these are the last ones, so the others are never looked at.
fn newest_independent(graph: &Graph, lengths: &mut [u32], write: EventId) -> Option<EventId> {
    let depends = graph.clock(write, Clock::Porf);
    let mut newest: Option<(usize, EventId)> = None;
    for (thread, &length) in lengths.iter().enumerate() {
        if length > depends[thread] {
            let event = graph.threads[thread].events[length as usize - 1];
            if newest.is_none_or(|(_, other)| other < event) {
                newest = Some((thread, event));
            }
        }
    }
    let (thread, event) = newest?;
    lengths[thread] -= 1;
    Some(event)
}

/// Whether an event is in the graph that remains when `read` is revisited by `write`.
#[inline]
fn stays(graph: &Graph, event: EventId, read: EventId, write: EventId) -> bool {
    event.is_init() || event <= read || graph.knows(write, Clock::Porf, event)
}

/// Whether `event` reads (or is) the newest write among the events up to it and those before `write`, and nobody among
/// them reads it.
fn maximal(graph: &Graph, event: EventId, write: EventId) -> bool {
    let e = &graph.events[event.index()];
    let newest = match e.part {
        Part::Read => e.rf,
        Part::Write => {
            let reads = &graph.object(e.object).reads;
            if reads.iter().any(|&r| r < event && graph.events[r.index()].rf == event) {
                return false;
            }
            event
        }
        _ => return true,
    };
    if !stays(graph, newest, event, write) {
        return false;
    }
    let co = &graph.object(e.object).co;
    !co[graph.rank(newest)..].iter().any(|&w| stays(graph, w, event, write))
}

/// Whether a write placed after the first `rank` ones would come between a read-modify-write that stays and what it reads.
fn splits_kept_update(graph: &Graph, object: ObjectId, rank: usize, read: EventId, write: EventId) -> bool {
    let place = graph.ranked(object, rank);
    let after = graph.object(object).co[rank..].iter().copied().find(|&w| stays(graph, w, read, write));
    after.is_some_and(|w| {
        let reader = graph.po_pred(w);
        graph.events[w.index()].flags.has(Flags::RMW) && graph.events[reader.index()].rf == place && reader != read
    })
}

/// Whether `read` may read from `write` when that is placed after the first `rank` writes.
fn coherent(graph: &Graph, object: ObjectId, read: EventId, write: EventId, rank: usize, order: Order) -> bool {
    let also = order.has(Order::ACQUIRE).then_some(write);
    graph.floor_before(object, graph.po_pred(read), read, also) <= rank
}
