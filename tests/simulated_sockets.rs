//! What concurrent calls on sockets can come to, in an exact number of executions: all of it, since exploring every
//! interleaving without reduction comes to the same.

mod outcomes;

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use interleave::net::{SocketAddr, TcpListener, TcpStream};
use interleave::os::linux::net::SocketAddrExt;
use interleave::os::unix::net::{UnixDatagram, UnixListener, UnixStream, listen};
use interleave::{Builder, Kind, Verdict, fs, thread};

/// Explores `program`, which says what it has come to.
#[track_caller]
fn comes_to(executions: u64, expected: &[&str], program: impl Fn() -> String + Send + Sync) {
    comes_to_under(Builder::new().spurious(0), executions, expected, program);
}

#[track_caller]
fn comes_to_under(builder: Builder, executions: u64, expected: &[&str], program: impl Fn() -> String + Send + Sync) {
    let report = outcomes::comes_to(builder, 3_000, executions, expected, program);
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
}

/// One read, as text.
fn read(mut stream: impl Read) -> String {
    let mut buffer = [0; 64];
    match stream.read(&mut buffer) {
        Ok(count) => String::from_utf8_lossy(&buffer[..count]).into_owned(),
        Err(error) => format!("{:?}", error.kind()),
    }
}

/// One message, as text.
fn receive(socket: &UnixDatagram) -> String {
    let mut buffer = [0; 64];
    match socket.recv(&mut buffer) {
        Ok(count) => String::from_utf8_lossy(&buffer[..count]).into_owned(),
        Err(error) => format!("{:?}", error.kind()),
    }
}

fn kind<T>(result: io::Result<T>) -> String {
    result.map_or_else(|error| format!("{:?}", error.kind()), |_| "ok".into())
}

/// Writes `count` bytes one by one in a thread of their own, which gives back the stream if it is to stay open.
fn write_one_by_one(mut stream: UnixStream, count: u8) -> thread::JoinHandle<UnixStream> {
    thread::spawn(move || {
        (0..count).for_each(|n| stream.write_all(&[b'a' + n]).unwrap());
        stream
    })
}

/// One read gets the first byte, or the first two, and so on.
#[test]
fn one_read_beside_k_writes_has_k_executions() {
    let all = ["a", "ab", "abc", "abcd", "abcde"];
    for k in 1..=5_u8 {
        comes_to(k.into(), &all[..k.into()], || {
            let (a, b) = UnixStream::pair().unwrap();
            let writer = write_one_by_one(a, k);
            let got = read(&b);
            writer.join().unwrap();
            got
        });
    }
}

/// A read that does not wait may also find nothing.
#[test]
fn one_read_that_does_not_wait_beside_k_writes_has_one_more() {
    comes_to(4, &["WouldBlock", "a", "ab", "abc"], || {
        let (a, b) = UnixStream::pair().unwrap();
        b.set_nonblocking(true).unwrap();
        let writer = write_one_by_one(a, 3);
        let got = read(&b);
        writer.join().unwrap();
        got
    });
}

/// The ways to cut k bytes into pieces: between each two there is a cut or none.
#[test]
fn reading_all_of_k_writes_has_as_many_executions_as_there_are_ways_to_cut_them() {
    for k in 1..=5_u8 {
        let outcomes: Vec<String> = (0..1_u32 << (k - 1))
            .map(|cuts| {
                (0..k)
                    .map(|n| format!("{}{}", char::from(b'a' + n), if cuts >> n & 1 == 1 { "|" } else { "" }))
                    .collect()
            })
            .collect();
        let outcomes: Vec<&str> = outcomes.iter().map(String::as_str).collect();
        comes_to(1 << (k - 1), &outcomes, || {
            let (a, b) = UnixStream::pair().unwrap();
            let writer = write_one_by_one(a, k);
            let mut pieces = vec![read(&b)];
            while pieces.concat().len() < k.into() {
                pieces.push(read(&b));
            }
            writer.join().unwrap();
            pieces.join("|")
        });
    }
}

