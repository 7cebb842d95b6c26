//! Model threads as *fibers*: stacks that take turns on one OS thread, and the OS threads they run on.
//!
//! Everything outside this folder says [`Pool`], [`suspend`] and [`run_on_worker`]; only the backends name a coroutine
//! crate.
//!
//! ```text
//!   test thread             worker (OS thread)                     fibers (each its own stack, all on the worker)
//!   -----------             ------------------                     ----------------------------------------------
//!   run_on_worker(f) -----> f(): the controller
//!   | blocks on the         |  h = pool.start(body)                idle: a loop that waits for a body
//!   | doorbell              |  pool.resume(h)  ------------------> body begins
//!   |                       |        Suspended <------------------ suspend()
//!   |                       |  pool.resume(h)  ------------------> suspend() returns
//!   |                       |        Finished  <------------------ body returns; the fiber is idle again, stack kept
//!   | <- ring: finished --- |
//!   |
//!   | <- ring: abandoned -- a fault, or `abandon_worker`: the worker is parked for ever, nothing on it unwinds
//! ```
//!
//! Control only ever goes between a worker and one of its fibers, never from fiber to fiber. While a switch is under
//! way no `&mut` to anything that both sides can reach exists: the state of the pool is in cells.
//!
//! | file | the one thing it knows |
//! |---|---|
//! | `body` | what a fiber runs, and that no panic leaves it |
//! | `pool` | which fibers are idle, armed, suspended or running |
//! | `generator`, `corosensei` | a coroutine crate |
//! | `os_thread` | fibers as OS threads that pass a baton: for Miri, sanitizers, and targets without a coroutine crate |
//! | `worker` | the OS thread that a model runs on, and how its owner learns of the end |
//! | `pulse` | what the owner of a worker sees of it while it is at work |
//! | `doorbell` | waking a thread from inside a signal handler |
//! | `note` | a text that may be read in the middle of a crash |
//! | `crash` | Unix signals: stack overflow is survived, other faults are described; `no_crash` elsewhere |

mod body;
#[cfg(all(feature = "corosensei", not(miri), any(test, not(feature = "os-threads"))))]
mod corosensei;
#[cfg(all(unix, not(miri)))]
mod crash;
#[cfg(not(all(unix, not(miri))))]
#[path = "no_crash.rs"]
mod crash;
mod doorbell;
#[cfg(all(feature = "generator", not(miri), any(test, not(any(feature = "corosensei", feature = "os-threads")))))]
mod generator;
mod note;
#[cfg(any(test, miri, feature = "os-threads", not(any(feature = "generator", feature = "corosensei"))))]
mod os_thread;
mod pool;
mod pulse;
mod worker;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub(crate) use self::body::Body;
#[cfg(any(test, unix))]
pub(crate) use self::pool::Pool;
pub(crate) use self::pool::{Handle, Lease};
pub(crate) use self::pulse::Pulse;
pub(crate) use self::worker::{Abandoned, Cause, in_fatal_section, last_words, pulse, run_on_worker, while_unwinding};
#[allow(unused_imports, reason = "for controllers that need them")]
pub(crate) use self::{
    note::Note,
    worker::{abandon_worker, with_note},
};

// OS threads win over the coroutine crates when they are asked for, so that `--features os-threads` is enough, whatever
// the default features are. Miri cannot follow a switch of stacks at all.
#[cfg(all(feature = "corosensei", not(feature = "os-threads"), not(miri)))]
pub(crate) use self::corosensei::CorosenseiFiber as Backend;
#[cfg(all(feature = "generator", not(feature = "corosensei"), not(feature = "os-threads"), not(miri)))]
pub(crate) use self::generator::GeneratorFiber as Backend;
#[cfg(any(miri, feature = "os-threads", not(any(feature = "generator", feature = "corosensei"))))]
pub(crate) use self::os_thread::OsThreadFiber as Backend;

/// Whether each fiber is an OS thread of its own, with its own thread-locals.
pub(crate) const ON_OS_THREADS: bool =
    cfg!(any(miri, feature = "os-threads", not(any(feature = "generator", feature = "corosensei"))));

/// Why a fiber gave control back to whoever resumed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It called [`suspend`].
    Suspended,
    /// Its body returned. The handle is used up.
    Finished,
}

/// One fiber of a backend: a stack and a loop on it that runs one body after another.
///
/// [`Pool`] keeps the order of calls: `new, (arm, resume.. until Finished)*, retire`. A fiber that is dropped at any
/// other point must be leaked instead: its frames may be borrowed by others and are never unwound behind their back.
pub(crate) trait Fiber: Sized + 'static {
    /// Whether a fiber of one model may be used by the next one on the same OS thread.
    const IS_REUSABLE: bool = true;

    /// An idle fiber. Its stack has at least `stack_bytes` bytes; panics if the memory cannot be had.
    fn new(stack_bytes: usize) -> Self;

    /// Hands an idle fiber the body that its next `resume` begins.
    fn arm(&self, body: Body);

    /// Runs the fiber until it suspends or its body returns.
    ///
    /// # Safety
    ///
    /// The fiber is armed or suspended, it is not running, and this is the OS thread that made it, on no fiber itself.
    unsafe fn resume(&self) -> State;

    /// Gives control back from the running fiber to its resumer; returns when it is resumed.
    fn suspend();

    /// Ends an idle fiber and frees its stack.
    fn retire(self);

    /// Gives up a suspended fiber: nothing on its stack is dropped or unwound. Backends that can free the stack.
    ///
    /// # Safety
    ///
    /// Nothing uses what is on the stack any more.
    unsafe fn discard(self) {
        std::mem::forget(self);
    }

    /// The addresses whose access means that the running fiber has used up its stack; empty when no fiber is running or
    /// the backend leaves that to the operating system. Async-signal-safe.
    fn running_guard() -> Range<usize>;
}

/// Gives control from the running fiber back to whoever resumed it; returns when the fiber is resumed.
///
/// A panicking thread must not suspend: the count of panics belongs to the OS thread, so the next fiber would seem to
/// be panicking too.
#[inline(always)]
pub(crate) fn suspend() {
    debug_assert!(!std::thread::panicking(), "a panicking fiber must not suspend");
    Backend::suspend();
}

/// As [`suspend`], for a fiber that is unwinding from a panic and cannot go on: a destructor waits for another thread.
/// Until it is resumed, `std::thread::panicking` is true on all fibers of this OS thread, which the caller has to make
/// up for.
pub(crate) fn suspend_while_panicking() {
    Backend::suspend();
}
