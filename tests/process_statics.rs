//! The `static`s of simulated processes: each has its own, as it was when the program was loaded.

mod outcomes;

use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize as Plain, Ordering::SeqCst};

use interleave::cell::UnsafeCell;
use interleave::os::unix::net::UnixStream;
use interleave::process::{self, Child};
use interleave::sync::atomic::{AtomicU32, Ordering::Relaxed};
use interleave::sync::{Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use interleave::{Builder, Kind, Verdict, thread, thread_local};

#[track_caller]
fn comes_to(executions: u64, expected: &[&str], program: impl Fn() -> String + Send + Sync) {
    outcomes::comes_to(Builder::new(), 20_000, executions, expected, program);
}

fn ends_well(mut child: Child) {
    assert!(child.wait().unwrap().success());
}

/// Whatever the body did before or does after, and whatever another process does: they do not meet, so it is one execution.
#[test]
fn atomics() {
    static COUNT: AtomicU32 = AtomicU32::new(7);
    let add = || {
        process::spawn(|| {
            assert_eq!(COUNT.fetch_add(1, Relaxed), 7);
            assert_eq!(COUNT.load(Relaxed), 8);
        })
    };
    comes_to(1, &["5"], || {
        COUNT.store(5, Relaxed);
        let (a, b) = (add(), add());
        assert_eq!(COUNT.load(Relaxed), 5);
        ends_well(a);
        ends_well(b);
        COUNT.load(Relaxed).to_string()
    });
    comes_to(1, &["7"], || {
        let (a, b) = (add(), add());
        ends_well(a);
        ends_well(b);
        COUNT.load(Relaxed).to_string()
    });
    assert_eq!(COUNT.load(Relaxed), 7);
}

#[test]
fn what_is_in_locks() {
    static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    static TEXT: RwLock<String> = RwLock::new(String::new());
    let fill = |n: u32| {
        process::spawn(move || {
            LIST.lock().unwrap().push(n);
            TEXT.write().unwrap().push('p');
            assert_eq!((&**LIST.lock().unwrap(), &**TEXT.read().unwrap()), (&[n][..], "p"));
        })
    };
    comes_to(1, &["[0, 0] bb"], || {
        LIST.lock().unwrap().push(0);
        TEXT.write().unwrap().push('b');
        let (a, b) = (fill(1), fill(2));
        LIST.lock().unwrap().push(0);
        TEXT.write().unwrap().push('b');
        ends_well(a);
        ends_well(b);
        format!("{:?} {}", LIST.lock().unwrap(), TEXT.read().unwrap())
    });
}

#[test]
fn what_is_made_once() {
    static ONCE: OnceLock<u32> = OnceLock::new();
    static LAZY: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| Mutex::new(vec![process::id()]));
    static START: Once = Once::new();
    thread_local! {
        static LOCAL: std::cell::Cell<u32> = const { std::cell::Cell::new(1) };
    }
    let run = || {
        process::spawn(|| {
            assert!(!START.is_completed());
            START.call_once(|| ());
            LAZY.lock().unwrap().push(0);
            assert_eq!(*ONCE.get_or_init(process::id), process::id());
            assert_eq!(*LAZY.lock().unwrap(), [process::id(), 0]);
            assert_eq!(LOCAL.replace(2), 1);
        })
    };
    comes_to(1, &["1000 [1000]"], || {
        START.call_once(|| ());
        assert_eq!(*ONCE.get_or_init(process::id), 1000);
        let (a, b) = (run(), run());
        ends_well(a);
        ends_well(b);
        assert!(START.is_completed());
        format!("{} {:?}", ONCE.get().unwrap(), LAZY.lock().unwrap())
    });
}

/// The threads of one process share them: the one that waits has the lock first, or finds that it need not wait.
#[test]
fn threads_of_a_process() {
    static READY: Mutex<bool> = Mutex::new(false);
    static CHANGED: Condvar = Condvar::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    outcomes::comes_to(Builder::new().spurious(0), 20_000, 2, &["0"], || {
        let child = process::spawn(|| {
            let other = thread::spawn(|| {
                COUNT.store(1, Relaxed);
                *READY.lock().unwrap() = true;
                CHANGED.notify_one();
            });
            let ready = CHANGED.wait_while(READY.lock().unwrap(), |ready| !*ready).unwrap();
            assert_eq!(COUNT.load(Relaxed), 1);
            drop(ready);
            other.join().unwrap();
        });
        assert!(!*READY.lock().unwrap());
        ends_well(child);
        COUNT.load(Relaxed).to_string()
    });
}

