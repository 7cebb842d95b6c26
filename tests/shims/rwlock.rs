//! Reader-writer locks: exact numbers of executions, and what is found.

use std::collections::BTreeSet;
use std::sync::Mutex;

use interleave::sync::mpsc::channel;
use interleave::sync::{Arc, RwLock, RwLockWriteGuard};
use interleave::{Builder, Kind, Strategy, Verdict, thread};

use crate::{executions, explore, failure};

/// What everybody saw: readers how often the lock had been written to, writers how often before them.
type Seen = Vec<usize>;

/// So many threads that read or write once. Every execution adds what its threads saw.
fn once_each(readers: usize, writers: usize, seen: &Mutex<BTreeSet<Seen>>) -> impl Fn() + Send + Sync {
    move || {
        let lock = Arc::new(RwLock::new(0));
        let writing = (0..writers).map(|_| {
            let lock = lock.clone();
            thread::spawn(move || {
                let mut writes = lock.write().unwrap();
                *writes += 1;
                *writes - 1
            })
        });
        let threads: Vec<_> = writing.collect();
        let reading = (0..readers).map(|_| {
            let lock = lock.clone();
            thread::spawn(move || *lock.read().unwrap())
        });
        let threads: Vec<_> = threads.into_iter().chain(reading).collect();
        let all = threads.into_iter().map(|t| t.join().unwrap()).collect();
        seen.lock().unwrap().insert(all);
    }
}

/// The order of w writers and, for each reader, how many of them come before it: w! (w+1)^r.
#[test]
fn readers_commute() {
    let counts = [(1, 0, 1), (3, 0, 1), (1, 1, 2), (2, 1, 4), (3, 1, 8), (4, 1, 16), (0, 2, 2), (1, 2, 6), (2, 2, 18)];
    for (readers, writers, count) in counts {
        let seen = Mutex::default();
        let report = Builder::new().explore(once_each(readers, writers, &seen));
        assert_eq!((report.failure.is_none(), report.executions), (true, count), "{readers} + {writers}: {report}");
        // No two executions are alike.
        assert_eq!(seen.into_inner().unwrap().len() as u64, count, "{readers} + {writers}");
    }
}

/// Every interleaving, without any reduction, shows what the executions above show, and no more.
#[test]
fn interleavings_agree() {
    for (readers, writers) in [(1, 1), (2, 1), (1, 2)] {
        let (few, all) = (Mutex::default(), Mutex::default());
        let reduced = Builder::new().explore(once_each(readers, writers, &few));
        let report = Builder::new().strategy(Strategy::Interleavings).explore(once_each(readers, writers, &all));
        assert_eq!(report.verdict, Verdict::Complete, "{report}");
        assert!(report.executions > reduced.executions);
        assert_eq!(few.into_inner().unwrap(), all.into_inner().unwrap());
    }
}

/// A bound on preemptions does not keep anything from being seen that needs none.
#[test]
fn every_order_comes_without_preemptions() {
    let report = Builder::new().preemption_bound(0).explore(once_each(2, 1, &Mutex::default()));
    assert_eq!(report.executions, 4);
}

/// A lock that does not let readers in while a writer waits: whoever reads twice waits for the writer, which waits for it.
#[test]
fn a_recursive_read_may_meet_a_waiting_writer() {
    let report = explore(|| {
        let lock = Arc::new(RwLock::new(0));
        let other = lock.clone();
        let inc = thread::Builder::new().name("inc".to_owned());
        let t = inc.spawn(move || *other.write().unwrap() += 1).unwrap();
        let one = lock.read().unwrap();
        let two = lock.read().unwrap();
        assert_eq!(*one, *two);
        drop((one, two));
        t.join().unwrap();
    });
    let failure = report.failure.expect("a deadlock");
    assert_eq!(failure.kind, Kind::Deadlock, "{}", failure.report);
    let why = "the writer is waited for, not the reader";
    assert!(failure.report.contains("main waits for inc, inc for main"), "{why}: {}", failure.report);
}

