//! What the modelled locks have in common: their identity, and how a thread holds them.
//!
//! The traits of `lock_api` give a raw lock nothing but `&self`. So a raw lock keeps itself what the guards of std's types
//! know: whether it is held in a model or for real, and by whom. A guard tells it beforehand where the next operation was
//! written, if that is not where the raw lock is called: see [`at`].

use std::any::TypeId;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use dpor::{Action, Info, Outs, ThreadId};

use super::{RawFairMutex, RawMutex, RawRwLock};
use crate::model::controller::{Controller, Target, current};
use crate::model::deferred::watches_processes;
use crate::model::event::{Answer, Identity, Site, perform_in};
use crate::model::statics::{only_one_process, put_back_at_end};
use crate::model::time::{Limit, within};

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    Exclusive,
    Upgradable,
    Shared,
}

/// An operation on a lock.
pub(super) struct Call {
    pub(super) outs: Outs,
    pub(super) arg: u64,
    /// Whether it has a timeout: a switch to another thread costs no preemption then.
    pub(super) timed: bool,
    pub(super) info: &'static Info,
}

impl Call {
    pub(super) fn new(outs: Outs, info: &'static Info) -> Self {
        Call { outs, arg: 0, timed: false, info }
    }

    pub(super) fn timed(outs: Outs, info: &'static Info) -> Self {
        Call { outs, arg: 0, timed: true, info }
    }
}

/// What has to be done to give a lock back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// To perform the operation, for this holder (see [`holder`]).
    Model(u64),
    /// To unlock the real one.
    Real,
    /// Nothing: it was held in a model that is over.
    Nothing,
}

/// Whether no model runs on this OS thread.
pub(super) fn outside() -> bool {
    current(|controller| controller.is_none())
}

/// A thread as the state of a lock names it: 0 is nobody.
pub(super) fn holder(thread: ThreadId) -> u64 {
    u64::from(thread.0) + 1
}

/// The part of a raw lock that a model needs.
#[derive(Debug)]
pub(super) struct Core {
    identity: Identity,
    /// Where the lock was created, as the type around it tells; else where it was used first.
    created: AtomicPtr<Location<'static>>,
    /// Where the next operation was written; null if that is where the raw lock is called.
    site: AtomicPtr<Location<'static>>,
    /// The state that an execution starts from.
    init: AtomicU64,
    /// Which objects are one lock in a report; 0 if it is one object.
    group: AtomicU64,
    /// Whether it is the inner lock of a `ReentrantMutex`.
    pub(super) reentrant: AtomicBool,
    /// The execution that the rest is about; 0 if the lock was taken outside a model last.
    execution: AtomicU64,
    exclusive: AtomicU64,
    upgradable: AtomicU64,
    readers: AtomicU64,
}

impl Core {
    pub(super) const fn new() -> Self {
        Core {
            identity: Identity::new(),
            created: AtomicPtr::new(ptr::null_mut()),
            site: AtomicPtr::new(ptr::null_mut()),
            init: AtomicU64::new(0),
            group: AtomicU64::new(0),
            reentrant: AtomicBool::new(false),
            execution: AtomicU64::new(0),
            exclusive: AtomicU64::new(0),
            upgradable: AtomicU64::new(0),
            readers: AtomicU64::new(0),
        }
    }

