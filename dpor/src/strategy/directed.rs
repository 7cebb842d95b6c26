//! An order that somebody has written down: "run this thread until it is there, then that one".

use crate::op::{Op, ThreadId};

/// A thread, as a person names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// By its spawn path: children of the main thread by number, then theirs; empty for the main thread.
    Path(Vec<u32>),
    /// By the name it was given.
    Name(String),
}

/// How far a thread is to run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Until {
    /// Until it is about to perform the label with this name.
    Label(String),
    /// Until it has performed so many more operations.
    Steps(u32),
    /// Until it cannot go on.
    Stuck,
}

/// One part of the order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Leg {
    /// Who runs.
    pub thread: Who,
    /// How far.
    pub until: Until,
}

/// What somebody who asks for the next thread must say about the thread that is to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runner<'a> {
    pub(crate) thread: ThreadId,
    /// What it wants to do next.
    pub(crate) pending: Option<&'a Op>,
    /// How many operations it has performed.
    pub(crate) performed: u32,
    /// It can go on.
    pub(crate) ready: bool,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// Run this thread.
    Run(ThreadId),
    /// The thread of this leg is not there yet.
    NotThere,
    /// There are no more legs.
    Free,
}

/// How far the order has been followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directions {
    legs: Vec<Leg>,
    leg: usize,
    /// Operations that the thread of this leg had performed when it began.
    start: Option<u32>,
    /// The label that the last leg ended at: thread and operations performed.
    reached: Option<(ThreadId, u32)>,
    /// The leg that could not be run to its end.
    stranded: Option<usize>,
}

impl Directions {
    pub(crate) fn new(legs: Vec<Leg>) -> Directions {
        Directions { legs, ..Directions::default() }
    }

    pub(crate) fn restart(&mut self) {
        *self = Directions::new(core::mem::take(&mut self.legs));
    }

    /// The leg that could not be run to its end, if any; at the end of the execution, also one that has not been reached.
    pub(crate) fn stranded(&self) -> Option<usize> {
        self.stranded.or((self.leg < self.legs.len() && !self.is_last_stuck()).then_some(self.leg))
    }

    /// The last leg runs to the end of the execution.
    fn is_last_stuck(&self) -> bool {
        self.leg + 1 == self.legs.len() && self.legs[self.leg].until == Until::Stuck && self.start.is_some()
    }

    /// The thread of the current leg.
    pub(crate) fn who(&self) -> Option<&Who> {
        if self.stranded.is_some() { None } else { self.legs.get(self.leg).map(|leg| &leg.thread) }
    }

    /// What to do, given the thread of the current leg; `None`: ask again, another leg has begun.
    pub(crate) fn next(&mut self, runner: Option<Runner<'_>>) -> Option<Course> {
        let Some(leg) = self.legs.get(self.leg).filter(|_| self.stranded.is_none()) else { return Some(Course::Free) };
        let Some(runner) = runner else { return Some(Course::NotThere) };
        let start = *self.start.get_or_insert(runner.performed);
        let here = (runner.thread, runner.performed);
        let done = match &leg.until {
            Until::Label(name) => {
                let at = runner.pending.is_some_and(|op| op.info.family == "label" && op.info.name == name);
                at && self.reached != Some(here)
            }
            Until::Steps(steps) => runner.performed - start >= *steps,
            Until::Stuck => !runner.ready,
        };
        if done {
            self.reached = matches!(leg.until, Until::Label(_)).then_some(here).or(self.reached);
            self.leg += 1;
            self.start = None;
            return None;
        }
        if runner.ready {
            return Some(Course::Run(runner.thread));
        }
        self.stranded = Some(self.leg);
        Some(Course::Free)
    }
}
