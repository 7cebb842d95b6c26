//! SO_RCVTIMEO and SO_SNDTIMEO: the only place that knows what it means for a call on a socket to wait for a time only.
//!
//! How long a timeout is does not matter: a read that finds nothing gives up at once or after others have run.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dpor::ThreadId;

use super::call::{Call, Patience, Sys};
use super::clock::Timer;
use super::errno::Errno;

/// Which way: what an end reads, or what it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shut {
    /// What it reads.
    Read,
    /// What it writes.
    Write,
}

/// The timeouts of one socket, which all its descriptors share.
#[derive(Debug, Default)]
pub(crate) struct Timeouts {
    durations: Mutex<[Option<Duration>; 2]>,
    /// Threads whose last call in that direction timed out.
    timed_out: Mutex<Vec<(ThreadId, Shut)>>,
}

impl Timeouts {
    /// Sets one.
    pub(crate) fn set(&self, way: Shut, timeout: Option<Duration>) {
        self.durations.lock().unwrap_or_else(PoisonError::into_inner)[way as usize] = timeout;
    }

    /// What it is.
    pub(crate) fn get(&self, way: Shut) -> Option<Duration> {
        self.durations.lock().unwrap_or_else(PoisonError::into_inner)[way as usize]
    }

    /// Makes a call that may take as long as the timeout says; it ends with EAGAIN if the time is over. A thread that tries
    /// again after its time was over has come round a loop: it may stay there until something that it read has changed, lest
    /// it go round for ever.
    pub(crate) fn during<T: PartialEq>(
        &self,
        call: Call<'_>,
        way: Shut,
        transfer: impl FnOnce(Patience) -> Sys<T>,
    ) -> Sys<T> {
        let timer = self.get(way).map(|timeout| Timer::start(call, timeout)).transpose()?;
        let patience = if timer.is_some() { Patience::Limited } else { Patience::Unlimited };
        let me = (call.thread(), way);
        if patience == Patience::Limited && self.timed_out().contains(&me) {
            call.close_iteration()?;
        }
        let result = transfer(patience);
        let mut timed_out = self.timed_out();
        timed_out.retain(|earlier| *earlier != me);
        if result == Err(Errno::AGAIN.into()) {
            timed_out.push(me);
            drop(timed_out);
            if let Some(timer) = timer {
                timer.over(call)?;
            }
        }
        result
    }

    fn timed_out(&self) -> MutexGuard<'_, Vec<(ThreadId, Shut)>> {
        self.timed_out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
