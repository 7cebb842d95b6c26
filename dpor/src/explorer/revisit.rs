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
    #[inline]
    pub(super) fn revisits(&mut self, write: EventId, adding: Adding, blind: Option<usize>) {
        let graph = &self.frame.graph;
        let object = graph.events[write.index()].object;
        if !graph.object(object).reads.is_empty() && graph.is_accessed_beyond(object, graph.clock(write, Clock::Porf)) {
            self.look_for_revisits(object, write, adding, blind);
        }
    }

    #[inline(never)]
    fn look_for_revisits(&mut self, object: ObjectId, write: EventId, adding: Adding, blind: Option<usize>) {
        let graph = &self.frame.graph;
        let depends = graph.clock(write, Clock::Porf);
        let left = graph.threads.iter().zip(depends).map(|(t, &known)| t.events.len() as u32 - known).sum();
        // A write part stays right after what its read part reads from: in the place of one that is there already, which must
        // go, so that only older reads can be revisited, or the one that it belongs to.
        let below = match blind {
            Some(_) => graph.len(),
            None => {
                let rank = graph.rank(graph.events[graph.po_pred(write).index()].rf);
                let next = graph.object(object).co.get(rank);
                next.filter(|next| graph.events[next.index()].flags.has(Flags::RMW)).map_or(graph.len(), |w| w.index())
            }
        };
        let mut deleted = Deleted { stamp: graph.len(), left, below };
        while let Some(read) = deleted.next_read(&self.frame.graph, object, write) {
            self.revisit(object, read, write, adding, blind);
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
            Explorer::eval(&mut outcomes, &self.run.actions[read.index()], value, e.thread);
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

/// The events that a write does not depend on, met newest first as far as they may be deleted.
struct Deleted {
    /// All events with this stamp or a higher one have been met.
    stamp: usize,
    /// How many have not been met.
    left: u32,
    /// Only reads older than this stamp may be revisited.
    below: usize,
}

impl Deleted {
    /// The next read of the object that may be revisited.
    fn next_read(&mut self, graph: &Graph, object: ObjectId, write: EventId) -> Option<EventId> {
        if self.left == 0 {
            return None;
        }
        let depends = graph.clock(write, Clock::Porf);
        for (stamp, e) in graph.events[..self.stamp].iter().enumerate().rev() {
            if e.index < depends[e.thread.index()] {
                continue;
            }
            let event = EventId(stamp as u32);
            if !deletable(e) {
                return None;
            }
            // The write part of this read part has passed: it comes right after what the read part reads from, and what comes
            // after it in modification order does not stay.
            let is_known = e.flags.has(Flags::WRITES) && !e.po_next.is_init();
            let passes = if is_known { stays(graph, e.rf, event, write) } else { maximal(graph, event, write) };
            if !passes {
                return None;
            }
            self.left -= 1;
            let is_read = e.part == Part::Read && e.object == object && stamp < self.below;
            if is_read && !e.flags.has(Flags::NO_REVISIT) {
                self.stamp = stamp;
                return Some(event);
            }
            if self.left == 0 {
                return None;
            }
        }
        None
    }
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
            if e.flags.has(Flags::READ_BY_OLDER) {
                let reads = &graph.object(e.object).reads;
                if reads.iter().any(|&r| r < event && graph.events[r.index()].rf == event) {
                    return false;
                }
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
    let thread = graph.event(read).thread.index();
    graph.floor_before(object, thread, graph.po_pred(read), read, also) <= rank
}
