//! The counts of an `Arc`, real and modelled.

use std::panic::Location;
use std::process;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use dpor::{Action, Info, Role, Update};

use crate::model::controller::{Controller, current};
use crate::model::deferred::drop_uncounted;
use crate::model::event::{Answer, Identity, Site, perform_in};

/// Both counts of one shared value. The real ones are kept in all cases: they own the memory, and a model starts from them.
pub(super) struct Counts {
    strong: AtomicUsize,
    /// All strong handles together hold one, so that the memory outlives the value. `LOCKED` while `get_mut` looks.
    weak: AtomicUsize,
    /// The modelled count: strong handles in the lower half of its state, weak ones in the upper half.
    identity: Identity,
    /// The execution that asked last whether this count is modelled, and the answer in the lowest bit.
    modelled: AtomicU64,
}

const LOCKED: usize = usize::MAX;

/// More handles than memory could hold: they have been forgotten, and the count is about to overflow.
const TOO_MANY: usize = isize::MAX as usize;

const WEAK: u64 = 1 << 32;

fn strong_of(state: u64) -> u64 {
    state & (WEAK - 1)
}

fn weak_of(state: u64) -> u64 {
    state >> 32
}

fn add(state: u64, [handles, _]: [u64; 2]) -> Option<u64> {
    Some(state.wrapping_add(handles))
}

fn add_if_alive(state: u64, [handles, _]: [u64; 2]) -> Option<u64> {
    (strong_of(state) != 0).then(|| state + handles)
}

fn take_if_only(state: u64, _: [u64; 2]) -> Option<u64> {
    (strong_of(state) == 1).then(|| state - 1)
}

/// The value leaves weak handles behind; without any it stays where it is.
fn move_if_only(state: u64, _: [u64; 2]) -> Option<u64> {
    (strong_of(state) == 1 && weak_of(state) != 0).then(|| state - 1)
}

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

/// What giving up a strong handle amounts to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Released {
    /// There are others.
    Shared,
    /// It was the last one, and this is how its end is ordered.
    Last(Order),
}

/// How the drop of the value is ordered after what the other handles were used for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// By the real count.
    Real,
    /// By the real count too, but a model watches.
    Uncounted,
    /// By the modelled count.
    Counted,
}

