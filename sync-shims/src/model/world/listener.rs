//! Listening sockets: bind(2), listen(2), connect(2), accept(2).
//!
//! A socket is bound in one step, which makes the path, and listens after another: in between, and again after it is closed,
//! the path is there and `connect` is refused.
//!
//! TCP has no such time: nobody can tell a port at which nobody listens yet from one that nobody has.
//!
//! A connection takes a *ticket* at the listening socket, and arrives at the place in the queue with the ticket's number;
//! `accept` takes the next place and waits until somebody has arrived there. So those who connect meet each other (in which
//! order?), those who accept meet each other, and the two sides meet only where one waits for the other. A backlog that
//! listen(2) has made smaller is such a place, too: then those who accept give back what they took.

use std::collections::HashMap;
use std::net;
use std::os::unix::net as unix;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dpor::{Outcome, Outcomes, Role, ThreadId};

use super::call::{Call, Halt, Object, Protocol, Step, Sys};
use super::connection::{Connection, Endpoint, Names, Side};
use super::descriptor::Descriptors;
use super::entry::{Entry, Kind, Place, found, inode, look, made, make, release};
use super::errno::Errno;
use super::inode::{Bound, Inode};
use super::name::{Name, SocketKind, Spot};
use super::options::Options;
use super::ports::{Claim, listener_number, lookup};
use super::process::{masked, next_call, whole};
use crate::model::event::Site;

/// A socket that listens, or is going to.
#[derive(Debug)]
pub(crate) struct Socket {
    protocol: Protocol,
    address: Name,
    name: String,
    /// Whether it listens, how many connections may wait, and the next ticket.
    state: Object,
    /// The next place of which somebody accepts, and flags.
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
    arrival: OnceLock<Arrival>,
}

/// What arrives.
#[derive(Clone, Debug)]
struct Arrival {
    connection: Arc<Connection>,
    /// The addresses of the server's end.
    names: Names,
}

/// A listening socket as its descriptors share it.
#[derive(Debug)]
pub(crate) struct Listener {
    execution: u64,
    site: Site,
    socket: Arc<Socket>,
    descriptors: Descriptors,
    home: Home,
    /// Of TCP.
    pub(crate) options: Options,
}

/// What becomes of the socket's name when it is closed.
#[derive(Debug)]
enum Home {
    /// A path stays.
    Path,
    /// An abstract name goes away, whose entry is this.
    Abstract(Place, Entry),
    /// A port is given up.
    Port(Claim),
}

/// The lowest bits of the socket's state.
const PHASE: u64 = 3;
const BOUND: u64 = 0;
const LISTENING: u64 = 1;
const CLOSED: u64 = 2;
/// Above them, how many connections may wait if that was said, how many of them were accepted since, and the next ticket.
const LIMIT_SHIFT: u32 = 2;
const LIMIT_MASK: u64 = (1 << 13) - 1;
const FREED_SHIFT: u32 = 15;
const COUNT_MASK: u64 = (1 << 20) - 1;
const TICKET_SHIFT: u32 = 35;
/// The result of a step that finds as many connections waiting as may.
const FULL: u64 = 1 << 62;
/// In the queue's state, above them the next place.
const NONBLOCKING: u64 = 1;
const LIMITED: u64 = 2;
const PLACE_SHIFT: u32 = 2;
/// How many connections can wait: Linux lets one more wait than `listen` was told. std tells it 4096 at most for a path, and
/// 128 for a port.
const BACKLOG: u64 = 4097;
const TCP_BACKLOG: u64 = 129;

/// From bound to listening.
fn listen(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == BOUND {
        out.push(Outcome::write(LISTENING, 0));
    }
}

/// `args[0]` connections may wait from now on. If nobody said so before, `args[1]` were accepted so far.
fn limit(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state & PHASE == LISTENING {
        let first = state >> LIMIT_SHIFT & LIMIT_MASK == 0;
        let freed = if first { args[1] << FREED_SHIFT } else { 0 };
        out.push(Outcome::write((state & !(LIMIT_MASK << LIMIT_SHIFT) | args[0] << LIMIT_SHIFT) + freed, 0));
    }
}

/// The socket is gone: the result is the number of tickets given out.
fn close(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state & PHASE != CLOSED {
        out.push(Outcome::write(CLOSED, state >> TICKET_SHIFT));
    }
}

/// Whether as many connections wait as may.
fn full(state: u64) -> bool {
    let limit = state >> LIMIT_SHIFT & LIMIT_MASK;
    limit != 0 && (state >> TICKET_SHIFT) - (state >> FREED_SHIFT & COUNT_MASK) >= limit
}

