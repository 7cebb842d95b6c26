//! Places in a program that have a name: what [`label!`](crate::label) is made of.

use std::panic::Location;

use dpor::{Action, Budget, Info, Role};

use super::event::perform_alone;

/// The family of operations that labels are.
const FAMILY: &str = "label";

/// A name for a place.
#[derive(Debug)]
pub struct Label(Info);

impl Label {
    /// The label with this name.
    pub const fn new(name: &'static str) -> Label {
        Label(Info { name, family: FAMILY, role: Role::Plain })
    }
}

/// The thread passes the label: a step that others do not see.
#[track_caller]
pub fn pass(label: &'static Label) {
    let action = Action::Choose { alternatives: 1, budget: Budget::Free };
    // After the end of the execution it means nothing.
    perform_alone(action, &label.0, Location::caller());
}
