//! Strategies that take one decision at a time, which thread goes next and which outcome it gets, and build the graph along
//! the way: all interleavings without reduction, random ones, and the replay of a given one.
//!
//! `Spawn`, `End`, and a `Join` or an `Await` that can proceed commute with everything and are performed as soon as they are reached.

use super::Explorer;
use super::config::{Step, Strategy};
use super::exhaustive::{Pick, order_of};
use super::run::State;
use super::spin::{Class, choice};
use crate::event::{Event, EventId, Part};
use crate::memory::{self, Memory};
use crate::op::{Action, Budget, ObjectId, Op, Role, ThreadId};
use crate::schedule::Decision;
use crate::strategy::{Candidate, Course, Directions, Draws, Performed, Plan, Random, Runner, Sampler, Who};

/// What was decided at one point of an execution.
#[derive(Clone, Copy, Debug)]
struct Node {
    chosen: usize,
    alternatives: usize,
}

#[derive(Clone, Debug, Default)]
enum Source {
    /// Not a walk.
    #[default]
    Off,
    /// All, depth first.
    All,
    /// Drawn.
    Random(Box<Drawing>),
    /// Written down.
    Directed(Directions),
    /// Planned, as far as it goes.
    Planned { plan: Plan, turn: usize, done: bool },
    /// Given.
    Given { decisions: Vec<Decision>, done: bool },
}

/// How long executions are is learned from the first so many.
const CALIBRATION: u64 = 16;

/// A random search.
#[derive(Clone, Debug)]
struct Drawing {
    draws: Draws,
    /// The number of the current execution, and of the next one.
    number: u64,
    next: u64,
    random: Random,
    sampler: Sampler,
    /// Decisions in the current execution, and the most in the first ones.
    decisions: u32,
    steps: u32,
}

impl Drawing {
    fn new(draws: &Draws) -> Drawing {
        let mut random = Random::new(draws.seed, draws.first);
        let sampler = Sampler::new(draws, draws.first, draws.steps, &mut random);
        let (number, next, steps) = (draws.first, draws.first, draws.steps);
        Drawing { draws: draws.clone(), number, next, random, sampler, decisions: 0, steps }
    }

    /// Begins the current execution.
    fn begin(&mut self) {
        self.random = Random::new(self.draws.seed, self.number);
        self.sampler = Sampler::new(&self.draws, self.number, self.steps, &mut self.random);
        self.decisions = 0;
    }

    /// Goes on to the next execution, if there is one.
    fn advance(&mut self) -> bool {
        if self.draws.steps == 0 && self.number < self.draws.first + CALIBRATION * self.draws.every.max(1) {
            self.steps = self.steps.max(self.decisions);
        }
        self.number = self.next;
        self.next += self.draws.every.max(1);
        self.number < self.draws.end
    }
}

/// The state of a walk.
#[derive(Debug, Default)]
pub(super) struct Walk {
    source: Source,
    /// The decisions of the current execution.
    trail: Vec<Node>,
    /// How many of them have been taken again in the current run.
    position: usize,
    /// The run was cut for a probe and comes again with the same decisions.
    again: bool,
    /// What was performed last.
    last: Option<Performed>,
    /// How many operations each thread has performed.
    performed: Vec<u32>,
    names: Vec<(ThreadId, String)>,
    /// A given decision could not be followed.
    diverged: Option<usize>,
    /// The operation that is being performed is not among the given decisions.
    extra: bool,
    /// How many outcomes the operation performed last could have had.
    alternatives: u32,
}

impl Walk {
    pub(super) fn new(strategy: &Strategy) -> Walk {
        let source = match strategy {
            Strategy::Exhaustive | Strategy::Estimate { .. } => Source::Off,
            Strategy::Interleavings => Source::All,
            Strategy::Random(draws) => Source::Random(Box::new(Drawing::new(draws))),
            Strategy::Replay(schedule) => Source::Given { decisions: schedule.decisions.clone(), done: false },
            Strategy::Directed(legs) => Source::Directed(Directions::new(legs.clone())),
            Strategy::Planned(plan) => Source::Planned { plan: plan.clone(), turn: 0, done: false },
        };
        Walk { source, ..Walk::default() }
    }

    #[inline]
    pub(super) fn is_on(&self) -> bool {
        !matches!(self.source, Source::Off)
    }

    /// The given decision for the next operation.
    fn given(&self) -> Option<Decision> {
        match &self.source {
            Source::Given { decisions, .. } if !self.extra => decisions.get(self.position).copied(),
            _ => None,
        }
    }

