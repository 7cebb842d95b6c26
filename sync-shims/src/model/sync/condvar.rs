//! What stands in for [`std::sync::Condvar`].
//!
//! In a model, one object: the set of threads that wait in the lower half of its state, the set of those that have been woken
//! and have not noticed yet in the upper half. To wait is to enter the first set, give the mutex back, wait to be in the
//! second set and leave it, and take the mutex again. `notify_one` has an outcome for each thread that waits.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dpor::{Action, Info, Outcome, Outcomes, Outs, Role, ThreadId};

use super::mutex::{MutexGuard, result};
use super::raw_mutex::Hold;
use super::{LockResult, PoisonError};
use crate::model::controller::current;
use crate::model::event::{Answer, Identity, Site, perform};
use crate::model::thread::wakes_up_spuriously;
use crate::model::time::Wait;

/// How many threads a condition variable can tell apart.
pub(in crate::model) const THREADS: u32 = 32;

pub(in crate::model) const TIMED_OUT: u64 = 1;

fn waiting(thread: ThreadId) -> u64 {
    1 << thread.0
}

fn woken(thread: ThreadId) -> u64 {
    waiting(thread) << THREADS
}

/// The set of threads that wait.
fn waiters(state: u64) -> u64 {
    state & u64::from(u32::MAX)
}

/// Results in how many wait already.
pub(in crate::model) fn enqueue_outs(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if state & (waiting(thread) | woken(thread)) == 0 {
        out.push(Outcome::write(state | waiting(thread), waiters(state).count_ones().into()));
    }
}

pub(in crate::model) fn wake_outs(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if state & woken(thread) != 0 {
        out.push(Outcome::write(state & !woken(thread), 0));
    }
}

pub(in crate::model) fn wake_or_time_out_outs(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    wake_outs(state, args, thread, out);
    // Not in a state in which it has not begun to wait: an exploration asks about those too.
    if state & waiting(thread) != 0 {
        out.push(Outcome::write(state & !waiting(thread), TIMED_OUT));
    }
}

/// This and the next result in how many threads they wake.
pub(in crate::model) fn notify_one_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    for thread in (0..THREADS).map(ThreadId).filter(|&thread| state & waiting(thread) != 0) {
        out.push(Outcome::write(state & !waiting(thread) | woken(thread), 1));
    }
    if waiters(state) == 0 {
        out.push(Outcome::read(0));
    }
}

pub(in crate::model) fn notify_all_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let waiters = waiters(state);
    out.push(match waiters {
        0 => Outcome::read(0),
        _ => Outcome::write(state & !waiters | waiters << THREADS, waiters.count_ones().into()),
    });
}

const fn info(name: &'static str, role: Role) -> Info {
    Info { name, family: "Condvar", role }
}

static ENQUEUE: Info = info("wait", Role::Plain);
static WAKE: Info = info("wait: wake up", Role::Wait);
static TIMED_WAKE: Info = info("wait_timeout: wake up", Role::Wait);
static NOTIFY_ONE: Info = info("notify_one", Role::Signal);
static NOTIFY_ALL: Info = info("notify_all", Role::Signal);

/// Stands in for [`std::sync::Condvar`].
///
/// In a model, `notify_one` wakes any of the threads that wait, a wait with a timeout may time out at any moment, and waits
/// end spuriously as often as the budget for spurious events allows. At most 32 threads can take part. Threads that wait
/// with different mutexes at the same time, which std leaves undefined but for a possible panic, panic.
pub struct Condvar {
    identity: Identity,
    real: std::sync::Condvar,
    waits: std::sync::Mutex<Waits>,
}

/// Who waits in the running execution, and with the mutex at which address.
struct Waits {
    execution: u64,
    with: Vec<(ThreadId, usize)>,
}

/// Stands in for [`std::sync::WaitTimeoutResult`].
#[derive(Debug, PartialEq, Eq, Copy, Clone)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Stands in for [`std::sync::WaitTimeoutResult::timed_out`].
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

type TimedWait<'a, T> = LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>;

