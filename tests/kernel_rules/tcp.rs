//! TCP on loopback addresses. What the kernel does a little later, in answer to a packet, it has done by the time that the call
//! that sent the packet returns: loopback delivers at once.

use std::io::{Read, Write};
use std::time::Duration;

use super::api::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use super::api::thread;
use crate::observe::{Rule, count, said};

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// A client and what was accepted.
fn pair() -> (TcpStream, TcpStream) {
    let (listener, address) = listener();
    let client = TcpStream::connect(address).unwrap();
    (client, listener.accept().unwrap().0)
}

fn read(mut stream: &TcpStream, length: usize) -> String {
    count(stream.read(&mut vec![0; length]))
}

fn write(mut stream: &TcpStream, length: usize) -> String {
    count(stream.write(&vec![b'x'; length]))
}

/// What `take_error` says.
fn error(stream: &TcpStream) -> String {
    stream.take_error().unwrap().map_or_else(|| "none".into(), |error| said::<()>(Err(error)))
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "tcp: connect succeeds before accept, and so does write",
        result: "3 3",
        script: |_| {
            let (listener, address) = listener();
            let stream = TcpStream::connect(address).unwrap();
            let wrote = write(&stream, 3);
            format!("{wrote} {}", read(&listener.accept().unwrap().0, 8))
        },
    },
    Rule {
        name: "tcp: connect to a port at which nobody listens, not any more, port 0",
        result: "ECONNREFUSED ECONNREFUSED",
        script: |_| {
            let (listener, address) = listener();
            drop(listener);
            format!("{} {}", said(TcpStream::connect(address)), said(TcpStream::connect("127.0.0.1:0")))
        },
    },
    Rule {
        name: "tcp: addresses of both ends",
        result: "true true true 127.0.0.1 true",
        script: |_| {
            let (listener, address) = listener();
            let client = TcpStream::connect(address).unwrap();
            let (accepted, peer) = listener.accept().unwrap();
            let mine = client.local_addr().unwrap();
            let same =
                [client.peer_addr().unwrap() == address, accepted.local_addr().unwrap() == address, peer == mine];
            let same = same.map(|same| same.to_string()).join(" ");
            format!("{same} {} {}", mine.ip(), accepted.peer_addr().unwrap() == mine)
        },
    },
    Rule {
        name: "tcp: port 0 is a port that nobody else has",
        result: "true true",
        script: |_| {
            let ((_a, a), (_b, b)) = (listener(), listener());
            format!("{} {}", a.port() != b.port(), a.port() > 1024)
        },
    },
    Rule {
        name: "tcp: bind where somebody listens: same address, another, all, IPv6, all with IPv6",
        result: "EADDRINUSE ok EADDRINUSE ok EADDRINUSE",
        script: |_| {
            let (_listener, address) = listener();
            let port = address.port();
            ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::"]
                .map(|host| said(TcpListener::bind((host, port))))
                .join(" ")
        },
    },
    Rule {
        name: "tcp: bind where somebody listens at all addresses",
        result: "EADDRINUSE EADDRINUSE ok EADDRINUSE",
        script: |_| {
            let listener = TcpListener::bind("0.0.0.0:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            ["127.0.0.1", "0.0.0.0", "::1", "::"].map(|host| said(TcpListener::bind((host, port)))).join(" ")
        },
    },
    Rule {
        name: "tcp: bind where somebody listens at all addresses of both families, at the IPv6 one",
        result: "EADDRINUSE EADDRINUSE EADDRINUSE, EADDRINUSE ok EADDRINUSE",
        script: |_| {
            let beside = |host: &str, others: [&str; 3]| {
                let listener = TcpListener::bind((host, 0)).unwrap();
                let port = listener.local_addr().unwrap().port();
                others.map(|other| said(TcpListener::bind((other, port)))).join(" ")
            };
            format!("{}, {}", beside("::", ["127.0.0.1", "::1", "0.0.0.0"]), beside("::1", ["::1", "0.0.0.0", "::"]))
        },
    },
    Rule {
        name: "tcp: bind again after close, with a connection that was accepted and one that waited",
        result: "ok",
        script: |_| {
            let (listener, address) = listener();
            let _accepted = (TcpStream::connect(address).unwrap(), listener.accept().unwrap());
            let _waiting = TcpStream::connect(address).unwrap();
            drop(listener);
            said(TcpListener::bind(address))
        },
    },
    Rule {
        name: "tcp: bind again after a client's close, which leaves TIME_WAIT elsewhere, and after the server's",
        result: "ok ok",
        script: |_| {
            let bind_again = |client_first: bool| {
                let (listener, address) = listener();
                let (client, accepted) = (TcpStream::connect(address).unwrap(), listener.accept().unwrap());
                if client_first {
                    drop(client);
                    drop(accepted);
                } else {
                    drop(accepted);
                    drop(client);
                }
                drop(listener);
                said(TcpListener::bind(address))
            };
            format!("{} {}", bind_again(true), bind_again(false))
        },
    },
    Rule {
        name: "tcp: bind at the port of a client: same address, another, all, IPv6, all with IPv6",
        result: "EADDRINUSE ok EADDRINUSE ok EADDRINUSE",
        script: |_| {
            let (client, _accepted) = pair();
            let port = client.local_addr().unwrap().port();
            ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::"]
                .map(|host| said(TcpListener::bind((host, port))))
                .join(" ")
        },
    },
    Rule {
        name: "tcp: a clone of the listener keeps the port",
        result: "EADDRINUSE ok ok",
        script: |_| {
            let (listener, address) = listener();
            let clone = listener.try_clone().unwrap();
            drop(listener);
            let (taken, connected) = (said(TcpListener::bind(address)), said(TcpStream::connect(address)));
            drop(clone);
            format!("{taken} {connected} {}", said(TcpListener::bind(address)))
        },
    },
    Rule {
        name: "tcp: bind an address that is not the machine's; nothing to bind; no port",
        result: "EADDRNOTAVAIL, InvalidInput could not resolve to any addresses, InvalidInput invalid socket address, \
                 InvalidInput invalid port value",
        script: |_| {
            let foreign = said(TcpListener::bind("192.0.2.1:0"));
            let none: &[SocketAddr] = &[];
            let nothing = said(TcpListener::bind(none));
            let no_port = said("127.0.0.1".to_socket_addrs());
            format!("{foreign}, {nothing}, {no_port}, {}", said("127.0.0.1:x".to_socket_addrs()))
        },
    },
    Rule {
        name: "tcp: connect to any address of 127/8 of a listener at all; what each end is called",
        result: "127.0.0.3 127.0.0.1 127.0.0.3, 127.0.0.1 127.0.0.1, ::ffff:127.0.0.1 ::ffff:127.0.0.1",
        script: |_| {
            let listener = TcpListener::bind("0.0.0.0:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let client = TcpStream::connect(("127.0.0.3", port)).unwrap();
            let (accepted, peer) = listener.accept().unwrap();
            let (mine, there) = (accepted.local_addr().unwrap().ip(), client.peer_addr().unwrap().ip());
            let client = TcpStream::connect(("0.0.0.0", port)).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            let (second, second_there) = (accepted.local_addr().unwrap().ip(), client.peer_addr().unwrap().ip());
            let listener = TcpListener::bind("[::]:0").unwrap();
            let _client = TcpStream::connect(("127.0.0.1", listener.local_addr().unwrap().port())).unwrap();
            let (accepted, mapped) = listener.accept().unwrap();
            let third = accepted.local_addr().unwrap().ip();
            format!("{mine} {} {there}, {second} {second_there}, {third} {}", peer.ip(), mapped.ip())
        },
    },
    Rule {
        name: "tcp: connect with IPv6, to a listener with IPv4 only",
        result: "ok ::1 ECONNREFUSED",
        script: |_| {
            let six = TcpListener::bind("[::1]:0").unwrap();
            let client = TcpStream::connect(six.local_addr().unwrap());
            let said_six = said(client);
            let (_, peer) = six.accept().unwrap();
            let (_four, address) = listener();
            format!("{said_six} {} {}", peer.ip(), said(TcpStream::connect(("::1", address.port()))))
        },
    },
    Rule {
        name: "tcp: the first of several addresses that works",
        result: "true",
        script: |_| {
            let (gone, closed) = listener();
            drop(gone);
            let (_listener, open) = listener();
            let stream = TcpStream::connect(&[closed, open][..]).unwrap();
            (stream.peer_addr().unwrap() == open).to_string()
        },
    },
    Rule {
        name: "tcp: data before close is delivered, then end of file",
        result: "3 3 0 0",
        script: |_| {
            let (a, b) = pair();
            let wrote = write(&b, 3);
            drop(b);
            format!("{wrote} {} {} {}", read(&a, 8), read(&a, 8), read(&a, 8))
        },
    },
    Rule {
        name: "tcp: write after the peer closed: the first is lost, the second fails",
        result: "1 EPIPE EPIPE 0",
        script: |_| {
            let (a, b) = pair();
            drop(b);
            format!("{} {} {} {}", write(&a, 1), write(&a, 1), write(&a, 1), read(&a, 8))
        },
    },
    Rule {
        name: "tcp: write after the peer closed: take_error, then read, then write",
        result: "1 EPIPE none 0 EPIPE",
        script: |_| {
            let (a, b) = pair();
            drop(b);
            let wrote = write(&a, 1);
            format!("{wrote} {} {} {} {}", error(&a), error(&a), read(&a, 8), write(&a, 1))
        },
    },
    Rule {
        name: "tcp: what the peer had written can be read after a write that was lost",
        result: "2 1 2 EPIPE 0",
        script: |_| {
            let (a, b) = pair();
            let wrote = write(&b, 2);
            drop(b);
            let lost = write(&a, 1);
            format!("{wrote} {lost} {} {} {}", read(&a, 8), write(&a, 1), read(&a, 8))
        },
    },
    Rule {
        name: "tcp: writes of nothing to a peer that closed",
        result: "0 0 1 EPIPE",
        script: |_| {
            let (a, b) = pair();
            drop(b);
            format!("{} {} {} {}", write(&a, 0), write(&a, 0), write(&a, 1), write(&a, 0))
        },
    },
    Rule {
        name: "tcp: peer closed with my data unread: read",
        result: "2 ECONNRESET 0",
        script: |_| {
            let (a, b) = pair();
            write(&a, 1);
            write(&b, 2);
            drop(b);
            format!("{} {} {}", read(&a, 8), read(&a, 8), read(&a, 8))
        },
    },
    Rule {
        name: "tcp: peer closed with my data unread: write, then read",
        result: "ECONNRESET EPIPE 0",
        script: |_| {
            let (a, b) = pair();
            write(&a, 1);
            drop(b);
            format!("{} {} {}", write(&a, 1), write(&a, 1), read(&a, 8))
        },
    },
    Rule {
        name: "tcp: a write after shutdown(Write) is told of a reset",
        result: "ENOTCONN ECONNRESET EPIPE, 1 ECONNRESET EPIPE",
        script: |_| {
            let (listener, address) = listener();
            let client = TcpStream::connect(address).unwrap();
            drop(listener);
            let shut = said(client.shutdown(Shutdown::Write));
            let first = format!("{shut} {} {}", write(&client, 0), write(&client, 1));
            let (a, b) = pair();
            a.shutdown(Shutdown::Both).unwrap();
            format!("{first}, {} {} {}", write(&b, 1), write(&a, 1), write(&a, 1))
        },
    },
    Rule {
        name: "tcp: peer closed with my data unread: take_error",
        result: "ECONNRESET none EPIPE 0 ENOTCONN",
        script: |_| {
            let (a, b) = pair();
            write(&a, 1);
            drop(b);
            let errors = [error(&a), error(&a)].join(" ");
            format!("{errors} {} {} {}", write(&a, 1), read(&a, 8), said(a.shutdown(Shutdown::Both)))
        },
    },
    Rule {
        name: "tcp: listener closes with a waiting connection: read; write",
        result: "ECONNRESET 0 EPIPE, ECONNRESET EPIPE 0",
        script: |_| {
            let waiting = || {
                let (listener, address) = listener();
                let stream = TcpStream::connect(address).unwrap();
                drop(listener);
                stream
            };
            let (a, b) = (waiting(), waiting());
            let reads = format!("{} {} {}", read(&a, 8), read(&a, 8), write(&a, 1));
            format!("{reads}, {} {} {}", write(&b, 1), write(&b, 1), read(&b, 8))
        },
    },
    Rule {
        name: "tcp: accepted connections survive the listener",
        result: "1",
        script: |_| {
            let (a, b) = pair();
            write(&a, 1);
            read(&b, 8)
        },
    },
    Rule {
        name: "tcp: shutdown(Write): peer reads end of file, own write fails, the other way still works",
        result: "0 EPIPE 1 1",
        script: |_| {
            let (a, b) = pair();
            a.shutdown(Shutdown::Write).unwrap();
            format!("{} {} {} {}", read(&b, 8), write(&a, 1), write(&b, 1), read(&a, 8))
        },
    },
    Rule {
        name: "tcp: shutdown(Read): own read, the peer's writes, which can be read all the same",
        result: "0 2 2 0",
        script: |_| {
            let (a, b) = pair();
            a.shutdown(Shutdown::Read).unwrap();
            format!("{} {} {} {}", read(&a, 8), write(&b, 2), read(&a, 8), read(&a, 8))
        },
    },
    Rule {
        name: "tcp: shutdown of both ways: the peer's writes; own read is told of what came",
        result: "1 EPIPE ECONNRESET 0 EPIPE ENOTCONN ENOTCONN",
        script: |_| {
            let (a, b) = pair();
            a.shutdown(Shutdown::Both).unwrap();
            let writes = format!("{} {}", write(&b, 1), write(&b, 1));
            let own = format!("{} {} {}", read(&a, 8), read(&a, 8), write(&a, 1));
            format!("{writes} {own} {} {}", said(a.shutdown(Shutdown::Both)), said(b.shutdown(Shutdown::Write)))
        },
    },
    Rule {
        name: "tcp: shutdown twice, by both ends",
        result: "ok ok ok ENOTCONN ENOTCONN",
        script: |_| {
            let (a, b) = pair();
            let both = |stream: &TcpStream| said(stream.shutdown(Shutdown::Both));
            format!("{} {} {} {} {}", both(&a), both(&a), both(&b), both(&a), both(&b))
        },
    },
    Rule {
        name: "tcp: shutdown after the peer closed",
        result: "ok ENOTCONN, ok ok ENOTCONN EPIPE 0",
        script: |_| {
            let (a, b) = pair();
            drop(b);
            let both = format!("{} {}", said(a.shutdown(Shutdown::Both)), said(a.shutdown(Shutdown::Both)));
            let (a, b) = pair();
            drop(b);
            let read_first = said(a.shutdown(Shutdown::Read));
            let halves = format!("{} {}", said(a.shutdown(Shutdown::Write)), said(a.shutdown(Shutdown::Write)));
            format!("{both}, {read_first} {halves} {} {}", write(&a, 1), read(&a, 8))
        },
    },
    Rule {
        name: "tcp: shutdown by a clone wakes a blocked read",
        result: "0",
        script: |_| {
            let (a, _b) = pair();
            let clone = a.try_clone().unwrap();
            let other = thread::spawn(move || clone.shutdown(Shutdown::Both).unwrap());
            let got = read(&a, 8);
            other.join().unwrap();
            got
        },
    },
    Rule {
        name: "tcp: non-blocking: nobody to accept, nothing to read, O_NONBLOCK is not inherited",
        result: "EAGAIN EAGAIN 1",
        script: |_| {
            let (listener, address) = listener();
            listener.set_nonblocking(true).unwrap();
            let nobody = said(listener.accept());
            let client = TcpStream::connect(address).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            client.set_nonblocking(true).unwrap();
            let nothing = read(&client, 8);
            let writer = thread::spawn(move || write(&client, 1));
            let got = read(&accepted, 8);
            writer.join().unwrap();
            format!("{nobody} {nothing} {got}")
        },
    },
    Rule {
        name: "tcp: read into an empty buffer",
        result: "empty 0 1",
        script: |_| {
            let (a, b) = pair();
            b.set_nonblocking(true).unwrap();
            let before = read(&b, 0);
            write(&a, 1);
            let before = if before == "EAGAIN" || before == "0" { "empty" } else { "something" };
            format!("{before} {} {}", read(&b, 0), read(&b, 8))
        },
    },
    Rule {
        name: "tcp: writes may come in one read, a short buffer leaves the rest",
        result: "5 2 3",
        script: |_| {
            let (a, b) = pair();
            write(&a, 2);
            write(&a, 3);
            let all = read(&b, 8);
            write(&a, 5);
            format!("{all} {} {}", read(&b, 2), read(&b, 8))
        },
    },
    Rule {
        name: "tcp: peek leaves what it gives",
        result: "EAGAIN 2 3 3 0",
        script: |_| {
            let (a, b) = pair();
            b.set_nonblocking(true).unwrap();
            let before = count(b.peek(&mut [0; 8]));
            write(&a, 3);
            let peeked = format!("{} {}", count(b.peek(&mut [0; 2])), count(b.peek(&mut [0; 8])));
            let got = read(&b, 8);
            drop(a);
            format!("{before} {peeked} {got} {}", count(b.peek(&mut [0; 8])))
        },
    },
    Rule {
        name: "tcp: options",
        result: "false true 64 7 EINVAL 20ms InvalidInput cannot set a 0 duration timeout",
        script: |_| {
            let (a, _b) = pair();
            let before = a.nodelay().unwrap();
            a.try_clone().unwrap().set_nodelay(true).unwrap();
            let (delay, ttl) = (a.nodelay().unwrap(), a.ttl().unwrap());
            a.set_ttl(7).unwrap();
            let bad = said(a.set_ttl(256));
            a.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
            let timeout = a.read_timeout().unwrap().unwrap();
            let zero = said(a.set_write_timeout(Some(Duration::ZERO)));
            format!("{before} {delay} {ttl} {} {bad} {timeout:?} {zero}", a.ttl().unwrap())
        },
    },
    Rule {
        name: "tcp: read timeout",
        result: "EAGAIN",
        script: |_| {
            let (a, _b) = pair();
            a.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
            read(&a, 8)
        },
    },
    Rule {
        name: "tcp: a connection that was not accepted when its client closed is accepted all the same",
        result: "2 0",
        script: |_| {
            let (listener, address) = listener();
            let client = TcpStream::connect(address).unwrap();
            write(&client, 2);
            drop(client);
            let (accepted, _) = listener.accept().unwrap();
            format!("{} {}", read(&accepted, 8), read(&accepted, 8))
        },
    },
    Rule {
        name: "tcp: accept order is connect order",
        result: "true",
        script: |_| {
            let (listener, address) = listener();
            let clients = [(); 3].map(|()| TcpStream::connect(address).unwrap());
            let accepted = [(); 3].map(|()| listener.accept().unwrap().1);
            (clients.map(|client| client.local_addr().unwrap()) == accepted).to_string()
        },
    },
];
