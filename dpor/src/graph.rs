//! The execution graph: events with program order, reads-from and modification order, and the two vector clocks of each.
//!
//! Events are kept in insertion order, so that taking back the latest ones is popping, and a thread's events are in program
//! order within it. Clocks count events: `clock[t] = n` means that the first `n` events of thread `t` are included. They
//! never change while an event stays, except for the one read that a revisit redirects.

use crate::event::{Event, EventId, Flags, Order, Part};
use crate::op::{BUDGETS, ObjectId, ThreadId};

/// Most threads a model may have.
pub const MAX_THREADS: usize = 64;

/// The first object number that is not the end of a thread.
pub(crate) const FIRST_OBJECT: usize = MAX_THREADS;

/// Which of the clocks of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Clock {
    /// Program order and reads-from, itself included.
    Porf = 0,
    /// Happens-before, itself included.
    Hb = 1,
    /// Writes: what an acquire read of it comes after.
    Release = 2,
    /// What the relaxed reads of the thread so far make an acquire fence come after.
    Pending = 3,
}

const CLOCKS: usize = 4;

/// The events of one thread.
#[derive(Clone, Debug)]
pub(crate) struct ThreadEvents {
    /// In program order.
    pub(crate) events: Vec<EventId>,
    /// The event that spawned it; `INIT` for main and for threads that are not there.
    pub(crate) spawned_by: EventId,
    /// How many threads it has spawned.
    pub(crate) spawns: u32,
    /// Its end.
    pub(crate) end: EventId,
}

impl Default for ThreadEvents {
    fn default() -> Self {
        ThreadEvents { events: Vec::new(), spawned_by: EventId::INIT, spawns: 0, end: EventId::INIT }
    }
}

/// The accesses of one object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    /// Modification order, without the initial value.
    pub(crate) co: Vec<EventId>,
    /// Reads, in insertion order.
    pub(crate) reads: Vec<EventId>,
    /// The value it was created with, in the current run.
    pub(crate) init: u64,
    /// The run that set `init`: an object that two shims claim in one run is nondeterminism.
    pub(crate) bound_in: u64,
}

impl Object {
    fn clear(&mut self) {
        self.co.clear();
        self.reads.clear();
        self.bound_in = 0;
    }

    pub(crate) fn is_unused(&self) -> bool {
        self.co.is_empty() && self.reads.is_empty()
    }
}

/// The object numbers that may be in use: the ends of threads, and the others.
fn in_use(threads: usize, objects_len: usize) -> impl Iterator<Item = usize> {
    (0..threads).chain(FIRST_OBJECT..objects_len)
}

/// An execution graph.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) events: Vec<Event>,
    clocks: Vec<u32>,
    /// Threads a clock has room for.
    stride: usize,
    pub(crate) threads: Vec<ThreadEvents>,
    objects: Vec<Object>,
    /// The first `objects_len` of `objects` are in use; the rest are kept for their buffers.
    objects_len: usize,
    /// Per object and thread: its last access.
    heads: Vec<EventId>,
    /// Outcomes drawn from each budget.
    pub(crate) spent: [u32; BUDGETS],
    /// Sequentially consistent accesses.
    pub(crate) sc_accesses: u32,
    /// Sequentially consistent fences.
    pub(crate) sc_fences: u32,
    /// Accesses that are not sequentially consistent.
    pub(crate) weak_accesses: u32,
}

impl Default for Graph {
    fn default() -> Self {
        let mut graph = Graph {
            events: Vec::new(),
            clocks: Vec::new(),
            stride: 4,
            threads: vec![ThreadEvents::default()],
            objects: Vec::new(),
            objects_len: 0,
            heads: Vec::new(),
            spent: [0; BUDGETS],
            sc_accesses: 0,
            sc_fences: 0,
            weak_accesses: 0,
        };
        graph.reserve_objects(FIRST_OBJECT);
        graph
    }
}

/// Reading.
impl Graph {
    /// Number of events.
    #[inline]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// All events in insertion order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }

