//! Code of the user that panics inside a shim: in predicates, initialisers, closures, clones and destructors. Each program is
//! compiled twice, against std and against the model types, and must come to the same; in a model every execution does, and
//! the next model runs as if nothing had been.

#![allow(missing_docs, clippy::missing_const_for_thread_local, clippy::mutex_atomic)]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

use interleave::{Builder, Kind, Panics, Verdict};

/// The message of a panic, or what came instead.
fn came<T: std::fmt::Debug>(f: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(value) => format!("{value:?}"),
        Err(payload) => format!("panic: {}", message(&*payload)),
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no text".to_owned())
}

/// Panics when it is dropped.
#[derive(Debug)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Panics when it is cloned.
#[derive(Debug)]
struct Unique;

impl Clone for Unique {
    fn clone(&self) -> Self {
        panic!("cloned");
    }
}

/// Panics when it is shown.
struct Secret;

impl std::fmt::Debug for Secret {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("shown");
    }
}

/// Panics when it is compared.
struct Apart;

impl PartialEq for Apart {
    fn eq(&self, _: &Self) -> bool {
        panic!("compared");
    }
}

macro_rules! programs {
    ($($name:ident $body:block)*) => {
        mod with_std {
            #[allow(unused_imports)]
            use super::*;
            #[allow(unused_imports)]
            use std as lib;
            $(pub(super) fn $name() -> String $body)*
        }
        mod in_model {
            #[allow(unused_imports)]
            use super::*;
            #[allow(unused_imports)]
            use interleave as lib;
            $(pub(super) fn $name() -> String $body)*
        }
        const PROGRAMS: &[(&str, fn() -> String, fn() -> String)] =
            &[$((stringify!($name), with_std::$name, in_model::$name)),*];
    };
}

