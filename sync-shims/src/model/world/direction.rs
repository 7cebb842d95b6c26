//! One direction of a connection: what one end writes and the other reads.
//!
//! The state says how many bytes are queued, which is the first, and what the two ends have said about its being over. The
//! bytes stay where they are: a reader learns from its step which ones it got. A writer puts them where they are going to be
//! and then takes the step that queues them, so it must know where the queue ends: either nobody else has the descriptor, or
//! it takes the turn of all writers first.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dpor::{Outcome, Outcomes, Role, ThreadId};

use super::call::{Access, Call, Object, Patience, Step, Sys};
use super::errno::Errno;
use super::turn::Turn;
use crate::model::event::Site;

/// A direction of a connection.
#[derive(Debug)]
pub(crate) struct Direction {
    state: Object,
    /// All that was ever written, by position.
    bytes: Mutex<Vec<u8>>,
    /// Where the queue ends: used by whoever writes.
    end: AtomicU64,
    /// Of several writers.
    turn: Turn,
}

/// The lowest bits of the state: bytes queued. Above them, the position of the first.
const QUEUED: u64 = (1 << QUEUED_BITS) - 1;
const QUEUED_BITS: u32 = 18;
const POSITION_BITS: u32 = 32;
/// Bytes queued before writers wait: the default of `net.core.wmem_default`.
const CAPACITY: u64 = 212_992;

/// What the ends have said: flags of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flags(u64);

impl Flags {
    /// None.
    pub(crate) const NONE: Flags = Flags(0);
    /// Nothing more will be written.
    pub(crate) const WRITER_GONE: Flags = Flags(1 << 50);
    /// Nothing more will be taken.
    pub(crate) const READER_GONE: Flags = Flags(1 << 51);
    /// The writer closed with data unread: the reader must be told once.
    pub(crate) const RESET: Flags = Flags(1 << 52);
    /// The reader does not wait (O_NONBLOCK).
    pub(crate) const READER_NONBLOCKING: Flags = Flags(1 << 53);
    /// The reader does not wait for ever (a timeout).
    pub(crate) const READER_TIMED: Flags = Flags(1 << 54);
    /// The writer does not wait.
    pub(crate) const WRITER_NONBLOCKING: Flags = Flags(1 << 55);
    /// The writer does not wait for ever.
    pub(crate) const WRITER_TIMED: Flags = Flags(1 << 56);

    /// Both.
    pub(crate) const fn and(self, more: Flags) -> Flags {
        Flags(self.0 | more.0)
    }

    /// Whether `state` has one of these.
    const fn any_in(self, state: u64) -> bool {
        state & self.0 != 0
    }
}

const GONE: Flags = Flags::WRITER_GONE.and(Flags::READER_GONE);
const READER_IMPATIENT: Flags = Flags::READER_NONBLOCKING.and(Flags::READER_TIMED);
const WRITER_IMPATIENT: Flags = Flags::WRITER_NONBLOCKING.and(Flags::WRITER_TIMED);

/// The result of a step that found no room, of a writer who has to give up his turn before he waits.
const NO_ROOM: u64 = 1 << 62;

/// Takes up to `args[0]` bytes: the result is how many, and the position of the first. An empty buffer waits for data, too,
/// as recv(2) does; it writes the state all the same, as it could be blocked again by somebody who takes the data.
fn read(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let queued = state & QUEUED;
    let count = queued.min(args[0]);
    if queued != 0 {
        let taken = (state - count) + (count << QUEUED_BITS);
        let position = state >> QUEUED_BITS & ((1 << POSITION_BITS) - 1);
        out.push(Outcome::write(taken, position << QUEUED_BITS | count));
    } else if Flags::RESET.any_in(state) {
        out.push(Outcome::write(state & !Flags::RESET.0, Errno::CONNRESET.result()));
    } else if GONE.any_in(state) {
        out.push(Outcome::read(0));
    } else if READER_IMPATIENT.any_in(state) {
        out.push(Outcome::read(Errno::AGAIN.result()));
    }
}

/// What a report says of it.
fn got(result: u64) -> String {
    match Errno::check(result).map(|result| result & QUEUED) {
        Ok(0) => "end of file".into(),
        Ok(count) => format!("{count} bytes"),
        Err(errno) => errno.to_string(),
    }
}

/// Queues up to `args[0]` bytes: the result is how many, or [`NO_ROOM`].
fn write_now(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let count = CAPACITY.saturating_sub(state & QUEUED).min(args[0]);
    out.push(if GONE.any_in(state) {
        Outcome::read(Errno::PIPE.result())
    } else if args[0] == 0 {
        Outcome::read(0)
    } else if count > 0 {
        Outcome::write(state + count, count)
    } else {
        Outcome::read(NO_ROOM)
    });
}

/// What a report says of it.
fn put(result: u64) -> String {
    match Errno::check(result) {
        Ok(NO_ROOM) => "no room".into(),
        Ok(count) => format!("{count} bytes"),
        Err(errno) => errno.to_string(),
    }
}

/// As [`write_now`], but waits until there is room.
fn write(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if GONE.any_in(state) || args[0] == 0 || state & QUEUED < CAPACITY {
        write_now(state, args, thread, out);
    } else if WRITER_IMPATIENT.any_in(state) {
        out.push(Outcome::read(Errno::AGAIN.result()));
    }
}

/// Waits until there is room. Somebody else may take it: the step writes.
fn wait_for_room(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if GONE.any_in(state) || state & QUEUED < CAPACITY {
        out.push(Outcome::write(state, 0));
    } else if WRITER_IMPATIENT.any_in(state) {
        out.push(Outcome::write(state, Errno::AGAIN.result()));
    }
}

