//! Interleavings of a graph: the fewest preemptions that one needs, and one that needs no more. BOUNDING.md.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use crate::event::{EventId, Kind, Part};
use crate::explorer::spin_choice;
use crate::graph::{Clock, Graph};
use crate::memory::{self, Scratch};
use crate::op::{Action, ObjectId, Outcomes, ThreadId};

/// States of the search after which it is given up for a cheaper answer.
const PATIENCE: usize = 400_000;

/// Which edges an order of the events must respect, besides program order and reads-from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edges {
    /// Modification order and from-reads too: an interleaving.
    Interleaving,
    /// Modification order: writes come in it, reads may be stale.
    Modification,
    /// None: an order in which the program can be run.
    Causality,
}

/// One or more events of a thread that are performed together.
#[derive(Clone, Copy, Debug)]
struct Unit {
    /// Its events are those of the thread from this index…
    first: u32,
    /// …up to, but without, this one.
    end: u32,
    /// Leaving the thread after this unit costs nothing.
    yields: bool,
    /// So does leaving it right before (a timed wait).
    free: bool,
}

/// A thread with events to be ordered.
#[derive(Clone, Debug, Default)]
struct Lane {
    thread: ThreadId,
    units: Vec<Unit>,
    /// Per unit, how many units of each lane must come before.
    needs: Vec<u16>,
}

/// Searches for the cheapest interleaving, by breadth first over (position of each thread, last thread) with costs 0 and 1.
#[derive(Debug, Default)]
pub(crate) struct Linearizer {
    lanes: Vec<Lane>,
    used: usize,
    /// Of each event: its lane and unit.
    home: Vec<Option<(u16, u16)>>,
    outcomes: Outcomes,
    nodes: Vec<Node>,
    best: HashMap<u128, u32, BuildHasherDefault<Mixer>>,
    queue: VecDeque<u32>,
    moved: Vec<Vec<u16>>,
    at: Vec<u16>,
}

/// What is known of the operations behind a graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    /// What the read parts of updates and operations on objects do; empty if the graph has not been run.
    pub(crate) actions: &'a [Action],
}

impl Known<'_> {
    /// Of a graph that has not been run.
    const NOTHING: Known<'static> = Known { actions: &[] };
}

/// A state of the search: the packed positions with the lane that moved last, what it cost, and where it comes from.
#[derive(Clone, Copy, Debug)]
struct Node {
    key: u128,
    cost: u32,
    parent: u32,
}

/// Hashes packed states, which are dense in their low bits.
#[derive(Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u128(u128::from(byte));
        }
    }

    fn write_u128(&mut self, value: u128) {
        let folded = (value as u64) ^ ((value >> 64) as u64).rotate_left(29) ^ self.0;
        let mixed = folded.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }
}

/// How positions are packed: bits of each lane's position, and where they start. The last lane to move, plus one, is on top.
#[derive(Clone, Debug)]
struct Packing {
    shifts: Vec<u32>,
    masks: Vec<u128>,
    last: u32,
}

impl Packing {
    /// `None` if the positions do not fit.
    fn new(lanes: &[Lane]) -> Option<Packing> {
        let mut packing = Packing { shifts: Vec::new(), masks: Vec::new(), last: 0 };
        for lane in lanes {
            let bits = usize::BITS - lane.units.len().leading_zeros();
            packing.shifts.push(packing.last);
            packing.masks.push((1 << bits) - 1);
            packing.last += bits;
        }
        (packing.last <= 120).then_some(packing)
    }

    fn unpack(&self, key: u128, at: &mut Vec<u16>) -> Option<usize> {
        at.clear();
        at.extend(self.shifts.iter().zip(&self.masks).map(|(shift, mask)| (key >> shift & mask) as u16));
        ((key >> self.last) as usize).checked_sub(1)
    }

    /// The state after one more unit of `lane`.
    fn step(&self, key: u128, lane: usize) -> u128 {
        let positions = key & ((1 << self.last) - 1);
        (positions + (1 << self.shifts[lane])) | (lane as u128 + 1) << self.last
    }
}

impl Linearizer {
    /// Whether the graph, all of whose events have been performed, needs at most `limit` preemptions. If no interleaving gives
    /// it, the orders in which it can be run are counted instead.
    pub(crate) fn within(&mut self, graph: &Graph, known: Known<'_>, limit: u32, scratch: &mut Scratch) -> bool {
        let edges = if memory::is_interleaving(graph, scratch) { Edges::Interleaving } else { Edges::Causality };
        self.is_within(graph, known, edges, limit)
    }

