//! Stands in for `std::os::unix::net`: Unix sockets, within a model those of the simulated kernel.
//!
//! | std | here |
//! |---|---|
//! | `UnixListener` | [`UnixListener`]: bind and listen are two steps, with a time in between at which `connect` is refused |
//! | `UnixStream` | [`UnixStream`]: a read gives all that is queued and fits; writes may be read together |
//! | `SocketAddr` | std's own |
//! | `Incoming` | [`Incoming`] |
//!
//! What a socket does at each call is Linux's behaviour, errors included; a test runs the same calls on the real kernel and
//! here. Not there: `UnixDatagram`, abstract names, raw descriptors.

mod listener;
mod stream;

pub use std::os::unix::net::SocketAddr;

pub use listener::{Incoming, UnixListener};
pub use stream::UnixStream;

use std::path::Path;

use crate::model::world::{Call, Errno, Sys};

/// The address of a socket that has none.
fn unnamed() -> SocketAddr {
    SocketAddr::from_pathname("").expect("a short path without NUL")
}

/// The path in an address that somebody binds or connects to in a model.
fn path_of<'a>(call: Call<'_>, address: &'a SocketAddr) -> Sys<&'a Path> {
    match address.as_pathname() {
        Some(path) => Ok(path),
        None if address.is_unnamed() => Err(Errno::INVAL.into()),
        None => call.unsupported("an abstract socket name"),
    }
}
