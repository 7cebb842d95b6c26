//! The protocol of things that happen once: `Once`, and the initialisation of `OnceLock` and `LazyLock`.
//!
//! One object. It begins as incomplete (or as what it was outside of the model), is running while a thread is at it, and then
//! complete or, after a panic, poisoned. Being complete is for ever, so looking at a complete one is only a read, and any
//! number of threads that come later add no executions.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use dpor::{Action, Info, Outcome, Outcomes, Outs, Role, ThreadId};

use crate::model::controller::current;
use crate::model::event::{Answer, Identity, Site, exclusive, perform};
use crate::model::statics::put_back_at_end;

pub(crate) const INCOMPLETE: u8 = 0;
pub(crate) const POISONED: u8 = 1;
pub(crate) const COMPLETE: u8 = 2;
pub(crate) const RUNNING: u8 = 3;

/// How the descriptions of the operations of a type read.
#[derive(Debug)]
pub(crate) struct Words {
    begin: Info,
    finish: Info,
    wait: Info,
    look: Info,
    own: Info,
}

impl Words {
    /// Those of `family`, whose method that runs the initialisation is `begin`, and the one that looks for its result `look`.
    pub(crate) const fn of(family: &'static str, begin: &'static str, look: &'static str) -> Self {
        Words {
            begin: Info { name: begin, family, role: Role::Wait },
            finish: Info { name: "initialized", family, role: Role::Signal },
            wait: Info { name: "wait", family, role: Role::Wait },
            look: Info { name: look, family, role: Role::Plain },
            own: Info { name: "get_mut", family, role: Role::Plain },
        }
    }
}

/// The first argument of `begin_outs` and `wait_outs`: poison does not matter.
const FORCE: u64 = 1;

fn begin_outs(state: u64, [force, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    match state as u8 {
        INCOMPLETE => out.push(Outcome::write(RUNNING.into(), state)),
        POISONED if force == FORCE => out.push(Outcome::write(RUNNING.into(), state)),
        POISONED => out.push(Outcome::read(state)),
        COMPLETE => out.push(Outcome::read(state)),
        _ => {}
    }
}

fn finish_outs(state: u64, [result, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == RUNNING.into() {
        out.push(Outcome::write(result, 0));
    }
}

fn wait_outs(state: u64, [force, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == COMPLETE.into() || (state == POISONED.into() && force != FORCE) {
        out.push(Outcome::read(state));
    }
}

fn look_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(state));
}

/// What only reads passes on what the initialisation did.
fn object(outs: Outs, arg: u64) -> Action {
    Action::Object { outs, args: [arg, 0], failure: Ordering::Acquire, yields: false }
}

/// What is initialised once, and how far that is.
pub(crate) struct Stored<D> {
    /// As the memory of `data` is; in a model, too, where it is not what threads see.
    state: AtomicU8,
    pub(crate) data: D,
}

impl<D> Stored<D> {
    /// What the memory of `data` is, for whoever has it exclusively.
    pub(crate) fn state_for_owner(&mut self) -> u8 {
        *self.state.get_mut()
    }
}

/// Something that is initialised once.
pub(crate) struct RawOnce<D> {
    identity: Identity,
    words: &'static Words,
    lock: Mutex<()>,
    changed: Condvar,
    stored: UnsafeCell<Stored<D>>,
}

/// The initialisation was tried before, and panicked.
#[derive(Debug)]
pub(crate) struct Poisoned;

/// The initialisation, by the thread that does it. Poisons when dropped, unless it has been finished.
pub(crate) struct Running<'a, D> {
    once: &'a RawOnce<D>,
    outside: bool,
    /// Whether it was tried before.
    pub(crate) poisoned: bool,
    result: u8,
}

impl<D> RawOnce<D> {
    #[track_caller]
    pub(crate) const fn new(words: &'static Words, state: u8, data: D) -> Self {
        RawOnce {
            identity: Identity::new(),
            words,
            lock: Mutex::new(()),
            changed: Condvar::new(),
            stored: UnsafeCell::new(Stored { state: AtomicU8::new(state), data }),
        }
    }

    fn state(&self) -> &AtomicU8 {
        // SAFETY: 1. The cell lives. 2. Only owners have the state exclusively.
        unsafe { &(*self.stored.get()).state }
    }

    /// A pointer to what is initialised.
    pub(crate) fn data(&self) -> *mut D {
        // SAFETY: 1. The cell lives. 2. No reference is made.
        unsafe { &raw mut (*self.stored.get()).data }
    }

    #[track_caller]
    fn perform(&self, action: Action, info: &'static Info, site: Site) -> Answer {
        perform(&self.identity, self.state().load(Ordering::Relaxed).into(), action, info, site)
    }

    fn locked(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits as long as somebody else is at it; `None` if it is complete then. If `force`, it is tried again after a panic.
    #[track_caller]
    pub(crate) fn begin(&self, force: bool, site: Site) -> Result<Option<Running<'_, D>>, Poisoned> {
        let running = |outside, poisoned| Running { once: self, outside, poisoned, result: POISONED };
        match self.perform(object(begin_outs, force.into()), &self.words.begin, site) {
            Answer::Outside => match self.begin_outside(force) {
                COMPLETE => Ok(None),
                POISONED if !force => Err(Poisoned),
                state => Ok(Some(running(true, state == POISONED))),
            },
            Answer::Done(state) => match state as u8 {
                COMPLETE => Ok(None),
                POISONED if !force => Err(Poisoned),
                state => Ok(Some(running(false, state == POISONED))),
            },
            // Whoever was at it is not any more.
            Answer::Inert => match self.state().load(Ordering::Relaxed) {
                COMPLETE => Ok(None),
                INCOMPLETE => Ok(Some(running(false, false))),
                _ if force => Ok(Some(running(false, true))),
                _ => Err(Poisoned),
            },
        }
    }

