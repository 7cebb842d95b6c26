//! Orders of the events of a graph: what they cost, and one that costs least. BOUNDING.md.
//!
//! An order in which a program can be run respects program order and reads-from. An access is *stale* in it if it reads an
//! older write than the newest one performed before, or is a write that comes before such a one in modification order. An
//! order without stale accesses is an interleaving. What an order costs is its preemptions and its stale accesses.
//!
//! | module | does |
//! |---|---|
//! | `units` | cuts the threads into pieces that are performed at once, with what each must come after |
//! | `search` | finds the cheapest order of the pieces |

mod search;
mod units;

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use crate::event::EventId;
use crate::graph::{Clock, Graph};
use crate::op::{Action, Outcomes};
use search::Node;
use units::{Edges, Lane};

/// More stale accesses than the states of the search can tell apart are any number.
const MOST_STALE: u32 = 15;

/// What an order may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    pub(crate) preemptions: u32,
    /// Stale accesses.
    pub(crate) stale: u32,
}

impl Allowance {
    fn edges(self) -> Edges {
        if self.stale == 0 { Edges::Interleaving } else { Edges::Causality }
    }

    /// Whether the search must know how many stale accesses there were.
    fn counts_stale(self) -> bool {
        (1..=MOST_STALE).contains(&self.stale)
    }
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

/// Searches for the cheapest order, by breadth first over (position of each thread, last thread, stale accesses so far) with
/// costs 0 and 1.
#[derive(Debug, Default)]
pub(crate) struct Linearizer {
    lanes: Vec<Lane>,
    used: usize,
    /// Of each event: its lane and unit.
    home: Vec<(u16, u32)>,
    /// Of each event: the next read that must come before the same write, and the first that must come before it.
    readers: Vec<EventId>,
    outcomes: Outcomes,
    nodes: Vec<Node>,
    best: HashMap<u128, u32, BuildHasherDefault<Mixer>>,
    queue: VecDeque<u32>,
    at: Vec<u32>,
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

impl Linearizer {
    /// Whether the graph, all of whose events have been performed, has an order that costs no more.
    pub(crate) fn within(&mut self, graph: &Graph, known: Known<'_>, allowance: Allowance) -> bool {
        if !self.prepare(graph, known, |_| true, allowance.edges()) {
            return false;
        }
        // An order that stays with a thread as long as it can is often cheap enough.
        self.greedy(graph, known, allowance).is_some()
            || self.search(graph, known, allowance).is_none_or(|found| found.is_some())
    }

    /// The same for a graph that has not been run: judged without knowing its guards.
    pub(crate) fn may_be_within(&mut self, graph: &Graph, allowance: Allowance) -> bool {
        self.within(graph, Known::NOTHING, allowance)
    }

    /// An interleaving, with the fewest preemptions, of `events` and all that they depend on (everything, if `events` is
    /// empty).
    pub(crate) fn witness(
        &mut self,
        graph: &Graph,
        known: Known<'_>,
        events: &[EventId],
    ) -> Option<(u32, Vec<EventId>)> {
        self.order(graph, known, events, Edges::Interleaving, Allowance { preemptions: u32::MAX, stale: 0 })
    }

    /// The same of an order with stale accesses, that costs no more than it may. One in which only reads are stale is easier
    /// to understand.
    pub(crate) fn weak_witness(
        &mut self,
        graph: &Graph,
        known: Known<'_>,
        events: &[EventId],
        allowance: Allowance,
    ) -> Option<(u32, Vec<EventId>)> {
        let mut order = |edges| self.order(graph, known, events, edges, allowance);
        if allowance.stale == 0 {
            return order(Edges::Interleaving);
        }
        order(Edges::Modification).or_else(|| order(Edges::Causality))
    }

    fn order(
        &mut self,
        graph: &Graph,
        known: Known<'_>,
        roots: &[EventId],
        edges: Edges,
        allowance: Allowance,
    ) -> Option<(u32, Vec<EventId>)> {
        let wanted = |e: EventId| {
            roots.is_empty() || roots.iter().any(|&r| graph.knows(r, Clock::Porf, e) || is_write_part_of(graph, e, r))
        };
        if !self.prepare(graph, known, wanted, edges) {
            return None;
        }
        let Some(found) = self.search(graph, known, allowance) else {
            return self.greedy(graph, known, allowance);
        };
        let (preemptions, order) = found?;
        // Of those with as few preemptions, one with the fewest stale accesses.
        let fewer = (1..allowance.stale.min(MOST_STALE + 1))
            .find_map(|stale| self.search(graph, known, Allowance { preemptions, stale }).flatten());
        Some(fewer.unwrap_or((preemptions, order)))
    }

    fn lanes(&self) -> &[Lane] {
        &self.lanes[..self.used]
    }
}

/// The write part of a root belongs to it.
fn is_write_part_of(graph: &Graph, event: EventId, root: EventId) -> bool {
    graph.is_write_part(event) && graph.po_pred(event) == root
}
