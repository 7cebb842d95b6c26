//! Loops that wait for another thread: `spin_loop` and `yield_now` close an iteration.
//!
//! If an iteration only read, repeating it changes nothing until somebody writes, so the thread may be *parked* there: its
//! reads stay revisitable, and a later write creates the execution that goes on. That is exact for a loop that waits for ever
//! (an *await*), wrong for one that does more than read, and a bound for one that gives up after some iterations. Which kind a
//! loop is, is learned by a *probe* when it is first met: the thread goes on alone, its reads answered with what they read
//! before, and the run is then cut and repeated.

use super::config::Step;
use super::exhaustive::{Adding, Pick};
use super::run::State;
use super::{Explorer, Stats};
use crate::event::{EventId, Kind, Part};
use crate::op::{Action, Budget, ObjectId, Op, Role, Site, ThreadId};

/// What `Event::choice` means for a spin.
pub mod choice {
    /// The thread waits here for something it read to change.
    pub const PARK: u32 = 0;
    /// The iteration did more than read, or belongs to a loop that gives up soon: nothing is special about it.
    pub const PASS: u32 = 1;
    /// The thread goes on although it only read.
    pub const GO_ON: u32 = 2;
}

/// Iterations after which a probed loop is taken to wait for ever.
const PATIENCE: u32 = 1_000;

/// What kind of loop a spin belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Its iterations only read, at most so many times each, and it never gives up.
    Await { reads: u32 },
    /// Its iterations only read, at most so many times each, and it gives up after so many.
    GivesUp { after: u32, reads: u32 },
    /// It does more than read, or is no loop.
    Active,
}

/// One more number for a sequence that is folded into one (FNV).
fn fold(sum: u64, next: u64) -> u64 {
    (sum ^ next).wrapping_mul(0x0100_0000_01b3)
}

/// Whether the operation ends the last look of a wait for several objects at once, about which there is nothing to learn.
fn waits(op: &Op) -> bool {
    matches!(op.action, Action::Spin) && op.info.role == Role::Wait
}

/// A loop as a thread is in it: the same code may wait for ever when it is called once, and give up when it is called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    thread: ThreadId,
    /// How many events of the thread came before what may be its first iteration, and until that was over.
    first: (u32, u32),
    spin: Site,
    /// Where an iteration reads last.
    read: Site,
    /// What it has read, folded into a number: a loop goes on for ever with some values and not with others.
    values: u64,
}

/// What is known about loops.
#[derive(Debug, Default)]
pub(super) struct Spins {
    known: Known,
    /// During a probe: objects that the thread has changed, with the state before and now.
    changed: Vec<(ObjectId, u64, u64)>,
}

/// What has been learned about loops.
pub(super) type Known = Vec<(Loop, Class)>;

impl Spins {
    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// Takes over what another explorer has learned.
    pub(super) fn learn(&mut self, known: Known) {
        self.known = known;
    }

    fn class(&self, at: Loop) -> Option<Class> {
        self.known.iter().rev().find(|(known, _)| *known == at).map(|&(_, class)| class)
    }
}

/// A probe of a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    at: Loop,
    iterations: u32,
    /// Reads in the current iteration, and the most in any.
    reads: u32,
    most_reads: u32,
    /// What the current iteration has accessed, and what the first one did, folded into a number.
    accessed: u64,
    pattern: u64,
}

