//! The ends of a channel: who holds them, and whether they are still there.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dpor::{Action, Info, ThreadId};

use crate::model::controller::{End, Reason, current};
use crate::model::event::{Identity, Site};

/// A sender or the receiver.
///
/// Whether a sender is *gone* is an object of its own, so that no order of drops is explored. All are gone if the first one
/// is, and its clones are, and theirs: the clones of one that is gone are known, and come in an order that does not depend on
/// who ran first.
pub(super) struct Handle {
    pub(super) gone: Identity,
    pub(super) created: Site,
    /// With the thread that made them.
    clones: Mutex<Vec<(ThreadId, Arc<Handle>)>>,
    /// One more than the thread that used it last; 0 if it was not used.
    user: AtomicU32,
    /// It is gone, or about to be.
    dropped: AtomicBool,
}

fn thread() -> Option<ThreadId> {
    current(|controller| controller.map(|controller| controller.thread()))
}

impl Handle {
    pub(super) fn new(created: Site) -> Arc<Handle> {
        Arc::new(Handle {
            gone: Identity::at(created),
            created,
            clones: Mutex::default(),
            user: AtomicU32::new(0),
            dropped: AtomicBool::new(false),
        })
    }

    pub(super) fn add_clone(&self, site: Site) -> Arc<Handle> {
        let clone = Handle::new(site);
        let mut clones = self.clones.lock().unwrap_or_else(PoisonError::into_inner);
        clones.push((thread().unwrap_or_default(), clone.clone()));
        clone
    }

    /// Notes who uses it.
    pub(super) fn use_now(&self) {
        self.user.store(thread().map_or(0, |thread| thread.0 + 1), Ordering::Relaxed);
    }

    pub(super) fn drop_now(&self) {
        self.dropped.store(true, Ordering::Relaxed);
    }

    /// Whether `holds` for this one and all its clones. Those of one for which it does not hold are not looked at.
    pub(super) fn all(self: &Arc<Self>, holds: impl Fn(&Handle) -> bool) -> bool {
        let mut rest = vec![self.clone()];
        while let Some(handle) = rest.pop() {
            if !holds(&handle) {
                return false;
            }
            let mut clones = handle.clones.lock().unwrap_or_else(PoisonError::into_inner).clone();
            // Clones of one thread stay in their order.
            clones.sort_by_key(|(thread, _)| *thread);
            rest.extend(clones.into_iter().rev().map(|(_, clone)| clone));
        }
        true
    }

    /// Those that are still there, for a report.
    fn left(self: &Arc<Self>, what: &'static str) -> Vec<End> {
        let left = Mutex::new(Vec::new());
        self.all(|handle| {
            if !handle.dropped.load(Ordering::Relaxed) {
                let user = handle.user.load(Ordering::Relaxed).checked_sub(1).map(ThreadId);
                let end = End { what, created: handle.created, user };
                left.lock().unwrap_or_else(PoisonError::into_inner).push(end);
            }
            true
        });
        left.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a receiver waits for.
pub(super) struct Awaited<'a> {
    pub(super) sent: &'a AtomicBool,
    pub(super) senders: &'a AtomicU64,
}

impl Awaited<'_> {
    /// The message has been sent, or is about to be.
    pub(super) const SENT: u64 = 0;
    /// No sender is left, or the last ones are about to go.
    const CLOSED: u32 = 1;

    /// To be performed while `self` is where it is.
    pub(super) fn action(&self) -> Action {
        Action::Await { settled: Self::settled, arg: std::ptr::from_ref(self).expose_provenance() as u64 }
    }

    fn settled(arg: u64) -> Option<u32> {
        // SAFETY: 1. It is asked only while the thread waits, which is within `perform`, so what `action` was called on and
        // what that refers to are still there. 2. Shared access to atomics is all that happens.
        let this = unsafe { &*std::ptr::with_exposed_provenance::<Awaited<'_>>(arg as usize) };
        if this.sent.load(Ordering::Relaxed) {
            return Some(Self::SENT as u32);
        }
        (this.senders.load(Ordering::Relaxed) == 0).then_some(Self::CLOSED)
    }
}

/// Tells a report that the running thread waits for a sender of the channel.
pub(super) fn whoever_sends(group: u64, info: &'static Info, created: Site, first: &Arc<Handle>) {
    explain(group, info, created, first, "sender");
}

/// Tells a report that the running thread waits for the receiver of the channel.
pub(super) fn whoever_receives(group: u64, info: &'static Info, created: Site, receiver: &Arc<Handle>) {
    explain(group, info, created, receiver, "receiver");
}

fn explain(group: u64, info: &'static Info, created: Site, handle: &Arc<Handle>, what: &'static str) {
    current(|controller| {
        if let Some(controller) = controller {
            controller.awaits(&mut || {
                let handle = handle.clone();
                let ends = Box::new(move || handle.left(what));
                Reason { group, family: info.family, created, ends }
            });
        }
    });
}