    fn target(&self, site: Site) -> Target<'_> {
        Target {
            created: self.created_or(site),
            group: self.group.load(Ordering::Relaxed),
            ..self.identity.target(self.init.load(Ordering::Relaxed))
        }
    }

    pub(super) fn set_group(&self, group: u64) {
        self.group.store(group, Ordering::Relaxed);
    }

    /// Where the lock was created; from now on that is `site` if it is not known.
    pub(super) fn created_or(&self, site: Site) -> Site {
        self.created_at(site);
        self.created().unwrap_or(site)
    }

    /// Where the next operation was written, if not at `caller`.
    pub(super) fn site_or(&self, caller: Site) -> Site {
        // SAFETY: 1. It is null or came from a `Site`.
        let site = unsafe { self.site.load(Ordering::Relaxed).as_ref() }.unwrap_or(caller);
        self.site.store(ptr::null_mut(), Ordering::Relaxed);
        site
    }

    /// Takes the lock by `take` within a time. Whether it was had.
    pub(super) fn within(&self, limit: impl Limit, caller: Site, take: impl FnOnce() -> bool) -> bool {
        // SAFETY: 1. It is null or came from a `Site`.
        let site = unsafe { self.site.load(Ordering::Relaxed).as_ref() }.unwrap_or(caller);
        within(limit, site, || take().then_some(())).is_some()
    }

    fn created(&self) -> Option<Site> {
        // SAFETY: 1. It is null or came from a `Site`.
        unsafe { self.created.load(Ordering::Relaxed).as_ref() }
    }

    /// Lets `site` be where the lock was created, unless that is known.
    fn created_at(&self, site: Site) {
        if self.created.load(Ordering::Relaxed).is_null() {
            self.created.store(ptr::from_ref(site).cast_mut(), Ordering::Relaxed);
        }
    }

    /// Performs an operation that was written at `caller`, or where a guard has said.
    pub(super) fn perform(&self, call: Call, caller: Site) -> Answer {
        current(|controller| {
            let Some(controller) = controller else {
                self.identity.outside(call.info);
                return Answer::Outside;
            };
            let site = self.site_or(caller);
            // What only reads is a lock that could not be had, or a look at it: it tells nothing about what others did.
            let action =
                Action::Object { outs: call.outs, args: [call.arg, 0], failure: Ordering::Relaxed, yields: call.timed };
            perform_in(controller, Some(self.target(site)), action, call.info, site)
        })
    }

    /// Says in a report what the operation performed last did.
    pub(super) fn note(&self, text: &str) {
        current(|controller| {
            if let Some(controller) = controller {
                controller.note(&mut || text.to_owned());
            }
        });
    }

    /// Notes that the running thread holds the lock now, in a model.
    pub(super) fn taken(&self, hold: Hold) {
        current(|controller| {
            if let Some(controller) = controller {
                self.enter(controller);
                self.held(hold, holder(controller.thread()));
            }
        });
    }

    fn held(&self, hold: Hold, thread: u64) {
        match hold {
            Hold::Exclusive => self.exclusive.store(thread, Ordering::Relaxed),
            Hold::Upgradable => self.upgradable.store(thread, Ordering::Relaxed),
            Hold::Shared => self.readers.store(self.readers.load(Ordering::Relaxed) + 1, Ordering::Relaxed),
        }
    }

    /// Notes that the lock was taken outside a model.
    pub(super) fn taken_outside(&self) {
        if self.execution.load(Ordering::Relaxed) != 0 {
            self.forget();
        }
    }

    fn forget(&self) {
        self.execution.store(0, Ordering::Relaxed);
        self.exclusive.store(0, Ordering::Relaxed);
        self.upgradable.store(0, Ordering::Relaxed);
        self.readers.store(0, Ordering::Relaxed);
    }

    fn enter(&self, controller: &dyn Controller) {
        if self.execution.load(Ordering::Relaxed) != controller.execution() {
            self.forget();
            self.execution.store(controller.execution(), Ordering::Relaxed);
        }
    }

    /// Notes that the lock is given back, and says how that is done. `real` says whether the real one is held.
    ///
    /// # Panics
    ///
    /// If nobody holds the lock.
    #[track_caller]
    pub(super) fn release(&self, hold: Hold, info: &'static Info, real: impl FnOnce() -> bool) -> Release {
        let release = current(|controller| {
            let count = match hold {
                Hold::Exclusive => &self.exclusive,
                Hold::Upgradable => &self.upgradable,
                Hold::Shared => &self.readers,
            };
            let held = count.load(Ordering::Relaxed);
            if held != 0 {
                count.store(if hold == Hold::Shared { held - 1 } else { 0 }, Ordering::Relaxed);
            }
            match controller {
                Some(controller) if controller.inert() => Some(Release::Nothing),
                Some(controller) if held != 0 && self.execution.load(Ordering::Relaxed) == controller.execution() => {
                    Some(Release::Model(held))
                }
                _ if held != 0 => Some(Release::Nothing),
                None => Some(Release::Real),
                Some(_) => real().then_some(Release::Real),
            }
        });
        let Some(release) = release else { not_held(info) };
        release
    }

    /// An owner goes on without the lock: it is new to the model afterwards, and as locked as it was.
    #[track_caller]
    fn own(&self, info: &'static Info) {
        let site = Location::caller();
        current(|controller| match controller {
            None => self.identity.outside(info),
            Some(controller) => {
                if let Some(state) = controller.exclusive(self.target(site), info, site) {
                    self.init.store(state, Ordering::Relaxed);
                }
            }
        });
    }
}

#[cold]
#[track_caller]
fn not_held(info: &'static Info) -> ! {
    panic!("{}::{}: the lock is not held, so it cannot be given back", info.family, info.name);
}

