//! What stands in for [`std::sync::Once`].

use std::cell::Cell;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use super::raw_once::{INCOMPLETE, Poisoned, RawOnce, Running, Words};

static WORDS: Words = Words::of("Once", "call_once", "is_completed");

/// Stands in for [`std::sync::Once`].
pub struct Once(RawOnce<()>);

/// Stands in for `std::sync::ONCE_INIT`.
#[deprecated(note = "the `Once::new()` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std's is one too")]
pub const ONCE_INIT: Once = Once::new();

/// Stands in for [`std::sync::OnceState`].
pub struct OnceState {
    poisoned: bool,
    /// As std's, it cannot be shared.
    not_sync: Cell<()>,
}

// SAFETY: 1. There is no data, and the protocol is for any number of threads.
unsafe impl Sync for Once {}

impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

#[cold]
#[track_caller]
fn poisoned() -> ! {
    panic!("Once instance has previously been poisoned")
}

impl Once {
    /// Stands in for [`std::sync::Once::new`].
    #[must_use]
    #[track_caller]
    #[expect(clippy::new_without_default, reason = "std's has none")]
    pub const fn new() -> Self {
        Once(RawOnce::new(&WORDS, INCOMPLETE, ()))
    }

    /// Stands in for [`std::sync::Once::call_once`].
    ///
    /// # Panics
    ///
    /// If a closure passed before has panicked.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        match self.0.begin(false, Location::caller()) {
            Ok(None) => {}
            Ok(Some(running)) => run(running, |_| f()),
            Err(Poisoned) => poisoned(),
        }
    }

    /// Stands in for [`std::sync::Once::call_once_force`].
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        if let Ok(Some(running)) = self.0.begin(true, Location::caller()) {
            run(running, f);
        }
    }

    /// Stands in for [`std::sync::Once::is_completed`].
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.0.is_complete(Location::caller())
    }

    /// Stands in for [`std::sync::Once::wait`].
    ///
    /// # Panics
    ///
    /// If a closure passed to `call_once` has panicked.
    #[track_caller]
    pub fn wait(&self) {
        if self.0.wait(false, Location::caller()).is_err() && !crate::model::event::inert() {
            poisoned();
        }
    }

    /// Stands in for [`std::sync::Once::wait_force`].
    #[track_caller]
    pub fn wait_force(&self) {
        // Only after the end of a model does it return without being complete.
        let _ = self.0.wait(true, Location::caller());
    }
}

fn run(running: Running<'_, ()>, f: impl FnOnce(&OnceState)) {
    // SAFETY: 1. There is nothing to drop.
    unsafe { running.enter(|_| ()) };
    f(&OnceState { poisoned: running.poisoned, not_sync: Cell::new(()) });
    running.finish();
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

impl OnceState {
    /// Stands in for [`std::sync::OnceState::is_poisoned`].
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        let () = self.not_sync.get();
        self.poisoned
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState").field("poisoned", &self.is_poisoned()).finish()
    }
}
