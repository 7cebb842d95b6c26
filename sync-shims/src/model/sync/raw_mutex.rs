//! The protocol of a mutex, without the value it protects.
//!
//! One guarded object. Bit 0 of its state is the poison flag; the bits above are 0 when it is free, else one more than the
//! number of the thread that holds it. Whoever holds it and locks it again waits for itself, which is a deadlock.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};

use dpor::{Action, Info, Outcome, Outcomes, Outs, Role, ThreadId};

use crate::model::controller::current;
use crate::model::event::{Answer, Identity, Site, exclusive, perform};
use crate::model::statics::keep_fresh;

/// How the descriptions of the operations of a kind of mutex read.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) lock: Info,
    pub(crate) try_lock: Info,
    pub(crate) unlock: Info,
    pub(crate) relock: Info,
    pub(crate) is_poisoned: Info,
    pub(crate) clear_poison: Info,
    pub(crate) get_mut: Info,
}

impl Words {
    /// Those of the type `family`.
    pub(crate) const fn of(family: &'static str) -> Self {
        const fn info(family: &'static str, name: &'static str, role: Role) -> Info {
            Info { name, family, role }
        }
        Words {
            lock: info(family, "lock", Role::Acquire),
            try_lock: info(family, "try_lock", Role::Acquire),
            unlock: info(family, "unlock", Role::Release),
            relock: info(family, "lock again", Role::Acquire),
            is_poisoned: info(family, "is_poisoned", Role::Plain),
            clear_poison: info(family, "clear_poison", Role::Plain),
            get_mut: info(family, "get_mut", Role::Plain),
        }
    }
}

/// A mutex that protects nothing by itself.
#[derive(Debug)]
pub(crate) struct RawMutex {
    identity: Identity,
    words: &'static Words,
    real: std::sync::Mutex<()>,
    /// The poison flag outside a model, and what a model starts from.
    poisoned: AtomicBool,
    /// Whether it was ever taken outside a model.
    used_outside: AtomicBool,
}

/// How a thread holds a mutex.
#[derive(Debug)]
pub(crate) enum Hold<'a> {
    /// Outside a model: the real one.
    Real(std::sync::MutexGuard<'a, ()>),
    /// In a model.
    Model,
    /// In a model that is over: not at all.
    Inert,
}

/// A lock that was taken.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    pub(crate) hold: Hold<'a>,
    /// Whether the mutex was poisoned.
    pub(crate) poisoned: bool,
    /// Whether the thread was panicking already: then its panic does not poison the mutex.
    pub(crate) panicking: bool,
}

const POISON: u64 = 1;

/// What `try_lock` results in when somebody else holds the mutex.
const BUSY: u64 = 2;

fn held_by(thread: ThreadId) -> u64 {
    (u64::from(thread.0) + 1) << 1
}

fn lock_outs(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if state & !POISON == 0 {
        out.push(Outcome::write(state | held_by(thread), state & POISON));
    }
}

fn try_lock_outs(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    lock_outs(state, args, thread, out);
    if state & !POISON != 0 {
        out.push(Outcome::read(BUSY));
    }
}

/// The first argument is the poison bit to set.
fn unlock_outs(state: u64, [poison, _]: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    // An exploration also asks about states in which somebody else holds it, or nobody.
    if state & !POISON == held_by(thread) {
        out.push(Outcome::write((state | poison) & POISON, 0));
    }
}

fn is_poisoned_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(state & POISON));
}

fn clear_poison_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state & !POISON, 0));
}

/// A failed `try_lock` and a look at the poison flag tell nothing about what others have done.
fn object(outs: Outs, args: [u64; 2]) -> Action {
    Action::Object { outs, args, failure: Ordering::Relaxed, yields: false }
}

/// What `std::thread::panicking` means for the running thread, in a model or not.
pub(crate) fn panicking() -> bool {
    current(|controller| match controller {
        Some(controller) => controller.panicking(),
        None => std::thread::panicking(),
    })
}

impl RawMutex {
    #[track_caller]
    pub(crate) const fn new(words: &'static Words) -> Self {
        RawMutex {
            identity: Identity::new(),
            words,
            real: std::sync::Mutex::new(()),
            poisoned: AtomicBool::new(false),
            used_outside: AtomicBool::new(false),
        }
    }

    fn init(&self) -> u64 {
        u64::from(self.poisoned.load(Ordering::Relaxed))
    }

    #[inline(always)]
    #[track_caller]
    fn perform(&self, action: Action, info: &'static Info, site: Site) -> Answer {
        perform(&self.identity, self.init(), action, info, site)
    }

