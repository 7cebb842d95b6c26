//! The search for the cheapest order of the units.

use super::units::{Lane, NOWHERE};
use super::{Allowance, Known, Linearizer};
use crate::event::{EventId, Kind};
use crate::graph::Graph;
use crate::op::{Action, ObjectId};

/// States of the search after which it is given up for a cheaper answer.
const PATIENCE: usize = 400_000;

/// A state of the search: the packed positions with the lane that moved last, what it cost, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    key: u128,
    cost: u32,
    parent: u32,
}

/// How states are packed: each lane's position in its own bits, then the last lane to move, plus one, then the number of
/// stale accesses.
#[derive(Clone, Debug)]
struct Packing {
    shifts: Vec<u32>,
    masks: Vec<u128>,
    last: u32,
    stale: u32,
}

impl Packing {
    /// `None` if the positions do not fit.
    fn new(lanes: &[Lane]) -> Option<Packing> {
        let mut packing = Packing { shifts: Vec::new(), masks: Vec::new(), last: 0, stale: 0 };
        for lane in lanes {
            let bits = usize::BITS - lane.units.len().leading_zeros();
            packing.shifts.push(packing.last);
            packing.masks.push((1 << bits) - 1);
            packing.last += bits;
        }
        packing.stale = packing.last + usize::BITS - lanes.len().leading_zeros();
        (packing.stale + 4 <= u128::BITS).then_some(packing)
    }

    /// The positions, the last lane to move and the stale accesses.
    fn unpack(&self, key: u128, at: &mut Vec<u32>) -> (Option<usize>, u32) {
        at.clear();
        at.extend(self.shifts.iter().zip(&self.masks).map(|(shift, mask)| (key >> shift & mask) as u32));
        let last = (key >> self.last) as usize & ((1 << (self.stale - self.last)) - 1);
        (last.checked_sub(1), (key >> self.stale) as u32)
    }

    /// The state after one more unit of `lane`, which has `stale` stale accesses.
    fn step(&self, key: u128, lane: usize, stale: u32) -> u128 {
        let positions = key & ((1 << self.last) - 1);
        let spent = (key >> self.stale) + u128::from(stale);
        (positions + (1 << self.shifts[lane])) | (lane as u128 + 1) << self.last | spent << self.stale
    }

    /// The same state with one stale access less.
    fn fresher(&self, key: u128) -> Option<u128> {
        (key >> self.stale > 0).then(|| key - (1 << self.stale))
    }
}

impl Linearizer {
    /// `None`: given up. `Some(None)`: no order is cheap enough.
    pub(super) fn search(
        &mut self,
        graph: &Graph,
        known: Known<'_>,
        allowance: Allowance,
    ) -> Option<Option<(u32, Vec<EventId>)>> {
        let packing = Packing::new(self.lanes())?;
        self.nodes.clear();
        self.best.clear();
        self.queue.clear();
        self.nodes.push(Node { key: 0, cost: 0, parent: u32::MAX });
        self.queue.push_back(0);
        let mut at = Vec::new();
        while let Some(index) = self.queue.pop_front() {
            let node = self.nodes[index as usize];
            let (last, spent) = packing.unpack(node.key, &mut at);
            if self.is_at_end(&at) {
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
                let stale = if allowance.counts_stale() { self.stale_in(lane, &at) } else { 0 };
                if cost > allowance.preemptions || spent + stale > allowance.stale {
                    continue;
                }
                let key = packing.step(node.key, lane, stale);
                if self.is_beaten(&packing, key, cost) {
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

    /// Whether the state has been reached as cheaply, with as few stale accesses.
    fn is_beaten(&self, packing: &Packing, key: u128, cost: u32) -> bool {
        let mut fresher = Some(key);
        while let Some(key) = fresher {
            if self.best.get(&key).is_some_and(|&known| known <= cost) {
                return true;
            }
            fresher = packing.fresher(key);
        }
        false
    }

    /// How many accesses of the lane's next unit would be stale now.
    fn stale_in(&self, lane: usize, at: &[u32]) -> u32 {
        let l = &self.lanes[lane];
        let next = at[lane] as usize;
        let first = next.checked_sub(1).map_or(0, |before| l.units[before].accesses) as usize;
        let accesses = &l.fresh[first * self.used..l.units[next].accesses as usize * self.used];
        let stale = |most: &&[u32]| most.iter().zip(at).any(|(most, at)| at > most);
        accesses.chunks_exact(self.used).filter(stale).count() as u32
    }

    fn unwind(&self, graph: &Graph, packing: &Packing, mut index: u32) -> Vec<EventId> {
        let mut path = Vec::new();
        let mut at = Vec::new();
        loop {
            let node = self.nodes[index as usize];
            let (Some(lane), _) = packing.unpack(node.key, &mut at) else { break };
            path.push((lane, at[lane] as usize - 1));
            index = node.parent;
        }
        path.iter().rev().flat_map(|&(lane, unit)| self.events_of(graph, lane, unit)).copied().collect()
    }

    /// An order that stays with a thread as long as it can without stale accesses, if it is cheap enough.
    pub(super) fn greedy(
        &mut self,
        graph: &Graph,
        known: Known<'_>,
        allowance: Allowance,
    ) -> Option<(u32, Vec<EventId>)> {
        let mut at = vec![0u32; self.used];
        let (mut order, mut cost, mut stale, mut last) = (Vec::new(), 0, 0, None);
        let counts = allowance.counts_stale();
        loop {
            let ready = |lane: &usize| self.is_ready(*lane, &at);
            let fresh = |lane: &usize| ready(lane) && (!counts || self.stale_in(*lane, &at) == 0);
            let next = last.filter(fresh).or_else(|| (0..self.used).find(fresh));
            let Some(lane) = next.or_else(|| last.filter(ready)).or_else(|| (0..self.used).find(ready)) else {
                return self.is_at_end(&at).then_some((cost, order));
            };
            if let Some(left) = last.filter(|&l| l != lane) {
                cost += u32::from(self.could_go_on(graph, known, &at, left));
            }
            if counts {
                stale += self.stale_in(lane, &at);
            }
            if cost > allowance.preemptions || stale > allowance.stale {
                return None;
            }
            order.extend(self.events_of(graph, lane, at[lane] as usize));
            at[lane] += 1;
            last = Some(lane);
        }
    }

    /// Whether leaving a thread here is a preemption: it has a next event, and if that is guarded, its guard holds. A thread
    /// without one does not count: it could as well have gone on until it is blocked or over.
    fn could_go_on(&mut self, graph: &Graph, known: Known<'_>, at: &[u32], lane: usize) -> bool {
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
    fn newest_past(&self, graph: &Graph, at: &[u32], object: ObjectId) -> EventId {
        let newest = graph.modification_order(object).iter().rev().find(|&&w| self.is_past(at, w));
        newest.copied().unwrap_or(EventId::INIT)
    }

    fn is_past(&self, at: &[u32], event: EventId) -> bool {
        let (lane, unit) = self.home[event.index()];
        lane != NOWHERE.0 && at[lane as usize] > unit
    }
}
