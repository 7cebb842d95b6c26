//! Reading and writing.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use super::api::{UnixStream, thread};
use crate::observe::{Rule, count, said};

fn pair() -> (UnixStream, UnixStream) {
    UnixStream::pair().unwrap()
}

/// One read of up to `length` bytes.
fn read(mut stream: &UnixStream, length: usize) -> String {
    count(stream.read(&mut vec![0; length]))
}

/// One write of `length` bytes.
fn write(mut stream: &UnixStream, length: usize) -> String {
    count(stream.write(&vec![b'x'; length]))
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "read after the peer closed",
        result: "0",
        script: |_| {
            let (a, b) = pair();
            drop(b);
            read(&a, 8)
        },
    },
    Rule {
        name: "data before close is delivered, then end of file",
        result: "3 3 0",
        script: |_| {
            let (a, b) = pair();
            let wrote = write(&b, 3);
            drop(b);
            format!("{wrote} {} {}", read(&a, 8), read(&a, 8))
        },
    },
    Rule {
        name: "write after the peer closed, also of nothing",
        result: "EPIPE EPIPE",
        script: |_| {
            let (a, b) = pair();
            drop(b);
            format!("{} {}", write(&a, 1), write(&a, 0))
        },
    },
    Rule {
        name: "peer closed with my data unread: read gives reset once, then end of file",
        result: "ECONNRESET 0",
        script: |_| {
            let (a, b) = pair();
            write(&a, 1);
            drop(b);
            format!("{} {}", read(&a, 8), read(&a, 8))
        },
    },
    Rule {
        name: "peer closed with my data unread, but its data is queued: data first, then reset, then end of file",
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
        name: "peer closed with my data unread: write",
        result: "EPIPE EPIPE",
        script: |_| {
            let (a, b) = pair();
            write(&a, 1);
            drop(b);
            format!("{} {}", write(&a, 1), write(&a, 1))
        },
    },
    Rule {
        name: "take_error gives the reset, once",
        result: "ECONNRESET none 0",
        script: |_| {
            let (a, b) = pair();
            write(&a, 1);
            drop(b);
            let errors = [(); 2].map(|()| match a.take_error().unwrap() {
                Some(error) => said::<()>(Err(error)),
                None => "none".into(),
            });
            format!("{} {}", errors.join(" "), read(&a, 8))
        },
    },
    Rule {
        name: "two writes come in one read",
        result: "5",
        script: |_| {
            let (a, b) = pair();
            write(&a, 2);
            write(&a, 3);
            read(&b, 8)
        },
    },
    Rule {
        name: "a short buffer leaves the rest",
        result: "2 3",
        script: |_| {
            let (a, b) = pair();
            write(&a, 5);
            format!("{} {}", read(&b, 2), read(&b, 8))
        },
    },
    Rule {
        name: "read crosses the edge of writes, in order",
        result: "abcd ef",
        script: |_| {
            let (mut a, mut b) = pair();
            a.write_all(b"abc").unwrap();
            a.write_all(b"def").unwrap();
            let mut buffer = [0; 6];
            b.read_exact(&mut buffer[..4]).unwrap();
            b.read_exact(&mut buffer[4..]).unwrap();
            let text = String::from_utf8_lossy(&buffer).into_owned();
            format!("{} {}", &text[..4], &text[4..])
        },
    },
    Rule {
        name: "write of nothing is not end of file",
        result: "0 EAGAIN",
        script: |_| {
            let (a, b) = pair();
            b.set_nonblocking(true).unwrap();
            format!("{} {}", write(&a, 0), read(&b, 8))
        },
    },
    Rule {
        name: "read into an empty buffer: nothing queued (non-blocking), something queued, nothing is taken",
        result: "EAGAIN 0 1",
        script: |_| {
            let (a, b) = pair();
            b.set_nonblocking(true).unwrap();
            let before = read(&b, 0);
            write(&a, 1);
            format!("{before} {} {}", read(&b, 0), read(&b, 8))
        },
    },
    Rule {
        name: "O_NONBLOCK is shared by try_clone, and can be taken back",
        result: "EAGAIN EAGAIN 1",
        script: |_| {
            let (a, b) = pair();
            let c = b.try_clone().unwrap();
            c.set_nonblocking(true).unwrap();
            let (through_b, through_c) = (read(&b, 8), read(&c, 8));
            b.set_nonblocking(false).unwrap();
            let writer = thread::spawn(move || write(&a, 1));
            let got = read(&b, 8);
            writer.join().unwrap();
            format!("{through_b} {through_c} {got}")
        },
    },
    Rule {
        name: "non-blocking write fills the buffer: partial, then EAGAIN",
        result: "partial EAGAIN",
        script: |_| {
            let (mut a, _b) = pair();
            a.set_nonblocking(true).unwrap();
            let data = vec![b'x'; 16 << 20];
            let partial = a.write(&data).is_ok_and(|n| n > 0 && n < data.len());
            // The last bytes of the buffer are filled in units that differ.
            while a.write(b"x").is_ok() {}
            format!("{} {}", if partial { "partial" } else { "all or nothing" }, write(&a, 1))
        },
    },
    Rule {
        name: "a blocking write waits until all is queued",
        result: "1048576 1048576",
        script: |_| {
            let (a, mut b) = pair();
            let writer = thread::spawn(move || write(&a, 1 << 20));
            let mut buffer = vec![0; 1 << 20];
            let mut all = 0;
            loop {
                match b.read(&mut buffer).unwrap() {
                    0 => break,
                    count => all += count,
                }
            }
            format!("{} {all}", writer.join().unwrap())
        },
    },
    Rule {
        name: "read timeout",
        result: "EAGAIN 20ms",
        script: |_| {
            let (a, _b) = pair();
            a.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
            format!("{} {:?}", read(&a, 8), a.read_timeout().unwrap().unwrap())
        },
    },
    Rule {
        name: "zero timeout is refused by std",
        result: "InvalidInput cannot set a 0 duration timeout",
        script: |_| {
            let (a, _b) = pair();
            said(a.set_read_timeout(Some(Duration::ZERO)))
        },
    },
    Rule {
        name: "clone keeps the connection open",
        result: "1 1 0",
        script: |_| {
            let (a, b) = pair();
            let c = b.try_clone().unwrap();
            drop(b);
            let (wrote, got) = (write(&a, 1), read(&c, 8));
            drop(c);
            format!("{wrote} {got} {}", read(&a, 8))
        },
    },
    Rule {
        name: "shutdown(Write): peer reads end of file, the other way still works",
        result: "0 1 1",
        script: |_| {
            let (a, b) = pair();
            a.shutdown(Shutdown::Write).unwrap();
            format!("{} {} {}", read(&b, 8), write(&b, 1), read(&a, 8))
        },
    },
    Rule {
        name: "shutdown(Write): own write; shutdown(Read): peer's write",
        result: "EPIPE EPIPE",
        script: |_| {
            let (a, b) = pair();
            a.shutdown(Shutdown::Write).unwrap();
            let own = write(&a, 1);
            a.shutdown(Shutdown::Read).unwrap();
            format!("{own} {}", write(&b, 1))
        },
    },
    Rule {
        name: "shutdown(Read): what was queued can still be read",
        result: "2 0",
        script: |_| {
            let (a, b) = pair();
            write(&b, 2);
            a.shutdown(Shutdown::Read).unwrap();
            format!("{} {}", read(&a, 8), read(&a, 8))
        },
    },
    Rule {
        name: "shutdown twice, and after the peer closed",
        result: "ok ok ok",
        script: |_| {
            let (a, b) = pair();
            let (once, twice) = (said(a.shutdown(Shutdown::Both)), said(a.shutdown(Shutdown::Both)));
            drop(b);
            format!("{once} {twice} {}", said(a.shutdown(Shutdown::Both)))
        },
    },
    Rule {
        name: "shutdown by a clone reaches the original",
        result: "0",
        script: |_| {
            let (a, _b) = pair();
            a.try_clone().unwrap().shutdown(Shutdown::Both).unwrap();
            read(&a, 8)
        },
    },
    Rule {
        name: "shutdown wakes a blocked read",
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
        name: "closing another descriptor does not wake a blocked read, the peer's close does",
        result: "0",
        script: |_| {
            let (a, b) = pair();
            let clone = a.try_clone().unwrap();
            let other = thread::spawn(move || {
                drop(clone);
                drop(b);
            });
            let got = read(&a, 8);
            other.join().unwrap();
            got
        },
    },
    Rule {
        name: "the ends of a pair have no names",
        result: "true true",
        script: |_| {
            let (a, b) = pair();
            format!("{} {}", a.local_addr().unwrap().is_unnamed(), b.peer_addr().unwrap().is_unnamed())
        },
    },
];
