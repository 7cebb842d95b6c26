//! Connected sockets: read(2), write(2), shutdown(2), close(2).
//!
//! A connection is two [`Direction`]s, which have nothing to do with each other but when an end is closed.

use std::os::unix::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dpor::ThreadId;

use super::call::{Access, Call, Halt, Patience, Step, Sys};
use super::descriptor::Descriptors;
use super::direction::{Direction, Flags, changes};
use super::errno::Errno;
use crate::model::event::Site;

/// A connection, by the two ends that share it.
#[derive(Debug)]
pub(crate) struct Connection {
    to_server: Direction,
    to_client: Direction,
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

impl Connection {
    /// The connection that got `ticket` at the socket called `name`.
    pub(crate) fn new(name: &str, ticket: u64, site: Site) -> Self {
        let name = format!("connection {} to {name}", ticket + 1);
        Connection {
            to_server: Direction::new(&format!("{name}, in"), site),
            to_client: Direction::new(&format!("{name}, out"), site),
        }
    }

    /// Stands in for socketpair(2).
    pub(crate) fn pair(call: Call<'_>) -> [Endpoint; 2] {
        let connection = Arc::new(Connection {
            to_server: Direction::new("pair, first to second", call.site()),
            to_client: Direction::new("pair, second to first", call.site()),
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
        self.close(call, Side::Server, Flags::RESET)
    }

    /// Closes one end. Data that it has not read makes a reset of the end of what it wrote.
    fn close(&self, call: Call<'_>, side: Side, reset: Flags) -> Sys<()> {
        static CLOSE: Step = changes("close");
        let unread = self.incoming(side).change(call, &CLOSE, Flags::READER_GONE, Flags::NONE)?;
        let reset = if unread > 0 { Flags::RESET } else { reset };
        self.outgoing(side).change(call, &CLOSE, Flags::WRITER_GONE.and(reset), Flags::NONE)?;
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
        if self.descriptors.close(call)? { self.connection.close(call, self.side, Flags::NONE) } else { Ok(()) }
    }

    /// Stands in for recv(2).
    pub(crate) fn read(&self, call: Call<'_>, buffer: &mut [u8]) -> Sys<usize> {
        let direction = self.direction(Shut::Read);
        self.timed(call, Shut::Read, |patience| direction.read(call, buffer, patience))
    }

    /// Stands in for send(2), which waits until all is queued unless it is told not to wait.
    pub(crate) fn write(&self, call: Call<'_>, access: Access, data: &[u8]) -> Sys<usize> {
        let access = if self.descriptors.cloned() { Access::Shared } else { access };
        let direction = self.direction(Shut::Write);
        let mut written = 0;
        loop {
            let rest = &data[written..];
            match self.timed(call, Shut::Write, |patience| direction.write(call, access, rest, patience)) {
                Ok(count) => written += count,
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
        static SHUTDOWN: Step = changes("shutdown");
        let gone = match way {
            Shut::Read => Flags::READER_GONE,
            Shut::Write => Flags::WRITER_GONE,
        };
        self.set(call, &SHUTDOWN, way, gone, true)
    }

    /// Sets O_NONBLOCK.
    pub(crate) fn set_nonblocking(&self, call: Call<'_>, nonblocking: bool) -> Sys<()> {
        static SET: Step = changes("set_nonblocking");
        self.set(call, &SET, Shut::Read, Flags::READER_NONBLOCKING, nonblocking)?;
        self.set(call, &SET, Shut::Write, Flags::WRITER_NONBLOCKING, nonblocking)
    }

    /// Sets SO_RCVTIMEO or SO_SNDTIMEO. How long does not matter: others may take any time.
    pub(crate) fn set_timeout(&self, call: Call<'_>, way: Shut, timeout: Option<Duration>) -> Sys<()> {
        static SET_READ: Step = changes("set_read_timeout");
        static SET_WRITE: Step = changes("set_write_timeout");
        self.timeouts.lock().unwrap_or_else(PoisonError::into_inner)[way as usize] = timeout;
        match way {
            Shut::Read => self.set(call, &SET_READ, way, Flags::READER_TIMED, timeout.is_some()),
            Shut::Write => self.set(call, &SET_WRITE, way, Flags::WRITER_TIMED, timeout.is_some()),
        }
    }

    /// What SO_RCVTIMEO or SO_SNDTIMEO is.
    pub(crate) fn timeout(&self, way: Shut) -> Option<Duration> {
        self.timeouts.lock().unwrap_or_else(PoisonError::into_inner)[way as usize]
    }

    /// Stands in for SO_ERROR.
    pub(crate) fn take_error(&self, call: Call<'_>) -> Sys<Option<Errno>> {
        self.direction(Shut::Read).take_reset(call)
    }

    fn direction(&self, way: Shut) -> &Direction {
        match way {
            Shut::Read => self.connection.incoming(self.side),
            Shut::Write => self.connection.outgoing(self.side),
        }
    }

    fn set(&self, call: Call<'_>, step: &'static Step, way: Shut, flag: Flags, on: bool) -> Sys<()> {
        let (set, clear) = if on { (flag, Flags::NONE) } else { (Flags::NONE, flag) };
        self.direction(way).change(call, step, set, clear)?;
        Ok(())
    }

    /// Takes or puts bytes, for as long as the timeout says. A thread that tries again after its time was over has come round
    /// a loop: it may stay there until something that it read has changed, lest it go round for ever.
    fn timed(&self, call: Call<'_>, way: Shut, transfer: impl FnOnce(Patience) -> Sys<usize>) -> Sys<usize> {
        let patience = if self.timeout(way).is_some() { Patience::Limited } else { Patience::Unlimited };
        let me = (call.thread(), way);
        if patience == Patience::Limited && self.timed_out().contains(&me) {
            call.close_iteration()?;
        }
        let result = transfer(patience);
        let mut timed_out = self.timed_out();
        timed_out.retain(|earlier| *earlier != me);
        if result == Err(Errno::AGAIN.into()) {
            timed_out.push(me);
        }
        result
    }

    fn timed_out(&self) -> MutexGuard<'_, Vec<(ThreadId, Shut)>> {
        self.timed_out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
