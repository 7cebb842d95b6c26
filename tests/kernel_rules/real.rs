//! The scripts on the real kernel.

/// What they use.
mod api {
    use std::os::fd::AsRawFd;
    pub(crate) use std::os::linux::net::SocketAddrExt;
    pub(crate) use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
    pub(crate) use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
    pub(crate) use std::sync::atomic;
    pub(crate) use std::{fs, net, thread};

    pub(crate) fn listen(listener: &UnixListener, backlog: u32) -> std::io::Result<()> {
        // SAFETY: the descriptor is open as long as `listener` is.
        match unsafe { libc::listen(listener.as_raw_fd(), backlog as i32) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }
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
