//! What stands in for `parking_lot::Condvar`.
//!
//! The protocol is that of std's, see `sync::condvar`, without spurious wake-ups: parking_lot has none.

use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use ::parking_lot as real;
use dpor::{Action, Info, Outs, Role};
use real::lock_api::RawMutex as _;

use super::core::{at, outside};
use super::{MutexGuard, RawMutex};
use crate::model::controller::current;
use crate::model::event::{Answer, Identity, Site, perform};
use crate::model::sync::condvar::{
    THREADS, TIMED_OUT, enqueue_outs, notify_all_outs, notify_one_outs, wake_or_time_out_outs, wake_outs,
};
use crate::model::time::{Instant, Limit, Wait};

const fn info(name: &'static str, role: Role) -> Info {
    Info { name, family: "Condvar", role }
}

static ENQUEUE: Info = info("wait", Role::Plain);
static WAKE: Info = info("wait: wake up", Role::Wait);
static TIMED_WAKE: Info = info("wait_for: wake up", Role::Wait);
static NOTIFY_ONE: Info = info("notify_one", Role::Signal);
static NOTIFY_ALL: Info = info("notify_all", Role::Signal);

/// Stands in for `parking_lot::Condvar`.
///
/// In a model, `notify_one` wakes any of the threads that wait, and a wait with a timeout may time out at any moment
/// (unless it is so long that the clock has no such time). There are no spurious wake-ups. At most 32 threads can take part.
pub struct Condvar {
    identity: Identity,
    /// The mutex of those that wait in a model, as long as there are any.
    mutex: AtomicPtr<RawMutex>,
    real: real::Condvar,
}

impl UnwindSafe for Condvar {}
impl RefUnwindSafe for Condvar {}

/// Stands in for `parking_lot::WaitTimeoutResult`.
#[derive(Debug, PartialEq, Eq, Copy, Clone)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Stands in for `parking_lot::WaitTimeoutResult::timed_out`.
    #[inline]
    #[must_use]
    pub fn timed_out(self) -> bool {
        self.0
    }
}

/// When a wait, which may be several calls, ends if nobody notifies.
enum Timeout {
    Never,
    At(std::time::Instant),
    InModel(Wait),
}

impl Timeout {
    fn at(deadline: Instant, site: Site) -> Self {
        if outside() { Timeout::At(deadline.into()) } else { Timeout::InModel(deadline.start(site)) }
    }

    /// A time that the clock cannot tell never comes.
    fn after(timeout: Duration, site: Site) -> Self {
        match std::time::Instant::now().checked_add(timeout) {
            None => Timeout::Never,
            Some(_) if !outside() => Timeout::InModel(timeout.start(site)),
            Some(deadline) => Timeout::At(deadline),
        }
    }
}

impl Condvar {
    /// Stands in for `parking_lot::Condvar::new`.
    #[inline]
    #[must_use]
    #[track_caller]
    pub const fn new() -> Condvar {
        Condvar { identity: Identity::new(), mutex: AtomicPtr::new(ptr::null_mut()), real: real::Condvar::new() }
    }

    #[track_caller]
    fn perform(&self, outs: Outs, yields: bool, info: &'static Info, site: Site) -> Answer {
        // What only reads is a notification that reached nobody.
        let action = Action::Object { outs, args: [0; 2], failure: Ordering::Relaxed, yields };
        perform(&self.identity, 0, action, info, site)
    }

    /// Waits with `mutex` given up meanwhile. Whether the time was over.
    #[track_caller]
    fn wait_with(&self, mutex: &RawMutex, timeout: &Timeout, site: Site) -> bool {
        if !outside() {
            return self.wait_in_model(mutex, timeout, site);
        }
        self.identity.outside(&ENQUEUE);
        // SAFETY: 1. The caller holds it. 2. It is not given back by this guard.
        let mut guard = ManuallyDrop::new(unsafe { mutex.real_mutex().make_guard_unchecked() });
        match timeout {
            Timeout::At(instant) => self.real.wait_until(&mut guard, *instant).timed_out(),
            Timeout::Never | Timeout::InModel(_) => {
                self.real.wait(&mut guard);
                false
            }
        }
    }

