//! Acyclicity of RC11's partial order `psc` on sequentially consistent events.
//!
//! Accesses of one object get positions along its modification order: `2 * rank` for a write, `2 * rank(rf) + 1` for a read.
//! Then `eco(x, y)` is `position(x) < position(y)`, and `co` or `fr` is the same with `y` a write. A read of a simulated object
//! comes after what it reads, whether or not it synchronises (a failed `try_lock` does not): there `rf` is part of `scb` too,
//! so that such a read counts as a write does below. What `psc` demands of the happens-before surroundings of a fence is, per
//! object, the lowest position after it and the highest before it. With `hb(F, y)` and `hb(x, F)` taking in the `po` and `hb`
//! parts of `scb`, the edges are:
//!
//! * access to access: `scb`;
//! * access `a` to fence `b`: `hb`, or a write before `b` is above `a`;
//! * fence `a` to access `b`: `hb`, or `b` is a write above something after `a`;
//! * fence `a` to fence `b`: `hb`, or something before `b` is above something after `a`.

use crate::event::{EventId, Kind, Order, Part};
use crate::graph::{Clock, Graph};

/// Buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    nodes: Vec<EventId>,
    /// Per node: 0 unseen, 1 on the path, 2 done.
    colour: Vec<u8>,
    path: Vec<(usize, usize)>,
    around: Vec<Around>,
    slot: Vec<usize>,
}

/// What surrounds a fence, per object.
#[derive(Clone, Copy, Debug)]
struct Around {
    lowest_after: u32,
    highest_before: u32,
    highest_ordered_before: u32,
}

const NOTHING: Around = Around { lowest_after: u32::MAX, highest_before: 0, highest_ordered_before: 0 };

pub(super) fn admits(graph: &Graph, new: &[EventId], scratch: &mut Scratch) -> bool {
    let sc = |&event: &EventId| graph.event(event).order.has(Order::SC);
    if graph.sc_fences == 0 && !new.iter().any(sc) {
        // Edges among other accesses do not depend on the new ones.
        return true;
    }
    collect(graph, scratch);
    if graph.sc_fences > 0 {
        survey(graph, scratch);
        return acyclic_from(graph, scratch, |_| true);
    }
    acyclic_from(graph, scratch, |event| new.contains(&event))
}

fn collect(graph: &Graph, scratch: &mut Scratch) {
    scratch.nodes.clear();
    for (index, e) in graph.events.iter().enumerate() {
        if e.order.has(Order::SC) && (e.is_access() || e.part == Part::Fence) {
            scratch.nodes.push(EventId(index as u32));
        }
    }
}

/// Whether `scb` orders the event after everything below it: a write, or a read of a simulated object.
fn is_ordered(graph: &Graph, event: EventId) -> bool {
    let e = graph.event(event);
    e.part == Part::Write || matches!(e.kind, Kind::Object | Kind::Ended)
}

fn position(graph: &Graph, event: EventId) -> u32 {
    let view = graph.rank(graph.view(event)) as u32;
    2 * view + u32::from(graph.event(event).part == Part::Read)
}

/// Fills in what surrounds each fence.
fn survey(graph: &Graph, scratch: &mut Scratch) {
    let objects = graph.object_count();
    scratch.around.clear();
    scratch.slot.clear();
    for &node in &scratch.nodes {
        if graph.event(node).part != Part::Fence {
            scratch.slot.push(usize::MAX);
            continue;
        }
        let start = scratch.around.len();
        scratch.slot.push(start);
        scratch.around.resize(start + objects, NOTHING);
        for (index, e) in graph.events.iter().enumerate() {
            if !e.is_access() {
                continue;
            }
            let event = EventId(index as u32);
            let around = &mut scratch.around[start + e.object.index()];
            if graph.knows(event, Clock::Hb, node) {
                around.lowest_after = around.lowest_after.min(position(graph, event));
            }
            if graph.knows(node, Clock::Hb, event) {
                let position = position(graph, event);
                around.highest_before = around.highest_before.max(position);
                if is_ordered(graph, event) {
                    around.highest_ordered_before = around.highest_ordered_before.max(position);
                }
            }
        }
    }
}

/// Whether the node numbered `a` must come before the node numbered `b`.
fn before(graph: &Graph, scratch: &Scratch, a: usize, b: usize) -> bool {
    let (x, y) = (scratch.nodes[a], scratch.nodes[b]);
    let (ex, ey) = (graph.event(x), graph.event(y));
    match (ex.part == Part::Fence, ey.part == Part::Fence) {
        (false, false) => scb(graph, x, y),
        (false, true) => {
            let around = scratch.around[scratch.slot[b] + ex.object.index()];
            graph.knows(y, Clock::Hb, x) || around.highest_ordered_before > position(graph, x)
        }
        (true, false) => {
            let around = scratch.around[scratch.slot[a] + ey.object.index()];
            graph.knows(y, Clock::Hb, x) || (is_ordered(graph, y) && around.lowest_after < position(graph, y))
        }
        (true, true) => {
            graph.knows(y, Clock::Hb, x)
                || (0..graph.object_count()).any(|object| {
                    scratch.around[scratch.slot[a] + object].lowest_after
                        < scratch.around[scratch.slot[b] + object].highest_before
                })
        }
    }
}

/// `po + po_otherloc;hb;po_otherloc + hb_sameloc + co + fr`, for two accesses.
fn scb(graph: &Graph, x: EventId, y: EventId) -> bool {
    let (ex, ey) = (graph.event(x), graph.event(y));
    if ex.thread == ey.thread && ex.index < ey.index {
        return true;
    }
    let above = is_ordered(graph, y) && position(graph, x) < position(graph, y);
    if ex.object == ey.object && (above || graph.knows(y, Clock::Hb, x)) {
        return true;
    }
    let after = graph.threads[ex.thread.index()].events[ex.index as usize + 1..].iter();
    let Some(&after) =
        after.clone().find(|&&e| graph.event(e).object != ex.object || graph.event(e).part == Part::Fence)
    else {
        return false;
    };
    let before = graph.threads[ey.thread.index()].events[..ey.index as usize].iter().rev();
    let before = before.clone().find(|&&e| graph.event(e).object != ey.object || graph.event(e).part == Part::Fence);
    // A new thread knows what its parent knew when it spawned it.
    let before = before.copied().unwrap_or(graph.threads[ey.thread.index()].spawned_by);
    !before.is_init() && graph.knows(before, Clock::Hb, after)
}

/// Depth-first search for a cycle from the nodes that `start` picks.
fn acyclic_from(graph: &Graph, scratch: &mut Scratch, start: impl Fn(EventId) -> bool) -> bool {
    let count = scratch.nodes.len();
    scratch.colour.clear();
    scratch.colour.resize(count, 0);
    for root in 0..count {
        if scratch.colour[root] != 0 || !start(scratch.nodes[root]) {
            continue;
        }
        scratch.colour[root] = 1;
        scratch.path.clear();
        scratch.path.push((root, 0));
        while let Some(&(at, next)) = scratch.path.last() {
            if next == count {
                scratch.colour[at] = 2;
                scratch.path.pop();
                continue;
            }
            scratch.path.last_mut().expect("the path is not empty").1 += 1;
            if next == at || scratch.colour[next] == 2 || !before(graph, scratch, at, next) {
                continue;
            }
            if scratch.colour[next] == 1 {
                return false;
            }
            scratch.colour[next] = 1;
            scratch.path.push((next, 0));
        }
    }
    true
}
