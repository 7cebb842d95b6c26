//! Events: the nodes of an execution graph.

use core::fmt;

use crate::explorer::spin_choice;
use crate::memory::Memory;
use crate::op::{Action, Budget, ObjectId, Op, Ordering, Site, ThreadId};

/// An event of one graph: its stamp, the position in insertion order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u32);

impl EventId {
    /// The write that gave an object its initial value; also used for "none".
    pub const INIT: EventId = EventId(u32::MAX);

    /// The stamp as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this is [`EventId::INIT`].
    #[inline]
    pub fn is_init(self) -> bool {
        self.0 == u32::MAX
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_init() { f.write_str("init") } else { write!(f, "e{}", self.0) }
    }
}

/// The position of a write that is not in the modification order.
pub(crate) const NOT_PLACED: u32 = u32::MAX;

/// What an event is in the graph. A read-modify-write is two events: `Read`, and `Write` right after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Part {
    /// A read, or the read part of a read-modify-write.
    Read,
    /// A blind store, or the write part of a read-modify-write.
    Write,
    /// A fence.
    Fence,
    /// A data choice.
    Choice,
    /// A new thread.
    Spawn,
    /// A wait for a thread's end, satisfied.
    Join,
    /// The end of an iteration of a spinning loop.
    Spin,
}

/// Which operation an event belongs to, for comparison when it is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// [`Action::Load`]
    Load,
    /// [`Action::Store`]
    Store,
    /// [`Action::Update`]
    Update,
    /// [`Action::Object`]
    Object,
    /// [`Action::Fence`]
    Fence,
    /// [`Action::Choose`]
    Choose,
    /// [`Action::Await`]
    Await,
    /// [`Action::Spawn`]
    Spawn,
    /// [`Action::Join`]
    Join,
    /// [`Action::Ended`]
    Ended,
    /// [`Action::End`]
    End,
    /// [`Action::Spin`] and [`Action::Yield`]
    Spin,
    /// [`Action::Assume`]; never in a graph.
    Assume,
}

impl Kind {
    /// What to call such an operation when nothing more is known of it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Load => "load",
            Kind::Store => "store",
            Kind::Update => "read-modify-write",
            Kind::Object => "operation on an object",
            Kind::Fence => "fence",
            Kind::Choose => "choice",
            Kind::Await => "wait",
            Kind::Spawn => "spawn",
            Kind::Join => "join",
            Kind::Ended => "is_finished",
            Kind::End => "end",
            Kind::Spin => "spin",
            Kind::Assume => "assumption",
        }
    }
}

/// Memory orderings as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Order(u8);

impl Order {
    /// No ordering.
    pub const RELAXED: Order = Order(0);
    /// Acquire.
    pub const ACQUIRE: Order = Order(1);
    /// Release.
    pub const RELEASE: Order = Order(2);
    /// Part of the order of all sequentially consistent operations.
    pub const SC: Order = Order(4);
    /// Acquire, release and sequentially consistent.
    pub const ALL: Order = Order(7);

    /// Both.
    #[inline]
    pub const fn with(self, other: Order) -> Order {
        Order(self.0 | other.0)
    }

    /// Whether all of `other` is in it.
    #[inline]
    pub const fn has(self, other: Order) -> bool {
        self.0 & other.0 == other.0
    }

    /// What `order` means under `memory`: under SC every access is sequentially consistent.
    #[inline]
    pub fn of(order: Ordering, memory: Memory) -> Order {
        if memory == Memory::Sc {
            return Order::ALL;
        }
        match order {
            Ordering::Relaxed => Order::RELAXED,
            Ordering::Acquire => Order::ACQUIRE,
            Ordering::Release => Order::RELEASE,
            Ordering::AcqRel => Order::ACQUIRE.with(Order::RELEASE),
            _ => Order::ALL,
        }
    }
}

/// Marks of an event (ALGORITHM.md 3) and what its read part was followed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    /// Never revisit.
    pub(crate) const NO_REVISIT: Flags = Flags(1);
    /// Never delete.
    pub(crate) const NO_DELETE: Flags = Flags(2);
    /// The outcome of this read part writes: a write part follows it.
    pub(crate) const WRITES: Flags = Flags(4);
    /// This write is the write part of a read-modify-write.
    pub(crate) const RMW: Flags = Flags(8);
    /// A revisit has made an older read read from this write; it may have been redirected again since.
    pub(crate) const READ_BY_OLDER: Flags = Flags(16);

    #[inline]
    pub(crate) fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    pub(crate) fn set(&mut self, other: Flags) {
        self.0 |= other.0;
    }

    #[inline]
    pub(crate) fn clear(&mut self, other: Flags) {
        self.0 &= !other.0;
    }
}

