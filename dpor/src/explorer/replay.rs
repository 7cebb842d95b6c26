//! The replay of the events that the graph has, in an order that extends program order and reads-from.
//!
//! Most operations of most executions are replayed, so there are two ways: [`Explorer::replay_at_once`] for the next recorded
//! access of a thread that nothing stands in the way of, and `replay` for whatever there is.

use super::Explorer;
use super::config::{Mismatch, Step};
use super::run::State;
use super::spin::choice;
use crate::event::{EventId, Flags, tag};
use crate::op::{Action, ObjectId, Op, Outcome, ThreadId};

impl Explorer {
    /// Performs the recorded access that is next for the thread, if nothing stands in its way and it is the recorded one;
    /// otherwise does nothing, and [`Explorer::step`] says what there is to say. Whether the thread may go on then, tells
    /// [`Explorer::goes_on`].
    #[inline]
    pub fn replay_at_once(&mut self, thread: ThreadId, op: &Op) -> Option<u64> {
        let index = thread.index();
        let id = self.run.cursors[index].next;
        if id.is_init() || self.run.steps >= self.config.max_steps {
            return None;
        }
        let graph = &mut self.frame.graph;
        let e = &graph.events[id.index()];
        if e.tag != tag(&op.action) || e.object != op.object {
            return None;
        }
        let writes = e.flags.has(Flags::WRITES);
        let (result, wrote) = match op.action {
            Action::Load { .. } => {
                let state = graph.value_of(e.object, e.rf);
                graph.events[id.index()].value = state;
                (state, false)
            }
            Action::Store { value, .. } => {
                graph.events[id.index()].value = value;
                (0, true)
            }
            Action::Update { update, operands, .. } if e.choice == 0 => {
                let state = graph.value_of(e.object, e.rf);
                let new = update(state, operands);
                if new.is_some() != writes {
                    return None;
                }
                graph.events[id.index()].value = state;
                if let Some(new) = new {
                    self.set_write_part(thread, id, new);
                }
                self.run.note(id, op);
                (state, writes)
            }
            Action::Object { outs, args, .. } => {
                let state = graph.value_of(e.object, e.rf);
                let choice = e.choice as usize;
                self.outcomes.clear();
                outs(state, args, thread, &mut self.outcomes);
                let outcome = *self.outcomes.as_slice().get(choice)?;
                if outcome.writes != writes {
                    return None;
                }
                graph.events[id.index()].value = state;
                if writes {
                    self.set_write_part(thread, id, outcome.state);
                }
                self.run.note(id, op);
                (outcome.result, writes)
            }
            _ => return None,
        };
        let events = 1 + u32::from(writes);
        self.run.steps += 1;
        self.run.wrote = wrote;
        self.run.remaining -= events as usize;
        let cursor = &mut self.run.cursors[index];
        cursor.done += events;
        cursor.next = EventId::INIT;
        let done = cursor.done as usize;
        if let Some(&next) = self.frame.graph.threads[index].events.get(done)
            && self.is_unhindered(next)
        {
            self.run.cursors[index].next = next;
        }
        Some(result)
    }

    /// Whether nothing is known to stand in the way of the thread's next operation, a recorded one.
    #[inline]
    pub fn goes_on(&self, thread: ThreadId) -> bool {
        !self.run.cursors[thread.index()].next.is_init()
    }

    /// The value of the write part of the thread's event `id`, a read part.
    #[inline(always)]
    fn set_write_part(&mut self, thread: ThreadId, id: EventId, value: u64) {
        let graph = &mut self.frame.graph;
        let index = graph.events[id.index()].index as usize + 1;
        let write = graph.threads[thread.index()].events[index];
        graph.events[write.index()].value = value;
    }

    /// Whether the recorded event has all that it needs.
    #[inline(always)]
    fn is_unhindered(&self, id: EventId) -> bool {
        let e = &self.frame.graph.events[id.index()];
        // Only reads and joins read.
        let read = e.rf.is_init() || self.run.performed(&self.frame.graph.events[e.rf.index()]);
        read && self.frame.unfinished != Some(id)
    }

