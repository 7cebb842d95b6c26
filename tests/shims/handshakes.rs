//! How many executions the usual ways to wait for each other have, and that nothing is seen in any interleaving that is not
//! seen in one of them.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex as RealMutex;

use interleave::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock};
use interleave::{Builder, Strategy, Verdict, thread};

/// The number of executions of `body`, after a check that all interleavings show what these show, and no more.
fn checked<T: Ord + Debug + Send>(body: impl Fn() -> T + Send + Sync) -> u64 {
    let see = |strategy| {
        let seen = RealMutex::new(BTreeSet::new());
        let report = Builder::new().strategy(strategy).spurious(0).explore(|| {
            let result = body();
            seen.lock().unwrap().insert(result);
        });
        assert_eq!(report.verdict, Verdict::Complete, "{report}");
        (report.executions, seen.into_inner().unwrap())
    };
    let (count, few) = see(Strategy::Exhaustive);
    let (_, all) = see(Strategy::Interleavings);
    assert_eq!(few, all);
    count
}

/// Whoever waits looks before or after the flag is set; the notification is needed in the first case and finds nobody in the
/// second.
#[test]
fn a_condvar_handshake_has_2() {
    let count = checked(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = pair.clone();
        let t = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut looks = 0;
        let guard = pair.1.wait_while(pair.0.lock().unwrap(), |set| {
            looks += 1;
            !*set
        });
        drop(guard.unwrap());
        t.join().unwrap();
        looks
    });
    assert_eq!(count, 2);
}

/// The orders of arrival: 3!. The last one leads.
#[test]
fn a_barrier_of_3_has_6() {
    let count = checked(|| {
        let barrier = Arc::new(Barrier::new(3));
        let threads = [0, 1].map(|_| {
            let barrier = barrier.clone();
            thread::spawn(move || barrier.wait().is_leader())
        });
        let leads = barrier.wait().is_leader();
        let [one, two] = threads.map(|t| t.join().unwrap());
        [leads, one, two]
    });
    assert_eq!(count, 6);
}

/// One execution for each thread that may be the first. The others wait for it, and nobody sees in which order.
#[test]
fn a_once_lock_raced_by_3_has_3() {
    let count = checked(|| {
        let lock = Arc::new(OnceLock::new());
        let threads = [1, 2].map(|i| {
            let lock = lock.clone();
            thread::spawn(move || *lock.get_or_init(|| i))
        });
        let mine = *lock.get_or_init(|| 0);
        let [one, two] = threads.map(|t| t.join().unwrap());
        [mine, one, two]
    });
    assert_eq!(count, 3);
}

#[test]
fn a_once_raced_by_3_has_3() {
    let count = checked(|| {
        let (once, by) = (Arc::new(Once::new()), Arc::new(Mutex::new(0)));
        let threads = [1, 2].map(|i| {
            let (once, by) = (once.clone(), by.clone());
            thread::spawn(move || once.call_once(|| *by.lock().unwrap() = i))
        });
        once.call_once(|| *by.lock().unwrap() = 3);
        threads.into_iter().for_each(|t| t.join().unwrap());
        *by.lock().unwrap()
    });
    assert_eq!(count, 3);
}
