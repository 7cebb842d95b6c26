//! The daemons under the checker.

use std::fmt;
use std::path::Path;

use interleave::{Builder, Report, thread};

/// What the daemon uses.
mod lib {
    pub(crate) use interleave::fs;
    pub(crate) use interleave::os::unix::net::{UnixListener, UnixStream};
}

#[path = "daemon.rs"]
mod daemon;

pub(crate) use daemon::Startup;

/// What is at the path when the daemons start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing.
    Nothing,
    /// A socket file without a daemon.
    Debris,
}

impl fmt::Display for Before {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Before::Nothing => "without debris",
            Before::Debris => "with debris",
        })
    }
}

/// Explores `daemons` that start at the same time.
pub(crate) fn explore(builder: Builder, how: Startup, before: Before, daemons: usize) -> Report {
    builder.explore(move || {
        let directory = Path::new("/run");
        if before == Before::Debris {
            daemon::leave_debris(directory);
        }
        let started: Vec<_> = (1..=daemons)
            .map(|number| {
                let body = move || daemon::start(how, directory, number);
                thread::Builder::new().name(format!("daemon {number}")).spawn(body).expect("threads can be spawned")
            })
            .collect();
        let serving: Vec<_> =
            started.into_iter().filter_map(|daemon| daemon.join().expect("no daemon panics")).collect();
        if let Err(wrong) = daemon::check(directory, &serving) {
            panic!("{wrong}");
        }
    })
}
