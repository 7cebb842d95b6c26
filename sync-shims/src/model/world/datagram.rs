//! Datagram sockets of the Unix domain: connect(2), send(2), recv(2).
//!
//! A socket is two objects. Its *queue* says how many messages wait, which is the first, and what its owner has said about
//! receiving; those who send to it and those who receive from it meet there. Its *end* says to which socket it is connected and
//! what its owner has said about sending. A message takes a number at the queue of the receiver, and arrives under this
//! number.

use std::collections::HashMap;
use std::os::unix::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use dpor::{Outcome, Outcomes, Role, ThreadId};

use super::call::{Call, Object, Patience, Step, Sys};
use super::descriptor::Descriptors;
use super::entry::{Entry, Kind, Place, found, inode, look, made, make, release};
use super::errno::Errno;
use super::inode::{Bound, Inode};
use super::listener::{arrive, meet};
use super::name::{SocketKind, Spot};
use super::process::whole;
use super::timeouts::{Shut, Timeouts};
use crate::model::event::Site;

/// A datagram socket as others see it.
#[derive(Debug)]
pub(crate) struct Inbox {
    number: u64,
    name: String,
    address: Option<SocketAddr>,
    queue: Object,
    end: Object,
    /// By number. A place is made by whoever needs it first.
    places: Mutex<HashMap<u64, Arc<Letter>>>,
}

/// A place for a message.
#[derive(Debug)]
struct Letter {
    /// Whether it has arrived; it stays 1.
    arrived: Object,
    /// Put there before it arrives.
    message: OnceLock<Message>,
}

/// A message.
#[derive(Debug)]
struct Message {
    data: Box<[u8]>,
    sender: Option<SocketAddr>,
}

/// A datagram socket as its descriptors share it.
#[derive(Debug)]
pub(crate) struct Datagram {
    execution: u64,
    site: Site,
    inbox: Arc<Inbox>,
    descriptors: Descriptors,
    timeouts: Timeouts,
    /// The entry of an abstract name, which goes away with the socket.
    abstract_name: Option<(Place, Entry)>,
}

/// Where a message goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum To<'a> {
    /// To the socket that this one is connected to.
    Peer,
    /// To whoever has this name.
    Name(Spot<'a>),
}

/// What was received: how many bytes of it fit, and who sent it.
pub(crate) type Received = (usize, Option<SocketAddr>);

/// Flags in the state of a queue.
const CLOSED: u64 = 1;
const SHUT: u64 = 2;
const NONBLOCKING: u64 = 4;
const TIMED: u64 = 8;
/// Above them, how many messages wait, and the number of the first.
const QUEUED_SHIFT: u32 = 4;
const QUEUED_MASK: u64 = (1 << 10) - 1;
const FIRST_SHIFT: u32 = 14;

/// Flags in the state of an end; above them, the number of the socket that it is connected to, or 0.
const WRITE_SHUT: u64 = 1;
const WRITE_NONBLOCKING: u64 = 2;
const PEER_SHIFT: u32 = 4;
const END_FLAGS: u64 = (1 << PEER_SHIFT) - 1;

/// How many messages wait at most: Linux's `net.unix.max_dgram_qlen` of 10, and one more.
const QUEUE: u64 = 11;
/// How many wait at most between two sockets that are connected to each other: as many small ones as fit into the default
/// send buffer, of which each takes 768 bytes.
const MUTUAL_QUEUE: u64 = 278;
/// The longest message: Linux's default send buffer but for some room that it keeps.
const LONGEST: usize = 212_992 - 32;

/// In the arguments of a step that sends.
const MUTUAL: u64 = 1;
const IMPATIENT: u64 = 2;

/// The result of a step that finds nothing more to receive, ever.
const END: u64 = 1 << 62;

fn queued(state: u64) -> u64 {
    state >> QUEUED_SHIFT & QUEUED_MASK
}

