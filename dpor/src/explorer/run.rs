//! The state of one run of the program, the choice of whom to run, and how it ends.

use super::Explorer;
use super::config::{Step, ThreadOrder};
use super::spin::Probe;
use crate::event::{Event, EventId};
use crate::graph::{Graph, ThreadEvents};
use crate::linearize::Known;
use crate::op::{Action, Op, ThreadId};

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
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// How many of its events have been performed.
    pub(super) done: u32,
    /// Its next event, if that is recorded and nothing stands in its way.
    pub(super) next: EventId,
}

impl Default for Cursor {
    fn default() -> Self {
        Cursor { done: 0, next: EventId::INIT }
    }
}

/// The state of the current run.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) execution: u64,
    pub(super) steps: u32,
    /// How far each thread is.
    pub(super) cursors: Vec<Cursor>,
    pub(super) state: Vec<State>,
    /// What threads that were told to wait want to do.
    pub(super) pending: Vec<Option<Op>>,
    /// Recorded events that have not been performed.
    pub(super) remaining: usize,
    /// What each read part of an update or an operation on an object does: what a revisit and the count of preemptions
    /// evaluate. Entries of events that have not been performed in this run are left over from others.
    pub(super) actions: Vec<Action>,
    pub(super) wrote: bool,
    /// The thread that a random choice has picked.
    pub(super) granted: Option<ThreadId>,
    pub(super) over: bool,
    /// The execution has ended and was counted as one.
    pub(super) counted: bool,
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
        if self.actions.len() < graph.len() {
            self.actions.resize(graph.len(), Action::Assume);
        }
        self.granted = None;
        self.over = false;
        self.counted = false;
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
        Known { actions: &self.actions }
    }

    #[inline]
    pub(super) fn has_recorded(&self, events: Option<&ThreadEvents>, thread: ThreadId) -> bool {
        events.is_some_and(|t| (self.cursors[thread.index()].done as usize) < t.events.len())
    }

    /// Whether an event has been performed in this run.
    #[inline(always)]
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
    pub(super) fn performed_recorded(&mut self, thread: ThreadId, count: u32) {
        self.cursors[thread.index()].done += count;
        self.remaining -= count as usize;
    }

    /// Notes what is behind an event.
    #[inline(always)]
    pub(super) fn note(&mut self, id: EventId, op: &Op) {
        if self.actions.len() <= id.index() {
            self.actions.resize(id.index() + 1, Action::Assume);
        }
        self.actions[id.index()] = op.action;
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
        self.cursors[thread.index()].next = EventId::INIT;
    }
}

impl Explorer {
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
                    if self.lets_others_on(ThreadId(index as u32)) {
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
        if self.exceeds_bounds() {
            return Ending::Bounded;
        }
        match (parked, blocked) {
            (true, _) => Ending::Livelock,
            (false, true) => Ending::Deadlock,
            (false, false) => Ending::Complete,
        }
    }

    /// Whether the current graph, all of whose events have been performed, costs more than allowed.
    fn exceeds_bounds(&mut self) -> bool {
        let Some(allowance) = self.config.allowance() else { return false };
        !self.linearizer.within(&self.frame.graph, self.run.known(), allowance)
    }
}
