//! Loops that wait, poll, or give up.

use std::collections::BTreeSet;
use std::time::Duration;

use interleave::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use interleave::sync::{Arc, Condvar, Mutex, mpsc};
use interleave::{Builder, Kind, Strategy, Verdict, hint, thread};

use Ordering::{Acquire, Relaxed, Release};

/// The outcomes of a body that must be complete.
fn outcomes<T: Ord + Send>(body: impl Fn() -> T + Send + Sync) -> BTreeSet<T> {
    let seen = std::sync::Mutex::new(BTreeSet::new());
    let report = Builder::new().explore(|| {
        let outcome = body();
        seen.lock().unwrap().insert(outcome);
    });
    assert_eq!(report.verdict, Verdict::Complete, "{report}\n{:?}", report.failure);
    seen.into_inner().unwrap()
}

fn counter() -> (Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let n = Arc::new(AtomicUsize::new(0));
    (n.clone(), n)
}

#[test]
fn a_thread_may_begin_with_a_yield_or_sleep() {
    for pause in [thread::yield_now, || thread::sleep(Duration::from_secs(1))] {
        let seen = outcomes(|| {
            let (x, y) = counter();
            let t = thread::spawn(move || {
                pause();
                y.store(1, Relaxed);
            });
            let seen = x.load(Relaxed);
            t.join().unwrap();
            seen
        });
        assert_eq!(seen, BTreeSet::from([0, 1]));
    }
}

/// Waits until `x` is set, or gives up after `limit` looks.
fn wait(x: &AtomicUsize, limit: usize) -> bool {
    let mut looks = 0;
    while x.load(Acquire) == 0 {
        looks += 1;
        if looks > limit {
            return false;
        }
        hint::spin_loop();
    }
    true
}

#[test]
fn one_helper_may_wait_for_ever_and_give_up() {
    let body = |first: usize, second: usize| {
        outcomes(move || {
            let (a, a2) = counter();
            let (b, b2) = counter();
            let t = thread::spawn(move || {
                a2.store(1, Release);
                if second == usize::MAX {
                    b2.store(1, Release);
                }
            });
            let result = (wait(&a, first), wait(&b, second));
            t.join().unwrap();
            result
        })
    };
    assert_eq!(body(usize::MAX, 2), BTreeSet::from([(true, false)]));
    assert_eq!(body(2, usize::MAX), BTreeSet::from([(false, true), (true, true)]));
}

/// A back-off that spins longer and longer, and then yields.
struct Backoff(u32);

impl Backoff {
    fn snooze(&mut self) {
        if self.0 <= 6 {
            for _ in 0..1 << self.0 {
                hint::spin_loop();
            }
        } else {
            thread::yield_now();
        }
        self.0 += 1;
    }
}

#[test]
fn a_spin_lock_with_back_off_excludes() {
    let seen = outcomes(|| {
        let lock = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
        let add = |lock: &(AtomicBool, AtomicUsize)| {
            let mut backoff = Backoff(0);
            while lock.0.swap(true, Acquire) {
                backoff.snooze();
            }
            lock.1.store(lock.1.load(Relaxed) + 1, Relaxed);
            lock.0.store(false, Release);
        };
        let theirs = lock.clone();
        let t = thread::spawn(move || add(&theirs));
        add(&lock);
        t.join().unwrap();
        lock.1.load(Relaxed)
    });
    assert_eq!(seen, BTreeSet::from([2]));
}

#[test]
fn a_mutex_may_be_polled() {
    outcomes(|| {
        let done = Arc::new(Mutex::new(false));
        let theirs = done.clone();
        let t = thread::spawn(move || *theirs.lock().unwrap() = true);
        while !*done.lock().unwrap() {
            thread::yield_now();
        }
        t.join().unwrap();
    });
}

