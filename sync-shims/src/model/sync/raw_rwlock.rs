//! The protocol of a reader-writer lock, without the value it protects.
//!
//! One guarded object. Bit 0 of its state is the poison flag; the rest of the lower half counts the readers; the upper half is
//! 0, or one more than the number of the thread that writes. A reader is let in whenever nobody writes, also while a writer
//! waits.
//!
//! An exploration asks what an operation would do in states in which its thread could not perform it, to learn whether it
//! could come somewhere else. So to give back what is not held has no outcome.

use std::panic::Location;
use std::sync::PoisonError;
use std::sync::TryLockError::{Poisoned, WouldBlock};
use std::sync::atomic::{AtomicBool, Ordering};

use dpor::{Action, Info, Outcome, Outcomes, Outs, Role, ThreadId};

use super::raw_mutex::panicking;
use crate::model::controller::current;
use crate::model::event::{Answer, Identity, Site, exclusive, perform};
use crate::model::statics::keep_fresh;

/// A reader-writer lock that protects nothing by itself.
#[derive(Debug)]
pub(crate) struct RawRwLock {
    identity: Identity,
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
    /// In a model.
    Model,
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

const POISON: u64 = 1;
const READER: u64 = 2;
const READERS: u64 = (1 << 32) - READER;

/// What the `try_` operations result in when the lock cannot be had.
const BUSY: u64 = 2;

fn writes(thread: ThreadId) -> u64 {
    (u64::from(thread.0) + 1) << 32
}

fn is_written(state: u64) -> bool {
    state >> 32 != 0
}

fn is_written_by(state: u64, thread: ThreadId) -> bool {
    state & !(POISON | READERS) == writes(thread)
}

fn read_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if !is_written(state) && state & READERS != READERS {
        out.push(Outcome::write(state + READER, state & POISON));
    }
}

fn try_read_outs(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    read_outs(state, args, thread, out);
    if out.as_slice().is_empty() {
        out.push(Outcome::read(BUSY));
    }
}

fn write_outs(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if !is_written(state) && state & READERS == 0 {
        out.push(Outcome::write(state | writes(thread), state & POISON));
    }
}

fn try_write_outs(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    write_outs(state, args, thread, out);
    if is_written(state) || state & READERS != 0 {
        out.push(Outcome::read(BUSY));
    }
}

fn unlock_read_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if !is_written(state) && state & READERS != 0 {
        out.push(Outcome::write(state - READER, 0));
    }
}

/// The first argument is the poison bit to set.
fn unlock_write_outs(state: u64, [poison, _]: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if is_written_by(state, thread) {
        out.push(Outcome::write((state | poison) & POISON, 0));
    }
}

fn downgrade_outs(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if is_written_by(state, thread) {
        out.push(Outcome::write(state & POISON | READER, 0));
    }
}

fn is_poisoned_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(state & POISON));
}

fn clear_poison_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state & !POISON, 0));
}

const fn info(name: &'static str, role: Role) -> Info {
    Info { name, family: "RwLock", role }
}

static READ: Info = info("read", Role::Acquire);
static TRY_READ: Info = info("try_read", Role::Acquire);
static UNLOCK_READ: Info = info("unlock (read)", Role::Release);
static WRITE: Info = info("write", Role::Acquire);
static TRY_WRITE: Info = info("try_write", Role::Acquire);
static UNLOCK_WRITE: Info = info("unlock (write)", Role::Release);
static DOWNGRADE: Info = info("downgrade", Role::Plain);
static IS_POISONED: Info = info("is_poisoned", Role::Plain);
static CLEAR_POISON: Info = info("clear_poison", Role::Plain);
static GET_MUT: Info = info("get_mut", Role::Plain);

impl RawRwLock {
    #[track_caller]
    pub(crate) const fn new() -> Self {
        RawRwLock {
            identity: Identity::new(),
            real: std::sync::RwLock::new(()),
            poisoned: AtomicBool::new(false),
            used_outside: AtomicBool::new(false),
        }
    }

