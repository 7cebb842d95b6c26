//! Listening sockets: bind(2), listen(2), connect(2), accept(2).
//!
//! A socket is bound in one step, which makes the path, and listens after another: in between, and again after it is closed,
//! the path is there and `connect` is refused.
//!
//! A connection takes a *ticket* at the listening socket, and arrives at the place in the queue with the ticket's number;
//! `accept` takes the next place and waits until somebody has arrived there. So those who connect meet each other (in which
//! order?), those who accept meet each other, and the two sides meet only where one waits for the other.

use std::collections::HashMap;
use std::os::unix::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dpor::{Outcome, Outcomes, Role, ThreadId};

use super::call::{Call, Object, Step, Sys};
use super::connection::{Connection, Endpoint, Side};
use super::descriptor::Descriptors;
use super::entry::{Entry, Kind, Place, found, inode, look, made, make};
use super::errno::Errno;
use super::inode::Inode;
use crate::model::event::Site;

/// The socket that was bound to a socket file.
#[derive(Debug)]
pub(crate) struct Socket {
    address: SocketAddr,
    name: String,
    /// Whether it listens, and the next ticket.
    state: Object,
    /// The next place of which somebody accepts, and O_NONBLOCK.
    queue: Object,
    /// By ticket. A place is made by whoever needs it first.
    places: Mutex<HashMap<u64, Arc<Waiting>>>,
}

/// A place in the queue.
#[derive(Debug)]
struct Waiting {
    /// Whether the connection has arrived; it stays 1.
    arrived: Object,
    /// Put there before it arrives.
    connection: OnceLock<Arc<Connection>>,
}

/// A listening socket as its descriptors share it.
#[derive(Debug)]
pub(crate) struct Listener {
    execution: u64,
    site: Site,
    socket: Arc<Socket>,
    descriptors: Descriptors,
}

/// The lower two bits of the socket's state; above them, the next ticket.
const PHASE: u64 = 3;
const BOUND: u64 = 0;
const LISTENING: u64 = 1;
const CLOSED: u64 = 2;
/// In the queue's state, above it the next place.
const NONBLOCKING: u64 = 1;
/// How many connections can wait: Linux lets one more wait than `listen` was told, and std tells it 4096 at most.
const BACKLOG: u64 = 4097;

/// From bound to listening.
fn listen(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == BOUND {
        out.push(Outcome::write(LISTENING, 0));
    }
}

/// The socket is gone: the result is the number of tickets given out.
fn close(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state & PHASE != CLOSED {
        out.push(Outcome::write(CLOSED, state >> 2));
    }
}

/// Takes a ticket if somebody listens: the result is its number.
fn ticket(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(match state & PHASE {
        LISTENING => Outcome::write(state + (1 << 2), state >> 2),
        _ => Outcome::read(Errno::CONNREFUSED.result()),
    });
}

/// What a report says of it.
fn connected(result: u64) -> String {
    Errno::check(result).map_or_else(|errno| errno.to_string(), |ticket| format!("connection {}", ticket + 1))
}

/// Takes the next place in the queue: the result is the state before. A non-blocking socket's only looks.
fn next_place(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state & NONBLOCKING == 0 { Outcome::write(state + 2, state) } else { Outcome::read(state) });
}

/// Takes the next place if the state still is `args[0]`: the result is the state before.
fn this_place(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == args[0] { Outcome::write(state + 2, state) } else { Outcome::read(state) });
}

/// O_NONBLOCK becomes `args[0]`.
fn set_nonblocking(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state & !NONBLOCKING | args[0], 0));
}

/// The connection is there.
fn arrive(_: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(1, 0));
}

/// Waits for the connection.
fn meet(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == 1 {
        out.push(Outcome::read(0));
    }
}

impl Socket {
    fn new(call: Call<'_>, place: &Place, address: SocketAddr) -> Self {
        let site = call.site();
        let name = format!("{} of {}", super::path::shown(&place.path).display(), call.thread_name());
        Socket {
            address,
            state: Object::new(BOUND, site).named(name.as_str()),
            queue: Object::new(0, site).named(format!("queue of {name}")),
            places: Mutex::default(),
            name,
        }
    }

    fn place(&self, ticket: u64, site: Site) -> Arc<Waiting> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let arrived = Object::new(0, site).named(format!("connection {} to {}", ticket + 1, self.name));
            Arc::new(Waiting { arrived, connection: OnceLock::new() })
        };
        places.entry(ticket).or_insert_with(new).clone()
    }

    /// The connection with this ticket, once it has arrived.
    fn wait_for(&self, call: Call<'_>, step: &'static Step, ticket: u64) -> Sys<Arc<Connection>> {
        let place = self.place(ticket, call.site());
        call.act(&place.arrived, step, [0, 0])?;
        Ok(place.connection.get().expect("it has arrived").clone())
    }

    /// connect(2) once the path has led here.
    fn connect(&self, call: Call<'_>) -> Sys<Arc<Connection>> {
        static CONNECT: Step = Step::new("UnixStream", "connect", ticket).shows(connected);
        static ARRIVE: Step = Step::new("UnixStream", "connect", arrive).role(Role::Signal);
        let ticket = Errno::check(call.act(&self.state, &CONNECT, [0, 0])?)?;
        if ticket >= BACKLOG {
            call.limit("4097 connections to one listener");
        }
        let connection = Arc::new(Connection::new(&self.name, ticket, call.site()));
        let place = self.place(ticket, call.site());
        place.connection.get_or_init(|| connection.clone());
        call.act(&place.arrived, &ARRIVE, [0, 0])?;
        Ok(connection)
    }
}

