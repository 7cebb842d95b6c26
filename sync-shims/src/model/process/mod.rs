//! Stands in for `std::process`: within a model, simulated processes.
//!
//! A simulated process runs a closure, on a thread of its own. It has a process id, its own descriptors (those in the closure,
//! and those it opens), and the threads that it starts. All else, files and sockets above all, it shares with the other
//! processes of the model. It must not share memory with them: what the closure captures is its own, and so are its `static`s, which
//! are as the program was loaded.
//!
//! A process ends when its closure returns, at [`exit`] or [`abort`], or when it is killed; and before any of its operations
//! if it is [`crashable`](Builder::crashable) and the model's budget of crashes allows. However it ends, its descriptors are
//! closed; unless the closure returns, no destructor of the program runs for that. What its threads own is dropped after the
//! end of the execution, when the types of this crate do nothing any more.
//!
//! A process that is over keeps its id until its parent has waited for it: to [`is_alive`] it is alive. If the parent is gone
//! too, nobody need wait.
//!
//! Not there: programs (`Command`) and their input and output, signals other than SIGKILL.

mod child;
mod spawn;
mod status;

pub use child::Child;
pub use spawn::{Builder, spawn};
pub use status::{ExitStatus, Termination};
pub use std::process::ExitCode;

use std::io;
use std::panic::{Location, resume_unwind};

use super::world::{self, Errno, OrInert, enter};

/// Stands in for [`std::process::id`]. Within a model the body's is 1000, and a simulated process's is the same in every
/// execution, unless it is one that is given out again.
#[track_caller]
pub fn id() -> u32 {
    enter(Location::caller(), |call| call.map_or_else(std::process::id, world::id))
}

/// Stands in for [`std::process::exit`]: ends the simulated process of the running thread with all its threads. No
/// destructor runs.
///
/// # Panics
///
/// In the body of a model, which is no simulated process, it fails the model.
#[track_caller]
pub fn exit(code: i32) -> ! {
    enter(Location::caller(), |call| match call {
        None => std::process::exit(code),
        Some(call) => over(world::exit(call, world::ExitCode::exited(code))),
    })
}

/// Stands in for [`std::process::abort`]: as [`exit`], and the status says that SIGABRT ended the process.
///
/// # Panics
///
/// In the body of a model, which is no simulated process, it fails the model.
#[track_caller]
pub fn abort() -> ! {
    enter(Location::caller(), |call| match call {
        None => std::process::abort(),
        Some(call) => over(world::exit(call, world::ExitCode::signalled(world::ABORTED))),
    })
}

/// The execution is over, and the thread was in the middle of unwinding when it ended its process.
fn over(_: world::Sys<()>) -> ! {
    resume_unwind(Box::new("the process has ended"))
}

/// Whether there is a process with this id, as `kill(pid, 0)` tells: also one that is over and was not waited for yet. Process
/// id 0 means the caller's own process group, so it is always alive.
///
/// Outside a model it asks the operating system; a process of another user is alive.
#[track_caller]
pub fn is_alive(pid: u32) -> bool {
    enter(Location::caller(), |call| match call {
        None => real::signal(pid, 0).map_or_else(|error| error.raw_os_error() == Some(Errno::PERM.0), |()| true),
        Some(call) => world::is_alive(call, pid).or_inert(|| false).unwrap_or(false),
    })
}

/// Sends SIGKILL to a process: kill(2). It ends at one of its next operations, wherever its threads are, without running
/// anything of its own; use [`Child::wait`] to wait for that.
///
/// # Errors
///
/// ESRCH if there is no process with this id.
///
/// # Panics
///
/// The process of the model's body cannot be killed: that fails the model.
#[track_caller]
pub fn kill(pid: u32) -> io::Result<()> {
    const SIGKILL: i32 = 9;
    enter(Location::caller(), |call| match call {
        None => real::signal(pid, SIGKILL),
        Some(call) => world::kill(call, pid).or_inert(|| ()),
    })
}

/// The real kill(2), which std has no function for.
#[cfg(unix)]
mod real {
    use std::io;

    unsafe extern "C" {
        // SAFETY: 1. It has this signature on every Unix, and works on no memory.
        safe fn kill(pid: i32, signal: i32) -> i32;
    }

    pub(super) fn signal(pid: u32, signal: i32) -> io::Result<()> {
        let Ok(pid) = i32::try_from(pid) else { return Err(io::Error::from_raw_os_error(super::Errno::SRCH.0)) };
        if kill(pid, signal) == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
