//! Workers, and what they survive. What ends a process is tried in a process of its own.

use std::process::{Command, Output};
use std::thread;

use super::{Abandoned, Cause, Pool, abandon_worker, last_words, run_on_worker, suspend, with_note};

const STACK_BYTES: usize = 64 << 10;

/// Nothing here is silent for so long.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// `run_on_worker` for tests that keep to its contract: the closures lend nothing out exclusively that is used after
/// `Err`.
fn on_worker<R: Send>(f: impl FnOnce() -> R + Send) -> Result<R, Abandoned> {
    // SAFETY: see above.
    unsafe { run_on_worker(None, PATIENCE, f) }
}

/// Runs `body` on a fiber of a new pool until it has finished.
fn on_fiber(body: impl FnOnce() + 'static) {
    let pool: Pool = Pool::new(STACK_BYTES);
    let handle = pool.start(Box::new(body));
    while pool.resume(handle) == super::State::Suspended {}
}

#[test]
fn a_worker_gives_its_result_back() {
    let text = String::from("borrowed");
    let mut count = 0;
    let result = on_worker(|| {
        count += 1;
        text.len()
    });
    assert_eq!((result.unwrap(), count), (8, 1));
}

#[test]
fn a_worker_has_its_callers_name() {
    let name = || thread::current().name().map(str::to_owned);
    let expected = name();
    assert_eq!(on_worker(name).unwrap(), expected);
    // SAFETY: the closure borrows nothing.
    assert_eq!(unsafe { run_on_worker(Some("explorer 2"), PATIENCE, name) }.unwrap().as_deref(), Some("explorer 2"));
}

#[test]
fn a_panic_of_the_worker_goes_on_in_the_caller() {
    let payload = std::panic::catch_unwind(|| on_worker(|| std::panic::resume_unwind(Box::new(7))).unwrap());
    assert_eq!(payload.unwrap_err().downcast_ref(), Some(&7));
}

#[test]
fn the_note_is_handed_over() {
    let abandoned = on_worker(|| {
        with_note(|note| {
            note.push(b"execution 1");
            note.truncate("execution ".len());
            note.push(b"2, thread ");
        });
        on_fiber(|| {
            with_note(|note| note.push(b"t1"));
            suspend();
            abandon_worker("a panic in a destructor".to_owned())
        });
    });
    let abandoned = abandoned.unwrap_err();
    assert_eq!(abandoned.cause, Cause::Message("a panic in a destructor".to_owned()));
    assert_eq!(String::from_utf8(abandoned.note).unwrap(), "execution 2, thread t1");
    assert!(with_note(|_| ()).is_none(), "this thread is no worker");
}

#[test]
fn a_note_is_cut_off_at_its_capacity() {
    let length = on_worker(|| {
        with_note(|note| {
            note.push(&[b'x'; 10_000]);
            note.push(&[b'y'; 10_000]);
            note.push(b"z");
            note.len()
        })
    });
    assert_eq!(length.unwrap(), Some(16 << 10));
}

/// Uses up any stack. Its frame cannot be optimised away.
#[expect(unconditional_recursion, reason = "it is the purpose")]
fn recurse(depth: u64) {
    let frame = std::hint::black_box([depth; 16]);
    recurse(depth + 1);
    std::hint::black_box(frame);
}

#[cfg(all(unix, not(miri), not(feature = "os-threads"), any(feature = "generator", feature = "corosensei")))]
mod overflow {
    use std::sync::Mutex;

    use super::super::in_fatal_section;
    use super::*;

    #[test]
    fn it_is_survived_again_and_again() {
        for round in 0..10u8 {
            let abandoned = on_worker(move || {
                with_note(|note| note.push(&[b'0' + round]));
                on_fiber(|| recurse(0));
            });
            let abandoned = abandoned.unwrap_err();
            assert_eq!((abandoned.cause, abandoned.note), (Cause::StackOverflow, vec![b'0' + round]));
        }
    }