/// As before, and the last piece is read before or after the end is there.
#[test]
fn reading_k_writes_to_the_end_has_twice_as_many() {
    for (k, executions) in [(1, 2), (2, 4), (3, 8), (4, 16)] {
        let report = Builder::new().explore(move || {
            let (a, mut b) = UnixStream::pair().unwrap();
            let writer = thread::spawn(move || {
                let mut a = a;
                (0..k).for_each(|n| a.write_all(&[n]).unwrap());
            });
            let mut all = Vec::new();
            b.read_to_end(&mut all).unwrap();
            assert_eq!(all, (0..k).collect::<Vec<u8>>());
            writer.join().unwrap();
        });
        assert_eq!((report.verdict, report.executions), (Verdict::Complete, executions));
    }
}

#[test]
fn calls_on_other_descriptors_add_nothing() {
    comes_to(3, &["a", "ab", "abc"], || {
        let (mut a, b) = UnixStream::pair().unwrap();
        let (mut other, _kept) = UnixStream::pair().unwrap();
        let (datagram, _kept_too) = UnixDatagram::pair().unwrap();
        let (mut mine, _mine_too) = UnixStream::pair().unwrap();
        let writer = thread::spawn(move || {
            for n in 0..3 {
                a.write_all(&[b'a' + n]).unwrap();
                other.write_all(b"elsewhere").unwrap();
                datagram.send(b"elsewhere").unwrap();
            }
            (a, other, datagram)
        });
        mine.write_all(b"here").unwrap();
        let _listener = UnixListener::bind("here").unwrap();
        let got = read(&b);
        fs::remove_file("here").unwrap();
        drop(writer.join().unwrap());
        got
    });
}

/// A daemon that serves one client, which is a thread of its own.
fn serve(path: &'static str) -> String {
    let listener = UnixListener::bind(path).unwrap();
    let client = thread::spawn(move || {
        let mut stream = UnixStream::connect(path).unwrap();
        stream.write_all(path.as_bytes()).unwrap();
        let answer = read(&stream);
        drop(stream);
        answer
    });
    let (mut stream, _) = listener.accept().unwrap();
    let got = read(&stream);
    stream.write_all(got.as_bytes()).unwrap();
    let answer = client.join().unwrap();
    fs::remove_file(path).unwrap();
    answer
}

#[test]
fn two_daemons_on_different_paths_have_one_execution() {
    comes_to(1, &["/run/a /run/b"], || {
        let other = thread::spawn(|| serve("/run/b"));
        let mine = serve("/run/a");
        format!("{mine} {}", other.join().unwrap())
    });
}

/// They are accepted in the order in which they connect.
#[test]
fn three_clients_of_one_listener_have_six_executions() {
    comes_to(6, &["abc", "acb", "bac", "bca", "cab", "cba"], || {
        let listener = UnixListener::bind("sock").unwrap();
        let clients = [b"a", b"b", b"c"].map(|name| {
            thread::spawn(move || {
                let mut stream = UnixStream::connect("sock").unwrap();
                stream.write_all(name).unwrap();
                stream
            })
        });
        let got = [(); 3].map(|()| read(&listener.accept().unwrap().0)).concat();
        clients.into_iter().for_each(|client| drop(client.join().unwrap()));
        got
    });
}

#[test]
fn listeners_on_ports_that_the_kernel_chooses_have_one_execution() {
    comes_to(1, &["different ports, a b"], || {
        let serve = |text: &'static [u8]| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let client = thread::spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.write_all(text).unwrap();
                stream
            });
            let got = read(&listener.accept().unwrap().0);
            client.join().unwrap();
            (address, got)
        };
        let other = thread::spawn(move || serve(b"b"));
        let (mine, a) = serve(b"a");
        let (theirs, b) = other.join().unwrap();
        format!("{} ports, {a} {b}", if mine == theirs { "same" } else { "different" })
    });
}

#[test]
fn one_of_two_gets_a_port() {
    comes_to(2, &["ok AddrInUse", "AddrInUse ok"], || {
        let other = thread::spawn(|| TcpListener::bind("127.0.0.1:80"));
        let mine = TcpListener::bind("127.0.0.1:80");
        let theirs = other.join().unwrap();
        format!("{} {}", kind(mine), kind(theirs))
    });
}

