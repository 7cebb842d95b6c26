//! Stands in for `std::os::linux::net`: abstract names of Unix sockets.

pub use std::os::linux::net::SocketAddrExt;
