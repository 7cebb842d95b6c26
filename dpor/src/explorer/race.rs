//! Data races: plain accesses are not events; each is checked, when it is performed, against the earlier ones. Executions run
//! in an order that extends happens-before, so two conflicting accesses that it does not order are found at the second one.

use super::Explorer;
use crate::event::EventId;
use crate::graph::{Clock, Graph};
use crate::op::{Access, ObjectId, Site, ThreadId};

/// One plain access.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlainAccess {
    /// By whom.
    pub thread: ThreadId,
    /// How many events the thread had performed before.
    pub after: u32,
    /// Read or write.
    pub access: Access,
    /// Where.
    pub site: Site,
}

/// Two conflicting accesses that happens-before does not order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Race {
    /// The one that came first in this run.
    pub first: PlainAccess,
    /// The other.
    pub second: PlainAccess,
}

/// The accesses to one place in memory that a later one may race with.
#[derive(Clone, Debug, Default)]
struct Memory {
    write: Option<PlainAccess>,
    /// The last read of each thread since the write.
    reads: Vec<PlainAccess>,
    /// By more than one thread.
    shared: bool,
}

/// All memory that the race detector watches in the current run.
#[derive(Debug, Default)]
pub(super) struct Races {
    memory: Vec<Memory>,
    used: usize,
}

impl Races {
    pub(super) fn reset(&mut self) {
        self.used = 0;
    }

    /// Whether two threads have accessed the same memory in the current run.
    pub(super) fn threads_met(&self) -> bool {
        self.memory[..self.used].iter().any(|memory| memory.shared)
    }

    fn fresh(&mut self) -> usize {
        if self.used == self.memory.len() {
            self.memory.push(Memory::default());
        }
        self.memory[self.used].write = None;
        self.memory[self.used].reads.clear();
        self.memory[self.used].shared = false;
        self.used += 1;
        self.used - 1
    }
}

impl Explorer {
    /// A plain access of the thread to the memory behind `key`, a word that its owner keeps as for [`Explorer::resolve`]
    /// (but never the same word). Returns the new word.
    pub fn plain(&mut self, thread: ThreadId, key: u64, access: Access, site: Site) -> (u64, Result<(), Race>) {
        let index = if key >> 24 == self.run.execution { (key & 0xff_ffff) as usize } else { self.races.fresh() };
        let key = self.run.execution << 24 | index as u64;
        let now = PlainAccess { thread, after: self.run.performed_by(thread), access, site };
        let graph = &self.frame.graph;
        let position = position(graph, thread, now.after);
        let memory = &mut self.races.memory[index];
        memory.shared |= memory.write.iter().chain(&memory.reads).any(|earlier| earlier.thread != thread);
        let races = |earlier: &PlainAccess| earlier.thread != thread && !knows(graph, position, earlier);
        let mut conflict = memory.write.filter(races);
        if access == Access::Write && conflict.is_none() {
            conflict = memory.reads.iter().copied().find(races);
        }
        if let Some(first) = conflict {
            return (key, Err(Race { first, second: now }));
        }
        match access {
            Access::Write => {
                memory.reads.clear();
                memory.write = Some(now);
            }
            Access::Read => match memory.reads.iter_mut().find(|r| r.thread == thread) {
                Some(read) => *read = now,
                None => memory.reads.push(now),
            },
        }
        (key, Ok(()))
    }

    /// The newest value that the object has got in this run.
    pub fn newest_value(&self, object: ObjectId) -> u64 {
        let graph = &self.frame.graph;
        let newest = graph.object(object).co.iter().rev().find(|&&w| self.run.performed(graph.event(w)));
        graph.value_of(object, newest.copied().unwrap_or(EventId::INIT))
    }

    /// Whether a caller that claims exclusive access to an object has it, as a plain write would need: else the race with an
    /// operation that is not ordered before.
    pub fn exclusive(&self, thread: ThreadId, object: ObjectId, site: Site) -> Result<(), Race> {
        let graph = &self.frame.graph;
        let now = PlainAccess { thread, after: self.run.performed_by(thread), access: Access::Write, site };
        let position = position(graph, thread, now.after);
        for other in (0..graph.thread_count()).filter(|&t| t != thread.index()) {
            let head = graph.head(object, other);
            if head.is_init() {
                continue;
            }
            let e = graph.event(head);
            if position.is_init() || !graph.knows(position, Clock::Hb, head) {
                let access = if graph.is_write_part(head) || e.part == crate::Part::Write {
                    Access::Write
                } else {
                    Access::Read
                };
                let site = e.site;
                let first = PlainAccess { thread: e.thread, after: e.index, access, site };
                return Err(Race { first, second: now });
            }
        }
        Ok(())
    }

    /// Whether what a thread reads of an object without synchronisation is all there is to read: else the race with a write
    /// that is not ordered before.
    pub fn unsynchronised(&self, thread: ThreadId, object: ObjectId, site: Site) -> Result<(), Race> {
        let graph = &self.frame.graph;
        let now = PlainAccess { thread, after: self.run.performed_by(thread), access: Access::Read, site };
        let position = position(graph, thread, now.after);
        let mut performed = graph.object(object).co.iter().filter(|&&w| self.run.performed(graph.event(w)));
        let unordered = performed.find(|&&w| {
            graph.event(w).thread != thread && (position.is_init() || !graph.knows(position, Clock::Hb, w))
        });
        match unordered {
            None => Ok(()),
            Some(&w) => {
                let e = graph.event(w);
                let first = PlainAccess { thread: e.thread, after: e.index, access: Access::Write, site: e.site };
                Err(Race { first, second: now })
            }
        }
    }
}

/// The event whose clocks are those of the thread after its first `after` events.
fn position(graph: &Graph, thread: ThreadId, after: u32) -> EventId {
    match after.checked_sub(1) {
        Some(last) => graph.threads[thread.index()].events[last as usize],
        None => graph.threads[thread.index()].spawned_by,
    }
}

/// Whether the access happens before what follows the event `position`: an event of its thread that came after it does.
fn knows(graph: &Graph, position: EventId, earlier: &PlainAccess) -> bool {
    !position.is_init() && graph.clock(position, Clock::Hb)[earlier.thread.index()] > earlier.after
}
