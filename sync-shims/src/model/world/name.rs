//! What sockets are called.

use std::net;
use std::os::unix::net as unix;
use std::path::Path;

use super::call::{Call, Step, Sys};
use super::entry::{Entry, Place};
use super::errno::Errno;

/// The address of a socket.
#[derive(Clone, Debug)]
pub(crate) enum Name {
    /// A path or an abstract name.
    Unix(unix::SocketAddr),
    /// An address and a port.
    Inet(net::SocketAddr),
}

/// The type of a Unix socket: each has abstract names of its own, and all have the same paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketKind {
    /// SOCK_STREAM.
    Stream,
    /// SOCK_DGRAM.
    Datagram,
}

/// Where a Unix socket is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spot<'a> {
    /// A path.
    Path(&'a Path),
    /// An abstract name (see unix(7)): it is nowhere in the file system, and goes away with its socket.
    Abstract(&'a [u8]),
}

impl Spot<'_> {
    /// The place in the namespace where a socket is made.
    pub(crate) fn place(self, call: Call<'_>, kind: SocketKind) -> Sys<Place> {
        match self {
            Spot::Path(path) => Place::find(call, path),
            Spot::Abstract(name) => Place::of_abstract_name(call, name, kind),
        }
    }

    /// What is there, after symbolic links have been followed.
    pub(crate) fn look_up(self, call: Call<'_>, kind: SocketKind, step: &'static Step) -> Sys<Entry> {
        let look = |place: &Place| place.act(call, step, Entry::ABSENT);
        match self {
            Spot::Path(path) => Ok(Place::follow(call, path, look)?.1),
            Spot::Abstract(name) => look(&Place::of_abstract_name(call, name, kind)?),
        }
    }

    /// What a call on this name gets if there is nothing.
    pub(crate) fn nothing_there(self) -> Errno {
        match self {
            Spot::Path(_) => Errno::NOENT,
            Spot::Abstract(_) => Errno::CONNREFUSED,
        }
    }
}
