//! Fibers as OS threads that pass a baton: slow, but every tool understands them. For Miri, for sanitizers, and for
//! targets that no coroutine crate supports.
//!
//! ```text
//!   worker                     turn                          fiber's thread
//!   arm, resume    ----------> Fiber   ------------------->  runs
//!   waits                                                    runs
//!   returns state  <---------- Worker(Suspended/Finished) -- waits
//! ```
//!
//! A fiber that is abandoned leaves its OS thread waiting for ever: under Miri, run with `-Zmiri-ignore-leaks`.

use std::cell::Cell;
use std::ops::Range;
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::body::{self, Body};
use super::{Fiber, State, worker};

thread_local! {
    /// The baton of the fiber that this OS thread is; null on a worker.
    static BATON: Cell<*const Baton> = const { Cell::new(ptr::null()) };
}

/// An OS thread that runs one body after another.
pub(crate) struct OsThreadFiber {
    baton: Arc<Baton>,
    armed: Cell<Option<Body>>,
    thread: JoinHandle<()>,
}

/// Whose turn it is.
struct Baton {
    turn: Mutex<Turn>,
    passed: Condvar,
}

enum Turn {
    /// The fiber goes on; with a body if it was idle.
    Fiber(Option<Unshared>),
    /// The fiber is idle and shall end.
    Retire,
    Worker(State),
}

/// A body on its way to the OS thread that runs it.
struct Unshared(Body);

// SAFETY: 1. The worker and its fibers never run at the same time, and each passing of the baton happens before what
// the receiver does next (it goes through a mutex). So for everything that looks at memory they are one thread.
// 2. What can tell them apart, thread-locals and lock guards of the operating system, is left alone by the controller:
// the values that models create are created, used and dropped by model threads, which are OS threads outside a model as
// well.
unsafe impl Send for Unshared {}

impl Baton {
    /// Passes the turn and waits until `mine` takes the next one.
    fn pass<R>(&self, turn: Turn, mine: impl FnMut(&mut Turn) -> Option<R>) -> R {
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = turn;
        self.passed.notify_all();
        self.wait(mine)
    }

    fn wait<R>(&self, mut mine: impl FnMut(&mut Turn) -> Option<R>) -> R {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(result) = mine(&mut turn) {
                return result;
            }
            turn = self.passed.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The loop of an idle fiber's thread.
    fn run_bodies(&self) {
        BATON.set(self);
        let next = |turn: &mut Turn| match turn {
            Turn::Fiber(body) => Some(body.take()),
            Turn::Retire => Some(None),
            Turn::Worker(_) => None,
        };
        let mut body = self.wait(next);
        while let Some(Unshared(armed)) = body {
            body::run(armed);
            body = self.pass(Turn::Worker(State::Finished), next);
        }
    }
}

impl Fiber for OsThreadFiber {
    const IS_REUSABLE: bool = false;

    fn new(stack_bytes: usize) -> Self {
        let baton = Arc::new(Baton { turn: Mutex::new(Turn::Worker(State::Finished)), passed: Condvar::new() });
        let shared = Arc::clone(&baton);
        let watch = worker::inherit();
        let thread = thread::Builder::new()
            .name(thread::current().name().unwrap_or("model").to_owned())
            .stack_size(stack_bytes)
            .spawn(move || {
                let _watch = watch.adopt();
                shared.run_bodies();
            })
            .expect("no OS thread for a model thread");
        OsThreadFiber { baton, armed: Cell::new(None), thread }
    }

    fn arm(&self, body: Body) {
        self.armed.set(Some(body));
    }

    unsafe fn resume(&self) -> State {
        assert!(BATON.get().is_null(), "a fiber cannot resume another");
        self.baton.pass(Turn::Fiber(self.armed.take().map(Unshared)), |turn| match turn {
            Turn::Worker(state) => Some(*state),
            Turn::Fiber(_) | Turn::Retire => None,
        })
    }

    fn suspend() {
        let baton = BATON.get();
        assert!(!baton.is_null(), "no fiber is running");
        // SAFETY: `run_bodies` borrows the baton for as long as the thread runs bodies, and one of them is calling.
        let baton = unsafe { &*baton };
        baton.pass(Turn::Worker(State::Suspended), |turn| matches!(turn, Turn::Fiber(_)).then_some(()));
    }

    fn retire(self) {
        *self.baton.turn.lock().unwrap_or_else(PoisonError::into_inner) = Turn::Retire;
        self.baton.passed.notify_all();
        self.thread.join().expect("the loop of a fiber does not panic");
    }

    fn running_guard() -> Range<usize> {
        // The operating system guards the stacks of its own threads, and std reports their overflow.
        0..0
    }
}
