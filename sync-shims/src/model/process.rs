//! Stands in for `std::process`; so far only what tells processes apart.

use super::world::enter;
use std::panic::Location;

/// The process id of the body of a model, the same in all.
const MODEL: u32 = 1000;

/// Stands in for [`std::process::id`]. Within a model it is 1000, so that a report does not depend on the run.
pub fn id() -> u32 {
    enter(Location::caller(), |call| if call.is_some() { MODEL } else { std::process::id() })
}
