//! `process::exit` in the body of a model ends the process without a report: at least it says so, and the process fails.
//!
//! The platform does not let the test go on. `exit` cannot be unwound out of, and its thread is known as the one that ends the
//! process: whoever calls `exit` later, as a test harness does, would wait for it for ever.

#[cfg(all(unix, not(miri)))]
mod unix {
    use std::io::Write;
    use std::sync::Once;

    use super::super::hook;

    /// The code that a process with a failed test ends with.
    const FAILED: i32 = 101;

    /// Runs on the thread that called `exit`.
    extern "C" fn at_exit() {
        if hook::is_on_fiber() {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or("unnamed");
            // Not `eprintln`: what a test prints is captured, and lost when the process ends.
            let _ = writeln!(
                std::io::stderr(),
                "\nerror[interleave::outside]: `process::exit` was called while the model `{name}` was running, so the whole \
                 process ends: return from the body instead, or use `interleave::process`"
            );
            // With the code that the program has given, 0 for example, the tests that have not run would count as passed.
            // SAFETY: 1. It ends the process, whatever state that is in.
            unsafe { libc::_exit(FAILED) };
        }
    }

    /// Installs the message, once per process.
    pub(crate) fn watch() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: 1. `at_exit` has the signature that `atexit` asks for. 2. It does not unwind: it calls nothing that
            // panics, and ignores errors.
            unsafe { libc::atexit(at_exit) };
        });
    }
}

#[cfg(all(unix, not(miri)))]
pub(crate) use unix::watch;

/// Nothing is known about exits here.
#[cfg(not(all(unix, not(miri))))]
pub(crate) fn watch() {}