    /// Outside a model: waits, and takes it on. The state before.
    fn begin_outside(&self, force: bool) -> u8 {
        if self.state().load(Ordering::Acquire) == COMPLETE {
            return COMPLETE;
        }
        let mut lock = self.locked();
        loop {
            match self.state().load(Ordering::Acquire) {
                RUNNING => lock = self.changed.wait(lock).unwrap_or_else(PoisonError::into_inner),
                state => {
                    if state == INCOMPLETE || (state == POISONED && force) {
                        self.state().store(RUNNING, Ordering::Relaxed);
                    }
                    return state;
                }
            }
        }
    }

    /// Waits until it is complete; an error if it is poisoned, unless `force`.
    #[track_caller]
    pub(crate) fn wait(&self, force: bool, site: Site) -> Result<(), Poisoned> {
        let state = match self.perform(object(wait_outs, force.into()), &self.words.wait, site) {
            Answer::Done(state) => state as u8,
            Answer::Inert => self.state().load(Ordering::Relaxed),
            Answer::Outside => {
                let mut lock = self.locked();
                loop {
                    match self.state().load(Ordering::Acquire) {
                        COMPLETE => break COMPLETE,
                        POISONED if !force => break POISONED,
                        _ => lock = self.changed.wait(lock).unwrap_or_else(PoisonError::into_inner),
                    }
                }
            }
        };
        if state == COMPLETE { Ok(()) } else { Err(Poisoned) }
    }

    /// Whether it is complete now.
    #[track_caller]
    pub(crate) fn is_complete(&self, site: Site) -> bool {
        self.look(site) == COMPLETE
    }

    /// How far it is now.
    #[track_caller]
    pub(crate) fn look(&self, site: Site) -> u8 {
        match self.perform(object(look_outs, 0), &self.words.look, site) {
            Answer::Done(state) => state as u8,
            Answer::Outside => self.state().load(Ordering::Acquire),
            Answer::Inert => self.state().load(Ordering::Relaxed),
        }
    }

    /// What is stored, for an owner that goes on alone; it is new to the model afterwards.
    #[track_caller]
    pub(crate) fn own(&mut self, site: Site) -> &mut Stored<D> {
        exclusive(&self.identity, 0, &self.words.own, site);
        self.stored.get_mut()
    }

    /// What is stored, when the object is dropped.
    pub(crate) fn last(&mut self) -> &mut Stored<D> {
        self.stored.get_mut()
    }

    /// Lets what the memory is be `state`, by somebody who has it exclusively.
    pub(crate) fn reset(&mut self, state: u8) {
        *self.stored.get_mut().state.get_mut() = state;
    }
}

impl<D> Running<'_, D> {
    /// To be called before the data is touched. If it is a `static`, it will be put back as it is now at the end of the
    /// execution, after `drop_stored` has dropped what is there then.
    ///
    /// # Safety
    ///
    /// `drop_stored` must be right for whatever the state says.
    pub(crate) unsafe fn enter(&self, drop_stored: unsafe fn(*mut Stored<D>)) {
        if self.outside {
            return;
        }
        current(|controller| {
            if let Some(controller) = controller {
                // SAFETY: 1. The pointer is that of the cell. 2. Nothing has been initialised yet, so if it is a `static` its
                // bytes are those that the program was loaded with, or those of a poisoned one, which holds nothing.
                unsafe { put_back_at_end(controller, self.once.stored.get(), drop_stored) };
            }
        });
        self.once.state().store(RUNNING, Ordering::Relaxed);
    }

    /// The initialisation has succeeded.
    pub(crate) fn finish(mut self) {
        self.result = COMPLETE;
    }
}

impl<D> Drop for Running<'_, D> {
    fn drop(&mut self) {
        let once = self.once;
        if self.outside {
            let _lock = once.locked();
            once.state().store(self.result, Ordering::Release);
            once.changed.notify_all();
            return;
        }
        once.state().store(self.result, Ordering::Relaxed);
        let site = once.identity.created();
        current(|controller| {
            if controller.is_some() {
                once.perform(object(finish_outs, self.result.into()), &once.words.finish, site);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::outcomes_of;

    fn outcomes(outs: Outs, state: u8, force: u64) -> Vec<Outcome> {
        outcomes_of(outs, state.into(), [force, 0], ThreadId::MAIN)
    }

    #[test]
    fn one_thread_at_a_time_begins() {
        assert_eq!(outcomes(begin_outs, INCOMPLETE, 0), [Outcome::write(RUNNING.into(), INCOMPLETE.into())]);
        assert_eq!(outcomes(begin_outs, RUNNING, 0), []);
        assert_eq!(outcomes(begin_outs, COMPLETE, FORCE), [Outcome::read(COMPLETE.into())]);
        assert_eq!(outcomes(begin_outs, POISONED, 0), [Outcome::read(POISONED.into())]);
        assert_eq!(outcomes(begin_outs, POISONED, FORCE), [Outcome::write(RUNNING.into(), POISONED.into())]);
    }

    #[test]
    fn waiting_ends_when_it_is_complete() {
        assert_eq!(outcomes(wait_outs, INCOMPLETE, 0), []);
        assert_eq!(outcomes(wait_outs, RUNNING, FORCE), []);
        assert_eq!(outcomes(wait_outs, POISONED, FORCE), []);
        assert_eq!(outcomes(wait_outs, POISONED, 0), [Outcome::read(POISONED.into())]);
        assert_eq!(outcomes(wait_outs, COMPLETE, 0), [Outcome::read(COMPLETE.into())]);
    }
}
