//! Stands in for `std::os::unix::net::UnixListener`.

use std::ffi::c_int;
use std::fmt;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net as real;
use std::panic::Location;
use std::path::Path;

use super::stream::UnixStream;
use super::{SocketAddr, address_to_bind, spot_of, unix_name, unnamed};
use crate::model::world::{Errno, Fd, Listener, OrInert, enter};

/// Stands in for [`std::os::unix::net::UnixListener`].
///
/// Dropping the last descriptor closes the socket: its file stays and refuses connections (an abstract name goes away), and
/// connections that nobody accepted are reset.
///
/// A listener that outlives its execution answers EBADF; another execution that uses it fails as `outside`.
pub struct UnixListener(Inner);

enum Inner {
    Real(real::UnixListener),
    Model(Fd<Listener>),
    /// Made after the end of the execution.
    Inert,
}

impl UnixListener {
    /// Stands in for [`std::os::unix::net::UnixListener::bind`]: bind(2), which makes the file, then listen(2).
    ///
    /// # Errors
    ///
    /// EADDRINUSE if anything is at the path, ENOENT or ENOTDIR if the directory is not there or is none, `InvalidInput`
    /// (without a number) if the path is longer than 107 bytes or contains a NUL.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        UnixListener::bind_addr(&SocketAddr::from_pathname(path)?)
    }

    /// Stands in for [`std::os::unix::net::UnixListener::bind_addr`].
    ///
    /// # Errors
    ///
    /// As [`UnixListener::bind`]; an unnamed address becomes an abstract name that the kernel chooses.
    #[track_caller]
    pub fn bind_addr(address: &SocketAddr) -> io::Result<UnixListener> {
        enter(Location::caller(), |call| match call {
            None => real::UnixListener::bind_addr(address).map(|listener| UnixListener(Inner::Real(listener))),
            Some(call) => address_to_bind(call, address)
                .and_then(|address| Listener::bind(call, spot_of(&address)?, address.clone()))
                .map(|listener| UnixListener(Inner::Model(Fd::new(listener))))
                .or_inert(|| UnixListener(Inner::Inert)),
        })
    }

    /// Stands in for [`std::os::unix::net::UnixListener::accept`]: waits for a connection.
    ///
    /// # Errors
    ///
    /// EAGAIN if the socket is non-blocking and nobody is there.
    #[track_caller]
    pub fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        match &self.0 {
            Inner::Real(listener) => listener.accept().map(|(stream, peer)| (UnixStream::real(stream), peer)),
            Inner::Model(listener) => {
                let endpoint = listener.call(Location::caller(), |call, listener| listener.accept(call));
                // Accepting is what loops do for ever: after the end of the execution it is an error.
                endpoint.map(|e| Some(UnixStream::model(e))).or_inert(|| None).and_then(|stream| match stream {
                    Some(stream) => Ok((stream, unnamed())),
                    None => Err(Errno::BADF.into()),
                })
            }
            Inner::Inert => Err(Errno::BADF.into()),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixListener::try_clone`]: one more descriptor of the same socket.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<UnixListener> {
        match &self.0 {
            Inner::Real(listener) => listener.try_clone().map(|listener| UnixListener(Inner::Real(listener))),
            Inner::Model(listener) => listener
                .try_clone(Location::caller())
                .map(|listener| UnixListener(Inner::Model(listener)))
                .or_inert(|| UnixListener(Inner::Inert)),
            Inner::Inert => Ok(UnixListener(Inner::Inert)),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixListener::local_addr`]: the address it was bound to, whatever became of the
    /// file.
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            Inner::Real(listener) => listener.local_addr(),
            Inner::Model(listener) => Ok(unix_name(Some(listener.address()))),
            Inner::Inert => Ok(unnamed()),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixListener::set_nonblocking`]. Accepted streams do not inherit it.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match &self.0 {
            Inner::Real(listener) => listener.set_nonblocking(nonblocking),
            Inner::Model(listener) => listener
                .call(Location::caller(), |call, listener| listener.set_nonblocking(call, nonblocking))
                .or_inert(|| ()),
            Inner::Inert => Ok(()),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixListener::take_error`]: never one in a model.
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        match &self.0 {
            Inner::Real(listener) => listener.take_error(),
            Inner::Model(_) | Inner::Inert => Ok(None),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixListener::incoming`].
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self }
    }
}

/// Stands in for listen(2), called again on a socket that listens: in a model, `backlog` connections and one more may wait to
/// be accepted from now on, and who connects waits for a place. Without it, the backlog is std's, which no model fills.
///
/// std has no such function. Outside a model it changes the backlog of the real socket.
///
/// # Errors
///
/// None in a model.
#[track_caller]
pub fn listen(listener: &UnixListener, backlog: u32) -> io::Result<()> {
    match &listener.0 {
        Inner::Real(real) => listen_again(real, backlog),
        Inner::Model(model) => model.call(Location::caller(), |call, model| model.limit(call, backlog)).or_inert(|| ()),
        Inner::Inert => Ok(()),
    }
}

fn listen_again(listener: &real::UnixListener, backlog: u32) -> io::Result<()> {
    unsafe extern "C" {
        fn listen(socket: c_int, backlog: c_int) -> c_int;
    }
    let backlog = c_int::try_from(backlog).unwrap_or(c_int::MAX);
    // SAFETY: 1. this is the C library's listen(2), which std links; 2. the descriptor is open as long as `listener` is.
    match unsafe { listen(listener.as_raw_fd(), backlog) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

impl fmt::Debug for UnixListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Real(listener) => listener.fmt(f),
            Inner::Model(listener) => {
                f.debug_struct("UnixListener").field("local", &unix_name(Some(listener.address()))).finish()
            }
            Inner::Inert => f.write_str("UnixListener"),
        }
    }
}

impl<'a> IntoIterator for &'a UnixListener {
    type Item = io::Result<UnixStream>;
    type IntoIter = Incoming<'a>;

    fn into_iter(self) -> Incoming<'a> {
        self.incoming()
    }
}

/// Stands in for [`std::os::unix::net::Incoming`]: accepts one connection after the other, for ever.
#[derive(Debug)]
pub struct Incoming<'a> {
    listener: &'a UnixListener,
}

impl Iterator for Incoming<'_> {
    type Item = io::Result<UnixStream>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<UnixStream>> {
        Some(self.listener.accept().map(|(stream, _)| stream))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}
