//! Stands in for `std::os::unix::net`: Unix sockets, within a model those of the simulated kernel.
//!
//! | std | here |
//! |---|---|
//! | `UnixListener` | [`UnixListener`]: bind and listen are two steps, with a time in between at which `connect` is refused |
//! | `UnixStream` | [`UnixStream`]: a read gives all that is queued and fits; writes may be read together |
//! | `UnixDatagram` | [`UnixDatagram`]: messages keep their boundaries |
//! | `SocketAddr` | std's own; abstract names through [`SocketAddrExt`](super::super::linux::net::SocketAddrExt) |
//! | `Incoming` | [`Incoming`] |
//! | (listen(2)) | [`listen`], to make the backlog small enough for a model to fill |
//!
//! What a socket does at each call is Linux's behaviour, errors included; a test runs the same calls on the real kernel and
//! here. Not there: raw descriptors (`AsRawFd`, `AsFd` and their like, `From<OwnedFd>`), which have no number that the real
//! kernel would know, and what std itself has only on its nightly channel (peer credentials, ancillary data, `peek`).

mod datagram;
mod listener;
mod stream;

pub use std::os::unix::net::SocketAddr;

pub use datagram::UnixDatagram;
pub use listener::{Incoming, UnixListener, listen};
pub use stream::UnixStream;

use crate::model::world::{Call, Errno, Name, Spot, Sys};

/// The address of a socket that has none.
fn unnamed() -> SocketAddr {
    SocketAddr::from_pathname("").expect("a short path without NUL")
}

/// The address as std has it.
fn unix_name(name: Option<&Name>) -> SocketAddr {
    match name {
        Some(Name::Unix(address)) => address.clone(),
        Some(Name::Inet(_)) | None => unnamed(),
    }
}

/// Where an address leads that somebody connects to, or has bound, in a model: EINVAL if it is unnamed.
fn spot_of(address: &SocketAddr) -> Sys<Spot<'_>> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(name) = std::os::linux::net::SocketAddrExt::as_abstract_name(address) {
        return Ok(Spot::Abstract(name));
    }
    match address.as_pathname() {
        Some(path) => Ok(Spot::Path(path)),
        None => Err(Errno::INVAL.into()),
    }
}

/// The address that a socket gets which somebody binds to `address` in a model: Linux chooses an abstract name if it is unnamed.
fn address_to_bind(call: Call<'_>, address: &SocketAddr) -> Sys<SocketAddr> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if address.is_unnamed() {
        let name = format!("{:05x}", call.number_for_a_name()?);
        let address = <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name);
        return Ok(address.expect("a short name"));
    }
    let _ = call;
    Ok(address.clone())
}
