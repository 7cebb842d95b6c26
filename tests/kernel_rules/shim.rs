//! The scripts on the simulated kernel.

/// What they use.
mod api {
    pub(crate) use interleave::os::linux::net::SocketAddrExt;
    pub(crate) use interleave::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
    pub(crate) use interleave::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream, listen};
    pub(crate) use interleave::sync::atomic;
    pub(crate) use interleave::{fs, net, thread};
}

#[path = "abstract_names.rs"]
pub(crate) mod abstract_names;
#[path = "backlog.rs"]
pub(crate) mod backlog;
#[path = "bad_input.rs"]
pub(crate) mod bad_input;
#[path = "calls.rs"]
pub(crate) mod calls;
#[path = "datagrams.rs"]
pub(crate) mod datagrams;
#[path = "directories.rs"]
pub(crate) mod directories;
#[path = "symlinks.rs"]
pub(crate) mod symlinks;
#[path = "tcp.rs"]
pub(crate) mod tcp;

#[path = "files.rs"]
pub(crate) mod files;
#[path = "locks.rs"]
pub(crate) mod locks;
#[path = "sockets.rs"]
pub(crate) mod sockets;
#[path = "streams.rs"]
pub(crate) mod streams;
