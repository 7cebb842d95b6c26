//! The guarded objects of toy programs: abstract states as words, operations as pure functions from a state to outcomes.
//!
//! They follow the discipline of guarded objects: whatever changes a state is read-modify-write like, a guarded operation
//! writes unless its guard is monotone, and an operation that fails without blocking only reads.

use dpor::{Ordering, Outcome, Outcomes, Outs, ThreadId};

/// An operation on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ObjectOp {
    /// Mutex: the state is 0 or the holder plus one.
    Lock,
    Unlock,
    TryLock,
    /// Counting semaphore: the state is the count.
    Acquire,
    Release,
    TryAcquire,
    /// The count becomes the argument, whatever it was.
    Set,
    /// Waits until the count is 0; not monotone, so it writes.
    WaitForZero,
    /// One-queue channel: the state is the queue, four bits an element, the front lowest; elements are 1 to 15.
    Send,
    /// As `Send`, to a channel with room for one element.
    SendBounded,
    Receive,
    TryReceive,
    /// Condition variable: bits 0..16 of the state are the waiting threads, bits 16..32 the woken ones.
    Enqueue,
    NotifyOne,
    NotifyAll,
    Wake,
    /// As `Wake`, but it may also dequeue and time out.
    TimedWake,
    /// Counter that only goes up.
    Arrive,
    /// Waits until the counter has reached the argument: a monotone guard, so it only reads.
    WaitFor,
}

impl ObjectOp {
    /// The pure function behind the operation.
    pub(crate) fn outs(self) -> Outs {
        match self {
            ObjectOp::Lock => lock,
            ObjectOp::Unlock => unlock,
            ObjectOp::TryLock => try_lock,
            ObjectOp::Acquire => acquire,
            ObjectOp::Release => release,
            ObjectOp::TryAcquire => try_acquire,
            ObjectOp::Set => set,
            ObjectOp::WaitForZero => wait_for_zero,
            ObjectOp::Send => send,
            ObjectOp::SendBounded => send_bounded,
            ObjectOp::Receive => receive,
            ObjectOp::TryReceive => try_receive,
            ObjectOp::Enqueue => enqueue,
            ObjectOp::NotifyOne => notify_one,
            ObjectOp::NotifyAll => notify_all,
            ObjectOp::Wake => wake,
            ObjectOp::TimedWake => timed_wake,
            ObjectOp::Arrive => arrive,
            ObjectOp::WaitFor => wait_for,
        }
    }

    /// Ordering of outcomes that only read.
    pub(crate) fn failure(self) -> Ordering {
        match self {
            ObjectOp::WaitFor => Ordering::Acquire,
            _ => Ordering::Relaxed,
        }
    }

    /// Whether leaving the thread at this operation costs no preemption.
    pub(crate) fn yields(self) -> bool {
        self == ObjectOp::TimedWake
    }
}

fn me(thread: ThreadId) -> u64 {
    u64::from(thread.0) + 1
}

fn lock(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if state == 0 {
        out.push(Outcome::write(me(thread), 1));
    }
}

/// Unlocking a mutex that somebody else holds does nothing, so that random programs are free to try.
fn unlock(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    out.push(if state == me(thread) { Outcome::write(0, 1) } else { Outcome::read(0) });
}

fn try_lock(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    out.push(if state == 0 { Outcome::write(me(thread), 1) } else { Outcome::read(0) });
}

fn acquire(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state > 0 {
        out.push(Outcome::write(state - 1, state));
    }
}

fn release(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state + 1, state));
}

fn try_acquire(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state > 0 { Outcome::write(state - 1, state) } else { Outcome::read(0) });
}

fn set(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(args[0], state));
}

fn wait_for_zero(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == 0 {
        out.push(Outcome::write(0, 0));
    }
}

fn send(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let mut length = 0;
    while state >> (4 * length) != 0 {
        length += 1;
    }
    out.push(Outcome::write(state | args[0] << (4 * length), 0));
}

fn send_bounded(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == 0 {
        out.push(Outcome::write(args[0], 0));
    }
}

fn receive(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state != 0 {
        out.push(Outcome::write(state >> 4, state & 15));
    }
}

fn try_receive(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state != 0 { Outcome::write(state >> 4, state & 15) } else { Outcome::read(0) });
}

const WOKEN: u32 = 16;

fn enqueue(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state | 1 << thread.0, 0));
}

fn notify_one(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let waiting = state & 0xffff;
    if waiting == 0 {
        out.push(Outcome::read(0));
    }
    for waiter in (0..16).filter(|w| waiting & (1 << w) != 0) {
        out.push(Outcome::write(state & !(1 << waiter) | 1 << (waiter + WOKEN), 1));
    }
}

fn notify_all(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let waiting = state & 0xffff;
    out.push(if waiting == 0 { Outcome::read(0) } else { Outcome::write(state & !0xffff | waiting << WOKEN, 1) });
}

fn wake(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    let woken = 1 << (thread.0 + WOKEN);
    if state & woken != 0 {
        out.push(Outcome::write(state & !woken, 1));
    }
}

fn timed_wake(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    let (waiting, woken) = (1 << thread.0, 1 << (thread.0 + WOKEN));
    let left = state & !woken & !waiting;
    if state & woken != 0 {
        out.push(Outcome::write(left, 1));
    }
    out.push(Outcome::write(left, 2));
}

fn arrive(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state + 1, state));
}

fn wait_for(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state >= args[0] {
        out.push(Outcome::read(state));
    }
}
