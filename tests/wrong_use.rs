//! Wrong use of what std defines: std's own panic where it has one, else a report that says what happens. What std leaves
//! open (a panic or a deadlock) is a deadlock here, with the thread that waits for itself.

#![allow(missing_docs)]

use std::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError};
use std::time::Duration;

use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use interleave::{Builder, Kind, Verdict, thread};

/// What comes of a program.
#[derive(Clone, Copy, Debug)]
enum Comes {
    /// It fails, and the report says this.
    To(Kind, &'static [&'static str]),
    /// All is as std defines it.
    Well,
}

use Comes::{To, Well};

type Program = (&'static str, fn(), Comes);

const LOCKS: &[Program] = &[
    (
        "a mutex that its owner locks again",
        || {
            let m = Mutex::new(0);
            let _held = m.lock().unwrap();
            drop(m.lock());
        },
        To(Kind::Deadlock, &["thread `main` waits for itself", "is held by this thread itself since step 1"]),
    ),
    (
        "a mutex that its owner tries to lock again",
        || {
            let m = Mutex::new(0);
            let _held = m.lock().unwrap();
            assert!(m.try_lock().is_err());
        },
        Well,
    ),
    (
        "a mutex whose guard is forgotten",
        || {
            let m = Arc::new(Mutex::new(0));
            let theirs = m.clone();
            let t = thread::Builder::new().name("forgets".to_owned());
            let t = t.spawn(move || std::mem::forget(theirs.lock().unwrap())).unwrap();
            t.join().unwrap();
            drop(m.lock());
        },
        To(Kind::Deadlock, &["is held by forgets since step"]),
    ),
    (
        "an rwlock that is written while its thread reads",
        || {
            let l = RwLock::new(0);
            let _read = l.read().unwrap();
            drop(l.write());
        },
        To(Kind::Deadlock, &["thread `main` waits for itself"]),
    ),
    (
        "an rwlock that is read while its thread writes",
        || {
            let l = RwLock::new(0);
            let _written = l.write().unwrap();
            drop(l.read());
        },
        To(Kind::Deadlock, &["thread `main` waits for itself"]),
    ),
    (
        "an rwlock that is written twice",
        || {
            let l = RwLock::new(0);
            let _written = l.write().unwrap();
            drop(l.write());
        },
        To(Kind::Deadlock, &["thread `main` waits for itself"]),
    ),
    (
        "an rwlock that is tried in every way",
        || {
            let l = RwLock::new(0);
            let written = l.write().unwrap();
            assert!(l.try_read().is_err() && l.try_write().is_err());
            drop(written);
            let _read = l.read().unwrap();
            assert!(l.try_write().is_err() && l.try_read().is_ok());
        },
        Well,
    ),
];

const ONCES: &[Program] = &[
    (
        "a once within itself",
        || {
            let o = Once::new();
            o.call_once(|| o.call_once(|| ()));
        },
        To(Kind::Deadlock, &["thread `main` waits for itself", "this thread itself"]),
    ),
    (
        "a forced once within itself",
        || {
            let o = Once::new();
            o.call_once_force(|_| o.call_once_force(|_| ()));
        },
        To(Kind::Deadlock, &["thread `main` waits for itself"]),
    ),
    (
        "a once that is waited for within itself",
        || {
            let o = Once::new();
            o.call_once(|| o.wait());
        },
        To(Kind::Deadlock, &["thread `main` waits"]),
    ),
    (
        "a once lock that is initialised within itself",
        || {
            let o = OnceLock::new();
            o.get_or_init(|| *o.get_or_init(|| 1));
        },
        To(Kind::Deadlock, &["thread `main` waits for itself"]),
    ),
    (
        "a once lock that is set within itself",
        || {
            let o = OnceLock::new();
            o.get_or_init(|| {
                _ = o.set(2);
                1
            });
        },
        To(Kind::Deadlock, &["thread `main` waits for itself"]),
    ),
    (
        "a once lock that is looked at within itself",
        || {
            let o = OnceLock::new();
            assert_eq!(*o.get_or_init(|| o.get().copied().unwrap_or(3)), 3);
        },
        Well,
    ),
    (
        "a lazy lock within itself",
        || {
            static L: LazyLock<u8> = LazyLock::new(|| *L);
            assert_eq!(*L, 1);
        },
        To(Kind::Deadlock, &["thread `main` waits for itself"]),
    ),
    (
        "two lazy locks in a circle",
        || {
            static A: LazyLock<u8> = LazyLock::new(|| *B);
            static B: LazyLock<u8> = LazyLock::new(|| *A);
            let t = thread::Builder::new().name("b".to_owned()).spawn(|| *B).unwrap();
            assert_eq!(*A, 1);
            t.join().unwrap();
        },
        To(Kind::Deadlock, &["wait"]),
    ),
];

const SIGNALS: &[Program] = &[
    (
        "a barrier of none",
        || {
            let b = Barrier::new(0);
            assert!(b.wait().is_leader() && b.wait().is_leader());
        },
        Well,
    ),
    (
        "a barrier of one",
        || {
            let b = Barrier::new(1);
            assert!(b.wait().is_leader() && b.wait().is_leader());
        },
        Well,
    ),
    (
        "a barrier to which too few come",
        || _ = Barrier::new(2).wait(),
        To(Kind::Deadlock, &["thread `main` waits and nobody will wake it", "Barrier"]),
    ),
    (
        "a condition variable with two mutexes",
        || {
            let pair = Arc::new((Mutex::new(0), Mutex::new(0), Condvar::new()));
            let theirs = pair.clone();
            let t = thread::spawn(move || drop(theirs.2.wait(theirs.0.lock().unwrap())));
            drop(pair.2.wait(pair.1.lock().unwrap()));
            t.join().unwrap();
        },
        To(Kind::Panic, &["attempted to use a condition variable with two mutexes"]),
    ),
    (
        "a condition variable with one mutex after the other",
        || {
            let (a, b, c) = (Mutex::new(0), Mutex::new(0), Condvar::new());
            for m in [&a, &b, &a] {
                assert!(c.wait_timeout(m.lock().unwrap(), Duration::from_millis(1)).is_ok());
            }
        },
        Well,
    ),
    (
        "a condition variable that nobody notifies",
        || drop(Condvar::new().wait(Mutex::new(0).lock().unwrap())),
        To(Kind::Deadlock, &["thread `main` waits and nobody will wake it", "nothing signals"]),
    ),
    (
        "a thread that joins itself",
        || {
            let handle = Arc::new(Mutex::new(None::<thread::JoinHandle<()>>));
            let theirs = handle.clone();
            let t = thread::Builder::new().name("joins".to_owned());
            let t = t.spawn(move || {
                if let Some(own) = theirs.lock().unwrap().take() {
                    own.join().unwrap();
                }
            });
            *handle.lock().unwrap() = Some(t.unwrap());
        },
        To(Kind::Deadlock, &["thread `joins` waits for itself", "waits for the end of joins"]),
    ),
    ("a thread that parks alone", thread::park, To(Kind::Deadlock, &["nothing unparks it in this execution"])),
    (
        "two unparks that count as one",
        || {
            thread::current().unpark();
            thread::current().unpark();
            thread::park();
            thread::park();
        },
        To(Kind::Deadlock, &["thread `main` waits and nobody will wake it"]),
    ),
];

const CHANNELS: &[Program] = &[
    (
        "a receiver that keeps its own sender",
        || {
            let (tx, rx) = mpsc::channel::<u8>();
            assert!(rx.recv().is_ok());
            drop(tx);
        },
        To(Kind::Deadlock, &["thread `main` waits", "the sender of"]),
    ),
    (
        "a loop over a channel whose sender is kept",
        || {
            let (tx, rx) = mpsc::channel();
            tx.send(1).unwrap();
            assert_eq!(rx.iter().sum::<i32>(), 1);
        },
        To(Kind::Deadlock, &["the sender of"]),
    ),
    (
        "a send without a buffer to its own thread",
        || {
            let (tx, rx) = mpsc::sync_channel(0);
            tx.send(1).unwrap();
            assert_eq!(rx.recv(), Ok(1));
        },
        To(Kind::Deadlock, &["thread `main` waits"]),
    ),
    (
        "one message more than there is room for",
        || {
            let (tx, rx) = mpsc::sync_channel(1);
            tx.send(1).unwrap();
            tx.send(2).unwrap();
            drop(rx);
        },
        To(Kind::Deadlock, &["thread `main` waits"]),
    ),
    (
        "channels without another end",
        || {
            let (tx, rx) = mpsc::channel();
            drop(rx);
            assert_eq!(tx.send(7).unwrap_err().0, 7);
            let (tx, rx) = mpsc::sync_channel(0);
            assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
            drop(rx);
            assert_eq!(tx.send(7).unwrap_err().0, 7);
            assert_eq!(tx.try_send(8), Err(TrySendError::Disconnected(8)));
            let (tx, rx) = mpsc::channel::<u8>();
            assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
            drop(tx);
            assert!(rx.recv().is_err() && rx.iter().next().is_none());
            assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
            assert_eq!(rx.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Disconnected));
        },
        Well,
    ),
    (
        "a buffer larger than there is memory",
        || {
            let (tx, rx) = mpsc::sync_channel(1 << 40);
            tx.send(1).unwrap();
            assert_eq!(rx.recv(), Ok(1));
        },
        Well,
    ),
];