/// Queues a message: the result is its number.
fn post(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let limit = if args[0] & MUTUAL == 0 { QUEUE } else { MUTUAL_QUEUE };
    if state & CLOSED != 0 {
        out.push(Outcome::read(Errno::CONNREFUSED.result()));
    } else if state & SHUT != 0 {
        out.push(Outcome::read(Errno::PIPE.result()));
    } else if queued(state) < limit {
        out.push(Outcome::write(state + (1 << QUEUED_SHIFT), (state >> FIRST_SHIFT) + queued(state)));
    } else if args[0] & IMPATIENT != 0 {
        out.push(Outcome::read(Errno::AGAIN.result()));
    }
}

/// What a report says of it.
fn posted(result: u64) -> String {
    match Errno::check(result) {
        Ok(number) => format!("message {}", number + 1),
        Err(errno) => errno.to_string(),
    }
}

/// Takes the first message: the result is its number, or [`END`].
fn take(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if queued(state) > 0 {
        out.push(Outcome::write(state + (1 << FIRST_SHIFT) - (1 << QUEUED_SHIFT), state >> FIRST_SHIFT));
    } else if state & NONBLOCKING != 0 {
        out.push(Outcome::read(Errno::AGAIN.result()));
    } else if state & SHUT != 0 {
        out.push(Outcome::read(END));
    } else if state & TIMED != 0 {
        out.push(Outcome::read(Errno::AGAIN.result()));
    }
}

/// What a report says of it.
fn taken(result: u64) -> String {
    if result == END { "end of file".into() } else { posted(result) }
}

/// Throws away what waits.
fn purge(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let empty = state - (queued(state) << QUEUED_SHIFT) + (queued(state) << FIRST_SHIFT);
    out.push(if empty == state { Outcome::read(0) } else { Outcome::write(empty, 0) });
}

/// The flags `args[0]` become `args[1]`.
fn set_flags(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state & !args[0] | args[1], state));
}

/// Connects to the socket `args[0]`: the result is the state before.
fn set_peer(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let after = state & END_FLAGS | args[0] << PEER_SHIFT;
    out.push(if after == state { Outcome::read(state) } else { Outcome::write(after, state) });
}

/// Is connected to the socket `args[0]` no more: the result is whether it was.
fn forget_peer(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state >> PEER_SHIFT == args[0] { Outcome::write(state & END_FLAGS, 1) } else { Outcome::read(0) });
}

const fn step(name: &'static str, outs: dpor::Outs) -> Step {
    Step::new("UnixDatagram", name, outs)
}

impl Inbox {
    fn new(number: u64, peer: u64, name: String, address: Option<SocketAddr>, site: Site) -> Arc<Self> {
        Arc::new(Inbox {
            number,
            queue: Object::new(0, site).named(format_args!("queue of {name}")),
            end: Object::new(peer << PEER_SHIFT, site).named(format_args!("{name}")),
            name,
            address,
            places: Mutex::default(),
        })
    }

    /// Whether the socket is not closed.
    pub(crate) fn is_open(&self, call: Call<'_>) -> Sys<bool> {
        static LOOK: Step = step("connect", look);
        Ok(call.act(&self.queue, &LOOK, [0, 0])? & CLOSED == 0)
    }

    fn place(&self, number: u64, site: Site) -> Arc<Letter> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let arrived = Object::new(0, site).named(format_args!("message {} to {}", number + 1, self.name));
            Arc::new(Letter { arrived, message: OnceLock::new() })
        };
        places.entry(number).or_insert_with(new).clone()
    }

    /// The socket that a name leads to: EPROTOTYPE if it is not one for datagrams.
    fn named(call: Call<'_>, spot: Spot<'_>, lookup: &'static Step) -> Sys<Arc<Inbox>> {
        let entry = spot.look_up(call, SocketKind::Datagram, lookup)?;
        if entry == Entry::ABSENT {
            return Err(spot.nothing_there().into());
        }
        match inode(call, entry)?.socket_bound() {
            Some(Bound::Datagram(inbox)) => Ok(inbox.clone()),
            Some(Bound::Listener(socket)) if socket.is_open(call)? => Err(Errno::PROTOTYPE.into()),
            Some(Bound::Listener(_)) | None => Err(Errno::CONNREFUSED.into()),
        }
    }

    /// EPERM if it is connected to another socket than `sender`, of which alone it takes messages then; else whether it is
    /// connected to that.
    fn takes_from(&self, call: Call<'_>, sender: u64, look_at: &'static Step) -> Sys<bool> {
        match call.act(&self.end, look_at, [0, 0])? >> PEER_SHIFT {
            0 => Ok(false),
            peer if peer == sender => Ok(true),
            // A socket that is closed is connected to nobody.
            _ if !self.is_open(call)? => Ok(false),
            _ => Err(Errno::PERM.into()),
        }
    }
}

