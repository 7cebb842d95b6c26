//! Stands in for `std::net`: TCP within the machine, in a model that of the simulated kernel.
//!
//! | std | here |
//! |---|---|
//! | `TcpListener` | [`TcpListener`] |
//! | `TcpStream` | [`TcpStream`]: a read may give less than was written |
//! | `Incoming` | [`Incoming`] |
//! | `ToSocketAddrs` | [`ToSocketAddrs`]: within a model the only name of a host is `localhost`, 127.0.0.1 |
//! | addresses, `Shutdown` | std's own |
//!
//! The machine of a model has one interface, the loopback: 127.0.0.0/8 and ::1. To bind another address is EADDRNOTAVAIL, to
//! connect to one ENETUNREACH. Port 0 is a port from 32768 that depends on the thread alone.
//!
//! Who may have a port: std's listeners have SO_REUSEADDR, so what a listener meets is who else listens there (at the address,
//! or at 0.0.0.0 or ::), and a client whose port it is. Connections that were accepted there are not in the way, neither open
//! nor in TIME_WAIT, which is not modelled. The rules of sockets without SO_REUSEADDR, which std has no way to make, are not
//! modelled either.
//!
//! What a socket does at each call is Linux's behaviour, errors included; a test runs the same calls on the real kernel and
//! here. Unlike Unix sockets, the first write after the other end was closed is lost without a word, and the next one is EPIPE;
//! after a reset, the first call, read or write, gets the ECONNRESET. Not there: `UdpSocket`, raw descriptors, urgent
//! data, and a connection's delay: what is written is there to be read at once, all or (a spurious event, see the budget)
//! one byte first. After a reset `peer_addr` still knows the address, where Linux says ENOTCONN.

mod addresses;
mod listener;
mod stream;

pub use std::net::{AddrParseError, IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, SocketAddrV4, SocketAddrV6};

pub use addresses::ToSocketAddrs;
pub use listener::{Incoming, TcpListener};
pub use stream::TcpStream;

use crate::model::world::Name;

/// The address of a socket made after the end of the execution.
fn nowhere() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))
}

/// The address as std has it.
fn inet_name(name: Option<&Name>) -> SocketAddr {
    match name {
        Some(Name::Inet(address)) => *address,
        Some(Name::Unix(_)) | None => nowhere(),
    }
}