    /// Whether the rest of the given decisions has one of the thread's.
    fn comes_again(&self, thread: ThreadId) -> bool {
        match &self.source {
            Source::Given { decisions, .. } => decisions.iter().skip(self.position).any(|d| d.thread == thread),
            _ => false,
        }
    }

    /// Whether the thread has no part in the rest of the given decisions, of which there are some.
    fn is_done_with(&self, thread: ThreadId) -> bool {
        match &self.source {
            Source::Given { decisions, .. } => {
                let rest = &decisions[self.position.min(decisions.len())..];
                !rest.is_empty() && rest.iter().all(|decision| decision.thread != thread)
            }
            _ => false,
        }
    }

    /// Notes that the thread performs one more operation; how many it had performed.
    fn count(&mut self, thread: ThreadId) -> u32 {
        let count = self.performed_mut(thread);
        *count += 1;
        *count - 1
    }

    fn performed_mut(&mut self, thread: ThreadId) -> &mut u32 {
        if self.performed.len() <= thread.index() {
            self.performed.resize(thread.index() + 1, 0);
        }
        &mut self.performed[thread.index()]
    }

    fn is_given(&self) -> bool {
        matches!(self.source, Source::Given { .. })
    }
}

/// One outcome that an operation may have: where it reads or is placed, and how.
#[derive(Clone, Copy, Debug)]
struct Way {
    rank: usize,
    pick: Pick,
}

/// From one execution to the next.
impl Explorer {
    pub(super) fn start_walk(&mut self) -> bool {
        if !core::mem::take(&mut self.walk.again) && !self.next_trail() {
            return false;
        }
        match &mut self.walk.source {
            Source::Random(drawing) => drawing.begin(),
            Source::Directed(directions) => directions.restart(),
            Source::Planned { turn, .. } => *turn = 0,
            _ => {}
        }
        self.walk.position = 0;
        self.walk.last = None;
        self.walk.performed.clear();
        self.walk.names.clear();
        self.walk.diverged = None;
        self.started = true;
        let graph = &mut self.frame.graph;
        graph.clear();
        graph.reserve_threads(self.thread_count);
        true
    }

    fn next_trail(&mut self) -> bool {
        match &mut self.walk.source {
            Source::Off => false,
            Source::All => {
                if !self.started {
                    return true;
                }
                while self.walk.trail.last().is_some_and(|n| n.chosen + 1 == n.alternatives) {
                    self.walk.trail.pop();
                }
                self.walk.trail.last_mut().map(|n| n.chosen += 1).is_some()
            }
            Source::Random(drawing) => drawing.advance(),
            Source::Given { done, .. } | Source::Planned { done, .. } => !core::mem::replace(done, true),
            Source::Directed(_) => !self.started,
        }
    }

    pub(super) fn finish_walk(&mut self) {
        self.walk.again = self.run.probe.is_some();
    }

    /// The first given decision that could not be followed, if any.
    pub fn diverged_at(&self) -> Option<usize> {
        self.walk.diverged
    }

    /// How many outcomes the operation performed last could have had. Walks only.
    pub fn alternatives(&self) -> u32 {
        self.walk.alternatives
    }

    /// How many given decisions have been followed.
    pub fn followed(&self) -> usize {
        if self.walk.is_given() { self.walk.position } else { 0 }
    }

    /// One of `alternatives`.
    fn decide(&mut self, alternatives: usize) -> usize {
        match &mut self.walk.source {
            _ if alternatives == 1 => return 0,
            Source::Given { .. } | Source::Directed(_) | Source::Planned { .. } => return 0,
            Source::Random(drawing) => return drawing.random.below(alternatives),
            Source::All | Source::Off => {}
        }
        if let Some(node) = self.walk.trail.get(self.walk.position).copied() {
            self.walk.position += 1;
            return node.chosen.min(alternatives - 1);
        }
        self.walk.trail.push(Node { chosen: 0, alternatives });
        self.walk.position += 1;
        0
    }
}

