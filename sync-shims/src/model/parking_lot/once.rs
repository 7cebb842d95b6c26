//! What stands in for `parking_lot::Once`. The protocol is that of std's.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use crate::model::sync::raw_once::{COMPLETE, INCOMPLETE, POISONED, Poisoned, RawOnce, Running, Words};

static WORDS: Words = Words::of("Once", "call_once", "state");

/// Stands in for `parking_lot::Once`.
pub struct Once(RawOnce<()>);

/// Stands in for `parking_lot::OnceState`.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum OnceState {
    /// No closure has run.
    New,
    /// A closure has run, and panicked.
    Poisoned,
    /// A thread runs a closure.
    InProgress,
    /// A closure has run to its end.
    Done,
}

impl OnceState {
    /// Stands in for `parking_lot::OnceState::poisoned`.
    #[inline]
    #[must_use]
    pub fn poisoned(self) -> bool {
        matches!(self, OnceState::Poisoned)
    }

    /// Stands in for `parking_lot::OnceState::done`.
    #[inline]
    #[must_use]
    pub fn done(self) -> bool {
        matches!(self, OnceState::Done)
    }
}

// SAFETY: 1. There is no data, and the protocol is for any number of threads.
unsafe impl Sync for Once {}

impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

impl Once {
    /// Stands in for `parking_lot::Once::new`.
    #[inline]
    #[must_use]
    #[track_caller]
    pub const fn new() -> Once {
        Once(RawOnce::new(&WORDS, INCOMPLETE, ()))
    }

    /// Stands in for `parking_lot::Once::state`.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn state(&self) -> OnceState {
        match self.0.look(Location::caller()) {
            INCOMPLETE => OnceState::New,
            POISONED => OnceState::Poisoned,
            COMPLETE => OnceState::Done,
            _ => OnceState::InProgress,
        }
    }

    /// Stands in for `parking_lot::Once::call_once`.
    ///
    /// # Panics
    ///
    /// If a closure passed before has panicked.
    #[inline]
    #[track_caller]
    pub fn call_once<F>(&self, f: F)
    where
        F: FnOnce(),
    {
        match self.0.begin(false, Location::caller()) {
            Ok(None) => {}
            Ok(Some(running)) => run(running, |_| f()),
            Err(Poisoned) => panic!("Once instance has previously been poisoned"),
        }
    }

    /// Stands in for `parking_lot::Once::call_once_force`.
    #[inline]
    #[track_caller]
    pub fn call_once_force<F>(&self, f: F)
    where
        F: FnOnce(OnceState),
    {
        if let Ok(Some(running)) = self.0.begin(true, Location::caller()) {
            run(running, f);
        }
    }
}

fn run(running: Running<'_, ()>, f: impl FnOnce(OnceState)) {
    // SAFETY: 1. There is nothing to drop.
    unsafe { running.enter(|_| ()) };
    f(if running.poisoned { OnceState::Poisoned } else { OnceState::New });
    running.finish();
}

impl Default for Once {
    #[track_caller]
    fn default() -> Once {
        Once::new()
    }
}

impl fmt::Debug for Once {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("state", &self.state()).finish()
    }
}
