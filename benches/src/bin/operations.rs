//! What a call of each shim costs, in a model in which only one thread makes it: CPU time, without that of the rest.
//!
//! `cargo run --release -p interleave-benches --bin operations [PART OF A NAME..]`. A call is a call as it is written, with the
//! drop of a guard as one of its own: a lock that is taken and given back is two. `new` is its price where the exploration
//! has not been before, `replayed` where it repeats the beginning of another execution; the factors are multiples of what a
//! `Mutex` costs.

use std::hint::black_box;
use std::io::{Read, Write};
use std::time::Duration;

use interleave::crossbeam::channel;
use interleave::net::{TcpListener, TcpStream};
use interleave::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use interleave::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use interleave::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use interleave::{Builder, cell, fs, parking_lot, thread};
use interleave_benches::{cpu_time, forget_kept, keep};

/// How often an execution does what is measured.
const ROUNDS: u64 = 200;

/// Executions of a model.
const EXECUTIONS: u64 = 40;

/// Models, of which the fastest counts.
const MODELS: u32 = 15;

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
        rounds(|| {
            black_box(barrier.wait());
        });
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
            cell.with_mut(black_box);
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
        forget_kept();
        let listener = UnixListener::bind("sock").unwrap();
        rounds(|| {
            let client = UnixStream::connect("sock").unwrap();
            // Closing is not what is measured.
            keep((client, listener.accept().unwrap()));
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
        forget_kept();
        // A queue has room for 128 connections, of which the kernel counts those that were accepted, too.
        let listeners: Vec<TcpListener> = (0..5).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        for listener in &listeners {
            let address = listener.local_addr().unwrap();
            for _ in 0..ROUNDS / 5 {
                let client = TcpStream::connect(address).unwrap();
                keep((client, listener.accept().unwrap()));
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
    println!("{:<34} {:>10} {:>6} {:>10} {:>6}", "calls", "new ns", "x", "replayed", "x");
    let empty = [measured(|| (), Race::First), measured(|| (), Race::Last)];
    let mut first = None;
    for (name, calls, body) in PROGRAMS {
        // The first one is what the others are compared with.
        if first.is_some() && !names.is_empty() && !names.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let per_call = |race, empty| {
            let spent = measured(body, race).saturating_sub(empty);
            spent.as_secs_f64() * 1e9 / (EXECUTIONS * ROUNDS * calls) as f64
        };
        let [new, replayed] = [per_call(Race::First, empty[0]), per_call(Race::Last, empty[1])];
        let first = *first.get_or_insert([new, replayed]);
        println!("{name:<34} {new:>10.0} {:>6.1} {replayed:>10.0} {:>6.1}", new / first[0], replayed / first[1]);
    }
}

/// When the thread does what makes the executions different: it reads one of the values that another thread has written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Race {
    /// Before what is measured, all of which is new then.
    First,
    /// After it, which is replayed then.
    Last,
}

/// CPU time of a model with `EXECUTIONS` executions of `body`.
fn measured(body: fn(), race: Race) -> Duration {
    let model = || {
        let value = Arc::new(AtomicU64::new(0));
        let written = Arc::clone(&value);
        let writer = thread::spawn(move || (1..EXECUTIONS).for_each(|next| written.store(next, Ordering::Relaxed)));
        let reader = thread::spawn(move || {
            if race == Race::First {
                black_box(value.load(Ordering::Relaxed));
            }
            body();
            if race == Race::Last {
                black_box(value.load(Ordering::Relaxed));
            }
        });
        writer.join().unwrap();
        reader.join().unwrap();
    };
    let once = || {
        let before = cpu_time();
        let report = Builder::new().spurious(0).max_steps(1_000_000).explore(model);
        let spent = cpu_time() - before;
        let failure = report.failure;
        assert!(failure.is_none() && report.executions == EXECUTIONS, "{} executions: {failure:?}", report.executions);
        spent
    };
    (0..MODELS).map(|_| once()).min().expect("there are measurements")
}
