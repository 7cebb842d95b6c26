use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lib::os::linux::net::SocketAddrExt;
use lib::os::unix::net::{Incoming, SocketAddr, UnixDatagram, UnixListener, UnixStream};

/// A path in the real file system that nobody else has.
fn path() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("net-{}-{}-{}", std::process::id(), module_path!().len(), NUMBER.fetch_add(1, Ordering::Relaxed));
    std::env::temp_dir().join(name)
}

#[test]
fn types_have_the_traits() {
    assert_impl!(UnixListener: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + std::fmt::Debug);
    assert_impl!(UnixStream: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + std::fmt::Debug + Read + Write);
    assert_impl!(&UnixStream: Read + Write);
    assert_impl!(UnixDatagram: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + std::fmt::Debug);
    assert_impl!(Incoming<'_>: Send + Sync + std::fmt::Debug + Iterator<Item = std::io::Result<UnixStream>>);
    assert_impl!(&UnixListener: IntoIterator<Item = std::io::Result<UnixStream>>);
    assert_not_impl!(UnixStream: Clone);
    assert_not_impl!(UnixDatagram: Read);
}

#[test]
fn a_listener_and_a_stream() {
    let path = path();
    let listener: UnixListener = UnixListener::bind(&path).unwrap();
    let mut stream: UnixStream = UnixStream::connect(&path).unwrap();
    assert_eq!(stream.peer_addr().unwrap().as_pathname(), Some(path.as_path()));
    assert!(stream.local_addr().unwrap().is_unnamed());
    let (mut accepted, peer): (UnixStream, SocketAddr) = listener.try_clone().unwrap().accept().unwrap();
    assert!(peer.is_unnamed());
    assert_eq!(stream.write_vectored(&[IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")]).unwrap(), 5);
    stream.flush().unwrap();
    let (mut first, mut second) = ([0; 1], [0; 8]);
    let buffers = &mut [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    assert_eq!(accepted.read_vectored(buffers).unwrap(), 5);
    assert_eq!((first, &second[..4]), (*b"a", &b"bcde"[..]));
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(accepted.read(&mut first).unwrap(), 0);
    assert!(stream.take_error().unwrap().is_none());
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.incoming().next().unwrap().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    assert_eq!(listener.local_addr().unwrap().as_pathname(), Some(path.as_path()));
    assert!(listener.take_error().unwrap().is_none());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn timeouts_and_non_blocking_streams() {
    let (a, mut b): (UnixStream, UnixStream) = UnixStream::pair().unwrap();
    a.set_read_timeout(Some(Duration::from_millis(40))).unwrap();
    a.set_write_timeout(Some(Duration::from_millis(80))).unwrap();
    assert_eq!(a.read_timeout().unwrap(), Some(Duration::from_millis(40)));
    assert_eq!(a.write_timeout().unwrap(), Some(Duration::from_millis(80)));
    assert_eq!((&a).read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    assert_eq!(a.set_read_timeout(Some(Duration::ZERO)).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    a.set_nonblocking(true).unwrap();
    b.write_all(b"x").unwrap();
    assert_eq!(a.try_clone().unwrap().read(&mut [0; 4]).unwrap(), 1);
}

#[test]
fn abstract_names() {
    let name = path();
    let address = SocketAddr::from_abstract_name(name.to_str().unwrap()).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    let stream = UnixStream::connect_addr(&address).unwrap();
    assert_eq!(stream.peer_addr().unwrap().as_abstract_name(), Some(name.to_str().unwrap().as_bytes()));
    drop(listener);
    assert_eq!(UnixStream::connect_addr(&address).unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
}

#[test]
fn datagrams() {
    let path = path();
    let receiver: UnixDatagram = UnixDatagram::bind(&path).unwrap();
    let sender: UnixDatagram = UnixDatagram::unbound().unwrap();
    assert_eq!(sender.send(b"x").unwrap_err().kind(), std::io::ErrorKind::NotConnected);
    assert_eq!(sender.send_to(b"abc", &path).unwrap(), 3);
    let mut buffer = [0; 2];
    let (count, from): (usize, SocketAddr) = receiver.recv_from(&mut buffer).unwrap();
    assert_eq!((count, from.is_unnamed()), (2, true));
    sender.connect(&path).unwrap();
    assert_eq!(sender.peer_addr().unwrap().as_pathname(), Some(path.as_path()));
    assert_eq!(sender.try_clone().unwrap().send(b"").unwrap(), 0);
    assert_eq!(receiver.recv(&mut buffer).unwrap(), 0);
    receiver.set_nonblocking(true).unwrap();
    assert_eq!(receiver.recv(&mut buffer).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    receiver.set_read_timeout(None).unwrap();
    assert_eq!(receiver.read_timeout().unwrap(), None);
    receiver.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    assert_eq!(receiver.write_timeout().unwrap(), Some(Duration::from_secs(1)));
    assert_eq!(receiver.local_addr().unwrap().as_pathname(), Some(path.as_path()));
    sender.shutdown(Shutdown::Both).unwrap();
    assert_eq!(sender.send(b"x").unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    assert!(sender.take_error().unwrap().is_none());
    let (a, b) = UnixDatagram::pair().unwrap();
    let again = SocketAddr::from_pathname(&path).unwrap();
    assert_eq!(a.send_to_addr(b"x", &again).unwrap(), 1);
    assert!(UnixDatagram::bind_addr(&again).is_err());
    assert!(b.connect_addr(&again).is_ok());
    std::fs::remove_file(path).unwrap();
}
