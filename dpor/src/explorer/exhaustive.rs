//! The exploration of every consistent execution once: what a new operation may read, what it makes possible for older ones,
//! and which graph comes next. ALGORITHM.md 3, with the recursion turned into alternatives that are kept with the graph they
//! were found in; they are taken last in, first out, so that the graph up to an alternative's stamp is still there.

use core::ops::Range;
use std::time::Instant;

use super::config::Step;
use super::run::State;
use super::{Explorer, Strategy};
use crate::event::{Event, EventId, Flags, Order, Part};
use crate::graph::Graph;
use crate::memory;
use crate::op::{Action, Budget, ObjectId, Op, Outcome, ThreadId};

/// Graphs beyond the bound between two looks at the clock.
const LOOKS: u64 = 64;

/// Which outcome an operation takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    pub(super) choice: u32,
    pub(super) writes: bool,
    pub(super) budget: Budget,
}

impl Pick {
    const CANONICAL: Pick = Pick { choice: 0, writes: false, budget: Budget::Free };

    pub(super) fn of(index: usize, outcome: &Outcome) -> Pick {
        Pick { choice: index as u32, writes: outcome.writes, budget: outcome.budget }
    }
}

/// What to do with the event of an alternative.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turn {
    /// Go on from it.
    Forward,
    /// Let the older read `target` read from its write.
    Revisit { target: EventId, pick: Pick },
    /// Put its write where the older operation `target` cannot proceed any more, which is then tried again later.
    Displace { target: EventId },
}

/// A graph to explore: the current one, cut back to `at` events, with one more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alternative {
    at: u32,
    /// Index into the labels of the frame; none: the label of the event at `at`.
    label: Option<u32>,
    rf: EventId,
    pick: Pick,
    /// The write after which the write comes in modification order.
    place: EventId,
    turn: Turn,
}

impl Alternative {
    /// The stamp of its event.
    pub(super) fn stamp(&self) -> usize {
        self.at as usize
    }

    /// What is to be done, as a number, and how many events its graph keeps at least.
    pub(super) fn turn_and_length(&self) -> (u8, usize) {
        match self.turn {
            Turn::Forward => (0, self.at as usize),
            Turn::Revisit { target, .. } => (1, target.index()),
            Turn::Displace { target } => (2, target.index()),
        }
    }

    /// What it is, as numbers.
    pub(super) fn words(&self) -> [u64; 4] {
        let pick = |pick: Pick| u64::from(pick.choice) << 8 | u64::from(pick.writes) << 7 | pick.budget as u64;
        let (turn, target) = match self.turn {
            Turn::Forward => (0, 0),
            Turn::Revisit { target, pick: outcome } => (1 | pick(outcome) << 2, target.0),
            Turn::Displace { target } => (2, target.0),
        };
        let label = self.label.map_or(0, |label| u64::from(label) + 1);
        [
            u64::from(self.at) << 32 | u64::from(self.rf.0),
            u64::from(self.place.0) << 32 | u64::from(target),
            pick(self.pick) ^ label << 48,
            turn,
        ]
    }
}

/// An operation being added, with the place of its event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adding {
    pub(super) at: u32,
    pub(super) label: Option<u32>,
    pub(super) rf: EventId,
    pub(super) pick: Pick,
}

impl Adding {
    pub(super) fn alternative(self, place: EventId, turn: Turn) -> Alternative {
        Alternative { at: self.at, label: self.label, rf: self.rf, pick: self.pick, place, turn }
    }
}