    fn taken<'a>(&self, hold: Hold<'a>, poisoned: bool) -> Taken<'a> {
        Taken { hold, poisoned, panicking: panicking() }
    }

    fn taken_outside<'a>(&self, real: std::sync::MutexGuard<'a, ()>) -> Taken<'a> {
        self.used_outside.store(true, Ordering::Relaxed);
        self.taken(Hold::Real(real), self.poisoned.load(Ordering::Relaxed))
    }

    /// To be called before the lock is taken: if it is a `static` that the running execution has not used yet, what it
    /// protects, at `data`, will be put back at the end of the execution.
    #[track_caller]
    pub(crate) fn keep_fresh<T: ?Sized>(&self, data: *mut T) {
        // SAFETY: 1. It is the value of the mutex, which it always holds. 2. The flag is set whenever the lock is taken outside.
        unsafe { keep_fresh(&self.identity, &self.used_outside, data) };
    }

    /// Waits until the mutex is free and takes it.
    #[track_caller]
    pub(crate) fn lock(&self) -> Taken<'_> {
        self.lock_as(&self.words.lock, Location::caller())
    }

    /// The same, after a wait at `site` that gave it up.
    #[track_caller]
    pub(crate) fn relock(&self, site: Site) -> Taken<'_> {
        self.lock_as(&self.words.relock, site)
    }

    #[track_caller]
    fn lock_as(&self, info: &'static Info, site: Site) -> Taken<'_> {
        match self.perform(object(lock_outs, [0; 2]), info, site) {
            Answer::Outside => {
                let real = self.real.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                self.taken_outside(real)
            }
            Answer::Done(poison) => self.taken(Hold::Model, poison == POISON),
            Answer::Inert => self.taken(Hold::Inert, false),
        }
    }

    /// Takes the mutex if it is free.
    #[track_caller]
    pub(crate) fn try_lock(&self) -> Option<Taken<'_>> {
        match self.perform(object(try_lock_outs, [0; 2]), &self.words.try_lock, Location::caller()) {
            Answer::Outside => match self.real.try_lock() {
                Err(std::sync::TryLockError::WouldBlock) => None,
                Ok(real) => Some(self.taken_outside(real)),
                Err(std::sync::TryLockError::Poisoned(error)) => Some(self.taken_outside(error.into_inner())),
            },
            Answer::Done(BUSY) => None,
            Answer::Done(poison) => Some(self.taken(Hold::Model, poison == POISON)),
            Answer::Inert => Some(self.taken(Hold::Inert, false)),
        }
    }

    /// Gives the mutex back; poisons it if a panic of this thread began since it took it. `site` is where the lock was
    /// taken, as the end of a guard has no place of its own.
    pub(crate) fn unlock(&self, taken: &mut Taken<'_>, site: Site) {
        let poison = !taken.panicking && panicking();
        match std::mem::replace(&mut taken.hold, Hold::Inert) {
            Hold::Real(_real) => {
                if poison {
                    self.poisoned.store(true, Ordering::Relaxed);
                }
            }
            Hold::Model => {
                let action = object(unlock_outs, [u64::from(poison), 0]);
                // A guard that has left its model has nothing to give back.
                current(|controller| {
                    if controller.is_some() {
                        self.perform(action, &self.words.unlock, site);
                    }
                });
            }
            Hold::Inert => {}
        }
    }

    /// Gives a mutex that is held in a model back for a wait at `site`, which does not poison it.
    #[track_caller]
    pub(crate) fn unlock_to_wait(&self, site: Site) {
        self.perform(object(unlock_outs, [0; 2]), &self.words.unlock, site);
    }

    /// Whether the mutex is poisoned, outside a model.
    pub(crate) fn is_poisoned_outside(&self) -> bool {
        self.poisoned.load(Ordering::Relaxed)
    }

    #[track_caller]
    pub(crate) fn is_poisoned(&self) -> bool {
        match self.perform(object(is_poisoned_outs, [0; 2]), &self.words.is_poisoned, Location::caller()) {
            Answer::Done(poison) => poison == POISON,
            Answer::Outside | Answer::Inert => self.poisoned.load(Ordering::Relaxed),
        }
    }

    #[track_caller]
    pub(crate) fn clear_poison(&self) {
        let action = object(clear_poison_outs, [0; 2]);
        if self.perform(action, &self.words.clear_poison, Location::caller()) == Answer::Outside {
            self.poisoned.store(false, Ordering::Relaxed);
        }
    }

    /// For an owner that goes on without the lock: whether the mutex is poisoned. It is new to the model afterwards.
    #[track_caller]
    pub(crate) fn poisoned_for_owner(&mut self) -> bool {
        if let Some(state) = exclusive(&self.identity, self.init(), &self.words.get_mut, Location::caller()) {
            self.poisoned.store(state & POISON == POISON, Ordering::Relaxed);
        }
        *self.poisoned.get_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::outcomes_of;

    fn outcomes(outs: Outs, state: u64, args: [u64; 2], thread: u32) -> Vec<Outcome> {
        outcomes_of(outs, state, args, ThreadId(thread))
    }

    #[test]
    fn a_lock_waits_for_its_holder_even_if_that_is_the_same_thread() {
        assert_eq!(outcomes(lock_outs, 0, [0; 2], 0), [Outcome::write(2, 0)]);
        assert_eq!(outcomes(lock_outs, POISON, [0; 2], 4), [Outcome::write(11, POISON)]);
        assert_eq!(outcomes(lock_outs, 2, [0; 2], 1), []);
        assert_eq!(outcomes(lock_outs, 2, [0; 2], 0), []);
    }

    #[test]
    fn a_busy_try_lock_only_reads() {
        assert_eq!(outcomes(try_lock_outs, 0, [0; 2], 0), [Outcome::write(2, 0)]);
        assert_eq!(outcomes(try_lock_outs, 11, [0; 2], 0), [Outcome::read(BUSY)]);
    }

    #[test]
    fn an_unlock_keeps_the_poison_and_adds_to_it() {
        assert_eq!(outcomes(unlock_outs, 2, [0, 0], 0), [Outcome::write(0, 0)]);
        assert_eq!(outcomes(unlock_outs, 2, [1, 0], 0), [Outcome::write(POISON, 0)]);
        assert_eq!(outcomes(unlock_outs, 2 | POISON, [0, 0], 0), [Outcome::write(POISON, 0)]);
    }
}