    /// Performs the recorded event that is next for the thread, if what it needs has been performed.
    pub(super) fn replay(&mut self, thread: ThreadId, op: &Op) -> Step {
        let cursor = &mut self.run.cursors[thread.index()];
        let ready = !core::mem::replace(&mut cursor.next, EventId::INIT).is_init();
        let graph = &mut self.frame.graph;
        let id = graph.threads[thread.index()].events[cursor.done as usize];
        let e = &mut graph.events[id.index()];
        if e.tag != tag(&op.action) || e.object != object_of(thread, op) {
            let done = cursor.done as usize;
            if matches!(op.action, Action::Spin | Action::Yield) && self.follows_spin(thread, done) {
                // It was no event.
                return Step::Done(0);
            }
            return Step::Nondeterminism(self.mismatch(thread, op, id));
        }
        if !ready && let Some(first) = self.before_recorded(id) {
            self.run.wait(thread, op, State::Going);
            return Step::Run(first);
        }
        if self.run.pending[thread.index()].is_some() {
            self.run.pending[thread.index()] = None;
            self.run.state[thread.index()] = State::Going;
        }
        self.perform_recorded(thread, op, id)
    }

    /// Performs a recorded event that nothing stands in the way of.
    #[inline]
    fn perform_recorded(&mut self, thread: ThreadId, op: &Op, id: EventId) -> Step {
        let graph = &mut self.frame.graph;
        let (object, rf) = (graph.events[id.index()].object, graph.events[id.index()].rf);
        self.run.wrote = false;
        let result = match op.action {
            Action::Update { .. } | Action::Object { .. } => {
                self.run.note(id, op);
                if self.frame.unfinished == Some(id) {
                    return self.finish_write(thread, op, id);
                }
                return self.perform_recorded_update(thread, op, id);
            }
            Action::Load { .. } | Action::Ended { .. } => {
                let value = graph.value_of(object, rf);
                graph.events[id.index()].value = value;
                value
            }
            Action::Store { value, .. } => {
                graph.events[id.index()].value = value;
                self.run.wrote = true;
                0
            }
            Action::Choose { .. } | Action::Await { .. } => u64::from(graph.events[id.index()].choice),
            Action::Spawn => graph.spawned_thread(id).map_or(0, |child| u64::from(child.0)),
            Action::End => {
                graph.events[id.index()].value = 1;
                self.run.state[thread.index()] = State::Ended;
                0
            }
            Action::Spin | Action::Yield if graph.events[id.index()].choice == choice::PARK => {
                self.run.performed_recorded(thread, 1);
                return self.park(thread, op);
            }
            _ => 0,
        };
        self.run.performed_recorded(thread, 1);
        Step::Done(result)
    }

    /// A recorded read-modify-write, or an operation on an object.
    #[inline]
    fn perform_recorded_update(&mut self, thread: ThreadId, op: &Op, id: EventId) -> Step {
        let graph = &mut self.frame.graph;
        let e = &graph.events[id.index()];
        let (choice, writes, index) = (e.choice, e.flags.has(Flags::WRITES), e.index as usize);
        let state = graph.value_of(e.object, e.rf);
        let outcome = match op.action {
            // The usual case, without a list of outcomes.
            Action::Update { update, operands, .. } if choice == 0 => match update(state, operands) {
                Some(new) => Some(Outcome::write(new, state)),
                None => Some(Outcome::read(state)),
            },
            _ => {
                Self::eval(&mut self.outcomes, &op.action, state, thread);
                self.outcomes.as_slice().get(choice as usize).copied()
            }
        };
        let Some(outcome) = outcome.filter(|o| o.writes == writes) else {
            return Step::Nondeterminism(self.mismatch(thread, op, id));
        };
        let graph = &mut self.frame.graph;
        graph.events[id.index()].value = state;
        if writes {
            let write = graph.threads[thread.index()].events[index + 1];
            graph.events[write.index()].value = outcome.state;
        }
        self.run.wrote = writes;
        self.run.performed_recorded(thread, 1 + u32::from(writes));
        Step::Done(outcome.result)
    }

    /// Whom to run before the recorded event `id` can be performed, if anybody.
    fn before_recorded(&mut self, id: EventId) -> Option<ThreadId> {
        let e = &self.frame.graph.events[id.index()];
        if !e.rf.is_init() {
            let write = &self.frame.graph.events[e.rf.index()];
            if !self.run.performed(write) {
                let thread = write.thread;
                return Some(self.towards(thread));
            }
        }
        (self.frame.unfinished == Some(id) && self.run.remaining > 1).then(|| self.next_recorded())
    }

