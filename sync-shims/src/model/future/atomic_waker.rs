//! A place to leave a waker in.
//!
//! One object. Its state is 0, or one more than the index of the waker in a table in real memory. A waker is put in the table
//! before the operation that makes its index known, and taken out after the one that made it unknown to all others; so it
//! does not matter what other threads do between an operation and the code after it.

use std::fmt;
use std::mem;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

use dpor::{Action, Info, Outcome, Outcomes, Outs, Role, ThreadId};

use crate::model::controller::current;
use crate::model::event::{Answer, Identity, perform};

const EMPTY: u64 = 0;

/// The first argument is the new state; the result the one before.
fn register_outs(state: u64, [new, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(new, state));
}

/// Writes in any case: what the thread did before must be visible to whoever registers next and looks again.
fn take_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(EMPTY, state));
}

const fn object(outs: Outs, argument: u64) -> Action {
    Action::Object { outs, args: [argument, 0], failure: Ordering::Relaxed, yields: false }
}

/// A place in which one thread leaves its waker and others wake it.
///
/// It stands in for the `AtomicWaker` that futures libraries have (std has none). Every method is one step: a wake-up that
/// comes after [`register`](Self::register) finds the new waker, and one that came before has happened before it, so that
/// looking again after registering misses nothing.
pub struct AtomicWaker {
    identity: Identity,
    wakers: Mutex<Vec<Option<Waker>>>,
}

impl UnwindSafe for AtomicWaker {}
impl RefUnwindSafe for AtomicWaker {}

impl AtomicWaker {
    /// No waker yet.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        AtomicWaker { identity: Identity::new(), wakers: Mutex::new(Vec::new()) }
    }

    /// Leaves `waker` here, in place of the one that was.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        const INFO: &Info = &Info { name: "register", family: "AtomicWaker", role: Role::Plain };
        self.forget_earlier_executions();
        let new = self.put(waker);
        let before = match perform(&self.identity, EMPTY, object(register_outs, new), INFO, Location::caller()) {
            Answer::Done(before) => self.take_out(before),
            // The table is the place itself.
            Answer::Outside => self.with_wakers(|wakers| wakers.drain(..new as usize - 1).flatten().last()),
            Answer::Inert => self.take_out(new),
        };
        // The table is not locked any more: a waker's drop may come back here.
        drop(before);
    }

    /// Leaves a clone of `waker` here, in place of the one that was.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Takes the waker, if there is one, and wakes it.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes the waker, if there is one.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        const INFO: &Info = &Info { name: "take_waker", family: "AtomicWaker", role: Role::Plain };
        match perform(&self.identity, EMPTY, object(take_outs, 0), INFO, Location::caller()) {
            Answer::Done(state) => self.take_out(state),
            Answer::Outside => self.with_wakers(mem::take).into_iter().flatten().next(),
            Answer::Inert => None,
        }
    }

    /// Puts a waker in the table; the state that stands for it.
    fn put(&self, waker: Waker) -> u64 {
        self.with_wakers(|wakers| {
            let free = wakers.iter().position(Option::is_none).unwrap_or_else(|| {
                wakers.push(None);
                wakers.len() - 1
            });
            wakers[free] = Some(waker);
            free as u64 + 1
        })
    }

    /// Takes the waker that `state` stands for out of the table.
    fn take_out(&self, state: u64) -> Option<Waker> {
        let index = (state as usize).checked_sub(1)?;
        self.with_wakers(|wakers| wakers.get_mut(index).and_then(Option::take))
    }

    /// An object that is used for the first time in an execution is empty.
    fn forget_earlier_executions(&self) {
        let first = current(|controller| controller.is_some_and(|c| self.identity.slot().get() >> 24 != c.execution()));
        if first {
            drop(self.with_wakers(mem::take));
        }
    }

    fn with_wakers<R>(&self, f: impl FnOnce(&mut Vec<Option<Waker>>) -> R) -> R {
        f(&mut self.wakers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for AtomicWaker {
    #[track_caller]
    fn default() -> Self {
        AtomicWaker::new()
    }
}

impl fmt::Debug for AtomicWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicWaker").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::task::Wake;

    struct Quiet;

    impl Wake for Quiet {
        fn wake(self: Arc<Self>) {}
    }

    #[test]
    fn outside_a_model_the_last_waker_is_handed_on_once() {
        let place = AtomicWaker::new();
        assert!(place.take_waker().is_none());
        let (first, second) = (Waker::from(Arc::new(Quiet)), Waker::from(Arc::new(Quiet)));
        place.register_by_ref(&first);
        place.register_by_ref(&second);
        assert!(place.take_waker().is_some_and(|waker| waker.will_wake(&second)));
        assert!(place.take_waker().is_none());
    }
}
