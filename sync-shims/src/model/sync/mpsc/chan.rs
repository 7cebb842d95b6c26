//! A channel in a model: its objects and what is done to them.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dpor::{Action, Info, Outcome, Outcomes, Outs, Role, ThreadId};

use crate::model::controller::{Controller, current};
use crate::model::event::{Answer, Identity, Site, perform};
use crate::model::sync::Arc;

/// The receiver is gone, in the state of the tickets, whose number is in the bits above.
const GONE: u64 = 1;
const TICKET: u64 = 2;

/// The states of a message's objects. What is in one of the other states stays so.
pub(crate) const EMPTY: u64 = 0;
/// It can be received; it has been received.
pub(crate) const DONE: u64 = 1;
/// It never will be.
pub(crate) const NEVER: u64 = 2;

/// What looking for a message in vain results in.
pub(crate) const NOTHING: u64 = 3;

/// The first argument is a ticket; if that is not the next one any more, it is not taken.
const ANY: u64 = u64::MAX;

fn take_ticket_outs(state: u64, [expected, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let next = state / TICKET;
    let takes = state & GONE == 0 && (expected == ANY || expected == next);
    out.push(if takes { Outcome::write(state + TICKET, state) } else { Outcome::read(state) });
}

pub(crate) fn look_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(state));
}

fn leave_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state | GONE, 0));
}

pub(crate) fn set_outs(state: u64, [to, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    // It is done once; what comes later changes nothing.
    out.push(Outcome::write(if state == EMPTY { to } else { state }, 0));
}

fn assign_outs(_: u64, [to, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(to, 0));
}

pub(crate) fn wait_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state != EMPTY {
        out.push(Outcome::read(state));
    }
}

pub(crate) fn wait_or_give_up_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(if state == EMPTY { NOTHING } else { state }));
}

pub(crate) fn count_outs(state: u64, [change, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    // An exploration also asks about states without the sender that is dropped.
    if let Some(count) = state.checked_add_signed(change.cast_signed()) {
        out.push(Outcome::write(count, state));
    }
}

pub(crate) const fn info(family: &'static str, name: &'static str, role: Role) -> Info {
    Info { name, family, role }
}

static SEND: Info = info("Sender", "send", Role::Plain);
static TRY_SEND: Info = info("SyncSender", "try_send", Role::Plain);
static SEND_WAIT: Info = info("SyncSender", "send: wait for room", Role::Wait);
static FILL: Info = info("Sender", "send: message", Role::Signal);
static CLOSE: Info = info("Sender", "drop: close", Role::Signal);
static CLONE: Info = info("Sender", "clone", Role::Plain);
static DROP: Info = info("Sender", "drop", Role::Plain);
static RECV: Info = info("Receiver", "recv", Role::Wait);
static TRY_RECV: Info = info("Receiver", "try_recv", Role::Plain);
static RECV_TIMEOUT: Info = info("Receiver", "recv_timeout", Role::Wait);
static WANT: Info = info("Receiver", "recv: begin to wait", Role::Plain);
static FREE: Info = info("Receiver", "recv: make room", Role::Signal);
static LEAVE: Info = info("Receiver", "drop", Role::Plain);

/// One message.
struct Message<T> {
    filled: Identity,
    freed: Identity,
    /// Of a channel with capacity 0: whether the receiver waits for it.
    wanted: Identity,
    value: Mutex<Option<T>>,
}

/// A channel.
pub(super) struct Chan<T> {
    tickets: Identity,
    senders: Identity,
    /// Whether the number of senders is an object.
    counted: bool,
    /// Of a bounded channel.
    capacity: Option<u64>,
    created: Site,
    real: Mutex<Real<T>>,
}

/// What has really happened to a channel so far.
struct Real<T> {
    messages: Vec<std::sync::Arc<Message<T>>>,
    tickets: u64,
    senders: usize,
    /// Which message the receiver waits for.
    awaited: Option<u64>,
}

/// What came of an attempt to take a ticket.
enum Ticket {
    Taken(u64),
    /// The receiver is gone.
    Gone,
    /// It was not the expected one.
    Late,
    /// The execution is over.
    Over,
}

/// Why a message was not sent.
pub(super) enum Refused {
    /// There is no room.
    Full,
    /// The receiver is gone.
    Disconnected,
}

/// Why a message was not received.
pub(super) enum Missing {
    /// There is none yet.
    Empty,
    /// There will be none.
    Disconnected,
}

/// How a receiver waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    Forever,
    /// For a time that may be over at any moment.
    SomeTime,
    None,
}

