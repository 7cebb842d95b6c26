//! `park` and `unpark`: one token for each thread.
//!
//! The token is an object of its own, with the state 1 when it is there. `unpark` puts it there (two merge into one), `park`
//! waits for it and takes it.

use std::panic::Location;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dpor::{Action, Budget, Info, Outcome, Outcomes, Role, ThreadId};

use super::Thread;
use super::handle::{Kind, current};
use crate::model::controller::current as controller;
use crate::model::event::{Answer, Site, perform, perform_alone};
use crate::model::time::Wait;

pub(crate) const ABSENT: u64 = 0;
const PRESENT: u64 = 1;

pub(crate) fn park_outs(token: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if token == PRESENT {
        out.push(Outcome::write(ABSENT, 0));
    }
}

/// Takes the token, or gives up. Nobody can tell a time-out from a spurious wake-up.
pub(crate) fn park_timeout_outs(token: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if token == PRESENT { Outcome::write(ABSENT, 0) } else { Outcome::read(0) });
}

/// Writes even if the token is there already: what the thread did before must be visible after the `park` too.
pub(crate) fn unpark_outs(_: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(PRESENT, 0));
}

/// Stands in for [`std::thread::park`]. It also wakes up spuriously, as often as the budget for spurious events allows.
#[track_caller]
pub fn park() {
    const INFO: &Info = &Info { name: "park", family: "thread", role: Role::Wait };
    match current().0 {
        Kind::Real(_) => std::thread::park(),
        Kind::Model(thread) => {
            let site = Location::caller();
            if !wakes_up_spuriously(site) {
                let action =
                    Action::Object { outs: park_outs, args: [0; 2], failure: Ordering::Relaxed, yields: false };
                perform(&thread.token, ABSENT, action, INFO, site);
            }
        }
    }
}

/// Stands in for [`std::thread::park_timeout`]. In a model it may give up whenever there is no token, however long the
/// duration.
#[track_caller]
pub fn park_timeout(duration: Duration) {
    const INFO: &Info = &Info { name: "park_timeout", family: "thread", role: Role::Wait };
    match current().0 {
        Kind::Real(_) => std::thread::park_timeout(duration),
        Kind::Model(thread) => {
            let action =
                Action::Object { outs: park_timeout_outs, args: [0; 2], failure: Ordering::Relaxed, yields: true };
            let site = Location::caller();
            let wait = Wait::start(duration, site);
            let answer = perform(&thread.token, ABSENT, action, INFO, site);
            let taken = controller(|controller| controller.is_some_and(|controller| controller.wrote()));
            if answer == Answer::Done(0) && !taken {
                wait.give_up(site);
            }
        }
    }
}

/// Stands in for [`std::thread::park_timeout_ms`].
#[deprecated(note = "replaced by `park_timeout`")]
#[track_caller]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(ms.into()));
}

impl Thread {
    /// Stands in for [`std::thread::Thread::unpark`].
    #[track_caller]
    pub fn unpark(&self) {
        const INFO: &Info = &Info { name: "unpark", family: "Thread", role: Role::Signal };
        match &self.0 {
            Kind::Real(thread) => thread.unpark(),
            Kind::Model(thread) => {
                let action =
                    Action::Object { outs: unpark_outs, args: [0; 2], failure: Ordering::Relaxed, yields: false };
                perform(&thread.token, ABSENT, action, INFO, Location::caller());
            }
        }
    }
}

/// Whether a wait that begins at `site` is to end for no reason. A choice of its own and not an outcome of the wait: a wait
/// that nobody ends must still be found blocked.
pub(crate) fn wakes_up_spuriously(site: Site) -> bool {
    const INFO: &Info = &Info { name: "wakes up spuriously", family: "thread", role: Role::Plain };
    let action = Action::Choose { alternatives: 2, budget: Budget::Spurious };
    perform_alone(action, INFO, site) == Answer::Done(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::outcomes_of;

    fn outcomes(outs: dpor::Outs, state: u64) -> Vec<Outcome> {
        outcomes_of(outs, state, [0; 2], ThreadId::MAIN)
    }

    #[test]
    fn without_a_token_nothing_goes_on_but_a_time_out() {
        assert_eq!(outcomes(park_outs, ABSENT), []);
        assert_eq!(outcomes(park_timeout_outs, ABSENT), [Outcome::read(0)]);
        assert_eq!(outcomes(park_timeout_outs, PRESENT), [Outcome::write(ABSENT, 0)]);
        assert_eq!(outcomes(park_outs, PRESENT), [Outcome::write(ABSENT, 0)]);
    }

    #[test]
    fn tokens_merge() {
        assert_eq!(outcomes(unpark_outs, ABSENT), [Outcome::write(PRESENT, 0)]);
        assert_eq!(outcomes(unpark_outs, PRESENT), [Outcome::write(PRESENT, 0)]);
    }
}