    /// Whether the graph may need at most `limit` preemptions, judged without knowing its guards.
    pub(crate) fn may_be_within(&mut self, graph: &Graph, limit: u32) -> bool {
        let edges = if graph.weak_accesses == 0 { Edges::Interleaving } else { Edges::Causality };
        self.is_within(graph, Known::NOTHING, edges, limit)
    }

    fn is_within(&mut self, graph: &Graph, known: Known<'_>, edges: Edges, limit: u32) -> bool {
        if !self.prepare(graph, known, |_| true, edges) {
            return false;
        }
        // An order that stays with a thread as long as it can is often cheap enough.
        self.greedy(graph, known).is_some_and(|(cost, _)| cost <= limit)
            || self.search(graph, known, limit).is_none_or(|found| found.is_some())
    }

    /// An interleaving, with the fewest preemptions, of `events` and all that they depend on (everything, if `events` is
    /// empty).
    pub(crate) fn witness(
        &mut self,
        graph: &Graph,
        known: Known<'_>,
        events: &[EventId],
    ) -> Option<(u32, Vec<EventId>)> {
        self.order(graph, known, events, Edges::Interleaving)
    }

    /// The same for a graph that is no interleaving: reads may be stale.
    pub(crate) fn weak_witness(
        &mut self,
        graph: &Graph,
        known: Known<'_>,
        events: &[EventId],
    ) -> Option<(u32, Vec<EventId>)> {
        self.order(graph, known, events, Edges::Modification)
            .or_else(|| self.order(graph, known, events, Edges::Causality))
    }

    fn order(
        &mut self,
        graph: &Graph,
        known: Known<'_>,
        roots: &[EventId],
        edges: Edges,
    ) -> Option<(u32, Vec<EventId>)> {
        let wanted = |e: EventId| {
            roots.is_empty() || roots.iter().any(|&r| graph.knows(r, Clock::Porf, e) || is_write_part_of(graph, e, r))
        };
        if !self.prepare(graph, known, wanted, edges) {
            return None;
        }
        match self.search(graph, known, u32::MAX) {
            Some(found) => found,
            None => self.greedy(graph, known),
        }
    }

    fn lanes(&self) -> &[Lane] {
        &self.lanes[..self.used]
    }
}

/// The write part of a root belongs to it.
fn is_write_part_of(graph: &Graph, event: EventId, root: EventId) -> bool {
    graph.is_write_part(event) && graph.po_pred(event) == root
}

/// Units.
impl Linearizer {
    /// Cuts the wanted events into units; false if the edges are cyclic.
    fn prepare(&mut self, graph: &Graph, known: Known<'_>, wanted: impl Fn(EventId) -> bool, edges: Edges) -> bool {
        self.home.clear();
        self.home.resize(graph.len(), None);
        self.used = 0;
        for index in 0..graph.thread_count() {
            let thread = ThreadId(index as u32);
            let events = graph.thread_events(thread);
            if events.first().is_some_and(|&e| wanted(e)) {
                let end = events.iter().take_while(|&&e| wanted(e)).count();
                self.add_lane(graph, known, thread, &events[..end]);
            }
        }
        self.fill_needs(graph, edges);
        self.contract(graph);
        self.is_acyclic()
    }

    fn add_lane(&mut self, graph: &Graph, known: Known<'_>, thread: ThreadId, events: &[EventId]) {
        if self.lanes.len() == self.used {
            self.lanes.push(Lane::default());
        }
        let place = self.used as u16;
        self.used += 1;
        let lane = &mut self.lanes[place as usize];
        lane.thread = thread;
        lane.units.clear();
        for (index, &event) in events.iter().enumerate() {
            let index = index as u32;
            match lane.units.last_mut().filter(|_| graph.is_write_part(event)) {
                Some(unit) => unit.end = index + 1,
                None => {
                    let e = graph.event(event);
                    let yields = e.kind == Kind::Spin && e.choice != spin_choice::PARK;
                    let free = leaves_freely(graph, known, event);
                    lane.units.push(Unit { first: index, end: index + 1, yields, free });
                }
            }
            self.home[event.index()] = Some((place, lane.units.len() as u16 - 1));
        }
    }

