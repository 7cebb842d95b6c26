//! What stands in for [`std::sync::Barrier`].
//!
//! Two objects. The first counts arrivals: its state is how many have come in this generation, and in the upper half the
//! number of the generation. The second is the number of generations that have been let through, which only grows; so waiting
//! for it is only a read.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering;

use dpor::{Action, Info, Outcome, Outcomes, Role, ThreadId};

use crate::model::event::{Answer, Identity, perform};

const LEADER: u64 = 1 << 63;

/// The first argument is how many have to come. The result is the number of the generation, marked for the last one to come.
fn arrive_outs(state: u64, [threads, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let (generation, arrived) = (state >> 32, (state & u64::from(u32::MAX)) + 1);
    out.push(if arrived >= threads {
        Outcome::write((generation + 1) << 32, generation | LEADER)
    } else {
        Outcome::write(generation << 32 | arrived, generation)
    });
}

fn let_through_outs(let_through: u64, [generations, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(let_through.max(generations), 0));
}

fn wait_outs(let_through: u64, [generation, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if let_through > generation {
        out.push(Outcome::read(0));
    }
}

const fn info(name: &'static str, role: Role) -> Info {
    Info { name, family: "Barrier", role }
}

static ARRIVE: Info = info("wait: arrive", Role::Plain);
static LET_THROUGH: Info = info("wait: let through", Role::Signal);
static WAIT: Info = info("wait", Role::Wait);

/// Stands in for [`std::sync::Barrier`].
pub struct Barrier {
    arrivals: Identity,
    passages: Identity,
    threads: usize,
    real: std::sync::Barrier,
}

/// Stands in for [`std::sync::BarrierWaitResult`].
pub struct BarrierWaitResult(bool);

impl UnwindSafe for Barrier {}
impl RefUnwindSafe for Barrier {}

impl Barrier {
    /// Stands in for [`std::sync::Barrier::new`].
    #[must_use]
    #[track_caller]
    pub const fn new(n: usize) -> Self {
        Barrier { arrivals: Identity::new(), passages: Identity::new(), threads: n, real: std::sync::Barrier::new(n) }
    }

    /// Stands in for [`std::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let site = Location::caller();
        let object = |outs, arg| Action::Object { outs, args: [arg, 0], failure: Ordering::Acquire, yields: false };
        let generation = match perform(&self.arrivals, 0, object(arrive_outs, self.threads as u64), &ARRIVE, site) {
            Answer::Outside => return BarrierWaitResult(self.real.wait().is_leader()),
            // Nobody else will come.
            Answer::Inert => return BarrierWaitResult(false),
            Answer::Done(generation) => generation,
        };
        let is_leader = generation & LEADER != 0;
        if is_leader {
            perform(&self.passages, 0, object(let_through_outs, (generation & !LEADER) + 1), &LET_THROUGH, site);
        } else {
            perform(&self.passages, 0, object(wait_outs, generation), &WAIT, site);
        }
        BarrierWaitResult(is_leader)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl BarrierWaitResult {
    /// Stands in for [`std::sync::BarrierWaitResult::is_leader`].
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::outcomes_of;

    fn outcomes(outs: dpor::Outs, state: u64, arg: u64) -> Vec<Outcome> {
        outcomes_of(outs, state, [arg, 0], ThreadId::MAIN)
    }

    #[test]
    fn the_last_to_come_leads() {
        assert_eq!(outcomes(arrive_outs, 5 << 32, 2), [Outcome::write((5 << 32) + 1, 5)]);
        assert_eq!(outcomes(arrive_outs, (5 << 32) + 1, 2), [Outcome::write(6 << 32, 5 | LEADER)]);
        assert_eq!(outcomes(arrive_outs, 0, 0), [Outcome::write(1 << 32, LEADER)]);
    }

    #[test]
    fn the_others_wait_for_their_generation() {
        assert_eq!(outcomes(wait_outs, 5, 5), []);
        assert_eq!(outcomes(wait_outs, 6, 5), [Outcome::read(0)]);
    }
}
