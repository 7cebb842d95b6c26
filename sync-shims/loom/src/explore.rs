//! Telling the exploration what to leave out.

use std::any::Any;
use std::cell::Cell;
use std::panic::Location;

use dpor::{Action, Info, Role};
use sync_shims::model::controller::{Controller, Scope, current};
use sync_shims::model::event::perform_in;

/// Whether the running execution is being explored, as the program has said. In the storage of the execution.
struct Exploring(Cell<bool>);

/// Its address is the key of the above.
static KEY: u8 = 0;

/// Loom's functions have this text outside of a model.
const OUTSIDE: &str = "cannot access Loom execution state from outside a Loom model";

fn exploring<R>(controller: &dyn Controller, f: impl FnOnce(&Cell<bool>) -> R) -> R {
    let new = &mut || Box::new(Exploring(Cell::new(true))) as Box<dyn Any>;
    match controller.storage(Scope::Execution, (&raw const KEY).addr(), new) {
        // The execution is over.
        None => f(&Cell::new(true)),
        Some(value) => {
            // SAFETY: 1. The storage keeps the value until the end of the execution. 2. It is only used through `&`, on this
            // OS thread.
            let value = unsafe { value.as_ref() };
            f(&value.downcast_ref::<Exploring>().expect("the key is that of this type").0)
        }
    }
}

/// Says whether the execution starts out as explored.
pub(crate) fn begin(explored: bool) {
    current(|controller| exploring(controller.expect(OUTSIDE), |exploring| exploring.set(explored)));
}

/// Begins to explore again, after [`stop_exploring`].
///
/// # Panics
///
/// If the execution is being explored, or outside a model.
#[track_caller]
pub fn explore() {
    current(|controller| {
        exploring(controller.expect(OUTSIDE), |exploring| {
            assert!(!exploring.replace(true), "not in critical state");
        });
    });
}

/// With loom, what comes now is run in one order only, until [`explore`]. Here it is explored all the same, which takes longer
/// and misses nothing.
///
/// # Panics
///
/// If the execution is not being explored, or outside a model.
#[track_caller]
pub fn stop_exploring() {
    current(|controller| {
        exploring(controller.expect(OUTSIDE), |exploring| {
            assert!(exploring.replace(false), "not in exploring state");
        });
    });
}

/// With loom, the rest of this execution is run in one order only. Here the thread stops, and the execution does not count; it
/// goes on only in executions where something that the thread has read changes. So a loop that tries again for ever is cut.
///
/// # Panics
///
/// Outside a model.
#[track_caller]
pub fn skip_branch() {
    const INFO: &Info = &Info { name: "skip_branch", family: "loom", role: Role::Plain };
    let site = Location::caller();
    current(|controller| perform_in(controller.expect(OUTSIDE), None, Action::Assume, INFO, site));
}
