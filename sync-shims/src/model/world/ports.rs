//! TCP addresses and ports on the loopback interface, which is the only one: who listens where, and who may.
//!
//! The rules are those of Linux for sockets with SO_REUSEADDR, which std sets on every listener: a port is taken while
//! somebody listens there or a client has it, and not by connections that a listener has accepted. There is no TIME_WAIT, which
//! would not stand in such a listener's way.
//!
//! An address with a port is one object (who listens there?), and a port is another: whether somebody listens at all
//! addresses, and how many have it at one. So those who use different ports do not meet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use dpor::{Outcome, Outcomes, ThreadId};

use super::call::{Call, Object, Step, Sys};
use super::entry::look;
use super::errno::Errno;
use super::listener::Socket;
use super::tables::Series;

/// The first port that the kernel chooses by itself, and how many of them there are: Linux's `ip_local_port_range`.
const FIRST_EPHEMERAL: u64 = 32_768;
const EPHEMERAL: u64 = 28_232;
/// How far apart the ports are that different threads get.
const OF_ONE_THREAD: u64 = 397;

/// How a socket has its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// It listens at 0.0.0.0.
    Any4,
    /// It listens at ::, and so at 0.0.0.0.
    Any6,
    /// It listens at one IPv4 address.
    One4,
    /// It listens at one IPv6 address.
    One6,
    /// A client at 127.0.0.1.
    Client4,
    /// A client at ::1.
    Client6,
}

impl Hold {
    const ALL: [Hold; 6] = [Hold::Any4, Hold::Any6, Hold::One4, Hold::One6, Hold::Client4, Hold::Client6];

    /// Where it is counted in the state of the port.
    fn unit(self) -> u64 {
        match self {
            Hold::Any4 => 1,
            Hold::Any6 => 2,
            Hold::One4 => 1 << 26,
            Hold::One6 => 1 << 34,
            Hold::Client4 => 1 << 42,
            Hold::Client6 => 1 << 52,
        }
    }
}

impl Hold {
    /// What is added to the state of the port by the socket `id`.
    fn added(self, id: u64) -> u64 {
        let everywhere = matches!(self, Hold::Any4 | Hold::Any6);
        self.unit() + if everywhere { id << ID_SHIFT } else { 0 }
    }
}

/// The number of the socket that listens at all addresses, in the state of a port.
const ID_SHIFT: u32 = 2;
const ID: u64 = ((1 << 24) - 1) << ID_SHIFT;
const ANY: u64 = 3;
const ONES4: u64 = 0xff << 26;
const ONES6: u64 = 0xff << 34;
const CLIENTS4: u64 = 0x3ff << 42;
const CLIENTS6: u64 = 0x3ff << 52;

/// What makes a port useless for whom.
fn conflicts(state: u64, hold: Hold, at_client_address: bool) -> bool {
    let any = state & ANY != 0;
    let any6 = state & ANY == Hold::Any6.unit();
    match hold {
        Hold::Any4 => any || state & (ONES4 | CLIENTS4) != 0,
        Hold::Any6 => any || state & (ONES4 | ONES6 | CLIENTS4 | CLIENTS6) != 0,
        Hold::One4 => any || (at_client_address && state & CLIENTS4 != 0),
        Hold::One6 => any6 || state & CLIENTS6 != 0,
        Hold::Client4 => any || state & (ONES4 | CLIENTS4) != 0,
        Hold::Client6 => any6 || state & (ONES6 | CLIENTS6) != 0,
    }
}

/// Takes the port as the hold `args[0]` says, for the socket `args[1]`; EADDRINUSE if that does not go together with the others.
fn claim(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let hold = Hold::ALL[(args[0] & 7) as usize];
    out.push(if conflicts(state, hold, args[0] & AT_CLIENT_ADDRESS != 0) {
        Outcome::read(Errno::ADDRINUSE.result())
    } else {
        Outcome::write(state + hold.added(args[1]), 0)
    });
}

/// Set in the first argument of a claim of 127.0.0.1.
const AT_CLIENT_ADDRESS: u64 = 8;