/// New events.
impl Explorer {
    /// The thread wants to perform an operation that the graph does not have.
    pub(super) fn extend(&mut self, thread: ThreadId, op: &Op) -> Step {
        if self.run.remaining > 0 {
            self.run.wait(thread, op, State::Going);
            return Step::Run(self.next_recorded());
        }
        if self.run.probe.is_some() {
            return self.probe_step(thread, op);
        }
        if let Some(next) = self.instead_of_yielded(thread).or_else(|| self.shuffle(thread)) {
            self.run.wait(thread, op, State::Going);
            return Step::Run(next);
        }
        if !self.can_proceed(thread, op) {
            let state = if matches!(op.action, Action::Assume) { State::Stopped } else { State::Blocked };
            self.run.wait(thread, op, state);
            return self.leave();
        }
        self.run.pending[thread.index()] = None;
        self.run.state[thread.index()] = State::Going;
        self.run.wrote = false;
        match op.action {
            Action::Load { .. } | Action::Ended { .. } => self.add_load(thread, op),
            Action::Store { value, .. } => self.add_store(thread, op, value),
            Action::End => {
                self.add_end(thread, op);
                self.run.state[thread.index()] = State::Ended;
                Step::Done(0)
            }
            Action::Update { .. } | Action::Object { .. } => self.add_update(thread, op),
            Action::Fence { .. } => {
                self.append(thread, op);
                Step::Done(0)
            }
            Action::Choose { alternatives, budget } => self.add_choice(thread, op, alternatives, budget),
            Action::Await { .. } => self.add_await(thread, op, None),
            Action::Spawn => self.add_spawn(thread, op),
            Action::Join { thread: other } => self.add_join(thread, op, other),
            Action::Spin | Action::Yield => self.add_spin(thread, op),
            Action::Assume => unreachable!("an assumption cannot proceed"),
        }
    }

    /// A new event at the end of the thread, counted as performed.
    #[inline]
    pub(super) fn append(&mut self, thread: ThreadId, op: &Op) -> EventId {
        let event = Event::of(thread, op, self.config.memory);
        self.append_event(event, op)
    }

    #[inline(always)]
    pub(super) fn append_event(&mut self, event: Event, op: &Op) -> EventId {
        let (thread, part) = (event.thread, event.part);
        let id = self.frame.graph.push(event);
        self.run.advance(thread, 1);
        if part == Part::Read {
            self.run.note(id, op);
        }
        id
    }

    /// The write part of the read part `read`, the last event of its thread, counted as performed.
    #[inline]
    pub(super) fn append_write_part(&mut self, thread: ThreadId, read: EventId) -> EventId {
        let write = self.frame.graph.push_write_part(read);
        self.run.advance(thread, 1);
        self.frame.graph.link_write(write);
        write
    }

    /// A wait for a thread that has ended.
    pub(super) fn add_join(&mut self, thread: ThreadId, op: &Op, other: ThreadId) -> Step {
        let id = self.append(thread, op);
        let graph = &mut self.frame.graph;
        let end = graph.threads[other.index()].end;
        graph.link_join(id, end);
        Step::Done(0)
    }

    pub(super) fn add_spawn(&mut self, thread: ThreadId, op: &Op) -> Step {
        let spawns = self.frame.graph.threads[thread.index()].spawns;
        let Some(child) = self.child(thread, spawns) else { return Step::TooManyThreads };
        let id = self.append(thread, op);
        self.frame.graph.threads[child.index()].spawned_by = id;
        Step::Done(u64::from(child.0))
    }

    fn add_choice(&mut self, thread: ThreadId, op: &Op, alternatives: u32, budget: Budget) -> Step {
        let id = self.append(thread, op);
        for choice in 1..alternatives {
            let pick = Pick { choice, budget, writes: false };
            self.offer(Adding { at: id.0, label: None, rf: EventId::INIT, pick }, EventId::INIT);
        }
        Step::Done(0)
    }

    /// Keeps a forward alternative, if its budget allows.
    pub(super) fn offer(&mut self, adding: Adding, place: EventId) {
        if self.affordable(adding.pick) {
            let alternative = adding.alternative(place, Turn::Forward);
            self.frame.alternatives.push(alternative);
        }
    }

    pub(super) fn affordable(&self, pick: Pick) -> bool {
        let spent = self.frame.graph.spent[pick.budget as usize];
        pick.budget == Budget::Free || spent < self.config.budgets[pick.budget as usize]
    }

