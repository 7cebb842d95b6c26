//! Work that changes hands: one explorer gives away an alternative that it has not taken, with the graph that it continues,
//! and another one explores all that comes from it. Each execution is still explored once, by one of them.
//!
//! A [`WorkItem`] is self-contained. It carries the numbers of threads as its explorer gave them, because the graph names
//! threads by number; so it can only be taken up by an explorer that has nothing else to do.

use core::fmt;

use super::exhaustive::Alternative;
use super::spin::Known;
use super::{Explorer, Frame};
use crate::op::{ObjectId, ThreadId};

/// An alternative that nobody has explored yet, with everything that is needed to do so.
pub struct WorkItem {
    frame: Frame,
    children: Vec<Vec<ThreadId>>,
    thread_count: usize,
    loops: Known,
}

impl fmt::Debug for WorkItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkItem({:016x})", self.fingerprint())
    }
}

impl WorkItem {
    pub(super) fn into_frame(self) -> Frame {
        self.frame
    }

    /// A number that depends on nothing but the graph and what is to be done with it: the same in every process that runs
    /// the same program.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fnv::new();
        let graph = &self.frame.graph;
        for event in graph.events() {
            hash.add(u64::from(event.thread.0) << 32 | u64::from(event.object.0));
            hash.add(u64::from(event.rf.0) << 32 | u64::from(event.choice));
            hash.add(u64::from(event.co_pos) << 16 | (event.part as u64) << 8 | event.kind as u64);
        }
        for alternative in &self.frame.alternatives {
            alternative.words().into_iter().for_each(|word| hash.add(word));
        }
        hash.finish()
    }
}

/// The hash of Fowler, Noll and Vo (64 bit, 1a), by words, with a final mix so that the low bits are as good as the others.
struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        self.0 ^= self.0 >> 29;
    }

    fn finish(self) -> u64 {
        let mixed = (self.0 ^ self.0 >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    }
}

/// Sharing work. Between executions only, and only when exploring exhaustively.
impl Explorer {
    /// How many alternatives wait to be taken. Some of them may turn out to be inconsistent.
    pub fn waiting(&self) -> usize {
        self.frame.alternatives.len() + self.outer.iter().map(|frame| frame.alternatives.len()).sum::<usize>()
    }

    /// Gives away the alternative that would be taken last: all that remains comes before it. `None` if none waits.
    pub fn split(&mut self) -> Option<WorkItem> {
        let frames = self.outer.iter_mut().chain(core::iter::once(&mut self.frame));
        let (index, frame) = frames.enumerate().find(|(_, frame)| !frame.alternatives.is_empty())?;
        let alternative = frame.alternatives.remove(0);
        let frame = self.outer.get(index).unwrap_or(&self.frame);
        Some(self.item(frame, alternative))
    }

    /// An alternative of a frame, with what is needed to explore it elsewhere.
    pub(super) fn item(&self, frame: &Frame, alternative: Alternative) -> WorkItem {
        let mut graph = frame.graph.clone();
        graph.cut(graph.len().min(alternative.stamp() + 1));
        for object in 0..graph.object_count() {
            // The numbers of executions are each explorer's own.
            graph.object_mut(ObjectId(object as u32)).bound_in = 0;
        }
        let labels = frame.labels.clone();
        let frame = Frame { graph, alternatives: vec![alternative], labels, unfinished: None };
        let (children, thread_count) = (self.children.clone(), self.thread_count);
        WorkItem { frame, children, thread_count, loops: self.spins.known().clone() }
    }

    /// Takes up work that another explorer of the same program and configuration has given away.
    ///
    /// # Panics
    ///
    /// If there still are alternatives of its own, or it is in the middle of an execution that comes again.
    pub fn adopt(&mut self, item: WorkItem) {
        assert!(self.waiting() == 0 && !self.is_probing(), "an explorer takes up work when it has none");
        self.outer.clear();
        self.frame = item.frame;
        self.started = true;
        self.children = item.children;
        self.thread_count = item.thread_count;
        self.spins.learn(item.loops);
    }
}