/// Takes a ticket if somebody listens: the result is its number, or [`FULL`]. It never waits, so that those who are refused
/// only look.
fn ticket(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state & PHASE != LISTENING {
        Outcome::read(Errno::CONNREFUSED.result())
    } else if full(state) {
        Outcome::read(FULL)
    } else {
        Outcome::write(state + (1 << TICKET_SHIFT), state >> TICKET_SHIFT)
    });
}

/// As [`ticket`], but waits until there is room.
fn ticket_when_there_is_room(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if state & PHASE == CLOSED || (state & PHASE == LISTENING && !full(state)) {
        ticket(state, args, thread, out);
    }
}

/// One that waited was accepted.
fn free(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(if state & PHASE == LISTENING { state + (1 << FREED_SHIFT) } else { state }, 0));
}

/// What a report says of a step that takes a ticket.
fn connected(result: u64) -> String {
    match Errno::check(result) {
        Ok(FULL) => "no room".into(),
        Ok(ticket) => format!("connection {}", ticket + 1),
        Err(errno) => errno.to_string(),
    }
}

/// Takes the next place in the queue: the result is the state before. A non-blocking socket's only looks.
fn next_place(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let next = state + (1 << PLACE_SHIFT);
    out.push(if state & NONBLOCKING == 0 { Outcome::write(next, state) } else { Outcome::read(state) });
}

/// Takes the next place if the state still is `args[0]`: the result is the state before.
fn this_place(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == args[0] { Outcome::write(state + (1 << PLACE_SHIFT), state) } else { Outcome::read(state) });
}

/// The flags `args[0]` become `args[1]`: the result is the state before.
fn set_flags(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state & !args[0] | args[1], state));
}

/// The connection is there.
pub(crate) fn arrive(_: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(1, 0));
}

/// Waits for the connection.
pub(crate) fn meet(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == 1 {
        out.push(Outcome::read(0));
    }
}

impl Socket {
    fn new(protocol: Protocol, name: String, address: Name, site: Site) -> Self {
        // A TCP socket is found only once it listens.
        let phase = if protocol == Protocol::Tcp { LISTENING } else { BOUND };
        Socket {
            protocol,
            address,
            state: Object::new(phase, site).named(format_args!("{name}")),
            queue: Object::new(0, site).named(format_args!("queue of {name}")),
            places: Mutex::default(),
            name,
        }
    }

    /// Whether the socket is not closed.
    pub(crate) fn is_open(&self, call: Call<'_>) -> Sys<bool> {
        static LOOK: Step = Step::new("UnixDatagram", "connect", look);
        Ok(call.act(&self.state, &LOOK, [0, 0])? & PHASE != CLOSED)
    }

    /// What reports call the socket at `place` that the running thread makes.
    fn name(call: Call<'_>, place: &str) -> String {
        format!("{place} of {}", call.thread_name())
    }

    fn place(&self, ticket: u64, site: Site) -> Arc<Waiting> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let arrived = Object::new(0, site).named(format_args!("connection {} to {}", ticket + 1, self.name));
            Arc::new(Waiting { arrived, arrival: OnceLock::new() })
        };
        places.entry(ticket).or_insert_with(new).clone()
    }

    /// The connection with this ticket, once it has arrived.
    fn wait_for(&self, call: Call<'_>, step: &'static Step, ticket: u64) -> Sys<Arrival> {
        let place = self.place(ticket, call.site());
        call.act(&place.arrived, step, [0, 0])?;
        Ok(place.arrival.get().expect("it has arrived").clone())
    }

    /// connect(2) once the name has led here; `names` makes the addresses of the server's end.
    fn connect<C>(&self, call: Call<'_>, names: impl FnOnce() -> Sys<(Names, C)>) -> Sys<(Arc<Connection>, C)> {
        static CONNECT: Step = Step::of_stream("connect", ticket).shows(connected);
        static WAIT: Step = Step::of_stream("connect", ticket_when_there_is_room).shows(connected).role(Role::Wait);
        static ARRIVE: Step = Step::of_stream("connect", arrive).role(Role::Signal);
        let mut ticket = Errno::check(call.act(&self.state, &CONNECT, [0, 0])?)?;
        if ticket == FULL {
            ticket = Errno::check(call.act(&self.state, &WAIT, [0, 0])?)?;
        }
        match self.protocol {
            Protocol::Unix if ticket >= BACKLOG => call.limit("4097 connections to one listener"),
            Protocol::Tcp if ticket >= TCP_BACKLOG => call.limit("129 connections to one TCP listener"),
            Protocol::Unix | Protocol::Tcp => {}
        }
        // Who has a ticket arrives.
        masked(call, || {
            let (names, more) = names()?;
            let connection = Arc::new(Connection::new(self.protocol, &self.name, ticket, call.site()));
            let place = self.place(ticket, call.site());
            place.arrival.get_or_init(|| Arrival { connection: connection.clone(), names });
            call.act(&place.arrived, &ARRIVE, [0, 0])?;
            Ok((connection, more))
        })
    }
}

