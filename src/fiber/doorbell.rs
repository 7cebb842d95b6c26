//! Waking a thread from anywhere, a signal handler included.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::process;

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

    /// Async-signal-safe: this is a bare `write` of one byte, which has room in an empty pipe.
    pub(super) fn ring(&self) {
        // There is nobody to tell about an error, and no way to get one: the read end is open as long as `self` is.
        let _ = (&self.writer).write(&[1]);
    }
}