/// A guard that a process holds while others run leads to its own value.
#[test]
fn a_guard_that_is_held_while_another_process_runs() {
    static VALUE: Mutex<[u8; 100]> = Mutex::new([1; 100]);
    comes_to(1, &["[1, 1]"], || {
        let (mut mine, mut theirs) = UnixStream::pair().unwrap();
        let child = process::spawn(move || {
            let mut value = VALUE.lock().unwrap();
            let first = &mut value[0];
            *first = 2;
            theirs.write_all(&[1]).unwrap();
            theirs.read_exact(&mut [0]).unwrap();
            assert_eq!(*first, 2);
            value[99] = 3;
        });
        mine.read_exact(&mut [0]).unwrap();
        let value = VALUE.lock().unwrap();
        mine.write_all(&[1]).unwrap();
        ends_well(child);
        format!("{:?}", [value[0], value[99]])
    });
}

/// What each process leaves is dropped once, at the end of the execution; also if it has crashed.
#[test]
fn what_processes_leave_is_dropped() {
    static MADE: Plain = Plain::new(0);
    static DROPPED: Plain = Plain::new(0);
    struct Counted(#[expect(dead_code)] Box<u8>);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, SeqCst);
        }
    }
    static LEFT: Mutex<Option<Counted>> = Mutex::new(None);
    static LAZY: LazyLock<Counted> = LazyLock::new(made);
    fn made() -> Counted {
        MADE.fetch_add(1, SeqCst);
        Counted(Box::new(1))
    }
    let report = Builder::new().explore(|| {
        let leave = || {
            *LEFT.lock().unwrap() = Some(made());
            LazyLock::force(&LAZY);
        };
        let mut children = [0, 1].map(|_| process::Builder::new().crashable(true).spawn(leave));
        leave();
        for child in &mut children {
            child.wait().unwrap();
        }
    });
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
    assert!(MADE.load(SeqCst) as u64 > 2 * report.executions, "{report}");
    assert_eq!(MADE.load(SeqCst), DROPPED.load(SeqCst));
}

/// What cannot be one for each process is used by one only.
#[test]
fn what_cannot_be_split_is_reported() {
    struct Cell(UnsafeCell<u32>);
    // SAFETY: 1. It is used by a thread of a model at a time.
    unsafe impl Sync for Cell {}
    static CELL: Cell = Cell(UnsafeCell::new(0));
    // SAFETY: 1. As above.
    let write = || CELL.0.with_mut(|value| unsafe { *value = 1 });
    let report = Builder::new().explore(|| ends_well(process::spawn(write)));
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
    let both = Builder::new().explore(|| {
        write();
        ends_well(process::spawn(write));
    });
    let two = Builder::new().explore(|| [0, 1].map(|_| process::spawn(write)).into_iter().for_each(ends_well));
    for report in [both, two] {
        let failure = report.failure.unwrap();
        assert_eq!(failure.kind, Kind::Outside);
        let says = "two processes use one `static`: it holds a `cell::UnsafeCell`, which is not one for each process. Make it in \
                    each process, or use a type that is: atomics and what `interleave::sync` has";
        assert_eq!(failure.message, says);
    }
}

#[test]
fn a_value_from_outside_of_the_model_belongs_to_one_process() {
    static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    static NUMBER: Mutex<u32> = Mutex::new(1);
    LIST.lock().unwrap().push(1);
    *NUMBER.lock().unwrap() += 1;
    // Bytes can be set aside whatever they are.
    comes_to(1, &["2"], || {
        ends_well(process::spawn(|| *NUMBER.lock().unwrap() += 1));
        NUMBER.lock().unwrap().to_string()
    });
    let report = Builder::new().explore(|| {
        let len = LIST.lock().unwrap().len();
        ends_well(process::spawn(move || assert_eq!(LIST.lock().unwrap().len(), len)));
    });
    let message = report.failure.unwrap().message;
    assert!(message.contains("it holds a value that has been changed outside of a model"), "{message}");
}