/// One event. Structure only, but for `value`, which belongs to the run that is replaying the graph.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Its thread.
    pub thread: ThreadId,
    /// Its position in the thread, from 0.
    pub index: u32,
    /// The object; `ObjectId::NONE` for fences, choices and spins. The end of thread `t` is a write to the object `t`.
    pub object: ObjectId,
    /// For reads and joins: the write it reads from.
    pub rf: EventId,
    /// Which outcome was taken; 0 is the canonical one. For spins see [`spin_choice`](crate::spin_choice).
    pub choice: u32,
    /// For writes: position in the modification order of the object.
    pub(crate) co_pos: u32,
    /// The previous event of the same thread on the same object.
    pub(crate) prev_same: EventId,
    /// The last fence with release ordering of the thread, up to and including this event.
    pub(crate) release_fence: EventId,
    /// What the read read or the write wrote, in the current run.
    pub value: u64,
    /// Where its operation was written.
    pub site: Site,
    /// The orderings that its operation stated: compared when it is replayed, with the kind and the object.
    pub(crate) stated: [Ordering; 2],
    /// The next event of its thread.
    pub(crate) po_next: EventId,
    /// What it is.
    pub part: Part,
    /// Which operation it belongs to.
    pub kind: Kind,
    /// Its ordering: that of the outcome taken.
    pub order: Order,
    /// The ordering of outcomes that write.
    pub(crate) success: Order,
    /// The ordering of outcomes that do not write.
    pub(crate) failure: Order,
    /// Which budget the outcome drew on.
    pub budget: Budget,
    pub(crate) flags: Flags,
}

impl Event {
    /// The first (or only) event of `op` for `thread`, not yet linked to anything.
    #[inline(always)]
    pub(crate) fn of(thread: ThreadId, op: &Op, memory: Memory) -> Event {
        let (label, part) = label(thread, op, memory);
        Event {
            thread,
            index: 0,
            object: label.object,
            rf: EventId::INIT,
            choice: 0,
            co_pos: NOT_PLACED,
            prev_same: EventId::INIT,
            release_fence: EventId::INIT,
            value: 0,
            site: op.site,
            stated: stated(&op.action),
            po_next: EventId::INIT,
            part,
            kind: label.kind,
            order: label.success,
            success: label.success,
            failure: label.failure,
            budget: Budget::Free,
            flags: Flags::default(),
        }
    }

    /// Whether the thread's operation `op` is the one it belongs to, as far as can be told.
    pub(crate) fn is_of(&self, thread: ThreadId, op: &Op) -> bool {
        let (label, part) = label(thread, op, Memory::Rc11);
        self.kind == label.kind && self.part == part && self.object == label.object && self.stated == stated(&op.action)
    }

    /// Whether its outcome draws from a budget or is not canonical: such an event may not be deleted by a revisit.
    #[inline]
    pub(crate) fn is_canonical(&self) -> bool {
        self.choice == 0
            || match self.kind {
                Kind::Spin => self.choice == spin_choice::PASS,
                // It has no alternatives.
                Kind::Await => true,
                _ => false,
            }
    }

    /// Whether it is an access to an object (not a join).
    #[inline]
    pub fn is_access(&self) -> bool {
        matches!(self.part, Part::Read | Part::Write)
    }
}

/// The orderings of an operation as the program states them: if it writes, and if not.
#[inline]
fn stated(action: &Action) -> [Ordering; 2] {
    match *action {
        Action::Load { order } | Action::Store { order, .. } | Action::Fence { order } => [order; 2],
        Action::Update { order, failure, .. } => [order, failure],
        Action::Object { failure, .. } => [failure; 2],
        _ => [Ordering::Relaxed; 2],
    }
}

/// What an operation becomes in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) kind: Kind,
    pub(crate) object: ObjectId,
    /// The ordering of outcomes that write, or the only one.
    pub(crate) success: Order,
    /// The ordering of outcomes that do not write.
    pub(crate) failure: Order,
}

/// The label of `op` for `thread`, and the part that its first event is.
#[inline(always)]
pub(crate) fn label(thread: ThreadId, op: &Op, memory: Memory) -> (Label, Part) {
    let one = |kind, object, order| Label { kind, object, success: order, failure: order };
    let of = |order| Order::of(order, memory);
    match op.action {
        Action::Load { order } => (one(Kind::Load, op.object, of(order)), Part::Read),
        Action::Store { order, .. } => (one(Kind::Store, op.object, of(order)), Part::Write),
        Action::Update { order, failure, .. } => {
            (Label { kind: Kind::Update, object: op.object, success: of(order), failure: of(failure) }, Part::Read)
        }
        // Simulated objects are sequentially consistent, whatever the synchronisation of a failed attempt is.
        Action::Object { failure, .. } => {
            let failure = of(failure).with(Order::SC);
            (Label { kind: Kind::Object, object: op.object, success: Order::ALL, failure }, Part::Read)
        }
        Action::Fence { order } => (one(Kind::Fence, ObjectId::NONE, of(order)), Part::Fence),
        Action::Choose { .. } => (one(Kind::Choose, ObjectId::NONE, Order::RELAXED), Part::Choice),
        Action::Await { .. } => (one(Kind::Await, ObjectId::NONE, Order::RELAXED), Part::Choice),
        Action::Spawn => (one(Kind::Spawn, ObjectId::NONE, Order::RELAXED), Part::Spawn),
        Action::Join { .. } => (one(Kind::Join, ObjectId::NONE, Order::ACQUIRE), Part::Join),
        // The end of a thread is a simulated object too.
        Action::Ended { thread } => (one(Kind::Ended, ObjectId(thread.0), Order::ALL), Part::Read),
        Action::End => (one(Kind::End, ObjectId(thread.0), Order::ALL), Part::Write),
        Action::Spin | Action::Yield => (one(Kind::Spin, ObjectId::NONE, Order::RELAXED), Part::Spin),
        Action::Assume => (one(Kind::Assume, ObjectId::NONE, Order::RELAXED), Part::Spin),
    }
}
