//! Fences.

use std::panic::Location;

use dpor::{Action, Info, Role};

use super::Ordering;
use super::orders::check_fence;
use crate::model::event::{Answer, perform_alone};

/// Stands in for [`std::sync::atomic::fence`].
///
/// # Panics
///
/// If `order` is `Relaxed`.
#[inline]
#[track_caller]
pub fn fence(order: Ordering) {
    const INFO: &Info = &Info { name: "fence", family: "atomic", role: Role::Plain };
    check_fence(order);
    if perform_alone(Action::Fence { order }, INFO, Location::caller()) == Answer::Outside {
        std::sync::atomic::fence(order);
    }
}

/// Stands in for [`std::sync::atomic::compiler_fence`]. It orders nothing between threads, so a model does not see it.
///
/// # Panics
///
/// If `order` is `Relaxed`.
#[inline]
#[track_caller]
pub fn compiler_fence(order: Ordering) {
    check_fence(order);
    std::sync::atomic::compiler_fence(order);
}
