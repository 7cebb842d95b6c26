//! One direction of a connection: what one end writes and the other reads.
//!
//! The state says how many bytes are queued, which is the first, and what the two ends have said about its being over. The
//! bytes stay where they are: a reader learns from its step which ones it got. A writer puts them where they are going to be
//! and then takes the step that queues them, so it must know where the queue ends: either nobody else has the descriptor, or
//! it takes the turn of all writers first.
//!
//! TCP differs in what a writer learns of an end that is gone: its peer's kernel only answers once there is something to
//! answer to. The first write after the other end was closed is lost, and the reset that comes back makes later ones fail.
//! And the bytes of one write may come in several segments: a read may give less than is going to be there.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dpor::{Budget, Outcome, Outcomes, Role, ThreadId};

use super::call::{Access, Call, Object, Patience, Protocol, Step, Sys};
use super::errno::Errno;
use super::turn::Turn;
use crate::model::event::Site;

/// A direction of a connection.
#[derive(Debug)]
pub(crate) struct Direction {
    protocol: Protocol,
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
    /// TCP: the reader has shut down reading, but its kernel still takes what comes.
    pub(crate) const READER_SHUT: Flags = Flags(1 << 57);
    /// TCP: the reader has said that it is not going to write any more.
    pub(crate) const READER_FINISHED: Flags = Flags(1 << 58);
    /// TCP: a reset has come back to the writer.
    pub(crate) const BROKEN: Flags = Flags(1 << 59);
    /// TCP: the writer has not been told of the reset that its last write has brought about.
    pub(crate) const BROKEN_UNTOLD: Flags = Flags(1 << 60);

    /// Both.
    pub(crate) const fn and(self, more: Flags) -> Flags {
        Flags(self.0 | more.0)
    }

    /// Whether `state` has one of these.
    pub(crate) const fn any_in(self, state: u64) -> bool {
        state & self.0 != 0
    }
}

/// Flags that the result of a change shows, besides the number of bytes queued.
const SHOWN: u64 = Flags::WRITER_GONE.and(Flags::BROKEN).0;
const GONE: Flags = Flags::WRITER_GONE.and(Flags::READER_GONE);
const READER_IMPATIENT: Flags = Flags::READER_NONBLOCKING.and(Flags::READER_TIMED);
const WRITER_IMPATIENT: Flags = Flags::WRITER_NONBLOCKING.and(Flags::WRITER_TIMED);

/// The result of a step that found no room, of a writer who has to give up his turn before he waits.
const NO_ROOM: u64 = 1 << 62;
/// Set in the result of a step that has written into the void.
const LOST: u64 = 1 << 61;
/// The result of a step that cannot write any more: if there was a reset of which nobody was told, the other direction knows.
const MAYBE_RESET: u64 = 1 << 60;

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
    } else if GONE.and(Flags::READER_SHUT).any_in(state) {
        out.push(Outcome::read(0));
    } else if READER_IMPATIENT.any_in(state) {
        out.push(Outcome::read(Errno::AGAIN.result()));
    }
}

/// As [`read`], but the segments of what was written may not all be there yet: the least of it is one byte.
fn read_segments(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    read(state, args, thread, out);
    if (state & QUEUED).min(args[0]) > 1 {
        let mut short = Outcomes::default();
        read(state, [1, 0], thread, &mut short);
        out.push(short.as_slice()[0].costs(Budget::Spurious));
    }
}

