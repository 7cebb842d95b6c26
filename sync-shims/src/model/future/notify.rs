//! A wake-up: one object whose state is 1 when it is there.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use dpor::{Action, Budget, Info, Outcome, Outcomes, Role, ThreadId};

use crate::model::event::{Answer, Identity, Site, perform, perform_alone};
use crate::model::thread::wakes_up_spuriously;

const ABSENT: u64 = 0;
const PRESENT: u64 = 1;

fn wait_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == PRESENT {
        out.push(Outcome::write(ABSENT, 0));
    }
}

/// Writes even if the wake-up is there already: what the thread did before must be visible to whoever waits.
fn notify_outs(_: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(PRESENT, 0));
}

/// When a wait ends without a wake-up.
#[derive(Clone, Copy, Debug)]
enum Spurious {
    /// As often as the model's budget for spurious events allows.
    Budget,
    /// Once for each object, whatever the budget.
    Once,
}

/// A wake-up for one waiter. [`notify`](Self::notify) leaves it, two that are left merge into one, and
/// [`wait`](Self::wait) takes it. As [`park`](crate::model::thread::park) and `unpark`, but belonging to an object instead of
/// a thread.
///
/// Std has nothing like it; executors use such a thing to wait for a waker.
pub struct Notify {
    identity: Identity,
    spurious: Spurious,
    /// A wait has ended for no reason ([`Spurious::Once`]).
    ended: AtomicBool,
    real: Mutex<bool>,
    arrived: Condvar,
}

impl UnwindSafe for Notify {}
impl RefUnwindSafe for Notify {}

impl Notify {
    /// No wake-up yet.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        Notify::with(Spurious::Budget)
    }

    /// One on which a wait ends for no reason at most once, even if the budget for spurious events is 0.
    #[doc(hidden)]
    #[must_use]
    #[track_caller]
    pub const fn spurious_once() -> Self {
        Notify::with(Spurious::Once)
    }

    #[track_caller]
    const fn with(spurious: Spurious) -> Self {
        Notify {
            identity: Identity::new(),
            spurious,
            ended: AtomicBool::new(false),
            real: Mutex::new(false),
            arrived: Condvar::new(),
        }
    }

    /// Leaves a wake-up. What happened before is visible to whoever takes it.
    #[track_caller]
    pub fn notify(&self) {
        const INFO: &Info = &Info { name: "notify", family: "Notify", role: Role::Signal };
        let action = Action::Object { outs: notify_outs, args: [0; 2], failure: Ordering::Relaxed, yields: false };
        if perform(&self.identity, ABSENT, action, INFO, Location::caller()) == Answer::Outside {
            *self.real.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.arrived.notify_one();
        }
    }

    /// Waits for a wake-up and takes it. May end for no reason, as far as the budget for spurious events allows.
    #[track_caller]
    pub fn wait(&self) {
        const INFO: &Info = &Info { name: "wait", family: "Notify", role: Role::Wait };
        let site = Location::caller();
        if self.ends_for_no_reason(site) {
            return;
        }
        let action = Action::Object { outs: wait_outs, args: [0; 2], failure: Ordering::Relaxed, yields: false };
        if perform(&self.identity, ABSENT, action, INFO, site) == Answer::Outside {
            let mut real = self.real.lock().unwrap_or_else(PoisonError::into_inner);
            while !*real {
                real = self.arrived.wait(real).unwrap_or_else(PoisonError::into_inner);
            }
            *real = false;
        }
    }

    fn ends_for_no_reason(&self, site: Site) -> bool {
        const INFO: &Info = &Info { name: "wakes up spuriously", family: "Notify", role: Role::Plain };
        match self.spurious {
            Spurious::Budget => wakes_up_spuriously(site),
            Spurious::Once if self.ended.load(Ordering::Relaxed) => false,
            Spurious::Once => {
                let action = Action::Choose { alternatives: 2, budget: Budget::Free };
                let ends = perform_alone(action, INFO, site) == Answer::Done(1);
                self.ended.store(ends, Ordering::Relaxed);
                ends
            }
        }
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
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
    fn a_wait_takes_the_wake_up_and_waits_for_one() {
        assert_eq!(outcomes(wait_outs, ABSENT), []);
        assert_eq!(outcomes(wait_outs, PRESENT), [Outcome::write(ABSENT, 0)]);
    }

    #[test]
    fn wake_ups_merge() {
        assert_eq!(outcomes(notify_outs, ABSENT), [Outcome::write(PRESENT, 0)]);
        assert_eq!(outcomes(notify_outs, PRESENT), [Outcome::write(PRESENT, 0)]);
    }

    #[test]
    fn outside_a_model_it_wakes_a_real_thread() {
        let notify = std::sync::Arc::new(Notify::new());
        let same = notify.clone();
        let waiter = std::thread::spawn(move || same.wait());
        notify.notify();
        waiter.join().unwrap();
        assert!(!*notify.real.lock().unwrap());
    }
}