pub(crate) fn locked<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An operation outside the model of the channel, or after the end of its execution, finds the other side gone.
fn result(answer: Answer, over: u64) -> u64 {
    match answer {
        Answer::Done(result) => result,
        Answer::Outside | Answer::Inert => over,
    }
}

pub(crate) fn object(outs: Outs, arg: u64, yields: bool) -> Action {
    Action::Object { outs, args: [arg, 0], failure: Ordering::Acquire, yields }
}

impl<T> Chan<T> {
    pub(super) fn new(controller: &dyn Controller, capacity: Option<u64>, site: Site) -> Arc<Self> {
        let real = Real { messages: Vec::new(), tickets: 0, senders: 1, awaited: None };
        let chan = Chan {
            tickets: Identity::at(site),
            senders: Identity::at(site),
            counted: controller.counts(site),
            capacity,
            created: site,
            real: Mutex::new(real),
        };
        // Created here and not at `site`: that the senders are counted is no reason to count the handles.
        Arc::new(chan)
    }

    fn message(&self, number: u64) -> std::sync::Arc<Message<T>> {
        let messages = &mut locked(&self.real).messages;
        while messages.len() as u64 <= number {
            messages.push(std::sync::Arc::new(Message {
                filled: Identity::at(self.created),
                freed: Identity::at(self.created),
                wanted: Identity::at(self.created),
                value: Mutex::new(None),
            }));
        }
        messages[number as usize].clone()
    }

    fn fill(&self, number: u64, state: u64, info: &'static Info, site: Site) {
        perform(&self.message(number).filled, EMPTY, object(set_outs, state, false), info, site);
    }

    fn free(&self, number: u64, state: u64, info: &'static Info, site: Site) {
        perform(&self.message(number).freed, EMPTY, object(set_outs, state, false), info, site);
    }

    /// Waits until message `number` has been received; false if it never will be.
    fn wait_freed(&self, number: u64, site: Site) -> bool {
        let action = object(wait_outs, 0, false);
        let freed = result(perform(&self.message(number).freed, EMPTY, action, &SEND_WAIT, site), NEVER);
        if freed == NEVER {
            // Whoever waits for the next one is told by this thread.
            self.free(number + 1, NEVER, &SEND_WAIT, site);
        }
        freed == DONE
    }

    /// Takes a ticket: any, or only the expected one.
    fn take_ticket(&self, expected: u64, info: &'static Info, site: Site) -> Ticket {
        match perform(&self.tickets, 0, object(take_ticket_outs, expected, false), info, site) {
            Answer::Inert => Ticket::Over,
            Answer::Outside => Ticket::Gone,
            Answer::Done(state) if state & GONE != 0 => Ticket::Gone,
            Answer::Done(state) => {
                let next = state / TICKET;
                if expected != ANY && expected != next {
                    return Ticket::Late;
                }
                let tickets = &mut locked(&self.real).tickets;
                *tickets = (*tickets).max(next + 1);
                Ticket::Taken(next)
            }
        }
    }

    /// After the end of an execution, a message is left for whoever still looks for one.
    fn leave_message(&self, value: T) {
        let number = {
            let mut real = locked(&self.real);
            real.tickets += 1;
            real.tickets - 1
        };
        *locked(&self.message(number).value) = Some(value);
    }

