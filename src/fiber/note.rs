//! A text that may be read in the middle of a crash.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering, compiler_fence};

/// Bytes kept; what goes beyond is cut off.
const CAPACITY: usize = 16 << 10;

/// What a worker is doing, rendered beforehand so that it can be read where nothing may be computed any more: by the
/// worker's own signal handler, or by the thread that waits for a worker which has stopped in the middle of anything.
///
/// One thread at a time writes it: the worker, or the fiber that it is running.
pub(crate) struct Note {
    /// Made when there is something to note.
    bytes: OnceLock<Box<[AtomicU8]>>,
    len: AtomicUsize,
}

#[allow(dead_code, reason = "a note is optional")]
impl Note {
    pub(super) fn new() -> Self {
        Note { bytes: OnceLock::new(), len: AtomicUsize::new(0) }
    }

    /// How much of the text there is, for a later [`truncate`](Self::truncate).
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Takes back everything that was added after the text had this length.
    pub(crate) fn truncate(&self, len: usize) {
        self.len.store(len.min(self.len()), Ordering::Relaxed);
    }

    /// Adds text at the end.
    pub(crate) fn push(&self, text: &[u8]) {
        let start = self.len();
        let bytes = self.bytes.get_or_init(|| (0..CAPACITY).map(|_| AtomicU8::new(0)).collect());
        let room = &bytes[start..];
        let added = room.len().min(text.len());
        for (slot, byte) in room.iter().zip(text) {
            slot.store(*byte, Ordering::Relaxed);
        }
        // A signal handler runs on this very thread, so the order of the program is all it needs.
        compiler_fence(Ordering::Release);
        self.len.store(start + added, Ordering::Relaxed);
    }

    /// The text. Async-signal-safe.
    pub(super) fn as_atomics(&self) -> &[AtomicU8] {
        self.bytes.get().map_or(&[], |bytes| &bytes[..self.len()])
    }

    /// A copy of the text.
    pub(super) fn to_vec(&self) -> Vec<u8> {
        self.as_atomics().iter().map(|byte| byte.load(Ordering::Relaxed)).collect()
    }
}