/// As [`read`], but what it gives stays queued.
fn peek(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    let count = (state & QUEUED).min(args[0]);
    if state & QUEUED == 0 {
        read(state, args, thread, out);
    } else {
        out.push(Outcome::write(state, (state >> QUEUED_BITS & ((1 << POSITION_BITS) - 1)) << QUEUED_BITS | count));
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

/// As [`write_now`] over TCP.
fn tcp_write_now(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    // What comes for a socket that is shut down in both directions resets it, too.
    let shut = Flags::READER_SHUT.any_in(state) && Flags::READER_FINISHED.any_in(state);
    let refused = shut || Flags::READER_GONE.any_in(state);
    let reset = if shut { Flags::RESET } else { Flags::NONE };
    let count = CAPACITY.saturating_sub(state & QUEUED).min(args[0]);
    out.push(if Flags::BROKEN_UNTOLD.any_in(state) {
        Outcome::write(state & !Flags::BROKEN_UNTOLD.0, Errno::PIPE.result())
    } else if Flags::WRITER_GONE.and(Flags::BROKEN).any_in(state) {
        Outcome::read(MAYBE_RESET)
    } else if args[0] == 0 {
        Outcome::read(0)
    } else if refused {
        Outcome::write(state | Flags::BROKEN.and(Flags::BROKEN_UNTOLD).and(reset).0, LOST | args[0])
    } else if count > 0 {
        Outcome::write(state + count, count)
    } else {
        Outcome::read(NO_ROOM)
    });
}

/// As [`write`] over TCP.
fn tcp_write(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    let room = state & QUEUED < CAPACITY;
    if room || args[0] == 0 || Flags::WRITER_GONE.and(Flags::READER_GONE).and(Flags::BROKEN).any_in(state) {
        tcp_write_now(state, args, thread, out);
    } else if WRITER_IMPATIENT.any_in(state) {
        out.push(Outcome::read(Errno::AGAIN.result()));
    }
}

/// What a report says of it.
fn put(result: u64) -> String {
    match Errno::check(result) {
        Ok(NO_ROOM) => "no room".into(),
        Ok(MAYBE_RESET) => "closed".into(),
        Ok(lost) if lost & LOST != 0 => format!("{} bytes, lost", lost & !LOST),
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
    if GONE.and(Flags::BROKEN).any_in(state) || state & QUEUED < CAPACITY {
        out.push(Outcome::write(state, 0));
    } else if WRITER_IMPATIENT.any_in(state) {
        out.push(Outcome::write(state, Errno::AGAIN.result()));
    }
}

/// Sets the flags `args[0]` and clears the flags `args[1]`: the result is the number of bytes queued, and some of the flags.
fn change(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write((state | args[0]) & !args[1], state & (QUEUED | SHOWN)));
}

/// Tells of a reset, once.
fn take_reset(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if Flags::RESET.any_in(state) {
        Outcome::write(state & !Flags::RESET.0, Errno::CONNRESET.result())
    } else {
        Outcome::read(0)
    });
}

/// As [`take_reset`], for the writer.
fn take_broken(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if Flags::BROKEN_UNTOLD.any_in(state) {
        Outcome::write(state & !Flags::BROKEN_UNTOLD.0, Errno::PIPE.result())
    } else {
        Outcome::read(0)
    });
}

/// A step that changes flags.
pub(crate) const fn changes(name: &'static str) -> Step {
    Step::of_stream(name, change).role(Role::Signal)
}

/// What came of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// So many bytes are queued, or lost.
    Bytes(usize),
    /// Nothing: it is over, perhaps by a reset.
    Over,
}

impl Direction {
    /// Empty.
    pub(crate) fn new(protocol: Protocol, name: fmt::Arguments<'_>, site: Site) -> Self {
        Direction {
            protocol,
            state: Object::new(0, site).named(name),
            bytes: Mutex::default(),
            end: AtomicU64::new(0),
            turn: Turn::new(format_args!("writing to {name}"), site),
        }
    }

    /// Takes what is queued and fits.
    pub(crate) fn read(&self, call: Call<'_>, buffer: &mut [u8], patience: Patience) -> Sys<usize> {
        static READ: Step = Step::of_stream("read", read).shows(got).role(Role::Wait);
        static READ_SEGMENTS: Step = Step::of_stream("read", read_segments).shows(got).role(Role::Wait);
        let step = match self.protocol {
            Protocol::Unix => &READ,
            Protocol::Tcp => &READ_SEGMENTS,
        };
        self.read_by(call, step, buffer, patience)
    }

    /// Copies what is queued and fits.
    pub(crate) fn peek(&self, call: Call<'_>, buffer: &mut [u8], patience: Patience) -> Sys<usize> {
        static PEEK: Step = Step::of_stream("peek", peek).shows(got).role(Role::Wait);
        self.read_by(call, &PEEK, buffer, patience)
    }

    fn read_by(&self, call: Call<'_>, step: &'static Step, buffer: &mut [u8], patience: Patience) -> Sys<usize> {
        let wanted = (buffer.len() as u64).min(QUEUED);
        let result = Errno::check(call.act_within(&self.state, step, [wanted, 0], patience)?)?;
        let (count, position) = ((result & QUEUED) as usize, (result >> QUEUED_BITS) as usize);
        if count > 0 {
            let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
            buffer[..count].copy_from_slice(&bytes[position..position + count]);
        }
        Ok(count)
    }

