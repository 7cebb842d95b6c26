//! Who holds the two ends of a channel.
//!
//! The handles are counted in a model only if it matters which one of a side is dropped last: n drops that count have n!
//! orders. It matters
//!
//! * when a receiver waits for a message that nobody can send any more, or looks for one in vain;
//! * when a sender finds the receivers gone, waits for one, or has sent a message that nobody has received when the last
//!   receiver goes. (A message that was received was sent before its receiver went: then no send can come too late.)
//!
//! As with the counts of [`Arc`](crate::model::sync::Arc), the exploration starts again when that happens first, with all
//! channels counted that are created at the same place.

use std::sync::atomic::{AtomicUsize, Ordering};

use dpor::{Info, Outcome, Outcomes, Role, ThreadId};

use crate::model::controller::{Controller, current};
use crate::model::event::{Answer, Identity, Site, perform};
use crate::model::sync::mpsc::chan::{info, object};

fn count_outs(state: u64, [change, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    // An exploration also asks about states without the end that is dropped.
    if let Some(count) = state.checked_add_signed(change.cast_signed()) {
        out.push(Outcome::write(count, state));
    }
}

/// A side of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Send,
    Recv,
}

impl Side {
    pub(super) fn other(self) -> Side {
        match self {
            Side::Send => Side::Recv,
            Side::Recv => Side::Send,
        }
    }
}

static CLONE: [Info; 2] = [info("Sender", "clone", Role::Plain), info("Receiver", "clone", Role::Plain)];
static DROP: [Info; 2] = [info("Sender", "drop", Role::Plain), info("Receiver", "drop", Role::Plain)];

/// What the drop of a handle means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dropped {
    /// Nothing.
    OneOfMany,
    /// The handles are counted, and it was the last one of its side.
    Last,
    /// In this run it was the last one of its side, but the handles are not counted.
    LastUncounted,
}

/// The handles of a channel, by side.
#[derive(Debug)]
pub(super) struct Ends {
    objects: [Identity; 2],
    real: [AtomicUsize; 2],
    counted: bool,
    created: Site,
}

impl Ends {
    /// One handle on each side.
    pub(super) fn new(controller: &dyn Controller, site: Site) -> Self {
        Ends {
            objects: [Identity::at(site), Identity::at(site)],
            real: [AtomicUsize::new(1), AtomicUsize::new(1)],
            counted: controller.counts(site),
            created: site,
        }
    }

    pub(super) fn created(&self) -> Site {
        self.created
    }

    /// In a model that counts, the number of handles changes; how many there were.
    fn count(&self, side: Side, change: u64, info: &'static Info, site: Site) -> Option<u64> {
        if !self.counted {
            return None;
        }
        match perform(&self.objects[side as usize], 1, object(count_outs, change, false), info, site) {
            Answer::Done(before) => Some(before),
            Answer::Outside | Answer::Inert => None,
        }
    }

    /// One handle more.
    pub(super) fn add(&self, side: Side, site: Site) {
        self.count(side, 1, &CLONE[side as usize], site);
        self.real[side as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// One handle less.
    pub(super) fn remove(&self, side: Side) -> Dropped {
        let before = self.count(side, 1u64.wrapping_neg(), &DROP[side as usize], self.created);
        let real = self.real[side as usize].fetch_sub(1, Ordering::Relaxed);
        match (before, real) {
            (Some(1), _) => Dropped::Last,
            (None, 1) if !self.counted => Dropped::LastUncounted,
            _ => Dropped::OneOfMany,
        }
    }

    /// Whether, in this run and at this moment, no handle of a side is left.
    pub(super) fn none_left(&self, side: Side) -> bool {
        self.real[side as usize].load(Ordering::Relaxed) == 0
    }

    /// To be called before it tells anything whether there are handles: a model has to count them from now on.
    pub(super) fn observe(&self) {
        current(|controller| {
            if let Some(controller) = controller
                && !self.counted
                && !controller.inert()
            {
                controller.count_from_now_on(self.created);
            }
        });
    }
}
