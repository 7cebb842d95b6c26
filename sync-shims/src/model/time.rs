//! Stands in for `std::time`.
//!
//! Within a model, time passes when somebody waits for it, and may pass while a thread is slow: [`Instant::now`] may find that
//! the clock has come to any deadline that the program has computed with `Instant + Duration`, and that the thread can know
//! of. How often an execution may have that is a budget of the model (`Builder::clock_moves`). Otherwise no time passes. What
//! is compared with [`Instant::elapsed`] alone is no deadline: write `Instant::now() >= start + LEASE` instead of
//! `start.elapsed() >= LEASE`.
//!
//! The clock of a model that nobody looks at does not exist: `sleep` and timeouts end at any moment then.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::panic::Location;
use std::sync::OnceLock;
use std::time as real;

use dpor::{Action, Info, Role};

pub use std::time::{Duration, SystemTimeError, TryFromFloatSecsError};

use super::controller::current;
use super::event::{Site, perform_alone};
use super::world::{OrInert, Timer, clock_came_round, clock_deadline, clock_matters, clock_now, enter};

/// What the start of every execution is in std's terms.
fn start() -> real::Instant {
    static START: OnceLock<real::Instant> = OnceLock::new();
    *START.get_or_init(real::Instant::now)
}

/// What the clock on the wall shows at the start of every execution: seconds since 1970.
const STARTS_AT: Duration = Duration::from_secs(1_700_000_000);

/// The time since the start of the execution; `None` outside a model.
fn since_start(site: Site) -> Option<Duration> {
    enter(site, |call| call.map(|call| clock_now(call).or_inert(|| Duration::ZERO).unwrap_or_default()))
}

/// Tells the clock of a point in time that the program has computed.
fn computed(at: impl FnOnce() -> Option<Duration>, site: Site) {
    if current(|controller| controller.is_some_and(|c| !c.inert() && clock_matters(c)))
        && let Some(at) = at()
    {
        enter(site, |call| call.map(|call| clock_deadline(call, at)));
    }
}

/// A wait in a model that ends by itself after a time.
#[derive(Debug)]
pub(crate) struct Wait(Option<Timer>);

/// What a wait is limited by: a `Duration`, or an [`Instant`] at which it ends.
pub(crate) trait Limit: Copy {
    /// The wait, which starts now.
    fn start(self, site: Site) -> Wait;

    #[cfg(feature = "crossbeam")]
    /// The end of a wait that started with the execution.
    fn after_start(self) -> Instant;
}

impl Limit for Duration {
    fn start(self, site: Site) -> Wait {
        Wait(enter(site, |call| call.and_then(|call| Timer::start(call, self).ok())))
    }

    #[cfg(feature = "crossbeam")]
    fn after_start(self) -> Instant {
        Instant(start() + self)
    }
}

#[cfg(any(feature = "parking_lot", feature = "crossbeam"))]
impl Limit for Instant {
    fn start(self, site: Site) -> Wait {
        let end = self.0.saturating_duration_since(start());
        Wait(enter(site, |call| call.map(|call| Timer::until(call, end))))
    }

    #[cfg(feature = "crossbeam")]
    fn after_start(self) -> Instant {
        self
    }
}

impl Wait {
    /// Starts now.
    pub(crate) fn start(limit: impl Limit, site: Site) -> Wait {
        limit.start(site)
    }

    #[cfg(feature = "crossbeam")]
    /// When it ends, if anybody looks at the clock.
    pub(crate) fn end(&self) -> Option<Instant> {
        Some(Instant(start() + self.0.as_ref()?.end()?))
    }

    /// Looks whether the time is over already. If nobody looks at the clock it is not.
    pub(crate) fn is_over(&self, site: Site) -> bool {
        enter(site, |call| match (call, &self.0) {
            (Some(call), Some(timer)) => timer.is_over(call).unwrap_or(false),
            _ => false,
        })
    }

    /// The time is over.
    pub(crate) fn over(&self, site: Site) {
        self.moves_clock(site);
    }

    /// The time is over. Whether somebody looks at the clock, so that it moves.
    fn moves_clock(&self, site: Site) -> bool {
        enter(site, |call| match (call, &self.0) {
            (Some(call), Some(timer)) => timer.over(call).unwrap_or(true),
            _ => true,
        })
    }

    /// The time is over, and the thread stops waiting. If nobody looks at the clock, a loop that only waits like this, again and
    /// again, has come round.
    pub(crate) fn give_up(&self, site: Site) {
        const INFO: &Info = &Info { name: "time out", family: "thread", role: Role::Elapsed };
        if !self.moves_clock(site) {
            perform_alone(Action::Spin, INFO, site);
        }
    }
}

#[cfg(any(feature = "parking_lot", feature = "crossbeam"))]
/// What comes of `wait`, which ends by itself at the limit: `None` if it did.
pub(crate) fn within<T>(limit: impl Limit, site: Site, wait: impl FnOnce() -> Option<T>) -> Option<T> {
    let timer = Wait::start(limit, site);
    let result = wait();
    if result.is_none() {
        timer.give_up(site);
    }
    result
}

/// A loop comes round at `site`: if it waits for the clock, time passes instead of what would happen else.
pub(crate) fn passes_for_a_loop(site: Site) -> bool {
    let matters = current(|controller| controller.is_some_and(|c| !c.inert() && clock_matters(c)));
    matters && enter(site, |call| call.is_some_and(|call| clock_came_round(call).unwrap_or(false)))
}

/// Stands in for [`std::time::Instant`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(real::Instant);