    /// Queues as much as there is room for, at least a byte.
    pub(crate) fn write(&self, call: Call<'_>, access: Access, data: &[u8], patience: Patience) -> Sys<Written> {
        static WAIT: Step = Step::of_stream("write", wait_for_room).role(Role::Wait);
        if access == Access::Exclusive {
            return self.write_at_end(call, access, data, patience).map(written);
        }
        loop {
            let result = self.turn.hold(call, || self.write_at_end(call, access, data, patience));
            if result != Ok(NO_ROOM) {
                return result.map(written);
            }
            Errno::check(call.act_within(&self.state, &WAIT, [0, 0], patience)?)?;
        }
    }

    /// Nobody else writes meanwhile: the result of the step.
    fn write_at_end(&self, call: Call<'_>, access: Access, data: &[u8], patience: Patience) -> Sys<u64> {
        static WRITE: Step = Step::of_stream("write", write).shows(put).role(Role::Signal);
        static WRITE_NOW: Step = Step::of_stream("write", write_now).shows(put).role(Role::Signal);
        static TCP_WRITE: Step = Step::of_stream("write", tcp_write).shows(put).role(Role::Signal);
        static TCP_WRITE_NOW: Step = Step::of_stream("write", tcp_write_now).shows(put).role(Role::Signal);
        let step = match (self.protocol, access) {
            (Protocol::Unix, Access::Exclusive) => &WRITE,
            (Protocol::Unix, Access::Shared) => &WRITE_NOW,
            (Protocol::Tcp, Access::Exclusive) => &TCP_WRITE,
            (Protocol::Tcp, Access::Shared) => &TCP_WRITE_NOW,
        };
        let end = self.end.load(Ordering::Relaxed);
        let data = &data[..data.len().min(CAPACITY as usize)];
        if end + data.len() as u64 >= 1 << POSITION_BITS {
            call.limit("4 GiB through one connection");
        }
        self.put(end as usize, data);
        let result = Errno::check(call.act_within(&self.state, step, [data.len() as u64, 0], patience)?)?;
        if result <= CAPACITY {
            self.end.store(end + result, Ordering::Relaxed);
        }
        Ok(result)
    }

    /// Puts bytes where they are going to be once they are queued.
    fn put(&self, position: usize, data: &[u8]) {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes.len() < position + data.len() {
            bytes.resize(position + data.len(), 0);
        }
        bytes[position..position + data.len()].copy_from_slice(data);
    }

    /// Sets and clears flags: what was there before.
    pub(crate) fn change(&self, call: Call<'_>, step: &'static Step, set: Flags, clear: Flags) -> Sys<Before> {
        Ok(Before(call.act(&self.state, step, [set.0, clear.0])?))
    }

    /// Takes the news of a reset, on behalf of the reader.
    pub(crate) fn take_reset(&self, call: Call<'_>) -> Sys<Option<Errno>> {
        static TAKE_ERROR: Step = Step::of_stream("take_error", take_reset);
        Ok(Errno::check(call.act(&self.state, &TAKE_ERROR, [0, 0])?).err())
    }

    /// Takes the news of the reset that a write of its own has brought about, on behalf of the writer.
    pub(crate) fn take_broken(&self, call: Call<'_>) -> Sys<Option<Errno>> {
        static TAKE_ERROR: Step = Step::of_stream("take_error", take_broken);
        Ok(Errno::check(call.act(&self.state, &TAKE_ERROR, [0, 0])?).err())
    }
}

/// What the result of the step of a writer says.
fn written(result: u64) -> Written {
    if result == MAYBE_RESET { Written::Over } else { Written::Bytes((result & !LOST) as usize) }
}

/// What there was before a change of flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Before(u64);

impl Before {
    /// Bytes queued.
    pub(crate) fn queued(self) -> u64 {
        self.0 & QUEUED
    }

    /// Whether the writer was gone.
    pub(crate) fn writer_gone(self) -> bool {
        Flags::WRITER_GONE.any_in(self.0)
    }

    /// Whether a reset had come back to the writer.
    pub(crate) fn broken(self) -> bool {
        Flags::BROKEN.any_in(self.0)
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
