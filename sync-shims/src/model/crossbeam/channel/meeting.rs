//! A channel without room (`bounded(0)`), in a model: sender and receiver meet.
//!
//! One object: the threads that wait, all on the same side, and whether the other side has gone. Whoever finds a thread on the
//! other side meets it (any of those that wait: which one waited first, nobody can tell). Whoever does not, waits. Each wait
//! has an *offer*, with two objects that are set once: the other side has come, and the message is there. The second one is
//! needed only for a sender in a `Select`, which is asked for its message later than anybody else.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use dpor::{Action, Info, Outcome, Outcomes, Role, ThreadId};

use super::ends::{Dropped, Ends, Side};
use super::{Attempt, Patience, look};
use crate::model::controller::{Controller, current};
use crate::model::event::{Answer, Identity, Site, perform};
use crate::model::sync::mpsc::chan::{info, locked, object};
use crate::model::sync::mpsc::states::{DONE, EMPTY, NEVER, look_outs, set_outs, wait_outs};

/// In the state: one side has gone.
const GONE: u64 = 1;
/// In the state: those that wait receive.
const RECEIVERS: u64 = 2;
/// Where the set of waiting threads begins.
const FIRST: u32 = 2;
/// How many threads can meet.
const THREADS: u32 = u64::BITS - FIRST;

/// In an argument: wait if there is nobody.
const REGISTER: u64 = 2;

/// Results; the number of a thread is added to the last one.
const NOBODY: u64 = 0;
const WAITING: u64 = 1;
const NO_MORE: u64 = 2;
const MET: u64 = 3;

fn waiting(thread: ThreadId) -> u64 {
    1 << (thread.0 + FIRST)
}

/// The set of threads that wait.
fn waiters(state: u64) -> u64 {
    state >> FIRST
}

/// Those that a thread of `side` can meet.
fn partners(state: u64, side: Side, me: ThreadId) -> u64 {
    let receive = state & RECEIVERS != 0;
    if receive == (side == Side::Send) { waiters(state & !waiting(me)) } else { 0 }
}

fn side_of(arg: u64) -> Side {
    if arg & 1 == Side::Send as u64 { Side::Send } else { Side::Recv }
}

/// Without anybody who waits, nobody waits on a side.
fn without(state: u64, thread: ThreadId) -> u64 {
    let left = state & !waiting(thread);
    if waiters(left) == 0 { left & !RECEIVERS } else { left }
}

fn meet_outs(state: u64, [arg, _]: [u64; 2], me: ThreadId, out: &mut Outcomes) {
    let side = side_of(arg);
    if state & GONE != 0 {
        return out.push(Outcome::read(NO_MORE));
    }
    let partners = partners(state, side, me);
    for partner in (0..THREADS).filter(|thread| partners >> thread & 1 != 0) {
        out.push(Outcome::write(without(state, ThreadId(partner)), MET + u64::from(partner)));
    }
    if partners == 0 {
        let receive = if side == Side::Recv { RECEIVERS } else { 0 };
        out.push(match arg & REGISTER {
            0 => Outcome::read(NOBODY),
            _ => Outcome::write(state | waiting(me) | receive, WAITING),
        });
    }
}

/// Stops waiting, unless the other side has come.
fn withdraw_outs(state: u64, _: [u64; 2], me: ThreadId, out: &mut Outcomes) {
    out.push(if state & waiting(me) == 0 { Outcome::read(MET) } else { Outcome::write(without(state, me), NOBODY) });
}

/// The result is the state before.
fn leave_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(GONE, state));
}

static MEET: [Info; 2] = [info("Sender", "send", Role::Plain), info("Receiver", "recv", Role::Plain)];
static TRY: [Info; 2] = [info("Sender", "try_send", Role::Plain), info("Receiver", "try_recv", Role::Plain)];
static WAIT: [Info; 2] = [info("Sender", "send: wait", Role::Wait), info("Receiver", "recv: wait", Role::Wait)];
static TIMED_WAIT: [Info; 2] =
    [info("Sender", "send_timeout: give up", Role::Plain), info("Receiver", "recv_timeout: give up", Role::Plain)];
static COME: [Info; 2] = [info("Sender", "send: message", Role::Signal), info("Receiver", "recv: take", Role::Signal)];
static FILL: Info = info("Sender", "send: message", Role::Signal);
static LEAVE: [Info; 2] = [info("Sender", "drop: close", Role::Signal), info("Receiver", "drop: close", Role::Signal)];
static READY: [Info; 2] = [info("Sender", "is it ready", Role::Plain), info("Receiver", "is it ready", Role::Plain)];

