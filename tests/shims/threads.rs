use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::sync::mpsc::{Sender, channel};
use interleave::{Builder, Kind, Panics, Verdict, thread};

use crate::{executions, failure};

#[test]
fn scopes_wait_for_their_threads() {
    let count = executions(|| {
        let (n, mut own) = (AtomicUsize::new(0), 0);
        thread::scope(|scope| {
            scope.spawn(|| n.fetch_add(1, Relaxed));
            scope.spawn(|| own += 1);
            n.fetch_add(1, Relaxed);
        });
        assert_eq!((n.into_inner(), own), (2, 1));
    });
    assert_eq!(count, 2);
}

#[test]
fn ended_or_not_yet() {
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let count = executions(|| {
        let t = thread::spawn(|| ());
        seen.lock().unwrap().insert(t.is_finished());
        t.join().unwrap();
    });
    assert_eq!((count, seen.into_inner().unwrap().len()), (2, 2));
}

#[test]
fn panics_of_threads() {
    let body = || assert!(thread::spawn(|| panic!("on purpose")).join().is_err());
    assert_eq!(failure(body), Kind::Panic);
    let report = Builder::new().panics(Panics::Deliver).explore(body);
    assert_eq!(report.verdict, Verdict::Vacuous, "{report}");
    let report = Builder::new().panics(Panics::Deliver).explore(|| drop(thread::spawn(|| panic!("on purpose"))));
    assert_eq!(report.failure.unwrap().kind, Kind::Panic);
    let report = Builder::new().panics(Panics::Deliver).explore(|| {
        let scope = || thread::scope(|scope| _ = scope.spawn(|| panic!("on purpose")));
        assert!(std::panic::catch_unwind(scope).is_err());
    });
    assert_eq!(report.verdict, Verdict::Vacuous, "{report}");
}

/// A destructor that insists runs in executions that are over, too: a second panic would end the process.
#[test]
fn destructors_that_stop_their_workers() {
    struct Worker {
        orders: Sender<bool>,
        thread: Option<thread::JoinHandle<()>>,
    }
    impl Drop for Worker {
        fn drop(&mut self) {
            self.orders.send(false).unwrap();
            self.thread.take().unwrap().join().unwrap();
        }
    }
    let work = |fails: bool| {
        move || {
            let (orders, receiver) = channel();
            let thread = thread::spawn(move || while receiver.recv().unwrap() {});
            let worker = Worker { orders, thread: Some(thread) };
            worker.orders.send(true).unwrap();
            assert!(!fails);
        }
    };
    assert_eq!(executions(work(false)), 1);
    assert_eq!(failure(work(true)), Kind::Panic);
    let stuck = move || {
        work(false)();
        let _worker = Worker { orders: channel().0, thread: Some(thread::spawn(thread::park)) };
        thread::park();
    };
    assert_eq!(failure(stuck), Kind::Deadlock);
}