/// Gives up `args[0]`, which is a part of the state.
fn release(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state.wrapping_sub(args[0]), 0));
}

/// Becomes `args[0]` if there is nobody.
fn claim_address(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == 0 { Outcome::write(args[0], 0) } else { Outcome::read(Errno::ADDRINUSE.result()) });
}

/// Becomes 0.
fn release_address(_: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(0, 0));
}

/// What a report says of the step that looks for a listener.
fn found(result: u64) -> String {
    if result == 0 { "→ nobody".into() } else { "→ a listener".into() }
}

/// A port that a socket has.
#[derive(Debug)]
pub(crate) struct Claim {
    /// With the port.
    pub(crate) address: SocketAddr,
    port: Arc<Object>,
    /// What was added to the state of the port.
    added: u64,
    /// Of a socket that listens at one address.
    at: Option<Arc<Object>>,
}

impl Claim {
    /// The port of `wanted` for a socket that listens, whose number is `id`; one that the kernel chooses if it is 0.
    /// `prepare` is told the address before somebody can find the number there.
    pub(crate) fn for_listener(
        call: Call<'_>,
        wanted: SocketAddr,
        id: u64,
        mut prepare: impl FnMut(SocketAddr) -> Sys<()>,
    ) -> Sys<Claim> {
        let (hold, at_client_address) = match wanted.ip() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => (Hold::Any4, false),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => (Hold::Any6, false),
            IpAddr::V4(ip) if ip.is_loopback() => (Hold::One4, ip == Ipv4Addr::LOCALHOST),
            IpAddr::V6(Ipv6Addr::LOCALHOST) => (Hold::One6, false),
            _ => return Err(Errno::ADDRNOTAVAIL.into()),
        };
        let mut take = |address| {
            prepare(address)?;
            Claim::take(call, address, hold, at_client_address, id)
        };
        if wanted.port() != 0 { take(wanted) } else { Claim::take_any(call, wanted, take) }
    }

    /// A port for a client that connects to `peer`.
    pub(crate) fn for_client(call: Call<'_>, peer: IpAddr) -> Sys<Claim> {
        let (ip, hold) = match peer {
            IpAddr::V4(_) => (IpAddr::V4(Ipv4Addr::LOCALHOST), Hold::Client4),
            IpAddr::V6(_) => (IpAddr::V6(Ipv6Addr::LOCALHOST), Hold::Client6),
        };
        Claim::take_any(call, SocketAddr::new(ip, 0), |address| Claim::take(call, address, hold, true, 0))
    }

    /// The first port that is free of those the kernel chooses for the thread. Which these are depends on nothing but the thread
    /// and how many it has had.
    fn take_any(call: Call<'_>, mut address: SocketAddr, mut take: impl FnMut(SocketAddr) -> Sys<Claim>) -> Sys<Claim> {
        loop {
            let (thread, count) = call.count(Series::Ports)?;
            let offset = (u64::from(thread.0) * OF_ONE_THREAD + count - 1) % EPHEMERAL;
            address.set_port((FIRST_EPHEMERAL + offset) as u16);
            match take(address) {
                Err(halt) if halt == Errno::ADDRINUSE.into() => {}
                result => return result,
            }
        }
    }

    fn take(call: Call<'_>, address: SocketAddr, hold: Hold, at_client_address: bool, id: u64) -> Sys<Claim> {
        static BIND: Step = Step::new("TcpListener", "bind", claim);
        static BIND_ADDRESS: Step = Step::new("TcpListener", "bind", claim_address);
        static UNBIND: Step = Step::new("TcpListener", "bind", release);
        let port = call.tables(|tables| tables.sockets.port(address.port(), call.site()))?;
        let flag = if at_client_address { AT_CLIENT_ADDRESS } else { 0 };
        let added = hold.added(id);
        Errno::check(call.act(&port, &BIND, [hold as u64 | flag, id])?)?;
        let mut at = None;
        if matches!(hold, Hold::One4 | Hold::One6) {
            let object = call.tables(|tables| tables.sockets.address(address, call.site()))?;
            if let Err(errno) = Errno::check(call.act(&object, &BIND_ADDRESS, [id, 0])?) {
                call.act(&port, &UNBIND, [added, 0])?;
                return Err(errno.into());
            }
            at = Some(object);
        }
        Ok(Claim { address, port, added, at })
    }

    /// Gives it up.
    pub(crate) fn release(&self, call: Call<'_>) -> Sys<()> {
        static RELEASE: Step = Step::new("TcpStream", "close", release);
        static RELEASE_ADDRESS: Step = Step::new("TcpListener", "close", release_address);
        if let Some(at) = &self.at {
            call.act(at, &RELEASE_ADDRESS, [0, 0])?;
        }
        call.act(&self.port, &RELEASE, [self.added, 0])?;
        Ok(())
    }
}