/// Who goes next.
impl Explorer {
    pub(super) fn walk(&mut self, thread: ThreadId, op: &Op) -> Step {
        if self.run.probe.is_some() {
            return self.probe_step(thread, op);
        }
        if matches!(op.action, Action::Spin | Action::Yield) {
            let events = self.frame.graph.threads[thread.index()].events.len();
            if self.follows_spin(thread, events) {
                // It is no event, so no decision is about it.
                return Step::Done(0);
            }
        }
        if self.run.granted == Some(thread) {
            self.run.granted = None;
            return self.perform(thread, op);
        }
        let at_once = match op.action {
            Action::Spawn | Action::End => true,
            Action::Join { thread: other } => self.run.has_ended(other),
            Action::Await { settled, arg } => settled(arg).is_some(),
            Action::Spin => op.info.role == Role::Elapsed,
            _ => false,
        };
        if at_once && self.walk.given().is_none() {
            return self.perform(thread, op);
        }
        if self.config.patient && self.walk.is_done_with(thread) && self.can_proceed(thread, op) {
            self.walk.extra = true;
            let step = self.perform(thread, op);
            self.walk.extra = false;
            return step;
        }
        let state = match op.action {
            Action::Assume => State::Stopped,
            _ if !self.can_proceed(thread, op) => State::Blocked,
            _ => State::Going,
        };
        self.run.wait(thread, op, state);
        match self.walk_next_from(Some(thread)) {
            Some(next) if next == thread => {
                self.run.granted = None;
                self.perform(thread, op)
            }
            Some(next) => Step::Run(next),
            None => Step::Over,
        }
    }

    pub(super) fn walk_next(&mut self) -> Option<ThreadId> {
        self.walk_next_from(None)
    }

    fn walk_next_from(&mut self, current: Option<ThreadId>) -> Option<ThreadId> {
        if self.run.over || self.run.probe.is_some() {
            self.run.over = true;
            return None;
        }
        if let Some(decision) = self.walk.given() {
            if self.exists(decision.thread) && (self.is_ready(decision.thread) || self.awaits(decision.thread)) {
                self.run.granted = Some(decision.thread);
                return Some(decision.thread);
            }
            self.walk.diverged.get_or_insert(self.walk.position);
        }
        let given = self.walk.is_given();
        // Also after the last given decision: a thread that has not said what it wants may be about to fail.
        if let Some(thread) = (0..self.thread_count).map(|t| ThreadId(t as u32)).find(|&t| self.is_on_its_way(t)) {
            return Some(thread);
        }
        let ready: Vec<ThreadId> = (0..self.thread_count)
            .map(|t| ThreadId(t as u32))
            .filter(|&t| self.exists(t) && self.is_ready(t))
            .collect();
        if ready.is_empty() {
            self.run.over = true;
            return None;
        }
        match self.walk.source {
            Source::Directed(_) => return Some(self.directed(&ready)),
            Source::Planned { .. } => return Some(self.planned(&ready)),
            _ => {}
        }
        let joins = |t: &&ThreadId| {
            matches!(self.pending(**t).map(|op| op.action), Some(Action::Join { .. } | Action::Await { .. }))
        };
        if let Some(&joiner) = ready.iter().find(joins).filter(|_| !given) {
            self.run.granted = Some(joiner);
            return Some(joiner);
        }
        let next = match current {
            // After the last given decision: as few switches as possible.
            Some(thread) if given && ready.contains(&thread) => thread,
            _ if matches!(self.walk.source, Source::Random(_)) => ready[self.draw(&ready)],
            _ => ready[self.decide(ready.len())],
        };
        self.run.granted = Some(next);
        Some(next)
    }

    /// The position in `ready` of the thread that a random search lets go next.
    fn draw(&mut self, ready: &[ThreadId]) -> usize {
        let candidate = |&thread: &ThreadId| {
            let op = self.run.pending[thread.index()].as_ref();
            Candidate {
                thread,
                object: op.map_or(ObjectId::NONE, |op| op.object),
                writes: op.is_some_and(|op| !matches!(op.action, Action::Load { .. } | Action::Ended { .. })),
                focused: match (&self.walk.source, op) {
                    (Source::Random(drawing), Some(op)) => drawing.draws.focus.as_ref().is_some_and(|f| f.has(op)),
                    _ => false,
                },
            }
        };
        let candidates: Vec<Candidate> = ready.iter().map(candidate).collect();
        let last = self.walk.last;
        let Source::Random(drawing) = &mut self.walk.source else { return 0 };
        drawing.decisions += 1;
        drawing.sampler.next(&candidates, last, &mut drawing.random)
    }