#[test]
fn one_of_two_gets_a_port_at_overlapping_addresses() {
    comes_to(2, &["ok AddrInUse", "AddrInUse ok"], || {
        let other = thread::spawn(|| TcpListener::bind("0.0.0.0:80"));
        let mine = TcpListener::bind("127.0.0.1:80");
        let theirs = other.join().unwrap();
        format!("{} {}", kind(mine), kind(theirs))
    });
}

#[test]
fn a_tcp_client_may_be_too_early() {
    comes_to(2, &["ConnectionRefused", "ok"], || {
        let client = thread::spawn(|| kind(TcpStream::connect("127.0.0.1:80")));
        let _listener = TcpListener::bind("127.0.0.1:80").unwrap();
        client.join().unwrap()
    });
}

#[test]
fn a_tcp_read_may_be_short() {
    let program = || {
        let listener = TcpListener::bind("127.0.0.1:80").unwrap();
        let mut client = TcpStream::connect("127.0.0.1:80").unwrap();
        client.write_all(b"abc").unwrap();
        let (server, _) = listener.accept().unwrap();
        let first = read(&server);
        drop(client);
        let rest = read(&server);
        format!("{first}|{rest}")
    };
    let report = Builder::new().spurious(0).explore(move || assert_eq!(program(), "abc|"));
    assert_eq!((report.failure.map(|failure| failure.report), report.executions), (None, 1));
    let seen = Mutex::new(BTreeSet::new());
    let report = Builder::new().spurious(1).explore(|| {
        let outcome = program();
        seen.lock().unwrap().insert(outcome);
    });
    // A second short read would be one more spurious event.
    assert_eq!((report.failure.map(|failure| failure.report), report.executions), (None, 2));
    assert_eq!(seen.into_inner().unwrap(), BTreeSet::from(["abc|".into(), "a|bc".into()]));
}

#[test]
fn a_tcp_peer_closes_while_this_end_writes() {
    // The first write is unread when the other end closes, which is a reset, or it comes later and brings about another.
    comes_to(2, &["ok ConnectionReset", "ok BrokenPipe"], || {
        let listener = TcpListener::bind("127.0.0.1:80").unwrap();
        let mut client = TcpStream::connect("127.0.0.1:80").unwrap();
        let (server, _) = listener.accept().unwrap();
        let peer = thread::spawn(move || drop(server));
        let first = kind(client.write(b"x"));
        peer.join().unwrap();
        format!("{first} {}", kind(client.write(b"y")))
    });
}

#[test]
fn an_abstract_name_goes_away_with_its_listener() {
    comes_to(3, &["ConnectionRefused", "ConnectionReset"], || {
        let name = interleave::os::unix::net::SocketAddr::from_abstract_name("name").unwrap();
        let listener = UnixListener::bind_addr(&name).unwrap();
        let client = thread::spawn(move || match UnixStream::connect_addr(&name) {
            Ok(stream) => read(&stream),
            Err(error) => format!("{:?}", error.kind()),
        });
        drop(listener);
        client.join().unwrap()
    });
}

#[test]
fn a_small_backlog_makes_clients_wait_and_loses_none() {
    comes_to(BACKLOG, &["ab", "ba"], || {
        let listener = UnixListener::bind("sock").unwrap();
        listen(&listener, 0).unwrap();
        let clients = [b"a", b"b"].map(|name| {
            thread::spawn(move || {
                let mut stream = UnixStream::connect("sock").unwrap();
                stream.write_all(name).unwrap();
                stream
            })
        });
        let got = [(); 2].map(|()| read(&listener.accept().unwrap().0)).concat();
        clients.into_iter().for_each(|client| drop(client.join().unwrap()));
        got
    });
}

/// For each of the two who may be first: the second finds a place at once, or finds none and waits for it.
const BACKLOG: u64 = 4;

