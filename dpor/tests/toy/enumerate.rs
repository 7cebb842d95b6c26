//! Brute force, axiomatic: every reads-from and every modification order, filtered by the axioms of a memory model.
//!
//! Program order and reads-from together are acyclic, so every consistent graph can be built by adding one operation after
//! another, each reading from a write that is already there; and a prefix of a consistent graph is consistent.

use std::collections::{HashMap, HashSet};

use dpor::Outcome;

use super::axioms::Relations;
use super::execution::{Execution, Facts, Source};
use super::graph::{Graph, Plain};
use super::program::Program;

/// A memory model, as a filter of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axioms {
    /// Sequential consistency.
    Sc,
    /// Repaired C11 with the release sequences of C++20.
    Rc11,
}

/// All classes of executions of a program, or `None` if there are more than `limit` graphs on the way.
pub(crate) fn all(program: &Program, plain: Plain, axioms: Axioms, limit: usize) -> Option<HashMap<Execution, Facts>> {
    let mut seen = HashSet::new();
    let mut classes = HashMap::new();
    let mut stack = vec![Graph::new(program, plain)];
    while let Some(graph) = stack.pop() {
        let mut grew = false;
        for next in extensions(&graph) {
            let key = next.key();
            if seen.contains(&key) {
                grew = true;
            } else if consistent(&next, axioms) {
                grew = true;
                seen.insert(key);
                stack.push(next);
            }
        }
        if seen.len() > limit {
            return None;
        }
        if !grew && let Some(execution) = graph.execution() {
            classes.insert(execution, graph.facts(axioms));
        }
    }
    Some(classes)
}

/// Every graph with one operation more, consistent or not.
fn extensions<'p>(graph: &Graph<'p>) -> Vec<Graph<'p>> {
    let mut all = Vec::new();
    for thread in 0..graph.width() {
        let Some(visible) = graph.wants(thread) else { continue };
        let Some(var) = visible.var() else {
            let outcomes = graph.outcomes(thread, visible, Source::None);
            all.extend(outcomes.into_iter().map(|o| graph.extend(thread, Source::None, o, 0)));
            continue;
        };
        let places = graph.order[var].len() + 1;
        if visible.reads() {
            for place in 0..places {
                let source = if place == 0 { Source::Init } else { Source::Write(graph.order[var][place - 1]) };
                let outcomes = graph.outcomes(thread, visible, source);
                all.extend(outcomes.into_iter().map(|o: (u8, Outcome)| graph.extend(thread, source, o, place)));
            }
        } else {
            for outcome in graph.outcomes(thread, visible, Source::None) {
                all.extend((0..places).map(|place| graph.extend(thread, Source::None, outcome, place)));
            }
        }
    }
    all
}

fn consistent(graph: &Graph<'_>, axioms: Axioms) -> bool {
    let relations = Relations::new(graph);
    match axioms {
        Axioms::Sc => relations.sc(),
        Axioms::Rc11 => relations.rc11(),
    }
}