/// The number of the next socket that listens.
pub(crate) fn listener_number(call: Call<'_>) -> Sys<u64> {
    let (thread, count) = call.count(Series::Listeners)?;
    if thread.0 >= 1 << 13 || count >= 1 << 10 {
        call.limit("1023 TCP listeners of each of 8192 threads");
    }
    Ok((u64::from(thread.0) + 1) << 10 | count)
}

/// Who listens at `address`, and as what `address` reaches him.
pub(crate) fn lookup(call: Call<'_>, address: SocketAddr) -> Sys<(Arc<Socket>, SocketAddr)> {
    static LOOKUP: Step = Step::new("TcpStream", "connect", look).shows(found);
    let address = match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => SocketAddr::from((Ipv6Addr::LOCALHOST, address.port())),
        ip if ip.is_loopback() => SocketAddr::from((ip, address.port())),
        _ => return Err(Errno::NETUNREACH.into()),
    };
    let socket = |id| call.tables(|tables| tables.sockets.tcp[&id].clone());
    let at = call.tables(|tables| tables.sockets.address(address, call.site()))?;
    let id = call.act(&at, &LOOKUP, [0, 0])?;
    if id != 0 {
        return Ok((socket(id)?, address));
    }
    let port = call.tables(|tables| tables.sockets.port(address.port(), call.site()))?;
    let state = call.act(&port, &LOOKUP, [0, 0])?;
    match (state & ANY, address) {
        (1, SocketAddr::V4(_)) | (2, _) => Ok((socket((state & ID) >> ID_SHIFT)?, address)),
        _ => Err(Errno::CONNREFUSED.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(state: u64, hold: Hold, id: u64) -> Option<u64> {
        let mut out = Outcomes::default();
        claim(state, [hold as u64 | AT_CLIENT_ADDRESS, id], ThreadId::MAIN, &mut out);
        let outcome = out.as_slice()[0];
        outcome.writes.then_some(outcome.state)
    }

    /// Who can have a port that somebody has.
    fn beside(first: Hold) -> Vec<Hold> {
        let state = after(0, first, 5).expect("a free port");
        Hold::ALL.into_iter().filter(|&second| after(state, second, 6).is_some()).collect()
    }

    #[test]
    fn who_can_have_a_port_that_somebody_has() {
        assert_eq!(beside(Hold::Any4), [Hold::One6, Hold::Client6]);
        assert!(beside(Hold::Any6).is_empty());
        // Whether it is the same address is for the other object to say.
        assert_eq!(beside(Hold::One4), [Hold::One4, Hold::One6, Hold::Client6]);
        assert_eq!(beside(Hold::One6), [Hold::Any4, Hold::One4, Hold::One6, Hold::Client4]);
        assert_eq!(beside(Hold::Client4), [Hold::One6, Hold::Client6]);
        assert_eq!(beside(Hold::Client6), [Hold::Any4, Hold::One4, Hold::Client4]);
    }

    #[test]
    fn what_is_given_up_is_gone() {
        for hold in Hold::ALL {
            let state = after(0, hold, 0xff_ffff).expect("a free port");
            let mut out = Outcomes::default();
            release(state, [hold.added(0xff_ffff), 0], ThreadId::MAIN, &mut out);
            assert_eq!(out.as_slice()[0].state, 0);
        }
    }
}
