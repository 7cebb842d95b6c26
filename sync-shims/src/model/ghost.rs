//! Specification state: what a model says about itself, beside the program.
//!
//! [`State`] holds what the program should keep to, as a value that is changed by updates in one order for all threads, and
//! invariants that are checked after each update. Updates are operations like any others, so that every order of them is
//! explored; but they synchronise nothing: a program that has a data race, or needs a stronger ordering, has it with them too.
//!
//! [`reachable!`](crate::reachable) and [`sometimes!`](crate::sometimes) say what an exploration should come by at least once.

use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dpor::{Action, Info, Role};

use super::controller::{Controller, current};
use super::event::{Answer, Identity, Site, perform};

/// Notes that what `label` stands for holds here, or does not.
#[doc(hidden)]
#[track_caller]
pub fn label(label: &'static str, holds: bool) {
    let site = Location::caller();
    current(|controller| {
        if let Some(controller) = controller
            && !controller.inert()
        {
            controller.label(label, holds, site);
        }
    });
}

/// A value that only the specification uses, shared by all that have a clone of it.
///
/// ```
/// use sync_shims::model::ghost;
///
/// let serving = ghost::State::new(0).invariant("at most one serves", |n| *n <= 1);
/// serving.update(|n| *n += 1);
/// serving.update(|n| *n -= 1);
/// assert_eq!(serving.get(), 0);
/// ```
pub struct State<T>(Arc<Shared<T>>);

struct Shared<T> {
    identity: Identity,
    inner: Mutex<Inner<T>>,
    invariants: Mutex<Vec<Invariant<T>>>,
}

struct Invariant<T> {
    name: String,
    holds: Box<dyn Fn(&T) -> bool + Send>,
}

struct Inner<T> {
    value: T,
    /// The number of the update that the value is after; 0: none.
    after: u64,
    /// Updates whose place in the order may be known already, but that have not been made.
    pending: Vec<Pending<T>>,
}

/// An update to be made by whoever is first: its thread may not have come back from the step that gave it its place when the
/// thread of the next one has.
struct Pending<T> {
    number: u64,
    /// On the stack of its thread, which does not leave before it is made or taken back.
    make: NonNull<dyn FnMut(&mut T)>,
    /// The invariant that it breaks, and the value.
    broken: Option<String>,
    made: bool,
}

// SAFETY: 1. The pointer is only followed within a model, whose threads take turns, and before the thread it comes from goes
// on. 2. The value is `Send`, and so is what is called on it, as `update` demands.
unsafe impl<T: Send> Send for Pending<T> {}

fn locked<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The update `operands[0]` comes next.
fn next(_: u64, operands: [u64; 2]) -> Option<u64> {
    Some(operands[0])
}

impl<T: fmt::Debug + Send + 'static> State<T> {
    /// A value that nothing is demanded of yet.
    #[track_caller]
    pub fn new(value: T) -> Self {
        let inner = Inner { value, after: 0, pending: Vec::new() };
        State(Arc::new(Shared {
            identity: Identity::at(Location::caller()),
            inner: Mutex::new(inner),
            invariants: Mutex::default(),
        }))
    }

    /// The same state, with something that must hold after each update: a panic says which `name` it was that did not.
    pub fn invariant(self, name: impl Into<String>, holds: impl Fn(&T) -> bool + Send + 'static) -> Self {
        locked(&self.0.invariants).push(Invariant { name: name.into(), holds: Box::new(holds) });
        self
    }

    /// Changes the value in one step, and checks the invariants. `f` must not do anything that other threads can see.
    ///
    /// # Panics
    ///
    /// If an invariant does not hold afterwards.
    #[track_caller]
    pub fn update<R: Send>(&self, f: impl FnOnce(&mut T) -> R + Send) -> R {
        let site = Location::caller();
        let mut f = Some(f);
        let mut result = None;
        let mut make = |value: &mut T| {
            if let Some(f) = f.take() {
                result = Some(f(value));
            }
        };
        let broken = current(|controller| match controller {
            Some(controller) if !controller.inert() => self.update_in_model(controller, &mut make, site),
            _ => {
                let mut inner = locked(&self.0.inner);
                make(&mut inner.value);
                self.broken(&inner.value)
            }
        });
        match (broken, result) {
            (Some(broken), _) => panic!("{broken}"),
            (None, Some(result)) => result,
            (None, None) => unreachable!("the update was made"),
        }
    }

    /// The value as it is now, in the order of the updates.
    ///
    /// # Panics
    ///
    /// If an invariant does not hold.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.update(|value| value.clone())
    }

    fn update_in_model(&self, controller: &dyn Controller, make: &mut dyn FnMut(&mut T), site: Site) -> Option<String> {
        const INFO: &Info = &Info { name: "update", family: "ghost::State", role: Role::Plain };
        let number = self.enter(controller, make);
        // If the execution ends here.
        let taken_back = TakeBack(self, number);
        let order = Ordering::Relaxed;
        let action = Action::Update { update: next, operands: [number, 0], order, failure: order, weak: false };
        let answer = perform(&self.0.identity, 0, action, INFO, site);
        match answer {
            Answer::Done(after) => {
                let broken = self.made(controller, number, after);
                controller.note(&mut || format!("{:?}", locked(&self.0.inner).value));
                broken
            }
            Answer::Inert | Answer::Outside => {
                drop(taken_back);
                make(&mut locked(&self.0.inner).value);
                None
            }
        }
    }
}