/// The writer waits for the first reader, which waits for the second one, which is kept out by the writer.
#[test]
fn a_waiting_writer_may_keep_others_out() {
    let kind = failure(|| {
        let lock = Arc::new(RwLock::new(0));
        let (sender, receiver) = channel();
        let (early, late) = (lock.clone(), lock.clone());
        thread::spawn(move || {
            let seen = *early.read().unwrap();
            sender.send(seen).unwrap();
        });
        thread::spawn(move || {
            let _reading = late.read().unwrap();
            _ = receiver.recv();
        });
        *lock.write().unwrap() += 1;
    });
    assert_eq!(kind, Kind::Deadlock);
}

/// Two readers at a time are not a deadlock by themselves, nor is one thread that reads twice when nobody writes.
#[test]
fn readers_do_not_wait_for_each_other() {
    let count = executions(|| {
        let lock = Arc::new(RwLock::new(0));
        let other = lock.clone();
        let _reading = (lock.read().unwrap(), lock.read().unwrap());
        thread::spawn(move || assert_eq!((*other.read().unwrap(), *other.try_read().unwrap()), (0, 0))).join().unwrap();
    });
    assert_eq!(count, 1);
}

/// What one reader did is not ordered before what the next one does.
#[test]
fn readers_are_no_order() {
    let kind = failure(|| {
        let shared = Arc::new((RwLock::new(()), interleave::cell::UnsafeCell::new(0)));
        struct Pair(Arc<(RwLock<()>, interleave::cell::UnsafeCell<i32>)>);
        // SAFETY: 1. The cell is only used through the pointers below, whose race is what is looked for.
        unsafe impl Send for Pair {}
        let other = Pair(shared.clone());
        let t = thread::spawn(move || {
            let other = other;
            let _reading = other.0.0.read().unwrap();
            // SAFETY: 1. The threads of a model take turns.
            unsafe { *other.0.1.get() += 1 };
        });
        {
            let _reading = shared.0.read().unwrap();
            // SAFETY: 1. As above.
            unsafe { *shared.1.get() += 1 };
        }
        t.join().unwrap();
    });
    assert_eq!(kind, Kind::DataRace);
}

/// Poisoned by one of two writers, and seen by whoever comes later.
#[test]
fn poison_is_seen_by_those_who_come_later() {
    let seen = Mutex::new(BTreeSet::new());
    let report = Builder::new().panics(interleave::Panics::Deliver).explore(|| {
        let lock = Arc::new(RwLock::new(0));
        let (bad, reader) = (lock.clone(), lock.clone());
        let t1 = thread::spawn(move || {
            let _writing = bad.write().unwrap();
            panic!("on purpose");
        });
        let t2 = thread::spawn(move || reader.read().is_err());
        let before = lock.is_poisoned();
        assert!(t1.join().is_err());
        assert!(lock.is_poisoned());
        let reader = t2.join().unwrap();
        seen.lock().unwrap().insert((before, reader));
        lock.clear_poison();
        assert!(lock.read().is_ok());
    });
    assert_eq!(report.failure.map(|failure| failure.report), None);
    // What `is_poisoned` sees is not ordered by the lock.
    assert_eq!(report.executions, 4);
    assert_eq!(seen.into_inner().unwrap().len(), 4);
}

/// Blocking and trying, poisoning, and going on as a reader.
#[test]
fn ways_to_take_a_lock_for_reading_and_writing() {
    executions(|| {
        let lock = Arc::new(RwLock::new(0));
        let (one, two) = (lock.clone(), lock.clone());
        let t1 = thread::spawn(move || {
            let mut writing = one.write().unwrap();
            *writing = 1;
            let reading = RwLockWriteGuard::downgrade(writing);
            assert_eq!(*reading, 1);
        });
        let t2 = thread::spawn(move || {
            if let Ok(seen) = two.try_read() {
                assert!(*seen <= 1);
            }
            if let Ok(mut writing) = two.try_write() {
                *writing |= 0;
            }
        });
        assert!(*lock.read().unwrap() <= 1);
        t1.join().unwrap();
        t2.join().unwrap();
        assert_eq!(*lock.read().unwrap(), 1);
    });
}
