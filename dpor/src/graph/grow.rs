//! Growing and shrinking at the end.

use super::{FIRST_OBJECT, Graph, Object, ThreadEvents, in_use};
use crate::event::{Event, EventId, Flags, NOT_PLACED, Order, Part};
use crate::graph::Clock;
use crate::op::{BUDGETS, Budget, ObjectId};

impl Graph {
    /// Room for object numbers below `len`.
    pub(crate) fn reserve_objects(&mut self, len: usize) {
        while self.objects.len() < len {
            self.objects.push(Object::default());
        }
        if self.objects_len < len {
            self.objects_len = len;
        }
        let heads = self.objects.len() * self.clocks.stride();
        if self.heads.len() < heads {
            self.heads.resize(heads, EventId::INIT);
        }
    }

    /// A number that no object has.
    pub(crate) fn fresh_object(&mut self) -> ObjectId {
        let id = ObjectId(self.objects_len as u32);
        self.reserve_objects(self.objects_len + 1);
        id
    }

    /// Gives up the numbers at the end that no event uses (of operations that never came to be).
    pub(crate) fn trim_objects(&mut self) {
        while self.objects_len > FIRST_OBJECT && self.objects[self.objects_len - 1].is_unused() {
            self.objects_len -= 1;
            self.objects[self.objects_len].clear();
        }
    }

    /// Room for thread numbers below `len`.
    pub(crate) fn reserve_threads(&mut self, len: usize) {
        while self.threads.len() < len {
            self.threads.push(ThreadEvents::default());
        }
        if len > self.clocks.stride() {
            self.widen(len);
        }
    }

    /// Lays out clocks and heads anew for more threads.
    #[cold]
    fn widen(&mut self, threads: usize) {
        let before = self.clocks.stride();
        self.clocks.widen(threads);
        let stride = self.clocks.stride();
        let mut heads = Vec::with_capacity(self.objects.len() * stride);
        for row in self.heads.chunks(before) {
            heads.extend_from_slice(row);
            heads.resize(heads.len() + stride - before, EventId::INIT);
        }
        self.heads = heads;
    }

    /// Adds `event` at the end of its thread, with the clocks of what is before it in program order. It is not linked to its
    /// object yet: `link_read` or `link_write` must follow for an access.
    // Inlined, so that a new event is made where it stays.
    #[inline(always)]
    pub(crate) fn push(&mut self, mut event: Event) -> EventId {
        let id = EventId(self.events.len() as u32);
        let thread = &mut self.threads[event.thread.index()];
        event.index = thread.events.len() as u32;
        event.prev_same = EventId::INIT;
        event.release_fence = EventId::INIT;
        event.po_next = EventId::INIT;
        event.co_pos = NOT_PLACED;
        let pred = match thread.events.last() {
            Some(&last) => {
                let before = &mut self.events[last.index()];
                before.po_next = id;
                event.release_fence = before.release_fence;
                last
            }
            None => thread.spawned_by,
        };
        thread.events.push(id);
        self.spent[event.budget as usize] += 1;
        self.clocks.push(pred, event.thread.index(), event.index + 1);
        self.events.push(event);
        match event.part {
            Part::Fence => self.fence_clocks(id),
            Part::Spawn => self.threads[event.thread.index()].spawns += 1,
            _ => {}
        }
        id
    }

    /// Adds the write part of the read part `read`, the last event of its thread. As for `push`, `link_write` must follow.
    #[inline]
    pub(crate) fn push_write_part(&mut self, read: EventId) -> EventId {
        let id = EventId(self.events.len() as u32);
        let event = self.events[read.index()];
        self.events[read.index()].po_next = id;
        self.events.push(event);
        // Only now, so that nothing is copied that has just been written.
        let e = &mut self.events[id.index()];
        e.part = Part::Write;
        e.index += 1;
        e.rf = EventId::INIT;
        e.choice = 0;
        e.co_pos = NOT_PLACED;
        e.prev_same = EventId::INIT;
        e.po_next = EventId::INIT;
        e.budget = Budget::Free;
        e.flags = Flags::default();
        e.flags.set(Flags::RMW);
        let (thread, count) = (e.thread.index(), e.index + 1);
        self.threads[thread].events.push(id);
        self.spent[Budget::Free as usize] += 1;
        self.clocks.push(read, thread, count);
        id
    }