    /// The thread that the directions say, or, where they leave it open, the one that went last or else the first.
    fn directed(&mut self, ready: &[ThreadId]) -> ThreadId {
        loop {
            let Source::Directed(directions) = &self.walk.source else { return ready[0] };
            let thread = directions.who().and_then(|who| self.find(who));
            let performed = thread.map_or(0, |thread| *self.walk.performed_mut(thread));
            let runner = thread.map(|thread| Runner {
                thread,
                pending: self.run.pending[thread.index()].as_ref(),
                performed,
                ready: ready.contains(&thread),
            });
            let Source::Directed(directions) = &mut self.walk.source else { return ready[0] };
            let Some(course) = directions.next(runner) else { continue };
            let next = match course {
                Course::Run(thread) => thread,
                Course::NotThere | Course::Free => self.stay(ready),
            };
            self.run.granted = Some(next);
            return next;
        }
    }

    /// The thread whose turn it is by plan.
    fn planned(&mut self, ready: &[ThreadId]) -> ThreadId {
        let next = loop {
            let Source::Planned { plan, turn, .. } = &mut self.walk.source else { return ready[0] };
            let Some(&(thread, until)) = plan.turns.get(*turn) else { break self.stay(ready) };
            if ready.contains(&thread) && self.walk.performed.get(thread.index()).is_none_or(|done| *done < until) {
                break thread;
            }
            *turn += 1;
        };
        self.run.granted = Some(next);
        next
    }

    /// The thread that went last, if it can go on, or else the first.
    fn stay(&self, ready: &[ThreadId]) -> ThreadId {
        let last = self.walk.last.filter(|last| !last.yielded).map(|last| last.thread);
        last.filter(|last| ready.contains(last)).unwrap_or(ready[0])
    }

    fn find(&self, who: &Who) -> Option<ThreadId> {
        match who {
            Who::Name(name) => self.walk.names.iter().find(|(_, known)| known == name).map(|(thread, _)| *thread),
            Who::Path(path) => {
                let child = |parent: ThreadId, n: &u32| self.children.get(parent.index())?.get(*n as usize).copied();
                let thread = path.iter().try_fold(ThreadId::MAIN, child)?;
                self.exists(thread).then_some(thread)
            }
        }
    }

    /// Gives a thread of the current execution the name by which directions may call it.
    pub fn name_thread(&mut self, thread: ThreadId, name: &str) {
        if matches!(self.walk.source, Source::Directed(_)) {
            self.walk.names.push((thread, name.to_owned()));
        }
    }

    /// The part of the directions, by number, that could not be followed to its end in this execution.
    pub fn stranded_leg(&self) -> Option<usize> {
        match &self.walk.source {
            Source::Directed(directions) => directions.stranded(),
            _ => None,
        }
    }

    /// The number of the current execution of a random search.
    pub fn number_drawn(&self) -> Option<u64> {
        match &self.walk.source {
            Source::Random(drawing) => Some(drawing.number),
            _ => None,
        }
    }

    fn exists(&self, thread: ThreadId) -> bool {
        let graph = &self.frame.graph;
        thread == ThreadId::MAIN || graph.threads.get(thread.index()).is_some_and(|t| !t.spawned_by.is_init())
    }

    /// Whether the thread has not said yet what it wants next.
    fn is_on_its_way(&self, thread: ThreadId) -> bool {
        self.exists(thread)
            && self.run.state[thread.index()] == State::Going
            && self.run.pending[thread.index()].is_none()
    }

    fn is_ready(&mut self, thread: ThreadId) -> bool {
        match self.run.state[thread.index()] {
            // Among all interleavings there is one in which it looks later: it need not look again in this one.
            State::Parked => !matches!(self.walk.source, Source::All) && !self.reads_newest(thread),
            // Others have moved since the thread said what it wants.
            State::Going | State::Blocked => match self.run.pending[thread.index()] {
                Some(op) => {
                    let ready = self.can_proceed(thread, &op);
                    self.run.state[thread.index()] = if ready { State::Going } else { State::Blocked };
                    ready
                }
                None => true,
            },
            State::Stopped | State::Ended => false,
        }
    }
}

/// What an operation does.
impl Explorer {
    fn perform(&mut self, thread: ThreadId, op: &Op) -> Step {
        let mut given = self.walk.given();
        if given.is_some() {
            self.walk.position += 1;
        }
        let spins = matches!(op.action, Action::Spin | Action::Yield);
        if !matches!(self.walk.source, Source::All | Source::Given { .. }) {
            let index = self.walk.count(thread);
            match &self.walk.source {
                Source::Planned { plan, .. } if !spins => given = Some(plan.outcome(thread, index)),
                _ => {}
            }
        }
        let step = self.perform_as(thread, op, given);
        let yielded = spins && op.info.role != Role::Elapsed;
        self.walk.last = Some(Performed { thread, object: op.object, wrote: self.run.wrote, yielded });
        step
    }