programs! {
    a_predicate_of_wait_while {
        let (m, c) = (lib::sync::Mutex::new(1), lib::sync::Condvar::new());
        let first = came(|| c.wait_while(m.lock().unwrap(), |_| panic!("asked")).is_ok());
        let again = c.wait_while(m.lock().unwrap_or_else(|e| e.into_inner()), |_| false);
        format!("{first}, {:?}, {}", again.is_err(), m.is_poisoned())
    }
    a_predicate_of_wait_timeout_while {
        let (m, c) = (lib::sync::Mutex::new(1), lib::sync::Condvar::new());
        let second = std::time::Duration::from_secs(1);
        let first = came(|| c.wait_timeout_while(m.lock().unwrap(), second, |_| panic!("asked")).is_ok());
        format!("{first}, {}, {}", m.is_poisoned(), m.lock().is_err())
    }
    the_holder_of_a_mutex {
        let m = lib::sync::Arc::new(lib::sync::Mutex::new(1));
        let theirs = m.clone();
        let t = lib::thread::spawn(move || {
            let mut guard = theirs.lock().unwrap();
            *guard = 2;
            panic!("held");
        });
        let joined = came(|| std::panic::resume_unwind(t.join().unwrap_err()));
        let value = *m.lock().unwrap_err().into_inner();
        let tried = matches!(m.try_lock(), Err(lib::sync::TryLockError::Poisoned(_)));
        m.clear_poison();
        format!("{joined}, {value}, {tried}, {}", m.lock().is_ok())
    }
    a_mutex_taken_while_unwinding {
        struct Takes<'a>(&'a lib::sync::Mutex<i32>);
        impl Drop for Takes<'_> {
            fn drop(&mut self) {
                *self.0.lock().unwrap() += 1;
            }
        }
        let m = lib::sync::Mutex::new(1);
        let first = came(|| {
            let _takes = Takes(&m);
            panic!("first")
        });
        format!("{first}, {}, {:?}", m.is_poisoned(), m.lock().map(|guard| *guard).unwrap())
    }
    what_a_mutex_shows {
        let m = lib::sync::Mutex::new(Secret);
        let first = came(|| format!("{m:?}").len());
        format!("{first}, {}, {}", m.is_poisoned(), m.try_lock().is_err())
    }
    the_value_of_a_mutex {
        let m = lib::sync::Mutex::new(Some(Bomb));
        let first = came(|| *m.lock().unwrap() = None);
        let second = came(|| drop(lib::sync::Mutex::new(Bomb)));
        let value = m.lock().unwrap_or_else(|e| e.into_inner()).is_none();
        format!("{first}, {second}, {value}, {}", m.is_poisoned())
    }
    holders_of_an_rwlock {
        let l = lib::sync::RwLock::new(1);
        let read = came(|| {
            let _read = l.read().unwrap();
            panic!("reading")
        });
        let after_read = l.is_poisoned();
        let write = came(|| {
            *l.write().unwrap() = 2;
            let _write = l.write().unwrap();
            panic!("writing")
        });
        format!("{read}, {after_read}, {write}, {}, {}", l.is_poisoned(), *l.read().unwrap_err().into_inner())
    }
    what_an_rwlock_shows {
        let l = lib::sync::RwLock::new(Secret);
        let first = came(|| format!("{l:?}").len());
        format!("{first}, {}, {}", l.is_poisoned(), l.try_write().is_ok())
    }
    the_closure_of_a_once {
        let o = lib::sync::Once::new();
        let first = came(|| o.call_once(|| panic!("once")));
        let second = came(|| o.call_once(|| ()));
        let third = came(|| o.call_once_force(|state| panic!("forced, {}", state.is_poisoned())));
        let wait = came(|| o.wait());
        let fourth = came(|| o.call_once_force(|state| assert!(state.is_poisoned())));
        format!("{first}, {second}, {third}, {wait}, {fourth}, {}", o.is_completed())
    }
    the_initialiser_of_a_once_lock {
        let o = lib::sync::OnceLock::new();
        let first = came(|| *o.get_or_init(|| panic!("init")));
        let before = o.get().is_some();
        format!("{first}, {before}, {}, {:?}", o.get_or_init(|| 2), o.set(3))
    }
    the_value_of_a_once_lock {
        let o = lib::sync::OnceLock::new();
        let set = came(|| o.set(Unique).is_ok());
        let cloned = came(|| o.clone().get().is_some());
        let mut bomb = lib::sync::OnceLock::from(Bomb);
        let taken = came(|| drop(bomb.take()));
        format!("{set}, {cloned}, {taken}, {}", bomb.get().is_none())
    }
    the_initialiser_of_a_lazy_lock {
        let l = lib::sync::LazyLock::new(|| -> u8 { panic!("init") });
        let first = came(|| *l);
        format!("{first}, {}, {}", came(|| *l), came(|| *lib::sync::LazyLock::force(&l)))
    }
    a_lazy_lock_in_a_static {
        static L: lib::sync::LazyLock<u8> = lib::sync::LazyLock::new(|| panic!("init"));
        format!("{}, {}", came(|| *L), came(|| *L))
    }
    the_closure_of_fetch_update {
        use lib::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::Relaxed};
        let (n, b, p) = (AtomicUsize::new(1), AtomicBool::new(true), AtomicPtr::new(std::ptr::null_mut::<u8>()));
        let update = |_| -> Option<usize> { panic!("update") };
        let number = came(|| n.fetch_update(Relaxed, Relaxed, update));
        let flag = came(|| b.fetch_update(Relaxed, Relaxed, |_| panic!("flag")));
        let pointer = came(|| p.fetch_update(Relaxed, Relaxed, |_| panic!("pointer")));
        format!("{number}, {flag}, {pointer}, {}, {}, {:?}", n.load(Relaxed), b.load(Relaxed), p.load(Relaxed))
    }
    orderings_that_there_are_not {
        use lib::sync::atomic::{AtomicUsize, Ordering, fence};
        let n = AtomicUsize::new(1);
        let order = |order: Ordering| std::hint::black_box(order);
        [
            came(|| n.load(order(Ordering::Release))),
            came(|| n.load(order(Ordering::AcqRel))),
            came(|| n.store(2, order(Ordering::Acquire))),
            came(|| n.store(2, order(Ordering::AcqRel))),
            came(|| n.compare_exchange(1, 2, Ordering::SeqCst, order(Ordering::Release))),
            came(|| n.compare_exchange_weak(1, 2, Ordering::SeqCst, order(Ordering::AcqRel))),
            came(|| fence(order(Ordering::Relaxed))),
            n.load(Ordering::Relaxed).to_string(),
        ]
        .join(", ")
    }
    a_message_that_is_dropped_with_its_channel {
        let (tx, rx) = lib::sync::mpsc::channel();
        tx.send(Some(Bomb)).unwrap();
        tx.send(None).unwrap();
        let first = came(|| drop(rx));
        let second = came(|| tx.send(None).is_err());
        format!("{first}, {second}")
    }
    a_message_that_comes_back {
        let (tx, rx) = lib::sync::mpsc::sync_channel(1);
        drop(rx);
        let sent = came(|| drop(tx.send(Bomb)));
        let tried = came(|| drop(tx.try_send(Bomb)));
        format!("{sent}, {tried}")
    }
    an_adapter_of_a_channel {
        let (tx, rx) = lib::sync::mpsc::channel();
        (0..4).for_each(|n| tx.send(n).unwrap());
        let first = came(|| rx.iter().map(|n| if n == 1 { panic!("one") } else { n }).collect::<Vec<i32>>());
        let second = came(|| rx.try_iter().for_each(|n| assert!(n < 2, "{n}")));
        drop(tx);
        format!("{first}, {second}, {:?}", came(|| rx.into_iter().collect::<Vec<i32>>()))
    }
    a_scope_and_its_threads {
        let n = lib::sync::atomic::AtomicUsize::new(0);
        let add = || n.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let own = came(|| {
            lib::thread::scope(|scope| {
                scope.spawn(add);
                panic!("own")
            })
        });
        let theirs = came(|| {
            lib::thread::scope(|scope| {
                scope.spawn(|| panic!("theirs"));
                scope.spawn(add);
            })
        });
        let joined = came(|| {
            lib::thread::scope(|scope| message(&*scope.spawn(|| -> u8 { panic!("joined") }).join().unwrap_err()))
        });
        format!("{own}, {theirs}, {joined}, {}", n.load(std::sync::atomic::Ordering::Relaxed))
    }
    a_thread_and_its_payload {
        let number = lib::thread::spawn(|| panic_any(7_u8)).join();
        let number = number.map_err(|payload| *payload.downcast::<u8>().unwrap());
        let named = lib::thread::Builder::new().name("n".to_owned()).spawn(|| -> u8 { panic!("named") }).unwrap();
        let finished = message(&*named.join().unwrap_err());
        format!("{number:?}, {finished}, {}", came(|| lib::thread::Builder::new().name("a\0b".to_owned()).spawn(|| ()).is_ok()))
    }
    a_result_that_is_dropped {
        let t = lib::thread::spawn(|| Bomb);
        came(|| drop(t.join()))
    }
    a_thread_local {
        lib::thread_local! {
            static LATE: u8 = panic!("init");
            static CELL: std::cell::RefCell<u8> = const { std::cell::RefCell::new(1) };
        }
        let init = came(|| LATE.with(|n| *n));
        let again = came(|| LATE.try_with(|n| *n));
        let inside = came(|| CELL.with_borrow_mut(|n| {
            *n = 2;
            panic!("inside")
        }));
        let replaced = came(|| CELL.replace(3));
        format!("{init}, {again}, {inside}, {replaced}, {}", came(|| CELL.with_borrow(|n| *n)))
    }
    the_value_of_an_arc {
        let a = lib::sync::Arc::new(Bomb);
        let w = lib::sync::Arc::downgrade(&a);
        let other = a.clone();
        let first = came(|| drop(a));
        let last = came(|| drop(other));
        let dead = w.upgrade().is_none();
        let unwrapped = came(|| drop(lib::sync::Arc::try_unwrap(lib::sync::Arc::new(Bomb))));
        let inner = came(|| drop(lib::sync::Arc::into_inner(lib::sync::Arc::new(Bomb))));
        format!("{first}, {last}, {dead}, {unwrapped}, {inner}")
    }
    the_clone_in_an_arc {
        let mut a = lib::sync::Arc::new(Unique);
        let b = a.clone();
        let made = came(|| _ = lib::sync::Arc::make_mut(&mut a));
        let unwrapped = came(|| _ = lib::sync::Arc::unwrap_or_clone(a));
        format!("{made}, {unwrapped}, {}", lib::sync::Arc::strong_count(&b))
    }
    an_arc_in_a_circle {
        let made = came(|| lib::sync::Arc::new_cyclic(|w: &lib::sync::Weak<u8>| {
            assert!(w.upgrade().is_none());
            panic!("made")
        }));
        let compared = came(|| lib::sync::Arc::new(Apart) == lib::sync::Arc::new(Apart));
        let shown = came(|| format!("{:?}", lib::sync::Arc::new(Secret)));
        let collected = came(|| (0..3).map(|n| if n == 1 { panic!("one") } else { n }).collect::<lib::sync::Arc<[i32]>>());
        format!("{made}, {compared}, {shown}, {collected}")
    }
    what_is_done_while_unwinding {
        struct Sends<'a>(&'a lib::sync::mpsc::Sender<bool>, &'a lib::sync::atomic::AtomicUsize);
        impl Drop for Sends<'_> {
            fn drop(&mut self) {
                self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                self.0.send(lib::thread::panicking()).unwrap();
                lib::thread::yield_now();
                lib::thread::spawn(|| ()).join().unwrap();
            }
        }
        let (tx, rx) = lib::sync::mpsc::channel();
        let n = lib::sync::atomic::AtomicUsize::new(0);
        let first = came(|| {
            let _sends = Sends(&tx, &n);
            panic!("first")
        });
        format!("{first}, {:?}, {}, {}", rx.recv(), n.into_inner(), lib::thread::panicking())
    }
}

