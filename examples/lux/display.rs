//! How a display server starts: it must find out whether there is a display already, and claim its socket if not.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use interleave::fs::{self, File};
use interleave::ghost;
use interleave::os::unix::net::{UnixListener, UnixStream};
use interleave::process;

const SOCKET: &str = "/run/lux.sock";
const PID_FILE: &str = "/run/lux.pid";
const LOCK: &str = "/run/lux.lock";

/// How a server finds out whether another one lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Liveness {
    /// A file says its process id, and there is a process with this id.
    PidFile,
    /// It answers at its socket. Nothing keeps others from looking meanwhile.
    Probe,
    /// The same, under a lock from the look until the socket listens.
    GuardedProbe,
}

/// What a probe comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nobody listens.
    Dead,
    /// Somebody listens, and has not said that it is ready.
    Accepting,
    /// Somebody has said that it is ready.
    Ready,
}

/// What the specification knows of displays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Life {
    /// Those that are past the point of claiming.
    pub(crate) displays: u32,
    /// Those that have found nobody, since the last one was gone.
    pub(crate) starts: u32,
    /// Those that have found somebody, since then.
    pub(crate) gave_up: u32,
}

/// The two rules.
pub(crate) fn rules() -> ghost::State<Life> {
    ghost::State::new(Life::default())
        .invariant("at most one display is past the point of claiming", |life| life.displays <= 1)
        .invariant("nobody gives up if there is no display", |life| life.gave_up == 0 || life.starts > 0)
}

/// Runs a display server from its start to its end, unless there is one.
pub(crate) fn run(liveness: Liveness, life: &ghost::State<Life>) {
    let guard = (liveness == Liveness::GuardedProbe).then(|| {
        let lock = File::create(LOCK).expect("a lock file");
        lock.lock().expect("flock");
        lock
    });
    let alive = match liveness {
        Liveness::PidFile => pid_file_says(),
        Liveness::Probe | Liveness::GuardedProbe => probe() != State::Dead,
    };
    if alive {
        life.update(|life| life.gave_up += 1);
        return;
    }
    life.update(|life| life.starts += 1);
    if let Err(error) = fs::remove_file(SOCKET) {
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
    if liveness == Liveness::PidFile {
        fs::write(PID_FILE, process::id().to_string()).expect("a file");
    }
    let Ok(listener) = UnixListener::bind(SOCKET) else {
        life.update(|life| life.gave_up += 1);
        return;
    };
    life.update(|life| life.displays += 1);
    drop(guard);
    answer(&listener);
    life.update(|life| life.displays -= 1);
}

fn pid_file_says() -> bool {
    let pid = fs::read_to_string(PID_FILE).ok().and_then(|pid| pid.parse().ok());
    pid.is_some_and(process::is_alive)
}

fn probe() -> State {
    let Ok(mut stream) = UnixStream::connect(SOCKET) else { return State::Dead };
    stream.set_read_timeout(Some(Duration::from_secs(1))).expect("it is not zero");
    match stream.read(&mut [0]) {
        Ok(1) => State::Ready,
        Err(error) if error.kind() == ErrorKind::WouldBlock => State::Accepting,
        // It has gone meanwhile.
        Ok(_) | Err(_) => State::Dead,
    }
}

/// Says that the display is ready to those who ask now.
fn answer(listener: &UnixListener) {
    listener.set_nonblocking(true).expect("a listener can be made non-blocking");
    while let Ok((mut client, _)) = listener.accept() {
        // Who asks may have gone.
        let _ = client.write_all(b"R");
    }
}
