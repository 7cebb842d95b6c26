//! The states of a reader-writer lock, and what each operation makes of them: as pure functions.
//!
//! parking_lot's lock is fair between readers and writers. A writer first claims the lock, which keeps new readers out, and
//! then waits for those that are in. So a thread that reads while it reads may be waiting for a writer that waits for it; it
//! is not with `read_recursive`, which goes past a writer that waits. An upgradable reader keeps writers and other upgradable
//! readers out; to upgrade is to claim the lock.
//!
//! The lowest 20 bits of the state count the readers; the next 20 bits name the upgradable reader, and the next the thread
//! that has claimed the lock, as [`holder`] does. It writes when there are no readers (left).
//!
//! An exploration asks what an operation would do in states in which its thread could not perform it, to learn whether it
//! could come somewhere else. So to give back what is not held has no outcome.

use dpor::{Outcome, Outcomes, ThreadId};

use super::core::holder;

const BITS: u32 = 20;
const MASK: u64 = (1 << BITS) - 1;
const READER: u64 = 1;

/// What an operation results in that has all it wants.
pub(super) const DONE: u64 = 0;
/// What an operation that need not wait results in when it would have to.
pub(super) const BUSY: u64 = 1;
/// What claiming the lock results in if there are readers to wait for.
pub(super) const CLAIMED: u64 = 2;

fn readers(state: u64) -> u64 {
    state & MASK
}

fn upgradable(state: u64) -> u64 {
    state >> BITS & MASK
}

fn claimant(state: u64) -> u64 {
    state >> (2 * BITS)
}

fn upgradable_by(thread: u64) -> u64 {
    thread << BITS
}

fn claimed_by(thread: u64) -> u64 {
    thread << (2 * BITS)
}

/// As many threads as a state can name, and readers as it can count.
pub(super) const LIMIT: u64 = MASK;

fn done(state: u64, out: &mut Outcomes) {
    out.push(Outcome::write(state, DONE));
}

fn or_busy(out: &mut Outcomes) {
    if out.as_slice().is_empty() {
        out.push(Outcome::read(BUSY));
    }
}

pub(super) fn read(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if claimant(state) == 0 && readers(state) < LIMIT {
        done(state + READER, out);
    }
}

pub(super) fn try_read(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    read(state, args, thread, out);
    or_busy(out);
}

pub(super) fn read_recursive(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if (claimant(state) == 0 || readers(state) != 0) && readers(state) < LIMIT {
        done(state + READER, out);
    }
}

pub(super) fn try_read_recursive(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    read_recursive(state, args, thread, out);
    or_busy(out);
}

pub(super) fn unlock_read(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if readers(state) != 0 {
        done(state - READER, out);
    }
}

/// Claims the lock, and has it if there are no readers.
pub(super) fn write(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if claimant(state) == 0 && upgradable(state) == 0 {
        let result = if readers(state) == 0 { DONE } else { CLAIMED };
        out.push(Outcome::write(state | claimed_by(holder(thread)), result));
    }
}

pub(super) fn try_write(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if state == 0 {
        done(claimed_by(holder(thread)), out);
    }
    or_busy(out);
}

/// As `write`, when the wait for other writers may time out.
pub(super) fn write_or_time_out(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    write(state, args, thread, out);
    or_busy(out);
}

/// The second half of a `write` that has claimed the lock.
pub(super) fn wait_for_readers(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if state == claimed_by(holder(thread)) {
        done(state, out);
    }
}

/// The same, when that may time out, and there is no claim any more then.
pub(super) fn wait_for_readers_or_time_out(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    wait_for_readers(state, args, thread, out);
    if claimant(state) == holder(thread) && readers(state) != 0 {
        out.push(Outcome::write(readers(state), BUSY));
    }
}

/// The second half of an upgrade, when it may time out: the thread is an upgradable reader again then.
pub(super) fn upgrade_or_time_out(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    wait_for_readers(state, args, thread, out);
    if claimant(state) == holder(thread) && readers(state) != 0 {
        out.push(Outcome::write(readers(state) | upgradable_by(holder(thread)), BUSY));
    }
}

