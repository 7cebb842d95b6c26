//! Waking a thread from anywhere, a signal handler included.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::process;
use std::time::Duration;

/// One thread waits, another rings once. A pipe, because writing a byte to one is among the few things that are allowed
/// in a signal handler, on every platform.
pub(super) struct Doorbell {
    reader: PipeReader,
    writer: PipeWriter,
}

impl Doorbell {
    pub(super) fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        Ok(Doorbell { reader, writer })
    }

    /// Returns once somebody has called [`ring`](Self::ring), and never unwinds.
    pub(super) fn wait(&self) {
        if let Err(error) = (&self.reader).read_exact(&mut [0]) {
            // `self` holds both ends, so somebody has closed a descriptor that is not theirs. The worker is still using
            // what it borrowed from this thread: there is no way on.
            eprintln!("interleave: the pipe to the worker is gone: {error}");
            process::abort();
        }
    }

    /// The same, for at most this time; false when it is over. Where there is no way to do that, waits for as long as it takes.
    pub(super) fn wait_for(&self, time: Duration) -> bool {
        #[cfg(all(unix, not(miri)))]
        {
            use std::os::fd::AsRawFd;
            let mut reader = libc::pollfd { fd: self.reader.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            let time = libc::c_int::try_from(time.as_millis()).unwrap_or(libc::c_int::MAX);
            // SAFETY: the pointer is to one descriptor, which is open as long as `self` is.
            if unsafe { libc::poll(&raw mut reader, 1, time) } <= 0 {
                return false;
            }
        }
        let _ = time;
        self.wait();
        true
    }

    /// Async-signal-safe: this is a bare `write` of one byte, which has room in an empty pipe.
    pub(super) fn ring(&self) {
        // There is nobody to tell about an error, and no way to get one: the read end is open as long as `self` is.
        let _ = (&self.writer).write(&[1]);
    }
}