/// Stands in for socket(2) and connect(2) of a Unix socket. The time between finding the socket file and arriving at the
/// socket is there in the kernel, too.
pub(crate) fn connect(call: Call<'_>, spot: Spot<'_>) -> Sys<Endpoint> {
    static LOOKUP: Step = Step::new("UnixStream", "connect", look).shows(found);
    let entry = spot.look_up(call, SocketKind::Stream, &LOOKUP)?;
    if entry == Entry::ABSENT {
        return Err(spot.nothing_there().into());
    }
    let inode = inode(call, entry)?;
    let socket = match inode.socket_bound() {
        Some(Bound::Listener(socket)) => socket,
        Some(Bound::Datagram(inbox)) if inbox.is_open(call)? => return Err(Errno::PROTOTYPE.into()),
        Some(Bound::Datagram(_)) | None => return Err(Errno::CONNREFUSED.into()),
    };
    let server = || Names { local: Some(socket.address.clone()), peer: None };
    let (connection, ()) = socket.connect(call, || Ok((server(), ())))?;
    let names = Names { local: None, peer: Some(socket.address.clone()) };
    Ok(Endpoint::new(call, connection, Side::Client, names, None))
}

/// Stands in for socket(2) and connect(2) of a TCP socket.
pub(crate) fn connect_tcp(call: Call<'_>, address: net::SocketAddr) -> Sys<Endpoint> {
    let call = call.over(Protocol::Tcp);
    let (socket, server) = lookup(call, address)?;
    let (connection, claim) = socket.connect(call, || {
        let claim = Claim::for_client(call, server.ip())?;
        // A listener at :: sees IPv4 addresses as IPv6 ones.
        let mapped = matches!((&socket.address, server), (Name::Inet(net::SocketAddr::V6(_)), net::SocketAddr::V4(_)));
        let shown = |address| Some(Name::Inet(if mapped { as_ipv6(address) } else { address }));
        Ok((Names { local: shown(server), peer: shown(claim.address) }, claim))
    })?;
    let names = Names { local: Some(Name::Inet(claim.address)), peer: Some(Name::Inet(server)) };
    Ok(Endpoint::new(call, connection, Side::Client, names, Some(claim)))
}

fn as_ipv6(address: net::SocketAddr) -> net::SocketAddr {
    match address {
        net::SocketAddr::V4(v4) => (v4.ip().to_ipv6_mapped(), v4.port()).into(),
        net::SocketAddr::V6(_) => address,
    }
}

impl Listener {
    /// Stands in for socket(2), bind(2) and listen(2) of a Unix socket.
    pub(crate) fn bind(call: Call<'_>, spot: Spot<'_>, address: unix::SocketAddr) -> Sys<Arc<Self>> {
        static BIND: Step = Step::new("UnixListener", "bind", make).shows(made);
        static LISTEN: Step = Step::new("UnixListener", "listen", listen);
        let place = spot.place(call, SocketKind::Stream)?;
        let number = call.fresh()?;
        let name = Socket::name(call, &place.shown());
        let socket = Arc::new(Socket::new(Protocol::Unix, name, Name::Unix(address), call.site()));
        let bound = Bound::Listener(socket.clone());
        let inode = Arc::new(Inode::socket(number, &place.path, bound, call.site()));
        call.tables(|tables| tables.add_inode(inode))?;
        let entry = Entry::new(Kind::Socket, number);
        if place.create(call, &BIND, entry)? != Entry::ABSENT {
            return Err(Errno::ADDRINUSE.into());
        }
        let home = match spot {
            Spot::Path(_) => Home::Path,
            Spot::Abstract(_) => Home::Abstract(place, entry),
        };
        next_call(call);
        call.act(&socket.state, &LISTEN, [0, 0])?;
        Listener::new(call, socket, home)
    }

    /// Stands in for socket(2), bind(2) and listen(2) of a TCP socket.
    pub(crate) fn bind_tcp(call: Call<'_>, wanted: net::SocketAddr) -> Sys<Arc<Self>> {
        let call = call.over(Protocol::Tcp);
        let id = listener_number(call)?;
        // Whoever finds the number at the address finds the socket.
        let prepare = |address: net::SocketAddr| {
            let name = Socket::name(call, &address.to_string());
            let socket = Arc::new(Socket::new(Protocol::Tcp, name, Name::Inet(address), call.site()));
            call.tables(|tables| tables.sockets.tcp.insert(id, socket))?;
            Ok(())
        };
        let claim = whole(call, || Claim::for_listener(call, wanted, id, prepare))?;
        let socket = call.tables(|tables| tables.sockets.tcp[&id].clone())?;
        Listener::new(call, socket, Home::Port(claim))
    }

