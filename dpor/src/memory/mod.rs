//! Memory models: the only place that knows one. Coherence is in the graph's clocks (`Graph::floor`); here is the order of
//! the sequentially consistent events.

mod interleaving;
mod psc;

use crate::event::EventId;
use crate::graph::Graph;

/// Which executions are consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Memory {
    /// Sequential consistency: interleavings, whatever ordering an access states.
    Sc,
    /// RC11 (Lahav et al., PLDI 2017) with C++20's release sequences. Leaves out load buffering.
    #[default]
    Rc11,
}

/// Buffers of the checks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    stack: Vec<EventId>,
    seen: Vec<bool>,
    psc: psc::Scratch,
}

/// Whether the events `new` close no cycle in the order of sequentially consistent events. The graph without them must be
/// consistent, they must be coherent, and nothing but each other may come after them in program order or read from them.
///
/// Under SC all accesses are sequentially consistent, and so they can be under RC11: then the order is simply
/// `po + rf + co + fr`. Else it is `psc` of the RC11 paper.
pub(crate) fn admits(graph: &Graph, new: &[EventId], scratch: &mut Scratch) -> bool {
    if graph.weak_accesses == 0 {
        interleaving::admits(graph, new, scratch)
    } else if graph.sc_accesses + graph.sc_fences < 2 {
        true
    } else {
        psc::admits(graph, new, &mut scratch.psc)
    }
}

/// Whether the whole graph is an interleaving: `po + rf + co + fr` is acyclic, whatever the orderings say.
pub(crate) fn is_interleaving(graph: &Graph, scratch: &mut Scratch) -> bool {
    interleaving::acyclic(graph, scratch)
}