impl Explorer {
    /// `spin_loop` or `yield_now`.
    pub(super) fn add_spin(&mut self, thread: ThreadId, op: &Op) -> Step {
        let end = self.frame.graph.threads[thread.index()].events.len();
        if self.follows_spin(thread, end) {
            return Step::Done(0);
        }
        if waits(op) {
            self.append(thread, op);
            return self.park(thread, op);
        }
        let Some(at) = self.loop_at(thread, end, op.site) else {
            return self.pass(thread, op, choice::PASS);
        };
        match self.spins.class(at) {
            None => {
                self.spins.changed.clear();
                self.run.probe = Some(Probe { at, iterations: 0, reads: 0, most_reads: 0, accessed: 0, pattern: 0 });
                Step::Done(0)
            }
            Some(Class::Active) => self.pass(thread, op, choice::PASS),
            Some(Class::GivesUp { after, .. }) if after <= self.config.spin_budget => {
                self.pass(thread, op, choice::PASS)
            }
            Some(class) => {
                let in_vain = self.in_vain(thread);
                let id = self.append(thread, op);
                let budget = match class {
                    Class::Await { .. } => self.config.await_budget,
                    _ => self.config.spin_budget,
                };
                let looks_again = in_vain < budget;
                if looks_again && self.walk.is_on() {
                    if self.walks_on(class) {
                        self.frame.graph.events[id.index()].choice = choice::GO_ON;
                        return Step::Done(0);
                    }
                } else if looks_again {
                    let pick = Pick { choice: choice::GO_ON, writes: false, budget: Budget::Free };
                    self.offer(Adding { at: id.0, label: None, rf: EventId::INIT, pick }, EventId::INIT);
                }
                self.park(thread, op)
            }
        }
    }

    /// Whether the thread has done nothing since its last spin, or since it began: then another spin is no event.
    pub(super) fn follows_spin(&self, thread: ThreadId, end: usize) -> bool {
        let graph = &self.frame.graph;
        let before = end.checked_sub(1).map(|i| graph.threads[thread.index()].events[i]);
        before.is_none_or(|e| graph.events[e.index()].part == Part::Spin)
    }

    /// The loop whose iteration ends with the first `end` events of the thread; none if it has not read last.
    fn loop_at(&self, thread: ThreadId, end: usize, spin: Site) -> Option<Loop> {
        let graph = &self.frame.graph;
        let events = &graph.threads[thread.index()].events;
        let event = |index: usize| &graph.events[events[index].index()];
        let mut first = None;
        let mut values = 0_u64;
        let mut end = end;
        loop {
            let idle = self.idle_suffix(thread, end);
            if first.is_none() {
                values = idle.iter().fold(0, |sum, &id| fold(sum, self.seen_in(id)));
            }
            let (Some(newest), Some(oldest)) = (idle.first(), idle.last()) else { break };
            let start = graph.events[oldest.index()].index;
            let read = (graph.events[newest.index()].site, graph.events[newest.index()].object);
            // An earlier iteration belongs to the same loop if it ended alike: it may also be another call of the same code.
            if first.is_some_and(|(_, _, known)| known != read) {
                break;
            }
            first = Some((start, end as u32, read));
            match (start as usize).checked_sub(1) {
                Some(before) if event(before).part == Part::Spin && event(before).site == spin => end = before,
                _ => break,
            }
        }
        first.map(|(start, end, (read, _))| Loop { thread, first: (start, end), spin, read, values })
    }

    /// The value of a read or write as it is in every run of the graph. What may be an address differs from run to run, so the
    /// write that it comes from stands for it.
    fn seen_in(&self, id: EventId) -> u64 {
        let graph = &self.frame.graph;
        let e = &graph.events[id.index()];
        if e.value <= u64::from(u32::MAX) {
            return e.value;
        }
        let write = if e.part == Part::Read { graph.view(id) } else { id };
        if write.is_init() {
            return u64::MAX;
        }
        let write = &graph.events[write.index()];
        u64::from(write.thread.0 + 1) << 32 | u64::from(write.index)
    }

    fn pass(&mut self, thread: ThreadId, op: &Op, choice: u32) -> Step {
        let id = self.append(thread, op);
        self.frame.graph.events[id.index()].choice = choice;
        if matches!(op.action, Action::Yield) {
            self.run.yielded = Some(thread);
        }
        Step::Done(0)
    }

    /// The thread ends here in this graph, unless something changes.
    pub(super) fn park(&mut self, thread: ThreadId, op: &Op) -> Step {
        self.run.wait(thread, op, State::Parked);
        self.leave()
    }