    /// One event. Panics for [`EventId::INIT`].
    #[inline]
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.index()]
    }

    /// The events of a thread in program order; empty for a thread that is not there.
    pub fn thread_events(&self, thread: ThreadId) -> &[EventId] {
        self.threads.get(thread.index()).map_or(&[], |t| &t.events)
    }

    /// Number of thread numbers in use, including threads of other executions.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// The writes of an object in modification order, without the initial value.
    pub fn modification_order(&self, object: ObjectId) -> &[EventId] {
        self.objects.get(object.index()).map_or(&[], |o| &o.co)
    }

    /// The initial value of an object in the current run.
    pub fn initial_value(&self, object: ObjectId) -> u64 {
        self.objects[object.index()].init
    }

    /// One past the largest object number in use.
    pub fn object_count(&self) -> usize {
        self.objects_len
    }

    /// Whether `a` happens before `b`.
    pub fn happens_before(&self, a: EventId, b: EventId) -> bool {
        a != b && self.knows(b, Clock::Hb, a)
    }

    /// The thread that `id`, a spawn, made.
    pub fn spawned_thread(&self, id: EventId) -> Option<ThreadId> {
        (0..self.threads.len()).find(|&t| self.threads[t].spawned_by == id).map(|t| ThreadId(t as u32))
    }

    #[inline]
    pub(crate) fn object(&self, object: ObjectId) -> &Object {
        &self.objects[object.index()]
    }

    #[inline]
    pub(crate) fn object_mut(&mut self, object: ObjectId) -> &mut Object {
        &mut self.objects[object.index()]
    }

    /// The value of a write in the current run.
    #[inline]
    pub(crate) fn value_of(&self, object: ObjectId, write: EventId) -> u64 {
        if write.is_init() { self.objects[object.index()].init } else { self.events[write.index()].value }
    }

    /// The last write of an object.
    #[inline]
    pub(crate) fn newest(&self, object: ObjectId) -> EventId {
        self.objects[object.index()].co.last().copied().unwrap_or(EventId::INIT)
    }

    /// Position in modification order plus one; 0 for the initial value.
    #[inline]
    pub(crate) fn rank(&self, write: EventId) -> usize {
        if write.is_init() { 0 } else { self.events[write.index()].co_pos as usize + 1 }
    }

    /// The write with this rank.
    #[inline]
    pub(crate) fn ranked(&self, object: ObjectId, rank: usize) -> EventId {
        if rank == 0 { EventId::INIT } else { self.objects[object.index()].co[rank - 1] }
    }

    #[inline]
    fn base(&self, event: EventId, clock: Clock) -> usize {
        (event.index() * CLOCKS + clock as usize) * self.stride
    }

    /// One of the clocks of an event.
    #[inline]
    pub(crate) fn clock(&self, event: EventId, clock: Clock) -> &[u32] {
        let base = self.base(event, clock);
        &self.clocks[base..base + self.stride]
    }

    /// Whether `clock` of `event` includes `other`.
    #[inline]
    pub(crate) fn knows(&self, event: EventId, clock: Clock, other: EventId) -> bool {
        let o = &self.events[other.index()];
        self.clocks[self.base(event, clock) + o.thread.index()] > o.index
    }

    /// The last access of `thread` to `object`.
    #[inline]
    pub(crate) fn head(&self, object: ObjectId, thread: usize) -> EventId {
        self.heads[object.index() * self.stride + thread]
    }

    /// The write that an access leaves its thread knowing: itself, or what it read.
    #[inline]
    pub(crate) fn view(&self, event: EventId) -> EventId {
        let e = &self.events[event.index()];
        if e.part == Part::Write { event } else { e.rf }
    }

    /// The event right before `event` in its thread, or the spawn of the thread.
    #[inline]
    pub(crate) fn po_pred(&self, event: EventId) -> EventId {
        let e = &self.events[event.index()];
        let thread = &self.threads[e.thread.index()];
        if e.index > 0 { thread.events[e.index as usize - 1] } else { thread.spawned_by }
    }

    /// The lowest rank that `event`, an access of `object` whose clocks are those of what is before it in program order, may
    /// read from or be placed after: coherence.
    #[inline]
    pub(crate) fn floor(&self, object: ObjectId, event: EventId) -> usize {
        self.floor_before(object, event, event, None)
    }

    /// As `floor`, for the access `skip` if it knew what `known` knows, joined with the release clock of `also`.
    pub(crate) fn floor_before(&self, object: ObjectId, known: EventId, skip: EventId, also: Option<EventId>) -> usize {
        let mut floor = 0;
        for thread in 0..self.threads.len() {
            let mut access = self.head(object, thread);
            if access.is_init() {
                continue;
            }
            let mut count = if known.is_init() { 0 } else { self.clocks[self.base(known, Clock::Hb) + thread] };
            if let Some(write) = also {
                count = count.max(self.clocks[self.base(write, Clock::Release) + thread]);
            }
            while !access.is_init() {
                let e = &self.events[access.index()];
                // The write of a revisit is not in modification order yet; its own read part says where it belongs.
                if access != skip && Some(access) != also && e.index < count {
                    floor = floor.max(self.rank(self.view(access)));
                    break;
                }
                access = e.prev_same;
            }
        }
        floor
    }
}

