//! How many connections may wait to be accepted.

use std::sync::Arc;
use std::time::Duration;

use super::api::atomic::{AtomicBool, Ordering};
use super::api::{UnixListener, UnixStream, listen, thread};
use crate::observe::{Rule, said};

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "listen on a socket that listens",
        result: "ok ok",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            format!("{} {}", said(listen(&listener, 1)), said(listen(&listener, 5)))
        },
    },
    Rule {
        name: "backlog: listen(n) lets n+1 connections wait, the next waits for accept",
        result: "false true",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            listen(&listener, 2).unwrap();
            let waiting = [(); 3].map(|()| UnixStream::connect(dir.join("s")).unwrap());
            let connected = Arc::new(AtomicBool::new(false));
            let (flag, path) = (connected.clone(), dir.join("s"));
            let next = thread::spawn(move || {
                let stream = UnixStream::connect(path).unwrap();
                flag.store(true, Ordering::SeqCst);
                stream
            });
            thread::sleep(Duration::from_millis(20));
            let before = connected.load(Ordering::SeqCst);
            listener.accept().unwrap();
            drop((next.join().unwrap(), waiting));
            format!("{before} {}", connected.load(Ordering::SeqCst))
        },
    },
    Rule {
        name: "backlog: listen(0) lets one wait, and a closed client still takes a place",
        result: "false true",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            listen(&listener, 0).unwrap();
            drop(UnixStream::connect(dir.join("s")).unwrap());
            let connected = Arc::new(AtomicBool::new(false));
            let (flag, path) = (connected.clone(), dir.join("s"));
            let next = thread::spawn(move || {
                let stream = UnixStream::connect(path).unwrap();
                flag.store(true, Ordering::SeqCst);
                stream
            });
            thread::sleep(Duration::from_millis(20));
            let before = connected.load(Ordering::SeqCst);
            listener.accept().unwrap();
            drop(next.join().unwrap());
            format!("{before} {}", connected.load(Ordering::SeqCst))
        },
    },
    Rule {
        name: "backlog: a connect that waits when the listener closes is refused",
        result: "ECONNREFUSED",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            listen(&listener, 0).unwrap();
            let _waiting = UnixStream::connect(dir.join("s")).unwrap();
            let path = dir.join("s");
            let next = thread::spawn(move || said(UnixStream::connect(path)));
            thread::sleep(Duration::from_millis(20));
            drop(listener);
            next.join().unwrap()
        },
    },
    Rule {
        name: "backlog: a larger one lets those in who wait",
        result: "ok",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            listen(&listener, 0).unwrap();
            let _waiting = UnixStream::connect(dir.join("s")).unwrap();
            listen(&listener, 1).unwrap();
            said(UnixStream::connect(dir.join("s")))
        },
    },
    Rule {
        name: "std's backlog lets more than 128 wait",
        result: "129",
        script: |dir| {
            let _listener = UnixListener::bind(dir.join("s")).unwrap();
            let streams = (0..129).map(|_| UnixStream::connect(dir.join("s")).unwrap());
            streams.collect::<Vec<_>>().len().to_string()
        },
    },
];
