//! Fibers from the crate `generator`.
//!
//! ```text
//!   high addresses   +----------------------------+
//!                    | the generator itself       |  <- `into_raw`: less than a page below the top
//!                    | frames: loop, body, ..     |
//!                    |            |               |
//!                    |            v               |
//!                    +----------------------------+  <- top - `stack_usage().0` words
//!   low addresses    | guard page, no access      |
//!                    +----------------------------+
//! ```
//!
//! Three habits of that crate matter here. Dropping a suspended generator unwinds it with a panic: so it is never
//! dropped, only leaked. Making the first one installs handlers for SIGSEGV and SIGBUS that print a backtrace with
//! locks held, and running the first one wraps the panic hook: `crash` makes one early and puts its own handlers on
//! top. And it leaves `call` and `ret` unpaired in a switch, so that the processor mispredicts about two returns for
//! each round trip.

use std::cell::{Cell, UnsafeCell};
use std::mem;
use std::ops::Range;
use std::ptr;

use ::generator::{Gn, LocalGenerator, Scope};

use super::body::{self, Body};
use super::{Fiber, State};

thread_local! {
    /// The fiber that runs on this OS thread; null on the worker's own stack.
    static RUNNING: Cell<*const GeneratorFiber> = const { Cell::new(ptr::null()) };
}

/// The crate tracks the use of a stack word by word, touching all of it, if its size is an odd number of words.
const STACK_UNIT_WORDS: usize = 2;

/// The top of a stack is the next multiple of this above the generator: it is page-aligned, pages have at least this
/// size, and the generator, the first thing on its stack, is smaller.
const TOP_ALIGN: usize = 4096;

/// How far below a stack a fault still counts as its overflow: one page of guard, and some for frames of foreign code
/// that skips pages without probing them.
const GUARD_BYTES: usize = 64 << 10;

/// A local generator that runs one body after another and yields why it stopped.
pub(crate) struct GeneratorFiber {
    generator: UnsafeCell<LocalGenerator<'static, (), State>>,
    /// The body for the next round of the loop.
    armed: Cell<Option<Body>>,
    /// Lives in the frame of the loop, on the fiber's own stack; null before the first `resume`.
    scope: Cell<*mut Scope<'static, 'static, (), State>>,
    /// The lowest usable address.
    bottom: usize,
}

impl GeneratorFiber {
    fn running() -> *const GeneratorFiber {
        let fiber = RUNNING.get();
        assert!(!fiber.is_null(), "no fiber is running");
        fiber
    }

    /// The loop: the bottom frame of every fiber, which ends when it is resumed without a body.
    fn run_bodies(mut scope: Scope<'_, '_, (), State>) -> State {
        let scope: *mut Scope<'static, 'static, (), State> = (&raw mut scope).cast();
        loop {
            // SAFETY: 1. `resume` set `RUNNING` to a borrowed fiber and does not return before this fiber suspends.
            // 2. The reference ends before the body runs.
            let fiber = unsafe { &*Self::running() };
            fiber.scope.set(scope);
            let Some(body) = fiber.armed.take() else { return State::Finished };
            body::run(body);
            // SAFETY: `scope` is a local of this frame, and the only other user, `suspend`, is not active: the body is
            // over.
            unsafe { (*scope).yield_with(State::Finished) };
        }
    }
}

impl Fiber for GeneratorFiber {
    fn new(stack_bytes: usize) -> Self {
        let words = stack_bytes.div_ceil(size_of::<usize>()).next_multiple_of(STACK_UNIT_WORDS);
        let generator = Gn::<()>::new_scoped_opt_local(words, Self::run_bodies);
        let (total_words, _) = generator.stack_usage();
        let raw = generator.into_raw();
        // SAFETY: `raw` was made by `into_raw` in the line above, for the same type, and is turned back once.
        let generator = unsafe { LocalGenerator::from_raw(raw) };
        let bottom = raw.addr().next_multiple_of(TOP_ALIGN) - total_words * size_of::<usize>();
        GeneratorFiber {
            generator: UnsafeCell::new(generator),
            armed: Cell::new(None),
            scope: Cell::new(ptr::null_mut()),
            bottom,
        }
    }

    #[inline]
    fn arm(&self, body: Body) {
        self.armed.set(Some(body));
    }

    #[inline]
    unsafe fn resume(&self) -> State {
        assert!(RUNNING.get().is_null(), "a fiber cannot resume another");
        RUNNING.set(self);
        // SAFETY: 1. The caller says that this fiber is not running, so no other reference to the generator exists; the
        // code on the fiber reaches it only through the crate's own pointers.
        // 2. `RUNNING` keeps any `resume` from being called before this one is over.
        let state = unsafe { (*self.generator.get()).resume() };
        RUNNING.set(ptr::null());
        state.expect("the loop of a fiber ended")
    }

    #[inline]
    fn suspend() {
        let fiber = Self::running();
        // SAFETY: 1. `resume` borrows the fiber for as long as `RUNNING` points to it.
        // 2. The loop of the running fiber stored `scope` before it ran the body that is calling, so its frame is
        // below.
        // 3. The loop does not touch its scope while the body runs.
        unsafe { (*(*fiber).scope.get()).yield_with(State::Suspended) };
    }

    fn retire(self) {
        if !self.scope.get().is_null() {
            // SAFETY: the fiber is idle, so it waits in its loop; without a body the loop returns at once.
            unsafe { self.resume() };
        }
        let generator = self.generator.into_inner();
        let (total_words, used_words) = generator.stack_usage();
        if used_words == total_words {
            // A stack that was filled to the last word but not beyond: the crate would panic in `drop`.
            mem::forget(generator);
        }
    }

    #[cfg(unix)]
    unsafe fn discard(self) {
        let generator = self.generator.into_inner();
        let (total_words, _) = generator.stack_usage();
        mem::forget(generator);
        // SAFETY: 1. `sysconf` has no preconditions. 2. The stack and the page of guard below it are one mapping, which the
        // generator, now forgotten, would have unmapped. 3. The caller says that nothing uses it.
        unsafe {
            let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).expect("pages have a size");
            libc::munmap(ptr::without_provenance_mut(self.bottom - page), total_words * size_of::<usize>() + page);
        }
    }

    fn running_guard() -> Range<usize> {
        let fiber = RUNNING.get();
        if fiber.is_null() {
            return 0..0;
        }
        // SAFETY: `resume` borrows the fiber for as long as `RUNNING` points to it, and `bottom` never changes.
        let bottom = unsafe { (*fiber).bottom };
        bottom - GUARD_BYTES..bottom
    }
}
