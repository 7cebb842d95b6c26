//! Stands in for `std::net::TcpStream`.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net as real;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::addresses::each;
use super::{Shutdown, SocketAddr, ToSocketAddrs, inet_name};
use crate::model::event::Site;
use crate::model::vectored::{gather, scatter, stream_io_traits};
use crate::model::world::{Access, Call, Endpoint, Fd, Halt, OrInert, Shut, Sys, connect_tcp, enter};

/// Stands in for [`std::net::TcpStream`].
///
/// Dropping the last descriptor closes this end: the other one reads what is queued and then the end of file (or, if it had
/// sent something that was not read here, ECONNRESET once before). Its first write is lost then, and the next is EPIPE.
///
/// In a model, a read of two bytes or more may give the first byte alone, as often as the budget for spurious events allows:
/// TCP does not keep the boundaries of writes.
///
/// A stream that outlives its execution answers EBADF; another execution that uses it fails as `outside`.
pub struct TcpStream(Inner);

enum Inner {
    Real(real::TcpStream),
    Model(Fd<Endpoint>),
    /// Made after the end of the execution.
    Inert,
}

impl TcpStream {
    /// A stream of the real kernel.
    pub(super) fn real(stream: real::TcpStream) -> Self {
        TcpStream(Inner::Real(stream))
    }

    /// A stream of the simulated kernel.
    pub(super) fn model(endpoint: Endpoint) -> Self {
        TcpStream(Inner::Model(Fd::new(Arc::new(endpoint))))
    }

    /// Stands in for [`std::net::TcpStream::connect`], which does not wait to be accepted.
    ///
    /// # Errors
    ///
    /// ECONNREFUSED if nobody listens at the port, ENETUNREACH if the address is none of the loopback interface; those of
    /// [`ToSocketAddrs::to_socket_addrs`].
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(address: A) -> io::Result<TcpStream> {
        let site = Location::caller();
        each(address, |address| TcpStream::connect_to(address, site, || real::TcpStream::connect(address)))
    }