/// Every execution of every program comes to what std does.
#[test]
fn panics_of_users_are_as_with_std() {
    let mut wrong = Vec::new();
    for (name, with_std, in_model) in PROGRAMS {
        let expected = with_std();
        let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
        let report = Builder::new().name(*name).panics(Panics::Deliver).spurious(0).explore(|| {
            let came = in_model();
            // Of an execution that had to begin anew, `catch_unwind` may have caught the end: nothing goes on after it.
            interleave::sync::atomic::AtomicUsize::new(0).load(std::sync::atomic::Ordering::Relaxed);
            seen.lock().unwrap().insert(came);
        });
        let report_text = report.failure.as_ref().map_or("", |failure| &failure.report);
        let seen: Vec<String> = seen.into_inner().unwrap().into_iter().collect();
        if !matches!(report.verdict, Verdict::Complete | Verdict::Vacuous) || seen != [expected.as_str()] {
            wrong.push(format!("{name}: {report}\n{report_text}\n  std: {expected:?}\n  here: {seen:?}"));
        }
        // Nothing of it is left.
        let next = Builder::new().explore(|| {
            let m = interleave::sync::Arc::new(interleave::sync::Mutex::new(0));
            let theirs = m.clone();
            let t = interleave::thread::spawn(move || *theirs.lock().unwrap() += 1);
            *m.lock().unwrap() += 1;
            t.join().unwrap();
            assert_eq!(*m.lock().unwrap(), 2);
        });
        assert_eq!((next.verdict, next.executions), (Verdict::Complete, 2), "after {name}: {next}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where std aborts the process, a model fails.
const FATAL: &[(&str, fn(), &str)] = &[
    (
        "the destructor of a thread local",
        || {
            interleave::thread_local! {
                static BOMB: Bomb = const { Bomb };
            }
            let t = interleave::thread::spawn(|| BOMB.with(|_| ()));
            t.join().unwrap();
        },
        "dropped",
    ),
    ("a result that nobody takes", || drop(interleave::thread::spawn(|| Bomb)), "dropped"),
    (
        "a payload that nobody takes",
        || {
            let t = interleave::thread::spawn(|| panic_any(Bomb));
            drop(t);
        },
        "a panic with a payload that is not text",
    ),
    (
        "the value of a static",
        || {
            static BOMB: interleave::sync::Mutex<Option<Bomb>> = interleave::sync::Mutex::new(None);
            *BOMB.lock().unwrap() = Some(Bomb);
            let t = interleave::thread::spawn(|| *BOMB.lock().unwrap() = None);
            t.join().unwrap();
        },
        "dropped",
    ),
];

#[test]
fn where_std_aborts_a_model_fails() {
    for (name, body, message) in FATAL {
        let report = Builder::new().name(*name).explore(body);
        assert_eq!(report.verdict, Verdict::Failed(Kind::Panic), "{name}: {report}");
        let failure = report.failure.expect("a failed model has a failure");
        assert_eq!(failure.message, *message, "{name}:\n{}", failure.report);
        assert!(failure.execution > 0 && !failure.token.is_empty(), "{name}:\n{}", failure.report);
        let next = Builder::new().explore(|| {
            let n = interleave::sync::Arc::new(interleave::sync::atomic::AtomicUsize::new(0));
            let theirs = n.clone();
            let t = interleave::thread::spawn(move || theirs.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
            n.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            t.join().unwrap();
        });
        assert_eq!((next.verdict, next.executions), (Verdict::Complete, 2), "after {name}: {next}");
    }
}
