//! The states of the objects of a channel, and what is done to them.

use dpor::{Outcome, Outcomes, ThreadId};

/// The receiver is gone, in the state of the tickets, whose number is in the bits above.
pub(super) const GONE: u64 = 1;
pub(super) const TICKET: u64 = 2;

/// The states of a message's objects. What is in one of the other states stays so.
pub(crate) const EMPTY: u64 = 0;
/// It can be received; it has been received.
pub(crate) const DONE: u64 = 1;
/// Somebody who waits for it is told that it never will be.
pub(crate) const NEVER: u64 = 2;

/// What looking for a message in vain results in.
pub(crate) const NOTHING: u64 = 3;

/// Of what a receiver waits for: a sender that does not wait has seen that, and sends it.
pub(super) const CLAIMED: u64 = 4;

/// The first argument is a ticket; if that is not the next one any more, it is not taken.
pub(super) const ANY: u64 = u64::MAX;

pub(super) fn take_ticket_outs(state: u64, [expected, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let next = state / TICKET;
    let takes = state & GONE == 0 && (expected == ANY || expected == next);
    out.push(if takes { Outcome::write(state + TICKET, state) } else { Outcome::read(state) });
}

pub(crate) fn look_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(state));
}

pub(super) fn leave_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state | GONE, 0));
}

pub(crate) fn set_outs(state: u64, [to, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    // It is done once; what comes later changes nothing.
    out.push(Outcome::write(if state == EMPTY { to } else { state }, 0));
}

pub(super) fn assign_outs(_: u64, [to, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(to, 0));
}

/// Takes a receiver at its word that it waits: it must not give up then.
pub(super) fn claim_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == DONE { Outcome::write(CLAIMED, DONE) } else { Outcome::read(state) });
}

/// A receiver gives up, unless it has been taken at its word.
pub(super) fn withdraw_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == DONE { Outcome::write(EMPTY, EMPTY) } else { Outcome::read(state) });
}

pub(crate) fn wait_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state != EMPTY {
        out.push(Outcome::read(state));
    }
}

pub(crate) fn wait_or_give_up_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(if state == EMPTY { NOTHING } else { state }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::outcomes_of;
    use dpor::Outs;

    fn outcomes(outs: Outs, state: u64, arg: u64) -> Vec<Outcome> {
        outcomes_of(outs, state, [arg, 0], ThreadId::MAIN)
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

    #[test]
    fn who_has_been_taken_at_its_word_does_not_give_up() {
        assert_eq!(outcomes(claim_outs, EMPTY, 0), [Outcome::read(EMPTY)]);
        assert_eq!(outcomes(claim_outs, DONE, 0), [Outcome::write(CLAIMED, DONE)]);
        assert_eq!(outcomes(withdraw_outs, DONE, 0), [Outcome::write(EMPTY, EMPTY)]);
        assert_eq!(outcomes(withdraw_outs, CLAIMED, 0), [Outcome::read(CLAIMED)]);
    }
}
