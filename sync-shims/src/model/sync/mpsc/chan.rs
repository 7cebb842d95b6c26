//! A channel in a model: its objects and what is done to them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dpor::{Action, Info, Outs, Role};

use super::ends::{Awaited, Handle, whoever_receives, whoever_sends};
use super::states::{
    ANY, CLAIMED, DONE, EMPTY, GONE, NEVER, NOTHING, TICKET, assign_outs, claim_outs, leave_outs, look_outs, set_outs,
    take_ticket_outs, wait_or_give_up_outs, wait_outs, withdraw_outs,
};
use crate::model::controller::{Controller, current, new_group};
use crate::model::event::{Answer, Identity, Site, perform_alone, perform_part};
use crate::model::sync::Arc;

pub(crate) const fn info(family: &'static str, name: &'static str, role: Role) -> Info {
    Info { name, family, role }
}

static SEND: Info = info("Sender", "send", Role::Plain);
static TRY_SEND: Info = info("SyncSender", "try_send", Role::Plain);
static SEND_WAIT: Info = info("SyncSender", "send: wait for room", Role::Wait);
static FILL: Info = info("Sender", "send: message", Role::Signal);
static DROP: Info = info("Sender", "drop", Role::Signal);
static RECV: Info = info("Receiver", "recv", Role::Wait);
static TRY_RECV: Info = info("Receiver", "try_recv", Role::Plain);
static RECV_TIMEOUT: Info = info("Receiver", "recv_timeout", Role::Wait);
static WANT: Info = info("Receiver", "recv: begin to wait", Role::Plain);
static GIVE_UP: Info = info("Receiver", "recv_timeout: give up", Role::Plain);
static FREE: Info = info("Receiver", "recv: make room", Role::Signal);
static JOIN: Info = info("Receiver", "recv: no sender is left", Role::Wait);
static LEAVE: Info = info("Receiver", "drop", Role::Plain);

/// What an exploration learns about the channels that are created at a place: a message was looked for while a later one had
/// been sent already.
const OVERTAKEN: u64 = 1;

/// One message.
struct Message<T> {
    filled: Identity,
    freed: Identity,
    /// Of a channel with capacity 0: whether the receiver waits for it.
    wanted: Identity,
    /// What `filled` comes to, known a moment earlier.
    sent: AtomicBool,
    value: Mutex<Option<T>>,
}

/// A channel.
pub(super) struct Chan<T> {
    tickets: Identity,
    /// Whether it can be seen that senders are dropped.
    counted: bool,
    /// Whether a message may be on its way when one looks for it.
    overtaken: bool,
    /// Of a bounded channel.
    capacity: Option<u64>,
    created: Site,
    /// Tells the objects of this channel from others in a report.
    group: u64,
    /// The sender that was created with the channel: the others are clones of it, or of clones.
    first: std::sync::Arc<Handle>,
    receiver: std::sync::Arc<Handle>,
    /// How many senders there are.
    senders: AtomicU64,
    real: Mutex<Real<T>>,
}

