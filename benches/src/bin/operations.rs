//! What an operation of each shim costs: one thread, one execution, many calls. CPU time, without that of an empty execution.
//!
//! `cargo run --release -p interleave-benches --bin operations [NAME..]`. A call is a call as it is written, with the drop of a
//! guard as one of its own: a lock that is taken and given back is two. The last column is the price of a call as a
//! multiple of that of a `Mutex`.

use std::hint::black_box;
use std::io::{Read, Write};
use std::time::Duration;

use interleave::crossbeam::channel;
use interleave::net::{TcpListener, TcpStream};
use interleave::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use interleave::sync::atomic::{AtomicUsize, Ordering, fence};
use interleave::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use interleave::{Builder, cell, fs, parking_lot, thread};
use interleave_benches::cpu_time;

/// How often the body of an execution does what is measured.
const ROUNDS: u64 = 500;

/// Executions that one measurement takes, and measurements, of which the shortest counts.
const EXECUTIONS: u32 = 20;
const MEASUREMENTS: u32 = 7;

/// A body, and how many calls a round of it is.
type Program = (&'static str, u64, fn());

const PROGRAMS: [Program; 28] = [
    ("Mutex lock, unlock", 2, || {
        let mutex = Mutex::new(0);
        rounds(|| *mutex.lock().unwrap() += 1);
    }),
    ("Mutex try_lock, unlock", 2, || {
        let mutex = Mutex::new(0);
        rounds(|| *mutex.try_lock().unwrap() += 1);
    }),
    ("RwLock read, unlock", 2, || {
        let lock = RwLock::new(0);
        rounds(|| drop(black_box(lock.read().unwrap())));
    }),
    ("RwLock write, unlock", 2, || {
        let lock = RwLock::new(0);
        rounds(|| *lock.write().unwrap() += 1);
    }),
    ("Condvar notify_one", 1, || {
        let condvar = Condvar::new();
        rounds(|| condvar.notify_one());
    }),
    ("Barrier wait", 1, || {
        let barrier = Barrier::new(1);
        rounds(|| drop(black_box(barrier.wait())));
    }),
    ("Once call_once, done", 1, || {
        let once = Once::new();
        rounds(|| once.call_once(|| ()));
    }),
    ("OnceLock get", 1, || {
        let lock = OnceLock::new();
        lock.set(1).unwrap();
        rounds(|| {
            black_box(lock.get());
        });
    }),
    ("AtomicUsize load", 1, || {
        let atomic = AtomicUsize::new(0);
        rounds(|| {
            black_box(atomic.load(Ordering::Acquire));
        });
    }),
    ("AtomicUsize store", 1, || {
        let atomic = AtomicUsize::new(0);
        rounds(|| atomic.store(1, Ordering::Release));
    }),
    ("AtomicUsize fetch_add", 1, || {
        let atomic = AtomicUsize::new(0);
        rounds(|| {
            atomic.fetch_add(1, Ordering::AcqRel);
        });
    }),
    ("fence", 1, || rounds(|| fence(Ordering::AcqRel))),
    ("UnsafeCell with_mut", 1, || {
        let cell = cell::UnsafeCell::new(0);
        rounds(|| {
            cell.with_mut(|place| black_box(place));
        });
    }),
    ("mpsc send, recv", 2, || {
        let (sender, receiver) = mpsc::channel();
        rounds(|| {
            sender.send(1).unwrap();
            receiver.recv().unwrap();
        });
    }),
    ("mpsc sync_channel send, recv", 2, || {
        let (sender, receiver) = mpsc::sync_channel(1);
        rounds(|| {
            sender.send(1).unwrap();
            receiver.recv().unwrap();
        });
    }),
    ("thread park, unpark", 2, || {
        let thread = thread::current();
        rounds(|| {
            thread.unpark();
            thread::park();
        });
    }),
    ("Arc clone, drop", 2, || {
        let arc = Arc::new(0);
        rounds(|| drop(black_box(arc.clone())));
    }),
    ("parking_lot Mutex lock, unlock", 2, || {
        let mutex = parking_lot::Mutex::new(0);
        rounds(|| *mutex.lock() += 1);
    }),
    ("parking_lot RwLock read, unlock", 2, || {
        let lock = parking_lot::RwLock::new(0);
        rounds(|| drop(black_box(lock.read())));
    }),
    ("crossbeam unbounded send, recv", 2, || {
        let (sender, receiver) = channel::unbounded();
        rounds(|| {
            sender.send(1).unwrap();
            receiver.recv().unwrap();
        });
    }),
    ("crossbeam bounded send, recv", 2, || {
        let (sender, receiver) = channel::bounded(1);
        rounds(|| {
            sender.send(1).unwrap();
            receiver.recv().unwrap();
        });
    }),
    ("UnixStream write, read", 2, || {
        let (mut a, mut b) = UnixStream::pair().unwrap();
        rounds(|| {
            a.write_all(b"x").unwrap();
            black_box(b.read(&mut [0; 8]).unwrap());
        });
    }),
    ("UnixStream connect, accept", 2, || {
        let listener = UnixListener::bind("sock").unwrap();
        rounds(|| {
            let client = UnixStream::connect("sock").unwrap();
            // Closing is not what is measured.
            std::mem::forget((client, listener.accept().unwrap()));
        });
    }),
    ("the same, and both closed", 4, || {
        let listener = UnixListener::bind("sock").unwrap();
        rounds(|| {
            let client = UnixStream::connect("sock").unwrap();
            drop((client, listener.accept().unwrap()));
        });
    }),
    ("TcpStream connect, accept", 2, || {
        // A queue has room for 128 connections, of which the kernel counts those that were accepted, too.
        let listeners: Vec<TcpListener> = (0..5).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        for listener in &listeners {
            let address = listener.local_addr().unwrap();
            for _ in 0..ROUNDS / 5 {
                let client = TcpStream::connect(address).unwrap();
                std::mem::forget((client, listener.accept().unwrap()));
            }
        }
    }),
    ("UnixDatagram send, recv", 2, || {
        let (a, b) = UnixDatagram::pair().unwrap();
        rounds(|| {
            a.send(b"x").unwrap();
            black_box(b.recv(&mut [0; 8]).unwrap());
        });
    }),
    ("fs::exists", 1, || {
        rounds(|| {
            black_box(fs::exists("there").unwrap());
        });
    }),
    ("File lock, unlock", 2, || {
        let file = fs::File::create("lock").unwrap();
        rounds(|| {
            file.lock().unwrap();
            file.unlock().unwrap();
        });
    }),
];

fn rounds(mut round: impl FnMut()) {
    for _ in 0..ROUNDS {
        round();
    }
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    println!("{:<34} {:>8} {:>8}", "calls", "ns/call", "x");
    let empty = measured(|| ());
    let mut first = None;
    for (name, calls, body) in PROGRAMS {
        // The first one is what the others are compared with.
        if first.is_some() && !names.is_empty() && !names.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let spent = measured(body).saturating_sub(empty);
        let per_call = spent.as_secs_f64() * 1e9 / (u64::from(EXECUTIONS) * ROUNDS * calls) as f64;
        println!("{name:<34} {per_call:>8.0} {:>8.1}", per_call / *first.get_or_insert(per_call));
    }
}

/// CPU time of `EXECUTIONS` models.
fn measured(body: fn()) -> Duration {
    let once = || {
        let before = cpu_time();
        for _ in 0..EXECUTIONS {
            let report = Builder::new().spurious(0).max_steps(1_000_000).max_executions(1).explore(body);
            assert!(report.failure.is_none() && report.executions == 1, "{:?}: {:?}", report.verdict, report.failure);
        }
        cpu_time() - before
    };
    (0..MEASUREMENTS).map(|_| once()).min().expect("there are measurements")
}