    /// The accesses, newest first, that directly precede the event at `end` of the thread and together change nothing: reads,
    /// read-modify-writes that leave the value as it was, and pairs like lock and unlock (a spin lock's compare-exchange and
    /// store, too) that leave it as they found it. What somebody else has changed between two accesses of an object, and the
    /// second one has undone, is not as it was.
    fn idle_suffix(&self, thread: ThreadId, end: usize) -> Vec<EventId> {
        let graph = &self.frame.graph;
        let mut accesses = Vec::new();
        let mut idle = 0;
        // Objects whose state at the end is not what it was at this point, with that state, and what the thread found in them
        // when it accessed them next; none if that was a store.
        let mut changed: Vec<(ObjectId, u64, Option<u64>)> = Vec::new();
        for &id in graph.threads[thread.index()].events[..end].iter().rev() {
            let e = &graph.events[id.index()];
            let place = changed.iter().position(|&(object, ..)| object == e.object);
            if matches!(e.part, Part::Read | Part::Write) {
                let next = place.and_then(|place| changed[place].2);
                if next.is_some_and(|found| found != e.value) {
                    break;
                }
            }
            match (e.part, place) {
                (Part::Read, None) => {}
                (Part::Read, Some(place)) if changed[place].1 == e.value => drop(changed.swap_remove(place)),
                (Part::Read, Some(place)) => changed[place].2 = Some(e.value),
                (Part::Write, None) => changed.push((e.object, e.value, None)),
                (Part::Write, Some(place)) => changed[place].2 = None,
                (Part::Fence, _) => continue,
                // What it would have done with another choice is another execution.
                (Part::Choice, _) if e.kind == Kind::Choose && e.choice == 0 => continue,
                _ => break,
            }
            accesses.push(id);
            if changed.is_empty() {
                idle = accesses.len();
            }
        }
        accesses.truncate(idle);
        accesses
    }

    /// How many iterations in a row the thread has gone on from although they only read.
    fn in_vain(&self, thread: ThreadId) -> u32 {
        let graph = &self.frame.graph;
        let mut count = 0;
        let mut end = graph.threads[thread.index()].events.len();
        loop {
            end -= self.graph().threads[thread.index()].events[..end]
                .iter()
                .rev()
                .take_while(|&&id| {
                    matches!(graph.events[id.index()].part, Part::Read | Part::Fence) || graph.is_write_part(id)
                })
                .count();
            let Some(&before) = end.checked_sub(1).map(|i| &graph.threads[thread.index()].events[i]) else {
                return count;
            };
            let e = &graph.events[before.index()];
            if e.part != Part::Spin || e.choice != choice::GO_ON {
                return count;
            }
            count += 1;
            end -= 1;
        }
    }

    /// Whether the parked thread's last iteration read the newest writes, so that it would read the same again. Newer
    /// read-modify-writes by which other parked threads look, and which leave the value as it is, do not count.
    pub(super) fn reads_newest(&self, thread: ThreadId) -> bool {
        let graph = &self.frame.graph;
        let looks = self.last_look(thread);
        looks.iter().filter(|id| graph.events[id.index()].part == Part::Read).all(|&id| {
            let seen = graph.view(id);
            let newer = &graph.object(graph.events[id.index()].object).co[graph.rank(seen)..];
            newer.iter().all(|&write| {
                let other = graph.events[write.index()].thread;
                // Unless it read what it saw in the middle of that look, which the look has put back since.
                self.run.is_parked(other) && {
                    let look = self.last_look(other);
                    look.contains(&write) && (other == thread || !look.contains(&seen))
                }
            })
        })
    }

    /// The accesses of the last iteration of a parked thread, newest first. What it did before the loop is no part of it.
    fn last_look(&self, thread: ThreadId) -> Vec<EventId> {
        let graph = &self.frame.graph;
        let end = graph.threads[thread.index()].events.len() - 1;
        let reads = match self.parked_in(thread) {
            _ if self.waits(thread) => usize::MAX,
            Some(Class::Await { reads } | Class::GivesUp { reads, .. }) => reads as usize,
            // A replay has learned nothing about the loop: what it looked at last is what it waits for.
            None if self.walk.is_on() => 1,
            _ => usize::MAX,
        };
        let mut looks = self.idle_suffix(thread, end);
        let is_read = |id: &EventId| graph.events[id.index()].part == Part::Read;
        let mut seen = 0;
        let all = looks.iter().position(|id| {
            seen += usize::from(is_read(id));
            seen == reads
        });
        looks.truncate(all.map_or(looks.len(), |last| last + 1));
        looks
    }