/// What has really happened to a channel so far.
struct Real<T> {
    messages: Vec<std::sync::Arc<Message<T>>>,
    tickets: u64,
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

/// What a receiver has found.
enum Found {
    Message,
    Nothing,
    /// No sender is left.
    Closed,
    /// The execution is over.
    Over,
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
        let real = Real { messages: Vec::new(), tickets: 0, awaited: None };
        let chan = Chan {
            tickets: Identity::at(site),
            counted: controller.counts(site),
            overtaken: controller.facts(site) & OVERTAKEN != 0,
            capacity,
            created: site,
            group: new_group(),
            first: Handle::new(site),
            receiver: Handle::new(site),
            senders: AtomicU64::new(1),
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
                sent: AtomicBool::new(false),
                value: Mutex::new(None),
            }));
        }
        messages[number as usize].clone()
    }

    fn perform(&self, part: &Identity, init: u64, action: Action, info: &'static Info, site: Site) -> Answer {
        perform_part(self.group, part, init, action, info, site)
    }

    /// The message can be received.
    fn fill(&self, message: &Message<T>, site: Site) {
        message.sent.store(true, Ordering::Relaxed);
        self.perform(&message.filled, EMPTY, object(set_outs, DONE, false), &FILL, site);
    }

    fn free(&self, number: u64, state: u64, info: &'static Info, site: Site) {
        self.perform(&self.message(number).freed, EMPTY, object(set_outs, state, false), info, site);
    }

    /// Waits until message `number` has been received; false if it never will be.
    fn wait_freed(&self, number: u64, site: Site) -> bool {
        let action = object(wait_outs, 0, false);
        whoever_receives(self.group, &SEND_WAIT, self.created, &self.receiver);
        let freed = result(self.perform(&self.message(number).freed, EMPTY, action, &SEND_WAIT, site), NEVER);
        if freed == NEVER {
            // Whoever waits for the next one is told by this thread.
            self.free(number + 1, NEVER, &SEND_WAIT, site);
        }
        freed == DONE
    }

    /// Takes a ticket: any, or only the expected one.
    fn take_ticket(&self, expected: u64, info: &'static Info, site: Site) -> Ticket {
        match self.perform(&self.tickets, 0, object(take_ticket_outs, expected, false), info, site) {
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
        self.fill(&message, site);
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
            let state = result(self.perform(&self.tickets, 0, look, &TRY_SEND, site), 0);
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
                    let message = self.message(ticket);
                    *locked(&message.value) = Some(value);
                    self.fill(&message, site);
                    return Ok(());
                }
            }
        }
    }

    /// Whether the message with the ticket `next` would not have to wait.
    fn has_room(&self, next: u64, site: Site) -> bool {
        let is_done = |part: &Identity, outs: Outs| {
            result(self.perform(part, EMPTY, object(outs, 0, false), &TRY_SEND, site), DONE) == DONE
        };
        match self.capacity {
            // Whoever gets the ticket sends, so the receiver may be taken at its word even if that is somebody else.
            Some(0) => is_done(&self.message(next).wanted, claim_outs),
            Some(capacity) if next >= capacity => is_done(&self.message(next - capacity).freed, look_outs),
            _ => true,
        }
    }

    /// Tells those who try to send to a channel with capacity 0 whether the receiver waits for a message.
    fn want(&self, message: &Message<T>, state: u64, site: Site) {
        if self.capacity == Some(0) {
            self.perform(&message.wanted, EMPTY, object(assign_outs, state, false), &WANT, site);
        }
    }

    /// The receiver does not wait any longer. Of a channel with capacity 0, somebody may have begun to send to it.
    fn give_up(&self, message: &Message<T>, site: Site) -> Found {
        if self.capacity != Some(0) {
            return Found::Nothing;
        }
        match self.perform(&message.wanted, EMPTY, object(withdraw_outs, 0, false), &GIVE_UP, site) {
            Answer::Done(CLAIMED) => {
                let answer = self.perform(&message.filled, EMPTY, object(wait_outs, 0, false), &RECV, site);
                if answer == Answer::Done(DONE) { Found::Message } else { Found::Over }
            }
            Answer::Done(_) => Found::Nothing,
            Answer::Inert | Answer::Outside => Found::Over,
        }
    }

    /// Receives message `number`.
    pub(super) fn receive(&self, number: u64, patience: Patience, site: Site) -> Result<T, Missing> {
        self.receiver.use_now();
        let message = self.message(number);
        if patience != Patience::None {
            self.want(&message, DONE, site);
        }
        let found = match patience {
            Patience::Forever => self.wait_for(number, &message, site),
            Patience::SomeTime => match self.look_for(number, &message, &RECV_TIMEOUT, site) {
                Found::Nothing => self.give_up(&message, site),
                found => found,
            },
            Patience::None => self.look_for(number, &message, &TRY_RECV, site),
        };
        match found {
            Found::Message => {
                let value = locked(&message.value).take();
                if self.capacity.is_some() {
                    self.free(number, DONE, &FREE, site);
                }
                value.ok_or(Missing::Disconnected)
            }
            Found::Nothing => Err(Missing::Empty),
            Found::Closed => Err(Missing::Disconnected),
            // What has been left.
            Found::Over => locked(&message.value).take().ok_or(Missing::Disconnected),
        }
    }

    /// Waits until a message comes or no sender is left. Which of the two, nobody decides: a message that is sent comes
    /// before its sender goes.
    fn wait_for(&self, number: u64, message: &Message<T>, site: Site) -> Found {
        whoever_sends(self.group, &RECV, self.created, &self.first);
        if self.counted {
            let awaited = Awaited { sent: &message.sent, senders: &self.senders };
            match perform_alone(awaited.action(), &RECV, site) {
                Answer::Done(Awaited::SENT) => {}
                Answer::Done(_) => {
                    let gone = |handle: &Handle| {
                        self.perform(&handle.gone, EMPTY, object(wait_outs, 0, false), &JOIN, site)
                            == Answer::Done(DONE)
                    };
                    return if self.first.all(gone) { Found::Closed } else { Found::Over };
                }
                Answer::Inert | Answer::Outside => return Found::Over,
            }
        } else {
            self.await_message(number);
        }
        let answer = self.perform(&message.filled, EMPTY, object(wait_outs, 0, false), &RECV, site);
        locked(&self.real).awaited = None;
        if answer == Answer::Done(DONE) { Found::Message } else { Found::Over }
    }

    /// Looks for a message, and if there is none, for a sender.
    fn look_for(&self, number: u64, message: &Message<T>, info: &'static Info, site: Site) -> Found {
        let waits = std::ptr::eq(info, &RECV_TIMEOUT);
        match self.perform(&message.filled, EMPTY, object(wait_or_give_up_outs, 0, waits), info, site) {
            Answer::Done(NOTHING) => {}
            Answer::Done(_) => return Found::Message,
            Answer::Inert | Answer::Outside => return Found::Over,
        }
        self.observe_senders();
        let look = |part: &Identity, init| self.perform(part, init, object(look_outs, 0, false), info, site);
        if self.overtaken {
            // A message that is on its way is waited for, as later ones may have been sent that one knows of.
            let next = result(look(&self.tickets, 0), 0) / TICKET;
            if next > number {
                return self.as_if_found_at_once(message, info, site);
            }
        } else if locked(&self.real).tickets > number + 1 {
            self.learn(|controller| controller.learn(self.created, OVERTAKEN));
        }
        if !self.first.all(|handle| look(&handle.gone, EMPTY) == Answer::Done(DONE)) {
            return Found::Nothing;
        }
        // The last sender may have sent it meanwhile.
        match look(&message.filled, EMPTY) {
            Answer::Done(DONE) => self.as_if_found_at_once(message, info, site),
            Answer::Done(_) => Found::Closed,
            Answer::Inert | Answer::Outside => Found::Over,
        }
    }

    /// The message was not there, but must be received. The execution does not count: the program cannot tell it from the one
    /// in which the message was found at once, where the receiver knows less of what the sender has done.
    fn as_if_found_at_once(&self, message: &Message<T>, info: &'static Info, site: Site) -> Found {
        if self.perform(&message.filled, EMPTY, Action::Assume, info, site) == Answer::Inert {
            return Found::Over;
        }
        let answer = self.perform(&message.filled, EMPTY, object(wait_outs, 0, false), info, site);
        if answer == Answer::Done(DONE) { Found::Message } else { Found::Over }
    }

    /// Notes that the receiver waits for message `number`, which may never come.
    fn await_message(&self, number: u64) {
        let mut real = locked(&self.real);
        real.awaited = Some(number);
        drop(real);
        if self.is_hopeless() {
            self.observe_senders();
        }
    }

    /// Has the exploration start again with something more known.
    fn learn(&self, learn: impl FnOnce(&dyn Controller)) {
        current(|controller| {
            if let Some(controller) = controller.filter(|controller| !controller.inert()) {
                learn(controller);
            }
        });
    }

    /// To be called before it tells anything whether there are senders: from now on, drops of senders are seen.
    fn observe_senders(&self) {
        if !self.counted {
            self.learn(|controller| controller.count_from_now_on(self.created));
        }
    }

    /// The receiver waits for a message that nobody can send any more.
    fn is_hopeless(&self) -> bool {
        let real = locked(&self.real);
        self.senders.load(Ordering::Relaxed) == 0 && real.awaited.is_some_and(|number| number >= real.tickets)
    }

    /// The sender that the channel was created with.
    pub(super) fn first_sender(&self) -> std::sync::Arc<Handle> {
        self.first.clone()
    }

    /// One more sender, cloned from another one. Nobody sees that before the other one is gone.
    pub(super) fn add_sender(&self, from: &Handle, site: Site) -> std::sync::Arc<Handle> {
        self.senders.fetch_add(1, Ordering::Relaxed);
        from.add_clone(site)
    }

    /// One sender less.
    pub(super) fn remove_sender(&self, handle: &Handle) {
        handle.drop_now();
        self.senders.fetch_sub(1, Ordering::Relaxed);
        if self.counted {
            self.perform(&handle.gone, EMPTY, object(set_outs, DONE, false), &DROP, handle.created);
        } else if self.is_hopeless() {
            self.observe_senders();
        }
    }

    /// The receiver, who would have received message `number` next, is gone, and what has been sent is dropped.
    pub(super) fn leave(&self, number: u64) {
        let site = self.created;
        self.receiver.drop_now();
        self.perform(&self.tickets, 0, object(leave_outs, 0, false), &LEAVE, site);
        if self.capacity.is_some() {
            self.free(number, NEVER, &LEAVE, site);
        }
        if std::mem::needs_drop::<T>() {
            // What is being sent just now goes with the channel.
            for number in number.. {
                let message = self.message(number);
                let look = object(look_outs, 0, false);
                if result(self.perform(&message.filled, EMPTY, look, &LEAVE, site), NEVER) != DONE {
                    break;
                }
                let value = locked(&message.value).take();
                drop(value);
            }
        }
    }
}
