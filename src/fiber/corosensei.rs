//! Fibers from the crate `corosensei`.
//!
//! ```text
//!   high addresses   +----------------------------+  <- `base`
//!                    | frames: loop, body, ..     |
//!                    |            |               |
//!                    |            v               |
//!                    +----------------------------+
//!   low addresses    | guard page, no access      |
//!                    +----------------------------+  <- `limit`
//! ```
//!
//! Its switch is a jump in inline assembly that saves what the compiler says is live, and it touches neither signals
//! nor the panic hook. Dropping a suspended coroutine unwinds it: so it is never dropped, only leaked.

use std::cell::{Cell, UnsafeCell};
use std::ops::Range;
use std::ptr;

use ::corosensei::stack::{DefaultStack, Stack};
use ::corosensei::{Coroutine, CoroutineResult, Yielder};

use super::body::{self, Body};
use super::{Fiber, State};

thread_local! {
    /// The fiber that runs on this OS thread; null on the worker's own stack.
    static RUNNING: Cell<*const CorosenseiFiber> = const { Cell::new(ptr::null()) };
}

/// How far above `limit` a fault counts as overflow: the guard page, whose size is at least this.
const GUARD_BYTES: usize = 4096;

/// How far below `limit` it still does: frames of foreign code may skip pages without probing them.
const SKIP_BYTES: usize = 64 << 10;

/// A coroutine that runs one body after another and yields why it stopped.
pub(crate) struct CorosenseiFiber {
    coroutine: UnsafeCell<Coroutine<(), State, (), DefaultStack>>,
    /// The body for the next round of the loop.
    armed: Cell<Option<Body>>,
    /// Lives at the base of the fiber's own stack; null before the first `resume`.
    yielder: Cell<*const Yielder<(), State>>,
    /// The lowest address of the guard page.
    limit: usize,
}

impl CorosenseiFiber {
    #[inline]
    fn running() -> *const CorosenseiFiber {
        let fiber = RUNNING.get();
        assert!(!fiber.is_null(), "no fiber is running");
        fiber
    }

    /// The loop: the bottom frame of every fiber, which ends when it is resumed without a body.
    fn run_bodies(yielder: &Yielder<(), State>) {
        loop {
            // SAFETY: 1. `resume` set `RUNNING` to a borrowed fiber and does not return before this fiber suspends.
            // 2. The reference ends before the body runs.
            let fiber = unsafe { &*Self::running() };
            fiber.yielder.set(yielder);
            let Some(body) = fiber.armed.take() else { return };
            body::run(body);
            yielder.suspend(State::Finished);
        }
    }
}

impl Fiber for CorosenseiFiber {
    fn new(stack_bytes: usize) -> Self {
        let stack = DefaultStack::new(stack_bytes).expect("no memory for the stack of a model thread");
        let limit = stack.limit().get();
        let coroutine = Coroutine::with_stack(stack, |yielder: &Yielder<(), State>, ()| Self::run_bodies(yielder));
        CorosenseiFiber {
            coroutine: UnsafeCell::new(coroutine),
            armed: Cell::new(None),
            yielder: Cell::new(ptr::null()),
            limit,
        }
    }

    #[inline]
    fn arm(&self, body: Body) {
        self.armed.set(Some(body));
    }

    #[inline(always)]
    unsafe fn resume(&self) -> State {
        assert!(RUNNING.get().is_null(), "a fiber cannot resume another");
        RUNNING.set(self);
        // SAFETY: 1. The caller says that this fiber is not running, so no other reference to the coroutine exists; the
        // code on the fiber reaches the resumer only through the yielder, which is not part of the coroutine.
        // 2. `RUNNING` keeps any `resume` from being called before this one is over.
        let result = unsafe { (*self.coroutine.get()).resume(()) };
        RUNNING.set(ptr::null());
        match result {
            CoroutineResult::Yield(state) => state,
            CoroutineResult::Return(()) => State::Finished,
        }
    }

    #[inline(always)]
    fn suspend() {
        let fiber = Self::running();
        // SAFETY: 1. `resume` borrows the fiber for as long as `RUNNING` points to it.
        // 2. The loop of the running fiber stored `yielder` before it ran the body that is calling, and it lives at the
        // base of the stack that is in use.
        // 3. A `Yielder` is only used by shared reference.
        unsafe { (*(*fiber).yielder.get()).suspend(State::Suspended) };
    }

    fn retire(self) {
        if !self.yielder.get().is_null() {
            // SAFETY: the fiber is idle, so it waits in its loop; without a body the loop returns at once.
            unsafe { self.resume() };
        }
    }

    fn running_guard() -> Range<usize> {
        let fiber = RUNNING.get();
        if fiber.is_null() {
            return 0..0;
        }
        // SAFETY: `resume` borrows the fiber for as long as `RUNNING` points to it, and `limit` never changes.
        let limit = unsafe { (*fiber).limit };
        limit - SKIP_BYTES..limit + GUARD_BYTES
    }
}