    /// Whether another thread that waits could have gone on in the middle of the parked thread's last look: that unlocks and
    /// locks again, say, and is parked with the lock in its hands. The execution is the unfair beginning of others, in which
    /// the other thread comes in between.
    pub(super) fn lets_others_on(&mut self, parked: ThreadId) -> bool {
        let events = &self.frame.graph.events;
        let mut between = self.last_look(parked);
        between.retain(|id| events[id.index()].part == Part::Write);
        let others = (0..self.thread_count).map(|index| ThreadId(index as u32)).filter(|&other| other != parked);
        others.into_iter().any(|other| between.iter().any(|&write| self.would_go_on(other, write)))
    }

    /// Whether the thread waits, and what it waits for would be there right after `write`.
    fn would_go_on(&mut self, thread: ThreadId, write: EventId) -> bool {
        let events = &self.frame.graph.events;
        let (object, value) = (events[write.index()].object, events[write.index()].value);
        match self.run.state[thread.index()] {
            State::Blocked => {
                let Some(Op { action: action @ Action::Object { .. }, object: wanted, .. }) =
                    self.run.pending[thread.index()]
                else {
                    return false;
                };
                Explorer::eval(&mut self.outcomes, &action, value, thread);
                wanted == object && !self.outcomes.as_slice().is_empty()
            }
            State::Parked => self.last_look(thread).iter().any(|id| {
                let e = &events[id.index()];
                e.part == Part::Read && e.object == object && e.value != value
            }),
            _ => false,
        }
    }

    /// Nobody else can go on: if a parked thread is in a loop that gives up and would read the same again, it does.
    pub(super) fn unpark_last(&mut self) -> Option<ThreadId> {
        for index in 0..self.thread_count {
            let thread = ThreadId(index as u32);
            if self.run.state[index] != State::Parked || !self.reads_newest(thread) || !self.gives_up(thread) {
                continue;
            }
            let graph = &mut self.frame.graph;
            let park = *graph.threads[index].events.last().expect("a parked thread has a spin");
            graph.events[park.index()].choice = choice::GO_ON;
            self.run.state[index] = State::Going;
            return Some(thread);
        }
        None
    }

    /// Whether the parked thread waits for several objects at once: see [`Action::Spin`].
    pub(super) fn waits(&self, thread: ThreadId) -> bool {
        self.run.pending[thread.index()].as_ref().is_some_and(waits)
    }

    /// Whether the loop that the parked thread is in is known to give up.
    fn gives_up(&self, thread: ThreadId) -> bool {
        matches!(self.parked_in(thread), Some(Class::GivesUp { .. }))
    }

    /// The kind of loop that the parked thread is in.
    fn parked_in(&self, thread: ThreadId) -> Option<Class> {
        let end = self.graph().threads[thread.index()].events.len() - 1;
        let spin = self.run.pending[thread.index()].map(|op| op.site)?;
        self.spins.class(self.loop_at(thread, end, spin)?)
    }

    /// The execution is dropped with this thread parked: if its loop gives up by itself, that cut something.
    pub(super) fn note_cut(&mut self, thread: ThreadId) {
        if self.gives_up(thread) {
            let Stats { spin_cut, .. } = &mut self.stats;
            *spin_cut += 1;
        }
    }
}

/// Probing.
impl Explorer {
    /// Whether the current run only serves to learn about a loop: what the program does in it means nothing.
    pub fn is_probing(&self) -> bool {
        self.run.probe.is_some()
    }

    /// The program gave up the loop that is being probed in another way than by an operation (a panic).
    pub fn leave_probe(&mut self) {
        self.learn_left();
        self.run.over = true;
    }

