//! One run of the program: the replay of the events that the graph has, in an order that extends program order and
//! reads-from, and the choice of whom to run.

use super::Explorer;
use super::config::{Mismatch, Step, ThreadOrder};
use super::spin::{Probe, choice};
use crate::event::{Event, EventId, Flags, Part, label};
use crate::graph::{Graph, ThreadEvents};
use crate::linearize::Known;
use crate::op::{Action, Op, Outcome, ThreadId};

/// Why a thread does not go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// It does.
    #[default]
    Going,
    /// The guard of its operation was false when it was last looked at.
    Blocked,
    /// It spins.
    Parked,
    /// It stopped at an assumption.
    Stopped,
    /// It is over.
    Ended,
}

/// How far a thread is in the replay.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    /// How many of its events have been performed.
    done: u32,
    /// What its next event needs is known to have been performed.
    ready: bool,
}

/// The state of the current run.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) execution: u64,
    pub(super) steps: u32,
    /// How far each thread is.
    cursors: Vec<Cursor>,
    pub(super) state: Vec<State>,
    /// What threads that were told to wait want to do.
    pub(super) pending: Vec<Option<Op>>,
    /// Recorded events that have not been performed.
    pub(super) remaining: usize,
    /// The operation behind each read part of an update or an operation on an object: what a revisit and the count of
    /// preemptions evaluate. Entries of events that have not been performed in this run are left over from others.
    pub(super) ops: Vec<Option<Op>>,
    pub(super) wrote: bool,
    /// The thread that a random choice has picked.
    pub(super) granted: Option<ThreadId>,
    pub(super) over: bool,
    pub(super) probe: Option<Probe>,
    /// The thread that has yielded last: others go first.
    pub(super) yielded: Option<ThreadId>,
}

impl Run {
    pub(super) fn reset(&mut self, execution: u64, graph: &Graph, threads: usize) {
        self.execution = execution;
        self.steps = 0;
        self.cursors.clear();
        self.state.clear();
        self.pending.clear();
        self.reserve_threads(threads);
        self.remaining = graph.len();
        self.granted = None;
        self.over = false;
        self.probe = None;
        self.yielded = None;
    }

    pub(super) fn reserve_threads(&mut self, threads: usize) {
        self.cursors.resize(threads, Cursor::default());
        self.state.resize(threads, State::Going);
        self.pending.resize(threads, None);
    }

    /// What is known of the operations of this run.
    pub(super) fn known(&self) -> Known<'_> {
        Known { ops: &self.ops }
    }

    #[inline]
    pub(super) fn has_recorded(&self, events: Option<&ThreadEvents>, thread: ThreadId) -> bool {
        events.is_some_and(|t| (self.cursors[thread.index()].done as usize) < t.events.len())
    }

    /// Whether an event has been performed in this run.
    #[inline]
    pub(super) fn performed(&self, e: &Event) -> bool {
        self.cursors[e.thread.index()].done > e.index
    }

    #[inline]
    pub(super) fn has_ended(&self, thread: ThreadId) -> bool {
        self.state[thread.index()] == State::Ended
    }

    pub(super) fn is_parked(&self, thread: ThreadId) -> bool {
        self.state[thread.index()] == State::Parked
    }

    /// Notes that `count` more events of the thread have been performed.
    #[inline]
    pub(super) fn advance(&mut self, thread: ThreadId, count: u32) {
        self.cursors[thread.index()].done += count;
    }

    /// Notes that recorded events of the thread have been performed.
    #[inline]
    fn performed_recorded(&mut self, thread: ThreadId, count: u32) {
        self.cursors[thread.index()].done += count;
        self.remaining -= count as usize;
    }

    /// Notes the operation behind an event.
    #[inline]
    pub(super) fn note(&mut self, id: EventId, op: &Op) {
        if self.ops.len() <= id.index() {
            self.ops.resize(id.index() + 1, None);
        }
        self.ops[id.index()] = Some(*op);
    }

    /// How many events the thread has performed.
    pub(super) fn performed_by(&self, thread: ThreadId) -> u32 {
        self.cursors[thread.index()].done
    }

    /// Remembers what the thread wants while it waits.
    #[inline]
    pub(super) fn wait(&mut self, thread: ThreadId, op: &Op, state: State) {
        self.pending[thread.index()] = Some(*op);
        self.state[thread.index()] = state;
    }
}