    /// The thread has just performed an operation. Whom to run before it learns the result, if there are recorded events that
    /// its next operation has to wait for: so a thread waits before, not after, it runs code of the program, which may be
    /// unwinding from a panic and must not be left then.
    #[inline]
    pub fn ahead_of(&mut self, thread: ThreadId) -> Option<ThreadId> {
        if self.run.remaining == 0 || self.walk.is_on() { None } else { self.recorded_ahead_of(thread) }
    }

    fn recorded_ahead_of(&mut self, thread: ThreadId) -> Option<ThreadId> {
        let events = &self.frame.graph.threads[thread.index()].events;
        let Some(&next) = events.get(self.run.cursors[thread.index()].done as usize) else {
            return if self.run.has_ended(thread) { None } else { Some(self.next_recorded()) };
        };
        let first = self.before_recorded(next);
        // What it waits for will have been performed when it is run again.
        let clear = first.is_none() && self.frame.unfinished != Some(next);
        self.run.cursors[thread.index()].next = if clear { next } else { EventId::INIT };
        first
    }

    /// What to say about an operation that is not the recorded one.
    pub(super) fn mismatch(&self, thread: ThreadId, op: &Op, recorded: EventId) -> Mismatch {
        let recorded = self.frame.graph.event(recorded);
        Mismatch { thread, recorded: (recorded.kind.name(), recorded.site), now: (op.info.name, op.site) }
    }

    /// The object number of something this execution has not used yet: the recorded one, if the thread's next event is
    /// recorded. Another thread's recorded events may be about the same object, so a new operation must come after them.
    #[cold]
    pub(super) fn bind(&mut self, thread: ThreadId, init: u64) -> Result<u64, ThreadId> {
        let frame = &mut self.frame;
        let graph = &mut frame.graph;
        let execution = self.run.execution;
        let recorded = if self.run.has_recorded(graph.threads.get(thread.index()), thread) {
            let id = graph.threads[thread.index()].events[self.run.cursors[thread.index()].done as usize];
            let object = graph.events[id.index()].object;
            // A number that is taken, or none at all: the operation will be found to differ from the recorded one.
            (object.index() < graph.object_count() && graph.object(object).bound_in != execution).then_some(object)
        } else if self.run.remaining > 0 {
            return Err(self.next_recorded());
        } else {
            None
        };
        let object = recorded.unwrap_or_else(|| graph.fresh_object());
        let state = graph.object_mut(object);
        state.init = init;
        state.bound_in = execution;
        Ok(execution << 24 | u64::from(object.0))
    }

    /// A thread with a recorded event that can be performed now.
    pub(super) fn next_recorded(&mut self) -> ThreadId {
        let frame = &self.frame;
        let graph = &frame.graph;
        let mut last = ThreadId::MAIN;
        for index in 0..graph.threads.len() {
            let thread = ThreadId(index as u32);
            if self.run.has_recorded(graph.threads.get(index), thread) {
                let next = graph.threads[index].events[self.run.cursors[index].done as usize];
                if frame.unfinished != Some(next) {
                    return self.towards(thread);
                }
                last = thread;
            }
        }
        last
    }

    /// The thread to run so that `thread` can perform its next recorded event. Program order and reads-from are acyclic, so
    /// there is one.
    fn towards(&mut self, mut thread: ThreadId) -> ThreadId {
        let graph = &self.frame.graph;
        loop {
            let spawn = graph.threads[thread.index()].spawned_by;
            if !spawn.is_init() && !self.run.performed(&graph.events[spawn.index()]) {
                thread = graph.events[spawn.index()].thread;
                continue;
            }
            let next = graph.threads[thread.index()].events[self.run.cursors[thread.index()].done as usize];
            let e = &graph.events[next.index()];
            if !e.rf.is_init() {
                let write = &graph.events[e.rf.index()];
                if !self.run.performed(write) {
                    thread = write.thread;
                    continue;
                }
            }
            if self.run.pending[thread.index()].is_none() && self.frame.unfinished != Some(next) {
                self.run.cursors[thread.index()].next = next;
            }
            return thread;
        }
    }
}

/// The object of an operation in the graph: the end of a thread is one too.
fn object_of(thread: ThreadId, op: &Op) -> ObjectId {
    match op.action {
        Action::End => ObjectId(thread.0),
        Action::Ended { thread } => ObjectId(thread.0),
        Action::Load { .. } | Action::Store { .. } | Action::Update { .. } | Action::Object { .. } => op.object,
        _ => ObjectId::NONE,
    }
}
