//! Interleavings of a graph: the fewest preemptions that one needs, and one that needs no more. BOUNDING.md.

use std::collections::{HashMap, VecDeque};

use crate::event::{EventId, Kind, Part};
use crate::explorer::spin_choice;
use crate::graph::{Clock, Graph};
use crate::memory::{self, Scratch};
use crate::op::{Action, ObjectId, Op, Outcomes, ThreadId};

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
#[derive(Clone, Debug)]
struct Unit {
    events: Vec<EventId>,
    /// How many units of each thread must come before.
    needs: Vec<u16>,
    /// Leaving the thread after this unit costs nothing.
    yields: bool,
}

/// Searches for the cheapest interleaving, by breadth first over (position of each thread, last thread) with costs 0 and 1.
#[derive(Debug, Default)]
pub(crate) struct Linearizer {
    threads: Vec<ThreadId>,
    units: Vec<Vec<Unit>>,
    /// Of each event: its thread (index into `threads`) and unit.
    home: Vec<Option<(u16, u16)>>,
    outcomes: Outcomes,
}

/// What is known of the operations behind a graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    /// The operations behind the read parts of updates and operations on objects; empty if the graph has not been run.
    pub(crate) ops: &'a [Option<Op>],
}

impl Known<'_> {
    /// Of a graph that has not been run.
    const NOTHING: Known<'static> = Known { ops: &[] };
}

/// A state of the search: position of each thread, and who moved last.
#[derive(Clone, Debug)]
struct Node {
    at: Vec<u16>,
    last: Option<usize>,
    cost: u32,
    parent: usize,
}

impl Linearizer {
    /// Whether the graph, all of whose events have been performed, needs at most `limit` preemptions. If no interleaving gives
    /// it, the orders in which it can be run are counted instead.
    pub(crate) fn within(&mut self, graph: &Graph, known: Known<'_>, limit: u32, scratch: &mut Scratch) -> bool {
        let edges = if memory::is_interleaving(graph, scratch) { Edges::Interleaving } else { Edges::Causality };
        self.prepare(graph, known, |_| true, edges, true) && self.search(graph, known, limit).is_none_or(|found| found.is_some())
    }

    /// Whether the graph may need at most `limit` preemptions, judged without knowing its guards.
    pub(crate) fn may_be_within(&mut self, graph: &Graph, limit: u32) -> bool {
        let edges = if graph.weak_accesses == 0 { Edges::Interleaving } else { Edges::Causality };
        self.prepare(graph, Known::NOTHING, |_| true, edges, true) && self.search(graph, Known::NOTHING, limit).is_none_or(|found| found.is_some())
    }

    /// An interleaving, with the fewest preemptions, of `events` and all that they depend on (everything, if `events` is
    /// empty).
    pub(crate) fn witness(&mut self, graph: &Graph, known: Known<'_>, events: &[EventId]) -> Option<(u32, Vec<EventId>)> {
        self.order(graph, known, events, Edges::Interleaving)
    }

    /// The same for a graph that is no interleaving: reads may be stale.
    pub(crate) fn weak_witness(&mut self, graph: &Graph, known: Known<'_>, events: &[EventId]) -> Option<(u32, Vec<EventId>)> {
        self.order(graph, known, events, Edges::Modification)
            .or_else(|| self.order(graph, known, events, Edges::Causality))
    }

    fn order(&mut self, graph: &Graph, known: Known<'_>, roots: &[EventId], edges: Edges) -> Option<(u32, Vec<EventId>)> {
        let wanted = |e: EventId| {
            roots.is_empty() || roots.iter().any(|&r| graph.knows(r, Clock::Porf, e) || is_write_part_of(graph, e, r))
        };
        if !self.prepare(graph, known, wanted, edges, true) {
            return None;
        }
        match self.search(graph, known, u32::MAX) {
            Some(found) => found,
            None => {
                let order = self.greedy()?;
                Some((u32::MAX, order))
            }
        }
    }
}

/// The write part of a root belongs to it.
fn is_write_part_of(graph: &Graph, event: EventId, root: EventId) -> bool {
    graph.is_write_part(event) && graph.po_pred(event) == root
}

