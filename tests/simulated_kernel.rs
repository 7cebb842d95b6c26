//! What concurrent calls of the simulated kernel can come to: all of it and nothing else, in an exact number of executions.
//! Exploring every interleaving without reduction comes to the same.

mod outcomes;

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use interleave::fs::{self, File};
use interleave::os::unix::fs::MetadataExt;
use interleave::os::unix::net::{UnixListener, UnixStream};
use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicU32, Ordering};
use interleave::{Builder, Verdict, thread};

/// Explores `program`, which says what it has come to.
#[track_caller]
fn comes_to(executions: u64, expected: &[&str], program: impl Fn() -> String + Send + Sync) {
    let report = outcomes::comes_to(Builder::new(), 20_000, executions, expected, program);
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
}

/// One read, as text.
fn read(mut stream: &UnixStream) -> String {
    let mut buffer = [0; 8];
    match stream.read(&mut buffer) {
        Ok(count) => String::from_utf8_lossy(&buffer[..count]).into_owned(),
        Err(error) => format!("{:?}", error.kind()),
    }
}

fn kind<T>(result: std::io::Result<T>) -> String {
    result.map_or_else(|error| format!("{:?}", error.kind()), |_| "ok".into())
}

#[test]
fn a_client_may_be_too_early() {
    comes_to(3, &["NotFound", "ConnectionRefused", "ok"], || {
        let client = thread::spawn(|| kind(UnixStream::connect("sock")));
        let _listener = UnixListener::bind("sock").unwrap();
        client.join().unwrap()
    });
}

#[test]
fn a_server_and_a_client() {
    comes_to(1, &["a"], || {
        let listener = UnixListener::bind("sock").unwrap();
        let client = thread::spawn(|| {
            let mut stream = UnixStream::connect("sock").unwrap();
            stream.write_all(b"a").unwrap();
            stream
        });
        let (stream, _) = listener.accept().unwrap();
        let got = read(&stream);
        client.join().unwrap();
        got
    });
}