    fn fence_clocks(&mut self, id: EventId) {
        let order = self.events[id.index()].order;
        if order.has(Order::ACQUIRE) {
            self.clocks.join(id, Clock::Hb, id, Clock::Pending);
        }
        if order.has(Order::RELEASE) {
            self.events[id.index()].release_fence = id;
        }
        if order.has(Order::SC) {
            self.sc_fences += 1;
        }
    }

    #[inline]
    pub(super) fn count_access(&mut self, order: Order, by: i32) {
        let counter = if order.has(Order::SC) { &mut self.sc_accesses } else { &mut self.weak_accesses };
        *counter = counter.wrapping_add_signed(by);
    }

    /// Counts an access whose place is not given by program order and reads-from alone.
    #[inline]
    pub(super) fn count_loose(&mut self, e: &Event, by: i32) {
        let loose = match e.part {
            Part::Read => !e.flags.has(Flags::WRITES),
            Part::Write => !e.flags.has(Flags::RMW) && e.object.index() >= FIRST_OBJECT,
            _ => false,
        };
        self.loose_accesses = self.loose_accesses.wrapping_add_signed(by * i32::from(loose));
    }

    /// Whether the outcome of the read part `id`, which is linked, writes.
    #[inline]
    pub(crate) fn set_writes(&mut self, id: EventId, writes: bool) {
        let flags = &mut self.events[id.index()].flags;
        if flags.has(Flags::WRITES) == writes {
            return;
        }
        if writes {
            flags.set(Flags::WRITES);
            self.loose_accesses -= 1;
        } else {
            flags.clear(Flags::WRITES);
            self.loose_accesses += 1;
        }
    }

    /// Makes `id`, just pushed, read from `rf`.
    #[inline]
    pub(crate) fn link_read(&mut self, id: EventId, rf: EventId) {
        let stride = self.clocks.stride();
        let e = &mut self.events[id.index()];
        let head = &mut self.heads[e.object.index() * stride + e.thread.index()];
        e.prev_same = *head;
        e.rf = rf;
        *head = id;
        self.objects[e.object.index()].reads.push(id);
        let e = *e;
        self.count_access(e.order, 1);
        self.count_loose(&e, 1);
        self.read_clocks(id, rf, e.order);
    }

    #[inline]
    fn read_clocks(&mut self, id: EventId, rf: EventId, order: Order) {
        if rf.is_init() {
            return;
        }
        self.clocks.join(id, Clock::Porf, rf, Clock::Porf);
        let clock = if order.has(Order::ACQUIRE) { Clock::Hb } else { Clock::Pending };
        self.clocks.join(id, clock, rf, Clock::Release);
    }

    /// Redirects a read that is the last event of its thread, with the outcome's ordering.
    pub(crate) fn redirect(&mut self, id: EventId, rf: EventId, order: Order) {
        let pred = self.po_pred(id);
        let e = &mut self.events[id.index()];
        let before = core::mem::replace(&mut e.order, order);
        e.rf = rf;
        let (thread, count) = (e.thread.index(), e.index + 1);
        if before != order {
            self.count_access(before, -1);
            self.count_access(order, 1);
        }
        self.clocks.restart(id, pred, thread, count);
        self.read_clocks(id, rf, order);
    }

    /// Makes `id`, just pushed, a satisfied wait for the end `end`.
    pub(crate) fn link_join(&mut self, id: EventId, end: EventId) {
        self.events[id.index()].rf = end;
        self.clocks.join(id, Clock::Porf, end, Clock::Porf);
        self.clocks.join(id, Clock::Hb, end, Clock::Release);
    }

