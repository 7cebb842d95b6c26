//! The scripts on the simulated kernel.

/// What they use.
mod api {
    pub(crate) use interleave::os::unix::fs::{FileTypeExt, MetadataExt};
    pub(crate) use interleave::os::unix::net::{UnixListener, UnixStream};
    pub(crate) use interleave::{fs, thread};
}

#[path = "files.rs"]
pub(crate) mod files;
#[path = "locks.rs"]
pub(crate) mod locks;
#[path = "sockets.rs"]
pub(crate) mod sockets;
#[path = "streams.rs"]
pub(crate) mod streams;
