//! A channel with room for messages, in a model: its objects, and what is done to them.
//!
//! For each message there are three objects, each of which is set once:
//!
//! * *claimed*: the place of the message has been taken by a sender. Places are taken in order: a sender that comes too late
//!   goes on to the next one. When the last receiver has gone, the first place that nobody had taken is *closed*; the last
//!   sender that goes does the same.
//! * *filled*: the message is there. What is received waits for that.
//! * *taken*: a receiver has it. Messages are taken in order too. In a bounded channel, whoever wants a place waits until the
//!   message is taken that is as many places before as there is room.
//!
//! So threads only depend on each other where they compete for a place or for a message, or get one.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use dpor::{Action, Info, Outcome, Outcomes, Role, ThreadId};

use super::ends::{Dropped, Ends, Side};
use super::{Attempt, Patience, look};
use crate::model::controller::{Controller, current};
use crate::model::event::{Answer, Identity, Site, perform};
use crate::model::sync::mpsc::chan::{info, locked, object};
use crate::model::sync::mpsc::states::{
    DONE, EMPTY, NEVER, NOTHING, look_outs, set_outs, wait_or_give_up_outs, wait_outs,
};

/// Sets what is not set yet; what is set already is only seen.
fn set_first_outs(state: u64, [to, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == EMPTY { Outcome::write(to, EMPTY) } else { Outcome::read(state) });
}

static CLAIM: Info = info("Sender", "send", Role::Plain);
static ROOM: Info = info("Sender", "send: wait for room", Role::Wait);
static ROOM_TIMEOUT: Info = info("Sender", "send_timeout: wait for room", Role::Wait);
static TRY_ROOM: Info = info("Sender", "try_send: look for room", Role::Plain);
static FILL: Info = info("Sender", "send: message", Role::Signal);
static CLOSE: Info = info("Sender", "drop: close", Role::Signal);
static RECV: Info = info("Receiver", "recv", Role::Wait);
static RECV_TIMEOUT: Info = info("Receiver", "recv_timeout", Role::Wait);
static TRY_RECV: Info = info("Receiver", "try_recv", Role::Plain);
static TAKE: Info = info("Receiver", "recv: take", Role::Signal);
static LEAVE: Info = info("Receiver", "drop: close", Role::Signal);
static LEN: Info = info("Channel", "len", Role::Plain);
static READY_RECV: Info = info("Receiver", "is it ready", Role::Plain);
static READY_SEND: Info = info("Sender", "is it ready", Role::Plain);

/// One message.
struct Slot<T> {
    claimed: Identity,
    filled: Identity,
    taken: Identity,
    value: Mutex<Option<T>>,
}

/// A channel.
pub(super) struct Slots<T> {
    pub(super) ends: Ends,
    /// How many messages there is room for, if that is limited; never 0.
    capacity: Option<u64>,
    real: Mutex<Real<T>>,
}

/// What has really happened to a channel so far in this run.
struct Real<T> {
    slots: Vec<Arc<Slot<T>>>,
    claimed: u64,
    taken: u64,
    /// The places that receivers wait for.
    awaited: Vec<u64>,
    /// For each thread, the first place that it does not know to be claimed, and the first not known to be taken. No more
    /// than the thread itself has found out: what it does may depend on nothing else.
    known: Vec<[u64; 2]>,
}

/// Sets an object that may have been set already.
fn set_first(to: u64) -> Action {
    Action::Object { outs: set_first_outs, args: [to, 0], failure: Ordering::Relaxed, yields: false }
}

fn this_thread() -> usize {
    current(|controller| controller.map_or(0, |controller| controller.thread().index()))
}

impl<T> Slots<T> {
    pub(super) fn new(controller: &dyn Controller, capacity: Option<u64>, site: Site) -> Self {
        let real = Real { slots: Vec::new(), claimed: 0, taken: 0, awaited: Vec::new(), known: Vec::new() };
        Slots { ends: Ends::new(controller, site), capacity, real: Mutex::new(real) }
    }

