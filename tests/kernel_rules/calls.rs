//! The calls of random scripts.

use std::fmt::Debug;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::api::net::{self, Shutdown, TcpListener, TcpStream};
use super::api::{MetadataExt, SocketAddr, SocketAddrExt, UnixDatagram, UnixListener, UnixStream, fs};
use crate::observe::{count, locked, said};
use crate::random::{Index, Op, SLOTS};

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// Calls the same method of either.
macro_rules! either {
    ($of:ident, $value:expr, $inner:ident => $call:expr) => {
        match $value {
            $of::Unix($inner) => $call,
            $of::Tcp($inner) => $call,
        }
    };
}

/// What a script has open.
struct Open<'a> {
    dir: &'a Path,
    listeners: [Option<Listener>; SLOTS],
    streams: [Option<Stream>; SLOTS],
    datagrams: [Option<UnixDatagram>; SLOTS],
    files: [Option<fs::File>; SLOTS],
    /// Where the TCP listener of each slot is, or was.
    addresses: [Option<net::SocketAddr>; SLOTS],
}

/// Runs the script and tells the result of each call.
pub(crate) fn run(dir: &Path, ops: &[Op], mut tell: impl FnMut(String)) {
    let mut open = Open {
        dir,
        listeners: Default::default(),
        streams: Default::default(),
        datagrams: Default::default(),
        files: Default::default(),
        addresses: Default::default(),
    };
    for &op in ops {
        let result = open.call(op).unwrap_or_else(|| "nothing to use".into());
        tell(result);
    }
}

fn how(way: usize) -> Shutdown {
    [Shutdown::Read, Shutdown::Write, Shutdown::Both][way]
}

/// The bytes that came, or the error.
fn bytes(result: std::io::Result<usize>, buffer: &[u8]) -> String {
    match result {
        Ok(length) => format!("{:?}", &buffer[..length]),
        Err(error) => count::<usize>(Err(error)),
    }
}

/// Data that differs from slot to slot.
fn data(slot: Index, length: usize) -> Vec<u8> {
    (0..length).map(|n| (10 * slot + n) as u8).collect()
}

