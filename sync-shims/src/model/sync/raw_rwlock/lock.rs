//! The operations of a lock.

use std::panic::Location;
use std::sync::PoisonError;
use std::sync::TryLockError::{Poisoned, WouldBlock};
use std::sync::atomic::{AtomicBool, Ordering};

use dpor::{Action, Info, Outs, Role, ThreadId};

use super::places::{Current, Place, Places, facts};
use super::states::{
    BUSY, TAKEN, WAITER, announce_outs, downgrade_outs, read_outs, try_read_outs, try_write_outs, unlock_read_outs,
    unlock_write_outs, write_outs,
};
use crate::model::controller::{Controller, current};
use crate::model::event::{Answer, Identity, Site, exclusive, perform, perform_in};
use crate::model::statics::keep_fresh_from;
use crate::model::sync::raw_mutex::panicking;

/// A reader-writer lock that protects nothing by itself.
#[derive(Debug)]
pub(crate) struct RawRwLock {
    /// The whole.
    identity: Identity,
    places: Current,
    /// The poison flag in a model: as in std, beside the lock and not ordered by itself.
    poison: Identity,
    real: std::sync::RwLock<()>,
    /// The poison flag outside a model, and what a model starts from.
    poisoned: AtomicBool,
    /// Whether it was ever taken outside a model.
    used_outside: AtomicBool,
}

/// How a thread holds a lock; `G` is the guard of the real one.
#[derive(Debug)]
pub(crate) enum Hold<G> {
    /// Outside a model: the real one.
    Real(G),
    /// In a model: for writing.
    Writing,
    /// In a model: for reading, as this thread and at this place.
    Reading(ThreadId, Place),
    /// In a model that is over: not at all.
    Inert,
}

/// A lock that was taken.
#[derive(Debug)]
pub(crate) struct Taken<G> {
    pub(crate) hold: Hold<G>,
    /// Whether the lock was poisoned.
    pub(crate) poisoned: bool,
    /// Whether the thread was panicking already.
    panicking: bool,
    /// Where it was taken.
    site: Site,
}

pub(crate) type Reading<'a> = Taken<std::sync::RwLockReadGuard<'a, ()>>;
pub(crate) type Writing<'a> = Taken<std::sync::RwLockWriteGuard<'a, ()>>;

/// What came of an attempt to take a lock in a model.
enum Attempt {
    Outside,
    Taken(Option<Place>),
    Busy,
    Inert,
}

const fn info(name: &'static str, role: Role) -> Info {
    Info { name, family: "RwLock", role }
}

static READ: Info = info("read", Role::Share);
static TRY_READ: Info = info("try_read", Role::Share);
static UNLOCK_READ: Info = info("unlock (read)", Role::Release);
static WRITE: Info = info("write", Role::Acquire);
static ANNOUNCE: Info = info("write: keep readers out", Role::Announce);
static WAIT: Info = info("write: wait for readers", Role::Acquire);
static TRY_WRITE: Info = info("try_write", Role::Acquire);
static LET_IN: Info = info("unlock (write): let readers in", Role::Release);
static UNLOCK_WRITE: Info = info("unlock (write)", Role::Release);
static DOWNGRADE: Info = info("downgrade", Role::Plain);
static LOOK: Info = info("is_poisoned", Role::Plain);
static POISON: Info = info("poison", Role::Plain);
static IS_POISONED: Info = info("is_poisoned", Role::Plain);
static CLEAR_POISON: Info = info("clear_poison", Role::Plain);
static GET_MUT: Info = info("get_mut", Role::Plain);

/// A failed `try_` tells nothing about what others have done.
fn object(outs: Outs, arg: u64) -> Action {
    Action::Object { outs, args: [arg, 0], failure: Ordering::Relaxed, yields: false }
}

/// A lock in the execution that is running.
struct InModel<'a> {
    lock: &'a RawRwLock,
    controller: &'a dyn Controller,
    places: std::sync::Arc<Places>,
}