#[test]
fn a_full_backlog_is_a_deadlock_if_nobody_accepts() {
    let report = Builder::new().explore(|| {
        let listener = UnixListener::bind("sock").unwrap();
        listen(&listener, 0).unwrap();
        let _first = UnixStream::connect("sock").unwrap();
        let second = thread::spawn(|| drop(UnixStream::connect("sock")));
        second.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Failed(Kind::Deadlock));
}

#[test]
fn a_writer_waits_for_room() {
    let report = Builder::new().explore(|| {
        let (mut a, mut b) = UnixStream::pair().unwrap();
        let writer = thread::spawn(move || a.write_all(&vec![1; 300_000]).unwrap());
        let mut all = Vec::new();
        b.read_to_end(&mut all).unwrap();
        assert_eq!(all.len(), 300_000);
        writer.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Complete);
    let report = Builder::new().explore(|| {
        let (mut a, _b) = UnixStream::pair().unwrap();
        let writer = thread::spawn(move || a.write_all(&vec![1; 300_000]).unwrap());
        writer.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Failed(Kind::Deadlock));
}

/// In each order of the two messages, the first is received before or after the second is sent.
#[test]
fn messages_of_two_senders_come_in_either_order() {
    comes_to(4, &["ab", "ba"], || {
        let receiver = UnixDatagram::bind("sock").unwrap();
        let senders = [b"a", b"b"]
            .map(|name| thread::spawn(move || UnixDatagram::unbound().unwrap().send_to(name, "sock").unwrap()));
        let got = [(); 2].map(|()| receive(&receiver)).concat();
        senders.into_iter().for_each(|sender| assert_eq!(sender.join().unwrap(), 1));
        got
    });
}

/// In how many orders `to_send` senders can send a message each, and be received, if `waiting` messages wait.
fn orders(to_send: u64, waiting: u64) -> u64 {
    match (to_send, waiting) {
        (0, _) => 1,
        (_, 0) => to_send * orders(to_send - 1, 1),
        _ => to_send * orders(to_send - 1, waiting + 1) + orders(to_send, waiting - 1),
    }
}

/// n senders that send one message each to one receiver: each order of the messages, and in each the sends and receives in any
/// order in which no message is received before it is sent. n! times the n-th Catalan number. What the senders do elsewhere adds
/// nothing.
#[test]
fn n_senders_of_one_message_to_one_receiver() {
    assert_eq!([1, 2, 3, 4].map(|n| orders(n, 0)), [1, 2 * 2, 6 * 5, 24 * 14]);
    for n in 1..=3_u8 {
        let all: Vec<Vec<u8>> = match n {
            1 => vec![vec![0]],
            2 => vec![vec![0, 1], vec![1, 0]],
            _ => [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map(Vec::from).into(),
        };
        let expected: Vec<String> = all.iter().map(|order| format!("{order:?}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        for elsewhere in [false, true] {
            comes_to(orders(n.into(), 0), &expected, || {
                let receiver = UnixDatagram::bind("sock").unwrap();
                let senders: Vec<_> = (0..n)
                    .map(|number| {
                        thread::spawn(move || {
                            if elsewhere {
                                let (one, two) = UnixDatagram::pair().unwrap();
                                one.send(b"x").unwrap();
                                assert_eq!(receive(&two), "x");
                                fs::write(number.to_string(), "x").unwrap();
                            }
                            UnixDatagram::unbound().unwrap().send_to(&[number], "sock").unwrap();
                        })
                    })
                    .collect();
                let got: Vec<u8> = (0..n).map(|_| receive(&receiver).into_bytes()[0]).collect();
                senders.into_iter().for_each(|sender| sender.join().unwrap());
                format!("{got:?}")
            });
        }
    }
}

/// The orders of k sends and k receives in which no message is received before it is sent: the Catalan numbers.
#[test]
fn k_messages_and_as_many_receives() {
    for (k, executions) in [(1, 1), (2, 2), (3, 5), (4, 14)] {
        let report = Builder::new().explore(move || {
            let (a, b) = UnixDatagram::pair().unwrap();
            let sender = thread::spawn(move || {
                (0..k).for_each(|n| assert_eq!(a.send(&[n]).unwrap(), 1));
                a
            });
            let mut buffer = [0; 8];
            (0..k).for_each(|n| assert_eq!((b.recv(&mut buffer).unwrap(), buffer[0]), (1, n)));
            sender.join().unwrap();
        });
        assert_eq!((report.failure.map(|failure| failure.report), report.executions), (None, executions));
    }
}

#[test]
fn a_message_to_a_socket_that_closes_is_refused_or_lost() {
    comes_to(2, &["ok", "ConnectionRefused"], || {
        let (a, b) = UnixDatagram::pair().unwrap();
        let peer = thread::spawn(move || drop(b));
        let sent = kind(a.send(b"x"));
        peer.join().unwrap();
        sent
    });
}

#[test]
fn a_timed_receive_may_give_up() {
    comes_to(2, &["a", "WouldBlock"], || {
        let (a, b) = UnixDatagram::pair().unwrap();
        b.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let sender = thread::spawn(move || {
            a.send(b"a").unwrap();
            a
        });
        let got = receive(&b);
        sender.join().unwrap();
        got
    });
}

#[test]
fn a_socket_of_another_execution_is_reported() {
    static KEPT: OnceLock<UnixStream> = OnceLock::new();
    let report = Builder::new().explore(|| {
        let kept = KEPT.get_or_init(|| {
            let (a, b) = UnixStream::pair().unwrap();
            std::mem::forget(b);
            a
        });
        // Two executions.
        let other = thread::spawn(|| fs::write("f", "").unwrap());
        let _ = fs::exists("f");
        other.join().unwrap();
        let _ = (&mut { kept }).write(b"x");
    });
    let failure = report.failure.expect("a failure");
    assert_eq!(failure.kind, Kind::Outside);
    let said = "a socket or file that another execution of the model has made is used here";
    assert!(failure.message.contains(said), "{}", failure.message);
}

#[test]
fn a_socket_of_a_running_model_used_by_another_os_thread_is_reported() {
    let report = Builder::new().explore(|| {
        let (a, _b) = UnixStream::pair().unwrap();
        std::thread::scope(|scope| {
            let foreign = scope.spawn(|| (&mut { &a }).write(b"x"));
            let panic = foreign.join().expect_err("it panics").downcast::<String>().expect("a message");
            assert!(panic.starts_with("error[interleave::outside]: a socket or file of a running model"), "{panic}");
        });
    });
    // Whatever the thread did with its panic, the model fails as well.
    let failure = report.failure.expect("a failure");
    assert_eq!(failure.kind, Kind::Outside);
    assert_eq!(failure.message, "use of a file or socket of the model by an OS thread that is not one of the model's");
}

#[test]
fn bad_names_are_errors_of_std_and_the_kernel() {
    let report = Builder::new().explore(|| {
        fs::write("file", "").unwrap();
        fs::create_dir("directory").unwrap();
        let long = "x".repeat(108);
        let bad = ["a\0b", &long, "none/sock", "file/sock", "file", "directory"];
        let expected = "InvalidInput InvalidInput NotFound NotADirectory ConnectionRefused ConnectionRefused";
        assert_eq!(bad.map(|path| kind(UnixStream::connect(path))).join(" "), expected);
        let expected = "InvalidInput InvalidInput NotFound NotADirectory AddrInUse AddrInUse";
        assert_eq!(bad.map(|path| kind(UnixListener::bind(path))).join(" "), expected);
        assert_eq!(bad.map(|path| kind(UnixDatagram::bind(path))).join(" "), expected);
    });
    assert_eq!(report.failure.map(|failure| failure.report), None);
}

#[test]
fn addresses_that_are_not_the_loopback_interface_are_unreachable() {
    let report = Builder::new().explore(|| {
        let foreign = SocketAddr::from(([192, 0, 2, 1], 80));
        assert_eq!(kind(TcpStream::connect(foreign)), "NetworkUnreachable");
        assert_eq!(kind(TcpListener::bind(foreign)), "AddrNotAvailable");
        let error = TcpStream::connect("example.org:80").unwrap_err();
        assert!(error.to_string().contains("a model knows no host `example.org`"), "{error}");
    });
    assert_eq!(report.failure.map(|failure| failure.report), None);
}
