//! A reader-writer lock that is only read and written, as several objects: the order of readers is not explored.
//!
//! The objects are those of std's lock, see `sync::raw_rwlock`: the whole, which writers take, and a place for each thread that
//! reads. A claim is one event in parking_lot's lock; here it is the announcement of the writer at each place. While threads
//! only wait for the lock, nobody can tell: a reader that is kept out does nothing until it is let in.
//!
//! And while readers do nothing that others can see as long as they are in, it does not matter either who waits meanwhile: each
//! of them will leave. So writers announce themselves only if an exploration has learnt that some reader does more. For all
//! that a lock can do besides (to try, to give up, upgradable readers), it is one object.

use std::sync::{Arc, Mutex, PoisonError};

use dpor::{Action, Info, Ordering, Outs, Role, ThreadId};

use super::core::Call;
use super::raw_rwlock::{READ, RawRwLock, WAIT_FOR_READERS, WRITE};
use super::rwlock_states as whole;
use crate::model::controller::{Controller, current};
use crate::model::event::{Answer, Identity, Site, exclusive, perform_in};
use crate::model::sync::raw_rwlock::places::{Current, Place, Places, facts};
use crate::model::sync::raw_rwlock::states::{
    WAITER, announce_outs, read_outs, unlock_read_outs, unlock_write_outs, write_outs,
};

static ANNOUNCE: Info = Info { name: "write: keep readers out", family: "RwLock", role: Role::Announce };
static LET_IN: Info = Info { name: "unlock (write): let readers in", family: "RwLock", role: Role::Release };

/// Some reader does something that others can see.
const ANNOUNCES: u64 = facts::RECURSIVE;

/// What a lock keeps for this.
#[derive(Debug)]
pub(super) struct Apart {
    places: Current,
    /// How many operations the threads that read had performed when they began to.
    began: Mutex<Vec<(ThreadId, u64)>>,
}

impl Apart {
    pub(super) const fn new() -> Self {
        Apart { places: Current::new(), began: Mutex::new(Vec::new()) }
    }

    fn begin(&self, thread: ThreadId, performed: u64) {
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        began.retain(|(reader, _)| *reader != thread);
        began.push((thread, performed));
    }

    fn has_only_read(&self, thread: ThreadId, performed: u64) -> bool {
        self.began.lock().unwrap_or_else(PoisonError::into_inner).contains(&(thread, performed))
    }
}

/// A lock in the execution that is running.
struct InModel<'a> {
    lock: &'a RawRwLock,
    controller: &'a dyn Controller,
    places: Arc<Places>,
    site: Site,
}

impl InModel<'_> {
    fn perform(&self, place: &Identity, outs: Outs, arg: u64, info: &'static Info) -> Answer {
        let action = Action::Object { outs, args: [arg, 0], failure: Ordering::Relaxed, yields: false };
        let mut target = place.target(0);
        target.created = self.lock.core().created_or(self.site);
        target.group = self.places.group;
        perform_in(self.controller, Some(target), action, info, self.site)
    }

    fn learn(&mut self, fact: u64) {
        let created = self.lock.core().created_or(self.site);
        self.places = self.lock.apart.places.learn(self.controller, created, fact);
    }

    /// The place of the running thread; `None` if the lock is one object, or has to become it.
    fn own_place(&mut self) -> Option<&Identity> {
        loop {
            match self.places.of(self.controller.thread()) {
                Ok(Place::Own(index)) => return self.places.own.get(index as usize),
                Ok(Place::Whole) => return None,
                Err(fact) => self.learn(fact),
            }
        }
    }

    fn read(&mut self) -> Option<Answer> {
        let place: *const Identity = self.own_place()?;
        // SAFETY: 1. The places are kept by the `Arc`, which stays the same.
        let answer = self.perform(unsafe { &*place }, read_outs, 0, &READ);
        let thread = self.controller.thread();
        self.places.add_reader(thread);
        self.lock.apart.begin(thread, self.controller.performed());
        Some(answer)
    }

    fn unlock_read(&mut self, info: &'static Info) {
        let thread = self.controller.thread();
        if !self.places.reads(thread) {
            // It reads for another thread.
            return self.learn(facts::WHOLE);
        }
        if !self.places.has(ANNOUNCES) && !self.lock.apart.has_only_read(thread, self.controller.performed()) {
            self.learn(ANNOUNCES);
        }
        let Some(place) = self.own_place() else { return };
        let place: *const Identity = place;
        self.places.remove_reader(thread);
        // SAFETY: 1. The places are kept by the `Arc`, which stays the same.
        self.perform(unsafe { &*place }, unlock_read_outs, 0, info);
    }

    fn write(&self) -> Answer {
        let mut answer = self.lock.core().perform(Call::new(whole::write, &WRITE), self.site);
        let announced = if self.places.has(ANNOUNCES) { WAITER } else { 0 };
        if announced != 0 {
            for place in &self.places.own {
                self.perform(place, announce_outs, 0, &ANNOUNCE);
            }
        }
        for place in &self.places.own {
            answer = self.perform(place, write_outs, announced, &WAIT_FOR_READERS);
        }
        answer
    }

    /// The argument is who writes.
    fn unlock_write(&mut self, arg: u64, info: &'static Info) {
        if arg != super::core::holder(self.controller.thread()) {
            return self.learn(facts::WHOLE);
        }
        for place in self.places.own.iter().rev() {
            self.perform(place, unlock_write_outs, 0, &LET_IN);
        }
        self.lock.core().perform(Call { arg, ..Call::new(whole::unlock_write, info) }, self.site);
    }
}

impl RawRwLock {
    /// Calls `f` with the lock in a running model in which it is several objects; `None` if it is not.
    fn in_parts<R>(&self, site: Site, f: impl FnOnce(InModel<'_>) -> R) -> Option<R> {
        current(|controller| {
            let controller = controller.filter(|controller| !controller.inert())?;
            let places = self.apart.places.get(controller, self.core().created_or(site));
            if places.has(facts::WHOLE) {
                return None;
            }
            self.core().set_group(places.group);
            Some(f(InModel { lock: self, controller, places, site: self.core().site_or(site) }))
        })
    }

    /// To be called before an operation that needs the lock to be one object.
    pub(super) fn as_whole(&self, site: Site) {
        self.in_parts(site, |mut lock| lock.learn(facts::WHOLE));
    }

    pub(super) fn read_in_parts(&self, site: Site) -> Option<Answer> {
        self.in_parts(site, |mut lock| lock.read()).flatten()
    }

    pub(super) fn write_in_parts(&self, site: Site) -> Option<Answer> {
        self.in_parts(site, |lock| lock.write())
    }

    /// Whether this was done.
    pub(super) fn unlock_read_in_parts(&self, info: &'static Info, site: Site) -> bool {
        self.in_parts(site, |mut lock| lock.unlock_read(info)).is_some()
    }

    /// Whether this was done.
    pub(super) fn unlock_write_in_parts(&self, writer: u64, info: &'static Info, site: Site) -> bool {
        self.in_parts(site, |mut lock| lock.unlock_write(writer, info)).is_some()
    }

    /// An owner goes on without the lock: its places are new to the model as well.
    #[track_caller]
    pub(super) fn own_places(&self, info: &'static Info) {
        let site = std::panic::Location::caller();
        let Some(places) = current(|controller| self.apart.places.known(controller?)) else { return };
        let held = places.own.iter().filter(|place| exclusive(place, 0, info, site).is_some_and(|state| state != 0));
        if held.count() != 0 {
            // It stays held by a guard that was forgotten.
            self.as_whole(site);
        }
    }
}