    fn init(&self) -> u64 {
        u64::from(self.poisoned.load(Ordering::Relaxed))
    }

    /// A failed `try_` and a look at the poison flag tell nothing about what others have done.
    #[track_caller]
    fn perform(&self, outs: Outs, arg: u64, info: &'static Info, site: Site) -> Answer {
        let action = Action::Object { outs, args: [arg, 0], failure: Ordering::Relaxed, yields: false };
        perform(&self.identity, self.init(), action, info, site)
    }

    /// To be called before the lock is taken: see [`keep_fresh`].
    pub(crate) fn keep_fresh<T: ?Sized>(&self, data: *mut T) {
        // SAFETY: 1. It is the value of the lock, which it always holds. 2. The flag is set whenever it is taken outside.
        unsafe { keep_fresh(&self.identity, &self.used_outside, data) };
    }

    /// What came of an operation that takes the lock; `real` takes the real one. `None` if it cannot be had now.
    fn taken<G>(&self, answer: Answer, site: Site, real: impl FnOnce() -> Option<G>) -> Option<Taken<G>> {
        let (hold, poisoned) = match answer {
            Answer::Done(BUSY) => return None,
            Answer::Done(poison) => (Hold::Model, poison == POISON),
            Answer::Inert => (Hold::Inert, false),
            Answer::Outside => {
                let real = real()?;
                self.used_outside.store(true, Ordering::Relaxed);
                (Hold::Real(real), self.poisoned.load(Ordering::Relaxed))
            }
        };
        Some(Taken { hold, poisoned, panicking: panicking(), site })
    }