    #[test]
    fn a_reused_fiber_is_guarded_too() {
        let abandoned = on_worker(|| {
            let pool: Pool = Pool::new(STACK_BYTES);
            pool.resume(pool.start(Box::new(|| ())));
            let suspended = pool.start(Box::new(suspend));
            pool.resume(suspended);
            pool.resume(pool.start(Box::new(|| recurse(0))));
        });
        assert_eq!(abandoned.unwrap_err().cause, Cause::StackOverflow);
    }

    #[test]
    fn a_frame_larger_than_the_stack_is_noticed() {
        let abandoned = on_worker(|| {
            on_fiber(|| {
                std::hint::black_box([0u8; 4 * STACK_BYTES]);
            })
        });
        assert_eq!(abandoned.unwrap_err().cause, Cause::StackOverflow);
    }

    #[test]
    fn it_hits_one_of_several_workers() {
        thread::scope(|scope| {
            let workers: Vec<_> = (0..8)
                .map(|index| {
                    scope.spawn(move || {
                        on_worker(move || {
                            on_fiber(move || {
                                suspend();
                                if index % 2 == 0 {
                                    recurse(0);
                                }
                            });
                        })
                    })
                })
                .collect();
            let ok = workers.into_iter().map(|worker| worker.join().unwrap().is_ok());
            assert!(ok.eq((0..8).map(|index| index % 2 == 1)));
        });
    }

    #[test]
    fn in_a_fatal_section_it_ends_the_process() {
        let Some(child) = in_child("overflow::in_a_fatal_section_it_ends_the_process") else {
            let _ = on_worker(|| {
                on_fiber(|| in_fatal_section(|| recurse(0)));
            });
            return;
        };
        let (stderr, signal) = death(child);
        assert!(stderr.contains("interleave: SIGSEGV while a model was running"), "{stderr}");
        assert_eq!(signal, Some(libc::SIGSEGV));
    }

    #[test]
    fn it_ends_the_process_if_its_owner_is_stuck() {
        let Some(child) = in_child("overflow::it_ends_the_process_if_its_owner_is_stuck") else {
            let _ = on_worker(|| {
                with_note(|note| note.push(b"holds stdout"));
                on_fiber(|| {
                    let _stdout = std::io::stdout().lock();
                    recurse(0);
                });
            });
            return;
        };
        let (stderr, signal) = death(child);
        assert!(stderr.contains("interleave: SIGSEGV while a model was running\nholds stdout\n"), "{stderr}");
        assert_eq!(signal, Some(libc::SIGSEGV));
    }

    #[test]
    fn locks_of_the_worker_stay_locked() {
        let mutex = Mutex::new(());
        let abandoned = on_worker(|| {
            let _guard = mutex.lock();
            on_fiber(|| recurse(0));
        });
        assert_eq!(abandoned.unwrap_err().cause, Cause::StackOverflow);
        assert!(mutex.try_lock().is_err());
    }
}