impl Datagram {
    fn new(call: Call<'_>, inbox: Arc<Inbox>, abstract_name: Option<(Place, Entry)>) -> Self {
        Datagram {
            execution: call.execution(),
            site: call.site(),
            inbox,
            descriptors: Descriptors::new(call.site()),
            timeouts: Timeouts::default(),
            abstract_name,
        }
    }

    fn register(call: Call<'_>, inbox: &Arc<Inbox>) -> Sys<()> {
        call.tables(|tables| tables.sockets.datagram.insert(inbox.number, inbox.clone()))?;
        Ok(())
    }

    /// Stands in for socket(2).
    pub(crate) fn unbound(call: Call<'_>) -> Sys<Self> {
        let number = call.fresh()?;
        let name = format!("datagram socket of {}", call.thread_name());
        let inbox = Inbox::new(number, 0, name, None, call.site());
        Datagram::register(call, &inbox)?;
        Ok(Datagram::new(call, inbox, None))
    }

    /// Stands in for socket(2) and bind(2).
    pub(crate) fn bind(call: Call<'_>, spot: Spot<'_>, address: SocketAddr) -> Sys<Self> {
        static BIND: Step = step("bind", make).shows(made);
        let place = spot.place(call, SocketKind::Datagram)?;
        let number = call.fresh()?;
        let name = format!("{} of {}", place.shown(), call.thread_name());
        let inbox = Inbox::new(number, 0, name, Some(address), call.site());
        Datagram::register(call, &inbox)?;
        let inode = Inode::socket(number, &place.path, Bound::Datagram(inbox.clone()), call.site());
        call.tables(|tables| tables.add_inode(Arc::new(inode)))?;
        let entry = Entry::new(Kind::Socket, number);
        if place.create(call, &BIND, entry)? != Entry::ABSENT {
            return Err(Errno::ADDRINUSE.into());
        }
        let abstract_name = match spot {
            Spot::Path(_) => None,
            Spot::Abstract(_) => Some((place, entry)),
        };
        Ok(Datagram::new(call, inbox, abstract_name))
    }

    /// Stands in for socketpair(2).
    pub(crate) fn pair(call: Call<'_>) -> Sys<[Self; 2]> {
        let numbers = [call.fresh()?, call.fresh()?];
        let ends = [("first", numbers[0], numbers[1]), ("second", numbers[1], numbers[0])];
        let inboxes = ends.map(|(which, number, peer)| {
            Inbox::new(number, peer, format!("{which} socket of a datagram pair"), None, call.site())
        });
        for inbox in &inboxes {
            Datagram::register(call, inbox)?;
        }
        Ok(inboxes.map(|inbox| Datagram::new(call, inbox, None)))
    }

    /// The execution it belongs to.
    pub(crate) fn execution(&self) -> u64 {
        self.execution
    }

    /// Where it was made.
    pub(crate) fn site(&self) -> Site {
        self.site
    }

    /// Its own address, if it was bound.
    pub(crate) fn local(&self) -> Option<&SocketAddr> {
        self.inbox.address.as_ref()
    }

