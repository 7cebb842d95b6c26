//! Clients that start the server if nobody answers, under a lock. Whoever wins the lock must look again: the server may have
//! been started between the first look and the lock.

use std::path::Path;

use interleave::os::unix::net::{UnixListener, UnixStream};
use interleave::{fs, thread};

use crate::expect::{clean, panics};

/// What a client does once it has the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Winner {
    Starts,
    LooksAgain,
}

const SOCKET: &str = "/run/sock";
const LOCK: &str = "/run/sock.lock";

/// Makes sure that there is a server: the server, if this client has started it.
fn client(winner: Winner) -> Option<UnixListener> {
    loop {
        if UnixStream::connect(SOCKET).is_ok() {
            return None;
        }
        let lock = fs::File::create(LOCK).unwrap();
        if lock.try_lock().is_err() {
            // Somebody else is starting it: waits for him, and looks.
            lock.lock().unwrap();
            continue;
        }
        if winner == Winner::LooksAgain && UnixStream::connect(SOCKET).is_ok() {
            return None;
        }
        let _ = fs::remove_file(SOCKET);
        let server = UnixListener::bind(SOCKET).unwrap();
        drop(lock);
        return Some(server);
    }
}

fn clients(count: usize, winner: Winner) -> impl Fn() + Send + Sync + 'static {
    move || {
        let clients: Vec<_> = (0..count).map(|_| thread::spawn(move || client(winner))).collect();
        let servers: Vec<_> = clients.into_iter().filter_map(|client| client.join().unwrap()).collect();
        assert_eq!(servers.len(), 1, "servers started");
        assert!(fs::exists(Path::new(SOCKET)).unwrap());
    }
}

#[test]
fn the_winner_starts_a_second_server() {
    panics("servers started", 1, clients(2, Winner::Starts));
}

#[test]
fn the_winner_looks_again() {
    clean(14, clients(2, Winner::LooksAgain));
}