impl InModel<'_> {
    fn perform(&self, part: &Identity, action: Action, info: &'static Info, site: Site) -> Answer {
        let mut target = part.target(0);
        target.group = self.places.group;
        perform_in(self.controller, Some(target), action, info, site)
    }

    fn at(&self, place: Place) -> &Identity {
        match place {
            Place::Whole => &self.lock.identity,
            Place::Own(index) => &self.places.own[index as usize],
        }
    }

    fn learn(&mut self, fact: u64) {
        self.places = self.lock.places.learn(self.controller, self.lock.identity.created(), fact);
    }

    /// Where the running thread is counted if it reads.
    fn own_place(&mut self) -> Place {
        loop {
            match self.places.of(self.controller.thread()) {
                Ok(place) => return place,
                Err(fact) => self.learn(fact),
            }
        }
    }

    fn read(&mut self, outs: Outs, info: &'static Info, site: Site) -> Attempt {
        let thread = self.controller.thread();
        let place = self.own_place();
        let waits = std::ptr::eq(info, &READ);
        if waits && !self.places.has(facts::RECURSIVE) && self.places.reads(thread) {
            self.learn(facts::RECURSIVE);
        }
        let attempt = attempt(self.perform(self.at(place), object(outs, 0), info, site), Some(place));
        if let Attempt::Taken(_) = attempt {
            self.places.add_reader(thread);
        }
        attempt
    }

    fn write(&mut self, site: Site) -> Attempt {
        let announces = self.places.has(facts::RECURSIVE);
        let announced = if announces { WAITER } else { 0 };
        let one = self.places.has(facts::WHOLE);
        if one && announces {
            self.perform(&self.lock.identity, object(announce_outs, 0), &ANNOUNCE, site);
        }
        let first = object(write_outs, if one { announced } else { 0 });
        let mut answer = self.perform(&self.lock.identity, first, &WRITE, site);
        if announces {
            for place in &self.places.own {
                self.perform(place, object(announce_outs, 0), &ANNOUNCE, site);
            }
        }
        for place in &self.places.own {
            answer = self.perform(place, object(write_outs, announced), &WAIT, site);
        }
        attempt(answer, None)
    }

    fn try_write(&mut self, site: Site) -> Attempt {
        if !self.places.has(facts::WHOLE) {
            self.learn(facts::WHOLE);
        }
        attempt(self.perform(&self.lock.identity, object(try_write_outs, 0), &TRY_WRITE, site), None)
    }

    fn unlock_write(&self, site: Site) {
        for place in self.places.own.iter().rev() {
            self.perform(place, object(unlock_write_outs, 0), &LET_IN, site);
        }
        self.perform(&self.lock.identity, object(unlock_write_outs, 0), &UNLOCK_WRITE, site);
    }

    /// The writer keeps its own place, as a reader, and gives the others back.
    fn downgrade(&mut self, site: Site) -> Place {
        let own = self.own_place();
        self.perform(self.at(own), object(downgrade_outs, 0), &DOWNGRADE, site);
        self.places.add_reader(self.controller.thread());
        if own != Place::Whole {
            for (index, place) in self.places.own.iter().enumerate().rev() {
                if own != Place::Own(index as u32) {
                    self.perform(place, object(unlock_write_outs, 0), &LET_IN, site);
                }
            }
            self.perform(&self.lock.identity, object(unlock_write_outs, 0), &UNLOCK_WRITE, site);
        }
        own
    }

    /// Whether the lock is poisoned, for who has just taken it. As long as nobody poisons it there is nothing to look at.
    fn look(&self, site: Site) -> bool {
        let init = self.lock.init();
        if init == 0 && !self.places.has(facts::POISONED) {
            return false;
        }
        let mut target = self.lock.poison.target(init);
        target.group = self.places.group;
        let load = Action::Load { order: Ordering::Relaxed };
        perform_in(self.controller, Some(target), load, &LOOK, site) == Answer::Done(1)
    }

    fn poison(&mut self, site: Site) {
        if !self.places.has(facts::POISONED) {
            self.learn(facts::POISONED);
        }
        let mut target = self.lock.poison.target(self.lock.init());
        target.group = self.places.group;
        let store = Action::Store { order: Ordering::Relaxed, value: 1 };
        perform_in(self.controller, Some(target), store, &POISON, site);
    }
}