    fn fill_needs(&mut self, graph: &Graph, edges: Edges) {
        for place in 0..self.used {
            let mut needs = core::mem::take(&mut self.lanes[place].needs);
            needs.clear();
            let lane = &self.lanes[place];
            let events = graph.thread_events(lane.thread);
            for unit in &lane.units {
                let start = needs.len();
                needs.resize(start + self.used, 0);
                for &event in &events[unit.first as usize..unit.end as usize] {
                    predecessors(graph, event, edges, |before| {
                        if let Some((other, index)) =
                            self.home[before.index()].filter(|(other, _)| *other as usize != place)
                        {
                            let need = &mut needs[start + other as usize];
                            *need = (*need).max(index + 1);
                        }
                    });
                }
            }
            self.lanes[place].needs = needs;
        }
    }

    /// Joins a unit with the one before it in its thread if it can always follow at once: nobody can gain by coming between.
    fn contract(&mut self, graph: &Graph) {
        let width = self.used;
        while self.moved.len() < width {
            self.moved.push(Vec::new());
        }
        for place in 0..width {
            let Lane { thread, units, needs } = &mut self.lanes[place];
            let events = graph.thread_events(*thread);
            let map = &mut self.moved[place];
            map.clear();
            let mut kept = 0;
            for index in 0..units.len() {
                let unit = units[index];
                // Needs become those of all units up to this one.
                let mut new = false;
                for other in 0..width {
                    let need = needs[index * width + other];
                    let reached = if kept == 0 { 0 } else { needs[(kept - 1) * width + other] };
                    new |= need > reached;
                    needs[kept * width + other] = need.max(reached);
                }
                let joins =
                    kept > 0 && !new && !units[kept - 1].yields && !unit.free && !changes_guard(graph, events, unit);
                if joins {
                    units[kept - 1].end = unit.end;
                    units[kept - 1].yields = unit.yields;
                } else {
                    units[kept] = unit;
                    kept += 1;
                }
                map.push(kept as u16 - 1);
            }
            units.truncate(kept);
            needs.truncate(kept * width);
        }
        for lane in &mut self.lanes[..width] {
            for (index, need) in lane.needs.iter_mut().enumerate().filter(|(_, need)| **need > 0) {
                *need = self.moved[index % width][*need as usize - 1] + 1;
            }
        }
        for (place, unit) in self.home.iter_mut().flatten() {
            *unit = self.moved[*place as usize][*unit as usize];
        }
    }

    fn is_ready(&self, lane: usize, at: &[u16]) -> bool {
        let position = at[lane] as usize;
        let l = &self.lanes[lane];
        position < l.units.len()
            && l.needs[position * self.used..][..self.used].iter().zip(at).all(|(need, at)| need <= at)
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
        let all = self.lanes().iter().zip(&at).all(|(lane, &at)| at as usize == lane.units.len());
        self.at = at;
        all
    }

    /// An order that stays with a thread as long as it can, and what it costs.
    fn greedy(&mut self, graph: &Graph, known: Known<'_>) -> Option<(u32, Vec<EventId>)> {
        let mut at = vec![0u16; self.used];
        let (mut order, mut cost, mut last) = (Vec::new(), 0, None);
        loop {
            let next =
                last.filter(|&l| self.is_ready(l, &at)).or_else(|| (0..self.used).find(|&l| self.is_ready(l, &at)));
            let Some(lane) = next else {
                let all = self.lanes().iter().zip(&at).all(|(lane, &at)| at as usize == lane.units.len());
                return all.then_some((cost, order));
            };
            if let Some(left) = last.filter(|&l| l != lane) {
                cost += u32::from(self.could_go_on(graph, known, &at, left));
            }
            order.extend(self.events_of(graph, lane, at[lane] as usize));
            at[lane] += 1;
            last = Some(lane);
        }
    }

    fn events_of<'a>(&self, graph: &'a Graph, lane: usize, unit: usize) -> &'a [EventId] {
        let l = &self.lanes[lane];
        &graph.thread_events(l.thread)[l.units[unit].first as usize..l.units[unit].end as usize]
    }
}

