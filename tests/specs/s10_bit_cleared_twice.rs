//! A read-write lock in one word, whose writers give up after a time. The bit that says "a writer is parked" is cleared by the
//! reader that found it, and subtracted by the writer that timed out: twice.

use std::time::Duration;

use interleave::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use interleave::sync::{Arc, Mutex};
use interleave::thread::{self, Thread};

use crate::expect::{clean, panics};

const READER: u32 = 4;
const WRITER: u32 = 1;
const PARKED: u32 = 2;

/// Where a writer that has timed out clears its bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clears {
    /// Together with the other one, when it leaves.
    Leaving,
    /// Under the lock of the queue, when it takes itself out of it.
    Queueing,
}

/// A parked writer.
#[derive(Clone)]
struct Waiter {
    thread: Thread,
    woken: Arc<AtomicBool>,
}

struct Lock {
    state: AtomicU32,
    queue: Mutex<Option<Waiter>>,
}

impl Lock {
    /// Takes the lock, or gives up after a time: whether it has the lock.
    fn write(&self, clears: Clears) -> bool {
        if self.state.fetch_or(WRITER, Ordering::AcqRel) < READER || !self.announce() {
            return true;
        }
        let Some(woken) = self.enqueue() else { return true };
        thread::park_timeout(Duration::from_secs(1));
        if woken.load(Ordering::Acquire) || !self.dequeue(clears) {
            return true;
        }
        let bits = match clears {
            Clears::Leaving => WRITER + PARKED,
            Clears::Queueing => WRITER,
        };
        let before = self.state.fetch_sub(bits, Ordering::AcqRel);
        assert_eq!(before & bits, bits, "bits that are not set were subtracted");
        false
    }

    /// Sets the bit for those readers who are still there: whether there are any.
    fn announce(&self) -> bool {
        let mut state = self.state.load(Ordering::Acquire);
        while state >= READER {
            match self.state.compare_exchange(state, state | PARKED, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
        false
    }

    /// Waits in the queue if there still are readers who will look there.
    fn enqueue(&self) -> Option<Arc<AtomicBool>> {
        let mut queue = self.queue.lock().unwrap();
        let state = self.state.load(Ordering::Acquire);
        if state < READER || state & PARKED == 0 {
            return None;
        }
        let woken = Arc::new(AtomicBool::new(false));
        *queue = Some(Waiter { thread: thread::current(), woken: woken.clone() });
        Some(woken)
    }

    /// Leaves the queue: whether it still was there, not woken.
    fn dequeue(&self, clears: Clears) -> bool {
        let mut queue = self.queue.lock().unwrap();
        let there = queue.take().is_some();
        if there && clears == Clears::Queueing {
            self.state.fetch_and(!PARKED, Ordering::AcqRel);
        }
        there
    }

    fn unlock_reader(&self) {
        if self.state.fetch_sub(READER, Ordering::AcqRel) & PARKED == 0 {
            return;
        }
        let mut queue = self.queue.lock().unwrap();
        if let Some(waiter) = queue.take() {
            waiter.woken.store(true, Ordering::Release);
            waiter.thread.unpark();
        }
        self.state.fetch_and(!PARKED, Ordering::AcqRel);
    }
}

fn a_reader_leaves_a_writer_gives_up(clears: Clears) -> impl Fn() + Send + Sync + 'static {
    move || {
        let lock = Arc::new(Lock { state: AtomicU32::new(READER), queue: Mutex::new(None) });
        let reader = thread::spawn({
            let lock = lock.clone();
            move || lock.unlock_reader()
        });
        let acquired = lock.write(clears);
        reader.join().unwrap();
        assert_eq!(lock.state.load(Ordering::Acquire), if acquired { WRITER } else { 0 });
    }
}

/// The program as it was.
pub(crate) fn buggy() -> Box<dyn Fn() + Send + Sync> {
    Box::new(a_reader_leaves_a_writer_gives_up(Clears::Leaving))
}

#[test]
fn the_bit_is_cleared_twice() {
    panics("bits that are not set were subtracted", 1, a_reader_leaves_a_writer_gives_up(Clears::Leaving));
}

#[test]
fn the_bit_is_cleared_under_the_lock_of_the_queue() {
    clean(12, a_reader_leaves_a_writer_gives_up(Clears::Queueing));
}