/// A number for a type that is the same for all its lifetimes.
fn type_id_of<T: ?Sized>() -> TypeId {
    trait Typed {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T: ?Sized> Typed for PhantomData<T> {
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let phantom = PhantomData::<T>;
    let typed: &dyn Typed = &phantom;
    // SAFETY: 1. Only the lifetime in the bound changes, and the method neither keeps nor returns anything that has it.
    let typed = unsafe { std::mem::transmute::<&dyn Typed, &(dyn Typed + 'static)>(typed) };
    typed.id()
}

/// The same, if it is an `L`.
fn cast<R, L: 'static>(raw: &R) -> Option<&L> {
    // SAFETY: 1. It is the same type: `L` has no lifetimes that could differ.
    (type_id_of::<R>() == TypeId::of::<L>()).then(|| unsafe { &*ptr::from_ref(raw).cast::<L>() })
}

/// The part for the model of a raw lock, if it is one of this crate's.
fn core_of<R>(raw: &R) -> Option<&Core> {
    cast::<R, RawMutex>(raw)
        .map(RawMutex::core)
        .or_else(|| cast::<R, RawFairMutex>(raw).map(RawFairMutex::core))
        .or_else(|| cast::<R, RawRwLock>(raw).map(RawRwLock::core))
}

/// To be called before an operation on `raw` which was written at `site`, where `#[track_caller]` cannot tell: in the drop
/// of a guard.
pub(super) fn at<R>(raw: &R, site: Site) {
    if let Some(core) = core_of(raw) {
        current(|controller| {
            if controller.is_some() {
                core.site.store(ptr::from_ref(site).cast_mut(), Ordering::Relaxed);
            }
        });
    }
}

/// To be called by an owner of `raw` that goes on without it (`get_mut`, `into_inner`).
#[track_caller]
pub(super) fn own<R>(raw: &R, info: &'static Info) {
    if let Some(core) = core_of(raw) {
        core.own(info);
    }
    if let Some(lock) = cast::<R, RawRwLock>(raw) {
        lock.own_places(info);
    }
}

/// Says that `raw` is the inner lock of a `ReentrantMutex`.
pub(super) fn is_reentrant<R>(raw: &R) {
    if let Some(core) = core_of(raw) {
        core.reentrant.store(true, Ordering::Relaxed);
    }
}

/// What the type around a raw lock knows: where it was created, and how its value is kept fresh if it is a `static`.
#[derive(Debug)]
pub(super) struct Origin {
    created: Site,
    /// The execution that has used the lock last.
    seen: AtomicU64,
    /// Whether it was ever used outside a model.
    used_outside: AtomicBool,
}

impl Origin {
    #[track_caller]
    pub(super) const fn new() -> Self {
        Origin { created: Location::caller(), seen: AtomicU64::new(0), used_outside: AtomicBool::new(false) }
    }

    /// To be called before `raw` is locked: if the lock is a `static` that the running execution has not used yet, what it
    /// protects, at `data`, will be put back at the end of the execution.
    #[track_caller]
    pub(super) fn enter<R, T: ?Sized>(&self, raw: &R, data: *mut T) {
        let site = Location::caller();
        current(|controller| match controller {
            None => {
                if !self.used_outside.load(Ordering::Relaxed) {
                    self.used_outside.store(true, Ordering::Relaxed);
                }
            }
            Some(controller) if self.seen.load(Ordering::Relaxed) == controller.execution() => {
                self.used_by_one_process(controller, true, site);
            }
            Some(controller) => {
                self.used_by_one_process(controller, false, site);
                self.seen.store(controller.execution(), Ordering::Relaxed);
                if let Some(core) = core_of(raw) {
                    core.created_at(self.created);
                }
                if !std::mem::needs_drop::<T>() || !self.used_outside.load(Ordering::Relaxed) {
                    // SAFETY: 1. It is the value of the lock, which it always holds. 2. If it has drop glue, nobody has
                    // changed it outside a model, and earlier executions have put it back: it is the constant that the
                    // `static` began with.
                    unsafe { put_back_at_end(controller, data, ptr::drop_in_place) };
                }
            }
        });
    }

    fn used_by_one_process(&self, controller: &dyn Controller, used: bool, site: Site) {
        if watches_processes() {
            only_one_process(controller, ptr::from_ref(self).cast(), used, "lock of `parking_lot`", site);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parking_lot as real;
    use real::lock_api::{self, RawMutex as _};

    #[test]
    fn only_the_locks_of_this_crate_have_a_core() {
        struct Other<'a>(#[expect(dead_code)] &'a u8);
        let (mutex, fair) = (RawMutex::INIT, RawFairMutex::INIT);
        let (rwlock, real) = (<RawRwLock as lock_api::RawRwLock>::INIT, real::RawMutex::INIT);
        assert!(core_of(&mutex).is_some());
        assert!(core_of(&fair).is_some());
        assert!(core_of(&rwlock).is_some());
        assert!(core_of(&Other(&1)).is_none());
        assert!(core_of(&real).is_none());
    }
}
