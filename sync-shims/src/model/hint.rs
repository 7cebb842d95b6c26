//! What stands in for [`std::hint`].

use std::panic::Location;

use dpor::{Action, Info, Role};

use super::event::{Answer, perform_alone};
use super::time;

pub use std::hint::{assert_unchecked, black_box, cold_path, select_unpredictable, unreachable_unchecked};

/// Stands in for [`std::hint::spin_loop`]. In a model it closes an iteration of a loop that waits: if the thread has only
/// looked at things since the last time, it may be left waiting until one of them changes.
#[inline]
#[track_caller]
pub fn spin_loop() {
    const INFO: &Info = &Info { name: "spin_loop", family: "hint", role: Role::Plain };
    if time::passes_for_a_loop(Location::caller()) {
        return;
    }
    if perform_alone(Action::Spin, INFO, Location::caller()) == Answer::Outside {
        std::hint::spin_loop();
    }
}

/// Stands in for the old name of [`spin_loop`] in [`std::sync::atomic`].
#[inline]
#[track_caller]
#[deprecated(note = "use `hint::spin_loop` instead")]
pub fn spin_loop_hint() {
    spin_loop();
}
