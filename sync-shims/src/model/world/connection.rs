//! Connected sockets: read(2), write(2), shutdown(2), close(2).
//!
//! Each direction of a connection is one object: how many bytes are queued, and what either end has said about its being
//! over. The bytes themselves are plain data; all steps that change their number write the object, so they are in its order.

use std::collections::VecDeque;
use std::os::unix::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dpor::{Outcome, Outcomes, Role, ThreadId};

use super::call::{Call, Halt, Object, Patience, Step, Sys};
use super::descriptor::Descriptors;
use super::errno::Errno;
use crate::model::event::Site;

/// A connection, by the two ends that share it.
#[derive(Debug)]
pub(crate) struct Connection {
    to_server: Direction,
    to_client: Direction,
}

/// What one end writes and the other reads.
#[derive(Debug)]
struct Direction {
    state: Object,
    bytes: Mutex<VecDeque<u8>>,
}

/// The ends of a connection; of a pair, the second is the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The end that connected.
    Client,
    /// The end that was accepted.
    Server,
}

/// One end of a connection as its descriptors share it.
#[derive(Debug)]
pub(crate) struct Endpoint {
    execution: u64,
    site: Site,
    connection: Arc<Connection>,
    side: Side,
    local: Option<SocketAddr>,
    peer: Option<SocketAddr>,
    descriptors: Descriptors,
    timeouts: Mutex<[Option<Duration>; 2]>,
    /// Threads whose last read or write timed out.
    timed_out: Mutex<Vec<(ThreadId, Shut)>>,
}

/// Which way: what an end reads, or what it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shut {
    /// What it reads.
    Read,
    /// What it writes.
    Write,
}

/// The lower half of a direction's state: bytes queued. Above it, what the ends said.
const QUEUED: u64 = 0xffff_ffff;
/// Nothing more will be written.
const WRITER_GONE: u64 = 1 << 32;
/// Nothing more will be taken.
const READER_GONE: u64 = 1 << 33;
/// The writer closed with data unread: the reader must be told once.
const RESET: u64 = 1 << 34;
/// The reader does not wait (O_NONBLOCK), or not for ever (a timeout).
const READER_NONBLOCKING: u64 = 1 << 35;
const READER_TIMED: u64 = 1 << 36;
/// The same of the writer.
const WRITER_NONBLOCKING: u64 = 1 << 37;
const WRITER_TIMED: u64 = 1 << 38;
/// Bytes that a direction holds before writers wait: the default of `net.core.wmem_default`.
const CAPACITY: u64 = 212_992;

/// Takes up to `args[0]` bytes: the result is how many. An empty buffer waits for data, too, as recv(2) does; it writes the
/// state all the same, as it could be blocked again by somebody who takes the data.
fn read(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let count = (state & QUEUED).min(args[0]);
    if state & QUEUED != 0 {
        out.push(Outcome::write(state - count, count));
    } else if state & RESET != 0 {
        out.push(Outcome::write(state & !RESET, Errno::CONNRESET.result()));
    } else if state & (WRITER_GONE | READER_GONE) != 0 {
        out.push(Outcome::read(0));
    } else if state & (READER_NONBLOCKING | READER_TIMED) != 0 {
        out.push(Outcome::read(Errno::AGAIN.result()));
    }
}

/// Puts up to `args[0]` bytes: the result is how many.
fn write(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let count = (CAPACITY - (state & QUEUED)).min(args[0]);
    if state & (WRITER_GONE | READER_GONE) != 0 {
        out.push(Outcome::read(Errno::PIPE.result()));
    } else if args[0] == 0 {
        out.push(Outcome::read(0));
    } else if count > 0 {
        out.push(Outcome::write(state + count, count));
    } else if state & (WRITER_NONBLOCKING | WRITER_TIMED) != 0 {
        out.push(Outcome::read(Errno::AGAIN.result()));
    }
}

/// Sets the flags `args[0]` and clears the flags `args[1]`: the result is the number of bytes queued.
fn change(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write((state | args[0]) & !args[1], state & QUEUED));
}

/// Tells of a reset, once.
fn take_reset(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state & RESET == 0 { Outcome::read(0) } else { Outcome::write(state & !RESET, 1) });
}

impl Direction {
    fn new(name: String, site: Site) -> Self {
        Direction { state: Object::new(0, site).named(name), bytes: Mutex::default() }
    }

