//! Connected sockets: read(2), write(2), shutdown(2), close(2).
//!
//! A connection is two [`Direction`]s, which have nothing to do with each other but when an end is closed.

use std::sync::Arc;
use std::time::Duration;

use super::call::{Access, Call, Halt, Protocol, Step, Sys};
use super::descriptor::Descriptors;
use super::direction::{Direction, Flags, Written, changes};
use super::errno::Errno;
use super::name::Name;
use super::options::Options;
use super::ports::Claim;
use super::timeouts::{Shut, Timeouts};
use crate::model::event::Site;

/// A connection, by the two ends that share it.
#[derive(Debug)]
pub(crate) struct Connection {
    protocol: Protocol,
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
    names: Names,
    descriptors: Descriptors,
    timeouts: Timeouts,
    /// Of TCP.
    pub(crate) options: Options,
    /// The port that a TCP client has.
    claim: Option<Claim>,
}

/// The addresses of an end, as far as there are any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Its own.
    pub(crate) local: Option<Name>,
    /// The other end's.
    pub(crate) peer: Option<Name>,
}

impl Connection {
    /// The connection that got `ticket` at the socket called `name`.
    pub(crate) fn new(protocol: Protocol, name: &str, ticket: u64, site: Site) -> Self {
        let number = ticket + 1;
        Connection {
            protocol,
            to_server: Direction::new(protocol, format_args!("connection {number} to {name}, in"), site),
            to_client: Direction::new(protocol, format_args!("connection {number} to {name}, out"), site),
        }
    }

    /// Stands in for socketpair(2).
    pub(crate) fn pair(call: Call<'_>) -> [Endpoint; 2] {
        let connection = Arc::new(Connection {
            protocol: Protocol::Unix,
            to_server: Direction::new(Protocol::Unix, format_args!("pair, first to second"), call.site()),
            to_client: Direction::new(Protocol::Unix, format_args!("pair, second to first"), call.site()),
        });
        [Side::Client, Side::Server].map(|side| Endpoint::new(call, connection.clone(), side, Names::default(), None))
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
        let incoming = self.incoming(side);
        let unread = incoming.change(call, &CLOSE, Flags::READER_GONE, Flags::NONE)?.queued() > 0;
        let reset = if unread { Flags::RESET } else { reset };
        self.outgoing(side).change(call, &CLOSE, Flags::WRITER_GONE.and(reset), Flags::NONE)?;
        if self.protocol == Protocol::Tcp && reset == Flags::RESET {
            // Whoever finds this finds the reset. A write that comes earlier is one of those that are still underway.
            incoming.change(call, &CLOSE, Flags::BROKEN, Flags::BROKEN_UNTOLD)?;
        }
        Ok(())
    }
}

