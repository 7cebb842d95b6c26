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
    incoming: Vec<u32>,
    psc: psc::Scratch,
    /// Only interleavings are wanted.
    interleavings: bool,
    /// Something was refused for that reason alone.
    refused: bool,
}

impl Scratch {
    pub(crate) fn new(interleavings: bool) -> Self {
        Scratch { interleavings, ..Scratch::default() }
    }

    /// Whether something consistent was refused, since the last time, because it is no interleaving. Not asked about all that
    /// was refused: one is enough.
    pub(crate) fn take_refused(&mut self) -> bool {
        core::mem::take(&mut self.refused)
    }
}

/// Whether the events `new` close no cycle in the order of sequentially consistent events. The graph without them must be
/// consistent, they must be coherent, and nothing but each other may come after them in program order or read from them.
///
/// Under SC all accesses are sequentially consistent, and so they can be under RC11: then the order is simply
/// `po + rf + co + fr`. Else it is `psc` of the RC11 paper.
pub(crate) fn admits(graph: &Graph, new: &[EventId], scratch: &mut Scratch) -> bool {
    if graph.weak_accesses == 0 {
        return interleaving::admits(graph, new, scratch);
    }
    if scratch.interleavings {
        let admitted = interleaving::admits(graph, new, scratch);
        if !admitted && !scratch.refused {
            scratch.refused = admits_weak(graph, new, scratch);
        }
        return admitted;
    }
    admits_weak(graph, new, scratch)
}

/// The same by `psc`.
fn admits_weak(graph: &Graph, new: &[EventId], scratch: &mut Scratch) -> bool {
    if graph.sc_accesses + graph.sc_fences < 2 {
        return true;
    }
    // An interleaving has no such cycle, and most graphs are interleavings.
    (graph.sc_fences > 0 && interleaving::acyclic(graph, scratch)) || psc::admits(graph, new, &mut scratch.psc)
}