    pub(super) fn capacity(&self) -> Option<usize> {
        self.capacity.map(|capacity| capacity as usize)
    }

    fn slot(&self, number: u64) -> Arc<Slot<T>> {
        let slots = &mut locked(&self.real).slots;
        while slots.len() as u64 <= number {
            let created = self.ends.created();
            slots.push(Arc::new(Slot {
                claimed: Identity::at(created),
                filled: Identity::at(created),
                taken: Identity::at(created),
                value: Mutex::new(None),
            }));
        }
        slots[number as usize].clone()
    }

    /// The first place of which the running thread does not know that it has been claimed (by a sender) or taken (by a
    /// receiver).
    fn next(&self, side: Side) -> u64 {
        let real = locked(&self.real);
        real.known.get(this_thread()).map_or(0, |known| known[side as usize])
    }

    /// The running thread knows that all places before `next` have been claimed or taken.
    fn learn(&self, side: Side, next: u64) {
        let thread = this_thread();
        let mut real = locked(&self.real);
        if real.known.len() <= thread {
            real.known.resize(thread + 1, [0; 2]);
        }
        let known = &mut real.known[thread];
        known[side as usize] = known[side as usize].max(next);
        // What has been taken was claimed before.
        known[Side::Send as usize] = known[Side::Send as usize].max(known[Side::Recv as usize]);
    }

    /// Claims a place.
    pub(super) fn begin_send(&self, patience: Patience, site: Site) -> Attempt {
        loop {
            let next = self.next(Side::Send);
            match self.wait_for_room(next, patience, site) {
                Answer::Done(NOTHING) => return Attempt::NotYet,
                Answer::Done(_) => {}
                Answer::Inert => return Attempt::Over,
                Answer::Outside => return Attempt::Gone,
            }
            match perform(&self.slot(next).claimed, EMPTY, set_first(DONE), &CLAIM, site) {
                Answer::Done(EMPTY) => {
                    self.learn(Side::Send, next + 1);
                    {
                        let mut real = locked(&self.real);
                        real.claimed = real.claimed.max(next + 1);
                    }
                    if self.ends.none_left(Side::Recv) {
                        self.ends.observe();
                    }
                    return Attempt::Done(next);
                }
                Answer::Done(NEVER) | Answer::Outside => return Attempt::Gone,
                Answer::Done(_) => self.learn(Side::Send, next + 1),
                Answer::Inert => return Attempt::Over,
            }
        }
    }

    /// Waits until there is room at place `next`. Nobody has claimed it when there was none: its first `next` places are
    /// claimed, and the one that would make room is not taken.
    fn wait_for_room(&self, next: u64, patience: Patience, site: Site) -> Answer {
        let Some(before) = self.capacity.and_then(|capacity| next.checked_sub(capacity)) else {
            return Answer::Done(DONE);
        };
        let (action, info) = match patience {
            Patience::Forever => (object(wait_outs, 0, false), &ROOM),
            Patience::SomeTime => (object(wait_or_give_up_outs, 0, true), &ROOM_TIMEOUT),
            Patience::None => (object(wait_or_give_up_outs, 0, false), &TRY_ROOM),
        };
        perform(&self.slot(before).taken, EMPTY, action, info, site)
    }

    /// Puts the message into a place that was claimed.
    pub(super) fn finish_send(&self, number: u64, value: T, site: Site) {
        let slot = self.slot(number);
        *locked(&slot.value) = Some(value);
        perform(&slot.filled, EMPTY, object(set_outs, DONE, false), &FILL, site);
    }

    /// Whether a send would not have to wait.
    pub(super) fn send_is_ready(&self, yields: bool, site: Site) -> bool {
        let mut next = self.next(Side::Send);
        loop {
            if let Some(before) = self.capacity.and_then(|capacity| next.checked_sub(capacity)) {
                let taken = perform(&self.slot(before).taken, EMPTY, look(look_outs, yields), &READY_SEND, site);
                if taken == Answer::Done(EMPTY) {
                    return false;
                }
            }
            match perform(&self.slot(next).claimed, EMPTY, look(look_outs, yields), &READY_SEND, site) {
                Answer::Done(DONE) => next += 1,
                _ => return true,
            }
        }
    }