/// What a thread waits with.
struct Offer<T> {
    /// The other side has come; of a receiver's offer: with the message.
    done: Identity,
    /// Of a late sender's offer: the message is there.
    filled: Identity,
    /// It is a sender's that puts the message in when the other side has come.
    late: bool,
    value: Mutex<Option<T>>,
}

/// A channel.
pub(super) struct Meeting<T> {
    pub(super) ends: Ends,
    identity: Identity,
    real: Mutex<Real<T>>,
}

struct Real<T> {
    /// The newest offer of each thread. Whoever meets the thread finds the one it waits with, as it waits until then.
    offers: BTreeMap<u32, Arc<Offer<T>>>,
    /// Who waits, in this run and at this moment.
    waiting: Vec<(u32, Side)>,
    /// Messages sent after the end of the execution.
    left: VecDeque<T>,
}

/// What came of a wait.
enum Waited {
    Met,
    Gone,
    TimedOut,
}

fn this_thread() -> u32 {
    current(|controller| controller.map_or(0, |controller| controller.thread().0))
}

impl<T> Meeting<T> {
    pub(super) fn new(controller: &dyn Controller, site: Site) -> Self {
        let real = Real { offers: BTreeMap::new(), waiting: Vec::new(), left: VecDeque::new() };
        Meeting { ends: Ends::new(controller, site), identity: Identity::at(site), real: Mutex::new(real) }
    }

    fn check_thread(&self, site: Site) {
        current(|controller| {
            if let Some(controller) = controller
                && controller.thread().0 >= THREADS
                && !controller.inert()
            {
                let message = format!("a channel without room can have at most {THREADS} threads in a model");
                controller.fail("limit", message, site);
            }
        });
    }

    fn offer_of(&self, thread: u32) -> Arc<Offer<T>> {
        locked(&self.real).offers.get(&thread).cloned().expect("who waits has an offer")
    }

    fn own_offer(&self) -> Arc<Offer<T>> {
        self.offer_of(this_thread())
    }

    fn no_longer_waiting(&self, thread: u32) {
        locked(&self.real).waiting.retain(|(other, _)| *other != thread);
    }

    /// Meets somebody who waits; if there is nobody, waits with an offer, or comes back if there is none.
    fn meet(&self, side: Side, offer: Option<Offer<T>>, site: Site) -> Attempt {
        self.check_thread(site);
        let register = if offer.is_some() { REGISTER } else { 0 };
        if let Some(offer) = offer {
            locked(&self.real).offers.insert(this_thread(), Arc::new(offer));
        }
        let info = if register == 0 { &TRY[side as usize] } else { &MEET[side as usize] };
        match perform(&self.identity, 0, object(meet_outs, side as u64 | register, false), info, site) {
            Answer::Done(NOBODY) => {
                self.ends.observe();
                Attempt::NotYet
            }
            Answer::Done(WAITING) => {
                locked(&self.real).waiting.push((this_thread(), side));
                if self.ends.none_left(side.other()) {
                    self.ends.observe();
                }
                Attempt::Waiting
            }
            Answer::Done(NO_MORE) | Answer::Outside => Attempt::Gone,
            Answer::Done(met) => {
                self.no_longer_waiting((met - MET) as u32);
                Attempt::Done(met - MET)
            }
            Answer::Inert => Attempt::Over,
        }
    }

    fn offer(&self, late: bool, value: Option<T>) -> Offer<T> {
        let created = self.ends.created();
        Offer { done: Identity::at(created), filled: Identity::at(created), late, value: Mutex::new(value) }
    }

    /// Waits until somebody comes.
    fn wait(&self, side: Side, patience: Patience, site: Site) -> Waited {
        let me = this_thread();
        let offer = self.own_offer();
        if patience != Patience::Forever {
            let action = object(withdraw_outs, 0, true);
            if perform(&self.identity, 0, action, &TIMED_WAIT[side as usize], site) == Answer::Done(NOBODY) {
                self.no_longer_waiting(me);
                self.ends.observe();
                return Waited::TimedOut;
            }
        }
        let answer = perform(&offer.done, EMPTY, object(wait_outs, 0, false), &WAIT[side as usize], site);
        self.no_longer_waiting(me);
        if answer == Answer::Done(DONE) { Waited::Met } else { Waited::Gone }
    }