    /// Waits until nobody writes, and takes part in reading.
    #[track_caller]
    pub(crate) fn read(&self) -> Reading<'_> {
        let site = Location::caller();
        let answer = self.perform(read_outs, 0, &READ, site);
        let real = || Some(self.real.read().unwrap_or_else(PoisonError::into_inner));
        self.taken(answer, site, real).expect("it waits until it can be had")
    }

    /// Takes part in reading if nobody writes.
    #[track_caller]
    pub(crate) fn try_read(&self) -> Option<Reading<'_>> {
        let site = Location::caller();
        let answer = self.perform(try_read_outs, 0, &TRY_READ, site);
        self.taken(answer, site, || match self.real.try_read() {
            Ok(real) => Some(real),
            Err(Poisoned(error)) => Some(error.into_inner()),
            Err(WouldBlock) => None,
        })
    }

    /// Waits until nobody has the lock, and takes it.
    #[track_caller]
    pub(crate) fn write(&self) -> Writing<'_> {
        let site = Location::caller();
        let answer = self.perform(write_outs, 0, &WRITE, site);
        let real = || Some(self.real.write().unwrap_or_else(PoisonError::into_inner));
        self.taken(answer, site, real).expect("it waits until it can be had")
    }

    /// Takes the lock if nobody has it.
    #[track_caller]
    pub(crate) fn try_write(&self) -> Option<Writing<'_>> {
        let site = Location::caller();
        let answer = self.perform(try_write_outs, 0, &TRY_WRITE, site);
        self.taken(answer, site, || match self.real.try_write() {
            Ok(real) => Some(real),
            Err(Poisoned(error)) => Some(error.into_inner()),
            Err(WouldBlock) => None,
        })
    }

    /// An operation of whoever holds the lock in a model. A guard that has left its model has nothing to give back.
    fn perform_as_holder(&self, outs: Outs, arg: u64, info: &'static Info, site: Site) {
        current(|controller| {
            if controller.is_some() {
                self.perform(outs, arg, info, site);
            }
        });
    }

    /// Ends a reader's part. Its panics poison nothing.
    pub(crate) fn unlock_read(&self, taken: &mut Reading<'_>) {
        if let Hold::Model = std::mem::replace(&mut taken.hold, Hold::Inert) {
            self.perform_as_holder(unlock_read_outs, 0, &UNLOCK_READ, taken.site);
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
            Hold::Model => self.perform_as_holder(unlock_write_outs, poison.into(), &UNLOCK_WRITE, taken.site),
            Hold::Inert => {}
        }
    }

    /// Goes on as a reader.
    #[track_caller]
    pub(crate) fn downgrade<'a>(&'a self, taken: Writing<'a>) -> Reading<'a> {
        let hold = match taken.hold {
            Hold::Real(real) => Hold::Real(std::sync::RwLockWriteGuard::downgrade(real)),
            Hold::Model => {
                self.perform_as_holder(downgrade_outs, 0, &DOWNGRADE, Location::caller());
                Hold::Model
            }
            Hold::Inert => Hold::Inert,
        };
        Taken { hold, poisoned: taken.poisoned, panicking: taken.panicking, site: taken.site }
    }

    #[track_caller]
    pub(crate) fn is_poisoned(&self) -> bool {
        match self.perform(is_poisoned_outs, 0, &IS_POISONED, Location::caller()) {
            Answer::Done(poison) => poison == POISON,
            Answer::Outside | Answer::Inert => self.poisoned.load(Ordering::Relaxed),
        }
    }

    #[track_caller]
    pub(crate) fn clear_poison(&self) {
        if self.perform(clear_poison_outs, 0, &CLEAR_POISON, Location::caller()) == Answer::Outside {
            self.poisoned.store(false, Ordering::Relaxed);
        }
    }

    /// For an owner that goes on without the lock: whether it is poisoned. It is new to the model afterwards.
    #[track_caller]
    pub(crate) fn poisoned_for_owner(&mut self) -> bool {
        if let Some(state) = exclusive(&self.identity, self.init(), &GET_MUT, Location::caller()) {
            self.poisoned.store(state & POISON == POISON, Ordering::Relaxed);
        }
        *self.poisoned.get_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(outs: Outs, state: u64) -> Vec<Outcome> {
        let mut out = Outcomes::default();
        outs(state, [0; 2], ThreadId(1), &mut out);
        out.as_slice().to_vec()
    }

    #[test]
    fn readers_share() {
        assert_eq!(outcomes(read_outs, 0), [Outcome::write(READER, 0)]);
        assert_eq!(outcomes(read_outs, READER | POISON), [Outcome::write((2 * READER) | POISON, POISON)]);
        assert_eq!(outcomes(read_outs, writes(ThreadId(0))), []);
        assert_eq!(outcomes(try_read_outs, writes(ThreadId(0))), [Outcome::read(BUSY)]);
        assert_eq!(outcomes(unlock_read_outs, 2 * READER), [Outcome::write(READER, 0)]);
    }

    #[test]
    fn a_writer_is_alone() {
        assert_eq!(outcomes(write_outs, POISON), [Outcome::write(writes(ThreadId(1)) | POISON, POISON)]);
        assert_eq!(outcomes(write_outs, READER), []);
        assert_eq!(outcomes(write_outs, writes(ThreadId(1))), []);
        assert_eq!(outcomes(try_write_outs, READER), [Outcome::read(BUSY)]);
        assert_eq!(outcomes(unlock_write_outs, writes(ThreadId(1)) | POISON), [Outcome::write(POISON, 0)]);
        assert_eq!(outcomes(downgrade_outs, writes(ThreadId(1))), [Outcome::write(READER, 0)]);
    }

    #[test]
    fn what_is_not_held_cannot_be_given_back() {
        for state in [0, POISON, writes(ThreadId(1)), writes(ThreadId(0)) | POISON] {
            assert_eq!(outcomes(unlock_read_outs, state), []);
        }
        for state in [0, POISON, READER, writes(ThreadId(0)), writes(ThreadId(2)) | POISON] {
            assert_eq!(outcomes(unlock_write_outs, state), []);
            assert_eq!(outcomes(downgrade_outs, state), []);
        }
    }
}
