//! The counts of an `Arc`, real and modelled.

use std::panic::Location;
use std::process;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};

use dpor::{Action, Info, Role, Update};

use crate::model::alloc::Tracked;
use crate::model::controller::{ARC, Controller, current};
use crate::model::deferred::drop_uncounted;
use crate::model::event::{Answer, Identity, Site, perform_in};

/// Both counts of one shared value.
///
/// The real ones are kept in all cases: they own the memory, and a model starts from them. But other threads may run before
/// an operation is performed, and also after it, before its thread goes on. So while a model runs its real counts are at no
/// certain point of the execution: what a handle does, and which operations it performs, is decided by the results of
/// modelled operations alone. The real counts
///
/// * own the memory: a handle has its share of them from before its first operation until after its last one, so that
///   whatever is suspended in an operation finds its object;
/// * decide about the value where nothing is modelled, which includes the end of an execution that was cut short.
///
/// For the second it takes that some handle has a share of the real strong count whenever the modelled one is not 0. It has:
/// `clone` borrows a handle meanwhile, and `upgrade` reserves a share first.
pub(super) struct Counts {
    /// `new_cyclic` has a share before there is a value. Never grows from 0.
    strong: AtomicUsize,
    /// All strong handles together hold one, so that the memory outlives the value. `LOCKED` while `get_mut` looks.
    weak: AtomicUsize,
    /// There is no value: not yet, or it has been dropped or taken.
    gone: AtomicBool,
    /// The modelled number of strong handles.
    strong_identity: Identity,
    /// The modelled number of weak ones, without what the strong ones hold together; or `LOOKING`.
    weak_identity: Identity,
    /// The execution that asked last whether this count is modelled, and the answer in the lowest bit.
    modelled: AtomicU64,
    /// What that execution found: both counts, before any of its threads changed them.
    found: [AtomicU64; 2],
    /// The memory has to be freed.
    tracked: Tracked,
}

const LOCKED: usize = usize::MAX;

/// The modelled number of weak handles while `get_mut` looks at the strong ones: none, and none has been made since.
const LOOKING: u64 = 1 << 63;

/// More handles than memory could hold: they have been forgotten, and the count is about to overflow.
const TOO_MANY: usize = isize::MAX as usize;

fn one_more(state: u64, _: [u64; 2]) -> Option<u64> {
    state.checked_add(1)
}

/// Defined for 0 too, where no thread has anything to give up: an exploration tries operations on all states of an object.
fn one_less(state: u64, _: [u64; 2]) -> Option<u64> {
    state.checked_sub(1)
}

fn one_more_if_alive(state: u64, _: [u64; 2]) -> Option<u64> {
    if state == 0 { None } else { state.checked_add(1) }
}

fn take_if_only(state: u64, _: [u64; 2]) -> Option<u64> {
    (state == 1).then_some(0)
}

/// One more weak handle, from a strong one. `get_mut` of another one looks in vain then.
fn one_more_weak(state: u64, _: [u64; 2]) -> Option<u64> {
    if state == LOOKING { Some(1) } else { state.checked_add(1) }
}

fn begin_look(state: u64, _: [u64; 2]) -> Option<u64> {
    (state == 0).then_some(LOOKING)
}

fn end_look(state: u64, _: [u64; 2]) -> Option<u64> {
    (state == LOOKING).then_some(0)
}

const fn info(family: &'static str, name: &'static str) -> Info {
    Info { name, family, role: Role::Plain }
}

static NEW_CYCLIC: Info = info("Arc", "new_cyclic");
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

/// What came of an upgrade.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Upgraded {
    /// The value is gone.
    No,
    /// A model has counted the new handle; the share that was reserved is its share of the real count.
    InModel,
    /// The real count includes it, apart from any share that was reserved.
    Really,
}

impl Counts {
    /// One strong handle, created at `site`.
    pub(super) fn one(site: Site) -> Self {
        Counts::new(false, site)
    }

    /// No value yet, but a share for the strong handle that it will have: see `begin`.
    pub(super) fn none_yet(site: Site) -> Self {
        Counts::new(true, site)
    }

    fn new(gone: bool, site: Site) -> Self {
        Counts {
            strong: AtomicUsize::new(1),
            weak: AtomicUsize::new(1),
            gone: AtomicBool::new(gone),
            strong_identity: Identity::at(site),
            weak_identity: Identity::at(site),
            modelled: AtomicU64::new(0),
            found: [const { AtomicU64::new(0) }; 2],
            tracked: Tracked::new(ARC, site),
        }
    }

    /// The memory is about to be freed.
    pub(super) fn freed(&self) {
        self.tracked.end();
    }

    /// Where the value was created.
    pub(super) fn created(&self) -> Site {
        self.strong_identity.created()
    }

    /// Whether this count is modelled in the execution of `controller`. To be asked before a real count is changed, so that the
    /// first time in an execution both counts are as the execution found them.
    fn is_counted(&self, controller: &dyn Controller) -> bool {
        let execution = controller.execution();
        let known = self.modelled.load(Relaxed);
        if known >> 1 == execution {
            return known & 1 != 0;
        }
        let strong = self.strong.load(Relaxed);
        let together = usize::from(strong != 0);
        let handles = if self.gone.load(Relaxed) { 0 } else { strong };
        self.found[0].store(handles as u64, Relaxed);
        self.found[1].store(self.weak.load(Relaxed).saturating_sub(together) as u64, Relaxed);
        let counted = controller.counts(self.created());
        self.modelled.store(execution << 1 | u64::from(counted), Relaxed);
        counted
    }

