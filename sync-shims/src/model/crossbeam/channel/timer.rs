//! `after`, `at` and `tick`, in a model: a message may come at any moment, however long the duration.

use std::time::Duration;

use dpor::{Action, Info, Outcome, Outcomes, Role, ThreadId};

use super::{Attempt, Patience};
use crate::model::event::{Answer, Identity, Site, perform, perform_alone};
use crate::model::sync::mpsc::chan::{info, object};
use crate::model::sync::mpsc::states::look_outs;
use crate::model::time::{Instant, Limit, Wait};

/// Of a timer that fires once: it may fire, it has fired, the message has been taken.
const RUNNING: u64 = 0;
const FIRED: u64 = 1;
const TAKEN: u64 = 2;

const NOTHING: u64 = 3;

fn take_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state != TAKEN {
        out.push(Outcome::write(TAKEN, state));
    }
}

fn try_take_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state != FIRED {
        out.push(Outcome::read(NOTHING));
    }
    if state != TAKEN {
        out.push(Outcome::write(TAKEN, state));
    }
}

/// Takes the message, which comes now, if it has not been taken.
fn fire_and_take_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == TAKEN { Outcome::read(NOTHING) } else { Outcome::write(TAKEN, state) });
}

/// The message comes now, if it has not been taken.
fn fire_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == TAKEN { Outcome::read(NOTHING) } else { Outcome::write(FIRED, FIRED) });
}

/// Whether there is a message now. If there is, it stays so until it is taken.
fn has_fired_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state != FIRED {
        out.push(Outcome::read(NOTHING));
    }
    match state {
        RUNNING => out.push(Outcome::write(FIRED, FIRED)),
        FIRED => out.push(Outcome::read(FIRED)),
        _ => {}
    }
}

/// Takes the next tick, which comes when the clock is at the state: the result. `args`: the time now, and the period.
fn tick_outs(state: u64, [now, period]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state.max(now).saturating_add(period), state));
}

static RECV: Info = info("Receiver", "recv: timer", Role::Wait);
static TRY_RECV: Info = info("Receiver", "try_recv: timer", Role::Plain);
static READY: Info = info("Receiver", "is it ready", Role::Plain);
static TICK: Info = info("Receiver", "recv: tick", Role::Plain);

/// A timer that fires once, or (with a period) again and again.
///
/// If somebody looks at the clock, that moves to the time of the message for each thread that gets the message or finds that it
/// is there; a thread that knows that it is time finds that it is.
#[derive(Debug)]
pub(super) struct Timer {
    identity: Identity,
    /// Until the first message.
    wait: Wait,
    /// What the messages say if nobody looks at the clock.
    first: Instant,
    period: Option<Duration>,
}

impl Timer {
    pub(super) fn new(first: impl Limit, period: Option<Duration>, site: Site) -> Self {
        let wait = first.start(site);
        Timer { identity: Identity::at(site), first: wait.end().unwrap_or_else(|| first.after_start()), wait, period }
    }

    /// What the message says that was taken by `Attempt::Done(at)`.
    pub(super) fn message(&self, at: u64) -> Instant {
        if at == 0 { self.first } else { Duration::from_nanos(at).after_start() }
    }

    /// Takes the message. Waiting for a tick is sleeping: whatever others do may happen before.
    pub(super) fn recv(&self, patience: Patience, site: Site) -> Attempt {
        if let Some(period) = self.period {
            return self.tick(period, patience, site);
        }
        let (outs, info): (dpor::Outs, _) = match patience {
            Patience::Forever => (take_outs, &RECV),
            _ if self.wait.is_over(site) => (fire_and_take_outs, &TRY_RECV),
            _ => (try_take_outs, &TRY_RECV),
        };
        match perform(&self.identity, RUNNING, object(outs, 0, patience != Patience::None), info, site) {
            Answer::Done(NOTHING) => Attempt::NotYet,
            Answer::Done(_) | Answer::Outside | Answer::Inert => {
                self.wait.over(site);
                Attempt::Done(0)
            }
        }
    }

    fn tick(&self, period: Duration, patience: Patience, site: Site) -> Attempt {
        if let Some(first) = self.wait.end() {
            return match patience {
                Patience::Forever => self.tick_by_the_clock(first, period, site),
                _ if self.has_fired(site) => self.tick_by_the_clock(first, period, site),
                _ => Attempt::NotYet,
            };
        }
        match patience {
            Patience::Forever => {
                perform_alone(Action::Yield, &TICK, site);
                Attempt::Done(0)
            }
            _ if self.has_fired(site) => Attempt::Done(0),
            _ => Attempt::NotYet,
        }
    }