/// Growing and shrinking.
impl Graph {
    /// Room for object numbers below `len`.
    pub(crate) fn reserve_objects(&mut self, len: usize) {
        while self.objects.len() < len {
            self.objects.push(Object::default());
        }
        if self.objects_len < len {
            self.objects_len = len;
        }
        let heads = self.objects.len() * self.stride;
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
        if len > self.stride {
            self.widen(len.next_power_of_two());
        }
    }

    /// Lays out clocks and heads anew for more threads.
    fn widen(&mut self, stride: usize) {
        let mut clocks = Vec::with_capacity(self.clocks.len() / self.stride * stride);
        for row in self.clocks.chunks(self.stride) {
            clocks.extend_from_slice(row);
            clocks.resize(clocks.len() + stride - self.stride, 0);
        }
        self.clocks = clocks;
        let mut heads = Vec::with_capacity(self.objects.len() * stride);
        for row in self.heads.chunks(self.stride) {
            heads.extend_from_slice(row);
            heads.resize(heads.len() + stride - self.stride, EventId::INIT);
        }
        self.heads = heads;
        self.stride = stride;
    }

    /// Adds `event` at the end of its thread, with the clocks of what is before it in program order. It is not linked to its
    /// object yet: `link_read` or `link_write` must follow for an access.
    #[inline]
    pub(crate) fn push(&mut self, mut event: Event) -> EventId {
        let id = EventId(self.events.len() as u32);
        let thread = event.thread.index();
        event.index = self.threads[thread].events.len() as u32;
        self.threads[thread].events.push(id);
        event.prev_same = EventId::INIT;
        event.release_fence = EventId::INIT;
        if event.index > 0 {
            let pred = self.threads[thread].events[event.index as usize - 1];
            event.release_fence = self.events[pred.index()].release_fence;
        }
        self.spent[event.budget as usize] += 1;
        self.events.push(event);
        let width = CLOCKS * self.stride;
        let pred = self.po_pred(id);
        if pred.is_init() {
            self.clocks.resize(self.events.len() * width, 0);
        } else {
            let from = self.base(pred, Clock::Porf);
            self.clocks.extend_from_within(from..from + width);
        }
        self.start_clocks(id, pred);
        match event.part {
            Part::Fence => self.fence_clocks(id),
            Part::Spawn => self.threads[thread].spawns += 1,
            _ => {}
        }
        id
    }

    /// Sets the clocks of `id`, which are those of its predecessor `pred`, to what program order gives.
    #[inline]
    fn start_clocks(&mut self, id: EventId, pred: EventId) {
        let (thread, index) = (self.events[id.index()].thread.index(), self.events[id.index()].index);
        let to = self.base(id, Clock::Porf);
        if !pred.is_init() {
            let release = to + Clock::Release as usize * self.stride;
            self.clocks[release..release + self.stride].fill(0);
            if index == 0 {
                // A new thread knows what its parent knew, but not what the parent's relaxed reads have left pending.
                let pending = to + Clock::Pending as usize * self.stride;
                self.clocks[pending..pending + self.stride].fill(0);
            }
        }
        self.clocks[to + thread] = index + 1;
        self.clocks[to + self.stride + thread] = index + 1;
    }

    fn fence_clocks(&mut self, id: EventId) {
        let order = self.events[id.index()].order;
        if order.has(Order::ACQUIRE) {
            self.join_clock(id, Clock::Hb, id, Clock::Pending);
        }
        if order.has(Order::RELEASE) {
            self.events[id.index()].release_fence = id;
        }
        if order.has(Order::SC) {
            self.sc_fences += 1;
        }
    }

    #[inline]
    fn join_clock(&mut self, to: EventId, to_clock: Clock, from: EventId, from_clock: Clock) {
        let (to, from) = (self.base(to, to_clock), self.base(from, from_clock));
        for i in 0..self.stride {
            let value = self.clocks[from + i];
            if self.clocks[to + i] < value {
                self.clocks[to + i] = value;
            }
        }
    }