/// Stands in for socket(2) and connect(2) to a path. The time between finding the socket file and arriving at the socket is
/// there in the kernel, too.
pub(crate) fn connect(call: Call<'_>, path: &Path) -> Sys<Endpoint> {
    static LOOKUP: Step = Step::new("UnixStream", "connect", look).shows(found);
    let entry = Place::find(call, path)?.act(call, &LOOKUP, Entry::ABSENT)?;
    if entry == Entry::ABSENT {
        return Err(Errno::NOENT.into());
    }
    let inode = inode(call, entry)?;
    let socket = inode.listener().ok_or(Errno::CONNREFUSED)?;
    let connection = socket.connect(call)?;
    Ok(Endpoint::new(call, connection, Side::Client, None, Some(socket.address.clone())))
}

impl Listener {
    /// Stands in for socket(2), bind(2) and listen(2).
    pub(crate) fn bind(call: Call<'_>, path: &Path, address: SocketAddr) -> Sys<Arc<Self>> {
        static BIND: Step = Step::new("UnixListener", "bind", make).shows(made);
        static LISTEN: Step = Step::new("UnixListener", "listen", listen);
        let place = Place::find(call, path)?;
        let number = call.fresh()?;
        let socket = Arc::new(Socket::new(call, &place, address));
        let inode = Arc::new(Inode::socket(number, &place.path, socket.clone(), call.site()));
        call.tables(|tables| tables.add_inode(inode))?;
        if place.act(call, &BIND, Entry::new(Kind::Socket, number))? != Entry::ABSENT {
            return Err(Errno::ADDRINUSE.into());
        }
        call.act(&socket.state, &LISTEN, [0, 0])?;
        Ok(Arc::new(Listener {
            execution: call.execution(),
            site: call.site(),
            socket,
            descriptors: Descriptors::new(call.site()),
        }))
    }

    /// The execution it belongs to.
    pub(crate) fn execution(&self) -> u64 {
        self.execution
    }

    /// Where it was made.
    pub(crate) fn site(&self) -> Site {
        self.site
    }

    /// The address it was bound to.
    pub(crate) fn address(&self) -> &SocketAddr {
        &self.socket.address
    }

    /// Stands in for dup(2).
    pub(crate) fn dup(&self, call: Call<'_>) -> Sys<()> {
        self.descriptors.add(call)
    }

    /// Sets O_NONBLOCK.
    pub(crate) fn set_nonblocking(&self, call: Call<'_>, nonblocking: bool) -> Sys<()> {
        static SET: Step = Step::new("UnixListener", "set_nonblocking", set_nonblocking);
        call.act(&self.socket.queue, &SET, [u64::from(nonblocking), 0])?;
        Ok(())
    }

    /// Stands in for accept(2).
    pub(crate) fn accept(&self, call: Call<'_>) -> Sys<Endpoint> {
        static NEXT: Step = Step::new("UnixListener", "accept", next_place);
        static MEET: Step = Step::new("UnixListener", "accept", meet).role(Role::Wait);
        let before = call.act(&self.socket.queue, &NEXT, [0, 0])?;
        let ticket = if before & NONBLOCKING == 0 { before >> 1 } else { self.ticket_given_out(call, before)? };
        let connection = self.socket.wait_for(call, &MEET, ticket)?;
        Ok(Endpoint::new(call, connection, Side::Server, Some(self.socket.address.clone()), None))
    }

    /// Takes the next place in the queue of a non-blocking socket if somebody has a ticket for it, else EAGAIN.
    fn ticket_given_out(&self, call: Call<'_>, mut queue: u64) -> Sys<u64> {
        static ANYBODY: Step = Step::new("UnixListener", "accept", look);
        static TAKE: Step = Step::new("UnixListener", "accept", this_place);
        loop {
            let tickets = call.act(&self.socket.state, &ANYBODY, [0, 0])? >> 2;
            if tickets <= queue >> 1 {
                return Err(Errno::AGAIN.into());
            }
            let before = call.act(&self.socket.queue, &TAKE, [queue, 0])?;
            if before == queue {
                return Ok(queue >> 1);
            }
            queue = before;
        }
    }

    /// Stands in for close(2): connections that nobody accepted are reset; the path stays.
    pub(crate) fn close(&self, call: Call<'_>) -> Sys<()> {
        static CLOSE: Step = Step::new("UnixListener", "close", close);
        static ACCEPTED: Step = Step::new("UnixListener", "close", look);
        static MEET: Step = Step::new("UnixListener", "close", meet).role(Role::Wait);
        if !self.descriptors.close(call)? {
            return Ok(());
        }
        let tickets = call.act(&self.socket.state, &CLOSE, [0, 0])?;
        if tickets == 0 {
            return Ok(());
        }
        let accepted = call.act(&self.socket.queue, &ACCEPTED, [0, 0])? >> 1;
        for ticket in accepted..tickets {
            self.socket.wait_for(call, &MEET, ticket)?.refuse(call)?;
        }
        Ok(())
    }
}