impl Explorer {
    /// Performs the recorded event that is next for the thread, if what it needs has been performed.
    pub(super) fn replay(&mut self, thread: ThreadId, op: &Op) -> Step {
        let cursor = &mut self.run.cursors[thread.index()];
        let ready = core::mem::take(&mut cursor.ready);
        let graph = &mut self.frame.graph;
        let id = graph.threads[thread.index()].events[cursor.done as usize];
        let e = &mut graph.events[id.index()];
        if e.label() != label(thread, op, self.config.memory).0 {
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
                Self::eval(&mut self.outcomes, op, state, thread);
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
    #[inline]
    fn before_recorded(&self, id: EventId) -> Option<ThreadId> {
        let e = &self.frame.graph.events[id.index()];
        if matches!(e.part, Part::Read | Part::Join) && !e.rf.is_init() {
            let write = &self.frame.graph.events[e.rf.index()];
            if !self.run.performed(write) {
                return Some(self.towards(write.thread));
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

    #[inline]
    fn recorded_ahead_of(&mut self, thread: ThreadId) -> Option<ThreadId> {
        let events = &self.frame.graph.threads[thread.index()].events;
        let Some(&next) = events.get(self.run.cursors[thread.index()].done as usize) else {
            return if self.run.has_ended(thread) { None } else { Some(self.next_recorded()) };
        };
        let first = self.before_recorded(next);
        // What it waits for will have been performed when it is run again.
        self.run.cursors[thread.index()].ready = first.is_none();
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
    pub(super) fn next_recorded(&self) -> ThreadId {
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
    fn towards(&self, mut thread: ThreadId) -> ThreadId {
        let graph = &self.frame.graph;
        loop {
            let spawn = graph.threads[thread.index()].spawned_by;
            if !spawn.is_init() && !self.run.performed(&graph.events[spawn.index()]) {
                thread = graph.events[spawn.index()].thread;
                continue;
            }
            let next = graph.threads[thread.index()].events[self.run.cursors[thread.index()].done as usize];
            let e = &graph.events[next.index()];
            if matches!(e.part, Part::Read | Part::Join) && !e.rf.is_init() {
                let write = &graph.events[e.rf.index()];
                if !self.run.performed(write) {
                    thread = write.thread;
                    continue;
                }
            }
            return thread;
        }
    }

    /// Whom to run next: recorded events first, then the first thread that can go on. `None`: nobody can, and the execution is
    /// over.
    pub(super) fn choose_next(&mut self) -> Option<ThreadId> {
        if self.run.over || self.run.probe.is_some() {
            self.run.over = true;
            return None;
        }
        if self.run.remaining > 0 {
            return Some(self.next_recorded());
        }
        let next = self.candidate();
        if next.is_none() {
            if let Some(thread) = self.unpark_last() {
                return Some(thread);
            }
            self.run.over = true;
            self.explore_blocked();
        }
        next
    }

    /// A thread that can perform a new operation, as far as is known.
    fn candidate(&mut self) -> Option<ThreadId> {
        let mut found = Vec::new();
        for index in 0..self.thread_count {
            let thread = ThreadId(index as u32);
            if !self.can_run(thread) {
                continue;
            }
            match self.config.thread_order {
                ThreadOrder::Leftmost => return Some(thread),
                ThreadOrder::Shuffled(_) => found.push(thread),
            }
        }
        if found.is_empty() { None } else { Some(found[self.random_below(found.len())]) }
    }

    /// Whether the thread exists and may be able to go on.
    pub(super) fn can_run(&mut self, thread: ThreadId) -> bool {
        let graph = &self.frame.graph;
        if thread != ThreadId::MAIN && graph.threads.get(thread.index()).is_none_or(|t| t.spawned_by.is_init()) {
            return false;
        }
        match self.run.state[thread.index()] {
            State::Going => true,
            State::Blocked => {
                let op = self.run.pending[thread.index()].expect("a blocked thread has said what it wants");
                self.can_proceed(thread, &op)
            }
            State::Parked | State::Stopped | State::Ended => false,
        }
    }

    /// The thread cannot go on.
    pub(super) fn leave(&mut self) -> Step {
        match self.choose_next() {
            Some(thread) => Step::Run(thread),
            None => Step::Over,
        }
    }

    /// Whom to run instead of `thread`, which has yielded: a loop that polls must let others go on.
    pub(super) fn instead_of_yielded(&mut self, thread: ThreadId) -> Option<ThreadId> {
        if self.run.yielded != Some(thread) {
            return None;
        }
        self.run.yielded = None;
        let others = (0..self.thread_count).map(|t| ThreadId(t as u32)).filter(|&t| t != thread);
        others.collect::<Vec<_>>().into_iter().find(|&t| self.can_run(t))
    }

    /// In a random thread order: whom to run instead of `thread`.
    pub(super) fn shuffle(&mut self, thread: ThreadId) -> Option<ThreadId> {
        if self.config.thread_order == ThreadOrder::Leftmost || self.run.granted.take() == Some(thread) {
            return None;
        }
        let next = self.candidate()?;
        self.run.granted = Some(next);
        if next == thread {
            self.run.granted = None;
            return None;
        }
        Some(next)
    }

    /// Whether what `thread` has read tells of the event of `other` with this index.
    pub fn has_seen(&self, thread: ThreadId, other: ThreadId, index: u32) -> bool {
        let graph = &self.frame.graph;
        let done = self.run.performed_by(thread);
        let events = graph.thread_events(thread);
        let event = graph.thread_events(other).get(index as usize);
        match (event, done.checked_sub(1).and_then(|last| events.get(last as usize))) {
            (Some(&event), Some(&last)) => graph.knows(last, crate::graph::Clock::Porf, event),
            // It has done nothing: all that it knows was there when it was spawned.
            (Some(&event), None) => {
                let spawn = graph.threads[thread.index()].spawned_by;
                !spawn.is_init() && graph.knows(spawn, crate::graph::Clock::Porf, event)
            }
            (None, _) => false,
        }
    }

    /// If the thread is blocked, the execution does not count, whatever the others do: as if it had stopped at an assumption.
    pub fn excuse(&mut self, thread: ThreadId) {
        let state = &mut self.run.state[thread.index()];
        if matches!(*state, State::Blocked | State::Parked) {
            *state = State::Stopped;
        }
    }

    /// How the execution ended.
    pub(super) fn ending(&mut self) -> super::Ending {
        use super::Ending;
        if self.run.probe.is_some() {
            return Ending::Probe;
        }
        if !self.run.over {
            return Ending::Unfinished;
        }
        let (mut blocked, mut parked) = (false, false);
        for index in 0..self.thread_count {
            match self.run.state[index] {
                State::Stopped => return Ending::Dropped,
                State::Blocked => blocked = true,
                State::Parked => {
                    if !self.reads_newest(ThreadId(index as u32)) {
                        self.note_cut(ThreadId(index as u32));
                        return Ending::Dropped;
                    }
                    match self.waits(ThreadId(index as u32)) {
                        true => blocked = true,
                        false => parked = true,
                    }
                }
                State::Going | State::Ended => {}
            }
        }
        if self.exceeds_bound(0) {
            return Ending::Bounded;
        }
        match (parked, blocked) {
            (true, _) => Ending::Livelock,
            (false, true) => Ending::Deadlock,
            (false, false) => Ending::Complete,
        }
    }

    /// Whether the current graph, all of whose events have been performed, needs more preemptions than allowed.
    pub(super) fn exceeds_bound(&mut self, slack: u32) -> bool {
        let Some(bound) = self.config.preemptions else { return false };
        let graph = &self.frame.graph;
        !self.linearizer.within(graph, self.run.known(), bound.saturating_add(slack), &mut self.scratch)
    }
}
