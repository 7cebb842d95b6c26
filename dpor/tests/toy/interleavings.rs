//! Brute force, operational: all interleavings of the threads, every read takes the newest value.

use std::collections::{HashMap, HashSet};

use super::enumerate::Axioms;
use super::execution::{Execution, Facts, Source};
use super::graph::{Graph, Plain};
use super::machine::Visible;
use super::program::Program;

/// All classes of sequentially consistent executions of a program.
///
/// Two interleavings that led to the same graph have the same future, so a graph is continued once.
pub(crate) fn all(program: &Program, plain: Plain) -> HashMap<Execution, Facts> {
    let mut seen = HashSet::new();
    let mut classes = HashMap::new();
    let mut stack = vec![Graph::new(program, plain)];
    while let Some(graph) = stack.pop() {
        let mut grew = false;
        for thread in 0..graph.width() {
            let Some(visible) = graph.wants(thread) else { continue };
            for next in steps(&graph, thread, visible) {
                grew = true;
                if seen.insert(next.key()) {
                    stack.push(next);
                }
            }
        }
        if !grew && let Some(execution) = graph.execution() {
            classes.insert(execution, graph.facts(Axioms::Sc));
        }
    }
    classes
}

fn steps<'p>(graph: &Graph<'p>, thread: usize, visible: Visible) -> Vec<Graph<'p>> {
    let var = visible.var();
    let source = match var {
        Some(var) if visible.reads() => graph.newest(var),
        _ => Source::None,
    };
    let last = var.map_or(0, |var| graph.order[var].len());
    graph
        .outcomes(thread, visible, source)
        .into_iter()
        .map(|outcome| graph.extend(thread, source, outcome, last))
        .collect()
}

/// The number of interleavings, without any reduction; deadlocked and stopped ones included.
pub(crate) fn count(program: &Program) -> u64 {
    fn go(graph: &Graph<'_>, known: &mut HashMap<Vec<u8>, u64>) -> u64 {
        let key = graph.key();
        if let Some(&n) = known.get(&key) {
            return n;
        }
        let wants = |t| graph.wants(t).map(|visible| (t, visible));
        let nexts: Vec<_> = (0..graph.width()).filter_map(wants).flat_map(|(t, v)| steps(graph, t, v)).collect();
        let n = if nexts.is_empty() { 1 } else { nexts.iter().map(|next| go(next, known)).sum() };
        known.insert(key, n);
        n
    }
    go(&Graph::new(program, Plain::Accesses), &mut HashMap::new())
}