/// The argument of this and the following is the holder.
pub(super) fn unlock_write(state: u64, [thread, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == claimed_by(thread) {
        done(0, out);
    }
}

pub(super) fn downgrade(state: u64, [thread, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == claimed_by(thread) {
        done(READER, out);
    }
}

pub(super) fn downgrade_to_upgradable(state: u64, [thread, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == claimed_by(thread) {
        done(upgradable_by(thread), out);
    }
}

pub(super) fn upgradable_read(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if claimant(state) == 0 && upgradable(state) == 0 {
        done(state | upgradable_by(holder(thread)), out);
    }
}

pub(super) fn try_upgradable_read(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    upgradable_read(state, args, thread, out);
    or_busy(out);
}

pub(super) fn unlock_upgradable(state: u64, [thread, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if upgradable(state) == thread && thread != 0 {
        done(readers(state), out);
    }
}

pub(super) fn downgrade_upgradable(state: u64, [thread, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if upgradable(state) == thread && thread != 0 {
        done(readers(state) + READER, out);
    }
}

/// Claims the lock, and has it if there are no readers.
pub(super) fn upgrade(state: u64, [thread, _]: [u64; 2], running: ThreadId, out: &mut Outcomes) {
    if upgradable(state) == thread && thread != 0 {
        let result = if readers(state) == 0 { DONE } else { CLAIMED };
        out.push(Outcome::write(readers(state) | claimed_by(holder(running)), result));
    }
}

pub(super) fn try_upgrade(state: u64, [thread, _]: [u64; 2], running: ThreadId, out: &mut Outcomes) {
    if upgradable(state) == thread && thread != 0 {
        out.push(match readers(state) {
            0 => Outcome::write(claimed_by(holder(running)), DONE),
            _ => Outcome::read(BUSY),
        });
    }
}

pub(super) fn is_locked(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(u64::from(state != 0)));
}

/// Also if the writer still waits for readers.
pub(super) fn is_locked_exclusive(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(u64::from(claimant(state) != 0)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::outcomes_of;
    use dpor::Outs;

    /// The thread that asks, as a holder, and another one.
    const ME: u64 = 2;
    const OTHER: u64 = 1;

    fn outcomes(outs: Outs, state: u64) -> Vec<Outcome> {
        outcomes_of(outs, state, [ME, 0], ThreadId(1))
    }

    #[test]
    fn readers_share_the_lock_among_them_and_with_an_upgradable_one() {
        for state in [0, 3, upgradable_by(OTHER), 2 | upgradable_by(ME)] {
            for outs in [read, try_read, read_recursive, try_read_recursive] {
                assert_eq!(outcomes(outs, state), [Outcome::write(state + 1, DONE)]);
            }
        }
        assert_eq!(outcomes(unlock_read, 2 | upgradable_by(ME)), [Outcome::write(1 | upgradable_by(ME), DONE)]);
        assert_eq!(outcomes(unlock_read, 1 | claimed_by(OTHER)), [Outcome::write(claimed_by(OTHER), DONE)]);
    }

    #[test]
    fn a_writer_that_waits_keeps_readers_out_but_recursive_ones() {
        let waits = 1 | claimed_by(OTHER);
        assert_eq!(outcomes(read, waits), []);
        assert_eq!(outcomes(try_read, waits), [Outcome::read(BUSY)]);
        assert_eq!(outcomes(read_recursive, waits), [Outcome::write(2 | claimed_by(OTHER), DONE)]);
        let writes = claimed_by(OTHER);
        assert_eq!(outcomes(read_recursive, writes), []);
        assert_eq!(outcomes(try_read_recursive, writes), [Outcome::read(BUSY)]);
    }

    #[test]
    fn a_writer_claims_the_lock_and_waits_for_readers() {
        assert_eq!(outcomes(write, 0), [Outcome::write(claimed_by(ME), DONE)]);
        assert_eq!(outcomes(write, 2), [Outcome::write(2 | claimed_by(ME), CLAIMED)]);
        assert_eq!(outcomes(wait_for_readers, 2 | claimed_by(ME)), []);
        assert_eq!(outcomes(wait_for_readers, claimed_by(ME)), [Outcome::write(claimed_by(ME), DONE)]);
        assert_eq!(outcomes(wait_for_readers, claimed_by(OTHER)), []);
        for state in [claimed_by(OTHER), 1 | claimed_by(ME), upgradable_by(ME)] {
            assert_eq!(outcomes(write, state), []);
            assert_eq!(outcomes(write_or_time_out, state), [Outcome::read(BUSY)]);
        }
        assert_eq!(outcomes(unlock_write, claimed_by(ME)), [Outcome::write(0, DONE)]);
    }

    #[test]
    fn a_writer_that_gives_up_lets_readers_in_again() {
        assert_eq!(outcomes(wait_for_readers_or_time_out, 2 | claimed_by(ME)), [Outcome::write(2, BUSY)]);
        assert_eq!(outcomes(wait_for_readers_or_time_out, claimed_by(ME)), [Outcome::write(claimed_by(ME), DONE)]);
        assert_eq!(outcomes(upgrade_or_time_out, 1 | claimed_by(ME)), [Outcome::write(1 | upgradable_by(ME), BUSY)]);
        assert_eq!(outcomes(upgrade_or_time_out, 1), []);
    }

    #[test]
    fn trying_claims_nothing() {
        assert_eq!(outcomes(try_write, 0), [Outcome::write(claimed_by(ME), DONE)]);
        for state in [1, upgradable_by(OTHER), claimed_by(OTHER)] {
            assert_eq!(outcomes(try_write, state), [Outcome::read(BUSY)]);
        }
        assert_eq!(outcomes(try_upgrade, upgradable_by(ME)), [Outcome::write(claimed_by(ME), DONE)]);
        assert_eq!(outcomes(try_upgrade, 1 | upgradable_by(ME)), [Outcome::read(BUSY)]);
    }

    #[test]
    fn there_is_one_upgradable_reader() {
        assert_eq!(outcomes(upgradable_read, 2), [Outcome::write(2 | upgradable_by(ME), DONE)]);
        for state in [upgradable_by(OTHER), upgradable_by(ME), claimed_by(OTHER), 1 | claimed_by(OTHER)] {
            assert_eq!(outcomes(upgradable_read, state), []);
            assert_eq!(outcomes(try_upgradable_read, state), [Outcome::read(BUSY)]);
        }
        assert_eq!(outcomes(unlock_upgradable, 2 | upgradable_by(ME)), [Outcome::write(2, DONE)]);
        assert_eq!(outcomes(upgrade, upgradable_by(ME)), [Outcome::write(claimed_by(ME), DONE)]);
        assert_eq!(outcomes(upgrade, 1 | upgradable_by(ME)), [Outcome::write(1 | claimed_by(ME), CLAIMED)]);
    }

    #[test]
    fn ways_down() {
        assert_eq!(outcomes(downgrade, claimed_by(ME)), [Outcome::write(1, DONE)]);
        assert_eq!(outcomes(downgrade_to_upgradable, claimed_by(ME)), [Outcome::write(upgradable_by(ME), DONE)]);
        assert_eq!(outcomes(downgrade_upgradable, 1 | upgradable_by(ME)), [Outcome::write(2, DONE)]);
    }

    #[test]
    fn what_is_not_held_cannot_be_given_back() {
        for state in [0, claimed_by(ME), upgradable_by(OTHER)] {
            assert_eq!(outcomes(unlock_read, state), []);
        }
        for state in [0, 1, claimed_by(OTHER), 1 | claimed_by(ME), upgradable_by(ME)] {
            assert_eq!(outcomes(unlock_write, state), []);
            assert_eq!(outcomes(downgrade, state), []);
            assert_eq!(outcomes(downgrade_to_upgradable, state), []);
        }
        for state in [0, 1, claimed_by(ME), upgradable_by(OTHER)] {
            for outs in [unlock_upgradable, downgrade_upgradable, upgrade, try_upgrade] {
                assert_eq!(outcomes(outs, state), []);
            }
        }
    }

    #[test]
    fn looks_at_the_lock() {
        for (state, locked, exclusive) in
            [(0, 0, 0), (1, 1, 0), (upgradable_by(ME), 1, 0), (claimed_by(OTHER), 1, 1), (1 | claimed_by(ME), 1, 1)]
        {
            assert_eq!(outcomes(is_locked, state), [Outcome::read(locked)]);
            assert_eq!(outcomes(is_locked_exclusive, state), [Outcome::read(exclusive)]);
        }
    }
}