impl Condvar {
    /// Stands in for [`std::sync::Condvar::new`].
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        Condvar {
            identity: Identity::new(),
            real: std::sync::Condvar::new(),
            waits: std::sync::Mutex::new(Waits { execution: 0, with: Vec::new() }),
        }
    }

    #[track_caller]
    fn perform(&self, outs: Outs, yields: bool, info: &'static Info, site: Site) -> Answer {
        // What only reads is a notification that reached nobody.
        let action = Action::Object { outs, args: [0; 2], failure: Ordering::Relaxed, yields };
        perform(&self.identity, 0, action, info, site)
    }

    /// Waits, for `timeout` if there is one, with the mutex of `guard` given up meanwhile. Whether the time was over. Calls that
    /// are one wait for the program have one `timer`.
    #[track_caller]
    fn wait_for<T>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        timeout: Option<Duration>,
        timer: &mut Option<Wait>,
        site: Site,
    ) -> bool {
        match std::mem::replace(&mut guard.taken.hold, Hold::Inert) {
            Hold::Inert => false,
            Hold::Real(real) => {
                self.identity.outside(&ENQUEUE);
                let (real, timed_out) = match timeout {
                    None => (self.real.wait(real).unwrap_or_else(PoisonError::into_inner), false),
                    Some(timeout) => {
                        let (real, result) =
                            self.real.wait_timeout(real, timeout).unwrap_or_else(PoisonError::into_inner);
                        (real, result.timed_out())
                    }
                };
                guard.taken.hold = Hold::Real(real);
                guard.taken.poisoned = guard.lock.raw.is_poisoned_outside();
                timed_out
            }
            Hold::Model => {
                guard.taken.hold = Hold::Model;
                self.wait_in_model(guard, timeout, timer, site)
            }
        }
    }

    #[track_caller]
    fn wait_in_model<T>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        timeout: Option<Duration>,
        timer: &mut Option<Wait>,
        site: Site,
    ) -> bool {
        self.check_thread(site);
        let mutex = std::ptr::from_ref(&guard.lock.raw).addr();
        assert!(self.begin_wait(mutex), "attempted to use a condition variable with two mutexes");
        // A thread that wakes up for no reason need not enter the set: a notification that reaches it is a reason.
        // With a timeout, too, since it is told that the time was not over.
        let spurious = wakes_up_spuriously(site);
        if !spurious {
            self.perform(enqueue_outs, false, &ENQUEUE, site);
        }
        if let (Some(timeout), None) = (timeout, &timer) {
            *timer = Some(Wait::start(timeout, site));
        }
        let raw = &guard.lock.raw;
        raw.unlock_to_wait(site);
        guard.taken.hold = Hold::Inert;
        let answer = match (spurious, timeout.is_some()) {
            (true, _) => Answer::Done(0),
            (false, true) => self.perform(wake_or_time_out_outs, true, &TIMED_WAKE, site),
            (false, false) => self.perform(wake_outs, false, &WAKE, site),
        };
        if let (Answer::Done(TIMED_OUT), Some(timer)) = (answer, timer) {
            timer.give_up(site);
        }
        self.end_wait();
        let relocked = raw.relock(site);
        guard.taken.hold = relocked.hold;
        guard.taken.poisoned = relocked.poisoned;
        answer == Answer::Done(TIMED_OUT)
    }

    /// Notes that the running thread waits with this mutex; false, and nothing is noted, if another one waits with another.
    fn begin_wait(&self, mutex: usize) -> bool {
        self.with_waits(|waits, thread| {
            let alone = waits.iter().all(|(_, other)| *other == mutex);
            if alone {
                waits.push((thread, mutex));
            }
            alone
        })
    }

    fn end_wait(&self) {
        self.with_waits(|waits, thread| {
            waits.retain(|(other, _)| *other != thread);
            true
        });
    }

    /// Calls `f` with those who wait, and the running thread. True at the end of an execution.
    fn with_waits(&self, f: impl FnOnce(&mut Vec<(ThreadId, usize)>, ThreadId) -> bool) -> bool {
        current(|controller| {
            let Some(controller) = controller.filter(|controller| !controller.inert()) else { return true };
            let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
            if waits.execution != controller.execution() {
                *waits = Waits { execution: controller.execution(), with: Vec::new() };
            }
            f(&mut waits.with, controller.thread())
        })
    }

    fn check_thread(&self, site: Site) {
        current(|controller| {
            if let Some(controller) = controller
                && controller.thread().0 >= THREADS
                && !controller.inert()
            {
                let message = format!("a Condvar can have at most {THREADS} threads in a model");
                controller.fail("limit", message, site);
            }
        });
    }

    /// Stands in for [`std::sync::Condvar::wait`].
    ///
    /// # Panics
    ///
    /// In a model, if another thread waits with another mutex.
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned when it has been taken again; the error holds the guard.
    #[track_caller]
    pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.wait_for(&mut guard, None, &mut None, Location::caller());
        result(guard.taken.poisoned, guard)
    }

    /// Stands in for [`std::sync::Condvar::wait_while`].
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned when it has been taken again; the error holds the guard.
    #[track_caller]
    pub fn wait_while<'a, T, F>(&self, mut guard: MutexGuard<'a, T>, mut condition: F) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Stands in for [`std::sync::Condvar::wait_timeout`].
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned when it has been taken again; the error holds the guard.
    #[track_caller]
    pub fn wait_timeout<'a, T>(&self, mut guard: MutexGuard<'a, T>, duration: Duration) -> TimedWait<'a, T> {
        let timed_out = self.wait_for(&mut guard, Some(duration), &mut None, Location::caller());
        result(guard.taken.poisoned, (guard, WaitTimeoutResult(timed_out)))
    }

    /// Stands in for [`std::sync::Condvar::wait_timeout_ms`].
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned when it has been taken again; the error holds the guard.
    #[deprecated(note = "replaced by `wait_timeout`")]
    #[track_caller]
    pub fn wait_timeout_ms<'a, T>(&self, guard: MutexGuard<'a, T>, ms: u32) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let woken = |(guard, result): (MutexGuard<'a, T>, WaitTimeoutResult)| (guard, !result.timed_out());
        match self.wait_timeout(guard, Duration::from_millis(ms.into())) {
            Ok(waited) => Ok(woken(waited)),
            Err(error) => Err(PoisonError::new(woken(error.into_inner()))),
        }
    }

    /// Stands in for [`std::sync::Condvar::wait_timeout_while`].
    ///
    /// # Errors
    ///
    /// If the mutex is poisoned when it has been taken again; the error holds the guard.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        duration: Duration,
        mut condition: F,
    ) -> TimedWait<'a, T>
    where
        F: FnMut(&mut T) -> bool,
    {
        let real_start = current(|controller| controller.is_none()).then(Instant::now);
        let mut left = Some(duration);
        let mut timer = None;
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(timeout) = left else { return Ok((guard, WaitTimeoutResult(true))) };
            let site = Location::caller();
            let timed_out = self.wait_for(&mut guard, Some(timeout), &mut timer, site);
            guard = result(guard.taken.poisoned, (guard, WaitTimeoutResult(timed_out)))?.0;
            left = match (real_start, &timer) {
                (Some(start), _) => duration.checked_sub(start.elapsed()),
                (None, Some(timer)) if !timed_out && timer.is_over(site) => None,
                (None, _) => (!timed_out).then_some(duration),
            };
        }
    }

    /// Stands in for [`std::sync::Condvar::notify_one`].
    #[track_caller]
    pub fn notify_one(&self) {
        if self.perform(notify_one_outs, false, &NOTIFY_ONE, Location::caller()) == Answer::Outside {
            self.real.notify_one();
        }
    }

    /// Stands in for [`std::sync::Condvar::notify_all`].
    #[track_caller]
    pub fn notify_all(&self) {
        if self.perform(notify_all_outs, false, &NOTIFY_ALL, Location::caller()) == Answer::Outside {
            self.real.notify_all();
        }
    }
}

