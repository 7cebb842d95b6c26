//! One visible operation, as a shim asks for it: everything that other threads could notice goes through [`perform`].

use std::panic::Location;

use dpor::{Action, Info, ObjectId, Op};

use super::controller::{Controller, Inert, Slot, Target, current, current_for_a_call};
use super::{deferred, live, statics, world};

/// Where in the source something was written.
pub type Site = &'static Location<'static>;

/// What came of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No model runs on this OS thread: the shim does the real thing.
    Outside,
    /// Performed, with this result.
    Done(u64),
    /// The execution is over (see [`Inert`]): the shim does nothing and returns something harmless.
    Inert,
}

/// By what a shim object is known: its slot in the running execution, and where it was created.
///
/// All bits zero are valid (an object of unknown origin), since std's atomics and cells may be made from zeroed memory too.
#[derive(Debug)]
pub struct Identity {
    slot: Slot,
    created: Option<Site>,
}

impl Identity {
    /// Of an object that is created where the caller was called.
    #[track_caller]
    pub const fn new() -> Self {
        Identity::at(Location::caller())
    }

    /// Of an object that is created at `site`.
    pub const fn at(site: Site) -> Self {
        Identity { slot: Slot::new(), created: Some(site) }
    }

    /// Where the object was created.
    #[inline]
    pub fn created(&self) -> Site {
        match self.created {
            Some(site) => site,
            None => unknown_origin(),
        }
    }

    /// The slot.
    #[inline]
    pub fn slot(&self) -> &Slot {
        &self.slot
    }

    /// The object as the controller wants to see it, with the state it had when this execution found it.
    #[inline]
    pub fn target(&self, init: u64) -> Target<'_> {
        Target { slot: &self.slot, init, created: self.created(), name: None, group: 0 }
    }

    /// To be called when the object is used outside a model.
    ///
    /// # Panics
    ///
    /// If the object belongs to an execution that is running (on another OS thread): the two would not see each other. That
    /// execution fails, too.
    #[inline]
    #[track_caller]
    pub fn outside(&self, info: &'static Info) {
        if self.slot.get() != 0 || live::anything_runs() {
            used_outside(self, info);
        }
    }
}

impl Default for Identity {
    #[track_caller]
    fn default() -> Self {
        Identity::new()
    }
}

/// What stands for the creation site of an object that was made from zeroed memory.
#[cold]
fn unknown_origin() -> Site {
    Location::caller()
}

#[cold]
#[inline(never)]
#[track_caller]
fn used_outside(identity: &Identity, info: &'static Info) {
    if live::touch(identity.slot(), info, Location::caller(), identity.created()) {
        panic!(
            "error[interleave::outside]: {}::{} from outside the model: the object created at {} is in use by a running \
             model, and this OS thread is not one of its threads (was it started with `std::thread::spawn`?)",
            info.family,
            info.name,
            identity.created(),
        );
    }
}

/// Performs `action` on the object behind `identity`, whose state was `init` when this execution found it.
///
/// # Panics
///
/// As [`Identity::outside`], if no model runs here but the object is in one. Unwinds if the execution ends here.
#[inline(always)]
#[track_caller]
pub fn perform(identity: &Identity, init: u64, action: Action, info: &'static Info, site: Site) -> Answer {
    perform_part(0, identity, init, action, info, site)
}

/// As [`perform`], for one of several objects that are one for users: see [`Target::group`].
///
/// # Panics
///
/// As [`perform`].
#[inline(always)]
#[track_caller]
pub fn perform_part(
    group: u64,
    identity: &Identity,
    init: u64,
    action: Action,
    info: &'static Info,
    site: Site,
) -> Answer {
    // SAFETY: it is not kept.
    match unsafe { current_for_a_call() } {
        Some(controller) => perform_in(controller, Some(Target { group, ..identity.target(init) }), action, info, site),
        None => {
            identity.outside(info);
            Answer::Outside
        }
    }
}

/// Performs an action that has no object: a fence, a choice, a spawn, a yield.
///
/// # Panics
///
/// Unwinds if the execution ends here.
#[inline]
pub fn perform_alone(action: Action, info: &'static Info, site: Site) -> Answer {
    current(|controller| match controller {
        Some(controller) => perform_in(controller, None, action, info, site),
        None => Answer::Outside,
    })
}

/// As [`perform`], when the controller is at hand; never [`Answer::Outside`].
#[inline(always)]
pub fn perform_in(
    controller: &dyn Controller,
    target: Option<Target<'_>>,
    action: Action,
    info: &'static Info,
    site: Site,
) -> Answer {
    let op = Op { action, object: ObjectId::NONE, info, site };
    if deferred::settle(controller) {
        return perform_in_process(controller, target, op);
    }
    match controller.perform(target, op) {
        Ok(result) => Answer::Done(result),
        Err(Inert) => Answer::Inert,
    }
}

/// The same while there are simulated processes: the one that the thread belongs to may end before the operation.
#[cold]
#[inline(never)]
fn perform_in_process(controller: &dyn Controller, target: Option<Target<'_>>, op: Op) -> Answer {
    let site = op.site;
    if let Some(target) = &target {
        statics::touch(controller, target.slot);
    }
    match world::before_operation(controller, site).and_then(|()| controller.perform(target, op)) {
        Ok(result) => {
            world::after_operation(controller);
            Answer::Done(result)
        }
        Err(Inert) => Answer::Inert,
    }
}

/// Takes the newest state of an object that the caller holds exclusively (`get_mut`, `into_inner`), and makes the object
/// new; `None` if the running execution has not used it or no model runs. The caller writes the state to where a new object
/// starts from.
///
/// # Panics
///
/// As [`Identity::outside`]. Unwinds if the access races with an operation that is not ordered before it.
#[track_caller]
pub fn exclusive(identity: &Identity, init: u64, info: &'static Info, site: Site) -> Option<u64> {
    current(|controller| match controller {
        Some(controller) => controller.exclusive(identity.target(init), info, site),
        None => {
            identity.outside(info);
            None
        }
    })
}

/// Reads the newest state of an object as plain memory is read; `None` if the running execution has not used it or no model
/// runs.
///
/// # Panics
///
/// As [`Identity::outside`]. Unwinds if the read races with a write that is not ordered before it.
#[inline]
#[track_caller]
pub fn unsynchronised(identity: &Identity, init: u64, info: &'static Info, site: Site) -> Option<u64> {
    current(|controller| match controller {
        Some(controller) => {
            statics::touch(controller, identity.slot());
            controller.unsynchronised(identity.target(init), info, site)
        }
        None => {
            identity.outside(info);
            None
        }
    })
}

/// Whether the running model thread is only being unwound. False outside a model.
pub fn inert() -> bool {
    current(|controller| controller.is_some_and(|c| c.inert()))
}

/// What an operation can come to in a state, for the tests of the functions that say so.
#[cfg(test)]
pub(crate) fn outcomes_of(outs: dpor::Outs, state: u64, args: [u64; 2], thread: dpor::ThreadId) -> Vec<dpor::Outcome> {
    let mut out = dpor::Outcomes::default();
    outs(state, args, thread, &mut out);
    out.as_slice().to_vec()
}
