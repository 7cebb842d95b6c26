//! `Parker` and `Unparker`: one token, as of a thread that is parked.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dpor::{Action, Info, Outs, Role};

use crate::model::controller::current;
use crate::model::event::{Answer, Identity, Site, perform};
use crate::model::sync::mpsc::chan::info;
use crate::model::thread::{TOKEN_ABSENT, park_outs, park_timeout_outs, unpark_outs};
use crate::model::time::{Instant, Limit, Wait};

static PARK: Info = info("Parker", "park", Role::Wait);
static PARK_TIMEOUT: Info = info("Parker", "park_timeout", Role::Wait);
static UNPARK: Info = info("Unparker", "unpark", Role::Signal);

/// What both share.
struct Inner {
    identity: Identity,
    parker: crossbeam_utils::sync::Parker,
}

// SAFETY: 1. Only the one `Parker` parks, and that is not `Sync`.
unsafe impl Sync for Inner {}

impl Inner {
    #[track_caller]
    fn perform(&self, outs: Outs, yields: bool, info: &'static Info, site: Site) -> Answer {
        let action = Action::Object { outs, args: [0; 2], failure: Ordering::Relaxed, yields };
        perform(&self.identity, TOKEN_ABSENT, action, info, site)
    }
}

/// Stands in for [`crossbeam_utils::sync::Parker`]. It does not wake up spuriously.
pub struct Parker {
    unparker: Unparker,
    not_sync: PhantomData<*const ()>,
}

// SAFETY: 1. Which thread parks makes no difference.
unsafe impl Send for Parker {}

/// Stands in for [`crossbeam_utils::sync::Unparker`].
pub struct Unparker {
    inner: Arc<Inner>,
}

impl UnwindSafe for Inner {}
impl RefUnwindSafe for Inner {}

impl Parker {
    /// Stands in for [`crossbeam_utils::sync::Parker::new`].
    #[track_caller]
    pub fn new() -> Parker {
        let inner = Inner { identity: Identity::new(), parker: crossbeam_utils::sync::Parker::new() };
        Parker::of(Unparker { inner: Arc::new(inner) })
    }

    fn of(unparker: Unparker) -> Parker {
        Parker { unparker, not_sync: PhantomData }
    }

    /// Stands in for [`crossbeam_utils::sync::Parker::park`].
    #[track_caller]
    pub fn park(&self) {
        let inner = &self.unparker.inner;
        if inner.perform(park_outs, false, &PARK, Location::caller()) == Answer::Outside {
            inner.parker.park();
        }
    }

    /// Stands in for [`crossbeam_utils::sync::Parker::park_timeout`]. In a model it may give up whenever there is no token,
    /// however long the timeout.
    #[track_caller]
    pub fn park_timeout(&self, timeout: Duration) {
        self.park_within(timeout, |parker| parker.park_timeout(timeout), Location::caller());
    }

    /// Stands in for [`crossbeam_utils::sync::Parker::park_deadline`]. In a model it may give up whenever there is no token,
    /// however late the deadline.
    #[track_caller]
    pub fn park_deadline(&self, deadline: Instant) {
        self.park_within(deadline, |parker| parker.park_deadline(deadline.into()), Location::caller());
    }

    #[track_caller]
    fn park_within(&self, limit: impl Limit, real: impl FnOnce(&crossbeam_utils::sync::Parker), site: Site) {
        let inner = &self.unparker.inner;
        let wait = Wait::start(limit, site);
        match inner.perform(park_timeout_outs, true, &PARK_TIMEOUT, site) {
            Answer::Outside => real(&inner.parker),
            // It has not taken the token.
            Answer::Done(_) if !current(|controller| controller.is_some_and(|c| c.wrote())) => wait.give_up(site),
            _ => {}
        }
    }

    /// Stands in for [`crossbeam_utils::sync::Parker::unparker`].
    pub fn unparker(&self) -> &Unparker {
        &self.unparker
    }

    /// Stands in for [`crossbeam_utils::sync::Parker::into_raw`].
    pub fn into_raw(this: Parker) -> *const () {
        Unparker::into_raw(this.unparker)
    }

    /// Stands in for [`crossbeam_utils::sync::Parker::from_raw`].
    ///
    /// # Safety
    ///
    /// The pointer must come from `into_raw`, and be used once.
    pub unsafe fn from_raw(ptr: *const ()) -> Parker {
        // SAFETY: 1. The caller's promise is the same.
        Parker::of(unsafe { Unparker::from_raw(ptr) })
    }
}

impl Default for Parker {
    #[track_caller]
    fn default() -> Self {
        Parker::new()
    }
}

impl fmt::Debug for Parker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Parker { .. }")
    }
}

impl Unparker {
    /// Stands in for [`crossbeam_utils::sync::Unparker::unpark`].
    #[track_caller]
    pub fn unpark(&self) {
        if self.inner.perform(unpark_outs, false, &UNPARK, Location::caller()) == Answer::Outside {
            self.inner.parker.unparker().unpark();
        }
    }

    /// Stands in for [`crossbeam_utils::sync::Unparker::into_raw`].
    pub fn into_raw(this: Unparker) -> *const () {
        Arc::into_raw(this.inner).cast()
    }

    /// Stands in for [`crossbeam_utils::sync::Unparker::from_raw`].
    ///
    /// # Safety
    ///
    /// The pointer must come from `into_raw`, and be used once.
    pub unsafe fn from_raw(ptr: *const ()) -> Unparker {
        // SAFETY: 1. `into_raw` made the pointer of such an `Arc`, and left its count as it was.
        Unparker { inner: unsafe { Arc::from_raw(ptr.cast()) } }
    }
}

impl Clone for Unparker {
    fn clone(&self) -> Self {
        Unparker { inner: self.inner.clone() }
    }
}

impl fmt::Debug for Unparker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Unparker { .. }")
    }
}