impl Endpoint {
    /// One end, with its names.
    pub(crate) fn new(
        call: Call<'_>,
        connection: Arc<Connection>,
        side: Side,
        names: Names,
        claim: Option<Claim>,
    ) -> Self {
        Endpoint {
            execution: call.execution(),
            site: call.site(),
            connection,
            side,
            names,
            descriptors: Descriptors::new(call.site()),
            timeouts: Timeouts::default(),
            options: Options::new(call.site()),
            claim,
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

    /// The addresses.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Stands in for dup(2).
    pub(crate) fn dup(&self, call: Call<'_>) -> Sys<()> {
        self.descriptors.add(call)
    }

    /// Stands in for close(2).
    pub(crate) fn close(&self, call: Call<'_>) -> Sys<()> {
        let call = self.over(call);
        if !self.descriptors.close(call)? {
            return Ok(());
        }
        self.connection.close(call, self.side, Flags::NONE)?;
        self.claim.as_ref().map_or(Ok(()), |claim| claim.release(call))
    }

    /// Stands in for recv(2).
    pub(crate) fn read(&self, call: Call<'_>, buffer: &mut [u8]) -> Sys<usize> {
        let call = self.over(call);
        let direction = self.direction(Shut::Read);
        self.timeouts.during(call, Shut::Read, |patience| direction.read(call, buffer, patience))
    }

    /// Stands in for recv(2) with MSG_PEEK.
    pub(crate) fn peek(&self, call: Call<'_>, buffer: &mut [u8]) -> Sys<usize> {
        let call = self.over(call);
        let direction = self.direction(Shut::Read);
        self.timeouts.during(call, Shut::Read, |patience| direction.peek(call, buffer, patience))
    }

    /// Stands in for send(2), which waits until all is queued unless it is told not to wait.
    pub(crate) fn write(&self, call: Call<'_>, access: Access, data: &[u8]) -> Sys<usize> {
        let call = self.over(call);
        let access = if self.descriptors.cloned() { Access::Shared } else { access };
        let direction = self.direction(Shut::Write);
        let mut written = 0;
        loop {
            let rest = &data[written..];
            match self.timeouts.during(call, Shut::Write, |patience| direction.write(call, access, rest, patience)) {
                Ok(Written::Bytes(count)) => written += count,
                Ok(Written::Over) if written > 0 => return Ok(written),
                // The error is the socket's: who reads may have been told already.
                Ok(Written::Over) => {
                    let reset = self.direction(Shut::Read).take_reset(call)?;
                    return Err(reset.unwrap_or(Errno::PIPE).into());
                }
                Err(Halt::Errno(_)) if written > 0 => return Ok(written),
                Err(halt) => return Err(halt),
            }
            if written == data.len() {
                return Ok(written);
            }
        }
    }

    /// Stands in for shutdown(2), of one or both ways.
    pub(crate) fn shutdown(&self, call: Call<'_>, read: bool, write: bool) -> Sys<()> {
        static SHUTDOWN: Step = changes("shutdown");
        let call = self.over(call);
        let (incoming, outgoing) = (self.direction(Shut::Read), self.direction(Shut::Write));
        let only_if = |condition, flag| if condition { flag } else { Flags::NONE };
        if self.connection.protocol == Protocol::Unix {
            if read {
                incoming.change(call, &SHUTDOWN, Flags::READER_GONE, Flags::NONE)?;
            }
            if write {
                outgoing.change(call, &SHUTDOWN, Flags::WRITER_GONE, Flags::NONE)?;
            }
            return Ok(());
        }
        // Both are looked at, as there may be no connection any more.
        let at_reader = only_if(read, Flags::READER_SHUT).and(only_if(write, Flags::READER_FINISHED));
        let before_in = incoming.change(call, &SHUTDOWN, at_reader, Flags::NONE)?;
        let before_out = outgoing.change(call, &SHUTDOWN, only_if(write, Flags::WRITER_GONE), Flags::NONE)?;
        if before_in.broken() || before_out.broken() || (before_in.writer_gone() && before_out.writer_gone()) {
            return Err(Errno::NOTCONN.into());
        }
        Ok(())
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
        self.timeouts.set(way, timeout);
        match way {
            Shut::Read => self.set(call, &SET_READ, way, Flags::READER_TIMED, timeout.is_some()),
            Shut::Write => self.set(call, &SET_WRITE, way, Flags::WRITER_TIMED, timeout.is_some()),
        }
    }

    /// What SO_RCVTIMEO or SO_SNDTIMEO is.
    pub(crate) fn timeout(&self, way: Shut) -> Option<Duration> {
        self.timeouts.get(way)
    }

    /// Stands in for SO_ERROR.
    pub(crate) fn take_error(&self, call: Call<'_>) -> Sys<Option<Errno>> {
        let call = self.over(call);
        match self.direction(Shut::Read).take_reset(call)? {
            None if self.connection.protocol == Protocol::Tcp => self.direction(Shut::Write).take_broken(call),
            reset => Ok(reset),
        }
    }

    fn over<'a>(&self, call: Call<'a>) -> Call<'a> {
        call.over(self.connection.protocol)
    }

    fn direction(&self, way: Shut) -> &Direction {
        match way {
            Shut::Read => self.connection.incoming(self.side),
            Shut::Write => self.connection.outgoing(self.side),
        }
    }

    fn set(&self, call: Call<'_>, step: &'static Step, way: Shut, flag: Flags, on: bool) -> Sys<()> {
        let (set, clear) = if on { (flag, Flags::NONE) } else { (Flags::NONE, flag) };
        self.direction(way).change(self.over(call), step, set, clear)?;
        Ok(())
    }
}
