//! The counts of an `Arc`, real and modelled.

use std::panic::Location;
use std::process;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};

use dpor::{Action, Info, Role, Update};

use crate::model::controller::{Controller, Target, current};
use crate::model::deferred::drop_uncounted;
use crate::model::event::{Answer, Identity, Site, perform_in};

/// Both counts of one shared value.
///
/// The real ones are kept in all cases: they own the memory, and a model starts from them. But when the modelled count says
/// that a handle was the last, the real one may not know yet: a thread can be suspended between its operation and what it
/// does then. So the modelled count decides about the value, and the real one about the memory.
pub(super) struct Counts {
    strong: AtomicUsize,
    /// All strong handles together hold one, so that the memory outlives the value. `LOCKED` while `get_mut` looks.
    weak: AtomicUsize,
    /// The value has been dropped or taken.
    gone: AtomicBool,
    /// The modelled number of strong handles.
    strong_identity: Identity,
    /// The modelled number of weak ones.
    weak_identity: Identity,
    /// The execution that asked last whether this count is modelled, and the answer in the lowest bit.
    modelled: AtomicU64,
}

const LOCKED: usize = usize::MAX;

/// More handles than memory could hold: they have been forgotten, and the count is about to overflow.
const TOO_MANY: usize = isize::MAX as usize;

fn add(state: u64, [handles, _]: [u64; 2]) -> Option<u64> {
    Some(state.wrapping_add(handles))
}

fn add_if_alive(state: u64, [handles, _]: [u64; 2]) -> Option<u64> {
    (state != 0).then(|| state + handles)
}

fn take_if_only(state: u64, _: [u64; 2]) -> Option<u64> {
    (state == 1).then_some(0)
}

const ONE: u64 = 1;
const MINUS_ONE: u64 = u64::MAX;

const fn info(family: &'static str, name: &'static str) -> Info {
    Info { name, family, role: Role::Plain }
}

static CLONE: Info = info("Arc", "clone");
static DROP: Info = info("Arc", "drop");
static DOWNGRADE: Info = info("Arc", "downgrade");
static STRONG_COUNT: Info = info("Arc", "strong_count");
static WEAK_COUNT: Info = info("Arc", "weak_count");
static TRY_UNWRAP: Info = info("Arc", "try_unwrap");
static GET_MUT: Info = info("Arc", "get_mut");
static MAKE_MUT: Info = info("Arc", "make_mut");
static UPGRADE: Info = info("Weak", "upgrade");
static CLONE_WEAK: Info = info("Weak", "clone");
static DROP_WEAK: Info = info("Weak", "drop");

/// What a model says to the end of a strong handle.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Announced {
    /// Nothing: the real count decides.
    NotCounted,
    /// There are others.
    Shared,
    /// It was the last one.
    Last,
}

/// What the handle that has taken the value still has to give up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// Its part of the real strong count, and then perhaps the next.
    Strong,
    /// What the strong handles hold together.
    Memory,
}

/// Whether the value can be had exclusively.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unique {
    /// No other handle of either kind.
    Yes,
    /// Only weak ones; they cannot be upgraded any more, and the value has been claimed.
    ExceptWeak(Share),
    /// There are other strong handles.
    No,
}

impl Counts {
    /// One strong handle, created at `site`.
    pub(super) const fn one(site: Site) -> Self {
        Counts::new(1, site)
    }

    /// No strong handle yet, and one weak.
    pub(super) const fn none_yet(site: Site) -> Self {
        Counts::new(0, site)
    }

    const fn new(strong: usize, site: Site) -> Self {
        Counts {
            strong: AtomicUsize::new(strong),
            weak: AtomicUsize::new(1),
            gone: AtomicBool::new(false),
            strong_identity: Identity::at(site),
            weak_identity: Identity::at(site),
            modelled: AtomicU64::new(0),
        }
    }

    /// Where the value was created.
    pub(super) fn created(&self) -> Site {
        self.strong_identity.created()
    }

    /// Whether this count is modelled in the execution of `controller`.
    fn is_counted(&self, controller: &dyn Controller) -> bool {
        let execution = controller.execution();
        let known = self.modelled.load(Relaxed);
        if known >> 1 == execution {
            return known & 1 != 0;
        }
        let counted = controller.counts(self.created());
        self.modelled.store(execution << 1 | u64::from(counted), Relaxed);
        counted
    }

    /// Performs `action` on a modelled count, if there is one and it is to be used.
    fn perform(&self, target: Target<'_>, action: Action, info: &'static Info, site: Site) -> Option<u64> {
        current(|controller| match controller {
            Some(controller) if self.is_counted(controller) => {
                match perform_in(controller, Some(target), action, info, site) {
                    Answer::Done(old) => Some(old),
                    Answer::Inert | Answer::Outside => None,
                }
            }
            Some(_) => None,
            None => {
                self.strong_identity.outside(info);
                None
            }
        })
    }

