//! Stands in for `std::os::unix::net::UnixStream`.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::os::unix::net as real;
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{SocketAddr, spot_of, unix_name, unnamed};
use crate::model::vectored::{gather, scatter, stream_io_traits};
use crate::model::world::{Access, Call, Connection, Endpoint, Fd, Halt, OrInert, Shut, Sys, connect, enter};

/// Stands in for [`std::os::unix::net::UnixStream`].
///
/// Dropping the last descriptor closes this end: the other one reads what is queued and then the end of file (or ECONNRESET
/// once, if it had sent something that was not read here), and its writes are EPIPE.
///
/// A stream that outlives its execution answers EBADF; another execution that uses it fails as `outside`.
pub struct UnixStream(Inner);

enum Inner {
    Real(real::UnixStream),
    Model(Fd<Endpoint>),
    /// Made after the end of the execution.
    Inert,
}

impl UnixStream {
    /// A stream of the real kernel.
    pub(super) fn real(stream: real::UnixStream) -> Self {
        UnixStream(Inner::Real(stream))
    }

    /// A stream of the simulated kernel.
    pub(super) fn model(endpoint: Endpoint) -> Self {
        UnixStream(Inner::Model(Fd::new(Arc::new(endpoint))))
    }

    /// Stands in for [`std::os::unix::net::UnixStream::connect`]: connect(2), which does not wait to be accepted.
    ///
    /// # Errors
    ///
    /// ENOENT if nothing is at the path, ECONNREFUSED if nobody listens there (not yet, not any more, or it is no socket),
    /// `InvalidInput` (without a number) if the path is longer than 107 bytes or contains a NUL.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> io::Result<UnixStream> {
        UnixStream::connect_addr(&SocketAddr::from_pathname(path)?)
    }

    /// Stands in for [`std::os::unix::net::UnixStream::connect_addr`].
    ///
    /// # Errors
    ///
    /// As [`UnixStream::connect`]; ECONNREFUSED if nobody has the abstract name, EINVAL if the address is unnamed.
    #[track_caller]
    pub fn connect_addr(address: &SocketAddr) -> io::Result<UnixStream> {
        enter(Location::caller(), |call| match call {
            None => real::UnixStream::connect_addr(address).map(UnixStream::real),
            Some(call) => spot_of(address)
                .and_then(|spot| connect(call, spot))
                .map(UnixStream::model)
                .or_inert(|| UnixStream(Inner::Inert)),
        })
    }

    /// Stands in for [`std::os::unix::net::UnixStream::pair`].
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        enter(Location::caller(), |call| match call {
            None => real::UnixStream::pair().map(|(a, b)| (UnixStream::real(a), UnixStream::real(b))),
            Some(call) => {
                let [a, b] = Connection::pair(call).map(UnixStream::model);
                Ok((a, b))
            }
        })
    }

    /// Stands in for [`std::os::unix::net::UnixStream::try_clone`]: one more descriptor of the same end.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<UnixStream> {
        match &self.0 {
            Inner::Real(stream) => stream.try_clone().map(UnixStream::real),
            Inner::Model(end) => end
                .try_clone(Location::caller())
                .map(|end| UnixStream(Inner::Model(end)))
                .or_inert(|| UnixStream(Inner::Inert)),
            Inner::Inert => Ok(UnixStream(Inner::Inert)),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixStream::local_addr`].
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            Inner::Real(stream) => stream.local_addr(),
            Inner::Model(end) => Ok(unix_name(end.names().local.as_ref())),
            Inner::Inert => Ok(unnamed()),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixStream::peer_addr`]: on the connecting side, the address the listener was
    /// bound to.
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            Inner::Real(stream) => stream.peer_addr(),
            Inner::Model(end) => Ok(unix_name(end.names().peer.as_ref())),
            Inner::Inert => Ok(unnamed()),
        }
    }

    /// Stands in for [`std::os::unix::net::UnixStream::set_read_timeout`]. In a model a read that finds nothing then gives
    /// up at once or after others have run: any time may be over.
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

    /// Stands in for [`std::os::unix::net::UnixStream::set_write_timeout`]; see [`UnixStream::set_read_timeout`].
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

    /// Stands in for [`std::os::unix::net::UnixStream::read_timeout`].
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

    /// Stands in for [`std::os::unix::net::UnixStream::write_timeout`].
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

    /// Stands in for [`std::os::unix::net::UnixStream::set_nonblocking`]: all clones share it.
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

    /// Stands in for [`std::os::unix::net::UnixStream::take_error`].
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

    /// Stands in for [`std::os::unix::net::UnixStream::shutdown`]: for all clones.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        if let Inner::Real(stream) = &self.0 {
            return stream.shutdown(how);
        }
        self.call(Location::caller(), |call, end| end.shutdown(call, how != Shutdown::Write, how != Shutdown::Read))
            .or_inert(|| ())
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
    fn call<T>(&self, site: &'static Location<'static>, f: impl FnOnce(Call<'_>, &Endpoint) -> Sys<T>) -> Sys<T> {
        match &self.0 {
            Inner::Model(end) => end.call(site, f),
            Inner::Real(_) | Inner::Inert => Err(Halt::Inert),
        }
    }

    fn set_timeout(&self, way: Shut, timeout: Option<Duration>, site: &'static Location<'static>) -> io::Result<()> {
        if timeout == Some(Duration::ZERO) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "cannot set a 0 duration timeout"));
        }
        self.call(site, |call, end| end.set_timeout(call, way, timeout)).or_inert(|| ())
    }
}

impl fmt::Debug for UnixStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Real(stream) => stream.fmt(f),
            Inner::Model(end) => {
                let mut s = f.debug_struct("UnixStream");
                s.field("local", &unix_name(end.names().local.as_ref()));
                s.field("peer", &unix_name(end.names().peer.as_ref())).finish()
            }
            Inner::Inert => f.write_str("UnixStream"),
        }
    }
}

stream_io_traits!(UnixStream, Access::Exclusive);
stream_io_traits!(&UnixStream, Access::Shared);