impl Instant {
    /// Stands in for [`std::time::Instant::now`].
    #[must_use]
    #[track_caller]
    pub fn now() -> Instant {
        match since_start(Location::caller()) {
            None => Instant(real::Instant::now()),
            Some(time) => Instant(start() + time),
        }
    }

    /// Stands in for [`std::time::Instant::duration_since`]: zero if `earlier` is later.
    #[must_use]
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.0.duration_since(earlier.0)
    }

    /// Stands in for [`std::time::Instant::checked_duration_since`].
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// Stands in for [`std::time::Instant::saturating_duration_since`].
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// Stands in for [`std::time::Instant::elapsed`]. See the documentation of the module: this makes no deadline.
    #[must_use]
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Instant::now().0.saturating_duration_since(self.0)
    }

    /// Stands in for [`std::time::Instant::checked_add`].
    #[must_use]
    #[track_caller]
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        let sum = self.0.checked_add(duration)?;
        computed(|| sum.checked_duration_since(start()), Location::caller());
        Some(Instant(sum))
    }

    /// Stands in for [`std::time::Instant::checked_sub`].
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(duration).map(Instant)
    }
}

#[cfg(feature = "crossbeam")]
impl Instant {
    /// What std calls so, outside a model.
    pub(crate) fn of_std(instant: real::Instant) -> Instant {
        Instant(instant)
    }

    /// Nanoseconds since the start of the execution.
    pub(crate) fn since_start(self) -> u64 {
        u64::try_from(self.0.saturating_duration_since(start()).as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// # Panics
    ///
    /// If the sum cannot be represented.
    #[track_caller]
    fn add(self, duration: Duration) -> Instant {
        self.checked_add(duration).expect("overflow when adding duration to instant")
    }
}

impl AddAssign<Duration> for Instant {
    #[track_caller]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    /// # Panics
    ///
    /// If the difference cannot be represented.
    #[track_caller]
    fn sub(self, duration: Duration) -> Instant {
        self.checked_sub(duration).expect("overflow when subtracting duration from instant")
    }
}

impl SubAssign<Duration> for Instant {
    #[track_caller]
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

impl From<Instant> for real::Instant {
    fn from(instant: Instant) -> real::Instant {
        instant.0
    }
}

/// Within a model as the time since the start of the execution, so that reports do not depend on the run.
impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if current(|controller| controller.is_none()) {
            return self.0.fmt(f);
        }
        let (sign, distance) = match self.0.checked_duration_since(start()) {
            Some(after) => ("+", after),
            None => ("-", start().duration_since(self.0)),
        };
        write!(f, "Instant({sign}{distance:?})")
    }
}

/// Stands in for [`std::time::SystemTime`]. The clock of a model starts at the same time in every execution, and is never set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemTime(real::SystemTime);

/// Stands in for [`std::time::UNIX_EPOCH`].
pub const UNIX_EPOCH: SystemTime = SystemTime::UNIX_EPOCH;

impl SystemTime {
    /// Stands in for [`std::time::SystemTime::UNIX_EPOCH`].
    pub const UNIX_EPOCH: SystemTime = SystemTime(real::UNIX_EPOCH);

    /// Stands in for [`std::time::SystemTime::now`].
    #[must_use]
    #[track_caller]
    pub fn now() -> SystemTime {
        match since_start(Location::caller()) {
            None => SystemTime(real::SystemTime::now()),
            Some(time) => SystemTime(real::UNIX_EPOCH + STARTS_AT + time),
        }
    }

    /// Stands in for [`std::time::SystemTime::duration_since`].
    ///
    /// # Errors
    ///
    /// If `earlier` is later.
    pub fn duration_since(&self, earlier: SystemTime) -> Result<Duration, SystemTimeError> {
        self.0.duration_since(earlier.0)
    }

    /// Stands in for [`std::time::SystemTime::elapsed`].
    ///
    /// # Errors
    ///
    /// If the time is later than now.
    #[track_caller]
    pub fn elapsed(&self) -> Result<Duration, SystemTimeError> {
        SystemTime::now().0.duration_since(self.0)
    }

    /// Stands in for [`std::time::SystemTime::checked_add`].
    #[must_use]
    #[track_caller]
    pub fn checked_add(&self, duration: Duration) -> Option<SystemTime> {
        let sum = self.0.checked_add(duration)?;
        computed(|| sum.duration_since(real::UNIX_EPOCH + STARTS_AT).ok(), Location::caller());
        Some(SystemTime(sum))
    }

    /// Stands in for [`std::time::SystemTime::checked_sub`].
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_sub(duration).map(SystemTime)
    }
}

impl Add<Duration> for SystemTime {
    type Output = SystemTime;

    /// # Panics
    ///
    /// If the sum cannot be represented.
    #[track_caller]
    fn add(self, duration: Duration) -> SystemTime {
        self.checked_add(duration).expect("overflow when adding duration to instant")
    }
}

impl AddAssign<Duration> for SystemTime {
    #[track_caller]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for SystemTime {
    type Output = SystemTime;

    /// # Panics
    ///
    /// If the difference cannot be represented.
    #[track_caller]
    fn sub(self, duration: Duration) -> SystemTime {
        self.checked_sub(duration).expect("overflow when subtracting duration from instant")
    }
}

impl SubAssign<Duration> for SystemTime {
    #[track_caller]
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl From<SystemTime> for real::SystemTime {
    fn from(time: SystemTime) -> real::SystemTime {
        time.0
    }
}