/// Sets the flags `args[0]` and clears the flags `args[1]`: the result is the number of bytes queued.
fn change(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write((state | args[0]) & !args[1], state & QUEUED));
}

/// Tells of a reset, once.
fn take_reset(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if Flags::RESET.any_in(state) {
        Outcome::write(state & !Flags::RESET.0, Errno::CONNRESET.result())
    } else {
        Outcome::read(0)
    });
}

/// A step that changes flags.
pub(crate) const fn changes(name: &'static str) -> Step {
    Step::new("UnixStream", name, change).role(Role::Signal)
}

impl Direction {
    /// Empty.
    pub(crate) fn new(name: &str, site: Site) -> Self {
        Direction {
            state: Object::new(0, site).named(name),
            bytes: Mutex::default(),
            end: AtomicU64::new(0),
            turn: Turn::new(format!("writing to {name}"), site),
        }
    }

    /// Takes what is queued and fits.
    pub(crate) fn read(&self, call: Call<'_>, buffer: &mut [u8], patience: Patience) -> Sys<usize> {
        static READ: Step = Step::new("UnixStream", "read", read).shows(got).role(Role::Wait);
        let wanted = (buffer.len() as u64).min(QUEUED);
        let result = Errno::check(call.act_within(&self.state, &READ, [wanted, 0], patience)?)?;
        let (count, position) = ((result & QUEUED) as usize, (result >> QUEUED_BITS) as usize);
        if count > 0 {
            let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
            buffer[..count].copy_from_slice(&bytes[position..position + count]);
        }
        Ok(count)
    }

    /// Queues as much as there is room for, at least a byte: how many.
    pub(crate) fn write(&self, call: Call<'_>, access: Access, data: &[u8], patience: Patience) -> Sys<usize> {
        static WRITE: Step = Step::new("UnixStream", "write", write).shows(put).role(Role::Signal);
        static WRITE_NOW: Step = Step::new("UnixStream", "write", write_now).shows(put).role(Role::Signal);
        static WAIT: Step = Step::new("UnixStream", "write", wait_for_room).role(Role::Wait);
        if access == Access::Exclusive {
            return self.write_at_end(call, &WRITE, data, patience);
        }
        loop {
            let result = self.turn.hold(call, || self.write_at_end(call, &WRITE_NOW, data, patience));
            if result != Ok(NO_ROOM as usize) {
                return result;
            }
            Errno::check(call.act_within(&self.state, &WAIT, [0, 0], patience)?)?;
        }
    }

    /// Nobody else writes meanwhile.
    fn write_at_end(&self, call: Call<'_>, step: &'static Step, data: &[u8], patience: Patience) -> Sys<usize> {
        let end = self.end.load(Ordering::Relaxed);
        let data = &data[..data.len().min(CAPACITY as usize)];
        if end + data.len() as u64 >= 1 << POSITION_BITS {
            call.limit("4 GiB through one connection");
        }
        self.put(end as usize, data);
        let result = Errno::check(call.act_within(&self.state, step, [data.len() as u64, 0], patience)?)?;
        if result != NO_ROOM {
            self.end.store(end + result, Ordering::Relaxed);
        }
        Ok(result as usize)
    }

    /// Puts bytes where they are going to be once they are queued.
    fn put(&self, position: usize, data: &[u8]) {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes.len() < position + data.len() {
            bytes.resize(position + data.len(), 0);
        }
        bytes[position..position + data.len()].copy_from_slice(data);
    }

    /// Sets and clears flags: how many bytes are queued.
    pub(crate) fn change(&self, call: Call<'_>, step: &'static Step, set: Flags, clear: Flags) -> Sys<u64> {
        Ok(call.act(&self.state, step, [set.0, clear.0])?)
    }

    /// Takes the news of a reset.
    pub(crate) fn take_reset(&self, call: Call<'_>) -> Sys<Option<Errno>> {
        static TAKE_ERROR: Step = Step::new("UnixStream", "take_error", take_reset);
        Ok(Errno::check(call.act(&self.state, &TAKE_ERROR, [0, 0])?).err())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(outs: dpor::Outs, state: u64, argument: u64) -> Option<Outcome> {
        let mut out = Outcomes::default();
        outs(state, [argument, 0], ThreadId::MAIN, &mut out);
        out.as_slice().first().copied()
    }

    #[test]
    fn positions_go_on_and_counts_go_down() {
        let state = outcome(write, 0, 5).unwrap().state;
        let first = outcome(read, state, 2).unwrap();
        assert_eq!(first.result, 2);
        let second = outcome(read, first.state, 8).unwrap();
        assert_eq!(second.result, 2 << QUEUED_BITS | 3);
        assert_eq!(second.state & QUEUED, 0);
        let more = outcome(write, second.state, 1).unwrap().state;
        assert_eq!(outcome(read, more, 8).unwrap().result, 5 << QUEUED_BITS | 1);
    }

    #[test]
    fn a_full_direction_takes_no_more() {
        let full = outcome(write, 0, 1 << 40).unwrap();
        assert_eq!(full.result, CAPACITY);
        assert_eq!(outcome(write, full.state, 1), None);
        assert_eq!(outcome(write_now, full.state, 1), Some(Outcome::read(NO_ROOM)));
        assert_eq!(outcome(wait_for_room, full.state, 0), None);
        let impatient = full.state | Flags::WRITER_TIMED.0;
        assert_eq!(outcome(write, impatient, 1), Some(Outcome::read(Errno::AGAIN.result())));
        let room = outcome(read, full.state, 1).unwrap().state;
        assert_eq!(outcome(write, room, 7).unwrap().result, 1);
    }
}
