//! The operations of all atomics, on values that are plain words; nothing here depends on the type of the atomic.

use dpor::{Action, Info, Update};

use super::Ordering;
use super::updates::exchange;
use crate::model::controller::current;
use crate::model::event::{Answer, Identity, Site, exclusive, perform};
use crate::model::statics::is_static;

/// An atomic as these functions see it.
pub(super) struct Atomic<'a> {
    pub(super) identity: &'a Identity,
    /// The word in the real atomic, which the object starts from.
    pub(super) init: u64,
}

/// A load; `Done` holds the value.
#[inline(never)]
#[track_caller]
pub(super) fn load(atomic: Atomic<'_>, order: Ordering, info: &'static Info, site: Site) -> Answer {
    perform(atomic.identity, atomic.init, Action::Load { order }, info, site)
}

/// A store.
#[inline(never)]
#[track_caller]
pub(super) fn store(atomic: Atomic<'_>, value: u64, order: Ordering, info: &'static Info, site: Site) -> Answer {
    perform(atomic.identity, atomic.init, Action::Store { order, value }, info, site)
}

/// A read-modify-write that always writes; `Done` holds the old value.
#[inline(never)]
#[track_caller]
pub(super) fn update(
    atomic: Atomic<'_>,
    update: Update,
    operand: u64,
    order: Ordering,
    info: &'static Info,
    site: Site,
) -> Answer {
    let action = Action::Update { update, operands: [operand, 0], order, failure: Ordering::Relaxed, weak: false };
    perform(atomic.identity, atomic.init, action, info, site)
}

/// What a `compare_exchange` compares, writes and orders.
pub(super) struct Exchange {
    pub(super) expected: u64,
    pub(super) new: u64,
    pub(super) success: Ordering,
    pub(super) failure: Ordering,
    pub(super) weak: bool,
}

/// What came of a `compare_exchange`.
pub(super) enum Exchanged {
    /// It has not been performed by a model.
    Not(Answer),
    /// It succeeded; the old value.
    Success(u64),
    /// It failed; the old value.
    Failure(u64),
}

/// A `compare_exchange`.
#[inline(never)]
#[track_caller]
pub(super) fn compare_exchange(
    atomic: Atomic<'_>,
    Exchange { expected, new, success, failure, weak }: Exchange,
    info: &'static Info,
    site: Site,
) -> Exchanged {
    let action = Action::Update { update: exchange, operands: [expected, new], order: success, failure, weak };
    match perform(atomic.identity, atomic.init, action, info, site) {
        not @ (Answer::Outside | Answer::Inert) => Exchanged::Not(not),
        Answer::Done(old) if old != expected || (weak && failed_spuriously()) => Exchanged::Failure(old),
        Answer::Done(old) => Exchanged::Success(old),
    }
}

fn failed_spuriously() -> bool {
    current(|controller| controller.is_some_and(|c| !c.wrote()))
}

/// What happens with operations that come after the end of an execution.
pub(super) enum After {
    /// The real atomic performs them, after the newest value (if there is one) has been stored in it.
    Real(Option<u64>),
    /// Nothing.
    Nothing,
}

/// What happens with operations that come after the end of the execution: the real atomic goes on from the newest value, so
/// that destructors find things as they were left. Only a `static` must keep the value that the next execution starts from.
pub(super) fn after_the_end(atomic: Atomic<'_>, info: &'static Info, site: Site) -> After {
    match is_static(std::ptr::from_ref(atomic.identity).cast()) {
        Some(false) => After::Real(exclusive(atomic.identity, atomic.init, info, site)),
        _ => After::Nothing,
    }
}

/// Ends the model: its atomics have no address that could be given away.
#[cold]
#[inline(never)]
pub(super) fn no_address(identity: &Identity, info: &'static Info, site: Site) {
    current(|controller| {
        if let Some(controller) = controller
            && !controller.inert()
        {
            let message = format!(
                "{}::{} gives out the address of the value, and a model does not see what is done through it (created at {})",
                info.family,
                info.name,
                identity.created(),
            );
            controller.fail("outside", message, site);
        }
    });
}
