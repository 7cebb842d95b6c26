//! `Backoff`.

use std::cell::Cell;
use std::fmt;

use crate::model::controller::current;
use crate::model::hint::spin_loop;
use crate::model::thread::yield_now;

/// How often a thread of a model backs off until it is advised to block. More would only make a model larger.
const ENOUGH: u32 = 1;

/// Stands in for [`crossbeam_utils::Backoff`].
///
/// In a model, `spin` and `snooze` are [`spin_loop`](crate::model::hint::spin_loop) and
/// [`yield_now`](crate::model::thread::yield_now), once; after the second `snooze`, `is_completed` is true.
pub struct Backoff {
    real: crossbeam_utils::Backoff,
    /// In a model.
    step: Cell<u32>,
}

impl Backoff {
    /// Stands in for [`crossbeam_utils::Backoff::new`].
    #[inline]
    pub fn new() -> Self {
        Backoff { real: crossbeam_utils::Backoff::new(), step: Cell::new(0) }
    }

    /// Stands in for [`crossbeam_utils::Backoff::reset`].
    #[inline]
    pub fn reset(&self) {
        self.real.reset();
        self.step.set(0);
    }

    /// Stands in for [`crossbeam_utils::Backoff::spin`].
    #[inline]
    #[track_caller]
    pub fn spin(&self) {
        if is_outside() { self.real.spin() } else { spin_loop() }
    }

    /// Stands in for [`crossbeam_utils::Backoff::snooze`].
    #[inline]
    #[track_caller]
    pub fn snooze(&self) {
        if is_outside() {
            return self.real.snooze();
        }
        yield_now();
        self.step.set((self.step.get() + 1).min(ENOUGH + 1));
    }

    /// Stands in for [`crossbeam_utils::Backoff::is_completed`].
    #[inline]
    pub fn is_completed(&self) -> bool {
        if is_outside() { self.real.is_completed() } else { self.step.get() > ENOUGH }
    }
}

#[inline]
fn is_outside() -> bool {
    current(|controller| controller.is_none())
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff::new()
    }
}

impl fmt::Debug for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_outside() {
            return self.real.fmt(f);
        }
        f.debug_struct("Backoff").field("step", &self.step).field("is_completed", &self.is_completed()).finish()
    }
}
