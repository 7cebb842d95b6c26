//! One small wrong model for each kind of failure. `docs/reports.md` shows them with their reports.

use std::panic;
use std::sync::atomic::AtomicUsize as RealAtomicUsize;

use interleave::cell::UnsafeCell;
use interleave::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use interleave::sync::{Arc, Condvar, Mutex};
use interleave::{Builder, hint, thread};

fn weak_memory() {
    interleave::model(|| {
        let mail = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
        let sender = mail.clone();
        let t = thread::spawn(move || {
            sender.0.store(42, Relaxed);
            sender.1.store(true, Relaxed);
        });
        if mail.1.load(Acquire) {
            assert_eq!(mail.0.load(Relaxed), 42);
        }
        t.join().unwrap();
    });
}

fn deadlock() {
    interleave::model(|| {
        let accounts = Arc::new((Mutex::new(10), Mutex::new(10)));
        let same = accounts.clone();
        let t = thread::spawn(move || {
            let (mut a, mut b) = (same.0.lock().unwrap(), same.1.lock().unwrap());
            (*a, *b) = (*a - 3, *b + 3);
        });
        let (mut b, mut a) = (accounts.1.lock().unwrap(), accounts.0.lock().unwrap());
        (*a, *b) = (*a + 5, *b - 5);
        drop((a, b));
        t.join().unwrap();
    });
}

fn lost_wake_up() {
    interleave::model(|| {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let same = pair.clone();
        let t = thread::spawn(move || same.1.notify_one());
        let guard = pair.0.lock().unwrap();
        drop(pair.1.wait(guard).unwrap());
        t.join().unwrap();
    });
}

fn livelock() {
    interleave::model(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let same = flag.clone();
        let t = thread::spawn(move || same.load(Acquire));
        while !flag.load(Acquire) {
            hint::spin_loop();
        }
        t.join().unwrap();
    });
}

struct Mail {
    message: UnsafeCell<u32>,
    ready: AtomicBool,
}

// SAFETY: it is not sound, and the model finds that.
unsafe impl Sync for Mail {}

fn data_race() {
    interleave::model(|| {
        let mail = Arc::new(Mail { message: UnsafeCell::new(0), ready: AtomicBool::new(false) });
        let sender = mail.clone();
        let t = thread::spawn(move || {
            // SAFETY: `ready` is still false, so nobody else looks.
            sender.message.with_mut(|message| unsafe { *message = 42 });
            sender.ready.store(true, Relaxed);
        });
        if mail.ready.load(Acquire) {
            // SAFETY: `ready` is true, so nobody writes.
            mail.message.with(|message| assert_eq!(unsafe { *message }, 42));
        }
        t.join().unwrap();
    });
}

static RUNS: RealAtomicUsize = RealAtomicUsize::new(0);

fn nondeterminism() {
    interleave::model(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = thread::spawn(move || m.fetch_add(1, Relaxed));
        if RUNS.fetch_add(1, Relaxed) == 0 {
            n.fetch_add(1, Relaxed);
        } else {
            n.load(Relaxed);
        }
        t.join().unwrap();
    });
}

fn outside() {
    let n = Arc::new(AtomicUsize::new(0));
    interleave::model(|| {
        let m = n.clone();
        let t = thread::spawn(move || m.fetch_add(1, Relaxed));
        n.fetch_add(1, Relaxed);
        t.join().unwrap();
    });
}

fn limit() {
    interleave::model(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let same = flag.clone();
        let t = thread::spawn(move || same.store(true, Release));
        while !flag.load(Acquire) {}
        t.join().unwrap();
    });
}

fn config() {
    Builder::new().workers(0).check(|| drop(thread::spawn(|| ()).join()));
}

const ALL: [(&str, fn()); 9] = [
    ("weak_memory", weak_memory),
    ("deadlock", deadlock),
    ("lost_wake_up", lost_wake_up),
    ("livelock", livelock),
    ("data_race", data_race),
    ("nondeterminism", nondeterminism),
    ("outside", outside),
    ("limit", limit),
    ("config", config),
];

/// The report of the model with this name.
pub(crate) fn report(name: &str) -> String {
    let (_, model) = ALL.into_iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no model {name}"));
    // A model is called as the test is, which is the name of the thread.
    let test = std::thread::Builder::new().name(name.to_owned());
    let payload = test.spawn(model).expect("a thread").join().expect_err("the model fails");
    *payload.downcast::<String>().unwrap_or_else(|payload| panic::resume_unwind(payload))
}
