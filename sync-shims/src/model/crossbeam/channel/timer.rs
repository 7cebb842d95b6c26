//! `after`, `at` and `tick`, in a model: a message may come at any moment, however long the duration.

use std::time::{Duration, Instant};

use dpor::{Action, Info, Outcome, Outcomes, Role, ThreadId};

use super::{Attempt, Patience};
use crate::model::event::{Answer, Identity, Site, perform, perform_alone};
use crate::model::sync::mpsc::chan::{info, object};
use crate::model::sync::mpsc::states::look_outs;

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

static RECV: Info = info("Receiver", "recv: timer", Role::Wait);
static TRY_RECV: Info = info("Receiver", "try_recv: timer", Role::Plain);
static READY: Info = info("Receiver", "is it ready", Role::Plain);
static TICK: Info = info("Receiver", "recv: tick", Role::Plain);

/// A timer that fires once, or (with a period) again and again.
#[derive(Debug)]
pub(super) struct Timer {
    identity: Identity,
    when: Instant,
    period: Option<Duration>,
}

impl Timer {
    pub(super) fn new(when: Instant, period: Option<Duration>, site: Site) -> Self {
        Timer { identity: Identity::at(site), when, period }
    }

    /// What the message says.
    pub(super) fn message(&self) -> Instant {
        self.when
    }

    /// Takes the message. Waiting for a tick is sleeping: whatever others do may happen before.
    pub(super) fn recv(&self, patience: Patience, site: Site) -> Attempt {
        if self.period.is_some() {
            return self.tick(patience, site);
        }
        let (outs, info): (dpor::Outs, _) = match patience {
            Patience::Forever => (take_outs, &RECV),
            _ => (try_take_outs, &TRY_RECV),
        };
        match perform(&self.identity, RUNNING, object(outs, 0, patience != Patience::None), info, site) {
            Answer::Done(NOTHING) => Attempt::NotYet,
            Answer::Done(_) | Answer::Outside | Answer::Inert => Attempt::Done(0),
        }
    }

    fn tick(&self, patience: Patience, site: Site) -> Attempt {
        match patience {
            Patience::Forever => {
                perform_alone(Action::Yield, &TICK, site);
                Attempt::Done(0)
            }
            _ if self.has_fired(site) => Attempt::Done(0),
            _ => Attempt::NotYet,
        }
    }

    /// Whether there is a message now.
    pub(super) fn has_fired(&self, site: Site) -> bool {
        if self.period.is_some() {
            let action = Action::Choose { alternatives: 2, budget: dpor::Budget::Free };
            return perform_alone(action, &READY, site) != Answer::Done(0);
        }
        perform(&self.identity, RUNNING, object(has_fired_outs, 0, false), &READY, site) != Answer::Done(NOTHING)
    }

    /// Takes the message of a timer that fires now, if it still can.
    pub(super) fn fire_and_take(&self, site: Site) -> Attempt {
        match self.once(fire_and_take_outs, site) {
            Some(NOTHING) => Attempt::NotYet,
            _ => Attempt::Done(0),
        }
    }

    /// Whether the timer fires now, if it still can.
    pub(super) fn fires(&self, site: Site) -> bool {
        self.once(fire_outs, site) != Some(NOTHING)
    }

    /// Whether there may be a message at some time, if none is taken before.
    pub(super) fn may_fire(&self, site: Site) -> bool {
        self.once(look_outs, site) != Some(TAKEN)
    }

    /// Whether there is a message that somebody knows of.
    pub(super) fn is_known_to_have_fired(&self, site: Site) -> bool {
        self.once(look_outs, site) == Some(FIRED)
    }

    /// The result of an operation on a timer that fires once.
    fn once(&self, outs: dpor::Outs, site: Site) -> Option<u64> {
        if self.period.is_some() {
            return None;
        }
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
    fn what_has_fired_stays_so() {
        assert_eq!(outcomes(has_fired_outs, RUNNING), [Outcome::read(NOTHING), Outcome::write(FIRED, FIRED)]);
        assert_eq!(outcomes(has_fired_outs, FIRED), [Outcome::read(FIRED)]);
        assert_eq!(outcomes(try_take_outs, FIRED), [Outcome::write(TAKEN, FIRED)]);
        assert_eq!(outcomes(has_fired_outs, TAKEN), [Outcome::read(NOTHING)]);
    }
}