    /// Gives `id`, a write just pushed, its release clock. It is not in the modification order yet.
    #[inline]
    pub(crate) fn link_write(&mut self, id: EventId) {
        let stride = self.clocks.stride();
        let e = &mut self.events[id.index()];
        let head = &mut self.heads[e.object.index() * stride + e.thread.index()];
        e.prev_same = *head;
        *head = id;
        let e = *e;
        self.count_access(e.order, 1);
        self.count_loose(&e, 1);
        if e.order.has(Order::RELEASE) {
            self.clocks.join(id, Clock::Release, id, Clock::Hb);
        } else if !e.release_fence.is_init() {
            self.clocks.join(id, Clock::Release, e.release_fence, Clock::Hb);
        }
        if e.flags.has(Flags::RMW) {
            let rf = self.events[self.po_pred(id).index()].rf;
            if !rf.is_init() {
                self.clocks.join(id, Clock::Release, rf, Clock::Release);
            }
        }
        // Only the object that is the end of its thread is written by `End`.
        if e.object.index() < FIRST_OBJECT {
            self.threads[e.thread.index()].end = id;
        }
    }

    /// Puts the write `id` into modification order right after the first `rank` writes.
    #[inline]
    pub(crate) fn place(&mut self, id: EventId, rank: usize) {
        let object = self.events[id.index()].object;
        let co = &mut self.objects[object.index()].co;
        if rank == co.len() {
            self.events[id.index()].co_pos = rank as u32;
            co.push(id);
            return;
        }
        co.insert(rank, id);
        for (pos, &write) in co.iter().enumerate().skip(rank) {
            self.events[write.index()].co_pos = pos as u32;
        }
    }

    /// Takes the write `id` out of modification order.
    pub(crate) fn displace(&mut self, id: EventId) {
        let (object, pos) = (self.events[id.index()].object, self.events[id.index()].co_pos as usize);
        let co = &mut self.objects[object.index()].co;
        debug_assert_eq!(co[pos], id);
        self.events[id.index()].co_pos = NOT_PLACED;
        if pos + 1 == co.len() {
            co.pop();
            return;
        }
        co.remove(pos);
        for (pos, &write) in co.iter().enumerate().skip(pos) {
            self.events[write.index()].co_pos = pos as u32;
        }
    }

    /// Takes back the last event.
    #[inline]
    pub(crate) fn pop(&mut self) {
        let id = EventId(self.events.len() as u32 - 1);
        let e = self.events[id.index()];
        let thread = e.thread.index();
        match e.part {
            Part::Read => {
                let head = self.head_row(e.object) + thread;
                self.heads[head] = e.prev_same;
                let read = self.objects[e.object.index()].reads.pop();
                debug_assert_eq!(read, Some(id));
            }
            Part::Write => {
                let head = self.head_row(e.object) + thread;
                self.heads[head] = e.prev_same;
                if e.co_pos != NOT_PLACED {
                    self.displace(id);
                }
                if e.object.index() < FIRST_OBJECT {
                    self.threads[thread].end = EventId::INIT;
                }
            }
            _ => {}
        }
        self.forget(id, &e);
        let events = &mut self.threads[thread].events;
        events.pop();
        if let Some(last) = events.last() {
            self.events[last.index()].po_next = EventId::INIT;
        }
        self.events.pop();
        self.clocks.truncate(self.events.len());
    }

    /// Takes back all but the first `len` events.
    pub(crate) fn cut(&mut self, len: usize) {
        while self.events.len() > len {
            self.pop();
        }
    }

    /// Forgets everything but the buffers.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.clocks.clear();
        self.threads.iter_mut().for_each(ThreadEvents::clear);
        for number in in_use(self.threads.len(), self.objects_len) {
            self.objects[number].clear();
        }
        let used = (self.objects_len * self.clocks.stride()).min(self.heads.len());
        self.heads[..used].fill(EventId::INIT);
        self.objects_len = FIRST_OBJECT;
        self.spent = [0; BUDGETS];
        self.sc_accesses = 0;
        self.sc_fences = 0;
        self.weak_accesses = 0;
        self.loose_accesses = 0;
    }
}