impl Open<'_> {
    fn path(&self, name: Index) -> PathBuf {
        self.dir.join(["a", "b", "c"][name])
    }

    fn abstract_name(&self, name: Index) -> SocketAddr {
        SocketAddr::from_abstract_name(self.path(name).as_os_str().as_bytes()).unwrap()
    }

    /// The address without the directory.
    fn shown(&self, address: std::io::Result<SocketAddr>) -> String {
        match address {
            Ok(address) => match (address.as_pathname(), address.as_abstract_name()) {
                (Some(path), _) => path.strip_prefix(self.dir).unwrap().display().to_string(),
                (_, Some(name)) => format!("@{}", name.last().copied().map_or(' ', char::from)),
                _ => "unnamed".into(),
            },
            Err(error) => said::<()>(Err(error)),
        }
    }

    fn listen(&mut self, slot: Index, listener: std::io::Result<Listener>) -> String {
        match listener {
            Ok(listener) => {
                either!(Listener, &listener, l => l.set_nonblocking(true)).unwrap();
                self.listeners[slot] = Some(listener);
                "ok".into()
            }
            Err(error) => said::<()>(Err(error)),
        }
    }

    fn listen_tcp(&mut self, slot: Index, address: net::SocketAddr) -> String {
        let listener = TcpListener::bind(address);
        if let Ok(listener) = &listener {
            self.addresses[slot] = Some(listener.local_addr().unwrap());
        }
        self.listen(slot, listener.map(Listener::Tcp))
    }

    fn stream(&mut self, slot: Index, stream: std::io::Result<Stream>) -> String {
        match stream {
            Ok(stream) => {
                either!(Stream, &stream, s => s.set_nonblocking(true)).unwrap();
                self.streams[slot] = Some(stream);
                "ok".into()
            }
            Err(error) => said::<()>(Err(error)),
        }
    }

    fn datagram(&mut self, slot: Index, socket: std::io::Result<UnixDatagram>) -> String {
        match socket {
            Ok(socket) => {
                socket.set_nonblocking(true).unwrap();
                self.datagrams[slot] = Some(socket);
                "ok".into()
            }
            Err(error) => said::<()>(Err(error)),
        }
    }

    fn call(&mut self, op: Op) -> Option<String> {
        match op {
            Op::BindDatagram(..)
            | Op::BindDatagramAbstract(..)
            | Op::UnboundDatagram(_)
            | Op::DatagramPair(..)
            | Op::ConnectDatagram(..)
            | Op::CloneDatagram(..)
            | Op::CloseDatagram(_)
            | Op::Send(..)
            | Op::SendTo(..)
            | Op::SendToAbstract(..)
            | Op::Receive(..)
            | Op::ShutdownDatagram(..)
            | Op::DatagramNames(_) => self.call_datagram(op),
            Op::CreateFile(..)
            | Op::CloneFile(..)
            | Op::CloseFile(_)
            | Op::ReadFile(..)
            | Op::WriteFile(..)
            | Op::Seek(..)
            | Op::SetLen(..)
            | Op::TryLock(..)
            | Op::Unlock(_)
            | Op::Status(_)
            | Op::Remove(_)
            | Op::Rename(..)
            | Op::Link(..)
            | Op::Look(_) => self.call_file(op),
            _ => self.call_stream(op),
        }
    }

    fn call_stream(&mut self, op: Op) -> Option<String> {
        Some(match op {
            Op::Listen(slot, name) => {
                let listener = UnixListener::bind(self.path(name)).map(Listener::Unix);
                self.listen(slot, listener)
            }
            Op::ListenAbstract(slot, name) => {
                let listener = UnixListener::bind_addr(&self.abstract_name(name)).map(Listener::Unix);
                self.listen(slot, listener)
            }
            Op::ListenTcp(slot) => self.listen_tcp(slot, net::SocketAddr::from(([127, 0, 0, 1], 0))),
            Op::ListenTcpAt(slot, other) => {
                let address = self.addresses[other]?;
                self.listen_tcp(slot, address)
            }
            Op::CloneListener(from, to) => {
                let clone = match self.listeners[from].as_ref()? {
                    Listener::Unix(listener) => listener.try_clone().map(Listener::Unix),
                    Listener::Tcp(listener) => listener.try_clone().map(Listener::Tcp),
                };
                self.listen(to, clone)
            }
            Op::CloseListener(slot) => self.listeners[slot].take().map(drop).map(|()| "closed".into())?,
            Op::Accept(slot, stream) => {
                let accepted = match self.listeners[slot].as_ref()? {
                    Listener::Unix(listener) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
                    Listener::Tcp(listener) => listener.accept().map(|(stream, _)| Stream::Tcp(stream)),
                };
                self.stream(stream, accepted)
            }
            Op::Connect(slot, name) => {
                let stream = UnixStream::connect(self.path(name)).map(Stream::Unix);
                self.stream(slot, stream)
            }
            Op::ConnectAbstract(slot, name) => {
                let stream = UnixStream::connect_addr(&self.abstract_name(name)).map(Stream::Unix);
                self.stream(slot, stream)
            }
            Op::ConnectTcp(slot, listener) => {
                let stream = TcpStream::connect(self.addresses[listener]?).map(Stream::Tcp);
                self.stream(slot, stream)
            }
            Op::Pair(first, second) => {
                let (a, b) = UnixStream::pair().unwrap();
                self.stream(first, Ok(Stream::Unix(a)));
                self.stream(second, Ok(Stream::Unix(b)))
            }
            Op::Clone(from, to) => {
                let clone = match self.streams[from].as_ref()? {
                    Stream::Unix(stream) => stream.try_clone().map(Stream::Unix),
                    Stream::Tcp(stream) => stream.try_clone().map(Stream::Tcp),
                };
                self.stream(to, clone)
            }
            Op::Close(slot) => self.streams[slot].take().map(drop).map(|()| "closed".into())?,
            Op::Read(slot, length) => {
                let mut buffer = vec![0; length];
                bytes(either!(Stream, self.streams[slot].as_mut()?, s => s.read(&mut buffer)), &buffer)
            }
            Op::Write(slot, length) => {
                let data = data(slot, length);
                count(either!(Stream, self.streams[slot].as_mut()?, s => s.write(&data)))
            }
            Op::Shutdown(slot, way) => said(either!(Stream, self.streams[slot].as_ref()?, s => s.shutdown(how(way)))),
            Op::TakeError(slot) => {
                let error = either!(Stream, self.streams[slot].as_ref()?, s => s.take_error()).unwrap();
                error.map_or_else(|| "none".into(), |error| said::<()>(Err(error)))
            }
            Op::Names(slot) => match self.streams[slot].as_ref()? {
                Stream::Unix(stream) => {
                    format!("{} {}", self.shown(stream.local_addr()), self.shown(stream.peer_addr()))
                }
                // Which port it is, and what is left of the peer's after a reset, is not the same.
                Stream::Tcp(stream) => stream.local_addr().unwrap().ip().to_string(),
            },
            other => unexpected(&other),
        })
    }

    fn call_datagram(&mut self, op: Op) -> Option<String> {
        Some(match op {
            Op::BindDatagram(slot, name) => {
                let socket = UnixDatagram::bind(self.path(name));
                self.datagram(slot, socket)
            }
            Op::BindDatagramAbstract(slot, name) => {
                let socket = UnixDatagram::bind_addr(&self.abstract_name(name));
                self.datagram(slot, socket)
            }
            Op::UnboundDatagram(slot) => self.datagram(slot, UnixDatagram::unbound()),
            Op::DatagramPair(first, second) => {
                let (a, b) = UnixDatagram::pair().unwrap();
                self.datagram(first, Ok(a));
                self.datagram(second, Ok(b))
            }
            Op::ConnectDatagram(slot, name) => said(self.datagrams[slot].as_ref()?.connect(self.path(name))),
            Op::CloneDatagram(from, to) => {
                let clone = self.datagrams[from].as_ref()?.try_clone();
                self.datagram(to, clone)
            }
            Op::CloseDatagram(slot) => self.datagrams[slot].take().map(drop).map(|()| "closed".into())?,
            Op::Send(slot, length) => count(self.datagrams[slot].as_ref()?.send(&data(slot, length))),
            Op::SendTo(slot, name, length) => {
                count(self.datagrams[slot].as_ref()?.send_to(&data(slot, length), self.path(name)))
            }
            Op::SendToAbstract(slot, name, length) => {
                let address = self.abstract_name(name);
                count(self.datagrams[slot].as_ref()?.send_to_addr(&data(slot, length), &address))
            }
            Op::Receive(slot, length) => {
                let mut buffer = vec![0; length];
                match self.datagrams[slot].as_ref()?.recv_from(&mut buffer) {
                    Ok((length, from)) => format!("{} from {}", bytes(Ok(length), &buffer), self.shown(Ok(from))),
                    Err(error) => said::<()>(Err(error)),
                }
            }
            Op::ShutdownDatagram(slot, way) => said(self.datagrams[slot].as_ref()?.shutdown(how(way))),
            Op::DatagramNames(slot) => {
                let socket = self.datagrams[slot].as_ref()?;
                format!("{} {}", self.shown(socket.local_addr()), self.shown(socket.peer_addr()))
            }
            other => unexpected(&other),
        })
    }

    fn call_file(&mut self, op: Op) -> Option<String> {
        Some(match op {
            Op::CreateFile(slot, name, mode) => {
                let mut options = fs::OpenOptions::new();
                match mode {
                    0 => options.read(true).write(true).create(true),
                    1 => options.read(true).write(true).create_new(true),
                    2 => options.write(true).create(true).truncate(true),
                    3 => options.read(true).append(true),
                    4 => options.read(true),
                    _ => options.read(true).write(true),
                };
                match options.open(self.path(name)) {
                    Ok(file) => {
                        self.files[slot] = Some(file);
                        "ok".into()
                    }
                    Err(error) => said::<()>(Err(error)),
                }
            }
            Op::CloneFile(from, to) => {
                self.files[to] = Some(self.files[from].as_ref()?.try_clone().unwrap());
                "ok".into()
            }
            Op::CloseFile(slot) => self.files[slot].take().map(drop).map(|()| "closed".into())?,
            Op::ReadFile(slot, length) => {
                let mut buffer = vec![0; length];
                bytes(self.files[slot].as_mut()?.read(&mut buffer), &buffer)
            }
            Op::WriteFile(slot, length) => count(self.files[slot].as_mut()?.write(&data(slot, length))),
            Op::Seek(slot, to) => count(self.files[slot].as_mut()?.seek(SeekFrom::Start(to as u64))),
            Op::SetLen(slot, length) => said(self.files[slot].as_ref()?.set_len(length as u64)),
            Op::TryLock(slot, 0) => locked(self.files[slot].as_ref()?.try_lock()),
            Op::TryLock(slot, _) => locked(self.files[slot].as_ref()?.try_lock_shared()),
            Op::Unlock(slot) => said(self.files[slot].as_ref()?.unlock()),
            Op::Status(slot) => {
                let status = self.files[slot].as_ref()?.metadata().unwrap();
                format!("{} {}", status.len(), status.nlink())
            }
            Op::Remove(name) => said(fs::remove_file(self.path(name))),
            Op::Rename(from, to) => said(fs::rename(self.path(from), self.path(to))),
            Op::Link(from, to) => said(fs::hard_link(self.path(from), self.path(to))),
            Op::Look(name) => match fs::metadata(self.path(name)) {
                Ok(status) => format!("{} {}", status.is_file(), status.nlink()),
                Err(error) => said::<()>(Err(error)),
            },
            other => unexpected(&other),
        })
    }
}

fn unexpected(op: &dyn Debug) -> ! {
    panic!("{op:?} is another function's")
}