/// Whether the unit may change whether others can go on. Until it is performed, others may be left at no cost because they are
/// blocked: so something can be gained by coming right before it.
fn changes_guard(graph: &Graph, events: &[EventId], unit: Unit) -> bool {
    events[unit.first as usize..unit.end as usize].iter().any(|&e| {
        let event = graph.event(e);
        event.kind == Kind::End || (event.kind == Kind::Object && event.part == Part::Write)
    })
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

/// The immediate predecessors of an event in other threads.
fn predecessors(graph: &Graph, event: EventId, edges: Edges, mut found: impl FnMut(EventId)) {
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
    let object = graph.object(e.object);
    let before = graph.ranked(e.object, graph.rank(event) - 1);
    if !before.is_init() {
        found(before);
    }
    if edges == Edges::Interleaving {
        for &read in &object.reads {
            // Also reads of older writes: what stood in between may not be among the wanted events.
            if graph.rank(graph.event(read).rf) < graph.rank(event) {
                found(read);
            }
        }
    }
}

/// The search.
impl Linearizer {
    /// `None`: given up. `Some(None)`: no order with at most `limit` preemptions.
    fn search(&mut self, graph: &Graph, known: Known<'_>, limit: u32) -> Option<Option<(u32, Vec<EventId>)>> {
        let packing = Packing::new(self.lanes())?;
        let goal: Vec<u16> = self.lanes().iter().map(|lane| lane.units.len() as u16).collect();
        self.nodes.clear();
        self.best.clear();
        self.queue.clear();
        self.nodes.push(Node { key: 0, cost: 0, parent: u32::MAX });
        self.queue.push_back(0);
        let mut at = Vec::new();
        while let Some(index) = self.queue.pop_front() {
            let node = self.nodes[index as usize];
            let last = packing.unpack(node.key, &mut at);
            if at == goal {
                return Some(Some((node.cost, self.unwind(graph, &packing, index))));
            }
            if self.best.get(&node.key).is_some_and(|&cost| cost < node.cost) {
                continue;
            }
            if self.nodes.len() > PATIENCE {
                return None;
            }
            let penalty = u32::from(last.is_some_and(|last| self.could_go_on(graph, known, &at, last)));
            for lane in 0..self.used {
                if !self.is_ready(lane, &at) {
                    continue;
                }
                let stays = last.is_none_or(|last| last == lane);
                let cost = node.cost + if stays { 0 } else { penalty };
                let key = packing.step(node.key, lane);
                if cost > limit || self.best.get(&key).is_some_and(|&known| known <= cost) {
                    continue;
                }
                let next = self.nodes.len() as u32;
                self.nodes.push(Node { key, cost, parent: index });
                self.best.insert(key, cost);
                if cost == node.cost { self.queue.push_front(next) } else { self.queue.push_back(next) }
            }
        }
        Some(None)
    }

    fn unwind(&self, graph: &Graph, packing: &Packing, mut index: u32) -> Vec<EventId> {
        let mut path = Vec::new();
        let mut at = Vec::new();
        loop {
            let node = self.nodes[index as usize];
            let Some(lane) = packing.unpack(node.key, &mut at) else { break };
            path.push((lane, at[lane] as usize - 1));
            index = node.parent;
        }
        path.iter().rev().flat_map(|&(lane, unit)| self.events_of(graph, lane, unit)).copied().collect()
    }

    /// Whether leaving a thread here is a preemption: it has a next event, and if that is guarded, its guard holds. A thread
    /// without one does not count: it could as well have gone on until it is blocked or over.
    fn could_go_on(&mut self, graph: &Graph, known: Known<'_>, at: &[u16], lane: usize) -> bool {
        let position = at[lane] as usize;
        let l = &self.lanes[lane];
        if position > 0 && l.units[position - 1].yields {
            return false;
        }
        let Some(unit) = l.units.get(position) else { return false };
        if unit.free && !known.actions.is_empty() {
            return false;
        }
        let event = graph.thread_events(l.thread)[unit.first as usize];
        let e = graph.event(event);
        match e.kind {
            Kind::End => false,
            Kind::Join => self.is_past(at, e.rf),
            Kind::Object => {
                let newest = self.newest_past(graph, at, e.object);
                match known.actions.get(event.index()) {
                    _ if newest == e.rf => true,
                    Some(Action::Object { outs, args, .. }) => {
                        self.outcomes.clear();
                        outs(graph.value_of(e.object, newest), *args, e.thread, &mut self.outcomes);
                        !self.outcomes.as_slice().is_empty()
                    }
                    _ => false,
                }
            }
            _ => true,
        }
    }

    /// The last write of an object that has been performed here.
    fn newest_past(&self, graph: &Graph, at: &[u16], object: ObjectId) -> EventId {
        let newest = graph.modification_order(object).iter().rev().find(|&&w| self.is_past(at, w));
        newest.copied().unwrap_or(EventId::INIT)
    }

    fn is_past(&self, at: &[u16], event: EventId) -> bool {
        self.home[event.index()].is_some_and(|(lane, unit)| at[lane as usize] > unit)
    }
}