    /// Takes the next tick, and waits until it is time.
    fn tick_by_the_clock(&self, first: Instant, period: Duration, site: Site) -> Attempt {
        let now = Duration::ZERO.start(site).end().map_or(0, Instant::since_start);
        let period = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX);
        let args = [now, period];
        let action = Action::Object { outs: tick_outs, args, failure: dpor::Ordering::Relaxed, yields: true };
        match perform(&self.identity, first.since_start(), action, &TICK, site) {
            Answer::Done(at) => {
                self.message(at).start(site).over(site);
                Attempt::Done(at)
            }
            Answer::Outside | Answer::Inert => Attempt::Done(0),
        }
    }

    /// Whether there is a message now.
    pub(super) fn has_fired(&self, site: Site) -> bool {
        if self.period.is_none() {
            if self.wait.is_over(site) {
                return self.fires(site);
            }
            return self.seen_by_the_clock(self.once(has_fired_outs, site) != Some(NOTHING), site);
        }
        let Some(next) = self.next_tick(site) else { return self.may_fire_now(site) };
        let wait = next.start(site);
        if wait.is_over(site) {
            return true;
        }
        let fires = self.may_fire_now(site);
        if fires {
            wait.over(site);
        }
        fires
    }

    /// Whether it is time that the next message comes: a choice.
    fn may_fire_now(&self, site: Site) -> bool {
        let action = Action::Choose { alternatives: 2, budget: dpor::Budget::Free };
        perform_alone(action, &READY, site) != Answer::Done(0)
    }

    /// When the next tick comes, if somebody looks at the clock.
    fn next_tick(&self, site: Site) -> Option<Instant> {
        let first = self.wait.end()?;
        match perform(&self.identity, first.since_start(), object(look_outs, 0, false), &READY, site) {
            Answer::Done(at) => Some(self.message(at)),
            Answer::Outside | Answer::Inert => None,
        }
    }

    /// The thread has seen that there is a message, if it has: it is time, then.
    fn seen_by_the_clock(&self, seen: bool, site: Site) -> bool {
        if seen {
            self.wait.over(site);
        }
        seen
    }

    /// Takes the message of a timer that fires now, if it still can.
    pub(super) fn fire_and_take(&self, site: Site) -> Attempt {
        if let Some(period) = self.period {
            return match self.wait.end() {
                Some(first) => self.tick_by_the_clock(first, period, site),
                None => Attempt::Done(0),
            };
        }
        match self.seen_by_the_clock(self.once(fire_and_take_outs, site) != Some(NOTHING), site) {
            true => Attempt::Done(0),
            false => Attempt::NotYet,
        }
    }

    /// Whether the timer fires now, if it still can.
    pub(super) fn fires(&self, site: Site) -> bool {
        match self.period {
            Some(_) => {
                if let Some(next) = self.next_tick(site) {
                    next.start(site).over(site);
                }
                true
            }
            None => self.seen_by_the_clock(self.once(fire_outs, site) != Some(NOTHING), site),
        }
    }

    /// Whether there may be a message at some time, if none is taken before.
    pub(super) fn may_fire(&self, site: Site) -> bool {
        self.period.is_some() || self.once(look_outs, site) != Some(TAKEN)
    }

    /// Whether there is a message that somebody knows of, or it is known to be time.
    pub(super) fn is_known_to_have_fired(&self, site: Site) -> bool {
        match self.period {
            Some(_) => self.next_tick(site).is_some_and(|next| next.start(site).is_over(site)),
            None if self.wait.is_over(site) => self.may_fire(site),
            None => self.once(look_outs, site) == Some(FIRED),
        }
    }

    /// The result of an operation on a timer that fires once.
    fn once(&self, outs: dpor::Outs, site: Site) -> Option<u64> {
        match perform(&self.identity, RUNNING, object(outs, 0, false), &READY, site) {
            Answer::Done(result) => Some(result),
            Answer::Outside | Answer::Inert => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::outcomes_of;

    fn outcomes(outs: dpor::Outs, state: u64) -> Vec<Outcome> {
        outcomes_of(outs, state, [0; 2], ThreadId::MAIN)
    }

    #[test]
    fn a_timer_has_one_message() {
        assert_eq!(outcomes(take_outs, RUNNING), [Outcome::write(TAKEN, RUNNING)]);
        assert_eq!(outcomes(take_outs, TAKEN), []);
        assert_eq!(outcomes(try_take_outs, RUNNING), [Outcome::read(NOTHING), Outcome::write(TAKEN, RUNNING)]);
        assert_eq!(outcomes(try_take_outs, TAKEN), [Outcome::read(NOTHING)]);
    }

    #[test]
    fn a_tick_comes_a_period_after_the_last_one_or_after_it_was_taken() {
        let tick = |state, now| outcomes_of(tick_outs, state, [now, 10], ThreadId::MAIN);
        assert_eq!(tick(10, 3), [Outcome::write(20, 10)]);
        assert_eq!(tick(10, 17), [Outcome::write(27, 10)]);
    }

    #[test]
    fn what_has_fired_stays_so() {
        assert_eq!(outcomes(has_fired_outs, RUNNING), [Outcome::read(NOTHING), Outcome::write(FIRED, FIRED)]);
        assert_eq!(outcomes(has_fired_outs, FIRED), [Outcome::read(FIRED)]);
        assert_eq!(outcomes(try_take_outs, FIRED), [Outcome::write(TAKEN, FIRED)]);
        assert_eq!(outcomes(has_fired_outs, TAKEN), [Outcome::read(NOTHING)]);
    }
}
