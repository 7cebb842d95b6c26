//! Which memory orderings an operation accepts: as std, with its panics.

use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Release};

/// # Panics
///
/// If `order` means nothing for a load.
#[inline]
#[track_caller]
pub(super) fn check_load(order: Ordering) {
    match order {
        Release => panic!("there is no such thing as a release load"),
        AcqRel => panic!("there is no such thing as an acquire-release load"),
        _ => {}
    }
}

/// # Panics
///
/// If `order` means nothing for a store.
#[inline]
#[track_caller]
pub(super) fn check_store(order: Ordering) {
    match order {
        Acquire => panic!("there is no such thing as an acquire store"),
        AcqRel => panic!("there is no such thing as an acquire-release store"),
        _ => {}
    }
}

/// # Panics
///
/// If `order` means nothing for a read-modify-write that writes nothing.
#[inline]
#[track_caller]
pub(super) fn check_failure(order: Ordering) {
    match order {
        Release => panic!("there is no such thing as a release failure ordering"),
        AcqRel => panic!("there is no such thing as an acquire-release failure ordering"),
        _ => {}
    }
}

/// # Panics
///
/// If `order` means nothing for a fence.
#[inline]
#[track_caller]
pub(super) fn check_fence(order: Ordering) {
    if order == Ordering::Relaxed {
        panic!("there is no such thing as a relaxed fence");
    }
}

/// What a failed operation orders if only the ordering of its success was given.
pub(super) fn failure_of(order: Ordering) -> Ordering {
    match order {
        AcqRel => Acquire,
        Release => Ordering::Relaxed,
        other => other,
    }
}
