//! What a thread was doing when its worker was given up: found out by running the same executions again.
//!
//! A worker that has stopped in the middle of anything can say nothing any more. But executions repeat themselves: a second
//! worker runs the same ones and notes outside of itself, in the last of them, which thread runs and how many operations it
//! has performed ([`Trail`]), until it is given up in the same way. A third one stops that thread there ([`Halt`]), before
//! it comes to what cannot be survived: that is a failure like any other, with an order and a token.

use std::sync::{Arc, Mutex, PoisonError};

use dpor::ThreadId;

use super::{Engine, Failure, Site};

/// Where a thread is between two operations.
#[derive(Clone, Debug)]
pub(crate) struct Whereabouts {
    pub(crate) thread: ThreadId,
    /// As reports call it.
    pub(crate) name: Option<String>,
    /// How many events it has performed.
    pub(crate) after: u32,
    /// Its last operation, or where it was spawned.
    pub(crate) site: Site,
}

/// Where the thread that runs is, for somebody who outlives the worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail(Arc<Mutex<Option<Whereabouts>>>);

impl Trail {
    /// Where the worker was last.
    pub(crate) fn last(&self) -> Option<Whereabouts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// When a thread is stopped.
#[derive(Clone, Debug)]
pub(crate) enum When {
    /// When it has performed so many events.
    After(ThreadId, u32),
    /// When all of so many given decisions have been followed: whoever has followed the last one or, if that was the spawn of
    /// it, the thread that begins.
    Followed { decisions: usize, begins: bool },
}

/// A thread is stopped, and the model fails with it.
#[derive(Clone, Debug)]
pub(crate) struct Halt {
    pub(crate) when: When,
    pub(crate) failure: Failure,
}

/// What is done in one execution beyond running it.
#[derive(Clone, Debug)]
pub(crate) enum Spy {
    Trail(Trail),
    Halt(Halt),
}

/// A thread has come to such a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// It begins.
    Begins,
    /// It has performed an operation.
    Performed,
    /// It goes on, or is about to be lost.
    Goes,
}

impl Engine {
    /// Spies on the execution with this number, from 1, of those that the engine runs, and on all that come after it.
    pub(crate) fn spy(&self, execution: u64, spy: Option<Spy>) {
        self.spied_from.set(if spy.is_some() { execution } else { u64::MAX });
        self.spy.with(|slot| *slot = spy);
    }

    /// How to stop the thread that was stopped in an execution when its schedule is followed.
    pub(crate) fn halted(&self, schedule: &dpor::Schedule) -> Option<Halt> {
        self.spy.with(|spy| match spy {
            Some(Spy::Halt(Halt { when: When::After(_, after), failure })) if self.is_spied_on() => {
                let when = When::Followed { decisions: schedule.decisions.len(), begins: *after == 0 };
                Some(Halt { when, failure: failure.clone() })
            }
            _ => None,
        })
    }

    /// Whether the current execution is spied on.
    #[inline]
    pub(super) fn is_spied_on(&self) -> bool {
        self.begun.get() >= self.spied_from.get()
    }

    /// The running thread, whose last operation is at `site`, has come to a point. Does not return if it is stopped there.
    #[cold]
    pub(super) fn look(&self, point: Point, site: Site) {
        let thread = self.current.get();
        let after = self.explorer.with(|explorer| explorer.performed_by(thread));
        let halt = self.spy.with(|spy| match spy {
            Some(Spy::Trail(trail)) => {
                let name = self.threads.get(thread).name.with(|name| name.clone());
                let mut last = trail.0.lock().unwrap_or_else(PoisonError::into_inner);
                // Where it goes on it has no operation to name but the one it has named before.
                let before = last.as_ref().filter(|last| point == Point::Goes && last.thread == thread);
                let site = before.map_or(site, |last| last.site);
                *last = Some(Whereabouts { thread, name, after, site });
                None
            }
            Some(Spy::Halt(halt)) => Some(halt.clone()),
            None => None,
        });
        let Some(halt) = halt.filter(|_| point != Point::Goes) else { return };
        let due = match halt.when {
            When::After(who, events) => who == thread && events == after,
            When::Followed { decisions, begins } => {
                // Others may begin then, too.
                let is_it = !begins || matches!(halt.failure, Failure::Other { site: Some(at), .. } if at == site);
                let followed = || self.explorer.with(|explorer| explorer.followed());
                is_it && begins == (point == Point::Begins) && followed() == decisions
            }
        };
        if due {
            self.stop(halt.failure);
        }
    }
}