    fn change(&self, call: Call<'_>, step: &'static Step, set: u64, clear: u64) -> Sys<u64> {
        Ok(call.act(&self.state, step, [set, clear])?)
    }
}

impl Connection {
    /// The connection that got `ticket` at the socket called `name`.
    pub(crate) fn new(name: &str, ticket: u64, site: Site) -> Self {
        let name = format!("connection {} to {name}", ticket + 1);
        Connection {
            to_server: Direction::new(format!("{name}, in"), site),
            to_client: Direction::new(format!("{name}, out"), site),
        }
    }

    /// Stands in for socketpair(2).
    pub(crate) fn pair(call: Call<'_>) -> [Endpoint; 2] {
        let connection = Arc::new(Connection {
            to_server: Direction::new("pair, first to second".into(), call.site()),
            to_client: Direction::new("pair, second to first".into(), call.site()),
        });
        [Side::Client, Side::Server].map(|side| Endpoint::new(call, connection.clone(), side, None, None))
    }

    fn incoming(&self, side: Side) -> &Direction {
        match side {
            Side::Client => &self.to_client,
            Side::Server => &self.to_server,
        }
    }

    fn outgoing(&self, side: Side) -> &Direction {
        match side {
            Side::Client => &self.to_server,
            Side::Server => &self.to_client,
        }
    }

    /// The listener is closed before anybody accepted: the client finds a reset.
    pub(crate) fn refuse(&self, call: Call<'_>) -> Sys<()> {
        self.close(call, Side::Server, RESET)
    }

    /// Closes one end. Data that it has not read makes a reset of the end of what it wrote.
    fn close(&self, call: Call<'_>, side: Side, reset: u64) -> Sys<()> {
        static CLOSE: Step = Step::new("UnixStream", "close", change).role(Role::Signal);
        let unread = self.incoming(side).change(call, &CLOSE, READER_GONE, 0)?;
        let reset = if unread > 0 { RESET } else { reset };
        self.outgoing(side).change(call, &CLOSE, WRITER_GONE | reset, 0)?;
        Ok(())
    }
}

impl Endpoint {
    /// One end, with its names.
    pub(crate) fn new(
        call: Call<'_>,
        connection: Arc<Connection>,
        side: Side,
        local: Option<SocketAddr>,
        peer: Option<SocketAddr>,
    ) -> Self {
        Endpoint {
            execution: call.execution(),
            site: call.site(),
            connection,
            side,
            local,
            peer,
            descriptors: Descriptors::new(call.site()),
            timeouts: Mutex::default(),
            timed_out: Mutex::default(),
        }
    }

    /// The execution it belongs to.
    pub(crate) fn execution(&self) -> u64 {
        self.execution
    }

    /// Where it was made.
    pub(crate) fn site(&self) -> Site {
        self.site
    }

    /// Its own address, if it has one.
    pub(crate) fn local(&self) -> Option<&SocketAddr> {
        self.local.as_ref()
    }

    /// The other end's address, if it has one.
    pub(crate) fn peer(&self) -> Option<&SocketAddr> {
        self.peer.as_ref()
    }

    /// Stands in for dup(2).
    pub(crate) fn dup(&self, call: Call<'_>) -> Sys<()> {
        self.descriptors.add(call)
    }

    /// Stands in for close(2).
    pub(crate) fn close(&self, call: Call<'_>) -> Sys<()> {
        if self.descriptors.close(call)? { self.connection.close(call, self.side, 0) } else { Ok(()) }
    }