    /// An operation of the thread that is being probed.
    pub(super) fn probe_step(&mut self, thread: ThreadId, op: &Op) -> Step {
        let probe = self.run.probe.expect("a probe is on");
        debug_assert_eq!(probe.at.thread, thread);
        match op.action {
            Action::Spin | Action::Yield => {
                // A loop may pause in several ways, one after the other. A pause with nothing before it closes no iteration.
                if probe.reads == 0 { Step::Done(0) } else { self.probe_iteration(probe) }
            }
            Action::Fence { .. } | Action::Choose { .. } => Step::Done(0),
            Action::Load { .. } => self.probe_read(thread, op.object),
            Action::Ended { thread: other } => self.probe_read(thread, ObjectId(other.0)),
            Action::Update { .. } | Action::Object { .. } => {
                let state = self.seen_before(thread, op.object);
                Self::eval(&mut self.outcomes, &op.action, state, thread);
                let Some(&outcome) = self.outcomes.as_slice().first() else { return self.probe_left() };
                self.count_probe_read(op.object);
                self.run.wrote = outcome.writes;
                if outcome.writes {
                    self.change(op.object, state, outcome.state);
                }
                Step::Done(outcome.result)
            }
            // The release of a spin lock: it puts back what a read-modify-write of this iteration has changed. Any other
            // store would be seen again each time round.
            Action::Store { value, .. } if self.puts_back(op.object, value) => {
                self.change(op.object, value, value);
                Step::Done(0)
            }
            _ => self.probe_left(),
        }
    }

    fn probe_read(&mut self, thread: ThreadId, object: ObjectId) -> Step {
        self.count_probe_read(object);
        Step::Done(self.seen_before(thread, object))
    }

    fn count_probe_read(&mut self, object: ObjectId) {
        if let Some(probe) = &mut self.run.probe {
            probe.reads += 1;
            probe.accessed = fold(probe.accessed, u64::from(object.0 + 1));
        }
    }

    /// Whether the probed thread has changed the object, from this value.
    fn puts_back(&self, object: ObjectId, value: u64) -> bool {
        self.spins.changed.iter().any(|&(known, before, _)| known == object && before == value)
    }

    /// The probed thread has changed an object, for itself.
    fn change(&mut self, object: ObjectId, before: u64, now: u64) {
        match self.spins.changed.iter_mut().find(|(known, ..)| *known == object) {
            Some((_, _, state)) => *state = now,
            None => self.spins.changed.push((object, before, now)),
        }
    }

    /// The value that the thread saw when it accessed the object last.
    fn seen_before(&self, thread: ThreadId, object: ObjectId) -> u64 {
        if let Some(&(_, _, now)) = self.spins.changed.iter().find(|(known, ..)| *known == object) {
            return now;
        }
        let graph = &self.frame.graph;
        let head = graph.head(object, thread.index());
        let write = if head.is_init() { graph.newest(object) } else { graph.view(head) };
        graph.value_of(object, write)
    }

    fn probe_iteration(&mut self, mut probe: Probe) -> Step {
        if self.spins.changed.iter().any(|(_, before, now)| before != now) {
            self.spins.known.push((probe.at, Class::Active));
            self.run.over = true;
            return Step::Over;
        }
        let accessed = core::mem::take(&mut probe.accessed);
        if probe.iterations == 0 {
            probe.pattern = accessed;
        } else if probe.pattern != accessed {
            // It is in another loop now.
            return self.probe_left();
        }
        probe.iterations += 1;
        probe.most_reads = probe.most_reads.max(core::mem::take(&mut probe.reads));
        self.run.probe = Some(probe);
        if probe.iterations < PATIENCE {
            return Step::Done(0);
        }
        self.spins.known.push((probe.at, Class::Await { reads: probe.most_reads }));
        self.run.over = true;
        Step::Over
    }

    fn probe_left(&mut self) -> Step {
        self.learn_left();
        self.run.over = true;
        Step::Over
    }

    /// The thread has left the loop, or the loop does more than read. Before the first complete iteration the two cannot be
    /// told apart, and treating the spin as nothing special is right for both.
    fn learn_left(&mut self) {
        let probe = self.run.probe.expect("a probe is on");
        let class = match probe.iterations {
            0 => Class::Active,
            n => Class::GivesUp { after: n + 1, reads: probe.most_reads },
        };
        self.spins.known.push((probe.at, class));
    }
}