/// Runs the test that calls this in a process of its own. `None` there; its output here.
fn in_child(test: &str) -> Option<Output> {
    const CHILD: &str = "INTERLEAVE_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return None;
    }
    let (_, module) = module_path!().split_once("::").unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([&format!("{module}::{test}"), "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    Some(child.output().unwrap())
}

/// What a child wrote to stderr, and the signal that ended it.
#[cfg(unix)]
fn death(child: Output) -> (String, Option<i32>) {
    use std::os::unix::process::ExitStatusExt;
    (String::from_utf8_lossy(&child.stderr).into_owned(), child.status.signal())
}

#[cfg(all(unix, not(miri)))]
mod faults {
    use super::*;

    fn touch_nothing() {
        // SAFETY: none; the fault is the purpose.
        unsafe { std::ptr::without_provenance_mut::<u8>(16).write_volatile(0) };
    }

    fn while_modelling(fault: fn()) {
        let _ = on_worker(move || {
            with_note(|note| note.push(b"execution 5: t0 t1 t1"));
            on_fiber(fault);
        });
    }

    const NOTE: &str = " while a model was running\nexecution 5: t0 t1 t1\n";

    #[test]
    fn a_wild_write_is_described() {
        let Some(child) = in_child("faults::a_wild_write_is_described") else { return while_modelling(touch_nothing) };
        let (stderr, signal) = death(child);
        assert!(stderr.contains(&format!("\ninterleave: SIGSEGV{NOTE}")), "{stderr}");
        assert_eq!(signal, Some(libc::SIGSEGV));
    }

    #[test]
    fn an_abort_is_described() {
        let Some(child) = in_child("faults::an_abort_is_described") else {
            return while_modelling(|| std::process::abort());
        };
        let (stderr, signal) = death(child);
        assert!(stderr.contains(&format!("\ninterleave: SIGABRT{NOTE}")), "{stderr}");
        assert_eq!(signal, Some(libc::SIGABRT));
    }

    #[test]
    fn a_signal_that_somebody_sent_is_deadly_at_once() {
        let Some(child) = in_child("faults::a_signal_that_somebody_sent_is_deadly_at_once") else {
            // SAFETY: `raise` has no preconditions.
            return while_modelling(|| assert_eq!(unsafe { libc::raise(libc::SIGFPE) }, 0));
        };
        let (stderr, signal) = death(child);
        assert!(stderr.contains(&format!("\ninterleave: SIGFPE{NOTE}")), "{stderr}");
        assert_eq!(signal, Some(libc::SIGFPE));
    }

    #[test]
    fn faults_outside_models_are_left_alone() {
        let Some(child) = in_child("faults::faults_outside_models_are_left_alone") else {
            on_worker(|| on_fiber(|| ())).unwrap();
            return touch_nothing();
        };
        let (stderr, signal) = death(child);
        assert!(!stderr.contains("interleave"), "{stderr}");
        assert_eq!(signal, Some(libc::SIGSEGV));
    }

    #[test]
    fn an_overflow_outside_models_is_left_to_std() {
        let Some(child) = in_child("faults::an_overflow_outside_models_is_left_to_std") else {
            on_worker(|| on_fiber(|| ())).unwrap();
            return recurse(0);
        };
        let (stderr, signal) = death(child);
        assert!(stderr.contains("has overflowed its stack"), "{stderr}");
        assert_eq!(signal, Some(libc::SIGABRT));
    }

    #[test]
    fn a_panic_that_leaves_a_body_aborts() {
        let Some(child) = in_child("faults::a_panic_that_leaves_a_body_aborts") else {
            return while_modelling(|| panic!("out of the body"));
        };
        let (stderr, signal) = death(child);
        assert!(stderr.contains("interleave: internal error: a panic left the body of a model thread"), "{stderr}");
        assert_eq!(signal, Some(libc::SIGABRT));
    }
}

#[test]
#[cfg(all(unix, not(miri)))]
fn a_panic_in_a_destructor_during_a_panic_is_survived() {
    struct PanicsInDrop;
    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            panic!("second");
        }
    }
    let Some(child) = in_child("a_panic_in_a_destructor_during_a_panic_is_survived") else {
        std::panic::set_hook(Box::new(|info| {
            let message = info.payload_as_str().unwrap_or_default();
            if message.contains("destructor") {
                last_words(format!("{}: {message}", thread::current().name().unwrap_or_default()));
            }
        }));
        let abandoned = on_worker(|| {
            on_fiber(|| {
                let _first = std::panic::catch_unwind(|| {
                    let _second = PanicsInDrop;
                    panic!("first");
                });
            });
        });
        let Cause::Message(message) = abandoned.unwrap_err().cause else { panic!("no message") };
        assert!(message.ends_with(": panic in a destructor during cleanup"), "{message}");
        // The hook is not locked for ever: libtest, too, replaces it in the end.
        drop(std::panic::take_hook());
        return;
    };
    assert!(child.status.success(), "{child:?}");
}