    /// Stands in for getpeername(2): ENOTCONN if it is not connected, `None` if the other has no name.
    pub(crate) fn peer(&self, call: Call<'_>) -> Sys<Option<SocketAddr>> {
        static PEER: Step = step("peer_addr", look);
        let peer = call.act(&self.inbox.end, &PEER, [0, 0])? >> PEER_SHIFT;
        match self.by_number(call, peer)? {
            Some(inbox) => Ok(inbox.address.clone()),
            None => Err(Errno::NOTCONN.into()),
        }
    }

    fn by_number(&self, call: Call<'_>, number: u64) -> Sys<Option<Arc<Inbox>>> {
        Ok(call.tables(|tables| tables.sockets.datagram.get(&number).cloned())?)
    }

    /// Stands in for dup(2).
    pub(crate) fn dup(&self, call: Call<'_>) -> Sys<()> {
        self.descriptors.add(call)
    }

    /// Stands in for connect(2).
    pub(crate) fn connect(&self, call: Call<'_>, spot: Spot<'_>) -> Sys<()> {
        static LOOKUP: Step = step("connect", look).shows(found);
        static LOOK: Step = step("connect", look);
        static CONNECT: Step = step("connect", set_peer);
        let to = Inbox::named(call, spot, &LOOKUP)?;
        if !to.is_open(call)? {
            return Err(Errno::CONNREFUSED.into());
        }
        to.takes_from(call, self.inbox.number, &LOOK)?;
        let before = call.act(&self.inbox.end, &CONNECT, [to.number, 0])? >> PEER_SHIFT;
        match self.by_number(call, before)? {
            Some(old) if old.number != to.number => {
                if old.takes_from(call, self.inbox.number, &LOOK) == Ok(true) && old.is_open(call)? {
                    call.unsupported("connecting a datagram socket to another one while its peer is connected to it");
                }
                self.purge(call)
            }
            _ => Ok(()),
        }
    }

    /// Throws away what came from a peer that is one no more.
    fn purge(&self, call: Call<'_>) -> Sys<()> {
        static PURGE: Step = step("connect", purge);
        call.act(&self.inbox.queue, &PURGE, [0, 0])?;
        Ok(())
    }

    /// Stands in for send(2) and sendto(2).
    pub(crate) fn send(&self, call: Call<'_>, to: To<'_>, data: &[u8]) -> Sys<usize> {
        static LOOK: Step = step("send", look);
        static LOOKUP: Step = step("send_to", look).shows(found);
        let end = call.act(&self.inbox.end, &LOOK, [0, 0])?;
        let peer = self.by_number(call, end >> PEER_SHIFT)?;
        if data.len() > LONGEST {
            return Err(Errno::MSGSIZE.into());
        }
        if end & WRITE_SHUT != 0 {
            return Err(Errno::PIPE.into());
        }
        let inbox = match (to, peer) {
            (To::Name(spot), _) => Inbox::named(call, spot, &LOOKUP)?,
            (To::Peer, Some(inbox)) => inbox,
            (To::Peer, None) => return Err(Errno::NOTCONN.into()),
        };
        // A socket may send to itself for as long as its buffer lasts.
        let mutual = inbox.takes_from(call, self.inbox.number, &LOOK)? || inbox.number == self.inbox.number;
        let nonblocking = end & WRITE_NONBLOCKING != 0;
        let flags = if mutual { MUTUAL } else { 0 } | if nonblocking { IMPATIENT } else { 0 };
        let posted = self.timeouts.during(call, Shut::Write, |patience| self.post(call, &inbox, flags, patience, data));
        if posted == Err(Errno::CONNREFUSED.into()) && matches!(to, To::Peer) {
            self.lose_peer(call, inbox.number)?;
        }
        posted
    }

    fn post(&self, call: Call<'_>, inbox: &Inbox, flags: u64, patience: Patience, data: &[u8]) -> Sys<usize> {
        static SEND: Step = step("send", post).shows(posted).role(Role::Signal);
        static ARRIVE: Step = step("send", arrive).role(Role::Signal);
        let flags = flags | if patience == Patience::Limited { IMPATIENT } else { 0 };
        // A message that has a number arrives.
        whole(call, || {
            let number = Errno::check(call.act_within(&inbox.queue, &SEND, [flags, 0], patience)?)?;
            let place = inbox.place(number, call.site());
            place.message.get_or_init(|| Message { data: data.into(), sender: self.inbox.address.clone() });
            call.act(&place.arrived, &ARRIVE, [0, 0])?;
            Ok(data.len())
        })
    }

