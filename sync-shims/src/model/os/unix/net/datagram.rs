//! Stands in for `std::os::unix::net::UnixDatagram`.

use std::fmt;
use std::io;
use std::net::Shutdown;
use std::os::unix::net as real;
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{SocketAddr, address_to_bind, spot_of, unnamed};
use crate::model::event::Site;
use crate::model::world::{Call, Datagram, Fd, Halt, OrInert, Shut, Sys, To, enter};

/// Stands in for [`std::os::unix::net::UnixDatagram`].
///
/// A message is received whole or cut to the buffer. As on Linux, 11 messages can wait at a socket, then senders wait; between
/// two sockets that are connected to each other it is the send buffer that counts (here: 278 messages). Dropping the last
/// descriptor closes the socket: its file stays, messages that nobody received are lost, and nobody is told but those who send
/// to it later (ECONNREFUSED, once, and then ENOTCONN, if they are connected to it).
///
/// A socket that outlives its execution answers EBADF; another execution that uses it fails as `outside`.
pub struct UnixDatagram(Inner);

enum Inner {
    Real(real::UnixDatagram),
    Model(Fd<Datagram>),
    /// Made after the end of the execution.
    Inert,
}

impl UnixDatagram {
    fn model(socket: Datagram) -> Self {
        UnixDatagram(Inner::Model(Fd::new(Arc::new(socket))))
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::bind`].
    ///
    /// # Errors
    ///
    /// EADDRINUSE if anything is at the path, ENOENT or ENOTDIR if the directory is not there or is none, `InvalidInput`
    /// (without a number) if the path is longer than 107 bytes or contains a NUL.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        UnixDatagram::bind_addr(&SocketAddr::from_pathname(path)?)
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::bind_addr`].
    ///
    /// # Errors
    ///
    /// As [`UnixDatagram::bind`]; an unnamed address becomes an abstract name that the kernel chooses.
    #[track_caller]
    pub fn bind_addr(address: &SocketAddr) -> io::Result<UnixDatagram> {
        enter(Location::caller(), |call| match call {
            None => real::UnixDatagram::bind_addr(address).map(|socket| UnixDatagram(Inner::Real(socket))),
            Some(call) => address_to_bind(call, address)
                .and_then(|address| Datagram::bind(call, spot_of(&address)?, address.clone()))
                .map(UnixDatagram::model)
                .or_inert(|| UnixDatagram(Inner::Inert)),
        })
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::unbound`].
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn unbound() -> io::Result<UnixDatagram> {
        enter(Location::caller(), |call| match call {
            None => real::UnixDatagram::unbound().map(|socket| UnixDatagram(Inner::Real(socket))),
            Some(call) => Datagram::unbound(call).map(UnixDatagram::model).or_inert(|| UnixDatagram(Inner::Inert)),
        })
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::pair`].
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        enter(Location::caller(), |call| match call {
            None => {
                real::UnixDatagram::pair().map(|(a, b)| (UnixDatagram(Inner::Real(a)), UnixDatagram(Inner::Real(b))))
            }
            Some(call) => Datagram::pair(call)
                .map(|[a, b]| (UnixDatagram::model(a), UnixDatagram::model(b)))
                .or_inert(|| (UnixDatagram(Inner::Inert), UnixDatagram(Inner::Inert))),
        })
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::connect`]: from then on only the other socket's messages come.
    ///
    /// # Errors
    ///
    /// ENOENT if nothing is at the path, ECONNREFUSED if no socket has it any more or it is no socket file, EPROTOTYPE if it is
    /// a stream socket's, EPERM if that one is connected to a third, `InvalidInput` as [`UnixDatagram::bind`].
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.connect_addr(&SocketAddr::from_pathname(path)?)
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::connect_addr`].
    ///
    /// # Errors
    ///
    /// As [`UnixDatagram::connect`]. To connect to another socket while the present peer is connected to this one fails the
    /// model.
    #[track_caller]
    pub fn connect_addr(&self, address: &SocketAddr) -> io::Result<()> {
        match &self.0 {
            Inner::Real(socket) => socket.connect_addr(address),
            _ => self.call(Location::caller(), |call, socket| socket.connect(call, spot_of(address)?)).or_inert(|| ()),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::try_clone`]: one more descriptor of the same socket.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<UnixDatagram> {
        match &self.0 {
            Inner::Real(socket) => socket.try_clone().map(|socket| UnixDatagram(Inner::Real(socket))),
            Inner::Model(socket) => socket
                .try_clone(Location::caller())
                .map(|socket| UnixDatagram(Inner::Model(socket)))
                .or_inert(|| UnixDatagram(Inner::Inert)),
            Inner::Inert => Ok(UnixDatagram(Inner::Inert)),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::local_addr`].
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            Inner::Real(socket) => socket.local_addr(),
            Inner::Model(socket) => Ok(socket.local().cloned().unwrap_or_else(unnamed)),
            Inner::Inert => Ok(unnamed()),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::peer_addr`].
    ///
    /// # Errors
    ///
    /// ENOTCONN if the socket is not connected.
    #[track_caller]
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            Inner::Real(socket) => socket.peer_addr(),
            _ => self
                .call(Location::caller(), |call, socket| socket.peer(call))
                .map(|address| address.unwrap_or_else(unnamed))
                .or_inert(unnamed),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::recv_from`]: waits for a message.
    ///
    /// # Errors
    ///
    /// EAGAIN if there is none and the socket is non-blocking, or the time is over.
    #[track_caller]
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        match &self.0 {
            Inner::Real(socket) => socket.recv_from(buffer),
            _ => self
                .call(Location::caller(), |call, socket| socket.receive(call, buffer))
                .map(|(count, sender)| (count, sender.unwrap_or_else(unnamed)))
                .or_inert(|| (0, unnamed())),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::recv`].
    ///
    /// # Errors
    ///
    /// As [`UnixDatagram::recv_from`].
    #[track_caller]
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.0 {
            Inner::Real(socket) => socket.recv(buffer),
            _ => self
                .call(Location::caller(), |call, socket| socket.receive(call, buffer))
                .map(|(count, _)| count)
                .or_inert(|| 0),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::send_to`].
    ///
    /// # Errors
    ///
    /// Those of [`UnixDatagram::connect`] and [`UnixDatagram::send`].
    #[track_caller]
    pub fn send_to<P: AsRef<Path>>(&self, data: &[u8], path: P) -> io::Result<usize> {
        self.send_to_addr(data, &SocketAddr::from_pathname(path)?)
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::send_to_addr`].
    ///
    /// # Errors
    ///
    /// As [`UnixDatagram::send_to`].
    #[track_caller]
    pub fn send_to_addr(&self, data: &[u8], address: &SocketAddr) -> io::Result<usize> {
        match &self.0 {
            Inner::Real(socket) => socket.send_to_addr(data, address),
            _ => self
                .call(Location::caller(), |call, socket| socket.send(call, To::Name(spot_of(address)?), data))
                .or_inert(|| data.len()),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::send`]: waits until the other's queue has room.
    ///
    /// # Errors
    ///
    /// ENOTCONN if the socket is not connected, ECONNREFUSED once when its peer is closed, EPERM if the peer is connected to a
    /// third, EPIPE after a shutdown of either side, EMSGSIZE beyond 212,960 bytes, EAGAIN if the queue is full and the socket
    /// non-blocking, or the time is over.
    #[track_caller]
    pub fn send(&self, data: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Inner::Real(socket) => socket.send(data),
            _ => {
                self.call(Location::caller(), |call, socket| socket.send(call, To::Peer, data)).or_inert(|| data.len())
            }
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::set_read_timeout`]. In a model the time may be over at once or after
    /// others have run.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the time is zero.
    #[track_caller]
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match &self.0 {
            Inner::Real(socket) => socket.set_read_timeout(timeout),
            _ => self.set_timeout(Shut::Read, timeout, Location::caller()),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::set_write_timeout`]; see [`UnixDatagram::set_read_timeout`].
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the time is zero.
    #[track_caller]
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match &self.0 {
            Inner::Real(socket) => socket.set_write_timeout(timeout),
            _ => self.set_timeout(Shut::Write, timeout, Location::caller()),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::read_timeout`].
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn read_timeout(&self) -> io::Result<Option<Duration>> {
        match &self.0 {
            Inner::Real(socket) => socket.read_timeout(),
            Inner::Model(socket) => Ok(socket.timeout(Shut::Read)),
            Inner::Inert => Ok(None),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::write_timeout`].
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn write_timeout(&self) -> io::Result<Option<Duration>> {
        match &self.0 {
            Inner::Real(socket) => socket.write_timeout(),
            Inner::Model(socket) => Ok(socket.timeout(Shut::Write)),
            Inner::Inert => Ok(None),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::set_nonblocking`]: all clones share it.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match &self.0 {
            Inner::Real(socket) => socket.set_nonblocking(nonblocking),
            _ => {
                self.call(Location::caller(), |call, socket| socket.set_nonblocking(call, nonblocking)).or_inert(|| ())
            }
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::take_error`]: never one in a model.
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        match &self.0 {
            Inner::Real(socket) => socket.take_error(),
            Inner::Model(_) | Inner::Inert => Ok(None),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixDatagram::shutdown`]: for all clones.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match &self.0 {
            Inner::Real(socket) => socket.shutdown(how),
            _ => self
                .call(Location::caller(), |call, socket| {
                    socket.shutdown(call, how != Shutdown::Write, how != Shutdown::Read)
                })
                .or_inert(|| ()),
        }
    }

    /// A call on a socket that is not a real one.
    fn call<T>(&self, site: Site, f: impl FnOnce(Call<'_>, &Datagram) -> Sys<T>) -> Sys<T> {
        match &self.0 {
            Inner::Model(socket) => socket.call(site, f),
            Inner::Real(_) | Inner::Inert => Err(Halt::Inert),
        }
    }

    fn set_timeout(&self, way: Shut, timeout: Option<Duration>, site: Site) -> io::Result<()> {
        if timeout == Some(Duration::ZERO) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "cannot set a 0 duration timeout"));
        }
        self.call(site, |call, socket| socket.set_timeout(call, way, timeout)).or_inert(|| ())
    }
}

impl fmt::Debug for UnixDatagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Real(socket) => socket.fmt(f),
            Inner::Model(socket) => {
                f.debug_struct("UnixDatagram").field("local", &socket.local().unwrap_or(&unnamed())).finish()
            }
            Inner::Inert => f.write_str("UnixDatagram"),
        }
    }
}