    fn add_load(&mut self, thread: ThreadId, op: &Op) -> Step {
        let id = self.append(thread, op);
        let frame = &mut self.frame;
        let graph = &mut frame.graph;
        let e = graph.events[id.index()];
        let top = graph.object(e.object).co.len();
        let floor = graph.floor(e.object, id);
        let newest = graph.ranked(e.object, top);
        graph.link_read(id, newest);
        let later = self.config.judges_later();
        for rank in floor..top {
            let rf = graph.ranked(e.object, rank);
            graph.redirect(id, rf, e.order);
            if later || memory::admits(graph, &[id], &mut self.scratch) {
                let adding = Adding { at: id.0, label: None, rf, pick: Pick::CANONICAL };
                frame.alternatives.push(adding.alternative(EventId::INIT, Turn::Forward));
            }
        }
        if floor < top {
            graph.redirect(id, newest, e.order);
        }
        let value = graph.value_of(e.object, newest);
        graph.events[id.index()].value = value;
        Step::Done(value)
    }

    fn add_store(&mut self, thread: ThreadId, op: &Op, value: u64) -> Step {
        let id = self.append(thread, op);
        let frame = &mut self.frame;
        let graph = &mut frame.graph;
        let object = graph.events[id.index()].object;
        let floor = graph.floor(object, id);
        graph.link_write(id);
        graph.events[id.index()].value = value;
        let top = graph.object(object).co.len();
        let adding = Adding { at: id.0, label: None, rf: EventId::INIT, pick: Pick::CANONICAL };
        let later = self.config.judges_later();
        for rank in floor..top {
            let place = graph.ranked(object, rank);
            if splits_update(graph, object, rank) {
                continue;
            }
            graph.place(id, rank);
            let consistent = later || memory::admits(graph, &[id], &mut self.scratch);
            graph.displace(id);
            if consistent {
                frame.alternatives.push(adding.alternative(place, Turn::Forward));
            }
        }
        self.revisits(id, adding, Some(floor));
        let graph = &mut self.frame.graph;
        graph.place(id, top);
        self.run.wrote = true;
        Step::Done(0)
    }

    /// The end of a thread: the only write there ever is to its object.
    fn add_end(&mut self, thread: ThreadId, op: &Op) {
        let id = self.append(thread, op);
        let graph = &mut self.frame.graph;
        graph.link_write(id);
        graph.events[id.index()].value = 1;
        let adding = Adding { at: id.0, label: None, rf: EventId::INIT, pick: Pick::CANONICAL };
        self.revisits(id, adding, Some(0));
        self.frame.graph.place(id, 0);
        self.run.wrote = true;
    }

    fn add_update(&mut self, thread: ThreadId, op: &Op) -> Step {
        let id = self.append(thread, op);
        let object = op.object;
        let graph = &self.frame.graph;
        let newest = graph.newest(object);
        let state = graph.value_of(object, newest);
        let floor = graph.floor(object, id);
        let top = graph.object(object).co.len();
        if !matches!(op.action, Action::Object { .. }) {
            // Else `can_proceed` has just done that.
            Self::eval(&mut self.outcomes, &op.action, state, thread);
        }
        // The canonical outcome in the newest state is how this run goes on.
        let outcome = self.outcomes.as_slice()[0];
        let several = self.outcomes.as_slice().len() > 1;
        let mut linked = false;
        let others = if several { top + 1 } else { top };
        if floor < others {
            self.try_outcomes(id, op, None, floor..others, &mut linked);
        }
        let graph = &mut self.frame.graph;
        let order = order_of(&graph.events[id.index()], outcome.writes);
        link(graph, id, newest, order, &mut linked);
        graph.events[id.index()].value = state;
        if outcome.writes {
            graph.set_writes(id, true);
            self.add_write(thread, id, outcome.state);
        }
        self.run.wrote = outcome.writes;
        Step::Done(outcome.result)
    }

