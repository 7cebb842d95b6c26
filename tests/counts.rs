//! Exact numbers of executions through the whole engine.

use std::io::{Read, Write};

use interleave::os::unix::net::{UnixListener, UnixStream};
use interleave::sync::atomic::{AtomicUsize, Ordering};
use interleave::sync::{Arc, Mutex};
use interleave::{Builder, Memory, Report, Strategy, Verdict, thread};

use Ordering::{Acquire, Relaxed, Release, SeqCst};

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

/// `threads` threads that each add `times`.
fn adds(threads: usize, times: usize) -> impl Fn() + Send + Sync {
    move || {
        let n = Arc::new(AtomicUsize::new(0));
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                let n = n.clone();
                thread::spawn(move || {
                    for _ in 0..times {
                        n.fetch_add(1, Relaxed);
                    }
                })
            })
            .collect();
        for handle in handles {
            handle.join().unwrap();
        }
        assert_eq!(n.load(Relaxed), threads * times);
    }
}

/// `threads` threads that each lock `times`.
fn sections(threads: usize, times: usize) -> impl Fn() + Send + Sync {
    move || {
        let n = Arc::new(Mutex::new(0));
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                let n = n.clone();
                thread::spawn(move || {
                    for _ in 0..times {
                        *n.lock().unwrap() += 1;
                    }
                })
            })
            .collect();
        for handle in handles {
            handle.join().unwrap();
        }
        assert_eq!(*n.lock().unwrap(), threads * times);
    }
}

fn complete(report: &Report) -> u64 {
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
    report.executions
}

#[test]
fn adds_of_n_threads_come_in_every_order() {
    for n in 2..=7 {
        assert_eq!(complete(&Builder::new().explore(adds(n, 1))), factorial(n as u64));
    }
    assert_eq!(complete(&Builder::new().explore(adds(2, 4))), 70);
}

#[test]
fn lock_sections_come_in_every_order() {
    for (n, k) in [(2, 1), (3, 1), (4, 1), (2, 2), (2, 3), (3, 2)] {
        let expected = factorial((n * k) as u64) / factorial(k as u64).pow(n as u32);
        assert_eq!(complete(&Builder::new().explore(sections(n, k))), expected);
    }
}

#[test]
fn independent_steps_have_one_execution_and_many_interleavings() {
    let body = || {
        let handles: Vec<_> = (0..2)
            .map(|_| {
                thread::spawn(|| {
                    let n = AtomicUsize::new(0);
                    for i in 0..10 {
                        n.store(i, Relaxed);
                    }
                })
            })
            .collect();
        for handle in handles {
            handle.join().unwrap();
        }
    };
    let report = Builder::new().explore(body);
    assert_eq!((report.verdict, report.executions), (Verdict::Vacuous, 1));
    let report = Builder::new().strategy(Strategy::Interleavings).explore(body);
    assert_eq!(report.executions, 184_756);
}

#[test]
fn three_locks_are_six_executions_at_every_bound() {
    for bound in 0..=2 {
        let report = Builder::new().preemption_bound(bound).explore(sections(3, 1));
        assert_eq!(complete(&report), 6);
    }
}

/// Store buffering; counts the executions in which both threads read 0.
fn store_buffering(order: (Ordering, Ordering), memory: Memory) -> (u64, usize) {
    let both = std::sync::atomic::AtomicUsize::new(0);
    let report = Builder::new().memory(memory).explore(|| {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (x2, y2) = (x.clone(), y.clone());
        let t = thread::spawn(move || {
            x2.store(1, order.0);
            y2.load(order.1)
        });
        y.store(1, order.0);
        let r1 = x.load(order.1);
        let r2 = t.join().unwrap();
        if (r1, r2) == (0, 0) {
            both.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    });
    (complete(&report), both.into_inner())
}

#[test]
fn store_buffering_is_seen_unless_sequentially_consistent() {
    assert_eq!(store_buffering((SeqCst, SeqCst), Memory::Rc11), (3, 0));
    assert_eq!(store_buffering((Release, Acquire), Memory::Rc11), (4, 1));
    assert_eq!(store_buffering((Relaxed, Relaxed), Memory::Rc11), (4, 1));
    assert_eq!(store_buffering((Relaxed, Relaxed), Memory::Sc), (3, 0));
}

#[test]
fn an_execution_that_gets_stuck_counts_once() {
    let report = Builder::new().explore(|| {
        let lock = Mutex::new(());
        let _held = lock.lock();
        let _again = lock.lock();
    });
    assert_eq!(report.executions, 1, "{report}");
    // One thread after the other in two ways, or stuck: the first execution ends well, the second one does not.
    let opposite = || {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let (a2, b2) = (a.clone(), b.clone());
        let other = thread::spawn(move || {
            let _b = b2.lock();
            let _a = a2.lock();
        });
        {
            let _a = a.lock();
            let _b = b.lock();
        }
        other.join().unwrap();
    };
    let report = Builder::new().explore(opposite);
    assert!(matches!(report.verdict, Verdict::Failed(_)), "{report}");
    assert_eq!(report.executions, 2, "{report}");
}

/// How a stream is let go of.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// Where it was made.
    Dropped,
    /// By main, after all joins.
    Handed,
}

/// `clients` threads that connect and write a byte each; a server that accepts and reads them.
fn clients(clients: u8, end: End) -> (u64, usize) {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let report = Builder::new().explore(|| {
        let listener = UnixListener::bind("s").unwrap();
        let client = |n| {
            thread::spawn(move || {
                let mut stream = UnixStream::connect("s").unwrap();
                stream.write_all(&[n]).unwrap();
                (end == End::Handed).then_some(stream)
            })
        };
        let threads: Vec<_> = (0..clients).map(client).collect();
        let mut bytes = Vec::new();
        let mut kept = Vec::new();
        for _ in 0..clients {
            let (mut stream, _) = listener.accept().unwrap();
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            bytes.push(byte[0]);
            kept.extend((end == End::Handed).then_some(stream));
        }
        threads.into_iter().for_each(|t| kept.extend(t.join().unwrap()));
        seen.lock().unwrap().insert(bytes);
    });
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
    (report.executions, seen.into_inner().unwrap().len())
}

/// Clients come in any order: n! executions. When an end of a stream is closed is something that the other end sees: a read
/// before or after the client's close, and which of the two closes is the first, make 4 ways for each stream.
#[test]
fn clients_that_connect_and_write() {
    for n in 1..=3 {
        let orders = factorial(n.into());
        assert_eq!(clients(n, End::Handed), (orders, orders as usize), "{n} clients, streams handed to main");
        assert_eq!(clients(n, End::Dropped), (orders * 4u64.pow(n.into()), orders as usize), "{n} clients");
    }
}
