//! Datagram sockets of the Unix domain.

use std::net::Shutdown;
use std::path::Path;
use std::time::Duration;

use super::api::{UnixDatagram, UnixListener, UnixStream, fs, thread};
use crate::observe::{Rule, count, said};

fn bound(dir: &Path, name: &str) -> UnixDatagram {
    let socket = UnixDatagram::bind(dir.join(name)).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

fn pair() -> (UnixDatagram, UnixDatagram) {
    let (a, b) = UnixDatagram::pair().unwrap();
    a.set_nonblocking(true).unwrap();
    b.set_nonblocking(true).unwrap();
    (a, b)
}

/// One message into a buffer of `length` bytes.
fn recv(socket: &UnixDatagram, length: usize) -> String {
    count(socket.recv(&mut vec![0; length]))
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "datagram to a missing path, to a stale one, to a file, to a directory",
        result: "ENOENT ECONNREFUSED ECONNREFUSED ECONNREFUSED",
        script: |dir| {
            let sender = UnixDatagram::unbound().unwrap();
            drop(bound(dir, "stale"));
            fs::write(dir.join("f"), "").unwrap();
            fs::create_dir(dir.join("d")).unwrap();
            ["none", "stale", "f", "d"].map(|name| count(sender.send_to(b"x", dir.join(name)))).join(" ")
        },
    },
    Rule {
        name: "datagram to a stream listener, to what was one; stream connect to a datagram socket, to what was one",
        result: "EPROTOTYPE ECONNREFUSED EPROTOTYPE ECONNREFUSED",
        script: |dir| {
            let sender = UnixDatagram::unbound().unwrap();
            let listener = UnixListener::bind(dir.join("l")).unwrap();
            let live = count(sender.send_to(b"x", dir.join("l")));
            drop(listener);
            let stale = count(sender.send_to(b"x", dir.join("l")));
            let socket = bound(dir, "d");
            let stream = said(UnixStream::connect(dir.join("d")));
            drop(socket);
            format!("{live} {stale} {stream} {}", said(UnixStream::connect(dir.join("d"))))
        },
    },
    Rule {
        name: "datagram too long for the buffer is cut, the rest is gone",
        result: "5 2 EAGAIN",
        script: |_| {
            let (a, b) = pair();
            let sent = count(a.send(b"12345"));
            format!("{sent} {} {}", recv(&b, 2), recv(&b, 8))
        },
    },
    Rule {
        name: "datagrams are not joined",
        result: "2 3 EAGAIN",
        script: |_| {
            let (a, b) = pair();
            a.send(b"12").unwrap();
            a.send(b"123").unwrap();
            format!("{} {} {}", recv(&b, 8), recv(&b, 8), recv(&b, 8))
        },
    },
    Rule {
        name: "an empty datagram is a message; a buffer of nothing takes one",
        result: "0 0 0 EAGAIN",
        script: |_| {
            let (a, b) = pair();
            let sent = count(a.send(b""));
            a.send(b"x").unwrap();
            format!("{sent} {} {} {}", recv(&b, 8), recv(&b, 0), recv(&b, 8))
        },
    },
    Rule {
        name: "connected datagram: peer closed, send; send again after the refusal; its peer_addr",
        result: "ok ECONNREFUSED ENOTCONN ENOTCONN",
        script: |_| {
            let (a, b) = pair();
            drop(b);
            let still = said(a.peer_addr());
            format!("{still} {} {} {}", count(a.send(b"x")), count(a.send(b"x")), said(a.peer_addr()))
        },
    },
    Rule {
        name: "connected datagram: the refusal throws away what had come",
        result: "ECONNREFUSED EAGAIN",
        script: |_| {
            let (a, b) = pair();
            b.send(b"x").unwrap();
            drop(b);
            format!("{} {}", count(a.send(b"x")), recv(&a, 8))
        },
    },
    Rule {
        name: "connected datagram: what had come can be read after the peer closed, and then nothing comes",
        result: "1 EAGAIN",
        script: |_| {
            let (a, b) = pair();
            b.send(b"x").unwrap();
            drop(b);
            format!("{} {}", recv(&a, 8), recv(&a, 8))
        },
    },
    Rule {
        name: "connected datagram: peer closed with my data unread, recv",
        result: "EAGAIN",
        script: |_| {
            let (a, b) = pair();
            a.send(b"x").unwrap();
            drop(b);
            recv(&a, 8)
        },
    },
    Rule {
        name: "datagram queue limit: unconnected sender, max_dgram_qlen + 1",
        result: "11 EAGAIN 1 1",
        script: |dir| {
            let receiver = bound(dir, "r");
            let sender = UnixDatagram::unbound().unwrap();
            sender.set_nonblocking(true).unwrap();
            let sent = (0..100).take_while(|_| sender.send_to(b"x", dir.join("r")).is_ok()).count();
            let full = count(sender.send_to(b"x", dir.join("r")));
            format!("{sent} {full} {} {}", recv(&receiver, 8), count(sender.send_to(b"x", dir.join("r"))))
        },
    },
    Rule {
        name: "datagram queue limit: a blocking sender waits for room",
        result: "12",
        script: |dir| {
            let receiver = UnixDatagram::bind(dir.join("r")).unwrap();
            let sender = UnixDatagram::unbound().unwrap();
            (0..11).for_each(|_| assert_eq!(sender.send_to(b"x", dir.join("r")).unwrap(), 1));
            let path = dir.join("r");
            let sender = thread::spawn(move || assert_eq!(sender.send_to(b"x", &path).unwrap(), 1));
            let got = (0..12).filter(|_| receiver.recv(&mut [0; 8]).is_ok()).count();
            sender.join().unwrap();
            got.to_string()
        },
    },
    Rule {
        name: "datagram queue limit does not hold between two sockets connected to each other",
        result: "more EAGAIN",
        script: |_| {
            let (a, _b) = pair();
            let sent = (0..2000).take_while(|_| a.send(b"x").is_ok()).count();
            format!("{} {}", if sent > 11 && sent < 2000 { "more" } else { "not more" }, count(a.send(b"x")))
        },
    },
    Rule {
        name: "a datagram's sender sees nothing when the receiver closes with it unread",
        result: "1 EAGAIN",
        script: |dir| {
            let receiver = bound(dir, "r");
            let sent = count(UnixDatagram::unbound().unwrap().send_to(b"x", dir.join("r")));
            drop(receiver);
            fs::remove_file(dir.join("r")).unwrap();
            format!("{sent} {}", recv(&bound(dir, "r"), 8))
        },
    },
    Rule {
        name: "datagram bind on a stale path, on a live one",
        result: "EADDRINUSE EADDRINUSE",
        script: |dir| {
            drop(bound(dir, "s"));
            let stale = said(UnixDatagram::bind(dir.join("s")));
            let _live = bound(dir, "t");
            format!("{stale} {}", said(UnixDatagram::bind(dir.join("t"))))
        },
    },
    Rule {
        name: "send on an unconnected datagram socket",
        result: "ENOTCONN ENOTCONN",
        script: |_| {
            let socket = UnixDatagram::unbound().unwrap();
            format!("{} {}", count(socket.send(b"x")), said(socket.peer_addr()))
        },
    },
    Rule {
        name: "datagram larger than the send buffer",
        result: "EMSGSIZE EMSGSIZE EMSGSIZE ENOENT",
        script: |dir| {
            let (a, _b) = pair();
            let data = vec![0; 1 << 20];
            let unbound = UnixDatagram::unbound().unwrap();
            let (connected, unconnected) = (count(a.send(&data)), count(unbound.send(&data)));
            a.shutdown(Shutdown::Write).unwrap();
            format!(
                "{connected} {unconnected} {} {}",
                count(a.send(&data)),
                count(unbound.send_to(b"x", dir.join("none")))
            )
        },
    },
    Rule {
        name: "a connected receiver takes no datagrams from others, nor a connection",
        result: "EPERM EPERM 1",
        script: |dir| {
            let (a, b, c) = (bound(dir, "a"), bound(dir, "b"), UnixDatagram::unbound().unwrap());
            b.connect(dir.join("a")).unwrap();
            let sent = count(c.send_to(b"x", dir.join("b")));
            format!("{sent} {} {}", said(c.connect(dir.join("b"))), count(a.send_to(b"x", dir.join("b"))))
        },
    },
    Rule {
        name: "connect: to a missing path, a stale one, a stream's, a datagram socket's; peer_addr",
        result: "ENOENT ECONNREFUSED EPROTOTYPE ok true",
        script: |dir| {
            let socket = UnixDatagram::unbound().unwrap();
            drop(bound(dir, "stale"));
            let _listener = UnixListener::bind(dir.join("l")).unwrap();
            let _other = bound(dir, "o");
            let results = ["none", "stale", "l", "o"].map(|name| said(socket.connect(dir.join(name)))).join(" ");
            let peer = socket.peer_addr().unwrap();
            format!("{results} {}", peer.as_pathname() == Some(&dir.join("o")))
        },
    },
    Rule {
        name: "a connected socket can send elsewhere, and connect elsewhere, which throws away what had come",
        result: "1 ok EAGAIN 1",
        script: |dir| {
            let (a, b, c) = (bound(dir, "a"), bound(dir, "b"), bound(dir, "c"));
            c.connect(dir.join("a")).unwrap();
            let elsewhere = count(c.send_to(b"x", dir.join("b")));
            a.send_to(b"x", dir.join("c")).unwrap();
            let again = said(c.connect(dir.join("b")));
            let got = recv(&c, 8);
            recv(&b, 8);
            c.send(b"y").unwrap();
            format!("{elsewhere} {again} {got} {}", recv(&b, 8))
        },
    },
    Rule {
        name: "recv_from tells the sender's name, if it has one",
        result: "true true",
        script: |dir| {
            let (receiver, named) = (bound(dir, "r"), bound(dir, "n"));
            named.send_to(b"x", dir.join("r")).unwrap();
            UnixDatagram::unbound().unwrap().send_to(b"x", dir.join("r")).unwrap();
            let (_, first) = receiver.recv_from(&mut [0; 8]).unwrap();
            let (_, second) = receiver.recv_from(&mut [0; 8]).unwrap();
            format!("{} {}", first.as_pathname() == Some(&dir.join("n")), second.is_unnamed())
        },
    },
    Rule {
        name: "names: of a pair, of an unbound socket, of a bound one after its file is renamed",
        result: "true true true true",
        script: |dir| {
            let (a, b) = pair();
            let bound = bound(dir, "s");
            fs::rename(dir.join("s"), dir.join("t")).unwrap();
            let unbound = UnixDatagram::unbound().unwrap();
            let mine = [a.local_addr().unwrap(), b.peer_addr().unwrap(), unbound.local_addr().unwrap()];
            let old = bound.local_addr().unwrap();
            format!(
                "{} {}",
                mine.map(|a| a.is_unnamed().to_string()).join(" "),
                old.as_pathname() == Some(&dir.join("s"))
            )
        },
    },
    Rule {
        name: "shutdown(Write): own send; shutdown(Read): the other's send, own recv; of an unconnected socket",
        result: "EPIPE EPIPE 1 EAGAIN 0 ok EPIPE",
        script: |_| {
            let (a, b) = pair();
            b.send(b"x").unwrap();
            a.shutdown(Shutdown::Write).unwrap();
            let own = count(a.send(b"x"));
            a.shutdown(Shutdown::Read).unwrap();
            let other = count(b.send(b"x"));
            let (queued, then) = (recv(&a, 8), recv(&a, 8));
            a.set_nonblocking(false).unwrap();
            let unbound = UnixDatagram::unbound().unwrap();
            let shut = said(unbound.shutdown(Shutdown::Both));
            format!("{own} {other} {queued} {then} {} {shut} {}", recv(&a, 8), count(unbound.send(b"x")))
        },
    },
    Rule {
        name: "shutdown wakes a blocked recv",
        result: "0",
        script: |_| {
            let (a, _b) = UnixDatagram::pair().unwrap();
            let clone = a.try_clone().unwrap();
            let other = thread::spawn(move || clone.shutdown(Shutdown::Read).unwrap());
            let got = recv(&a, 8);
            other.join().unwrap();
            got
        },
    },
    Rule {
        name: "a clone keeps the socket open; O_NONBLOCK is shared",
        result: "1 EAGAIN ECONNREFUSED",
        script: |dir| {
            let receiver = UnixDatagram::bind(dir.join("r")).unwrap();
            let clone = receiver.try_clone().unwrap();
            receiver.set_nonblocking(true).unwrap();
            drop(receiver);
            let sender = UnixDatagram::unbound().unwrap();
            let sent = count(sender.send_to(b"x", dir.join("r")));
            recv(&clone, 8);
            let empty = recv(&clone, 8);
            drop(clone);
            format!("{sent} {empty} {}", count(sender.send_to(b"x", dir.join("r"))))
        },
    },
    Rule {
        name: "datagram read timeout, and a timeout of zero",
        result: "EAGAIN 20ms InvalidInput cannot set a 0 duration timeout",
        script: |_| {
            let (a, _b) = UnixDatagram::pair().unwrap();
            a.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
            let got = recv(&a, 8);
            format!(
                "{got} {:?} {}",
                a.read_timeout().unwrap().unwrap(),
                said(a.set_write_timeout(Some(Duration::ZERO)))
            )
        },
    },
    Rule {
        name: "a socket may send to itself",
        result: "1 1",
        script: |dir| {
            let socket = bound(dir, "s");
            format!("{} {}", count(socket.send_to(b"x", dir.join("s"))), recv(&socket, 8))
        },
    },
];
