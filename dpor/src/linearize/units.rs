//! Pieces of threads that are performed at once, and what each must come after.

use super::{Known, Linearizer};
use crate::event::{EventId, Flags, Kind, Part};
use crate::explorer::spin_choice;
use crate::graph::{Clock, Graph};
use crate::op::{Action, ThreadId};

/// Which edges an order of the events must respect, besides program order and reads-from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edges {
    /// Modification order and from-reads too: an interleaving.
    Interleaving,
    /// Modification order: writes come in it, reads may be stale.
    Modification,
    /// None: an order in which the program can be run.
    Causality,
}

/// The home of an event that is not wanted.
pub(super) const NOWHERE: (u16, u32) = (u16::MAX, 0);

/// One or more events of a thread that are performed together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// Its events are those of the thread from this index…
    pub(super) first: u32,
    /// …up to, but without, this one.
    pub(super) end: u32,
    /// Its accesses that can be stale are those of the lane up to, but without, this one, from where the last unit's end.
    pub(super) accesses: u32,
    /// Leaving the thread after this unit costs nothing.
    pub(super) yields: bool,
    /// So does leaving it right before (a timed wait).
    pub(super) free: bool,
}

/// A thread with events to be ordered.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    pub(super) thread: ThreadId,
    /// How many of the thread's events are wanted.
    events: u32,
    pub(super) units: Vec<Unit>,
    /// Per unit, how many units of each lane must come before.
    pub(super) needs: Vec<u32>,
    /// Per access that can be stale, how many units of each lane may come before it is.
    pub(super) fresh: Vec<u32>,
}

impl Linearizer {
    /// Cuts the wanted events into units; false if the edges are cyclic.
    pub(super) fn prepare(
        &mut self,
        graph: &Graph,
        known: Known<'_>,
        wanted: impl Fn(EventId) -> bool,
        edges: Edges,
    ) -> bool {
        self.home.clear();
        self.home.resize(graph.len(), NOWHERE);
        self.used = 0;
        for index in 0..graph.thread_count() {
            let thread = ThreadId(index as u32);
            let events = graph.thread_events(thread);
            if !events.first().is_some_and(|&e| wanted(e)) {
                continue;
            }
            if self.lanes.len() == self.used {
                self.lanes.push(Lane::default());
            }
            let lane = &mut self.lanes[self.used];
            lane.thread = thread;
            lane.events = 0;
            for &event in events.iter().take_while(|&&e| wanted(e)) {
                self.home[event.index()].0 = self.used as u16;
                lane.events += 1;
            }
            self.used += 1;
        }
        if edges == Edges::Interleaving {
            self.list_readers(graph);
        }
        for place in 0..self.used {
            self.cut(graph, known, place, edges);
        }
        self.count_needs_in_units(graph);
        if edges != Edges::Interleaving {
            self.fill_fresh(graph, edges);
        }
        self.is_acyclic()
    }

    fn is_wanted(&self, event: EventId) -> bool {
        self.home[event.index()].0 != NOWHERE.0
    }

    /// Which reads must come before which writes: those of what is overwritten, as far as anybody wants it.
    fn list_readers(&mut self, graph: &Graph) {
        self.readers.clear();
        self.readers.resize(2 * graph.len(), EventId::INIT);
        for place in 0..self.used {
            let lane = &self.lanes[place];
            for &read in &graph.thread_events(lane.thread)[..lane.events as usize] {
                let e = graph.event(read);
                if e.part != Part::Read {
                    continue;
                }
                let newer = &graph.modification_order(e.object)[graph.rank(e.rf)..];
                // What its own thread overwrites comes later anyway.
                if let Some(&write) = newer.iter().find(|&&write| self.is_wanted(write))
                    && graph.event(write).thread != e.thread
                {
                    self.readers[2 * read.index()] = self.readers[2 * write.index() + 1];
                    self.readers[2 * write.index() + 1] = read;
                }
            }
        }
    }