    /// An operation on the number of strong handles.
    fn strong(&self, action: Action, info: &'static Info, site: Site) -> Option<u64> {
        let init = self.strong.load(Relaxed) as u64;
        self.perform(self.strong_identity.target(init), action, info, site)
    }

    /// An operation on the number of weak handles. What the strong ones hold together is not a handle.
    fn weak(&self, action: Action, info: &'static Info, site: Site) -> Option<u64> {
        let together = usize::from(self.strong.load(Relaxed) != 0);
        let init = self.weak.load(Relaxed).saturating_sub(together) as u64;
        self.perform(self.weak_identity.target(init), action, info, site)
    }

    /// To be called before the count tells anything: a model has to count from now on if it does not yet.
    fn observe(&self) {
        current(|controller| {
            if let Some(controller) = controller
                && !controller.inert()
                && !self.is_counted(controller)
            {
                controller.count_from_now_on(self.created());
            }
        });
    }

    /// One more strong handle, from one that exists.
    pub(super) fn add_strong(&self, site: Site) {
        self.strong(update(add, ONE, Relaxed), &CLONE, site);
        self.really_add_strong();
    }

    fn really_add_strong(&self) {
        if self.strong.fetch_add(1, Relaxed) > TOO_MANY {
            process::abort();
        }
    }

    /// Tells a model that a strong handle is given up, at `site` if that is known. Followed by `release_strong`, in any case:
    /// an execution that ends here does not keep its memory.
    pub(super) fn announce_release(&self, site: Option<Site>) -> Announced {
        let site = site.unwrap_or(self.created());
        match self.strong(update(add, MINUS_ONE, Release), &DROP, site) {
            None => Announced::NotCounted,
            Some(1) => Announced::Last,
            Some(_) => Announced::Shared,
        }
    }

    /// As `announce_release`, for `into_inner`, whose result tells whether the handle was the last one.
    pub(super) fn announce_into_inner(&self, site: Site) -> Announced {
        self.observe();
        self.announce_release(Some(site))
    }

    /// Gives up a strong handle of the real count; true if it was the last one.
    pub(super) fn release_strong(&self) -> bool {
        let last = self.strong.fetch_sub(1, Release) == 1;
        if last {
            fence(Acquire);
        }
        last
    }

    /// Whoever gets `true` has to drop or take the value.
    pub(super) fn claim_value(&self) -> bool {
        !self.gone.swap(true, Relaxed)
    }

    /// Runs `end`, which drops or takes the value, ordered after everything it was used for by the modelled count. Also if
    /// the execution ends before it comes to that, since the last handle is gone.
    pub(super) fn in_counted_order(&self, end: impl FnOnce()) {
        struct Always<F: FnOnce()>(Option<F>);
        impl<F: FnOnce()> Drop for Always<F> {
            fn drop(&mut self) {
                if let Some(end) = self.0.take() {
                    end();
                }
            }
        }
        let _always = Always(Some(end));
        current(|controller| {
            if let Some(controller) = controller {
                perform_in(controller, None, Action::Fence { order: Acquire }, &DROP, self.created());
            }
        });
    }

    /// Runs `end`, which drops or takes the value, ordered after everything it was used for by the real count.
    pub(super) fn in_real_order(&self, end: impl FnOnce()) {
        current(|controller| match controller {
            Some(controller) if !controller.inert() => drop_uncounted(controller, self.created(), end),
            _ => end(),
        });
    }