    #[inline]
    fn count_access(&mut self, order: Order, by: i32) {
        let counter = if order.has(Order::SC) { &mut self.sc_accesses } else { &mut self.weak_accesses };
        *counter = counter.wrapping_add_signed(by);
    }

    /// Makes `id`, just pushed, read from `rf`.
    #[inline]
    pub(crate) fn link_read(&mut self, id: EventId, rf: EventId) {
        let e = self.events[id.index()];
        let head = e.object.index() * self.stride + e.thread.index();
        self.events[id.index()].prev_same = self.heads[head];
        self.heads[head] = id;
        self.objects[e.object.index()].reads.push(id);
        self.count_access(e.order, 1);
        self.read_clocks(id, rf);
    }

    #[inline]
    fn read_clocks(&mut self, id: EventId, rf: EventId) {
        self.events[id.index()].rf = rf;
        if rf.is_init() {
            return;
        }
        self.join_clock(id, Clock::Porf, rf, Clock::Porf);
        let order = self.events[id.index()].order;
        let clock = if order.has(Order::ACQUIRE) { Clock::Hb } else { Clock::Pending };
        self.join_clock(id, clock, rf, Clock::Release);
    }

    /// Redirects a read that is the last event of its thread, with the outcome's ordering.
    pub(crate) fn redirect(&mut self, id: EventId, rf: EventId, order: Order) {
        let before = self.events[id.index()].order;
        self.count_access(before, -1);
        self.events[id.index()].order = order;
        self.count_access(order, 1);
        let (pred, width) = (self.po_pred(id), CLOCKS * self.stride);
        let to = self.base(id, Clock::Porf);
        if pred.is_init() {
            self.clocks[to..to + width].fill(0);
        } else {
            let from = self.base(pred, Clock::Porf);
            self.clocks.copy_within(from..from + width, to);
        }
        self.start_clocks(id, pred);
        self.read_clocks(id, rf);
    }

    /// Makes `id`, just pushed, a satisfied wait for the end `end`.
    pub(crate) fn link_join(&mut self, id: EventId, end: EventId) {
        self.events[id.index()].rf = end;
        self.join_clock(id, Clock::Porf, end, Clock::Porf);
        self.join_clock(id, Clock::Hb, end, Clock::Release);
    }

