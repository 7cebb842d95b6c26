//! Waits for what the program can tell by itself: [`Action::Await`].
//!
//! The event has no edges, so it can be anywhere before the next one of its thread, which has them. A revisit that keeps it
//! keeps what it depends on: that was performed earlier, and what comes later in its thread reads from it.

use super::Explorer;
use super::config::Step;
use crate::event::Event;
use crate::op::{Action, Op, ThreadId};

impl Explorer {
    /// Adds the event; `given`: with this outcome.
    pub(super) fn add_await(&mut self, thread: ThreadId, op: &Op, given: Option<u32>) -> Step {
        let Action::Await { settled, arg } = op.action else { unreachable!("it is a wait") };
        let mut event = Event::of(thread, op, self.config.memory);
        event.choice = given.or_else(|| settled(arg)).unwrap_or_default();
        self.append_event(event, op);
        Step::Done(u64::from(event.choice))
    }

    /// Whether the thread is at such a wait. A given schedule may have it earlier than it was in the recorded run.
    pub(super) fn awaits(&self, thread: ThreadId) -> bool {
        self.pending(thread).is_some_and(|op| matches!(op.action, Action::Await { .. }))
    }
}