    /// Sends a message; gives it back, and whether the channel has gone, if nobody takes it.
    pub(super) fn send(&self, value: T, patience: Patience, site: Site) -> Result<(), (bool, T)> {
        let (offer, value) = match patience {
            Patience::None => (None, Some(value)),
            _ => (Some(self.offer(false, Some(value))), None),
        };
        let met = self.meet(Side::Send, offer, site);
        let value = move || value.or_else(|| locked(&self.own_offer().value).take()).expect("nobody has taken it");
        match met {
            Attempt::Done(partner) => {
                self.finish_send(Attempt::Done(partner), value(), site);
                Ok(())
            }
            Attempt::Waiting => match self.wait(Side::Send, patience, site) {
                Waited::Met => Ok(()),
                Waited::Gone => Err((true, value())),
                Waited::TimedOut => Err((false, value())),
            },
            Attempt::Gone => Err((true, value())),
            Attempt::NotYet => Err((false, value())),
            Attempt::Over => {
                let value = value();
                locked(&self.real).left.push_back(value);
                Ok(())
            }
        }
    }

    /// Receives a message; whether the channel has gone, if none comes.
    pub(super) fn recv(&self, patience: Patience, site: Site) -> Result<T, bool> {
        let offer = (patience != Patience::None).then(|| self.offer(false, None));
        let met = match self.meet(Side::Recv, offer, site) {
            Attempt::Waiting => match self.wait(Side::Recv, patience, site) {
                Waited::Met => Attempt::Waiting,
                Waited::Gone => Attempt::Gone,
                Waited::TimedOut => Attempt::NotYet,
            },
            met => met,
        };
        self.finish_recv(met, site).ok_or(!matches!(met, Attempt::NotYet))
    }

    /// As [`Meeting::send`] or [`Meeting::recv`] up to where the message is needed: meets somebody, or waits with an offer
    /// that is to be looked at.
    pub(super) fn begin(&self, side: Side, waits: bool, site: Site) -> Attempt {
        let offer = waits.then(|| self.offer(side == Side::Send, None));
        let met = self.meet(side, offer, site);
        if let (Attempt::Done(partner), Side::Recv) = (met, side) {
            // It does not have its message ready before.
            let offer = self.offer_of(partner as u32);
            if offer.late {
                perform(&offer.done, EMPTY, object(set_outs, DONE, false), &COME[side as usize], site);
            }
        }
        met
    }

    /// Waits until somebody comes to the running thread, which has begun to wait.
    pub(super) fn wait_for_ever(&self, side: Side, site: Site) -> Attempt {
        match self.wait(side, Patience::Forever, site) {
            Waited::Met => Attempt::Waiting,
            Waited::Gone | Waited::TimedOut => Attempt::Gone,
        }
    }

    /// The running thread waits until something changes that it has looked at.
    pub(super) fn park(&self, info: &'static Info, site: Site) -> Answer {
        perform(&self.identity, 0, Action::Spin, info, site)
    }

    /// Whether somebody has come to the running thread, which has begun to wait.
    pub(super) fn look(&self, side: Side, site: Site) -> Attempt {
        let me = this_thread();
        let looked = perform(&self.own_offer().done, EMPTY, object(look_outs, 0, false), &WAIT[side as usize], site);
        match looked {
            Answer::Done(EMPTY) => return Attempt::NotYet,
            Answer::Done(NEVER) | Answer::Outside => self.no_longer_waiting(me),
            Answer::Done(_) => {
                self.no_longer_waiting(me);
                return Attempt::Waiting;
            }
            Answer::Inert => return Attempt::Over,
        }
        Attempt::Gone
    }

    /// Gives the message to whom was met, or puts it into the own offer, which somebody has come to.
    pub(super) fn finish_send(&self, met: Attempt, value: T, site: Site) {
        let (offer, of) = match met {
            Attempt::Done(partner) => (self.offer_of(partner as u32), false),
            _ => (self.own_offer(), true),
        };
        *locked(&offer.value) = Some(value);
        let (object_of, info) = if of { (&offer.filled, &FILL) } else { (&offer.done, &COME[Side::Send as usize]) };
        perform(object_of, EMPTY, object(set_outs, DONE, false), info, site);
    }