    /// Takes the next message, which may not be filled in yet if the receiver does not wait.
    pub(super) fn begin_recv(&self, patience: Patience, site: Site) -> Attempt {
        loop {
            let next = self.next(Side::Recv);
            let slot = self.slot(next);
            let answer = match patience {
                Patience::Forever => self.wait_for_message(next, &slot, site),
                Patience::SomeTime => perform(&slot.claimed, EMPTY, look(look_outs, true), &RECV_TIMEOUT, site),
                Patience::None => perform(&slot.claimed, EMPTY, look(look_outs, false), &TRY_RECV, site),
            };
            match answer {
                Answer::Done(DONE) => {}
                Answer::Done(EMPTY) => {
                    self.ends.observe();
                    return Attempt::NotYet;
                }
                Answer::Done(_) => return Attempt::Gone,
                Answer::Inert | Answer::Outside => return Attempt::Over,
            }
            let answer = perform(&slot.taken, EMPTY, set_first(DONE), &TAKE, site);
            self.learn(Side::Recv, next + 1);
            match answer {
                Answer::Done(EMPTY) => {
                    let mut real = locked(&self.real);
                    real.taken = real.taken.max(next + 1);
                    return Attempt::Done(next);
                }
                Answer::Done(_) => {}
                Answer::Inert | Answer::Outside => return Attempt::Over,
            }
        }
    }

    /// Waits for a message that may never come.
    fn wait_for_message(&self, number: u64, slot: &Slot<T>, site: Site) -> Answer {
        let hopeless = {
            let mut real = locked(&self.real);
            real.awaited.push(number);
            self.ends.none_left(Side::Send) && number >= real.claimed
        };
        if hopeless {
            self.ends.observe();
        }
        let answer = perform(&slot.filled, EMPTY, object(wait_outs, 0, false), &RECV, site);
        let awaited = &mut locked(&self.real).awaited;
        if let Some(index) = awaited.iter().position(|&other| other == number) {
            awaited.swap_remove(index);
        }
        answer
    }

    /// The message that was taken.
    pub(super) fn finish_recv(&self, number: u64, site: Site) -> Option<T> {
        let slot = self.slot(number);
        perform(&slot.filled, EMPTY, object(wait_outs, 0, false), &RECV, site);
        self.value(number)
    }

    /// As [`Slots::finish_recv`], of a message that is known to be there.
    pub(super) fn value(&self, number: u64) -> Option<T> {
        locked(&self.slot(number).value).take()
    }

    /// Whether a receive would not have to wait.
    pub(super) fn recv_is_ready(&self, yields: bool, site: Site) -> bool {
        let mut next = self.next(Side::Recv);
        loop {
            let slot = self.slot(next);
            match perform(&slot.claimed, EMPTY, look(look_outs, yields), &READY_RECV, site) {
                Answer::Done(EMPTY) => {
                    self.ends.observe();
                    return false;
                }
                Answer::Done(DONE) => {}
                _ => return true,
            }
            match perform(&slot.taken, EMPTY, look(look_outs, yields), &READY_RECV, site) {
                Answer::Done(EMPTY) => return true,
                _ => next += 1,
            }
        }
    }

    /// The running thread waits until something changes that it has looked at.
    pub(super) fn park(&self, side: Side, info: &'static Info, site: Site) -> Answer {
        perform(&self.slot(self.next(side)).claimed, EMPTY, Action::Spin, info, site)
    }

    /// The first place that has not been claimed, or not been taken, from `next` on.
    fn first(&self, side: Side, mut next: u64, site: Site) -> u64 {
        loop {
            let slot = self.slot(next);
            let of = match side {
                Side::Send => &slot.claimed,
                Side::Recv => &slot.taken,
            };
            match perform(of, EMPTY, look(look_outs, false), &LEN, site) {
                Answer::Done(DONE) => next += 1,
                _ => return next,
            }
        }
    }

