//! How many descriptors an open file or socket has: `try_clone` adds one, and closing the last one closes the file.

use std::sync::atomic::{AtomicBool, Ordering};

use dpor::{Outcome, Outcomes, ThreadId};

use super::call::{Call, Object, Step, Sys};
use crate::model::event::Site;

/// The descriptors of one open file description.
#[derive(Debug)]
pub(crate) struct Descriptors {
    count: Object,
    /// Whether there ever was more than one. Only then can it matter who closes last, and only then is closing a step at the
    /// count. Whoever closes a descriptor had it to himself, so he knows of all clones made from it.
    cloned: AtomicBool,
}

/// One more, made of another one.
fn more(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state != 0 {
        out.push(Outcome::write(state + 1, state));
    }
}

/// One less: the result is how many there were.
fn less(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state != 0 {
        out.push(Outcome::write(state - 1, state));
    }
}

impl Descriptors {
    /// One.
    pub(crate) fn new(site: Site) -> Self {
        Descriptors { count: Object::new(1, site).named("descriptors"), cloned: AtomicBool::new(false) }
    }

    /// Stands in for dup(2).
    pub(crate) fn add(&self, call: Call<'_>) -> Sys<()> {
        static DUP: Step = Step::new("fd", "try_clone", more);
        self.cloned.store(true, Ordering::Relaxed);
        call.act(&self.count, &DUP, [0, 0])?;
        Ok(())
    }

    /// Stands in for close(2): whether it was the last one.
    pub(crate) fn close(&self, call: Call<'_>) -> Sys<bool> {
        static CLOSE: Step = Step::new("fd", "close", less);
        Ok(!self.cloned() || call.act(&self.count, &CLOSE, [0, 0])? == 1)
    }

    /// Whether there ever was more than one.
    pub(crate) fn cloned(&self) -> bool {
        self.cloned.load(Ordering::Relaxed)
    }
}