    /// Sends a message, waiting for room in a bounded channel; gives it back if the receiver is gone.
    pub(super) fn send(&self, value: T, site: Site) -> Result<(), T> {
        let ticket = match self.take_ticket(ANY, &SEND, site) {
            Ticket::Taken(ticket) => ticket,
            Ticket::Gone | Ticket::Late => return Err(value),
            Ticket::Over => {
                self.leave_message(value);
                return Ok(());
            }
        };
        let before = self.capacity.filter(|&capacity| capacity > 0).and_then(|capacity| ticket.checked_sub(capacity));
        if let Some(before) = before
            && !self.wait_freed(before, site)
        {
            return Err(value);
        }
        let message = self.message(ticket);
        *locked(&message.value) = Some(value);
        self.fill(ticket, DONE, &FILL, site);
        if self.capacity == Some(0)
            && !self.wait_freed(ticket, site)
            && let Some(value) = locked(&message.value).take()
        {
            return Err(value);
        }
        Ok(())
    }

    /// Sends a message if there is room.
    pub(super) fn try_send(&self, value: T, site: Site) -> Result<(), (Refused, T)> {
        loop {
            let look = object(look_outs, 0, false);
            let state = result(perform(&self.tickets, 0, look, &TRY_SEND, site), 0);
            if state & GONE == 0 && !self.has_room(state / TICKET, site) {
                return Err((Refused::Full, value));
            }
            match self.take_ticket(state / TICKET, &TRY_SEND, site) {
                Ticket::Gone => return Err((Refused::Disconnected, value)),
                Ticket::Late => {}
                Ticket::Over => {
                    self.leave_message(value);
                    return Ok(());
                }
                Ticket::Taken(ticket) => {
                    *locked(&self.message(ticket).value) = Some(value);
                    self.fill(ticket, DONE, &FILL, site);
                    return Ok(());
                }
            }
        }
    }

    /// Whether the message with the ticket `next` would not have to wait.
    fn has_room(&self, next: u64, site: Site) -> bool {
        let look = |object_of: &Identity| {
            result(perform(object_of, EMPTY, object(look_outs, 0, false), &TRY_SEND, site), DONE) == DONE
        };
        match self.capacity {
            Some(0) => look(&self.message(next).wanted),
            Some(capacity) if next >= capacity => look(&self.message(next - capacity).freed),
            _ => true,
        }
    }

    /// Tells those who try to send to a channel with capacity 0 whether the receiver waits for a message.
    fn want(&self, message: &Message<T>, state: u64, site: Site) {
        if self.capacity == Some(0) {
            perform(&message.wanted, EMPTY, object(assign_outs, state, false), &WANT, site);
        }
    }

    /// Receives message `number`.
    pub(super) fn receive(&self, number: u64, patience: Patience, site: Site) -> Result<T, Missing> {
        let (action, info) = match patience {
            Patience::Forever => (object(wait_outs, 0, false), &RECV),
            Patience::SomeTime => (object(wait_or_give_up_outs, 0, true), &RECV_TIMEOUT),
            Patience::None => (object(wait_or_give_up_outs, 0, false), &TRY_RECV),
        };
        let message = self.message(number);
        if patience != Patience::None {
            self.want(&message, DONE, site);
        }
        if patience == Patience::Forever {
            self.await_message(number);
        }
        let answer = perform(&message.filled, EMPTY, action, info, site);
        locked(&self.real).awaited = None;
        match answer {
            Answer::Done(DONE) => {
                let value = locked(&message.value).take();
                if self.capacity.is_some() {
                    self.free(number, DONE, &FREE, site);
                }
                value.ok_or(Missing::Disconnected)
            }
            Answer::Done(NOTHING) => {
                if patience == Patience::SomeTime {
                    self.want(&message, EMPTY, site);
                }
                self.observe_senders();
                Err(Missing::Empty)
            }
            Answer::Done(_) => Err(Missing::Disconnected),
            // What has been left.
            Answer::Inert | Answer::Outside => locked(&message.value).take().ok_or(Missing::Disconnected),
        }
    }

    /// Notes that the receiver waits for message `number`, which may never come.
    fn await_message(&self, number: u64) {
        let mut real = locked(&self.real);
        real.awaited = Some(number);
        let hopeless = real.is_hopeless();
        drop(real);
        if hopeless {
            self.observe_senders();
        }
    }