impl UnwindSafe for Condvar {}
impl RefUnwindSafe for Condvar {}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::outcomes_of;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(31);

    fn outcomes(outs: Outs, state: u64, thread: ThreadId) -> Vec<Outcome> {
        outcomes_of(outs, state, [0; 2], thread)
    }

    #[test]
    fn notify_one_can_wake_any_waiter() {
        let both = waiting(A) | waiting(B);
        let wakes = [Outcome::write(waiting(B) | woken(A), 1), Outcome::write(waiting(A) | woken(B), 1)];
        assert_eq!(outcomes(notify_one_outs, both, A), wakes);
        assert_eq!(outcomes(notify_one_outs, woken(A), B), [Outcome::read(0)]);
    }

    #[test]
    fn notify_all_wakes_all() {
        assert_eq!(outcomes(notify_all_outs, waiting(A) | woken(B), A), [Outcome::write(woken(A) | woken(B), 1)]);
        assert_eq!(outcomes(notify_all_outs, woken(B), A), [Outcome::read(0)]);
    }

    #[test]
    fn a_waiter_needs_a_notification_of_its_own() {
        assert_eq!(outcomes(wake_outs, waiting(A) | woken(B), A), []);
        assert_eq!(outcomes(wake_outs, waiting(A) | woken(B), B), [Outcome::write(waiting(A), 0)]);
    }

    #[test]
    fn a_timed_waiter_leaves_the_set_when_it_gives_up() {
        assert_eq!(outcomes(wake_or_time_out_outs, waiting(A) | woken(B), A), [Outcome::write(woken(B), TIMED_OUT)]);
        assert_eq!(outcomes(wake_or_time_out_outs, woken(A), A), [Outcome::write(0, 0)]);
        assert_eq!(outcomes(wake_or_time_out_outs, waiting(B), A), []);
    }
}