    /// Gives `id`, a write just pushed, its release clock. It is not in the modification order yet.
    #[inline]
    pub(crate) fn link_write(&mut self, id: EventId) {
        let e = self.events[id.index()];
        let head = e.object.index() * self.stride + e.thread.index();
        self.events[id.index()].prev_same = self.heads[head];
        self.heads[head] = id;
        self.count_access(e.order, 1);
        if e.order.has(Order::RELEASE) {
            self.join_clock(id, Clock::Release, id, Clock::Hb);
        } else if !e.release_fence.is_init() {
            self.join_clock(id, Clock::Release, e.release_fence, Clock::Hb);
        }
        if e.flags.has(Flags::RMW) {
            let rf = self.events[self.po_pred(id).index()].rf;
            if !rf.is_init() {
                self.join_clock(id, Clock::Release, rf, Clock::Release);
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
        co.remove(pos);
        for (pos, &write) in co.iter().enumerate().skip(pos) {
            self.events[write.index()].co_pos = pos as u32;
        }
    }

    /// Takes back the last event. A write must be in the modification order.
    #[inline]
    pub(crate) fn pop(&mut self) {
        let id = EventId(self.events.len() as u32 - 1);
        let e = self.events[id.index()];
        let thread = e.thread.index();
        match e.part {
            Part::Read => {
                self.heads[e.object.index() * self.stride + thread] = e.prev_same;
                let read = self.objects[e.object.index()].reads.pop();
                debug_assert_eq!(read, Some(id));
                self.count_access(e.order, -1);
            }
            Part::Write => {
                self.heads[e.object.index() * self.stride + thread] = e.prev_same;
                self.displace(id);
                self.count_access(e.order, -1);
                if e.object.index() < FIRST_OBJECT {
                    self.threads[thread].end = EventId::INIT;
                }
            }
            Part::Fence if e.order.has(Order::SC) => self.sc_fences -= 1,
            Part::Spawn => {
                self.threads[thread].spawns -= 1;
                if let Some(child) = self.spawned_thread(id) {
                    self.threads[child.index()].spawned_by = EventId::INIT;
                }
            }
            _ => {}
        }
        self.spent[e.budget as usize] -= 1;
        self.threads[thread].events.pop();
        self.events.pop();
        self.clocks.truncate(self.events.len() * CLOCKS * self.stride);
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
        for thread in &mut self.threads {
            thread.events.clear();
            thread.spawned_by = EventId::INIT;
            thread.end = EventId::INIT;
            thread.spawns = 0;
        }
        for number in in_use(self.threads.len(), self.objects_len) {
            self.objects[number].clear();
        }
        let used = (self.objects_len * self.stride).min(self.heads.len());
        self.heads[..used].fill(EventId::INIT);
        self.objects_len = FIRST_OBJECT;
        self.spent = [0; BUDGETS];
        self.sc_accesses = 0;
        self.sc_fences = 0;
        self.weak_accesses = 0;
    }

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
        self.stride = from.stride;
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
        let row = CLOCKS * from.stride;
        self.events.clear();
        self.events.extend_from_slice(&from.events[..prefix]);
        self.clocks.clear();
        self.clocks.extend_from_slice(&from.clocks[..prefix * row]);
        map.clear();
        map.extend((0..prefix as u32).map(EventId));
        for index in prefix..from.events.len() {
            if keep(EventId(index as u32)) {
                map.push(EventId(self.events.len() as u32));
                self.events.push(from.events[index]);
                self.clocks.extend_from_slice(&from.clocks[index * row..][..row]);
            } else {
                map.push(EventId::INIT);
            }
        }
        for (index, e) in self.events.iter_mut().enumerate() {
            // Programs name events of older stamps in the prefix, except where a revisit has redirected a read.
            if (index >= prefix || e.rf.index() >= prefix) && !e.rf.is_init() {
                e.rf = map[e.rf.index()];
            }
            if index >= prefix && !e.release_fence.is_init() {
                e.release_fence = map[e.release_fence.index()];
            }
        }
    }

    fn copy_threads(&mut self, from: &Graph, map: &[EventId], prefix: usize) {
        self.reserve_threads(from.threads.len());
        for (to, source) in self.threads.iter_mut().zip(&from.threads) {
            let old = source.events.partition_point(|e| e.index() < prefix);
            to.events.clear();
            to.events.extend_from_slice(&source.events[..old]);
            to.events.extend(source.events[old..].iter().map(|e| map[e.index()]).take_while(|e| !e.is_init()));
            let mapped = |e: EventId| if e.is_init() { e } else { map[e.index()] };
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
        self.heads.clear();
        self.heads.resize(self.objects.len() * self.stride, EventId::INIT);
        for number in in_use(from.threads.len(), from.objects_len) {
            let source = &from.objects[number];
            if source.is_unused() {
                continue;
            }
            let old = source.reads.partition_point(|e| e.index() < prefix);
            let to = &mut self.objects[number];
            to.reads.extend_from_slice(&source.reads[..old]);
            to.reads.extend(source.reads[old..].iter().map(|e| map[e.index()]).filter(|e| !e.is_init()));
            for write in source.co.iter().map(|e| map[e.index()]).filter(|e| !e.is_init()) {
                self.events[write.index()].co_pos = to.co.len() as u32;
                to.co.push(write);
            }
            for thread in 0..self.stride {
                let mut head = from.heads[number * self.stride + thread];
                while !head.is_init() && map[head.index()].is_init() {
                    head = from.events[head.index()].prev_same;
                }
                if !head.is_init() {
                    self.heads[number * self.stride + thread] = map[head.index()];
                }
            }
        }
        // Within the tail, the links from access to access have new numbers.
        for e in &mut self.events[prefix..] {
            if !e.prev_same.is_init() {
                e.prev_same = map[e.prev_same.index()];
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
impl Graph {
    /// Whether two threads have used the same object, ends of threads apart.
    pub(crate) fn threads_met(&self) -> bool {
        self.heads[FIRST_OBJECT * self.stride..self.objects_len * self.stride]
            .chunks(self.stride)
            .any(|row| row.iter().filter(|head| !head.is_init()).count() > 1)
    }

    /// Whether the event is the write part of a read-modify-write.
    pub fn is_write_part(&self, event: EventId) -> bool {
        let e = self.event(event);
        e.part == Part::Write && e.flags.has(Flags::RMW)
    }

    /// Whether a write part follows this read part.
    pub fn has_write_part(&self, event: EventId) -> bool {
        let e = self.event(event);
        e.part == Part::Read && e.flags.has(Flags::WRITES)
    }
}