    /// Performs `action` on a modelled count, if there is one and it is to be used.
    fn perform(
        &self,
        identity: &Identity,
        found: &AtomicU64,
        action: Action,
        info: &'static Info,
        site: Site,
    ) -> Option<u64> {
        current(|controller| match controller {
            Some(controller) if self.is_counted(controller) => {
                let target = identity.target(found.load(Relaxed));
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
        self.perform(&self.strong_identity, &self.found[0], action, info, site)
    }

    /// An operation on the number of weak handles.
    fn weak(&self, action: Action, info: &'static Info, site: Site) -> Option<u64> {
        self.perform(&self.weak_identity, &self.found[1], action, info, site)
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
        self.strong(update(one_more, Relaxed), &CLONE, site);
        if self.strong.fetch_add(1, Relaxed) > TOO_MANY {
            process::abort();
        }
    }

    /// Tells a model that a strong handle is given up, at `site` if that is known. Followed by `release_strong`, in any case:
    /// an execution that ends here does not keep its memory.
    pub(super) fn announce_release(&self, site: Option<Site>) -> Announced {
        let site = site.unwrap_or(self.created());
        match self.strong(update(one_less, Release), &DROP, site) {
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

    /// Whoever gets `true` has to drop or take the value. The one whom a modelled operation has told so always does.
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
        self.weak(update(one_more_weak, Acquire), &DOWNGRADE, site);
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
        self.weak(update(one_more, Relaxed), &CLONE_WEAK, site);
        if self.weak.fetch_add(1, Relaxed) > TOO_MANY {
            process::abort();
        }
    }

    /// Tells a model that a weak handle is given up. Followed by `release_memory`, in any case.
    pub(super) fn announce_release_weak(&self) {
        self.weak(update(one_less, Release), &DROP_WEAK, self.created());
    }

    /// Gives up a weak handle, or what the strong handles hold together; true if the memory has to be freed.
    pub(super) fn release_memory(&self) -> bool {
        let last = self.weak.fetch_sub(1, Release) == 1;
        if last {
            fence(Acquire);
        }
        last
    }

    /// To be called before `upgrade`: takes a share of the real strong count in advance, for if it succeeds in a model; the
    /// caller gives it up again otherwise. False if there is none to be had, and none will be needed: no model counts, or the
    /// value is gone already.
    pub(super) fn reserve_for_upgrade(&self) -> bool {
        self.observe();
        let counted = current(|controller| controller.is_some_and(|c| !c.inert() && self.is_counted(c)));
        counted && self.strong.try_update(Relaxed, Relaxed, |count| (count != 0).then(|| count + 1)).is_ok()
    }

    /// One more strong handle, from a weak one.
    pub(super) fn upgrade(&self, site: Site) -> Upgraded {
        match self.strong(update(one_more_if_alive, Acquire), &UPGRADE, site) {
            Some(0) => Upgraded::No,
            Some(_) => Upgraded::InModel,
            None if self.really_upgrade() => Upgraded::Really,
            None => Upgraded::No,
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
        match self.strong(update(take_if_only, Acquire), &TRY_UNWRAP, site) {
            Some(1) => self.claim_value().then_some(Share::Strong),
            Some(_) => None,
            None => {
                let only = self.strong.compare_exchange(1, 0, Acquire, Relaxed).is_ok();
                (only && self.claim_value()).then_some(Share::Memory)
            }
        }
    }

    /// Whether a strong handle is the only handle of all.
    pub(super) fn is_unique(&self, site: Site) -> bool {
        self.observe();
        self.is_unique_in_model(site).unwrap_or_else(|| self.is_really_unique())
    }

    /// A weak handle that is made of another strong one, which is then dropped, between the looks at the two counts must not
    /// be missed. Std makes `downgrade` wait for the second look, which is the same as if it came first and `get_mut` failed.
    fn is_unique_in_model(&self, site: Site) -> Option<bool> {
        if self.weak(update(begin_look, Acquire), &GET_MUT, site)? != 0 {
            return Some(false);
        }
        let strong = self.strong(Action::Load { order: Acquire }, &GET_MUT, site)?;
        let undisturbed = self.weak(update(end_look, Release), &GET_MUT, site)? == LOOKING;
        Some(undisturbed && strong == 1)
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
        self.make_unique_in_model(site).unwrap_or_else(|| self.really_make_unique())
    }

    /// Nobody can upgrade or downgrade while the strong count is 0, so the look at the weak one is final.
    fn make_unique_in_model(&self, site: Site) -> Option<Unique> {
        if self.strong(update(take_if_only, Acquire), &MAKE_MUT, site)? != 1 {
            return Some(Unique::No);
        }
        if self.weak(Action::Load { order: Relaxed }, &MAKE_MUT, site)? != 0 {
            return Some(if self.claim_value() { Unique::ExceptWeak(Share::Strong) } else { Unique::No });
        }
        self.strong(update(one_more, Release), &MAKE_MUT, site)?;
        Some(Unique::Yes)
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
            Some(LOOKING) => 0,
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

    /// The first strong handle of a value that was made with a weak one at hand, and has been written.
    pub(super) fn begin(&self, site: Site) {
        // If the execution ends at the operation, the value has to be dropped; but the count is to be found without it.
        current(|controller| controller.map(|controller| self.is_counted(controller)));
        self.gone.store(false, Release);
        self.strong(update(one_more, Release), &NEW_CYCLIC, site);
    }
}

fn update(update: Update, order: Ordering) -> Action {
    Action::Update { update, operands: [0; 2], order, failure: Relaxed, weak: false }
}

/// The place in the source where the caller was called.
#[track_caller]
pub(super) fn here() -> Site {
    Location::caller()
}