#[test]
fn two_threads_that_wait_for_nobody_are_a_livelock() {
    let report = Builder::new().explore(|| {
        let (x, x2) = counter();
        let (y, y2) = counter();
        let x3 = x.clone();
        let waits = thread::spawn(move || {
            while x2.load(Acquire) == 0 {
                hint::spin_loop();
            }
        });
        let stores = thread::spawn(move || y2.store(1, Release));
        y.load(Acquire);
        while x3.load(Acquire) == 0 {
            hint::spin_loop();
        }
        waits.join().unwrap();
        stores.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Failed(Kind::Livelock), "{report}");
    assert!(report.failure.unwrap().report.starts_with("error[interleave::livelock]"));
}

#[test]
fn a_random_failure_behind_a_contended_lock_is_told_as_it_is() {
    let report = Builder::new().strategy(Strategy::Random).max_executions(2_000).explore(|| {
        let lock = Arc::new(AtomicBool::new(false));
        let take = |lock: &AtomicBool| {
            let mut waited = false;
            while lock.swap(true, Acquire) {
                waited = true;
                hint::spin_loop();
            }
            lock.store(false, Release);
            waited
        };
        let theirs = lock.clone();
        let t = thread::spawn(move || assert!(!take(&theirs), "it had to wait"));
        take(&lock);
        t.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Failed(Kind::Panic), "{report}");
    assert!(report.failure.unwrap().report.starts_with("error[interleave::panic]: it had to wait"));
}

#[test]
fn a_deadlock_after_a_first_sleep_is_one() {
    let report = Builder::new().explore(|| {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let theirs = locks.clone();
        let t = thread::spawn(move || {
            thread::sleep(std::time::Duration::from_secs(1));
            let _second = theirs.1.lock().unwrap();
            drop(theirs.0.lock());
        });
        let first = locks.0.lock().unwrap();
        drop(locks.1.lock());
        drop(first);
        t.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Failed(Kind::Deadlock), "{report}");
    assert!(report.failure.unwrap().report.starts_with("error[interleave::deadlock]"));
}

/// A loop that takes a spin lock of atomics, looks, and gives it back has changed nothing when it comes round again: looks
/// in vain are no executions of their own, nor do they run into the limit of operations. Who meets the lock while the other
/// one looks is not stuck.
#[test]
fn a_look_under_a_lock_of_atomics_changes_nothing() {
    let report = Builder::new().explore(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let done = Arc::new(AtomicBool::new(false));
        let (flag2, done2) = (flag.clone(), done.clone());
        let other = thread::spawn(move || {
            while flag2.compare_exchange(false, true, Acquire, Relaxed).is_err() {
                hint::spin_loop();
            }
            done2.store(true, Relaxed);
            flag2.store(false, Release);
        });
        loop {
            if flag.compare_exchange(false, true, Acquire, Relaxed).is_ok() {
                let over = done.load(Relaxed);
                flag.store(false, Release);
                if over {
                    break;
                }
            }
            hint::spin_loop();
        }
        other.join().unwrap();
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 1));
}

/// The last look of these loops finds what they wait for, and they pause all the same: that is not what they wait for again.
#[test]
fn a_loop_that_pauses_after_its_last_look_ends() {
    let loads = |x: &AtomicUsize| x.load(Acquire);
    let takes = |x: &AtomicUsize| x.swap(0, Acquire);
    for look in [loads, takes] {
        let report = Builder::new().explore(|| {
            let (x, y) = counter();
            let t = thread::spawn(move || y.store(7, Release));
            let mut found = look(&x);
            while found == 0 {
                found = look(&x);
                thread::yield_now();
            }
            assert_eq!(found, 7);
            t.join().unwrap();
        });
        // The first look finds it, or the second one does; later ones are the second one again.
        assert_eq!((report.executions, report.verdict), (2, Verdict::Complete), "{:?}", report.failure);
    }
}

/// Loops that only wait with a timeout, again and again, wait for another thread as those that yield do. Whoever looks in vain
/// has done nothing, so that each has one execution.
#[test]
fn polling_with_a_timeout_ends() {
    const A_WHILE: Duration = Duration::from_millis(1);
    let executions = |spurious: u32, body: fn()| {
        let report = Builder::new().spurious(spurious).explore(body);
        assert_eq!(report.verdict, Verdict::Complete, "{:?}", report.failure);
        report.executions
    };
    let condvar = || {
        let done = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = done.clone();
        let t = thread::spawn(move || *theirs.0.lock().unwrap() = true);
        let mut guard = done.0.lock().unwrap();
        while !*guard {
            guard = done.1.wait_timeout(guard, A_WHILE).unwrap().0;
        }
        drop(guard);
        t.join().unwrap();
    };
    assert_eq!(executions(0, condvar), 1);
    // One more: the first wait ends for no reason, and the second look finds it.
    assert_eq!(executions(1, condvar), 2);
    let park = || {
        let (x, y) = counter();
        let t = thread::spawn(move || y.store(1, Release));
        while x.load(Acquire) == 0 {
            thread::park_timeout(A_WHILE);
        }
        t.join().unwrap();
    };
    assert_eq!(executions(0, park), 1);
    let channel = || {
        let (sender, receiver) = mpsc::channel();
        let t = thread::spawn(move || sender.send(7).unwrap());
        let received = loop {
            if let Ok(value) = receiver.recv_timeout(A_WHILE) {
                break value;
            }
        };
        assert_eq!(received, 7);
        t.join().unwrap();
    };
    assert_eq!(executions(0, channel), 1);
}

/// What a loop reads may be an address, which is another one in each run: here nothing is freed.
#[test]
fn a_loop_that_reads_addresses_is_learned_once() {
    let report = Builder::new().max_duration(Duration::from_secs(60)).explore(|| {
        let first: *mut u8 = Box::leak(Box::new(1));
        let x = Arc::new(AtomicPtr::new(first));
        let y = x.clone();
        let t = thread::spawn(move || y.store(Box::leak(Box::new(2)), Release));
        while x.load(Acquire) == first {
            thread::yield_now();
        }
        t.join().unwrap();
    });
    assert_eq!((report.executions, report.verdict), (1, Verdict::Complete), "{:?}", report.failure);
}

/// A guard that lives until the end of the body of a loop is held while the loop pauses: others come in between two rounds.
#[test]
fn a_loop_may_pause_with_the_lock_in_its_hands() {
    let report = Builder::new().explore(|| {
        let done = Arc::new(Mutex::new(false));
        let theirs = done.clone();
        let t = thread::spawn(move || *theirs.lock().unwrap() = true);
        loop {
            let guard = done.lock().unwrap();
            if *guard {
                break;
            }
            thread::yield_now();
        }
        t.join().unwrap();
    });
    assert_eq!((report.executions, report.verdict), (2, Verdict::Complete), "{:?}", report.failure);
}

/// Held for ever, the lock is a livelock.
#[test]
fn a_loop_that_pauses_and_never_unlocks_is_a_livelock() {
    let report = Builder::new().explore(|| {
        let (x, y) = counter();
        let lock = Arc::new(Mutex::new(()));
        let theirs = lock.clone();
        let t = thread::spawn(move || {
            let _guard = theirs.lock().unwrap();
            y.store(1, Relaxed);
        });
        let guard = lock.lock().unwrap();
        while x.load(Relaxed) == 0 {
            thread::yield_now();
        }
        drop(guard);
        t.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Failed(Kind::Livelock), "{report}");
}
