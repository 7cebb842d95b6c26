//! Two daemons claim one socket; the program is the one of the example `socket_claim`.

use std::path::Path;

use interleave::thread;

use crate::expect::{clean, panics};

/// What the daemon uses.
mod lib {
    pub(crate) use interleave::fs;
    pub(crate) use interleave::os::unix::net::{UnixListener, UnixStream};
}

#[path = "../../examples/socket_claim/daemon.rs"]
mod daemon;

use daemon::Startup;

fn daemons(count: usize, how: Startup, debris: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let directory = Path::new("/run");
        if debris {
            daemon::leave_debris(directory);
        }
        let started: Vec<_> =
            (1..=count).map(|number| thread::spawn(move || daemon::start(how, directory, number))).collect();
        let serving: Vec<_> = started.into_iter().filter_map(|daemon| daemon.join().unwrap()).collect();
        daemon::check(directory, &serving).unwrap();
    }
}

/// The program as it was.
pub(crate) fn buggy() -> Box<dyn Fn() + Send + Sync> {
    Box::new(daemons(2, Startup::Original, false))
}

#[test]
fn the_original_without_debris() {
    panics("2 daemons serve", 1, daemons(2, Startup::Original, false));
}

#[test]
fn the_original_with_debris() {
    panics("2 daemons serve", 1, daemons(2, Startup::Original, true));
}

#[test]
fn binding_first_without_debris() {
    panics("2 daemons serve", 1, daemons(2, Startup::BindFirst, false));
}

#[test]
fn binding_first_with_debris() {
    panics("2 daemons serve", 1, daemons(2, Startup::BindFirst, true));
}

#[test]
fn a_lock_released_before_listen_without_debris() {
    panics("2 daemons serve", 1, daemons(2, Startup::LockTooShort, false));
}

#[test]
fn a_lock_released_before_listen_with_debris() {
    panics("2 daemons serve", 1, daemons(2, Startup::LockTooShort, true));
}

#[test]
fn renaming_over_the_path_without_debris() {
    panics("2 daemons serve", 1, daemons(2, Startup::RenameOver, false));
}

#[test]
fn renaming_over_the_path_with_debris() {
    panics("2 daemons serve", 1, daemons(2, Startup::RenameOver, true));
}

/// Who makes the lock file, and who locks it first.
#[test]
fn a_lock_held_until_listen_two_daemons() {
    clean(4, daemons(2, Startup::Locked, false));
    clean(4, daemons(2, Startup::Locked, true));
}

/// Who makes the lock file, and the order of the locks: 3 x 3!.
#[test]
fn a_lock_held_until_listen_three_daemons() {
    clean(18, daemons(3, Startup::Locked, false));
    clean(18, daemons(3, Startup::Locked, true));
}