    /// The message of whom was met, or of the own offer, to which somebody has come.
    pub(super) fn finish_recv(&self, met: Attempt, site: Site) -> Option<T> {
        let come = |offer: &Offer<T>| {
            perform(&offer.done, EMPTY, object(set_outs, DONE, false), &COME[Side::Recv as usize], site);
        };
        match met {
            Attempt::Done(partner) => {
                let offer = self.offer_of(partner as u32);
                if offer.late {
                    come(&offer);
                    let action = object(wait_outs, 0, false);
                    perform(&offer.filled, EMPTY, action, &WAIT[Side::Recv as usize], site);
                }
                let value = locked(&offer.value).take();
                if !offer.late {
                    come(&offer);
                }
                value
            }
            Attempt::Waiting => locked(&self.own_offer().value).take(),
            Attempt::Gone | Attempt::NotYet => None,
            Attempt::Over => locked(&self.real).left.pop_front(),
        }
    }

    /// Whether somebody waits on the other side, or nobody ever will.
    pub(super) fn is_ready(&self, side: Side, yields: bool, site: Site) -> bool {
        match perform(&self.identity, 0, look(look_outs, yields), &READY[side as usize], site) {
            Answer::Done(state) => {
                let ready = state & GONE != 0 || partners(state, side, ThreadId(this_thread())) != 0;
                if !ready {
                    self.ends.observe();
                }
                ready
            }
            Answer::Outside | Answer::Inert => true,
        }
    }

    /// A handle is dropped.
    pub(super) fn remove(&self, side: Side) {
        let site = self.ends.created();
        match self.ends.remove(side) {
            Dropped::OneOfMany => {}
            Dropped::LastUncounted => {
                let hopeless = locked(&self.real).waiting.iter().any(|&(_, waits)| waits != side);
                if hopeless {
                    self.ends.observe();
                }
            }
            Dropped::Last => {
                let info = &LEAVE[side as usize];
                let answer = perform(&self.identity, 0, object(leave_outs, 0, false), info, site);
                let Answer::Done(state) = answer else { return };
                for thread in (0..THREADS).filter(|thread| waiters(state) >> thread & 1 != 0) {
                    let offer = self.offer_of(thread);
                    perform(&offer.done, EMPTY, object(set_outs, NEVER, false), info, site);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::outcomes_of;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(THREADS - 1);
    const SEND: u64 = Side::Send as u64;
    const RECV: u64 = Side::Recv as u64;

    fn outcomes(outs: dpor::Outs, state: u64, arg: u64, thread: ThreadId) -> Vec<Outcome> {
        outcomes_of(outs, state, [arg, 0], thread)
    }

    #[test]
    fn whoever_finds_nobody_waits() {
        assert_eq!(outcomes(meet_outs, 0, SEND | REGISTER, A), [Outcome::write(waiting(A), WAITING)]);
        assert_eq!(outcomes(meet_outs, 0, RECV | REGISTER, B), [Outcome::write(waiting(B) | RECEIVERS, WAITING)]);
        let both = waiting(A) | waiting(B);
        assert_eq!(outcomes(meet_outs, waiting(A), SEND | REGISTER, B), [Outcome::write(both, WAITING)]);
        assert_eq!(outcomes(meet_outs, 0, SEND, A), [Outcome::read(NOBODY)]);
        assert_eq!(outcomes(meet_outs, waiting(B), SEND, A), [Outcome::read(NOBODY)]);
    }

    #[test]
    fn any_of_those_who_wait_may_be_met() {
        let both = waiting(A) | waiting(B) | RECEIVERS;
        let met =
            [Outcome::write(waiting(B) | RECEIVERS, MET), Outcome::write(waiting(A) | RECEIVERS, MET + u64::from(B.0))];
        assert_eq!(outcomes(meet_outs, both, SEND | REGISTER, ThreadId(1)), met);
        assert_eq!(outcomes(meet_outs, waiting(A), RECV, B), [Outcome::write(0, MET)]);
    }

    #[test]
    fn one_can_withdraw_until_somebody_comes() {
        assert_eq!(outcomes(withdraw_outs, waiting(A) | RECEIVERS, 0, A), [Outcome::write(0, NOBODY)]);
        assert_eq!(outcomes(withdraw_outs, waiting(B) | RECEIVERS, 0, A), [Outcome::read(MET)]);
    }

    #[test]
    fn the_end_is_told_to_those_who_wait() {
        assert_eq!(outcomes(leave_outs, waiting(A), 0, B), [Outcome::write(GONE, waiting(A))]);
        assert_eq!(outcomes(meet_outs, GONE, SEND | REGISTER, A), [Outcome::read(NO_MORE)]);
    }
}