    /// The socket that this one was connected to is closed: the next who sends is not connected.
    fn lose_peer(&self, call: Call<'_>, peer: u64) -> Sys<()> {
        static FORGET: Step = step("send", forget_peer);
        if call.act(&self.inbox.end, &FORGET, [peer, 0])? == 1 {
            self.purge(call)?;
        }
        Ok(())
    }

    /// Stands in for recvfrom(2): what does not fit is lost.
    pub(crate) fn receive(&self, call: Call<'_>, buffer: &mut [u8]) -> Sys<Received> {
        static RECV: Step = step("recv", take).shows(taken).role(Role::Wait);
        static MEET: Step = step("recv", meet).role(Role::Wait);
        let inbox = &self.inbox;
        let number = self.timeouts.during(call, Shut::Read, |patience| {
            Ok(Errno::check(call.act_within(&inbox.queue, &RECV, [0, 0], patience)?)?)
        })?;
        if number == END {
            return Ok((0, None));
        }
        let place = inbox.place(number, call.site());
        call.act(&place.arrived, &MEET, [0, 0])?;
        let message = place.message.get().expect("it has arrived");
        let count = message.data.len().min(buffer.len());
        buffer[..count].copy_from_slice(&message.data[..count]);
        Ok((count, message.sender.clone()))
    }

    /// Stands in for shutdown(2).
    pub(crate) fn shutdown(&self, call: Call<'_>, read: bool, write: bool) -> Sys<()> {
        static SHUTDOWN: Step = step("shutdown", set_flags).role(Role::Signal);
        if read {
            call.act(&self.inbox.queue, &SHUTDOWN, [SHUT, SHUT])?;
        }
        if write {
            call.act(&self.inbox.end, &SHUTDOWN, [WRITE_SHUT, WRITE_SHUT])?;
        }
        Ok(())
    }

    /// Sets O_NONBLOCK.
    pub(crate) fn set_nonblocking(&self, call: Call<'_>, nonblocking: bool) -> Sys<()> {
        static SET: Step = step("set_nonblocking", set_flags);
        let (read, write) = if nonblocking { (NONBLOCKING, WRITE_NONBLOCKING) } else { (0, 0) };
        call.act(&self.inbox.queue, &SET, [NONBLOCKING, read])?;
        call.act(&self.inbox.end, &SET, [WRITE_NONBLOCKING, write])?;
        Ok(())
    }

    /// Sets SO_RCVTIMEO or SO_SNDTIMEO.
    pub(crate) fn set_timeout(&self, call: Call<'_>, way: Shut, timeout: Option<Duration>) -> Sys<()> {
        static SET: Step = step("set_read_timeout", set_flags);
        self.timeouts.set(way, timeout);
        if way == Shut::Read {
            call.act(&self.inbox.queue, &SET, [TIMED, if timeout.is_some() { TIMED } else { 0 }])?;
        }
        Ok(())
    }

    /// What SO_RCVTIMEO or SO_SNDTIMEO is.
    pub(crate) fn timeout(&self, way: Shut) -> Option<Duration> {
        self.timeouts.get(way)
    }

    /// Stands in for close(2): nobody is told, and what waits is lost; a path stays.
    pub(crate) fn close(&self, call: Call<'_>) -> Sys<()> {
        static RELEASE: Step = step("close", release);
        static CLOSE: Step = step("close", set_flags).role(Role::Signal);
        if !self.descriptors.close(call)? {
            return Ok(());
        }
        if let Some((place, entry)) = &self.abstract_name {
            place.act(call, &RELEASE, *entry)?;
        }
        call.act(&self.inbox.queue, &CLOSE, [CLOSED, CLOSED])?;
        Ok(())
    }
}
