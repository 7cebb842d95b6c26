//! TCP addresses and ports on the loopback interface, which is the only one: who listens where, and who may.
//!
//! The rules are those of Linux for sockets with SO_REUSEADDR, which std sets on every listener: a port is taken while
//! somebody listens there or a client has it, and not by connections that a listener has accepted. There is no TIME_WAIT, which
//! would not stand in such a listener's way.
//!
//! A port is an object, where it is decided who may have it: those who use different ports do not meet. Each address with a port
//! is another, where a listener is found once it is there: those who connect do not meet those who are refused the port.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use dpor::{Outcome, Outcomes, ThreadId};

use super::call::{Call, Halt, Object, Step, Sys};
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
    /// It listens at 127.0.0.1.
    Local4,
    /// It listens at another address of 127.0.0.0/8, of which these are the lower bits.
    Other4(u64),
    /// It listens at ::1.
    Local6,
    /// A client at 127.0.0.1.
    Client4,
    /// A client at ::1.
    Client6,
}

/// Bits in the state of a port.
const ANY4: u64 = 1;
const ANY6: u64 = 2;
const LOCAL4: u64 = 4;
const LOCAL6: u64 = 8;
const CLIENT4: u64 = 16;
const CLIENT6: u64 = 32;
/// Above them, the lower bits of two other IPv4 addresses at which somebody listens.
const OTHERS: [u32; 2] = [8, 32];
const OTHER_MASK: u64 = (1 << 24) - 1;

/// The result of a step that finds no room for a third address.
const NO_ROOM: u64 = 1 << 62;

fn others(state: u64) -> [u64; 2] {
    OTHERS.map(|shift| state >> shift & OTHER_MASK)
}

impl Hold {
    /// As arguments of a step.
    fn args(self) -> [u64; 2] {
        match self {
            Hold::Any4 => [ANY4, 0],
            Hold::Any6 => [ANY6, 0],
            Hold::Local4 => [LOCAL4, 0],
            Hold::Other4(address) => [0, address],
            Hold::Local6 => [LOCAL6, 0],
            Hold::Client4 => [CLIENT4, 0],
            Hold::Client6 => [CLIENT6, 0],
        }
    }

    /// What is there that does not go together with it, whatever the other addresses are.
    fn enemies(args: [u64; 2]) -> u64 {
        match args[0] {
            ANY4 => ANY4 | ANY6 | LOCAL4 | CLIENT4,
            ANY6 => ANY4 | ANY6 | LOCAL4 | LOCAL6 | CLIENT4 | CLIENT6,
            LOCAL4 | CLIENT4 => ANY4 | ANY6 | LOCAL4 | CLIENT4,
            LOCAL6 | CLIENT6 => ANY6 | LOCAL6 | CLIENT6,
            _ => ANY4 | ANY6,
        }
    }
}

/// Takes the port as `args` say; EADDRINUSE if that does not go together with the others.
fn claim(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let everywhere = args[0] & (ANY4 | ANY6) != 0;
    let others_in_the_way = others(state).iter().any(|&other| other != 0 && (everywhere || other == args[1]));
    let free = OTHERS.into_iter().find(|shift| state >> shift & OTHER_MASK == 0);
    out.push(if state & Hold::enemies(args) != 0 || others_in_the_way {
        Outcome::read(Errno::ADDRINUSE.result())
    } else if args[1] == 0 {
        Outcome::write(state | args[0], 0)
    } else if let Some(shift) = free {
        Outcome::write(state | args[1] << shift, 0)
    } else {
        Outcome::read(NO_ROOM)
    });
}

/// Gives up what `args` say.
fn release(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let at = OTHERS.into_iter().find(|shift| args[1] != 0 && state >> shift & OTHER_MASK == args[1]);
    out.push(Outcome::write(state & !args[0] & !at.map_or(0, |shift| OTHER_MASK << shift), 0));
}

/// Becomes `args[0]`.
fn publish(_: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(args[0], 0));
}

/// What a report says of the step that looks for a listener.
fn found(result: u64) -> String {
    if result == 0 { "→ nobody".into() } else { "→ a listener".into() }
}

/// Set in what is published of a listener at ::, whose number is above it.
const BOTH_FAMILIES: u64 = 1;