    /// How many messages there are.
    pub(super) fn len(&self, site: Site) -> usize {
        let mut taken = self.first(Side::Recv, self.next(Side::Recv), site);
        loop {
            let claimed = self.first(Side::Send, taken, site);
            // Nothing was taken meanwhile: so many there were when the last place was found free.
            let again = self.first(Side::Recv, taken, site);
            if again == taken {
                return (claimed - taken) as usize;
            }
            taken = again;
        }
    }

    pub(super) fn is_empty(&self, site: Site) -> bool {
        let taken = self.first(Side::Recv, self.next(Side::Recv), site);
        let claimed = perform(&self.slot(taken).claimed, EMPTY, look(look_outs, false), &LEN, site);
        claimed != Answer::Done(DONE)
    }

    pub(super) fn is_full(&self, site: Site) -> bool {
        let Some(capacity) = self.capacity else { return false };
        let claimed = self.first(Side::Send, self.next(Side::Send), site);
        let before = claimed.checked_sub(capacity);
        before.is_some_and(|before| self.first(Side::Recv, before, site) == before)
    }

    /// After the end of an execution, a message is left for whoever still looks for one.
    pub(super) fn leave_message(&self, value: T) {
        let number = {
            let mut real = locked(&self.real);
            real.claimed += 1;
            real.claimed - 1
        };
        *locked(&self.slot(number).value) = Some(value);
    }

    /// What has been left.
    pub(super) fn left_message(&self) -> Option<T> {
        let slots = locked(&self.real).slots.clone();
        slots.iter().find_map(|slot| locked(&slot.value).take())
    }

    /// A handle is dropped.
    pub(super) fn remove(&self, side: Side) {
        let site = self.ends.created();
        match (self.ends.remove(side), side) {
            (Dropped::OneOfMany, _) => {}
            // All others have gone before, so this is where they have come to.
            (Dropped::Last, Side::Send) => {
                let next = locked(&self.real).claimed;
                let slot = self.slot(next);
                perform(&slot.claimed, EMPTY, set_first(NEVER), &CLOSE, site);
                perform(&slot.filled, EMPTY, object(set_outs, NEVER, false), &CLOSE, site);
            }
            (Dropped::Last, Side::Recv) => self.discard(site),
            (Dropped::LastUncounted, Side::Send) => {
                let real = locked(&self.real);
                let hopeless = real.awaited.iter().any(|&number| number >= real.claimed);
                drop(real);
                if hopeless {
                    self.ends.observe();
                }
            }
            (Dropped::LastUncounted, Side::Recv) => {
                let real = locked(&self.real);
                let left = real.claimed > real.taken;
                drop(real);
                if left {
                    self.ends.observe();
                }
            }
        }
    }

    /// The last receiver has gone: no message is sent any more, and then those that are there are dropped, which lets those go
    /// on that wait for room.
    fn discard(&self, site: Site) {
        let first = locked(&self.real).taken;
        let mut end = first;
        while perform(&self.slot(end).claimed, EMPTY, set_first(NEVER), &LEAVE, site) == Answer::Done(DONE) {
            end += 1;
        }
        for number in first..end {
            perform(&self.slot(number).taken, EMPTY, set_first(DONE), &LEAVE, site);
            if std::mem::needs_drop::<T>() {
                drop(self.finish_recv(number, site));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::outcomes_of;

    fn outcomes(state: u64, to: u64) -> Vec<Outcome> {
        outcomes_of(set_first_outs, state, [to, 0], ThreadId::MAIN)
    }

    #[test]
    fn places_are_claimed_taken_and_closed_once() {
        assert_eq!(outcomes(EMPTY, DONE), [Outcome::write(DONE, EMPTY)]);
        assert_eq!(outcomes(EMPTY, NEVER), [Outcome::write(NEVER, EMPTY)]);
        assert_eq!(outcomes(DONE, NEVER), [Outcome::read(DONE)]);
        assert_eq!(outcomes(NEVER, DONE), [Outcome::read(NEVER)]);
    }
}
