//! Letting others run, and what a thread can ask about itself.

use std::io;
use std::num::NonZero;
use std::panic::Location;
use std::time::Duration;

use dpor::{Action, Info, Role};

use crate::model::controller::current;
use crate::model::event::{Answer, perform_alone};
use crate::model::sync::raw_mutex;
use crate::model::time::{self, Wait};
use crate::model::world::clock_matters;

/// How many threads a model claims that the machine can run: the same everywhere, so that a failure found on one machine
/// happens on the others too.
const PARALLELISM: NonZero<usize> = NonZero::new(4).unwrap();

/// Stands in for [`std::thread::yield_now`]. In a model it closes an iteration of a loop that waits: if the thread has only
/// looked at things since the last time, it may be left waiting until one of them changes.
#[track_caller]
pub fn yield_now() {
    const INFO: &Info = &Info { name: "yield_now", family: "thread", role: Role::Plain };
    if time::passes_for_a_loop(Location::caller()) {
        return;
    }
    if perform_alone(Action::Yield, INFO, Location::caller()) == Answer::Outside {
        std::thread::yield_now();
    }
}

/// Stands in for [`std::thread::sleep`]. A model does not wait: any other thread may run, for any number of steps. If it looks
/// at the clock, the time is over afterwards.
#[track_caller]
pub fn sleep(duration: Duration) {
    const INFO: &Info = &Info { name: "sleep", family: "thread", role: Role::Plain };
    let site = Location::caller();
    if current(|controller| controller.is_some_and(|c| !c.inert() && clock_matters(c))) {
        return Wait::start(duration, site).over(site);
    }
    if perform_alone(Action::Yield, INFO, site) == Answer::Outside {
        std::thread::sleep(duration);
    }
}

/// Stands in for [`std::thread::sleep_ms`].
#[deprecated(note = "replaced by `sleep`")]
#[track_caller]
pub fn sleep_ms(ms: u32) {
    sleep(Duration::from_millis(ms.into()));
}

/// Stands in for [`std::thread::panicking`]: in a model, of the running model thread.
#[must_use]
pub fn panicking() -> bool {
    raw_mutex::panicking()
}

/// Stands in for [`std::thread::available_parallelism`]: 4 in a model, whatever the machine.
///
/// # Errors
///
/// As std, outside a model.
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    current(|controller| if controller.is_some() { Ok(PARALLELISM) } else { std::thread::available_parallelism() })
}
