//! The smallest number of preemptions among the sequentially consistent orders of an execution.
//!
//! A switch is a preemption if the thread that is left has another operation in this execution and could perform it now.

use std::collections::HashMap;

use super::execution::{At, Source};
use super::graph::Graph;
use super::machine::{Visible, thread_id};

/// How far every thread has come, and which one went last.
type State = (Vec<usize>, usize);

/// `None` if the execution is not sequentially consistent.
pub(crate) fn fewest(graph: &Graph<'_>) -> Option<u32> {
    let width = graph.width();
    let total: usize = graph.entries.iter().map(Vec::len).sum();
    let mut layer: HashMap<State, u32> = HashMap::from([((vec![0; width], width), 0)]);
    for _ in 0..total {
        let mut next = HashMap::new();
        for ((positions, last), cost) in &layer {
            for thread in (0..width).filter(|&t| ready(graph, positions, t)) {
                let preempts = thread != *last && *last < width && able(graph, positions, *last);
                let cost = cost + u32::from(preempts);
                let mut positions = positions.clone();
                positions[thread] += 1;
                let best = next.entry((positions, thread)).or_insert(cost);
                *best = cost.min(*best);
            }
        }
        layer = next;
    }
    layer.into_values().min()
}

/// The newest write of a variable when the threads have come this far, and how many writes were done.
fn newest(graph: &Graph<'_>, positions: &[usize], var: usize) -> (Source, usize) {
    let done = |at: &&At| (at.index as usize) < positions[at.thread as usize];
    let n = graph.order[var].iter().take_while(done).count();
    (if n == 0 { Source::Init } else { Source::Write(graph.order[var][n - 1]) }, n)
}

/// Whether the next operation of the thread would do now what it does in the graph.
fn ready(graph: &Graph<'_>, positions: &[usize], thread: usize) -> bool {
    let index = positions[thread];
    let Some(entry) = graph.entries[thread].get(index) else { return false };
    let Some(var) = graph.ops[thread][index].var() else { return true };
    let (source, written) = newest(graph, positions, var);
    let at = At { thread: thread as u8, index: index as u8 };
    (entry.source == Source::None || entry.source == source)
        && (entry.written.is_none() || graph.order[var][written] == at)
}

/// Whether leaving the thread now is a preemption.
fn able(graph: &Graph<'_>, positions: &[usize], thread: usize) -> bool {
    match graph.ops[thread].get(positions[thread]) {
        None => false,
        Some(Visible::Object { op, .. }) if op.yields() => false,
        Some(&op @ Visible::Object { var, .. }) => {
            let (source, _) = newest(graph, positions, var);
            !op.outcomes(graph.value(var, source), thread_id(thread)).is_empty()
        }
        Some(_) => true,
    }
}