    /// Stands in for [`std::net::TcpStream::connect_timeout`]. In a model the time is never over: who listens takes the
    /// connection at once.
    ///
    /// # Errors
    ///
    /// As [`TcpStream::connect`]; `InvalidInput` if the time is zero.
    #[track_caller]
    pub fn connect_timeout(address: &SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        if timeout.is_zero() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "cannot set a 0 duration timeout"));
        }
        TcpStream::connect_to(*address, Location::caller(), || real::TcpStream::connect_timeout(address, timeout))
    }

    fn connect_to(
        address: SocketAddr,
        site: Site,
        outside: impl FnOnce() -> io::Result<real::TcpStream>,
    ) -> io::Result<TcpStream> {
        enter(site, |call| match call {
            None => outside().map(TcpStream::real),
            Some(call) => connect_tcp(call, address).map(TcpStream::model).or_inert(|| TcpStream(Inner::Inert)),
        })
    }

    /// Stands in for [`std::net::TcpStream::try_clone`]: one more descriptor of the same end.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<TcpStream> {
        match &self.0 {
            Inner::Real(stream) => stream.try_clone().map(TcpStream::real),
            Inner::Model(end) => end
                .try_clone(Location::caller())
                .map(|end| TcpStream(Inner::Model(end)))
                .or_inert(|| TcpStream(Inner::Inert)),
            Inner::Inert => Ok(TcpStream(Inner::Inert)),
        }
    }

    /// Stands in for [`std::net::TcpStream::local_addr`].
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            Inner::Real(stream) => stream.local_addr(),
            Inner::Model(end) => Ok(inet_name(end.names().local.as_ref())),
            Inner::Inert => Ok(inet_name(None)),
        }
    }

    /// Stands in for [`std::net::TcpStream::peer_addr`].
    ///
    /// # Errors
    ///
    /// None in a model, where a stream that was reset still knows whom it was connected to.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            Inner::Real(stream) => stream.peer_addr(),
            Inner::Model(end) => Ok(inet_name(end.names().peer.as_ref())),
            Inner::Inert => Ok(inet_name(None)),
        }
    }

    /// Stands in for [`std::net::TcpStream::shutdown`]: for all clones.
    ///
    /// # Errors
    ///
    /// ENOTCONN if both ends have finished writing, or the connection was reset.
    #[track_caller]
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match &self.0 {
            Inner::Real(stream) => stream.shutdown(how),
            _ => self
                .call(Location::caller(), |call, end| end.shutdown(call, how != Shutdown::Write, how != Shutdown::Read))
                .or_inert(|| ()),
        }
    }

    /// Stands in for [`std::net::TcpStream::set_read_timeout`]. In a model a read that finds nothing then gives up at once or
    /// after others have run.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the time is zero.
    #[track_caller]
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match &self.0 {
            Inner::Real(stream) => stream.set_read_timeout(timeout),
            _ => self.set_timeout(Shut::Read, timeout, Location::caller()),
        }
    }

    /// Stands in for [`std::net::TcpStream::set_write_timeout`]; see [`TcpStream::set_read_timeout`].
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the time is zero.
    #[track_caller]
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match &self.0 {
            Inner::Real(stream) => stream.set_write_timeout(timeout),
            _ => self.set_timeout(Shut::Write, timeout, Location::caller()),
        }
    }

    /// Stands in for [`std::net::TcpStream::read_timeout`].
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn read_timeout(&self) -> io::Result<Option<Duration>> {
        match &self.0 {
            Inner::Real(stream) => stream.read_timeout(),
            Inner::Model(end) => Ok(end.timeout(Shut::Read)),
            Inner::Inert => Ok(None),
        }
    }

    /// Stands in for [`std::net::TcpStream::write_timeout`].
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn write_timeout(&self) -> io::Result<Option<Duration>> {
        match &self.0 {
            Inner::Real(stream) => stream.write_timeout(),
            Inner::Model(end) => Ok(end.timeout(Shut::Write)),
            Inner::Inert => Ok(None),
        }
    }

    /// Stands in for [`std::net::TcpStream::peek`]: as `read`, but nothing is taken.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    #[track_caller]
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.0 {
            Inner::Real(stream) => stream.peek(buffer),
            _ => self.call(Location::caller(), |call, end| end.peek(call, buffer)).or_inert(|| 0),
        }
    }

    /// Stands in for [`std::net::TcpStream::set_nodelay`]. Nothing comes of it in a model, where no write is delayed.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        match &self.0 {
            Inner::Real(stream) => stream.set_nodelay(nodelay),
            _ => self.call(Location::caller(), |call, end| end.options.set_nodelay(call, nodelay)).or_inert(|| ()),
        }
    }

    /// Stands in for [`std::net::TcpStream::nodelay`].
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn nodelay(&self) -> io::Result<bool> {
        match &self.0 {
            Inner::Real(stream) => stream.nodelay(),
            _ => self.call(Location::caller(), |call, end| end.options.nodelay(call)).or_inert(|| false),
        }
    }

    /// Stands in for [`std::net::TcpStream::set_ttl`]. Nothing comes of it in a model.
    ///
    /// # Errors
    ///
    /// EINVAL unless it is 1 to 255.
    #[track_caller]
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        match &self.0 {
            Inner::Real(stream) => stream.set_ttl(ttl),
            _ => self.call(Location::caller(), |call, end| end.options.set_ttl(call, ttl)).or_inert(|| ()),
        }
    }

    /// Stands in for [`std::net::TcpStream::ttl`].
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn ttl(&self) -> io::Result<u32> {
        match &self.0 {
            Inner::Real(stream) => stream.ttl(),
            _ => self.call(Location::caller(), |call, end| end.options.ttl(call)).or_inert(|| 0),
        }
    }

    /// Stands in for [`std::net::TcpStream::take_error`].
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        match &self.0 {
            Inner::Real(stream) => stream.take_error(),
            _ => self
                .call(Location::caller(), |call, end| end.take_error(call))
                .map(|error| error.map(io::Error::from))
                .or_inert(|| None),
        }
    }

    /// Stands in for [`std::net::TcpStream::set_nonblocking`]: all clones share it.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match &self.0 {
            Inner::Real(stream) => stream.set_nonblocking(nonblocking),
            _ => self.call(Location::caller(), |call, end| end.set_nonblocking(call, nonblocking)).or_inert(|| ()),
        }
    }

    #[track_caller]
    fn read_from(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.0 {
            Inner::Real(stream) => (&mut { stream }).read(buffer),
            _ => self.call(Location::caller(), |call, end| end.read(call, buffer)).or_inert(|| 0),
        }
    }

    #[track_caller]
    fn write_as(&self, access: Access, data: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Inner::Real(stream) => (&mut { stream }).write(data),
            _ => self.call(Location::caller(), |call, end| end.write(call, access, data)).or_inert(|| data.len()),
        }
    }

    /// A call on a stream that is not a real one.
    fn call<T>(&self, site: Site, f: impl FnOnce(Call<'_>, &Endpoint) -> Sys<T>) -> Sys<T> {
        match &self.0 {
            Inner::Model(end) => end.call(site, f),
            Inner::Real(_) | Inner::Inert => Err(Halt::Inert),
        }
    }

    fn set_timeout(&self, way: Shut, timeout: Option<Duration>, site: Site) -> io::Result<()> {
        if timeout == Some(Duration::ZERO) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "cannot set a 0 duration timeout"));
        }
        self.call(site, |call, end| end.set_timeout(call, way, timeout)).or_inert(|| ())
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Real(stream) => stream.fmt(f),
            Inner::Model(end) => {
                let mut s = f.debug_struct("TcpStream");
                s.field("addr", &inet_name(end.names().local.as_ref()));
                s.field("peer", &inet_name(end.names().peer.as_ref())).finish()
            }
            Inner::Inert => f.write_str("TcpStream"),
        }
    }
}

stream_io_traits!(TcpStream, Access::Exclusive);
stream_io_traits!(&TcpStream, Access::Shared);
