//! What a fiber runs.

use std::mem;
use std::process;

/// The body of one model thread.
pub(crate) enum Body {
    /// A closure.
    Closure(Box<dyn FnOnce()>),
    /// `run(on, number)`: needs no allocation.
    Call { run: fn(*const (), u32), on: *const (), number: u32 },
}

/// Runs `body`, which must not unwind: every panic is the controller's business, and below this frame there is only a
/// coroutine crate that would carry the panic into the resumer, in the name of a fiber that can then never be resumed.
pub(super) fn run(body: Body) {
    let escape = Escape;
    match body {
        Body::Closure(closure) => closure(),
        Body::Call { run, on, number } => run(on, number),
    }
    mem::forget(escape);
}

/// Dropped only by a panic on its way out of a body.
struct Escape;

impl Drop for Escape {
    fn drop(&mut self) {
        eprintln!("interleave: internal error: a panic left the body of a model thread");
        process::abort();
    }
}
