//! Acyclicity of `po + rf + co + fr` by depth-first search along immediate edges.

use super::Scratch;
use crate::event::{EventId, Flags, Part};
use crate::graph::{Clock, Graph};
use crate::op::ThreadId;

/// Whether no cycle leads through one of `new`.
pub(super) fn admits(graph: &Graph, new: &[EventId], scratch: &mut Scratch) -> bool {
    if let [read] = *new
        && graph.event(read).part == Part::Read
        && !graph.event(read).flags.has(Flags::WRITES)
        && graph.loose_accesses == 1
    {
        // It is the only one: without it, modification order and from-reads are in program order and reads-from.
        let e = graph.event(read);
        let after = graph.object(e.object).co.get(graph.rank(e.rf));
        return after.is_none_or(|&after| !graph.knows(read, Clock::Porf, after));
    }
    new.iter().all(|&event| {
        scratch.seen.clear();
        scratch.seen.resize(graph.len(), false);
        scratch.stack.clear();
        successors(graph, event, |next| scratch.stack.push(next));
        while let Some(at) = scratch.stack.pop() {
            if at == event {
                return false;
            }
            if !core::mem::replace(&mut scratch.seen[at.index()], true) {
                successors(graph, at, |next| scratch.stack.push(next));
            }
        }
        true
    })
}

/// Whether there is no cycle at all: removes events without predecessors until none are left.
pub(super) fn acyclic(graph: &Graph, scratch: &mut Scratch) -> bool {
    let Scratch { incoming, stack, .. } = scratch;
    incoming.clear();
    incoming.resize(graph.len(), 0);
    for index in 0..graph.len() {
        successors(graph, EventId(index as u32), |next| incoming[next.index()] += 1);
    }
    stack.clear();
    stack.extend((0..graph.len()).filter(|&i| incoming[i] == 0).map(|i| EventId(i as u32)));
    let mut removed = 0;
    while let Some(at) = stack.pop() {
        removed += 1;
        successors(graph, at, |next| {
            incoming[next.index()] -= 1;
            if incoming[next.index()] == 0 {
                stack.push(next);
            }
        });
    }
    removed == graph.len()
}

/// The immediate successors of `event`.
fn successors(graph: &Graph, event: EventId, mut found: impl FnMut(EventId)) {
    let e = graph.event(event);
    let thread = &graph.threads[e.thread.index()];
    if let Some(&next) = thread.events.get(e.index as usize + 1) {
        found(next);
    }
    match e.part {
        Part::Write => {
            let object = graph.object(e.object);
            if let Some(&next) = object.co.get(e.co_pos as usize + 1) {
                found(next);
            }
            for &read in &object.reads {
                if graph.event(read).rf == event {
                    found(read);
                }
            }
            if thread.end == event {
                joins(graph, event, &mut found);
            }
        }
        Part::Read => {
            if let Some(&next) = graph.object(e.object).co.get(graph.rank(e.rf)) {
                found(next);
            }
        }
        Part::Spawn => {
            for child in 0..graph.thread_count() {
                if graph.threads[child].spawned_by == event {
                    found_first(graph, ThreadId(child as u32), &mut found);
                }
            }
        }
        _ => {}
    }
}

fn found_first(graph: &Graph, thread: ThreadId, found: &mut impl FnMut(EventId)) {
    if let Some(&first) = graph.thread_events(thread).first() {
        found(first);
    }
}

/// The joins that waited for `end`.
fn joins(graph: &Graph, end: EventId, found: &mut impl FnMut(EventId)) {
    for (index, e) in graph.events.iter().enumerate() {
        if e.part == Part::Join && e.rf == end {
            found(EventId(index as u32));
        }
    }
}
