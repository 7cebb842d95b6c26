//! The scripts on the real kernel.

/// What they use.
mod api {
    pub(crate) use std::os::unix::fs::{FileTypeExt, MetadataExt};
    pub(crate) use std::os::unix::net::{UnixListener, UnixStream};
    pub(crate) use std::{fs, thread};
}

#[path = "files.rs"]
pub(crate) mod files;
#[path = "locks.rs"]
pub(crate) mod locks;
#[path = "sockets.rs"]
pub(crate) mod sockets;
#[path = "streams.rs"]
pub(crate) mod streams;
