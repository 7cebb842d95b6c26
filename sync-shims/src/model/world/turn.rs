//! Turns: locks of the kernel's own, for calls that are several steps.

use std::fmt;

use dpor::{Outcome, Outcomes, Role, ThreadId};

use super::call::{Call, Object, Step, Sys};
use super::process::masked;
use crate::model::event::Site;

/// What one call at a time may do.
#[derive(Debug)]
pub(crate) struct Turn(Object);

/// Waits until the state is 0, and makes it 1.
fn take(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == 0 {
        out.push(Outcome::write(1, 0));
    }
}

/// Makes the state 0 again.
fn give(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == 1 {
        out.push(Outcome::write(0, 0));
    }
}

impl Turn {
    /// Nobody's, at `what` it is for.
    pub(crate) fn new(what: fmt::Arguments<'_>, site: Site) -> Self {
        Turn(Object::new(0, site).named(what))
    }

    /// Takes the turn, calls `f`, and gives it to the next.
    pub(crate) fn hold<R>(&self, call: Call<'_>, f: impl FnOnce() -> Sys<R>) -> Sys<R> {
        static TAKE: Step = Step::new("kernel", "take_turn", take).role(Role::Acquire);
        static GIVE: Step = Step::new("kernel", "give_turn", give).role(Role::Release);
        call.act(&self.0, &TAKE, [0, 0])?;
        masked(call, || {
            let result = f();
            call.act(&self.0, &GIVE, [0, 0])?;
            result
        })
    }
}