/// Units.
impl Linearizer {
    /// Cuts the wanted events into units; false if the edges are cyclic.
    fn prepare(&mut self, graph: &Graph, known: Known<'_>, wanted: impl Fn(EventId) -> bool, edges: Edges, contract: bool) -> bool {
        self.threads.clear();
        self.units.clear();
        self.home.clear();
        self.home.resize(graph.len(), None);
        for index in 0..graph.thread_count() {
            let events = graph.thread_events(ThreadId(index as u32));
            if !events.first().is_some_and(|&e| wanted(e)) {
                continue;
            }
            let place = self.threads.len() as u16;
            self.threads.push(ThreadId(index as u32));
            let mut units: Vec<Unit> = Vec::new();
            for &event in events.iter().take_while(|&&e| wanted(e)) {
                if graph.is_write_part(event) {
                    units.last_mut().expect("a write part follows its read part").events.push(event);
                } else {
                    let e = graph.event(event);
                    let yields = e.kind == Kind::Spin && e.choice != spin_choice::PARK;
                    units.push(Unit { events: vec![event], needs: Vec::new(), yields });
                }
                self.home[event.index()] = Some((place, units.len() as u16 - 1));
            }
            self.units.push(units);
        }
        self.fill_needs(graph, edges);
        if contract {
            self.contract(graph, known);
        }
        self.greedy().is_some()
    }

    fn fill_needs(&mut self, graph: &Graph, edges: Edges) {
        let threads = self.threads.len();
        for thread in 0..threads {
            for unit in 0..self.units[thread].len() {
                let mut needs = vec![0u16; threads];
                for position in 0..self.units[thread][unit].events.len() {
                    let event = self.units[thread][unit].events[position];
                    predecessors(graph, event, edges, |before| {
                        if let Some((other, index)) = self.home[before.index()]
                            && other as usize != thread
                        {
                            needs[other as usize] = needs[other as usize].max(index + 1);
                        }
                    });
                }
                self.units[thread][unit].needs = needs;
            }
        }
    }

    /// Joins a unit with the one before it in its thread if it can always follow at once: nobody can gain by coming between.
    fn contract(&mut self, graph: &Graph, known: Known<'_>) {
        let threads = self.threads.len();
        let mut moved: Vec<Vec<u16>> = Vec::with_capacity(threads);
        for units in &mut self.units {
            let mut joined: Vec<Unit> = Vec::with_capacity(units.len());
            let mut map = Vec::with_capacity(units.len());
            let mut reached = vec![0u16; threads];
            for unit in units.drain(..) {
                let new = unit.needs.iter().zip(&reached).any(|(need, reached)| need > reached);
                for (reached, need) in reached.iter_mut().zip(&unit.needs) {
                    *reached = (*reached).max(*need);
                }
                match joined.last_mut() {
                    Some(last)
                        if !new && !last.yields && !leaves_freely(graph, known, &unit) && !changes_guard(graph, &unit) =>
                    {
                        last.events.extend(&unit.events);
                        last.yields = unit.yields;
                    }
                    _ => joined.push(Unit { needs: reached.clone(), ..unit }),
                }
                map.push(joined.len() as u16 - 1);
            }
            *units = joined;
            moved.push(map);
        }
        for units in &mut self.units {
            for unit in units {
                for (other, need) in unit.needs.iter_mut().enumerate() {
                    if *need > 0 {
                        *need = moved[other][*need as usize - 1] + 1;
                    }
                }
            }
        }
    }

    /// Any order, or `None` if there is none.
    fn greedy(&self) -> Option<Vec<EventId>> {
        let mut at = vec![0u16; self.threads.len()];
        let mut order = Vec::new();
        loop {
            let mut progress = false;
            for thread in 0..self.threads.len() {
                while let Some(unit) = self.units[thread].get(at[thread] as usize) {
                    if !ready(&unit.needs, &at) {
                        break;
                    }
                    order.extend(&unit.events);
                    at[thread] += 1;
                    progress = true;
                }
            }
            if !progress {
                let all = self.units.iter().zip(&at).all(|(units, &at)| at as usize == units.len());
                return all.then_some(order);
            }
        }
    }
}

fn ready(needs: &[u16], at: &[u16]) -> bool {
    needs.iter().zip(at).all(|(need, at)| need <= at)
}

