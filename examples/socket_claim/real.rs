//! The same daemons on real sockets.

use std::path::Path;
use std::sync::Barrier;
use std::thread;

/// What the daemon uses.
mod lib {
    pub(crate) use std::fs;
    pub(crate) use std::os::unix::net::{UnixListener, UnixStream};
}

#[path = "daemon.rs"]
mod daemon;

pub(crate) use daemon::Startup;

/// Starts two daemons at the same time in `directory`, which is empty or has debris in it: what is wrong afterwards, if
/// anything.
pub(crate) fn run_once(how: Startup, directory: &Path, debris: bool) -> Result<(), String> {
    if debris {
        daemon::leave_debris(directory);
    }
    let ready = Barrier::new(2);
    let serving: Vec<_> = thread::scope(|scope| {
        let start = |number| {
            ready.wait();
            daemon::start(how, directory, number)
        };
        let started = [1, 2].map(|number| scope.spawn(move || start(number)));
        started.into_iter().filter_map(|daemon| daemon.join().expect("no daemon panics")).collect()
    });
    daemon::check(directory, &serving)
}
