use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use lib::net::{
    Incoming, IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, SocketAddrV4, SocketAddrV6, TcpListener, TcpStream,
    ToSocketAddrs,
};

#[test]
fn types_have_the_traits() {
    assert_impl!(TcpListener: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + std::fmt::Debug);
    assert_impl!(TcpStream: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + std::fmt::Debug + Read + Write);
    assert_impl!(&TcpStream: Read + Write);
    assert_impl!(Incoming<'_>: Send + std::fmt::Debug + Iterator<Item = std::io::Result<TcpStream>>);
    assert_impl!(Incoming<'_>: std::iter::FusedIterator);
    assert_not_impl!(TcpStream: Clone);
}

#[test]
fn a_listener_and_a_stream() {
    let listener: TcpListener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let mut stream: TcpStream = TcpStream::connect(address).unwrap();
    let (mut accepted, peer): (TcpStream, SocketAddr) = listener.try_clone().unwrap().accept().unwrap();
    assert_eq!((peer, accepted.peer_addr().unwrap()), (stream.local_addr().unwrap(), peer));
    assert_eq!((accepted.local_addr().unwrap(), stream.peer_addr().unwrap()), (address, address));
    assert_eq!(stream.write_vectored(&[IoSlice::new(b"ab"), IoSlice::new(b"cde")]).unwrap(), 5);
    stream.flush().unwrap();
    assert_eq!(accepted.peek(&mut [0; 8]).unwrap(), 5);
    let (mut first, mut second) = ([0; 1], [0; 8]);
    let buffers = &mut [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    assert_eq!(accepted.read_vectored(buffers).unwrap(), 5);
    assert_eq!((first, &second[..4]), (*b"a", &b"bcde"[..]));
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(accepted.read(&mut first).unwrap(), 0);
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.incoming().next().unwrap().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    assert!(listener.take_error().unwrap().is_none() && stream.take_error().unwrap().is_none());
    let again = TcpStream::connect_timeout(&address, Duration::from_secs(5)).unwrap();
    assert_eq!(again.peer_addr().unwrap(), address);
    assert!(TcpStream::connect_timeout(&address, Duration::ZERO).is_err());
}

#[test]
fn options() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_ttl(9).unwrap();
    listener.set_ttl(8).unwrap();
    assert_eq!((stream.nodelay().unwrap(), stream.ttl().unwrap(), listener.ttl().unwrap()), (true, 9, 8));
    stream.set_read_timeout(Some(Duration::from_millis(40))).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(80))).unwrap();
    assert_eq!(stream.read_timeout().unwrap(), Some(Duration::from_millis(40)));
    assert_eq!(stream.write_timeout().unwrap(), Some(Duration::from_millis(80)));
    assert_eq!((&stream).read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    stream.try_clone().unwrap().set_nonblocking(true).unwrap();
}

#[test]
fn what_addresses_are_made_of() {
    fn one<A: ToSocketAddrs>(addresses: A) -> String {
        addresses.to_socket_addrs().unwrap().map(|address| address.to_string()).collect::<Vec<_>>().join(" ")
    }
    let v4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 80);
    let v6 = SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 0, 0);
    assert_eq!((one(v4), one(SocketAddr::V4(v4)), one::<&SocketAddrV4>(&v4)), ("127.0.0.1:80".into(), one(v4), one(v4)));
    assert_eq!((one(v6), one((Ipv6Addr::LOCALHOST, 80))), ("[::1]:80".into(), one(v6)));
    assert_eq!((one((Ipv4Addr::LOCALHOST, 80)), one((IpAddr::from([127, 0, 0, 1]), 80))), (one(v4), one(v4)));
    assert_eq!((one("127.0.0.1:80"), one(("127.0.0.1", 80)), one(String::from("[::1]:80"))), (one(v4), one(v4), one(v6)));
    assert_eq!(one((String::from("::1"), 80)), one(v6));
    assert_eq!(one(&[SocketAddr::V4(v4), SocketAddr::V6(v6)][..]), "127.0.0.1:80 [::1]:80");
    assert_eq!("127.0.0.1".to_socket_addrs().map(drop).unwrap_err().to_string(), "invalid socket address");
    assert_eq!("127.0.0.1:x".to_socket_addrs().map(drop).unwrap_err().to_string(), "invalid port value");
    let none: &[SocketAddr] = &[];
    assert_eq!(TcpStream::connect(none).unwrap_err().to_string(), "could not resolve to any addresses");
}