    /// Cuts a thread into units. An event joins the unit before it if it can always follow at once: nobody can gain by coming
    /// between.
    fn cut(&mut self, graph: &Graph, known: Known<'_>, place: usize, edges: Edges) {
        let width = self.used;
        let mut lane = core::mem::take(&mut self.lanes[place]);
        lane.units.clear();
        lane.needs.clear();
        let mut reached = core::mem::take(&mut self.at);
        reached.clear();
        reached.resize(width, 0);
        let events = &graph.thread_events(lane.thread)[..lane.events as usize];
        let mut index = 0;
        while index < events.len() {
            let event = events[index];
            let writes = events.get(index + 1).is_some_and(|&next| graph.is_write_part(next));
            let end = index + 1 + usize::from(writes);
            let mut new = false;
            for &event in &events[index..end] {
                self.predecessors(graph, event, edges, |before| {
                    let other = self.home[before.index()].0;
                    if other == NOWHERE.0 || other as usize == place {
                        return;
                    }
                    let need = graph.event(before).index + 1;
                    let reached = &mut reached[other as usize];
                    if need > *reached {
                        *reached = need;
                        new = true;
                    }
                });
            }
            let e = graph.event(event);
            let yields = e.kind == Kind::Spin && e.choice != spin_choice::PARK;
            let free = leaves_freely(graph, known, event);
            let both = &events[index..end];
            let waits =
                new || free || changes_guard(graph, both) || (edges != Edges::Interleaving && makes_stale(graph, both));
            match lane.units.last_mut().filter(|unit| !(waits || unit.yields)) {
                Some(unit) => {
                    unit.end = end as u32;
                    unit.yields = yields;
                }
                None => {
                    lane.units.push(Unit { first: index as u32, end: end as u32, accesses: 0, yields, free });
                    lane.needs.extend_from_slice(&reached);
                }
            }
            for &event in &events[index..end] {
                self.home[event.index()].1 = lane.units.len() as u32 - 1;
            }
            index = end;
        }
        self.at = reached;
        self.lanes[place] = lane;
    }

    /// The needs have been counted in events so far.
    fn count_needs_in_units(&mut self, graph: &Graph) {
        let width = self.used;
        for place in 0..width {
            let mut needs = core::mem::take(&mut self.lanes[place].needs);
            for row in needs.chunks_exact_mut(width) {
                for (other, need) in row.iter_mut().enumerate().filter(|(_, need)| **need > 0) {
                    let last = graph.thread_events(self.lanes[other].thread)[*need as usize - 1];
                    *need = self.home[last.index()].1 + 1;
                }
            }
            self.lanes[place].needs = needs;
        }
    }

    /// The wanted events that must come right before one: not those that must come before these.
    fn predecessors(&self, graph: &Graph, event: EventId, edges: Edges, mut found: impl FnMut(EventId)) {
        let e = graph.event(event);
        if e.index == 0 {
            let spawn = graph.po_pred(event);
            if !spawn.is_init() {
                found(spawn);
            }
        }
        if matches!(e.part, Part::Read | Part::Join) && !e.rf.is_init() {
            found(e.rf);
        }
        if e.part != Part::Write || edges == Edges::Causality {
            return;
        }
        let older = &graph.modification_order(e.object)[..graph.rank(event) - 1];
        if let Some(&before) = older.iter().rev().find(|&&write| self.is_wanted(write)) {
            found(before);
        }
        if edges == Edges::Interleaving {
            let mut reader = self.readers[2 * event.index() + 1];
            while !reader.is_init() {
                found(reader);
                reader = self.readers[2 * reader.index()];
            }
        }
    }

    pub(super) fn is_ready(&self, lane: usize, at: &[u32]) -> bool {
        let position = at[lane] as usize;
        let l = &self.lanes[lane];
        position < l.units.len()
            && l.needs[position * self.used..][..self.used].iter().zip(at).all(|(need, at)| need <= at)
    }

