//! Stands in for `std::net::ToSocketAddrs`.

use std::io;
use std::net::{self, IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::panic::Location;
use std::{iter, option, slice, vec};

use crate::model::world::enter;

/// Stands in for [`std::net::ToSocketAddrs`]. A name is not looked up within a model, where the answer could change from one
/// execution to the next: `localhost` is 127.0.0.1, and there is no other host.
pub trait ToSocketAddrs {
    /// Stands in for [`std::net::ToSocketAddrs::Iter`].
    type Iter: Iterator<Item = SocketAddr>;

    /// Stands in for [`std::net::ToSocketAddrs::to_socket_addrs`].
    ///
    /// # Errors
    ///
    /// As std's; in a model, `InvalidInput` for what is no address, and `Uncategorized`, as std's failed look-ups, for a host
    /// that is not `localhost`.
    fn to_socket_addrs(&self) -> io::Result<Self::Iter>;
}

macro_rules! one_address {
    ($($type:ty,)*) => {
        $(impl ToSocketAddrs for $type {
            type Iter = option::IntoIter<SocketAddr>;

            fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
                net::ToSocketAddrs::to_socket_addrs(self)
            }
        })*
    };
}

one_address!(SocketAddr, SocketAddrV4, SocketAddrV6, (IpAddr, u16), (Ipv4Addr, u16), (Ipv6Addr, u16),);

impl ToSocketAddrs for (&str, u16) {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        enter(Location::caller(), |call| match call {
            None => net::ToSocketAddrs::to_socket_addrs(self),
            Some(_) => Ok(vec![SocketAddr::from((host(self.0)?, self.1))].into_iter()),
        })
    }
}

impl ToSocketAddrs for (String, u16) {
    type Iter = vec::IntoIter<SocketAddr>;

    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        (self.0.as_str(), self.1).to_socket_addrs()
    }
}

impl ToSocketAddrs for str {
    type Iter = vec::IntoIter<SocketAddr>;

    #[track_caller]
    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        enter(Location::caller(), |call| match (call, self.rsplit_once(':')) {
            // What does not need the resolver is std's affair in a model, too.
            (Some(_), Some((name, port))) if self.parse::<SocketAddr>().is_err() && port.parse::<u16>().is_ok() => {
                let port = port.parse().expect("just parsed");
                Ok(vec![SocketAddr::from((host(name)?, port))].into_iter())
            }
            _ => net::ToSocketAddrs::to_socket_addrs(self),
        })
    }
}

impl ToSocketAddrs for String {
    type Iter = vec::IntoIter<SocketAddr>;

    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        self.as_str().to_socket_addrs()
    }
}

impl<'a> ToSocketAddrs for &'a [SocketAddr] {
    type Iter = iter::Cloned<slice::Iter<'a, SocketAddr>>;

    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        Ok(self.iter().cloned())
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {
    type Iter = T::Iter;

    fn to_socket_addrs(&self) -> io::Result<T::Iter> {
        (**self).to_socket_addrs()
    }
}

/// The address of a host in a model.
fn host(name: &str) -> io::Result<IpAddr> {
    match name.parse() {
        Ok(address) => Ok(address),
        Err(_) if name == "localhost" => Ok(Ipv4Addr::LOCALHOST.into()),
        Err(_) => Err(io::Error::other(format!(
            "failed to lookup address information: a model knows no host `{name}` but `localhost`"
        ))),
    }
}

/// The first success of `f` with the addresses, or the last error (as std has it).
#[track_caller]
pub(super) fn each<A: ToSocketAddrs, T>(addresses: A, mut f: impl FnMut(SocketAddr) -> io::Result<T>) -> io::Result<T> {
    let mut last = None;
    for address in addresses.to_socket_addrs()? {
        match f(address) {
            Ok(result) => return Ok(result),
            Err(error) => last = Some(error),
        }
    }
    let none = || io::Error::new(io::ErrorKind::InvalidInput, "could not resolve to any addresses");
    Err(last.unwrap_or_else(none))
}
