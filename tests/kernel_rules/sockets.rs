//! Listening and connecting.

use std::io::{Read, Write};
use std::path::Path;

use super::api::{FileTypeExt, UnixListener, UnixStream, fs, thread};
use crate::observe::{Rule, count, said};

/// Whether somebody is waiting to be accepted.
fn waiting(listener: &UnixListener) -> bool {
    listener.set_nonblocking(true).unwrap();
    listener.accept().is_ok()
}

/// A path of `length` bytes in `dir`.
fn long_path(dir: &Path, length: usize) -> std::path::PathBuf {
    let used = dir.as_os_str().len() + 1;
    dir.join("x".repeat(length - used))
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "bind creates the socket file",
        result: "socket",
        script: |dir| {
            let p = dir.join("s");
            let _listener = UnixListener::bind(&p).unwrap();
            let kind = fs::metadata(&p).unwrap().file_type();
            if kind.is_socket() && !kind.is_file() { "socket" } else { "something else" }.into()
        },
    },
    Rule {
        name: "bind on a live listener's path",
        result: "EADDRINUSE",
        script: |dir| {
            let _listener = UnixListener::bind(dir.join("s")).unwrap();
            said(UnixListener::bind(dir.join("s")))
        },
    },
    Rule {
        name: "bind on a stale socket file",
        result: "EADDRINUSE",
        script: |dir| {
            drop(UnixListener::bind(dir.join("s")).unwrap());
            said(UnixListener::bind(dir.join("s")))
        },
    },
    Rule {
        name: "bind on a regular file, on a directory",
        result: "EADDRINUSE EADDRINUSE",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            fs::create_dir(dir.join("d")).unwrap();
            format!("{} {}", said(UnixListener::bind(dir.join("f"))), said(UnixListener::bind(dir.join("d"))))
        },
    },
    Rule {
        name: "bind in a missing directory, below a regular file",
        result: "ENOENT ENOTDIR",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            format!("{} {}", said(UnixListener::bind(dir.join("none/p"))), said(UnixListener::bind(dir.join("f/p"))))
        },
    },
    Rule {
        name: "close keeps the file",
        result: "true",
        script: |dir| {
            drop(UnixListener::bind(dir.join("s")).unwrap());
            count(fs::exists(dir.join("s")))
        },
    },
    Rule {
        name: "std path limit: 107 bytes, and no NUL",
        result: "ok, InvalidInput path must be shorter than SUN_LEN, InvalidInput paths must not contain interior null bytes",
        script: |dir| {
            let last = said(UnixListener::bind(long_path(dir, 107)));
            let first = said(UnixListener::bind(long_path(dir, 108)));
            format!("{last}, {first}, {}", said(UnixStream::connect(dir.join("a\0b"))))
        },
    },
    Rule {
        name: "connect to a missing path, below a regular file",
        result: "ENOENT ENOTDIR",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            format!("{} {}", said(UnixStream::connect(dir.join("s"))), said(UnixStream::connect(dir.join("f/s"))))
        },
    },
    Rule {
        name: "connect to a stale socket",
        result: "ECONNREFUSED",
        script: |dir| {
            drop(UnixListener::bind(dir.join("s")).unwrap());
            said(UnixStream::connect(dir.join("s")))
        },
    },
    Rule {
        name: "connect to a regular file, to a directory",
        result: "ECONNREFUSED ECONNREFUSED",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            format!("{} {}", said(UnixStream::connect(dir.join("f"))), said(UnixStream::connect(dir)))
        },
    },
    Rule {
        name: "connect through a hard link",
        result: "ok",
        script: |dir| {
            let _listener = UnixListener::bind(dir.join("s")).unwrap();
            fs::hard_link(dir.join("s"), dir.join("p")).unwrap();
            fs::remove_file(dir.join("s")).unwrap();
            said(UnixStream::connect(dir.join("p")))
        },
    },
    Rule {
        name: "connect after rename of the socket; its local_addr",
        result: "ok ENOENT old name",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            fs::rename(dir.join("s"), dir.join("p")).unwrap();
            let (new, old) = (said(UnixStream::connect(dir.join("p"))), said(UnixStream::connect(dir.join("s"))));
            let same = listener.local_addr().unwrap().as_pathname() == Some(&dir.join("s"));
            format!("{new} {old} {}", if same { "old name" } else { "another name" })
        },
    },
    Rule {
        name: "rename over a live socket: the first keeps its old connections and loses the name",
        result: "second 2",
        script: |dir| {
            let first = UnixListener::bind(dir.join("s")).unwrap();
            let mut old = UnixStream::connect(dir.join("s")).unwrap();
            let (mut accepted, _) = first.accept().unwrap();
            let second = UnixListener::bind(dir.join("p")).unwrap();
            fs::rename(dir.join("p"), dir.join("s")).unwrap();
            let _new = UnixStream::connect(dir.join("s")).unwrap();
            old.write_all(b"hi").unwrap();
            let got = count(accepted.read(&mut [0; 8]));
            let who = match (waiting(&first), waiting(&second)) {
                (false, true) => "second",
                _ => "not the second",
            };
            format!("{who} {got}")
        },
    },
    Rule {
        name: "connect succeeds before accept, and so does write",
        result: "3 3",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            let mut stream = UnixStream::connect(dir.join("s")).unwrap();
            let wrote = count(stream.write(b"abc"));
            let (mut accepted, _) = listener.accept().unwrap();
            format!("{wrote} {}", count(accepted.read(&mut [0; 8])))
        },
    },
    Rule {
        name: "accept after the client closed still yields the connection",
        result: "2 0",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            UnixStream::connect(dir.join("s")).unwrap().write_all(b"hi").unwrap();
            let (mut accepted, _) = listener.accept().unwrap();
            format!("{} {}", count(accepted.read(&mut [0; 8])), count(accepted.read(&mut [0; 8])))
        },
    },
    Rule {
        name: "unlink while listening: connect",
        result: "ENOENT",
        script: |dir| {
            let _listener = UnixListener::bind(dir.join("s")).unwrap();
            fs::remove_file(dir.join("s")).unwrap();
            said(UnixStream::connect(dir.join("s")))
        },
    },
    Rule {
        name: "unlink while listening: queued connections live on",
        result: "2",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            let mut stream = UnixStream::connect(dir.join("s")).unwrap();
            fs::remove_file(dir.join("s")).unwrap();
            let (mut accepted, _) = listener.accept().unwrap();
            stream.write_all(b"hi").unwrap();
            count(accepted.read(&mut [0; 8]))
        },
    },
    Rule {
        name: "unlink while listening, bind again: two listeners, the name is the second's",
        result: "second",
        script: |dir| {
            let first = UnixListener::bind(dir.join("s")).unwrap();
            fs::remove_file(dir.join("s")).unwrap();
            let second = UnixListener::bind(dir.join("s")).unwrap();
            let _stream = UnixStream::connect(dir.join("s")).unwrap();
            match (waiting(&first), waiting(&second)) {
                (false, true) => "second",
                _ => "not the second",
            }
            .into()
        },
    },
    Rule {
        name: "listener closes with a waiting connection: read",
        result: "ECONNRESET 0",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            let mut stream = UnixStream::connect(dir.join("s")).unwrap();
            drop(listener);
            format!("{} {}", count(stream.read(&mut [0; 8])), count(stream.read(&mut [0; 8])))
        },
    },
    Rule {
        name: "listener closes with a waiting connection: write",
        result: "EPIPE",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            let mut stream = UnixStream::connect(dir.join("s")).unwrap();
            drop(listener);
            count(stream.write(b"x"))
        },
    },
    Rule {
        name: "accepted connections survive the listener",
        result: "1",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            let mut stream = UnixStream::connect(dir.join("s")).unwrap();
            let (mut accepted, _) = listener.accept().unwrap();
            drop(listener);
            stream.write_all(b"x").unwrap();
            count(accepted.read(&mut [0; 8]))
        },
    },
    Rule {
        name: "a clone of the listener keeps it open",
        result: "ok ECONNREFUSED",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            let clone = listener.try_clone().unwrap();
            drop(listener);
            let open = said(UnixStream::connect(dir.join("s")));
            drop(clone);
            format!("{open} {}", said(UnixStream::connect(dir.join("s"))))
        },
    },
    Rule {
        name: "non-blocking accept: nobody there, somebody there, nobody any more",
        result: "EAGAIN ok EAGAIN",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            listener.set_nonblocking(true).unwrap();
            let before = said(listener.accept());
            let _stream = UnixStream::connect(dir.join("s")).unwrap();
            format!("{before} {} {}", said(listener.accept()), said(listener.accept()))
        },
    },
    Rule {
        name: "accepted socket does not inherit O_NONBLOCK",
        result: "1",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            listener.set_nonblocking(true).unwrap();
            let mut stream = UnixStream::connect(dir.join("s")).unwrap();
            let (mut accepted, _) = listener.accept().unwrap();
            let writer = thread::spawn(move || stream.write_all(b"x").unwrap());
            let got = count(accepted.read(&mut [0; 8]));
            writer.join().unwrap();
            got
        },
    },
    Rule {
        name: "accept waits for the connection",
        result: "1 0",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            let path = dir.join("s");
            let client = thread::spawn(move || UnixStream::connect(path).unwrap().write_all(b"x").unwrap());
            let (mut accepted, _) = listener.accept().unwrap();
            client.join().unwrap();
            format!("{} {}", count(accepted.read(&mut [0; 8])), count(accepted.read(&mut [0; 8])))
        },
    },
    Rule {
        name: "accept order is connect order",
        result: "1 2",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            let _streams: Vec<UnixStream> = [b"1", b"2"]
                .map(|number| {
                    let mut stream = UnixStream::connect(dir.join("s")).unwrap();
                    stream.write_all(number).unwrap();
                    stream
                })
                .into();
            [(); 2]
                .map(|()| {
                    let mut number = [0];
                    listener.accept().unwrap().0.read_exact(&mut number).unwrap();
                    String::from_utf8_lossy(&number).into_owned()
                })
                .join(" ")
        },
    },
    Rule {
        name: "a connecting socket has no name, its peer's is the listener's path",
        result: "unnamed, unnamed, path, path",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            let stream = UnixStream::connect(dir.join("s")).unwrap();
            let (accepted, peer) = listener.accept().unwrap();
            [peer, stream.local_addr().unwrap(), stream.peer_addr().unwrap(), accepted.local_addr().unwrap()]
                .map(|address| match address.as_pathname() {
                    Some(path) if path == dir.join("s") => "path",
                    None if address.is_unnamed() => "unnamed",
                    _ => "something else",
                })
                .join(", ")
        },
    },
];