/// A port that a socket has.
#[derive(Debug)]
pub(crate) struct Claim {
    /// With the port.
    pub(crate) address: SocketAddr,
    hold: Hold,
    port: Arc<Object>,
    /// Where a listener is found.
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
        static LISTEN: Step = Step::new("TcpListener", "listen", publish);
        let hold = match wanted.ip() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Hold::Any4,
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Hold::Any6,
            IpAddr::V4(Ipv4Addr::LOCALHOST) => Hold::Local4,
            IpAddr::V4(ip) if ip.is_loopback() => Hold::Other4(u64::from(ip.to_bits()) & OTHER_MASK),
            IpAddr::V6(Ipv6Addr::LOCALHOST) => Hold::Local6,
            _ => return Err(Errno::ADDRNOTAVAIL.into()),
        };
        let mut take = |address| {
            prepare(address)?;
            Claim::take(call, address, hold)
        };
        let mut claim = if wanted.port() != 0 { take(wanted)? } else { Claim::take_any(call, wanted, take)? };
        let at = call.tables(|tables| tables.sockets.address(found_at(claim.address), call.site()))?;
        let flag = if hold == Hold::Any6 { BOTH_FAMILIES } else { 0 };
        call.act(&at, &LISTEN, [id << 1 | flag, 0])?;
        claim.at = Some(at);
        Ok(claim)
    }

    /// A port for a client that connects to `peer`.
    pub(crate) fn for_client(call: Call<'_>, peer: IpAddr) -> Sys<Claim> {
        let (ip, hold) = match peer {
            IpAddr::V4(_) => (IpAddr::V4(Ipv4Addr::LOCALHOST), Hold::Client4),
            IpAddr::V6(_) => (IpAddr::V6(Ipv6Addr::LOCALHOST), Hold::Client6),
        };
        Claim::take_any(call, SocketAddr::new(ip, 0), |address| Claim::take(call, address, hold))
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

    fn take(call: Call<'_>, address: SocketAddr, hold: Hold) -> Sys<Claim> {
        static BIND: Step = Step::new("TcpListener", "bind", claim);
        let port = call.tables(|tables| tables.sockets.port(address.port(), call.site()))?;
        if Errno::check(call.act(&port, &BIND, hold.args())?)? == NO_ROOM {
            call.limit("listeners at two addresses besides 127.0.0.1 on one port");
        }
        Ok(Claim { address, hold, port, at: None })
    }

    /// Gives it up.
    pub(crate) fn release(&self, call: Call<'_>) -> Sys<()> {
        static UNPUBLISH: Step = Step::new("TcpListener", "close", publish);
        static RELEASE: Step = Step::new("TcpStream", "close", release);
        if let Some(at) = &self.at {
            call.act(at, &UNPUBLISH, [0, 0])?;
        }
        call.act(&self.port, &RELEASE, self.hold.args())?;
        Ok(())
    }
}

/// Where a listener at `address` is found: one at all addresses of whatever family at 0.0.0.0.
fn found_at(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() { any(address.port()) } else { SocketAddr::new(address.ip(), address.port()) }
}

fn any(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))
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
    let at = |address| {
        let object = call.tables(|tables| tables.sockets.address(address, call.site()))?;
        Ok::<u64, Halt>(call.act(&object, &LOOKUP, [0, 0])?)
    };
    let mut published = at(address)?;
    if published == 0 {
        published = at(any(address.port()))?;
        if address.is_ipv6() && published & BOTH_FAMILIES == 0 {
            published = 0;
        }
    }
    if published == 0 {
        return Err(Errno::CONNREFUSED.into());
    }
    Ok((call.tables(|tables| tables.sockets.tcp[&(published >> 1)].clone())?, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: Hold = Hold::Other4(2);
    const ALL: [Hold; 7] = [Hold::Any4, Hold::Any6, Hold::Local4, OTHER, Hold::Local6, Hold::Client4, Hold::Client6];

    fn after(state: u64, hold: Hold) -> Option<u64> {
        let mut out = Outcomes::default();
        claim(state, hold.args(), ThreadId::MAIN, &mut out);
        let outcome = out.as_slice()[0];
        outcome.writes.then_some(outcome.state)
    }

    /// Who can have a port that somebody has.
    fn beside(first: Hold) -> Vec<Hold> {
        let state = after(0, first).expect("a free port");
        ALL.into_iter().filter(|&second| after(state, second).is_some()).collect()
    }

    #[test]
    fn who_can_have_a_port_that_somebody_has() {
        use Hold::{Any4, Client4, Client6, Local4, Local6};
        assert_eq!(beside(Any4), [Local6, Client6]);
        assert!(beside(Hold::Any6).is_empty());
        assert_eq!(beside(Local4), [OTHER, Local6, Client6]);
        assert_eq!(beside(OTHER), [Local4, Local6, Client4, Client6]);
        assert_eq!(beside(Local6), [Any4, Local4, OTHER, Client4]);
        assert_eq!(beside(Client4), [OTHER, Local6, Client6]);
        assert_eq!(beside(Client6), [Any4, Local4, OTHER, Client4]);
    }

    #[test]
    fn three_addresses_have_room_and_what_is_given_up_is_gone() {
        let holds = [Hold::Local4, Hold::Other4(2), Hold::Other4(3)];
        let mut state = holds.into_iter().fold(0, |state, hold| after(state, hold).expect("room"));
        assert_eq!(after(state, Hold::Other4(4)), None);
        for hold in holds {
            let mut out = Outcomes::default();
            release(state, hold.args(), ThreadId::MAIN, &mut out);
            state = out.as_slice()[0].state;
        }
        assert_eq!(state, 0);
    }
}
