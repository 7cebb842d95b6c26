//! Stands in for `std::net::TcpListener`.

use std::fmt;
use std::io;
use std::net as real;
use std::panic::Location;

use super::addresses::each;
use super::stream::TcpStream;
use super::{SocketAddr, ToSocketAddrs, inet_name, nowhere};
use crate::model::event::Site;
use crate::model::world::{Call, Errno, Fd, Halt, Listener, OrInert, Sys, enter};

/// Stands in for [`std::net::TcpListener`].
///
/// Dropping the last descriptor gives up the port, and resets connections that nobody accepted.
///
/// A listener that outlives its execution answers EBADF; another execution that uses it fails as `outside`.
pub struct TcpListener(Inner);

enum Inner {
    Real(real::TcpListener),
    Model(Fd<Listener>),
    /// Made after the end of the execution.
    Inert,
}

impl TcpListener {
    /// Stands in for [`std::net::TcpListener::bind`], with SO_REUSEADDR.
    ///
    /// # Errors
    ///
    /// EADDRINUSE if somebody listens at the port, at this address or at all, or a client has it; EADDRNOTAVAIL if the address
    /// is none of the loopback interface; those of [`ToSocketAddrs::to_socket_addrs`].
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(address: A) -> io::Result<TcpListener> {
        let site = Location::caller();
        each(address, |address| {
            enter(site, |call| match call {
                None => real::TcpListener::bind(address).map(|listener| TcpListener(Inner::Real(listener))),
                Some(call) => Listener::bind_tcp(call, address)
                    .map(|listener| TcpListener(Inner::Model(Fd::new(listener))))
                    .or_inert(|| TcpListener(Inner::Inert)),
            })
        })
    }

    /// Stands in for [`std::net::TcpListener::accept`]: waits for a connection.
    ///
    /// # Errors
    ///
    /// EAGAIN if the socket is non-blocking and nobody is there.
    #[track_caller]
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        match &self.0 {
            Inner::Real(listener) => listener.accept().map(|(stream, peer)| (TcpStream::real(stream), peer)),
            _ => {
                let accepted = self.call(Location::caller(), |call, listener| listener.accept(call));
                // Accepting is what loops do for ever: after the end of the execution it is an error.
                accepted.map(Some).or_inert(|| None)?.map_or_else(
                    || Err(Errno::BADF.into()),
                    |end| {
                        let peer = inet_name(end.names().peer.as_ref());
                        Ok((TcpStream::model(end), peer))
                    },
                )
            }
        }
    }

    /// Stands in for [`std::net::TcpListener::try_clone`]: one more descriptor of the same socket.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<TcpListener> {
        match &self.0 {
            Inner::Real(listener) => listener.try_clone().map(|listener| TcpListener(Inner::Real(listener))),
            Inner::Model(listener) => listener
                .try_clone(Location::caller())
                .map(|listener| TcpListener(Inner::Model(listener)))
                .or_inert(|| TcpListener(Inner::Inert)),
            Inner::Inert => Ok(TcpListener(Inner::Inert)),
        }
    }

    /// Stands in for [`std::net::TcpListener::local_addr`]: with the port that was chosen, if that was 0.
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.0 {
            Inner::Real(listener) => listener.local_addr(),
            Inner::Model(listener) => Ok(inet_name(Some(listener.address()))),
            Inner::Inert => Ok(nowhere()),
        }
    }

    /// Stands in for [`std::net::TcpListener::set_nonblocking`]. Accepted streams do not inherit it.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match &self.0 {
            Inner::Real(listener) => listener.set_nonblocking(nonblocking),
            _ => self
                .call(Location::caller(), |call, listener| listener.set_nonblocking(call, nonblocking))
                .or_inert(|| ()),
        }
    }

    /// Stands in for [`std::net::TcpListener::ttl`].
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn ttl(&self) -> io::Result<u32> {
        match &self.0 {
            Inner::Real(listener) => listener.ttl(),
            _ => self.call(Location::caller(), |call, listener| listener.options.ttl(call)).or_inert(|| 0),
        }
    }

    /// Stands in for [`std::net::TcpListener::set_ttl`]. Nothing comes of it in a model.
    ///
    /// # Errors
    ///
    /// EINVAL unless it is 1 to 255.
    #[track_caller]
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        match &self.0 {
            Inner::Real(listener) => listener.set_ttl(ttl),
            _ => self.call(Location::caller(), |call, listener| listener.options.set_ttl(call, ttl)).or_inert(|| ()),
        }
    }

    /// Stands in for [`std::net::TcpListener::take_error`]: never one in a model.
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

    /// Stands in for [`std::net::TcpListener::incoming`].
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self }
    }

    /// A call on a listener that is not a real one.
    fn call<T>(&self, site: Site, f: impl FnOnce(Call<'_>, &Listener) -> Sys<T>) -> Sys<T> {
        match &self.0 {
            Inner::Model(listener) => listener.call(site, f),
            Inner::Real(_) | Inner::Inert => Err(Halt::Inert),
        }
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Real(listener) => listener.fmt(f),
            Inner::Model(listener) => {
                f.debug_struct("TcpListener").field("addr", &inet_name(Some(listener.address()))).finish()
            }
            Inner::Inert => f.write_str("TcpListener"),
        }
    }
}

/// Stands in for [`std::net::Incoming`]: accepts one connection after the other, for ever.
#[derive(Debug)]
pub struct Incoming<'a> {
    listener: &'a TcpListener,
}

impl Iterator for Incoming<'_> {
    type Item = io::Result<TcpStream>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<TcpStream>> {
        Some(self.listener.accept().map(|(stream, _)| stream))
    }
}

impl std::iter::FusedIterator for Incoming<'_> {}