    fn perform_as(&mut self, thread: ThreadId, op: &Op, given: Option<Decision>) -> Step {
        self.run.pending[thread.index()] = None;
        self.run.state[thread.index()] = State::Going;
        self.run.wrote = false;
        self.walk.alternatives = 1;
        match op.action {
            Action::Load { .. } | Action::Ended { .. } | Action::Update { .. } | Action::Object { .. } => {
                self.walk_read(thread, op, given)
            }
            Action::Store { value, .. } => self.walk_store(thread, op, value, given),
            Action::End => {
                self.walk_store(thread, op, 1, given);
                self.run.state[thread.index()] = State::Ended;
                Step::Done(0)
            }
            Action::Fence { .. } => {
                self.append(thread, op);
                Step::Done(0)
            }
            Action::Choose { alternatives, budget } => self.walk_choose(thread, op, alternatives, budget, given),
            Action::Await { .. } => self.add_await(thread, op, given.map(|decision| decision.choice)),
            Action::Spawn => self.add_spawn(thread, op),
            Action::Join { thread: other } => self.add_join(thread, op, other),
            Action::Spin | Action::Yield => self.walk_spin(thread, op, given),
            Action::Assume => unreachable!("an assumption cannot proceed"),
        }
    }

    fn walk_choose(
        &mut self,
        thread: ThreadId,
        op: &Op,
        alternatives: u32,
        budget: Budget,
        given: Option<Decision>,
    ) -> Step {
        let graph = &self.frame.graph;
        let spent = graph.spent[budget as usize];
        let affordable = budget == Budget::Free || spent < self.config.budgets[budget as usize];
        let choice = match given {
            Some(decision) => decision.choice.min(alternatives - 1),
            None if affordable => self.decide(alternatives as usize) as u32,
            None => 0,
        };
        self.walk.alternatives = if affordable { alternatives } else { 1 };
        let mut event = Event::of(thread, op, self.config.memory);
        event.choice = choice;
        event.budget = if choice == 0 { Budget::Free } else { budget };
        self.append_event(event, op);
        Step::Done(u64::from(choice))
    }

    fn walk_spin(&mut self, thread: ThreadId, op: &Op, given: Option<Decision>) -> Step {
        match given {
            None => self.add_spin(thread, op),
            Some(decision) => {
                let id = self.append(thread, op);
                self.frame.graph.events[id.index()].choice = decision.choice;
                // A thread that was parked and went on later goes on at once: here nothing waits to be changed first.
                let goes_on = decision.choice != choice::PARK || self.walk.comes_again(thread);
                if goes_on { Step::Done(0) } else { self.park(thread, op) }
            }
        }
    }

    /// Whether a thread that has looked in vain, and may do so once more, looks again at once: all interleavings have both, a
    /// random one either. Of a loop that gives up, a random search has the ends that come without this.
    pub(super) fn walks_on(&mut self, class: Class) -> bool {
        let asks = match self.walk.source {
            Source::All => true,
            Source::Random(_) => matches!(class, Class::Await { .. }),
            _ => false,
        };
        if asks {
            self.walk.alternatives = 2;
        }
        asks && self.decide(2) == 1
    }

    fn walk_store(&mut self, thread: ThreadId, op: &Op, value: u64, given: Option<Decision>) -> Step {
        let id = self.append(thread, op);
        let graph = &mut self.frame.graph;
        let object = graph.events[id.index()].object;
        let floor = graph.floor(object, id);
        graph.link_write(id);
        graph.events[id.index()].value = value;
        let top = graph.object(object).co.len();
        let mut ranks = vec![top];
        if self.config.memory == Memory::Rc11 {
            for rank in (floor..top).rev() {
                if super::exhaustive::splits_update(graph, object, rank) {
                    continue;
                }
                graph.place(id, rank);
                if memory::admits(graph, &[id], &mut self.scratch) {
                    ranks.push(rank);
                }
                graph.displace(id);
            }
        }
        self.walk.alternatives = ranks.len() as u32;
        let rank = match given {
            Some(decision) => self.followable(&ranks, top.checked_sub(decision.place as usize)),
            None => ranks[self.decide(ranks.len())],
        };
        self.frame.graph.place(id, rank);
        self.run.wrote = true;
        Step::Done(0)
    }

