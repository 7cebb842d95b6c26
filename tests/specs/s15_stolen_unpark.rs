//! An executor parks until its task is ready, and calls a library that parks the same thread for a reason of its own. Two
//! `unpark`s before one `park` are one token, so the library uses up what was meant for the executor.

use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicBool, Ordering};
use interleave::thread;

use crate::expect::{clean, deadlocks};

/// How the executor knows that it was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Woken {
    /// By the token.
    Token,
    /// By a flag of its own.
    Flag,
}

#[derive(Default)]
struct Shared {
    ready: AtomicBool,
    initialized: AtomicBool,
    notified: AtomicBool,
}

impl Shared {
    fn execute(&self, woken: Woken) {
        while !self.ready.load(Ordering::SeqCst) {
            self.library();
            match woken {
                Woken::Token => thread::park(),
                Woken::Flag => {
                    while !self.notified.swap(false, Ordering::SeqCst) {
                        thread::park();
                    }
                }
            }
        }
    }

    fn library(&self) {
        while !self.initialized.load(Ordering::SeqCst) {
            thread::park();
        }
    }
}

fn executor(woken: Woken) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new(Shared::default());
        let executor = thread::current();
        let waker = thread::spawn({
            let (shared, executor) = (shared.clone(), executor.clone());
            move || {
                shared.ready.store(true, Ordering::SeqCst);
                if woken == Woken::Flag {
                    shared.notified.store(true, Ordering::SeqCst);
                }
                executor.unpark();
            }
        });
        let initializer = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.initialized.store(true, Ordering::SeqCst);
                executor.unpark();
            }
        });
        shared.execute(woken);
        waker.join().unwrap();
        initializer.join().unwrap();
    }
}

#[test]
fn the_token_is_used_up_by_the_library() {
    deadlocks(0, executor(Woken::Token));
}

#[test]
fn a_flag_of_its_own() {
    clean(41, executor(Woken::Flag));
}