/// Whether the value can be had exclusively.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unique {
    /// No other handle of either kind.
    Yes,
    /// Only weak ones; the strong count has been brought to zero, so that they cannot be upgraded any more.
    ExceptWeak,
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
            identity: Identity::at(site),
            modelled: AtomicU64::new(0),
        }
    }

    fn init(&self) -> u64 {
        let strong = self.strong.load(Relaxed) as u64;
        // The one that the strong handles hold together is not a handle.
        let weak = (self.weak.load(Relaxed) as u64).saturating_sub(u64::from(strong != 0));
        weak << 32 | strong
    }

    /// Whether this count is modelled in the execution of `controller`.
    fn is_counted(&self, controller: &dyn Controller) -> bool {
        let execution = controller.execution();
        let known = self.modelled.load(Relaxed);
        if known >> 1 == execution {
            return known & 1 != 0;
        }
        let counted = controller.counts(self.identity.created());
        self.modelled.store(execution << 1 | u64::from(counted), Relaxed);
        counted
    }

    /// Performs `action` on the modelled count, if there is one and it is to be used.
    fn perform(&self, action: Action, info: &'static Info, site: Site) -> Option<u64> {
        current(|controller| match controller {
            Some(controller) if self.is_counted(controller) => {
                match perform_in(controller, Some(self.identity.target(self.init())), action, info, site) {
                    Answer::Done(old) => Some(old),
                    Answer::Inert | Answer::Outside => None,
                }
            }
            Some(_) => None,
            None => {
                self.identity.outside(info);
                None
            }
        })
    }

    fn update(&self, update: Update, handles: u64, order: Ordering, info: &'static Info, site: Site) -> Option<u64> {
        let action = Action::Update { update, operands: [handles, 0], order, failure: Relaxed, weak: false };
        self.perform(action, info, site)
    }

    /// To be called before the count tells anything: a model has to count from now on if it does not yet.
    fn observe(&self) {
        current(|controller| {
            if let Some(controller) = controller
                && !controller.inert()
                && !self.is_counted(controller)
            {
                controller.count_from_now_on(self.identity.created());
            }
        });
    }

    /// One more strong handle, from one that exists.
    pub(super) fn add_strong(&self, site: Site) {
        self.update(add, 1, Relaxed, &CLONE, site);
        if self.strong.fetch_add(1, Relaxed) > TOO_MANY {
            process::abort();
        }
    }

    /// Tells a model that a strong handle is given up, at `site` if that is known; whether it is counted there. Followed by
    /// `release_strong`, in any case: an execution that ends here does not keep its memory.
    pub(super) fn announce_release(&self, site: Option<Site>) -> bool {
        let site = site.unwrap_or(self.identity.created());
        self.update(add, u64::MAX, Release, &DROP, site).is_some()
    }

    /// Gives up a strong handle.
    pub(super) fn release_strong(&self, counted: bool) -> Released {
        if self.strong.fetch_sub(1, Release) != 1 {
            return Released::Shared;
        }
        fence(Acquire);
        let watched = || current(|controller| controller.is_some_and(|c| !c.inert()));
        Released::Last(match counted {
            true => Order::Counted,
            false if watched() => Order::Uncounted,
            false => Order::Real,
        })
    }

    /// Runs `end`, which drops or takes the value, ordered after everything it was used for. Also if the execution ends
    /// before it comes to that, since the last handle is gone.
    pub(super) fn in_order(&self, order: Order, end: impl FnOnce()) {
        match order {
            Order::Real => end(),
            Order::Uncounted => current(|controller| match controller {
                Some(controller) => drop_uncounted(controller, self.identity.created(), end),
                None => end(),
            }),
            Order::Counted => {
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
                        let action = Action::Fence { order: Acquire };
                        perform_in(controller, None, action, &DROP, self.identity.created());
                    }
                });
            }
        }
    }

    /// One more weak handle, from a strong one.
    pub(super) fn downgrade(&self, site: Site) {
        self.update(add, WEAK, Relaxed, &DOWNGRADE, site);
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
        self.update(add, WEAK, Relaxed, &CLONE_WEAK, site);
        if self.weak.fetch_add(1, Relaxed) > TOO_MANY {
            process::abort();
        }
    }

    /// Tells a model that a weak handle is given up. Followed by `release_memory`, in any case.
    pub(super) fn announce_release_weak(&self) {
        self.update(add, WEAK.wrapping_neg(), Release, &DROP_WEAK, self.identity.created());
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
        let alive = |count: usize| (count != 0).then(|| count + 1);
        match self.update(add_if_alive, 1, Acquire, &UPGRADE, site) {
            Some(old) if strong_of(old) == 0 => false,
            _ => match self.strong.try_update(Acquire, Relaxed, alive) {
                Ok(old) if old > TOO_MANY => process::abort(),
                result => result.is_ok(),
            },
        }
    }

    /// Takes the value from the only strong handle; false if there are others.
    pub(super) fn take_if_only(&self, site: Site) -> bool {
        self.observe();
        match self.update(take_if_only, 0, Acquire, &TRY_UNWRAP, site) {
            Some(old) if strong_of(old) != 1 => false,
            _ => self.strong.compare_exchange(1, 0, Acquire, Relaxed).is_ok(),
        }
    }

    /// As `announce_release`, for `into_inner`, whose result tells whether the handle was the last one.
    pub(super) fn announce_into_inner(&self, site: Site) -> bool {
        self.observe();
        self.announce_release(Some(site))
    }

    /// Whether a strong handle is the only handle of all.
    pub(super) fn is_unique(&self, site: Site) -> bool {
        self.observe();
        match self.perform(Action::Load { order: Acquire }, &GET_MUT, site) {
            Some(state) => state == 1,
            None => self.is_really_unique(),
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
        let action =
            Action::Update { update: move_if_only, operands: [0; 2], order: Acquire, failure: Acquire, weak: false };
        if let Some(old) = self.perform(action, &MAKE_MUT, site) {
            return match (strong_of(old), weak_of(old)) {
                (1, 0) => Unique::Yes,
                (1, _) => {
                    self.strong.store(0, Relaxed);
                    Unique::ExceptWeak
                }
                _ => Unique::No,
            };
        }
        if self.strong.compare_exchange(1, 0, Acquire, Relaxed).is_err() {
            return Unique::No;
        }
        if self.weak.load(Acquire) != 1 {
            return Unique::ExceptWeak;
        }
        self.strong.store(1, Release);
        Unique::Yes
    }

    /// How many strong handles there are.
    pub(super) fn strong_count(&self, site: Site) -> usize {
        self.observe();
        match self.perform(Action::Load { order: Relaxed }, &STRONG_COUNT, site) {
            Some(state) => strong_of(state) as usize,
            None => self.strong.load(Relaxed),
        }
    }

    /// How many weak handles there are, as a strong one sees it.
    pub(super) fn weak_count(&self, site: Site) -> usize {
        self.observe();
        match self.perform(Action::Load { order: Relaxed }, &WEAK_COUNT, site) {
            Some(state) => weak_of(state) as usize,
            None => match self.weak.load(Relaxed) {
                LOCKED => 0,
                count => count - 1,
            },
        }
    }

    /// How many weak handles there are, as a weak one sees it: none once the value is gone.
    pub(super) fn weak_count_of_weak(&self, site: Site) -> usize {
        self.observe();
        match self.perform(Action::Load { order: Relaxed }, &WEAK_COUNT, site) {
            Some(state) if strong_of(state) == 0 => 0,
            Some(state) => weak_of(state) as usize,
            None => {
                let weak = self.weak.load(Acquire);
                if self.strong.load(Relaxed) == 0 { 0 } else { weak - 1 }
            }
        }
    }

    /// Where the value was created.
    pub(super) fn created(&self) -> Site {
        self.identity.created()
    }

    /// The first strong handle of a value that was made with a weak one at hand.
    pub(super) fn begin(&self) {
        self.strong.store(1, Release);
        self.identity.slot().forget();
    }
}

/// The place in the source where the caller was called.
#[track_caller]
pub(super) fn here() -> Site {
    Location::caller()
}