    #[track_caller]
    fn wait_in_model(&self, mutex: &RawMutex, timeout: &Timeout, site: Site) -> bool {
        self.check_thread(site);
        let place = ptr::from_ref(mutex).cast_mut();
        match self.perform(enqueue_outs, false, &ENQUEUE, site) {
            Answer::Done(0) => self.mutex.store(place, Ordering::Relaxed),
            Answer::Done(_) if self.mutex.load(Ordering::Relaxed) != place => {
                panic!("attempted to use a condition variable with more than one mutex");
            }
            _ => {}
        }
        at(mutex, site);
        // SAFETY: 1. The caller has a guard of it.
        unsafe { mutex.unlock() };
        let answer = match timeout {
            Timeout::Never => self.perform(wake_outs, false, &WAKE, site),
            _ => self.perform(wake_or_time_out_outs, true, &TIMED_WAKE, site),
        };
        let timed_out = answer == Answer::Done(TIMED_OUT);
        if let (true, Timeout::InModel(wait)) = (timed_out, timeout) {
            wait.give_up(site);
        }
        at(mutex, site);
        mutex.lock();
        timed_out
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

    /// Stands in for `parking_lot::Condvar::notify_one`: whether it woke a thread.
    #[inline]
    #[track_caller]
    pub fn notify_one(&self) -> bool {
        match self.perform(notify_one_outs, false, &NOTIFY_ONE, Location::caller()) {
            Answer::Outside => self.real.notify_one(),
            Answer::Done(woken) => woken != 0,
            Answer::Inert => false,
        }
    }

    /// Stands in for `parking_lot::Condvar::notify_all`: how many threads it woke.
    #[inline]
    #[track_caller]
    pub fn notify_all(&self) -> usize {
        match self.perform(notify_all_outs, false, &NOTIFY_ALL, Location::caller()) {
            Answer::Outside => self.real.notify_all(),
            Answer::Done(woken) => woken as usize,
            Answer::Inert => 0,
        }
    }

    /// Stands in for `parking_lot::Condvar::wait`.
    ///
    /// # Panics
    ///
    /// If another thread waits with another mutex.
    #[inline]
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, mutex_guard: &mut MutexGuard<'_, T>) {
        self.wait_with(raw_of(mutex_guard), &Timeout::Never, Location::caller());
    }

    /// Stands in for `parking_lot::Condvar::wait_until`.
    ///
    /// # Panics
    ///
    /// If another thread waits with another mutex.
    #[inline]
    #[track_caller]
    pub fn wait_until<T: ?Sized>(&self, mutex_guard: &mut MutexGuard<'_, T>, timeout: Instant) -> WaitTimeoutResult {
        let (raw, site) = (raw_of(mutex_guard), Location::caller());
        WaitTimeoutResult(self.wait_with(raw, &Timeout::at(timeout, site), site))
    }

    /// Stands in for `parking_lot::Condvar::wait_for`.
    ///
    /// # Panics
    ///
    /// If another thread waits with another mutex.
    #[inline]
    #[track_caller]
    pub fn wait_for<T: ?Sized>(&self, mutex_guard: &mut MutexGuard<'_, T>, timeout: Duration) -> WaitTimeoutResult {
        let (raw, site) = (raw_of(mutex_guard), Location::caller());
        WaitTimeoutResult(self.wait_with(raw, &Timeout::after(timeout, site), site))
    }

    #[track_caller]
    fn wait_while_with<T, F>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: F,
        timeout: &Timeout,
    ) -> WaitTimeoutResult
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        let mut timed_out = false;
        while !timed_out && condition(&mut **guard) {
            timed_out = self.wait_with(raw_of(guard), timeout, Location::caller());
        }
        WaitTimeoutResult(timed_out)
    }

    /// Stands in for `parking_lot::Condvar::wait_while`.
    ///
    /// # Panics
    ///
    /// If another thread waits with another mutex.
    #[inline]
    #[track_caller]
    pub fn wait_while<T, F>(&self, mutex_guard: &mut MutexGuard<'_, T>, condition: F)
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_with(mutex_guard, condition, &Timeout::Never);
    }

    /// Stands in for `parking_lot::Condvar::wait_while_until`.
    ///
    /// # Panics
    ///
    /// If another thread waits with another mutex.
    #[inline]
    #[track_caller]
    pub fn wait_while_until<T, F>(
        &self,
        mutex_guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Instant,
    ) -> WaitTimeoutResult
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_with(mutex_guard, condition, &Timeout::at(timeout, Location::caller()))
    }

    /// Stands in for `parking_lot::Condvar::wait_while_for`.
    ///
    /// # Panics
    ///
    /// If another thread waits with another mutex.
    #[inline]
    #[track_caller]
    pub fn wait_while_for<T: ?Sized, F>(
        &self,
        mutex_guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Duration,
    ) -> WaitTimeoutResult
    where
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_with(mutex_guard, condition, &Timeout::after(timeout, Location::caller()))
    }
}

fn raw_of<'a, T: ?Sized>(guard: &MutexGuard<'a, T>) -> &'a RawMutex {
    // SAFETY: 1. A wait gives the lock back and takes it again; the guard is borrowed exclusively meanwhile.
    unsafe { super::lock_api::MutexGuard::mutex(guard).raw() }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Condvar { .. }")
    }
}