fn attempt(answer: Answer, place: Option<Place>) -> Attempt {
    match answer {
        Answer::Outside => Attempt::Outside,
        Answer::Inert => Attempt::Inert,
        Answer::Done(BUSY) => Attempt::Busy,
        Answer::Done(result) => {
            debug_assert_eq!(result, TAKEN);
            Attempt::Taken(place)
        }
    }
}

impl RawRwLock {
    #[track_caller]
    pub(crate) const fn new() -> Self {
        RawRwLock {
            identity: Identity::new(),
            places: Current::new(),
            poison: Identity::new(),
            real: std::sync::RwLock::new(()),
            poisoned: AtomicBool::new(false),
            used_outside: AtomicBool::new(false),
        }
    }

    fn init(&self) -> u64 {
        u64::from(self.poisoned.load(Ordering::Relaxed))
    }

    /// Calls `f` with the lock as the running model has it; `None` outside a model or after its end.
    fn in_model<R>(&self, f: impl FnOnce(InModel<'_>) -> R) -> Option<R> {
        current(|controller| {
            let controller = controller.filter(|controller| !controller.inert())?;
            let places = self.places.get(controller, self.identity.created());
            Some(f(InModel { lock: self, controller, places }))
        })
    }

    /// To be called before the lock is taken: if it is a `static` that the running execution has not used yet, what it
    /// protects, at `data`, will be put back at the end of the execution.
    #[track_caller]
    pub(crate) fn keep_fresh<T: ?Sized>(&self, data: *mut T) {
        let known = |controller: &dyn Controller| self.places.known(controller).is_some();
        // SAFETY: 1. It is the value of the lock, which it always holds. 2. The flag is set whenever it is taken outside.
        unsafe { keep_fresh_from(known, &self.used_outside, data) };
    }

    /// Takes the lock: in a model with `model`, outside with `real`. `None` if it cannot be had now.
    fn take<G>(
        &self,
        info: &'static Info,
        site: Site,
        model: impl FnOnce(&mut InModel<'_>) -> Attempt,
        real: impl FnOnce() -> Option<G>,
    ) -> Option<Taken<G>> {
        let taken = self.in_model(|mut lock| {
            let attempt = model(&mut lock);
            let poisoned = matches!(attempt, Attempt::Taken(_)) && lock.look(site);
            (attempt, poisoned, lock.controller.thread())
        });
        let (attempt, poisoned, thread) = taken.unwrap_or((self.elsewhere(info), false, ThreadId::MAIN));
        let (hold, poisoned) = match attempt {
            Attempt::Busy => return None,
            Attempt::Inert => (Hold::Inert, false),
            Attempt::Taken(None) => (Hold::Writing, poisoned),
            Attempt::Taken(Some(place)) => (Hold::Reading(thread, place), poisoned),
            Attempt::Outside => {
                let real = real()?;
                self.used_outside.store(true, Ordering::Relaxed);
                (Hold::Real(real), self.poisoned.load(Ordering::Relaxed))
            }
        };
        Some(Taken { hold, poisoned, panicking: panicking(), site })
    }

    /// Where no model is running: outside, or after the end.
    #[track_caller]
    fn elsewhere(&self, info: &'static Info) -> Attempt {
        current(|controller| match controller {
            Some(_) => Attempt::Inert,
            None => {
                self.identity.outside(info);
                Attempt::Outside
            }
        })
    }

    /// Waits until nobody writes, and takes part in reading.
    #[track_caller]
    pub(crate) fn read(&self) -> Reading<'_> {
        let site = Location::caller();
        let real = || Some(self.real.read().unwrap_or_else(PoisonError::into_inner));
        self.take(&READ, site, |lock| lock.read(read_outs, &READ, site), real).expect("it waits until it can be had")
    }

    /// Takes part in reading if nobody writes.
    #[track_caller]
    pub(crate) fn try_read(&self) -> Option<Reading<'_>> {
        let site = Location::caller();
        let real = || match self.real.try_read() {
            Ok(real) => Some(real),
            Err(Poisoned(error)) => Some(error.into_inner()),
            Err(WouldBlock) => None,
        };
        self.take(&TRY_READ, site, |lock| lock.read(try_read_outs, &TRY_READ, site), real)
    }

