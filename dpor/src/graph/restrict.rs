//! The part of a graph that a revisit keeps.

use super::{FIRST_OBJECT, Graph, ThreadEvents, in_use};
use crate::event::{Event, EventId, Flags, NOT_PLACED, Order, Part};

impl Graph {
    /// Becomes a copy of `from`, in the buffers it has.
    pub(crate) fn copy(&mut self, from: &Graph) {
        for number in in_use(self.threads.len(), self.objects_len) {
            self.objects[number].clear();
        }
        self.objects_len = FIRST_OBJECT;
        self.events.clear();
        self.events.extend_from_slice(&from.events);
        self.clocks.copy(&from.clocks);
        self.reserve_threads(from.threads.len());
        for (to, source) in self.threads.iter_mut().zip(&from.threads) {
            let mut events = core::mem::take(&mut to.events);
            events.clear();
            events.extend_from_slice(&source.events);
            *to = ThreadEvents { events, ..*source };
        }
        for thread in &mut self.threads[from.threads.len()..] {
            thread.clear();
        }
        self.reserve_objects(from.objects_len);
        for number in in_use(from.threads.len(), from.objects_len) {
            let (to, source) = (&mut self.objects[number], &from.objects[number]);
            to.co.extend_from_slice(&source.co);
            to.reads.extend_from_slice(&source.reads);
        }
        self.heads.clear();
        let used = from.objects_len * from.clocks.stride();
        self.heads.extend_from_slice(&from.heads[..used]);
        self.heads.resize(self.objects.len() * self.clocks.stride(), EventId::INIT);
        self.spent = from.spent;
        self.sc_accesses = from.sc_accesses;
        self.sc_fences = from.sc_fences;
        self.weak_accesses = from.weak_accesses;
        self.loose_accesses = from.loose_accesses;
    }

    /// Takes out all events but the first `prefix` ones and those that `keep` names. The kept events of each thread must be a
    /// prefix, and closed under reads-from and spawn, so that their clocks stay. `map` is a buffer.
    ///
    /// Returns the new number of `of`, which is kept.
    pub(crate) fn retain(
        &mut self,
        map: &mut Vec<EventId>,
        prefix: usize,
        keep: impl Fn(&Graph, EventId) -> bool,
        of: EventId,
    ) -> EventId {
        map.clear();
        // What comes before the first event that goes stays as it is.
        let mut prefix = prefix;
        while prefix < self.events.len() && keep(self, EventId(prefix as u32)) {
            prefix += 1;
        }
        let mut next = prefix as u32;
        for index in prefix..self.events.len() {
            if keep(self, EventId(index as u32)) {
                map.push(EventId(next));
                next += 1;
            } else {
                map.push(EventId::INIT);
            }
        }
        for index in (prefix..self.events.len()).rev() {
            self.detach(EventId(index as u32), map[index - prefix].is_init());
        }
        for index in prefix..self.events.len() {
            if !map[index - prefix].is_init() {
                self.reattach(EventId(index as u32), map, prefix);
            }
        }
        self.events.truncate(next as usize);
        self.clocks.truncate(next as usize);
        self.trim_objects();
        if of.index() < prefix { of } else { map[of.index() - prefix] }
    }

    /// Takes an event, the newest that has not been taken, off the lists that are in insertion order; for good if it is
    /// `deleted`.
    fn detach(&mut self, id: EventId, deleted: bool) {
        let e = self.events[id.index()];
        let thread = e.thread.index();
        self.threads[thread].events.pop();
        if e.part == Part::Read {
            self.objects[e.object.index()].reads.pop();
        }
        if !deleted {
            return;
        }
        if let Some(last) = self.threads[thread].events.last() {
            self.events[last.index()].po_next = EventId::INIT;
        }
        if e.is_access() {
            let head = self.head_row(e.object) + thread;
            self.heads[head] = e.prev_same;
            if e.part == Part::Write {
                if e.co_pos != NOT_PLACED {
                    self.displace(id);
                }
                if e.object.index() < FIRST_OBJECT {
                    self.threads[thread].end = EventId::INIT;
                }
            }
        }
        self.forget(id, &e);
    }

    /// Takes an event out of the counters, and the thread it spawned with it.
    pub(super) fn forget(&mut self, id: EventId, e: &Event) {
        self.spent[e.budget as usize] -= 1;
        match e.part {
            Part::Read | Part::Write => {
                self.count_access(e.order, -1);
                self.count_loose(e, -1);
            }
            Part::Fence if e.order.has(Order::SC) => self.sc_fences -= 1,
            Part::Spawn => {
                self.threads[e.thread.index()].spawns -= 1;
                if let Some(child) = self.spawned_thread(id) {
                    self.threads[child.index()].spawned_by = EventId::INIT;
                }
            }
            _ => {}
        }
    }

    /// Gives a kept event its new number, after all older ones.
    fn reattach(&mut self, old: EventId, map: &[EventId], prefix: usize) {
        // Neither "none" nor what is in the prefix is in the map.
        let moved = |e: EventId| map.get(e.index().wrapping_sub(prefix)).copied().unwrap_or(e);
        let id = map[old.index() - prefix];
        self.events[id.index()] = self.events[old.index()];
        self.clocks.move_row(old, id);
        let e = &mut self.events[id.index()];
        e.rf = moved(e.rf);
        e.release_fence = moved(e.release_fence);
        e.prev_same = moved(e.prev_same);
        e.po_next = EventId::INIT;
        let thread = e.thread.index();
        let (object, part, flags, co_pos) = (e.object, e.part, e.flags, e.co_pos);
        if let Some(last) = self.threads[thread].events.last() {
            self.events[last.index()].po_next = id;
        }
        self.threads[thread].events.push(id);
        if matches!(part, Part::Read | Part::Write) {
            let head = self.head_row(object) + thread;
            if self.heads[head] == old {
                self.heads[head] = id;
            }
        }
        match part {
            Part::Read => self.objects[object.index()].reads.push(id),
            Part::Write => {
                if co_pos != NOT_PLACED {
                    self.objects[object.index()].co[co_pos as usize] = id;
                }
                if self.threads[thread].end == old {
                    self.threads[thread].end = id;
                }
                if flags.has(Flags::READ_BY_OLDER) {
                    // Readers outside of the prefix have learnt, or will learn, of the new number when their turn comes.
                    let reads = &self.objects[object.index()].reads;
                    for read in reads.iter().take_while(|read| read.index() < prefix) {
                        let reader = &mut self.events[read.index()];
                        if reader.rf == old {
                            reader.rf = id;
                        }
                    }
                }
            }
            Part::Spawn => {
                if let Some(child) = self.spawned_thread(old) {
                    self.threads[child.index()].spawned_by = id;
                }
            }
            _ => {}
        }
    }
}
