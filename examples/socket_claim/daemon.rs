//! How a daemon claims its socket when it starts: at most one is to serve, and whoever connects to the path must reach it.
//!
//! The same source is compiled against std and against the checker's types: see `lib` in the modules that include it.

use std::io::{self, ErrorKind};
use std::path::Path;

use super::lib::{UnixListener, UnixStream, fs};

/// A way to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Startup {
    /// Nobody answers? Remove what is there, and bind.
    Original,
    /// Bind first, and look only if that fails.
    BindFirst,
    /// Look and remove under a lock, which is released before the socket listens.
    LockTooShort,
    /// Bind and listen under another name, and rename that over the path.
    RenameOver,
    /// Under a lock from the first look until the socket listens.
    Locked,
}

/// Starts daemon `number` in `directory`: its listener, or `None` if another daemon serves already.
pub(crate) fn start(how: Startup, directory: &Path, number: usize) -> Option<UnixListener> {
    let socket = directory.join("sock");
    match how {
        Startup::Original => {
            if is_served(&socket) {
                return None;
            }
            remove(&socket);
            bind(&socket)
        }
        Startup::BindFirst => {
            if let Some(listener) = bind(&socket) {
                return Some(listener);
            }
            if is_served(&socket) {
                return None;
            }
            remove(&socket);
            bind(&socket)
        }
        Startup::LockTooShort => {
            let lock = fs::File::create(directory.join("sock.lock")).expect("a lock file");
            lock.lock().expect("flock");
            if is_served(&socket) {
                return None;
            }
            remove(&socket);
            drop(lock);
            bind(&socket)
        }
        Startup::RenameOver => {
            if is_served(&socket) {
                return None;
            }
            let own = directory.join(format!("sock.{number}"));
            let listener = bind(&own)?;
            fs::rename(own, socket).expect("nobody else uses this name");
            Some(listener)
        }
        Startup::Locked => {
            // Never deleted: a lock file that goes away makes two locks.
            let lock = fs::File::create(directory.join("sock.lock")).expect("a lock file");
            lock.lock().expect("flock");
            if is_served(&socket) {
                return None;
            }
            remove(&socket);
            let listener = bind(&socket);
            drop(lock);
            listener
        }
    }
}

/// Leaves a socket file that nobody listens on, as a daemon that crashed does.
pub(crate) fn leave_debris(directory: &Path) {
    drop(UnixListener::bind(directory.join("sock")).expect("the directory is empty"));
}

/// Whether exactly one of the daemons that ran serves, and is the one that the path leads to. Says what is wrong if not.
pub(crate) fn check(directory: &Path, serving: &[UnixListener]) -> Result<(), String> {
    let [listener] = serving else {
        return Err(format!("{} daemons serve", serving.len()));
    };
    listener.set_nonblocking(true).expect("a listener can be made non-blocking");
    // What the other daemons left when they looked.
    while listener.accept().is_ok() {}
    let socket = directory.join("sock");
    let client =
        UnixStream::connect(socket).map_err(|error| format!("one daemon serves, but a client gets: {error}"))?;
    let reached = listener.accept();
    drop(client);
    reached.map(drop).map_err(|_| "one daemon serves, but clients reach somebody else".into())
}

fn is_served(socket: &Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

fn remove(socket: &Path) {
    match fs::remove_file(socket) {
        Err(error) if error.kind() != ErrorKind::NotFound => panic!("{error}"),
        _ => {}
    }
}

fn bind(socket: &Path) -> Option<UnixListener> {
    match UnixListener::bind(socket) {
        Ok(listener) => Some(listener),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => None,
        Err(error) => panic!("{error}"),
    }
}