    /// Waits until nobody has the lock, and takes it.
    #[track_caller]
    pub(crate) fn write(&self) -> Writing<'_> {
        let site = Location::caller();
        let real = || Some(self.real.write().unwrap_or_else(PoisonError::into_inner));
        self.take(&WRITE, site, |lock| lock.write(site), real).expect("it waits until it can be had")
    }

    /// Takes the lock if nobody has it.
    #[track_caller]
    pub(crate) fn try_write(&self) -> Option<Writing<'_>> {
        let site = Location::caller();
        let real = || match self.real.try_write() {
            Ok(real) => Some(real),
            Err(Poisoned(error)) => Some(error.into_inner()),
            Err(WouldBlock) => None,
        };
        self.take(&TRY_WRITE, site, |lock| lock.try_write(site), real)
    }

    /// Ends a reader's part. Its panics poison nothing.
    pub(crate) fn unlock_read(&self, taken: &mut Reading<'_>) {
        if let Hold::Reading(thread, place) = std::mem::replace(&mut taken.hold, Hold::Inert) {
            // A guard that has left its model has nothing to give back.
            self.in_model(|lock| {
                lock.places.remove_reader(thread);
                lock.perform(lock.at(place), object(unlock_read_outs, 0), &UNLOCK_READ, taken.site);
            });
        }
    }

    /// Gives the lock back; poisons it if a panic of this thread began since it took it.
    pub(crate) fn unlock_write(&self, taken: &mut Writing<'_>) {
        let poison = !taken.panicking && panicking();
        match std::mem::replace(&mut taken.hold, Hold::Inert) {
            Hold::Real(_real) => {
                if poison {
                    self.poisoned.store(true, Ordering::Relaxed);
                }
            }
            Hold::Writing => {
                self.in_model(|mut lock| {
                    if poison {
                        lock.poison(taken.site);
                    }
                    lock.unlock_write(taken.site);
                });
            }
            Hold::Reading(..) | Hold::Inert => {}
        }
    }

    /// Goes on as a reader.
    #[track_caller]
    pub(crate) fn downgrade<'a>(&'a self, taken: Writing<'a>) -> Reading<'a> {
        let site = Location::caller();
        let hold = match taken.hold {
            Hold::Real(real) => Hold::Real(std::sync::RwLockWriteGuard::downgrade(real)),
            Hold::Writing => self
                .in_model(|mut lock| Hold::Reading(lock.controller.thread(), lock.downgrade(site)))
                .unwrap_or(Hold::Inert),
            Hold::Reading(..) | Hold::Inert => Hold::Inert,
        };
        Taken { hold, poisoned: taken.poisoned, panicking: taken.panicking, site: taken.site }
    }

    #[track_caller]
    pub(crate) fn is_poisoned(&self) -> bool {
        let load = Action::Load { order: Ordering::Relaxed };
        match perform(&self.poison, self.init(), load, &IS_POISONED, Location::caller()) {
            Answer::Done(poison) => poison == 1,
            Answer::Outside | Answer::Inert => self.poisoned.load(Ordering::Relaxed),
        }
    }

    #[track_caller]
    pub(crate) fn clear_poison(&self) {
        let store = Action::Store { order: Ordering::Relaxed, value: 0 };
        if perform(&self.poison, self.init(), store, &CLEAR_POISON, Location::caller()) == Answer::Outside {
            self.poisoned.store(false, Ordering::Relaxed);
        }
    }

    /// For an owner that goes on without the lock: whether it is poisoned. It is new to the model afterwards.
    #[track_caller]
    pub(crate) fn poisoned_for_owner(&mut self) -> bool {
        let site = Location::caller();
        exclusive(&self.identity, 0, &GET_MUT, site);
        let own = current(|controller| self.places.known(controller?));
        for place in own.iter().flat_map(|places| &places.own) {
            exclusive(place, 0, &GET_MUT, site);
        }
        if let Some(poison) = exclusive(&self.poison, self.init(), &GET_MUT, site) {
            self.poisoned.store(poison == 1, Ordering::Relaxed);
        }
        *self.poisoned.get_mut()
    }
}
