//! The replay of the events that the graph has, in an order that extends program order and reads-from.
//!
//! Most operations of most executions are replayed, so there are two ways: [`Explorer::replay_at_once`] for the next recorded
//! access of a thread that nothing stands in the way of, and `replay` for whatever there is.

use super::Explorer;
use super::config::{Mismatch, Step};
use super::run::State;
use super::spin::choice;
use crate::event::{Event, EventId, Flags, Kind};
use crate::op::{Action, Op, ThreadId};

/// What came of an operation that was replayed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// What the caller gets.
    pub result: u64,
    /// Whether nothing stands in the way of the thread's next operation, a recorded one: else [`Explorer::ahead_of`] says
    /// whom to run first, if anybody.
    pub goes_on: bool,
}

impl Explorer {
    /// Performs the recorded access that is next for the thread, if nothing stands in its way and it is the recorded one;
    /// otherwise does nothing, and [`Explorer::step`] says what there is to say.
    #[inline(always)]
    pub fn replay_at_once(&mut self, thread: ThreadId, op: &Op) -> Option<Replayed> {
        let id = self.run.cursors[thread.index()].next;
        if id.is_init() { None } else { self.replay_next(thread, op, id) }
    }

    #[inline(always)]
    fn replay_next(&mut self, thread: ThreadId, op: &Op, id: EventId) -> Option<Replayed> {
        // Fields and slices of their own: what is known about them is then known after writing to others, too.
        let (run, frame) = (&mut self.run, &mut self.frame);
        let (events, objects) = (frame.graph.events.as_mut_slice(), frame.graph.objects.as_slice());
        let Event { object, rf, choice, flags, kind, stated, po_next, .. } = events[id.index()];
        if object != op.object {
            return None;
        }
        let writes = flags.has(Flags::WRITES);
        let state =
            if rf.is_init() { objects.get(object.index()).map_or(0, |o| o.init) } else { events[rf.index()].value };
        let (result, new) = match op.action {
            Action::Load { order } if kind == Kind::Load && stated == [order; 2] => (state, None),
            Action::Store { order, value } if kind == Kind::Store && stated == [order; 2] => (0, Some(value)),
            Action::Update { update, operands, order, failure, .. }
                if kind == Kind::Update && stated == [order, failure] && choice == 0 =>
            {
                (state, update(state, operands))
            }
            Action::Object { outs, args, failure, .. } if kind == Kind::Object && stated == [failure; 2] => {
                self.outcomes.clear();
                outs(state, args, thread, &mut self.outcomes);
                let outcome = self.outcomes.as_slice().get(choice as usize)?;
                (outcome.result, outcome.writes.then_some(outcome.state))
            }
            _ => return None,
        };
        let (done, next) = if kind == Kind::Store {
            events[id.index()].value = new?;
            (1, po_next)
        } else {
            if new.is_some() != writes {
                return None;
            }
            events[id.index()].value = state;
            if kind != Kind::Load {
                run.actions[id.index()] = op.action;
            }
            match new {
                Some(value) => {
                    let write = &mut events[po_next.index()];
                    write.value = value;
                    (2, write.po_next)
                }
                None => (1, po_next),
            }
        };
        run.steps += 1;
        run.wrote = new.is_some();
        run.remaining -= done as usize;
        run.cursors[thread.index()].done += done;
        // Its next operation may read from this one.
        let goes_on = !next.is_init() && frame.unfinished != Some(next) && {
            let rf = events[next.index()].rf;
            // Only reads and joins read.
            rf.is_init() || run.performed(&events[rf.index()])
        };
        run.cursors[thread.index()].next = if goes_on { next } else { EventId::INIT };
        Some(Replayed { result, goes_on })
    }

    /// Performs the recorded event that is next for the thread, if what it needs has been performed.
    pub(super) fn replay(&mut self, thread: ThreadId, op: &Op) -> Step {
        let cursor = &mut self.run.cursors[thread.index()];
        let ready = !core::mem::replace(&mut cursor.next, EventId::INIT).is_init();
        let graph = &mut self.frame.graph;
        let id = graph.threads[thread.index()].events[cursor.done as usize];
        let e = &mut graph.events[id.index()];
        if !e.is_of(thread, op) {
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
        Self::eval(&mut self.outcomes, &op.action, state, thread);
        let outcome = self.outcomes.as_slice().get(choice as usize).copied();
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
    #[inline]
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
    pub(super) fn mismatch(&self, thread: ThreadId, op: &Op, recorded: EventId) -> Box<Mismatch> {
        let recorded = self.frame.graph.event(recorded);
        Box::new(Mismatch { thread, recorded: (recorded.kind.name(), recorded.site), now: (op.info.name, op.site) })
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
