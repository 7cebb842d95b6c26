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

/// A destructor in an execution that is over finds things as they were left.
#[test]
fn destructors_of_a_failed_execution() {
    use interleave::sync::Arc;

    struct Stack(Arc<AtomicUsize>);
    impl Drop for Stack {
        fn drop(&mut self) {
            // What the model left, not what the stack was made with.
            let raw = self.0.swap(0, Relaxed);
            if raw != 0 {
                // SAFETY: 1. Whoever takes it out of the atomic owns it.
                drop(unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut::<String>(raw)) });
            }
        }
    }
    let kind = failure(|| {
        let first = Box::into_raw(Box::new(String::from("first"))).expose_provenance();
        let stack = Stack(Arc::new(AtomicUsize::new(first)));
        let popped = stack.0.swap(0, Relaxed);
        // SAFETY: 1. As above.
        drop(unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut::<String>(popped)) });
        thread::park();
    });
    assert_eq!(kind, Kind::Deadlock);
}

/// What an unjoined thread returns is dropped late, and its destructor may do anything.
#[test]
fn results_that_nobody_takes_are_dropped() {
    use interleave::sync::Arc;
    use interleave::sync::atomic::AtomicUsize;
    struct Adds(Arc<AtomicUsize>);
    impl Drop for Adds {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let report = interleave::Builder::new().explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        drop(thread::spawn(move || Adds(m)));
        seen.lock().unwrap().insert(n.load(Relaxed));
    });
    assert_eq!(report.verdict, interleave::Verdict::Complete, "{report}");
    assert_eq!(seen.into_inner().unwrap().into_iter().collect::<Vec<_>>(), [0, 1]);
}
