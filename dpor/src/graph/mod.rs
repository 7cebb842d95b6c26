//! The execution graph: events with program order, reads-from and modification order, and the vector clocks of each.
//!
//! Events are kept in insertion order, so that taking back the latest ones is popping, and a thread's events are in program
//! order within it. Clocks count events: `clock[t] = n` means that the first `n` events of thread `t` are included. They
//! never change while an event stays, except for the one read that a revisit redirects.

mod clocks;
mod grow;
mod restrict;

pub(crate) use clocks::Clock;

use crate::event::{Event, EventId, Flags, Part};
use crate::op::{BUDGETS, ObjectId, ThreadId};
use clocks::Clocks;

/// Most threads a model may have.
pub const MAX_THREADS: usize = 64;

/// The first object number that is not the end of a thread.
pub(crate) const FIRST_OBJECT: usize = MAX_THREADS;

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

impl ThreadEvents {
    fn clear(&mut self) {
        self.events.clear();
        self.spawned_by = EventId::INIT;
        self.spawns = 0;
        self.end = EventId::INIT;
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
    clocks: Clocks,
    pub(crate) threads: Vec<ThreadEvents>,
    pub(crate) objects: Vec<Object>,
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
    /// Accesses that program order and reads-from alone do not put in their place: blind stores, but for the ends of threads,
    /// and reads without a write part.
    pub(crate) loose_accesses: u32,
}

impl Default for Graph {
    fn default() -> Self {
        let mut graph = Graph {
            events: Vec::new(),
            clocks: Clocks::default(),
            threads: vec![ThreadEvents::default()],
            objects: Vec::new(),
            objects_len: 0,
            heads: Vec::new(),
            spent: [0; BUDGETS],
            sc_accesses: 0,
            sc_fences: 0,
            weak_accesses: 0,
            loose_accesses: 0,
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

    /// The event that spawned the thread; none of main.
    pub fn spawn_of(&self, thread: ThreadId) -> Option<EventId> {
        Some(self.threads[thread.index()].spawned_by).filter(|event| !event.is_init())
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

    /// Position in modification order plus one; 0 for the initial value. A write that is not in it is above all others.
    #[inline]
    pub(crate) fn rank(&self, write: EventId) -> usize {
        if write.is_init() { 0 } else { self.events[write.index()].co_pos as usize + 1 }
    }

    /// The write with this rank.
    #[inline]
    pub(crate) fn ranked(&self, object: ObjectId, rank: usize) -> EventId {
        if rank == 0 { EventId::INIT } else { self.objects[object.index()].co[rank - 1] }
    }

    /// One of the clocks of an event.
    #[inline]
    pub(crate) fn clock(&self, event: EventId, clock: Clock) -> &[u32] {
        self.clocks.get(event, clock)
    }

    /// Whether `clock` of `event` includes `other`.
    #[inline]
    pub(crate) fn knows(&self, event: EventId, clock: Clock, other: EventId) -> bool {
        let o = &self.events[other.index()];
        self.clocks.count(event, clock, o.thread.index()) > o.index
    }

    /// Where `heads` has the first thread of an object.
    #[inline]
    fn head_row(&self, object: ObjectId) -> usize {
        object.index() * self.clocks.stride()
    }

    /// The last access of `thread` to `object`.
    #[inline]
    pub(crate) fn head(&self, object: ObjectId, thread: usize) -> EventId {
        self.heads[self.head_row(object) + thread]
    }

    /// Whether an access of the object is not among the first `known[t]` events of its thread `t`.
    #[inline]
    pub(crate) fn is_accessed_beyond(&self, object: ObjectId, known: &[u32]) -> bool {
        let row = self.head_row(object);
        let heads = &self.heads[row..row + self.threads.len()];
        heads.iter().zip(known).any(|(&head, &known)| !head.is_init() && self.events[head.index()].index >= known)
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
        let thread = self.events[event.index()].thread.index();
        self.floor_before(object, thread, event, event, None)
    }

    /// As `floor`, for the access `skip` of `thread` if it knew what `known` knows, joined with the release clock of `also`.
    pub(crate) fn floor_before(
        &self,
        object: ObjectId,
        thread: usize,
        known: EventId,
        skip: EventId,
        also: Option<EventId>,
    ) -> usize {
        let row = self.head_row(object);
        let heads = &self.heads[row..row + self.threads.len()];
        let count = |thread: usize| {
            let count = if known.is_init() { 0 } else { self.clocks.count(known, Clock::Hb, thread) };
            also.map_or(count, |write| count.max(self.clocks.count(write, Clock::Release, thread)))
        };
        let top = self.objects[object.index()].co.len();
        if top == 0 {
            return 0;
        }
        // The thread's own last access is mostly the highest of those it knows.
        let mut floor = self.floor_by(heads[thread], count(thread), 0, skip, also);
        for (other, &head) in heads.iter().enumerate() {
            if floor == top {
                break;
            }
            if other != thread && !head.is_init() {
                floor = self.floor_by(head, count(other), floor, skip, also);
            }
        }
        floor
    }

    /// Raises `floor` to what the last of the accesses up to `access`, all by one thread, that is among its first `count`
    /// events makes it. Earlier accesses of a thread are never higher than later ones.
    #[inline]
    fn floor_by(&self, mut access: EventId, count: u32, floor: usize, skip: EventId, also: Option<EventId>) -> usize {
        if count == 0 {
            return floor;
        }
        while !access.is_init() {
            let e = &self.events[access.index()];
            // The write of a revisit is not in modification order yet; its own read part says where it belongs.
            if access != skip && Some(access) != also {
                let rank = self.rank(if e.part == Part::Write { access } else { e.rf });
                if rank <= floor {
                    break;
                }
                if e.index < count {
                    return rank;
                }
            }
            access = e.prev_same;
        }
        floor
    }
}

impl Graph {
    /// Whether two threads have used the same object, ends of threads apart.
    pub(crate) fn threads_met(&self) -> bool {
        let stride = self.clocks.stride();
        self.heads[FIRST_OBJECT * stride..self.objects_len * stride]
            .chunks(stride)
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