    /// To be called before it tells anything whether there are senders: a model has to count them from now on.
    fn observe_senders(&self) {
        current(|controller| {
            if let Some(controller) = controller
                && !self.counted
                && !controller.inert()
            {
                controller.count_from_now_on(self.created);
            }
        });
    }

    /// The number of senders changes; how many there were in the model, if it counts them.
    fn count_senders(&self, change: u64, info: &'static Info, site: Site) -> Option<u64> {
        if !self.counted {
            return None;
        }
        match perform(&self.senders, 1, object(count_outs, change, false), info, site) {
            Answer::Done(before) => Some(before),
            Answer::Outside | Answer::Inert => None,
        }
    }

    /// One more sender.
    pub(super) fn add_sender(&self, site: Site) {
        self.count_senders(1, &CLONE, site);
        locked(&self.real).senders += 1;
    }

    /// One sender less. The last one closes the place after the last message.
    pub(super) fn remove_sender(&self) {
        let before = self.count_senders(1u64.wrapping_neg(), &DROP, self.created);
        let mut real = locked(&self.real);
        real.senders -= 1;
        let (next, hopeless) = (real.tickets, real.is_hopeless());
        drop(real);
        if before == Some(1) {
            self.fill(next, NEVER, &CLOSE, self.created);
        } else if before.is_none() && hopeless {
            self.observe_senders();
        }
    }

    /// The receiver, who would have received message `number` next, is gone, and what has been sent is dropped.
    pub(super) fn leave(&self, number: u64) {
        let site = self.created;
        perform(&self.tickets, 0, object(leave_outs, 0, false), &LEAVE, site);
        if self.capacity.is_some() {
            self.free(number, NEVER, &LEAVE, site);
        }
        if std::mem::needs_drop::<T>() {
            // What is being sent just now goes with the channel.
            for number in number.. {
                let message = self.message(number);
                let look = object(look_outs, 0, false);
                if result(perform(&message.filled, EMPTY, look, &LEAVE, site), NEVER) != DONE {
                    break;
                }
                let value = locked(&message.value).take();
                drop(value);
            }
        }
    }
}

impl<T> Real<T> {
    /// The receiver waits for a message that nobody can send any more.
    fn is_hopeless(&self) -> bool {
        self.senders == 0 && self.awaited.is_some_and(|number| number >= self.tickets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(outs: Outs, state: u64, arg: u64) -> Vec<Outcome> {
        let mut out = Outcomes::default();
        outs(state, [arg, 0], ThreadId::MAIN, &mut out);
        out.as_slice().to_vec()
    }

    #[test]
    fn tickets_are_taken_while_the_receiver_is_there() {
        assert_eq!(outcomes(take_ticket_outs, 3 * TICKET, ANY), [Outcome::write(4 * TICKET, 3 * TICKET)]);
        assert_eq!(outcomes(take_ticket_outs, 3 * TICKET, 3), [Outcome::write(4 * TICKET, 3 * TICKET)]);
        assert_eq!(outcomes(take_ticket_outs, 3 * TICKET, 2), [Outcome::read(3 * TICKET)]);
        assert_eq!(outcomes(take_ticket_outs, (3 * TICKET) | GONE, ANY), [Outcome::read((3 * TICKET) | GONE)]);
        assert_eq!(outcomes(leave_outs, 3 * TICKET, 0), [Outcome::write((3 * TICKET) | GONE, 0)]);
    }

    #[test]
    fn what_is_done_stays_done() {
        assert_eq!(outcomes(set_outs, EMPTY, DONE), [Outcome::write(DONE, 0)]);
        assert_eq!(outcomes(set_outs, DONE, NEVER), [Outcome::write(DONE, 0)]);
        assert_eq!(outcomes(wait_outs, EMPTY, 0), []);
        assert_eq!(outcomes(wait_outs, NEVER, 0), [Outcome::read(NEVER)]);
        assert_eq!(outcomes(wait_or_give_up_outs, EMPTY, 0), [Outcome::read(NOTHING)]);
    }
}
