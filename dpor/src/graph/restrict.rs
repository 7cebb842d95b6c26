//! The part of a graph that a revisit keeps.

use super::{FIRST_OBJECT, Graph, ThreadEvents, in_use};
use crate::event::{Event, EventId, Order, Part};

impl Graph {
    /// Becomes the part of `from` that consists of its first `prefix` events and those later ones that satisfy `keep`. The
    /// kept events of each thread must be a prefix, and closed under reads-from and spawn, so that their clocks stay. Every
    /// write must be in `from`'s modification order. `map` is a buffer; it has the new numbers afterwards.
    pub(crate) fn restrict(
        &mut self,
        from: &Graph,
        map: &mut Vec<EventId>,
        prefix: usize,
        keep: impl Fn(EventId) -> bool,
    ) {
        self.copy_events(from, map, prefix, keep);
        self.copy_threads(from, map, prefix);
        self.copy_objects(from, map, prefix);
        self.spent = from.spent;
        self.sc_accesses = from.sc_accesses;
        self.sc_fences = from.sc_fences;
        self.weak_accesses = from.weak_accesses;
        for (index, e) in from.events.iter().enumerate().skip(prefix) {
            if map[index].is_init() {
                self.forget_counts(e);
            }
        }
        self.trim_objects();
    }

    /// Events and clocks. The prefix keeps its numbers, so it is copied as it is, but for reads of later writes.
    fn copy_events(&mut self, from: &Graph, map: &mut Vec<EventId>, prefix: usize, keep: impl Fn(EventId) -> bool) {
        self.events.clear();
        self.events.extend_from_slice(&from.events[..prefix]);
        self.clocks.copy_prefix(&from.clocks, prefix);
        map.clear();
        map.extend((0..prefix as u32).map(EventId));
        for (index, e) in from.events.iter().enumerate().skip(prefix) {
            if keep(EventId(index as u32)) {
                map.push(EventId(self.events.len() as u32));
                self.events.push(*e);
                self.clocks.copy_row(&from.clocks, EventId(index as u32));
            } else {
                map.push(EventId::INIT);
            }
        }
        let (old, new) = self.events.split_at_mut(prefix);
        for e in old {
            // Programs name events of older stamps, except where a revisit has redirected a read.
            if e.rf.index() >= prefix && !e.rf.is_init() {
                e.rf = map[e.rf.index()];
            }
        }
        let mapped = |e: EventId| if e.is_init() { e } else { map[e.index()] };
        for e in new {
            e.rf = mapped(e.rf);
            e.release_fence = mapped(e.release_fence);
            // The access before a kept one in its thread is kept too.
            e.prev_same = mapped(e.prev_same);
        }
    }

    fn copy_threads(&mut self, from: &Graph, map: &[EventId], prefix: usize) {
        self.reserve_threads(from.threads.len());
        let mapped = |e: EventId| if e.is_init() { e } else { map[e.index()] };
        for (to, source) in self.threads.iter_mut().zip(&from.threads) {
            let old = source.events.partition_point(|e| e.index() < prefix);
            to.events.clear();
            to.events.extend_from_slice(&source.events[..old]);
            to.events.extend(source.events[old..].iter().map(|e| map[e.index()]).take_while(|e| !e.is_init()));
            to.spawned_by = mapped(source.spawned_by);
            to.end = mapped(source.end);
            to.spawns = source.spawns;
        }
        for thread in &mut self.threads[from.threads.len()..] {
            *thread = ThreadEvents { events: core::mem::take(&mut thread.events), ..ThreadEvents::default() };
            thread.events.clear();
        }
    }

    fn copy_objects(&mut self, from: &Graph, map: &[EventId], prefix: usize) {
        for number in in_use(self.threads.len(), self.objects_len) {
            self.objects[number].clear();
        }
        self.objects_len = FIRST_OBJECT;
        self.reserve_objects(from.objects_len);
        let stride = self.clocks.stride();
        self.heads.clear();
        self.heads.resize(self.objects.len() * stride, EventId::INIT);
        for number in in_use(from.threads.len(), from.objects_len) {
            let source = &from.objects[number];
            if source.is_unused() {
                continue;
            }
            let to = &mut self.objects[number];
            let old = source.reads.partition_point(|e| e.index() < prefix);
            to.reads.extend_from_slice(&source.reads[..old]);
            to.reads.extend(source.reads[old..].iter().map(|e| map[e.index()]).filter(|e| !e.is_init()));
            let mut kept = 0;
            for write in &source.co {
                let write = map[write.index()];
                if !write.is_init() {
                    self.events[write.index()].co_pos = kept;
                    to.co.push(write);
                    kept += 1;
                }
            }
            let row = number * stride;
            for (to, &head) in self.heads[row..row + stride].iter_mut().zip(&from.heads[row..row + stride]) {
                let mut head = head;
                while !head.is_init() && map[head.index()].is_init() {
                    head = from.events[head.index()].prev_same;
                }
                if !head.is_init() {
                    *to = map[head.index()];
                }
            }
        }
    }

    /// Takes an event out of the counters.
    fn forget_counts(&mut self, e: &Event) {
        self.spent[e.budget as usize] -= 1;
        match e.part {
            Part::Read | Part::Write => self.count_access(e.order, -1),
            Part::Fence if e.order.has(Order::SC) => self.sc_fences -= 1,
            Part::Spawn => self.threads[e.thread.index()].spawns -= 1,
            _ => {}
        }
    }
}