    /// Notes which units of others make an access stale.
    fn fill_fresh(&mut self, graph: &Graph, edges: Edges) {
        for place in 0..self.used {
            let Lane { thread, units, fresh, .. } = &mut self.lanes[place];
            fresh.clear();
            let mut accesses = 0;
            for unit in units {
                for &event in &graph.thread_events(*thread)[unit.first as usize..unit.end as usize] {
                    let start = fresh.len();
                    for write in newer(graph, event, edges) {
                        let (lane, index) = self.home[write.index()];
                        if lane == NOWHERE.0 || lane as usize == place {
                            continue;
                        }
                        if fresh.len() == start {
                            fresh.resize(start + self.used, u32::MAX);
                            accesses += 1;
                        }
                        let most = &mut fresh[start + lane as usize];
                        *most = (*most).min(index);
                    }
                }
                unit.accesses = accesses;
            }
        }
    }

    fn is_acyclic(&mut self) -> bool {
        let mut at = core::mem::take(&mut self.at);
        at.clear();
        at.resize(self.used, 0);
        loop {
            let mut progress = false;
            for lane in 0..self.used {
                while self.is_ready(lane, &at) {
                    at[lane] += 1;
                    progress = true;
                }
            }
            if !progress {
                break;
            }
        }
        let all = self.is_at_end(&at);
        self.at = at;
        all
    }

    /// Whether every lane has come to its end.
    pub(super) fn is_at_end(&self, at: &[u32]) -> bool {
        self.lanes().iter().zip(at).all(|(lane, &at)| at as usize == lane.units.len())
    }

    pub(super) fn events_of<'a>(&self, graph: &'a Graph, lane: usize, unit: usize) -> &'a [EventId] {
        let l = &self.lanes[lane];
        &graph.thread_events(l.thread)[l.units[unit].first as usize..l.units[unit].end as usize]
    }
}

/// Whether the events may change whether others can go on. Until they are performed, others may be left at no cost because
/// they are blocked: so something can be gained by coming right before.
fn changes_guard(graph: &Graph, events: &[EventId]) -> bool {
    events.iter().any(|&e| {
        let event = graph.event(e);
        event.kind == Kind::End || (event.kind == Kind::Object && event.part == Part::Write)
    })
}

/// Whether the events, performed, can make accesses of others stale that are not known to come before.
fn makes_stale(graph: &Graph, events: &[EventId]) -> bool {
    events.iter().filter(|event| graph.event(**event).part == Part::Write).any(|&write| {
        let e = graph.event(write);
        let rank = graph.rank(write);
        (0..graph.thread_count()).filter(|&thread| thread != e.thread.index()).any(|thread| {
            // By coherence, those below the write are older than the others of their thread.
            let mut access = graph.head(e.object, thread);
            while !access.is_init() && graph.rank(graph.view(access)) >= rank {
                access = graph.event(access).prev_same;
            }
            !access.is_init() && !graph.knows(write, Clock::Porf, access)
        })
    })
}

/// The writes that make an access stale. A read-modify-write is one access.
fn newer(graph: &Graph, event: EventId, edges: Edges) -> &[EventId] {
    let e = graph.event(event);
    let rank = match e.part {
        Part::Read => graph.rank(e.rf),
        Part::Write if edges == Edges::Causality && !e.flags.has(Flags::RMW) => graph.rank(event),
        _ => return &[],
    };
    &graph.modification_order(e.object)[rank..]
}

/// Whether leaving a thread right before this event costs nothing by its own kind (a timed wait).
fn leaves_freely(graph: &Graph, known: Known<'_>, event: EventId) -> bool {
    if graph.event(event).kind != Kind::Object {
        return false;
    }
    match known.actions.get(event.index()) {
        Some(action) => matches!(action, Action::Object { yields: true, .. }),
        _ => known.actions.is_empty(),
    }
}