impl<T: fmt::Debug + Send + 'static> State<T> {
    /// Notes an update that is going to get its place, under a number that no other has.
    fn enter(&self, controller: &dyn Controller, make: &mut dyn FnMut(&mut T)) -> u64 {
        let number = (u64::from(controller.thread().0) + 1) << 40 | controller.performed();
        // SAFETY: 1. Only the lifetime changes; `TakeBack` or `made` removes the entry before what it points to ends.
        let make = unsafe {
            std::mem::transmute::<NonNull<dyn FnMut(&mut T) + '_>, NonNull<dyn FnMut(&mut T)>>(NonNull::from(make))
        };
        locked(&self.0.inner).pending.push(Pending { number, make, broken: None, made: false });
        number
    }

    /// The update `number` comes right after the update `after`: makes it, and those before it that have not been made. The
    /// invariant that it breaks.
    fn made(&self, controller: &dyn Controller, number: u64, after: u64) -> Option<String> {
        let mut inner = locked(&self.0.inner);
        if !inner.is_made(number) {
            let order = if inner.after == after { vec![number] } else { controller.written(self.0.identity.slot()) };
            let start = order.iter().position(|earlier| *earlier == inner.after).map_or(0, |place| place + 1);
            for earlier in &order[start..] {
                self.make(&mut inner, *earlier);
                if *earlier == number {
                    break;
                }
            }
        }
        let place = inner.pending.iter().position(|pending| pending.number == number)?;
        inner.pending.swap_remove(place).broken
    }

    fn make(&self, inner: &mut Inner<T>, number: u64) {
        let Some(place) = inner.pending.iter().position(|pending| pending.number == number && !pending.made) else {
            return;
        };
        let mut make = inner.pending[place].make;
        // SAFETY: 1. The thread it comes from is in `update`: it has not taken the entry back. 2. Threads take turns, and
        // whoever is here holds the lock: nobody else uses it.
        unsafe { make.as_mut()(&mut inner.value) };
        inner.after = number;
        inner.pending[place].made = true;
        inner.pending[place].broken = self.broken(&inner.value);
    }

    /// What is wrong with a value.
    fn broken(&self, value: &T) -> Option<String> {
        let invariants = locked(&self.0.invariants);
        let broken = invariants.iter().find(|invariant| !(invariant.holds)(value))?;
        Some(format!("the invariant `{}` does not hold: {value:?}", broken.name))
    }
}

impl<T> Inner<T> {
    fn is_made(&self, number: u64) -> bool {
        self.pending.iter().any(|pending| pending.number == number && pending.made)
    }
}

/// Takes an update back whose thread is unwound before it has its place.
struct TakeBack<'a, T>(&'a State<T>, u64);

impl<T> Drop for TakeBack<'_, T> {
    fn drop(&mut self) {
        locked(&self.0.0.inner).pending.retain(|pending| pending.number != self.1);
    }
}

impl<T> Clone for State<T> {
    /// The same state.
    fn clone(&self) -> Self {
        State(self.0.clone())
    }
}

impl<T: fmt::Debug> fmt::Debug for State<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("State").field(&locked(&self.0.inner).value).finish()
    }
}