    /// Stands in for recv(2).
    pub(crate) fn read(&self, call: Call<'_>, buffer: &mut [u8]) -> Sys<usize> {
        static READ: Step = Step::new("UnixStream", "read", read).role(Role::Wait);
        let direction = self.connection.incoming(self.side);
        let wanted = (buffer.len() as u64).min(QUEUED);
        let count = self.transfer(call, direction, &READ, wanted, Shut::Read)? as usize;
        let mut bytes = direction.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, byte) in buffer.iter_mut().zip(bytes.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    /// Stands in for send(2), which waits until all is queued unless it is told not to wait.
    pub(crate) fn write(&self, call: Call<'_>, data: &[u8]) -> Sys<usize> {
        static WRITE: Step = Step::new("UnixStream", "write", write).role(Role::Signal);
        let direction = self.connection.outgoing(self.side);
        let mut written = 0;
        loop {
            let rest = &data[written..];
            let wanted = (rest.len() as u64).min(QUEUED);
            match self.transfer(call, direction, &WRITE, wanted, Shut::Write) {
                Ok(count) => {
                    let mut bytes = direction.bytes.lock().unwrap_or_else(PoisonError::into_inner);
                    bytes.extend(&rest[..count as usize]);
                    written += count as usize;
                }
                Err(Halt::Errno(_)) if written > 0 => return Ok(written),
                Err(halt) => return Err(halt),
            }
            if written == data.len() {
                return Ok(written);
            }
        }
    }

    /// Stands in for shutdown(2), one way.
    pub(crate) fn shutdown(&self, call: Call<'_>, way: Shut) -> Sys<()> {
        static SHUTDOWN: Step = Step::new("UnixStream", "shutdown", change).role(Role::Signal);
        match way {
            Shut::Read => self.connection.incoming(self.side).change(call, &SHUTDOWN, READER_GONE, 0)?,
            Shut::Write => self.connection.outgoing(self.side).change(call, &SHUTDOWN, WRITER_GONE, 0)?,
        };
        Ok(())
    }

    /// Sets O_NONBLOCK.
    pub(crate) fn set_nonblocking(&self, call: Call<'_>, nonblocking: bool) -> Sys<()> {
        static SET: Step = Step::new("UnixStream", "set_nonblocking", change);
        self.set(call, &SET, Shut::Read, READER_NONBLOCKING, nonblocking)?;
        self.set(call, &SET, Shut::Write, WRITER_NONBLOCKING, nonblocking)
    }

    /// Sets SO_RCVTIMEO or SO_SNDTIMEO. How long does not matter: others may take any time.
    pub(crate) fn set_timeout(&self, call: Call<'_>, way: Shut, timeout: Option<Duration>) -> Sys<()> {
        static SET_READ: Step = Step::new("UnixStream", "set_read_timeout", change);
        static SET_WRITE: Step = Step::new("UnixStream", "set_write_timeout", change);
        match way {
            Shut::Read => self.set(call, &SET_READ, way, READER_TIMED, timeout.is_some())?,
            Shut::Write => self.set(call, &SET_WRITE, way, WRITER_TIMED, timeout.is_some())?,
        }
        self.timeouts.lock().unwrap_or_else(PoisonError::into_inner)[way as usize] = timeout;
        Ok(())
    }

    /// What SO_RCVTIMEO or SO_SNDTIMEO is.
    pub(crate) fn timeout(&self, way: Shut) -> Option<Duration> {
        self.timeouts.lock().unwrap_or_else(PoisonError::into_inner)[way as usize]
    }

    /// Stands in for SO_ERROR.
    pub(crate) fn take_error(&self, call: Call<'_>) -> Sys<Option<Errno>> {
        static TAKE: Step = Step::new("UnixStream", "take_error", take_reset);
        let reset = call.act(&self.connection.incoming(self.side).state, &TAKE, [0, 0])?;
        Ok((reset != 0).then_some(Errno::CONNRESET))
    }

    fn set(&self, call: Call<'_>, step: &'static Step, way: Shut, flag: u64, on: bool) -> Sys<()> {
        let direction = match way {
            Shut::Read => self.connection.incoming(self.side),
            Shut::Write => self.connection.outgoing(self.side),
        };
        let (set, clear) = if on { (flag, 0) } else { (0, flag) };
        direction.change(call, step, set, clear)?;
        Ok(())
    }

    /// Takes or puts bytes. A thread that tries again after its time was over has come round a loop: it may stay there until
    /// something that it read has changed, lest it go round for ever.
    fn transfer(&self, call: Call<'_>, direction: &Direction, step: &'static Step, wanted: u64, way: Shut) -> Sys<u64> {
        let patience = if self.timeout(way).is_some() { Patience::Limited } else { Patience::Unlimited };
        let timed = (call.thread(), way);
        if patience == Patience::Limited && self.timed_out().contains(&timed) {
            call.close_iteration()?;
        }
        let result = Errno::check(call.act_within(&direction.state, step, [wanted, 0], patience)?);
        let mut timed_out = self.timed_out();
        timed_out.retain(|earlier| *earlier != timed);
        if result == Err(Errno::AGAIN) {
            timed_out.push(timed);
        }
        Ok(result?)
    }

    fn timed_out(&self) -> MutexGuard<'_, Vec<(ThreadId, Shut)>> {
        self.timed_out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
