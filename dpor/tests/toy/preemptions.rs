//! The smallest number of preemptions among the orders of an execution with few stale accesses.
//!
//! A switch is a preemption if the thread that is left has another operation in this execution and could perform it now. An
//! access is stale if it reads an older write than the newest one before, or writes below one in modification order.

use std::collections::HashMap;

use super::execution::{At, Source};
use super::graph::Graph;
use super::machine::{Visible, thread_id};

/// How far every thread has come, which one went last, and how many accesses were stale.
type State = (Vec<usize>, usize, u32);

/// Among the orders with at most `stale` stale accesses; `None` if there are none. Those without stale accesses are the
/// sequentially consistent ones.
pub(crate) fn fewest(graph: &Graph<'_>, stale: u32) -> Option<u32> {
    let width = graph.width();
    let total: usize = graph.entries.iter().map(Vec::len).sum();
    let mut layer: HashMap<State, u32> = HashMap::from([((vec![0; width], width, 0), 0)]);
    for _ in 0..total {
        let mut next = HashMap::new();
        for ((positions, last, spent), cost) in &layer {
            for thread in 0..width {
                let Some(is_stale) = stale_next(graph, positions, thread) else { continue };
                let spent = spent + u32::from(is_stale);
                if spent > stale {
                    continue;
                }
                let preempts = thread != *last && *last < width && able(graph, positions, *last);
                let cost = cost + u32::from(preempts);
                let mut positions = positions.clone();
                positions[thread] += 1;
                let best = next.entry((positions, thread, spent)).or_insert(cost);
                *best = cost.min(*best);
            }
        }
        layer = next;
    }
    layer.into_values().min()
}

/// How many writes of a variable the order of its writes has up to the newest one that is done when the threads have come
/// this far.
fn newest(graph: &Graph<'_>, positions: &[usize], var: usize) -> usize {
    graph.order[var].iter().rposition(|&at| is_done(positions, at)).map_or(0, |last| last + 1)
}

fn is_done(positions: &[usize], at: At) -> bool {
    (at.index as usize) < positions[at.thread as usize]
}

/// Whether the next operation of the thread would be stale now; `None` if it cannot be performed now.
fn stale_next(graph: &Graph<'_>, positions: &[usize], thread: usize) -> Option<bool> {
    let index = positions[thread];
    let entry = graph.entries[thread].get(index)?;
    let Some(var) = graph.ops[thread][index].var() else { return Some(false) };
    let newest = newest(graph, positions, var);
    let rank = |at: At| graph.order[var].iter().position(|&w| w == at).expect("it is in the order") + 1;
    match entry.source {
        Source::Write(at) if !is_done(positions, at) => None,
        Source::Write(at) => Some(newest > rank(at)),
        Source::Init => Some(newest > 0),
        Source::None => Some(entry.written.is_some() && newest > rank(At { thread: thread as u8, index: index as u8 })),
    }
}

/// Whether leaving the thread now is a preemption.
fn able(graph: &Graph<'_>, positions: &[usize], thread: usize) -> bool {
    match graph.ops[thread].get(positions[thread]) {
        None => false,
        Some(Visible::Object { op, .. }) if op.yields() => false,
        Some(&op @ Visible::Object { var, .. }) => {
            let source = match newest(graph, positions, var) {
                0 => Source::Init,
                n => Source::Write(graph.order[var][n - 1]),
            };
            !op.outcomes(graph.value(var, source), thread_id(thread)).is_empty()
        }
        Some(_) => true,
    }
}