    /// One more weak handle, from a strong one.
    pub(super) fn downgrade(&self, site: Site) {
        self.weak(update(add, ONE, Relaxed), &DOWNGRADE, site);
        let mut seen = self.weak.load(Relaxed);
        loop {
            if seen == LOCKED {
                std::hint::spin_loop();
                seen = self.weak.load(Relaxed);
                continue;
            }
            if seen > TOO_MANY {
                process::abort();
            }
            match self.weak.compare_exchange_weak(seen, seen + 1, Acquire, Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// One more weak handle, from one that exists.
    pub(super) fn add_weak(&self, site: Site) {
        self.weak(update(add, ONE, Relaxed), &CLONE_WEAK, site);
        if self.weak.fetch_add(1, Relaxed) > TOO_MANY {
            process::abort();
        }
    }

    /// Tells a model that a weak handle is given up. Followed by `release_memory`, in any case.
    pub(super) fn announce_release_weak(&self) {
        self.weak(update(add, MINUS_ONE, Release), &DROP_WEAK, self.created());
    }

    /// Gives up a weak handle, or what the strong handles hold together; true if the memory has to be freed.
    pub(super) fn release_memory(&self) -> bool {
        let last = self.weak.fetch_sub(1, Release) == 1;
        if last {
            fence(Acquire);
        }
        last
    }

    /// One more strong handle, from a weak one; false if the value is gone.
    pub(super) fn upgrade(&self, site: Site) -> bool {
        self.observe();
        match self.strong(update(add_if_alive, ONE, Acquire), &UPGRADE, site) {
            Some(0) => false,
            Some(_) => {
                self.really_add_strong();
                true
            }
            None => self.really_upgrade(),
        }
    }

    fn really_upgrade(&self) -> bool {
        if self.gone.load(Relaxed) {
            return false;
        }
        match self.strong.try_update(Acquire, Relaxed, |count| (count != 0).then(|| count + 1)) {
            Ok(old) if old > TOO_MANY => process::abort(),
            result => result.is_ok(),
        }
    }

    /// Claims the value for the only strong handle; `None` if there are others.
    pub(super) fn take_if_only(&self, site: Site) -> Option<Share> {
        self.observe();
        match self.strong(update(take_if_only, 0, Acquire), &TRY_UNWRAP, site) {
            Some(old) => (old == 1 && self.claim_value()).then_some(Share::Strong),
            None => {
                let only = self.strong.compare_exchange(1, 0, Acquire, Relaxed).is_ok();
                (only && self.claim_value()).then_some(Share::Memory)
            }
        }
    }

    /// Whether a strong handle is the only handle of all.
    pub(super) fn is_unique(&self, site: Site) -> bool {
        self.observe();
        let load = Action::Load { order: Acquire };
        match self.weak(load, &GET_MUT, site) {
            None => self.is_really_unique(),
            Some(0) => self.strong(load, &GET_MUT, site).is_none_or(|strong| strong == 1),
            Some(_) => false,
        }
    }

    /// The weak count is locked meanwhile, so that no weak handle is made of another strong one, which is then dropped,
    /// between the two looks.
    fn is_really_unique(&self) -> bool {
        if self.weak.compare_exchange(1, LOCKED, Acquire, Relaxed).is_err() {
            return false;
        }
        let unique = self.strong.load(Acquire) == 1;
        self.weak.store(1, Release);
        unique
    }

    /// Makes the value of a strong handle its own as far as that goes without copying it.
    pub(super) fn make_unique(&self, site: Site) -> Unique {
        self.observe();
        let load = Action::Load { order: Acquire };
        match self.weak(load, &MAKE_MUT, site) {
            None => self.really_make_unique(),
            Some(0) => match self.strong(load, &MAKE_MUT, site) {
                None => self.really_make_unique(),
                Some(1) => Unique::Yes,
                Some(_) => Unique::No,
            },
            Some(_) => match self.strong(update(take_if_only, 0, Acquire), &MAKE_MUT, site) {
                None => self.really_make_unique(),
                Some(1) if self.claim_value() => Unique::ExceptWeak(Share::Strong),
                Some(_) => Unique::No,
            },
        }
    }

    fn really_make_unique(&self) -> Unique {
        if self.strong.compare_exchange(1, 0, Acquire, Relaxed).is_err() {
            return Unique::No;
        }
        if self.weak.load(Acquire) != 1 {
            self.claim_value();
            return Unique::ExceptWeak(Share::Memory);
        }
        self.strong.store(1, Release);
        Unique::Yes
    }

    /// How many strong handles there are.
    pub(super) fn strong_count(&self, site: Site) -> usize {
        self.observe();
        match self.strong(Action::Load { order: Relaxed }, &STRONG_COUNT, site) {
            Some(count) => count as usize,
            None if self.gone.load(Relaxed) => 0,
            None => self.strong.load(Relaxed),
        }
    }

    /// How many weak handles there are, as a strong one sees it.
    pub(super) fn weak_count(&self, site: Site) -> usize {
        self.observe();
        match self.weak(Action::Load { order: Relaxed }, &WEAK_COUNT, site) {
            Some(count) => count as usize,
            None => match self.weak.load(Relaxed) {
                LOCKED => 0,
                count => count - 1,
            },
        }
    }

    /// How many weak handles there are, as a weak one sees it: none once the value is gone.
    pub(super) fn weak_count_of_weak(&self, site: Site) -> usize {
        self.observe();
        let load = |order| Action::Load { order };
        match self.weak(load(Acquire), &WEAK_COUNT, site) {
            Some(weak) => match self.strong(load(Relaxed), &WEAK_COUNT, site) {
                Some(0) => 0,
                _ => weak as usize,
            },
            None => {
                let weak = self.weak.load(Acquire);
                let alive = self.strong.load(Relaxed) != 0 && !self.gone.load(Relaxed);
                if alive { weak.saturating_sub(1) } else { 0 }
            }
        }
    }

    /// The first strong handle of a value that was made with a weak one at hand.
    pub(super) fn begin(&self) {
        self.strong.store(1, Release);
        self.strong_identity.slot().forget();
    }
}

fn update(update: Update, operand: u64, order: Ordering) -> Action {
    Action::Update { update, operands: [operand, 0], order, failure: Relaxed, weak: false }
}

/// The place in the source where the caller was called.
#[track_caller]
pub(super) fn here() -> Site {
    Location::caller()
}