    fn new(call: Call<'_>, socket: Arc<Socket>, home: Home) -> Sys<Arc<Self>> {
        Ok(Arc::new(Listener {
            execution: call.execution(),
            site: call.site(),
            socket,
            descriptors: Descriptors::new(call.site()),
            home,
            options: Options::new(call.site()),
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
    pub(crate) fn address(&self) -> &Name {
        &self.socket.address
    }

    /// Stands in for dup(2).
    pub(crate) fn dup(&self, call: Call<'_>) -> Sys<()> {
        self.descriptors.add(call)
    }

    /// Sets O_NONBLOCK.
    pub(crate) fn set_nonblocking(&self, call: Call<'_>, nonblocking: bool) -> Sys<()> {
        static SET: Step = Step::of_listener("set_nonblocking", set_flags);
        call.over(self.socket.protocol).act(&self.socket.queue, &SET, [NONBLOCKING, u64::from(nonblocking)])?;
        Ok(())
    }

    /// Stands in for listen(2) on a socket that listens already: `backlog` connections may wait, and one more.
    pub(crate) fn limit(&self, call: Call<'_>, backlog: u32) -> Sys<()> {
        static LIMIT_QUEUE: Step = Step::of_listener("listen", set_flags);
        static LIMIT: Step = Step::of_listener("listen", limit);
        let waiting = u64::from(backlog).min(BACKLOG - 1) + 1;
        let accepted = call.act(&self.socket.queue, &LIMIT_QUEUE, [LIMITED, LIMITED])? >> PLACE_SHIFT;
        call.act(&self.socket.state, &LIMIT, [waiting, accepted])?;
        Ok(())
    }

    /// Stands in for accept(2).
    pub(crate) fn accept(&self, call: Call<'_>) -> Sys<Endpoint> {
        static NEXT: Step = Step::of_listener("accept", next_place);
        static MEET: Step = Step::of_listener("accept", meet).role(Role::Wait);
        static FREE: Step = Step::of_listener("accept", free).role(Role::Signal);
        let call = call.over(self.socket.protocol);
        // Who has a place in the queue takes the connection that comes to it.
        let arrival = whole(call, || {
            let mut before = call.act(&self.socket.queue, &NEXT, [0, 0])?;
            if before & NONBLOCKING != 0 {
                before = self.place_with_a_ticket(call, before)?;
            }
            let arrival = self.socket.wait_for(call, &MEET, before >> PLACE_SHIFT)?;
            if before & LIMITED != 0 {
                call.act(&self.socket.state, &FREE, [0, 0])?;
            }
            Ok::<_, Halt>(arrival)
        })?;
        Ok(Endpoint::new(call, arrival.connection, Side::Server, arrival.names, None))
    }

    /// Takes the next place in the queue of a non-blocking socket if somebody has a ticket for it, else EAGAIN.
    fn place_with_a_ticket(&self, call: Call<'_>, mut queue: u64) -> Sys<u64> {
        static ANYBODY: Step = Step::of_listener("accept", look);
        static TAKE: Step = Step::of_listener("accept", this_place);
        loop {
            let tickets = call.act(&self.socket.state, &ANYBODY, [0, 0])? >> TICKET_SHIFT;
            if tickets <= queue >> PLACE_SHIFT {
                return Err(Errno::AGAIN.into());
            }
            let before = call.act(&self.socket.queue, &TAKE, [queue, 0])?;
            if before == queue {
                return Ok(queue);
            }
            queue = before;
        }
    }

    /// Stands in for close(2): connections that nobody accepted are reset; a path stays.
    pub(crate) fn close(&self, call: Call<'_>) -> Sys<()> {
        static CLOSE: Step = Step::of_listener("close", close).role(Role::Signal);
        static RELEASE: Step = Step::of_listener("close", release);
        static ACCEPTED: Step = Step::of_listener("close", look);
        static MEET: Step = Step::of_listener("close", meet).role(Role::Wait);
        let call = call.over(self.socket.protocol);
        if !self.descriptors.close(call)? {
            return Ok(());
        }
        if let Home::Abstract(place, entry) = &self.home {
            place.act(call, &RELEASE, *entry)?;
        }
        let tickets = call.act(&self.socket.state, &CLOSE, [0, 0])?;
        if let Home::Port(claim) = &self.home {
            claim.release(call)?;
        }
        if tickets == 0 {
            return Ok(());
        }
        let accepted = call.act(&self.socket.queue, &ACCEPTED, [0, 0])? >> PLACE_SHIFT;
        for ticket in accepted..tickets {
            self.socket.wait_for(call, &MEET, ticket)?.connection.refuse(call)?;
        }
        Ok(())
    }
}