const REST: &[Program] = &[
    (
        "times without an end",
        || {
            let (m, c) = (Mutex::new(0), Condvar::new());
            assert!(c.wait_timeout(m.lock().unwrap(), Duration::MAX).is_ok());
            thread::park_timeout(Duration::MAX);
            thread::sleep(Duration::ZERO);
            thread::sleep(Duration::MAX);
        },
        Well,
    ),
    (
        "a name with a null byte",
        || drop(thread::Builder::new().name("a\0b".to_owned()).spawn(|| ())),
        To(Kind::Panic, &["thread name may not contain interior null bytes"]),
    ),
    (
        "a cell that is borrowed twice by two threads",
        || {
            let n = Arc::new(Mutex::new(std::cell::RefCell::new(0)));
            let guard = n.lock().unwrap();
            let _one = guard.borrow_mut();
            drop(guard.borrow_mut());
        },
        To(Kind::Panic, &["already borrowed"]),
    ),
    (
        "a value that is taken from under others",
        || {
            let a = Arc::new(AtomicUsize::new(1));
            let theirs = a.clone();
            let t = thread::spawn(move || theirs.load(Relaxed));
            assert_eq!(Arc::try_unwrap(a).map(AtomicUsize::into_inner).unwrap_or(1), 1);
            t.join().unwrap();
        },
        Well,
    ),
    (
        "a thread local that is used while it is destroyed",
        || {
            interleave::thread_local! {
                static A: Late = const { Late };
            }
            struct Late;
            impl Drop for Late {
                fn drop(&mut self) {
                    assert!(A.try_with(|_| ()).is_err());
                }
            }
            thread::spawn(|| A.with(|_| ())).join().unwrap();
        },
        Well,
    ),
];

fn check(programs: &[Program]) {
    let mut wrong = Vec::new();
    for (name, body, comes) in programs {
        let report = Builder::new().name(*name).spurious(0).explore(body);
        let text = report.failure.as_ref().map_or("", |failure| failure.report.as_str());
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_right = match comes {
            Well => matches!(report.verdict, Verdict::Complete | Verdict::Vacuous),
            To(kind, parts) => report.verdict == Verdict::Failed(*kind) && parts.iter().all(|part| flat.contains(part)),
        };
        if !is_right {
            wrong.push(format!("{name}: {report}\n  expected {comes:?}\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn locks() {
    check(LOCKS);
}

#[test]
fn things_that_happen_once() {
    check(ONCES);
}

#[test]
fn signals() {
    check(SIGNALS);
}

#[test]
fn channels() {
    check(CHANNELS);
}

#[test]
fn the_rest() {
    check(REST);
}
