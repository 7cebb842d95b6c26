//! Abstract names.

use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::api::{SocketAddr, SocketAddrExt, UnixDatagram, UnixListener, UnixStream, fs};
use crate::observe::{Rule, count, said};

/// An abstract name that nobody else has.
fn name(dir: &Path, name: &str) -> SocketAddr {
    SocketAddr::from_abstract_name(dir.join(name).as_os_str().as_bytes()).unwrap()
}

fn path(dir: &Path) -> SocketAddr {
    SocketAddr::from_pathname(dir.join("s")).unwrap()
}

fn unnamed() -> SocketAddr {
    UnixStream::pair().unwrap().0.local_addr().unwrap()
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "abstract name: in use, free at once after close",
        result: "EADDRINUSE ok",
        script: |dir| {
            let listener = UnixListener::bind_addr(&name(dir, "x")).unwrap();
            let used = said(UnixListener::bind_addr(&name(dir, "x")));
            drop(listener);
            format!("{used} {}", said(UnixListener::bind_addr(&name(dir, "x"))))
        },
    },
    Rule {
        name: "abstract name: nobody, not any more",
        result: "ECONNREFUSED ECONNREFUSED",
        script: |dir| {
            let before = said(UnixStream::connect_addr(&name(dir, "x")));
            drop(UnixListener::bind_addr(&name(dir, "x")).unwrap());
            format!("{before} {}", said(UnixStream::connect_addr(&name(dir, "x"))))
        },
    },
    Rule {
        name: "abstract name: a connection through it, and its addresses",
        result: "1 true true true",
        script: |dir| {
            let listener = UnixListener::bind_addr(&name(dir, "x")).unwrap();
            let mut stream = UnixStream::connect_addr(&name(dir, "x")).unwrap();
            let (mut accepted, peer) = listener.accept().unwrap();
            stream.write_all(b"x").unwrap();
            let got = count(accepted.read(&mut [0; 8]));
            let same = |address: SocketAddr| address.as_abstract_name() == name(dir, "x").as_abstract_name();
            let (local, remote) = (listener.local_addr().unwrap(), stream.peer_addr().unwrap());
            format!("{got} {} {} {}", peer.is_unnamed(), same(local), same(remote))
        },
    },
    Rule {
        name: "abstract name: it is no path, and a clone keeps it",
        result: "false ok ECONNREFUSED",
        script: |dir| {
            let listener = UnixListener::bind_addr(&name(dir, "x")).unwrap();
            let exists = count(fs::exists(dir.join("x")));
            let clone = listener.try_clone().unwrap();
            drop(listener);
            let kept = said(UnixStream::connect_addr(&name(dir, "x")));
            drop(clone);
            format!("{exists} {kept} {}", said(UnixStream::connect_addr(&name(dir, "x"))))
        },
    },
    Rule {
        name: "abstract name and path of the same bytes are different",
        result: "ok ok",
        script: |dir| {
            let _by_name = UnixListener::bind_addr(&name(dir, "s")).unwrap();
            let by_path = said(UnixListener::bind_addr(&path(dir)));
            format!("{by_path} {}", said(UnixStream::connect_addr(&name(dir, "s"))))
        },
    },
    Rule {
        name: "abstract name: datagrams; each type of socket has its own",
        result: "2 ECONNREFUSED ECONNREFUSED ok ECONNREFUSED",
        script: |dir| {
            let receiver = UnixDatagram::bind_addr(&name(dir, "x")).unwrap();
            let _listener = UnixListener::bind_addr(&name(dir, "y")).unwrap();
            let sender = UnixDatagram::unbound().unwrap();
            sender.send_to_addr(b"hi", &name(dir, "x")).unwrap();
            let got = count(receiver.recv(&mut [0; 8]));
            let stream = said(UnixStream::connect_addr(&name(dir, "x")));
            let datagram = said(sender.connect_addr(&name(dir, "y")));
            let both = said(UnixListener::bind_addr(&name(dir, "x")));
            drop(receiver);
            format!("{got} {stream} {datagram} {both} {}", said(sender.send_to_addr(b"hi", &name(dir, "x"))))
        },
    },
    Rule {
        name: "no name at all: the kernel chooses an abstract one to bind, and connects to none",
        result: "true 5 different EINVAL EINVAL",
        script: |_| {
            let (a, b) = (UnixListener::bind_addr(&unnamed()).unwrap(), UnixListener::bind_addr(&unnamed()).unwrap());
            let (a, b) = (a.local_addr().unwrap(), b.local_addr().unwrap());
            let length = a.as_abstract_name().map_or(0, <[u8]>::len);
            let differ = if a.as_abstract_name() == b.as_abstract_name() { "same" } else { "different" };
            let connected = said(UnixStream::connect_addr(&unnamed()));
            let datagram = said(UnixDatagram::unbound().unwrap().send_to_addr(b"x", &unnamed()));
            format!("{} {length} {differ} {connected} {datagram}", a.as_pathname().is_none())
        },
    },
];
