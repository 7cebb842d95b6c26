//! The states of the objects of a lock, and what is done to them. The whole lock and the place of a reader are alike.
//!
//! The lower 16 bits count the readers, the 16 bits above the writers that have announced themselves and wait; the upper half
//! is 0, or one more than the number of the thread that writes.
//!
//! An exploration asks what an operation would do in states in which its thread could not perform it, to learn whether it
//! could come somewhere else. So to give back what is not held has no outcome.

use dpor::{Outcome, Outcomes, ThreadId};

pub(crate) const READER: u64 = 1;
const READERS: u64 = 0xffff;
pub(crate) const WAITER: u64 = 1 << 16;
const WAITERS: u64 = 0xffff << 16;

/// What the operations that take something result in when they have it, or when it cannot be had.
pub(crate) const TAKEN: u64 = 0;
pub(crate) const BUSY: u64 = 1;

pub(crate) fn writes(thread: ThreadId) -> u64 {
    (u64::from(thread.0) + 1) << 32
}

fn is_written(state: u64) -> bool {
    state >> 32 != 0
}

fn is_written_by(state: u64, thread: ThreadId) -> bool {
    state & !(READERS | WAITERS) == writes(thread)
}

fn is_free(state: u64) -> bool {
    !is_written(state) && state & READERS == 0
}

pub(crate) fn read_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if !is_written(state) && state & WAITERS == 0 && state & READERS != READERS {
        out.push(Outcome::write(state + READER, TAKEN));
    }
}

pub(crate) fn try_read_outs(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    read_outs(state, args, thread, out);
    if out.as_slice().is_empty() {
        out.push(Outcome::read(BUSY));
    }
}

/// A writer says that it waits. It always can, so that it goes before or after any reader that comes.
pub(crate) fn announce_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state & WAITERS != WAITERS {
        out.push(Outcome::write(state + WAITER, TAKEN));
    }
}

/// The first argument is `WAITER` if the writer has announced itself.
pub(crate) fn write_outs(state: u64, [announced, _]: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if is_free(state) && state & WAITERS >= announced {
        out.push(Outcome::write((state - announced) | writes(thread), TAKEN));
    }
}

/// Waiting writers are no reason not to be first.
pub(crate) fn try_write_outs(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    write_outs(state, [0; 2], thread, out);
    if out.as_slice().is_empty() {
        out.push(Outcome::read(BUSY));
    }
}

pub(crate) fn unlock_read_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if !is_written(state) && state & READERS != 0 {
        out.push(Outcome::write(state - READER, 0));
    }
}

pub(crate) fn unlock_write_outs(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if is_written_by(state, thread) {
        out.push(Outcome::write(state & WAITERS, 0));
    }
}

pub(crate) fn downgrade_outs(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if is_written_by(state, thread) {
        out.push(Outcome::write(state & WAITERS | READER, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::outcomes_of;
    use dpor::Outs;

    fn outcomes_with(outs: Outs, state: u64, arg: u64) -> Vec<Outcome> {
        outcomes_of(outs, state, [arg, 0], ThreadId(1))
    }

    fn outcomes(outs: Outs, state: u64) -> Vec<Outcome> {
        outcomes_with(outs, state, 0)
    }

    #[test]
    fn readers_share() {
        assert_eq!(outcomes(read_outs, 0), [Outcome::write(READER, TAKEN)]);
        assert_eq!(outcomes(read_outs, READER), [Outcome::write(2 * READER, TAKEN)]);
        assert_eq!(outcomes(read_outs, READERS), []);
        assert_eq!(outcomes(read_outs, writes(ThreadId(0))), []);
        assert_eq!(outcomes(try_read_outs, writes(ThreadId(0))), [Outcome::read(BUSY)]);
        assert_eq!(outcomes(unlock_read_outs, 2 * READER), [Outcome::write(READER, 0)]);
    }

    #[test]
    fn a_writer_is_alone() {
        assert_eq!(outcomes(write_outs, 0), [Outcome::write(writes(ThreadId(1)), TAKEN)]);
        assert_eq!(outcomes(write_outs, READER), []);
        assert_eq!(outcomes(write_outs, writes(ThreadId(1))), []);
        assert_eq!(outcomes(try_write_outs, READER), [Outcome::read(BUSY)]);
        assert_eq!(outcomes(try_write_outs, WAITER), [Outcome::write(writes(ThreadId(1)) | WAITER, TAKEN)]);
        assert_eq!(outcomes(unlock_write_outs, writes(ThreadId(1)) | WAITER), [Outcome::write(WAITER, 0)]);
        assert_eq!(outcomes(downgrade_outs, writes(ThreadId(1))), [Outcome::write(READER, 0)]);
    }

    #[test]
    fn an_announced_writer_keeps_readers_out() {
        assert_eq!(outcomes(announce_outs, READER), [Outcome::write(READER + WAITER, TAKEN)]);
        assert_eq!(outcomes(read_outs, READER + WAITER), []);
        assert_eq!(outcomes(try_read_outs, READER + WAITER), [Outcome::read(BUSY)]);
        assert_eq!(outcomes(unlock_read_outs, READER + WAITER), [Outcome::write(WAITER, 0)]);
        assert_eq!(outcomes_with(write_outs, READER + WAITER, WAITER), []);
        assert_eq!(
            outcomes_with(write_outs, 2 * WAITER, WAITER),
            [Outcome::write(writes(ThreadId(1)) | WAITER, TAKEN)]
        );
        assert_eq!(outcomes_with(write_outs, 0, WAITER), []);
    }

    #[test]
    fn what_is_not_held_cannot_be_given_back() {
        for state in [0, WAITER, writes(ThreadId(1)), writes(ThreadId(0)) | WAITER] {
            assert_eq!(outcomes(unlock_read_outs, state), []);
        }
        for state in [0, WAITER, READER, writes(ThreadId(0)), writes(ThreadId(2)) | WAITER] {
            assert_eq!(outcomes(unlock_write_outs, state), []);
            assert_eq!(outcomes(downgrade_outs, state), []);
        }
    }
}