    /// All outcomes of the operation whose event is `id` (the last one) in the states of these ranks, but the canonical one in
    /// the newest state: keeps those that can be gone on from, and the revisits of the others. Of a blocked operation, which
    /// has the given label, all outcomes, and only revisits.
    fn try_outcomes(&mut self, id: EventId, op: &Op, label: Option<u32>, ranks: Range<usize>, linked: &mut bool) {
        let forward = label.is_none();
        let graph = &self.frame.graph;
        let event = graph.events[id.index()];
        let top = graph.object(event.object).co.len();
        for rank in ranks {
            let graph = &self.frame.graph;
            let rf = graph.ranked(event.object, rank);
            let state = graph.value_of(event.object, rf);
            let mut outcomes = core::mem::take(&mut self.outcomes);
            Self::eval(&mut outcomes, &op.action, state, event.thread);
            for (index, outcome) in outcomes.as_slice().iter().enumerate() {
                let pick = Pick::of(index, outcome);
                if (forward && rank == top && index == 0) || !self.affordable(pick) {
                    continue;
                }
                let order = order_of(&event, outcome.writes);
                let graph = &mut self.frame.graph;
                link(graph, id, rf, order, linked);
                if rank < top && !memory::admits(graph, &[id], &mut self.scratch) {
                    continue;
                }
                let adding = Adding { at: id.0, label, rf, pick };
                if outcome.writes {
                    self.try_write(id, adding, rank, outcome.state, forward);
                } else if forward {
                    self.offer(adding, EventId::INIT);
                }
            }
            self.outcomes = outcomes;
        }
    }

    /// An outcome that writes and is not the canonical one: if it can be gone on from, its revisits are computed then.
    fn try_write(&mut self, id: EventId, adding: Adding, rank: usize, state: u64, forward: bool) {
        let graph = &mut self.frame.graph;
        let object = graph.events[id.index()].object;
        graph.set_writes(id, true);
        let write = graph.push_write_part(id);
        graph.link_write(write);
        graph.events[write.index()].value = state;
        let newest = rank == graph.object(object).co.len();
        let mut goes_on = false;
        if forward && !splits_update(graph, object, rank) {
            graph.place(write, rank);
            goes_on = newest || memory::admits(graph, &[id, write], &mut self.scratch);
            graph.displace(write);
        }
        if goes_on {
            self.offer(adding, EventId::INIT);
        } else {
            self.revisits(write, adding, None);
        }
        let graph = &mut self.frame.graph;
        graph.pop();
        graph.set_writes(id, false);
    }

    /// Adds the write part of `id` right after what it reads from, with its revisits.
    fn add_write(&mut self, thread: ThreadId, id: EventId, state: u64) {
        let rf = self.frame.graph.events[id.index()].rf;
        let write = self.append_write_part(thread, id);
        self.frame.graph.events[write.index()].value = state;
        // Its alternatives go by the write part: the read part may be much older (a revisited one).
        self.revisits(write, Adding { at: write.0, label: None, rf: EventId::INIT, pick: Pick::CANONICAL }, None);
        let graph = &mut self.frame.graph;
        let rank = graph.rank(rf);
        graph.place(write, rank);
    }

    /// All recorded events have been performed, but for the read part `id` whose write part the graph does not have.
    pub(super) fn finish_write(&mut self, thread: ThreadId, op: &Op, id: EventId) -> Step {
        let graph = &mut self.frame.graph;
        let e = graph.events[id.index()];
        let state = graph.value_of(e.object, e.rf);
        Self::eval(&mut self.outcomes, &op.action, state, thread);
        let outcome = self.outcomes.as_slice().get(e.choice as usize).copied();
        let Some(outcome) = outcome.filter(|o| o.writes) else {
            return Step::Nondeterminism(self.mismatch(thread, op, id));
        };
        let frame = &mut self.frame;
        frame.graph.events[id.index()].value = state;
        frame.unfinished = None;
        self.run.advance(thread, 1);
        self.run.remaining -= 1;
        self.add_write(thread, id, outcome.state);
        self.run.wrote = true;
        Step::Done(outcome.result)
    }