#[test]
fn two_clients_are_accepted_in_the_order_in_which_they_connect() {
    comes_to(2, &["ab", "ba"], || {
        let listener = UnixListener::bind("sock").unwrap();
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

#[test]
fn two_acceptors_share_the_clients() {
    comes_to(2, &["1 1"], || {
        let listener = UnixListener::bind("sock").unwrap();
        let other = listener.try_clone().unwrap();
        let other = thread::spawn(move || u32::from(other.accept().is_ok()));
        let streams = [(); 2].map(|()| UnixStream::connect("sock").unwrap());
        let mine = u32::from(listener.accept().is_ok());
        let theirs = other.join().unwrap();
        drop(streams);
        format!("{mine} {theirs}")
    });
}

#[test]
fn a_connection_that_is_there_is_accepted_without_waiting() {
    comes_to(3, &["a", "b"], || {
        let listener = UnixListener::bind("sock").unwrap();
        listener.set_nonblocking(true).unwrap();
        let connect = |name: &[u8]| {
            let mut stream = UnixStream::connect("sock").unwrap();
            stream.write_all(name).unwrap();
            stream
        };
        let other = thread::spawn(move || connect(b"a"));
        let _mine = connect(b"b");
        // The other's may be first, even before it has written.
        let (stream, _) = listener.accept().expect("mine is there");
        let got = read(&stream);
        other.join().unwrap();
        got
    });
}

#[test]
fn a_listener_closes_while_a_client_connects() {
    comes_to(2, &["ConnectionRefused", "ConnectionReset"], || {
        let listener = UnixListener::bind("sock").unwrap();
        let client = thread::spawn(|| match UnixStream::connect("sock") {
            Ok(stream) => read(&stream),
            Err(error) => format!("{:?}", error.kind()),
        });
        drop(listener);
        client.join().unwrap()
    });
}

#[test]
fn writes_may_be_read_together_and_the_end_comes_last() {
    comes_to(4, &["ab|", "a|b|"], || {
        let (mut a, b) = UnixStream::pair().unwrap();
        let writer = thread::spawn(move || {
            a.write_all(b"a").unwrap();
            a.write_all(b"b").unwrap();
        });
        let mut got = String::new();
        loop {
            let piece = read(&b);
            if piece.is_empty() {
                break;
            }
            got = got + &piece + "|";
        }
        writer.join().unwrap();
        got
    });
}

#[test]
fn two_writers_do_not_mix_within_a_write() {
    comes_to(4, &["aabb", "bbaa"], || {
        let (a, mut b) = UnixStream::pair().unwrap();
        let other = a.try_clone().unwrap();
        let writers = [(a, b"aa"), (other, b"bb")].map(|(mut stream, data)| {
            thread::spawn(move || {
                stream.write_all(data).unwrap();
                stream
            })
        });
        let mut got = [0; 4];
        b.read_exact(&mut got).unwrap();
        writers.into_iter().for_each(|writer| drop(writer.join().unwrap()));
        String::from_utf8_lossy(&got).into_owned()
    });
}

#[test]
fn two_readers_share_what_is_written() {
    comes_to(2, &["a b", "b a"], || {
        let (mut a, b) = UnixStream::pair().unwrap();
        let other = b.try_clone().unwrap();
        a.write_all(b"ab").unwrap();
        let take = |mut stream: UnixStream| {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            (char::from(byte[0]), stream)
        };
        let other = thread::spawn(move || take(other));
        let (mine, _b) = take(b);
        let (theirs, _other) = other.join().unwrap();
        format!("{mine} {theirs}")
    });
}

#[test]
fn a_peer_closes_with_data_unread_or_not() {
    comes_to(2, &["ok ConnectionReset", "BrokenPipe "], || {
        let (mut a, b) = UnixStream::pair().unwrap();
        let peer = thread::spawn(move || drop(b));
        let wrote = kind(a.write(b"x"));
        let got = read(&a);
        peer.join().unwrap();
        format!("{wrote} {got}")
    });
}

#[test]
fn a_loop_of_timed_reads_comes_to_an_end() {
    comes_to(1, &["a"], || {
        let (mut a, b) = UnixStream::pair().unwrap();
        b.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let writer = thread::spawn(move || {
            a.write_all(b"a").unwrap();
            a
        });
        let got = loop {
            let got = read(&b);
            if got != "WouldBlock" {
                break got;
            }
        };
        writer.join().unwrap();
        got
    });
}

#[test]
fn a_timed_read_may_give_up() {
    comes_to(2, &["a", "WouldBlock"], || {
        let (mut a, b) = UnixStream::pair().unwrap();
        b.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let writer = thread::spawn(move || {
            a.write_all(b"a").unwrap();
            a
        });
        let got = read(&b);
        writer.join().unwrap();
        got
    });
}

#[test]
fn one_of_two_makes_a_new_file() {
    comes_to(2, &["ok AlreadyExists", "AlreadyExists ok"], || {
        let other = thread::spawn(|| kind(File::create_new("f")));
        let mine = kind(File::create_new("f"));
        format!("{mine} {}", other.join().unwrap())
    });
}

#[test]
fn appends_are_not_lost() {
    comes_to(4, &["ab", "ba"], || {
        let append = |text: &'static [u8]| {
            let mut file = File::options().append(true).create(true).open("f").unwrap();
            file.write_all(text).unwrap();
        };
        let other = thread::spawn(move || append(b"a"));
        append(b"b");
        other.join().unwrap();
        fs::read_to_string("f").unwrap()
    });
}

#[test]
fn a_reader_may_see_a_file_before_it_is_written() {
    comes_to(3, &["NotFound", "", "text"], || {
        let writer = thread::spawn(|| fs::write("f", "text").unwrap());
        let got = fs::read_to_string("f").unwrap_or_else(|error| format!("{:?}", error.kind()));
        writer.join().unwrap();
        got
    });
}

#[test]
fn a_file_that_is_renamed_into_place_is_seen_whole() {
    comes_to(2, &["old", "new"], || {
        fs::write("f", "old").unwrap();
        let writer = thread::spawn(|| {
            fs::write("f.new", "new").unwrap();
            fs::rename("f.new", "f").unwrap();
        });
        let got = fs::read_to_string("f").unwrap();
        writer.join().unwrap();
        got
    });
}

#[test]
fn a_rename_is_never_half_done() {
    comes_to(4, &["true true", "true false", "false true"], || {
        fs::write("a", "").unwrap();
        let other = thread::spawn(|| fs::rename("a", "b").unwrap());
        let (a, b) = (fs::exists("a").unwrap(), fs::exists("b").unwrap());
        other.join().unwrap();
        format!("{a} {b}")
    });
    comes_to(5, &["false true", "false false", "true false"], || {
        fs::write("a", "").unwrap();
        let other = thread::spawn(|| fs::rename("a", "b").unwrap());
        let (b, a) = (fs::exists("b").unwrap(), fs::exists("a").unwrap());
        other.join().unwrap();
        format!("{b} {a}")
    });
}

#[test]
fn renames_in_opposite_directions_do_not_wait_for_each_other() {
    comes_to(2, &["ok ok, a", "ok ok, b"], || {
        fs::write("a", "").unwrap();
        fs::write("b", "").unwrap();
        let other = thread::spawn(|| kind(fs::rename("b", "a")));
        let mine = kind(fs::rename("a", "b"));
        let theirs = other.join().unwrap();
        let left: Vec<&str> = ["a", "b"].into_iter().filter(|name| fs::exists(name).unwrap()).collect();
        format!("{mine} {theirs}, {}", left.join(" "))
    });
}

#[test]
fn a_link_does_not_bring_back_what_has_lost_its_last_name() {
    comes_to(4, &["ok 1", "NotFound 0"], || {
        let file = File::create("a").unwrap();
        let other = thread::spawn(|| fs::remove_file("a").unwrap());
        let linked = kind(fs::hard_link("a", "b"));
        other.join().unwrap();
        format!("{linked} {}", file.metadata().unwrap().nlink())
    });
}

#[test]
fn the_number_of_names_is_right_while_one_is_renamed() {
    comes_to(5, &["1"], || {
        let file = File::create("a").unwrap();
        let other = thread::spawn(|| fs::rename("a", "b").unwrap());
        let links = file.metadata().unwrap().nlink();
        other.join().unwrap();
        links.to_string()
    });
}

#[test]
fn a_lock_excludes() {
    comes_to(4, &["2"], || {
        fs::write("n", "0").unwrap();
        let add = || {
            let lock = File::create("lock").unwrap();
            lock.lock().unwrap();
            let n: u32 = fs::read_to_string("n").unwrap().parse().unwrap();
            fs::write("n", (n + 1).to_string()).unwrap();
        };
        let other = thread::spawn(add);
        add();
        other.join().unwrap();
        fs::read_to_string("n").unwrap()
    });
}

#[test]
fn a_lock_file_that_is_deleted_is_two_locks() {
    comes_to(252, &["alone", "together"], || {
        let inside = Arc::new(AtomicU32::new(0));
        let holder = || {
            let inside = inside.clone();
            move || {
                let lock = File::create("lock").unwrap();
                lock.lock().unwrap();
                let alone = inside.fetch_add(1, Ordering::Relaxed) == 0;
                inside.fetch_sub(1, Ordering::Relaxed);
                fs::remove_file("lock").unwrap_or_else(|error| assert_eq!(error.kind(), ErrorKind::NotFound));
                alone
            }
        };
        let others = [(); 2].map(|()| thread::spawn(holder()));
        let mine = holder()();
        let all = others.map(|other| other.join().unwrap()).into_iter().all(|alone| alone) && mine;
        if all { "alone" } else { "together" }.into()
    });
}