/// Whether the unit may change whether others can go on. Until it is performed, others may be left at no cost because they are
/// blocked: so something can be gained by coming right before it.
fn changes_guard(graph: &Graph, unit: &Unit) -> bool {
    unit.events.iter().any(|&e| {
        let event = graph.event(e);
        event.kind == Kind::End || (event.kind == Kind::Object && event.part == Part::Write)
    })
}

/// Whether leaving a thread right before this unit costs nothing by its own kind (a timed wait).
fn leaves_freely(graph: &Graph, known: Known<'_>, unit: &Unit) -> bool {
    let event = unit.events[0];
    if graph.event(event).kind != Kind::Object {
        return false;
    }
    match known.ops.get(event.index()) {
        Some(Some(op)) => matches!(op.action, Action::Object { yields: true, .. }),
        _ => known.ops.is_empty(),
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
        let goal: Vec<u16> = self.units.iter().map(|u| u.len() as u16).collect();
        let mut nodes = vec![Node { at: vec![0; self.threads.len()], last: None, cost: 0, parent: usize::MAX }];
        let mut best: HashMap<(Vec<u16>, Option<usize>), u32> = HashMap::new();
        let mut queue = VecDeque::from([0usize]);
        while let Some(index) = queue.pop_front() {
            let node = nodes[index].clone();
            if node.at == goal {
                return Some(Some((node.cost, self.unwind(&nodes, index))));
            }
            if best.get(&(node.at.clone(), node.last)).is_some_and(|&cost| cost < node.cost) {
                continue;
            }
            if nodes.len() > PATIENCE {
                return None;
            }
            let penalty = u32::from(node.last.is_some_and(|last| self.could_go_on(graph, known, &node.at, last)));
            for thread in 0..self.threads.len() {
                let Some(unit) = self.units[thread].get(node.at[thread] as usize) else { continue };
                if !ready(&unit.needs, &node.at) {
                    continue;
                }
                let stays = node.last.is_none_or(|last| last == thread);
                let cost = node.cost + if stays { 0 } else { penalty };
                if cost > limit {
                    continue;
                }
                let mut at = node.at.clone();
                at[thread] += 1;
                let key = (at, Some(thread));
                if best.get(&key).is_some_and(|&known| known <= cost) {
                    continue;
                }
                nodes.push(Node { at: key.0.clone(), last: key.1, cost, parent: index });
                best.insert(key, cost);
                if cost == node.cost { queue.push_front(nodes.len() - 1) } else { queue.push_back(nodes.len() - 1) }
            }
        }
        Some(None)
    }

    fn unwind(&self, nodes: &[Node], mut index: usize) -> Vec<EventId> {
        let mut path = Vec::new();
        while let Some(thread) = nodes[index].last {
            let unit = nodes[index].at[thread] as usize - 1;
            path.push((thread, unit));
            index = nodes[index].parent;
        }
        path.iter().rev().flat_map(|&(thread, unit)| self.units[thread][unit].events.iter().copied()).collect()
    }

    /// Whether leaving `thread` here is a preemption: it has a next event, and if that is guarded, its guard holds. A thread
    /// without one does not count: it could as well have gone on until it is blocked or over.
    fn could_go_on(&mut self, graph: &Graph, known: Known<'_>, at: &[u16], thread: usize) -> bool {
        let position = at[thread] as usize;
        if position > 0 && self.units[thread][position - 1].yields {
            return false;
        }
        let Some(unit) = self.units[thread].get(position) else { return false };
        if leaves_freely(graph, known, unit) && !known.ops.is_empty() {
            return false;
        }
        let event = unit.events[0];
        let e = graph.event(event);
        match e.kind {
            Kind::End => false,
            Kind::Join => self.is_past(at, e.rf),
            Kind::Object => {
                let newest = self.newest_past(graph, at, e.object);
                match known.ops.get(event.index()) {
                    _ if newest == e.rf => true,
                    Some(Some(Op { action: Action::Object { outs, args, .. }, .. })) => {
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
        let Some((thread, _)) = self.home[event.index()] else { return false };
        let position = at[thread as usize] as usize;
        self.units[thread as usize][..position].iter().rev().any(|u| u.events.contains(&event))
    }
}