    /// The execution has ended with blocked operations. What if one of them had gone first? Only the revisits that it causes.
    pub(super) fn explore_blocked(&mut self) {
        if !matches!(self.config.strategy, Strategy::Exhaustive | Strategy::Estimate { .. }) {
            return;
        }
        for index in 0..self.thread_count {
            if self.run.state[index] != State::Blocked {
                continue;
            }
            let op = self.run.pending[index].expect("a blocked thread has said what it wants");
            if !matches!(op.action, Action::Object { .. }) {
                continue;
            }
            let thread = ThreadId(index as u32);
            let frame = &mut self.frame;
            let event = Event::of(thread, &op, self.config.memory);
            let label = frame.labels.len() as u32;
            frame.labels.push(event);
            let id = frame.graph.push(event);
            self.run.note(id, &op);
            let mut linked = false;
            let graph = &self.frame.graph;
            let ranks = graph.floor(event.object, id)..graph.object(event.object).co.len() + 1;
            self.try_outcomes(id, &op, Some(label), ranks, &mut linked);
            let graph = &mut self.frame.graph;
            if !linked {
                graph.link_read(id, EventId::INIT);
            }
            graph.pop();
        }
    }
}

/// Links `id` to `rf`, or redirects it.
fn link(graph: &mut Graph, id: EventId, rf: EventId, order: Order, linked: &mut bool) {
    if core::mem::replace(linked, true) {
        graph.redirect(id, rf, order);
    } else {
        graph.events[id.index()].order = order;
        graph.link_read(id, rf);
    }
}

pub(super) fn order_of(event: &Event, writes: bool) -> Order {
    if writes { event.success } else { event.failure }
}

/// Whether a write after the first `rank` ones would come between a read-modify-write and what it reads.
pub(super) fn splits_update(graph: &Graph, object: ObjectId, rank: usize) -> bool {
    graph.object(object).co.get(rank).is_some_and(|&next| graph.events[next.index()].flags.has(Flags::RMW))
}

/// The next graph.
impl Explorer {
    /// Takes the next alternative that is consistent and within the bound; false if there is none.
    pub(super) fn next_graph(&mut self) -> bool {
        if !core::mem::replace(&mut self.started, true) {
            return true;
        }
        if self.run.probe.is_some() {
            // The run was cut to learn about a loop: the same graph comes again.
            return true;
        }
        loop {
            let frame = &mut self.frame;
            let Some(alternative) = frame.alternatives.pop() else {
                let Some(outer) = self.outer.pop() else { return false };
                self.spare.push(core::mem::replace(&mut self.frame, outer));
                continue;
            };
            if self.take(alternative) {
                return true;
            }
            if self.out_of_time {
                return false;
            }
        }
    }

    /// Makes the graph of an alternative the current one; false if it is to be skipped.
    pub(super) fn take(&mut self, alternative: Alternative) -> bool {
        let frame = &mut self.frame;
        let graph = &mut frame.graph;
        let at = alternative.at as usize;
        let mut event = match alternative.label {
            Some(label) => frame.labels[label as usize],
            None => graph.events[at],
        };
        graph.cut(at);
        if alternative.label.is_none() {
            frame.labels.clear();
        }
        let is_update = event.part == Part::Write && event.flags.has(Flags::RMW);
        event.flags = Flags::default();
        if is_update {
            event.flags.set(Flags::RMW);
        }
        event.choice = alternative.pick.choice;
        event.budget = alternative.pick.budget;
        event.order = order_of(&event, alternative.pick.writes || event.part != Part::Read);
        let id = graph.push(event);
        frame.unfinished = None;
        match (event.part, alternative.turn) {
            (Part::Read, _) => {
                graph.link_read(id, alternative.rf);
                if alternative.pick.writes {
                    graph.set_writes(id, true);
                    frame.unfinished = Some(id);
                }
            }
            (Part::Write, _) => {
                graph.link_write(id);
                let rank = graph.rank(alternative.place);
                graph.place(id, rank);
            }
            _ => {}
        }
        match alternative.turn {
            Turn::Forward => {
                graph.trim_objects();
                !self.prune() && (!self.config.judges_later() || self.is_consistent(&[id]))
            }
            Turn::Revisit { target, pick } => self.take_revisit(id, target, Some(pick)),
            Turn::Displace { target } => self.take_revisit(id, target, None),
        }
    }