    fn followable(&mut self, ranks: &[usize], wanted: Option<usize>) -> usize {
        match wanted.filter(|rank| ranks.contains(rank)) {
            Some(rank) => rank,
            None => {
                self.walk.diverged.get_or_insert(self.walk.position - 1);
                ranks[0]
            }
        }
    }

    /// Loads, read-modify-writes and operations on objects.
    fn walk_read(&mut self, thread: ThreadId, op: &Op, given: Option<Decision>) -> Step {
        let mut event = Event::of(thread, op, self.config.memory);
        let id = self.append_event(event, op);
        let ways = self.ways(id, op);
        self.walk.alternatives = ways.len() as u32;
        let top = self.frame.graph.object(event.object).co.len();
        let way = match given {
            Some(decision) => {
                let wanted = top.checked_sub(decision.read as usize);
                let found = ways.iter().find(|w| Some(w.rank) == wanted && w.pick.choice == decision.choice);
                if found.is_none() {
                    self.walk.diverged.get_or_insert(self.walk.position - 1);
                }
                *found.unwrap_or(&ways[0])
            }
            None => ways[self.decide(ways.len())],
        };
        let graph = &mut self.frame.graph;
        let rf = graph.ranked(event.object, way.rank);
        let state = graph.value_of(event.object, rf);
        event.order = order_of(&event, way.pick.writes);
        graph.redirect(id, rf, event.order);
        let e = &mut graph.events[id.index()];
        e.value = state;
        e.choice = way.pick.choice;
        graph.spent[Budget::Free as usize] -= 1;
        e.budget = way.pick.budget;
        graph.spent[e.budget as usize] += 1;
        Self::eval(&mut self.outcomes, &op.action, state, thread);
        let outcome = self.outcomes.as_slice()[way.pick.choice as usize];
        if outcome.writes {
            let graph = &mut self.frame.graph;
            graph.set_writes(id, true);
            let write = self.append_write_part(thread, id);
            let graph = &mut self.frame.graph;
            graph.events[write.index()].value = outcome.state;
            graph.place(write, way.rank);
        }
        self.run.wrote = outcome.writes;
        Step::Done(outcome.result)
    }

    /// The ways in which the operation whose event is `id` (the last one, not linked yet) may go, the canonical one first.
    /// Leaves it linked.
    fn ways(&mut self, id: EventId, op: &Op) -> Vec<Way> {
        let graph = &mut self.frame.graph;
        let event = graph.events[id.index()];
        let floor = graph.floor(event.object, id);
        let top = graph.object(event.object).co.len();
        let newest = graph.ranked(event.object, top);
        graph.link_read(id, newest);
        let stale = self.config.memory == Memory::Rc11 || matches!(op.action, Action::Ended { .. });
        let lowest = if stale { floor } else { top };
        let mut ways = Vec::new();
        for rank in (lowest..=top).rev() {
            let graph = &self.frame.graph;
            let rf = graph.ranked(event.object, rank);
            let state = graph.value_of(event.object, rf);
            Self::eval(&mut self.outcomes, &op.action, state, event.thread);
            for index in 0..self.outcomes.as_slice().len() {
                let pick = Pick::of(index, &self.outcomes.as_slice()[index]);
                if self.affordable(pick) && self.is_possible(id, rf, rank, top, pick) {
                    ways.push(Way { rank, pick });
                }
            }
        }
        ways
    }

    fn is_possible(&mut self, id: EventId, rf: EventId, rank: usize, top: usize, pick: Pick) -> bool {
        if rank == top {
            return true;
        }
        let graph = &mut self.frame.graph;
        let event = graph.events[id.index()];
        if pick.writes && super::exhaustive::splits_update(graph, event.object, rank) {
            return false;
        }
        graph.redirect(id, rf, order_of(&event, pick.writes));
        if !memory::admits(graph, &[id], &mut self.scratch) {
            return false;
        }
        if !pick.writes {
            return true;
        }
        graph.set_writes(id, true);
        let write = graph.push_write_part(id);
        graph.link_write(write);
        graph.place(write, rank);
        let consistent = memory::admits(graph, &[id, write], &mut self.scratch);
        graph.pop();
        graph.set_writes(id, false);
        debug_assert_eq!(graph.events[id.index()].part, Part::Read);
        consistent
    }
}