    /// A new frame with the graph in which `target` reads from the write of the operation `id`, or is taken out because it
    /// cannot.
    fn take_revisit(&mut self, id: EventId, target: EventId, pick: Option<Pick>) -> bool {
        let frame = &mut self.frame;
        frame.unfinished = None;
        let graph = &mut frame.graph;
        let mut write = id;
        if graph.events[id.index()].part == Part::Read {
            write = graph.push_write_part(id);
            graph.link_write(write);
            let rank = graph.rank(graph.events[id.index()].rf);
            graph.place(write, rank);
        }
        // A frame that has nothing left to explore is not needed any more.
        let last = self.frame.alternatives.is_empty();
        if !last {
            let mut inner = self.spare.pop().unwrap_or_default();
            inner.graph.copy(&self.frame.graph);
            self.outer.push(core::mem::replace(&mut self.frame, inner));
        }
        let to = &mut self.frame;
        to.alternatives.clear();
        to.labels.clear();
        to.unfinished = None;
        let kept = target.index() + usize::from(pick.is_some());
        let new = 1 + usize::from(pick.is_some());
        let needs = |graph: &Graph, e: EventId| e == write || graph.knows(write, crate::graph::Clock::Porf, e);
        let write = to.graph.retain(&mut self.map, kept, needs, write);
        match pick {
            Some(pick) => redirect_target(to, target, write, pick),
            None => protect(&mut to.graph, write),
        }
        let newest = to.graph.newest(to.graph.events[write.index()].object) == write;
        if self.within_budgets() && !self.prune() && (newest || self.is_consistent(&[write, target][..new])) {
            return true;
        }
        if last {
            // What is left of it has no alternatives: the next one is of an outer frame.
            self.frame.alternatives.clear();
        } else if let Some(outer) = self.outer.pop() {
            self.spare.push(core::mem::replace(&mut self.frame, outer));
        }
        false
    }

    fn is_consistent(&mut self, new: &[EventId]) -> bool {
        memory::admits(&self.frame.graph, new, &mut self.scratch)
    }

    fn within_budgets(&self) -> bool {
        let spent = &self.frame.graph.spent;
        (1..spent.len()).all(|budget| spent[budget] <= self.config.budgets[budget])
    }

    /// Whether the current graph, which has not been run, is beyond the bounds. The way to a graph leads through graphs with
    /// more preemptions, but for those there is a limit.
    fn prune(&mut self) -> bool {
        let Some(mut allowance) = self.config.allowance() else { return false };
        let slack = (self.thread_count as u32).saturating_sub(2);
        allowance.preemptions = allowance.preemptions.saturating_add(slack);
        if self.linearizer.may_be_within(&self.frame.graph, allowance) {
            return false;
        }
        self.stats.pruned += 1;
        if self.stats.pruned.is_multiple_of(LOOKS) && self.config.until.is_some_and(|until| Instant::now() >= until) {
            self.out_of_time = true;
        }
        true
    }
}

/// The read `read` now reads from `write`, with the outcome `pick`.
fn redirect_target(frame: &mut super::Frame, read: EventId, write: EventId, pick: Pick) {
    let graph = &mut frame.graph;
    let event = graph.events[read.index()];
    graph.redirect(read, write, order_of(&event, pick.writes));
    let event = &mut graph.events[read.index()];
    event.choice = pick.choice;
    graph.spent[event.budget as usize] -= 1;
    event.budget = pick.budget;
    graph.spent[event.budget as usize] += 1;
    graph.set_writes(read, pick.writes);
    if pick.writes {
        frame.unfinished = Some(read);
    }
    graph.events[write.index()].flags.set(Flags::READ_BY_OLDER);
}

/// Nothing that the write depends on may be revisited again, nor the write itself deleted: without these marks two lockers
/// would displace each other for ever.
fn protect(graph: &mut Graph, write: EventId) {
    for index in 0..graph.len() {
        let id = EventId(index as u32);
        if id == write || graph.knows(write, crate::graph::Clock::Porf, id) {
            graph.events[index].flags.set(Flags::NO_REVISIT);
        }
    }
    graph.events[write.index()].flags.set(Flags::NO_DELETE);
}

/// Whether an event with this choice may be taken back by a revisit.
pub(super) fn deletable(e: &Event) -> bool {
    e.is_canonical() && !e.flags.has(Flags::NO_DELETE)
}
