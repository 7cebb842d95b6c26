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
use crate::event::{EventId, Flags, Part};
use crate::op::{Action, Budget, ObjectId, Op, Site, ThreadId};

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
enum Class {
    /// Its iterations only read, at most so many times each, and it never gives up.
    Await { reads: u32 },
    /// Its iterations only read, at most so many times each, and it gives up after so many.
    GivesUp { after: u32, reads: u32 },
    /// It does more than read, or is no loop.
    Active,
}

/// A loop: where it spins, and where it reads last before that (helpers that spin are shared by many loops).
type Loop = (Site, Site);

/// What is known about loops.
#[derive(Debug, Default)]
pub(super) struct Spins {
    known: Vec<(Loop, Class)>,
}

impl Spins {
    fn class(&self, at: Loop) -> Option<Class> {
        self.known.iter().find(|(known, _)| *known == at).map(|&(_, class)| class)
    }
}

/// A probe of a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    thread: ThreadId,
    at: Loop,
    iterations: u32,
    /// Reads in the current iteration, and the most in any.
    reads: u32,
    most_reads: u32,
}

/// The iteration that a spin closes.
struct Iteration {
    /// It has events at all.
    any: bool,
    /// Its latest events are reads; the site of the last.
    last_read: Option<Site>,
}

impl Explorer {
    /// `spin_loop` or `yield_now`.
    pub(super) fn add_spin(&mut self, thread: ThreadId, op: &Op) -> Step {
        let iteration = self.iteration(thread);
        if !iteration.any {
            return Step::Done(0);
        }
        let Some(last_read) = iteration.last_read else {
            return self.pass(thread, op, choice::PASS);
        };
        let at = (op.site, last_read);
        match self.spins.class(at) {
            None => {
                self.run.probe = Some(Probe { thread, at, iterations: 0, reads: 0, most_reads: 0 });
                Step::Done(0)
            }
            Some(Class::Active) => self.pass(thread, op, choice::PASS),
            Some(Class::GivesUp { after, .. }) if after <= self.config.spin_budget => self.pass(thread, op, choice::PASS),
            Some(class) => {
                let in_vain = self.in_vain(thread);
                let id = self.append(thread, op);
                let budget = match class {
                    Class::Await { .. } => self.config.await_budget,
                    _ => self.config.spin_budget,
                };
                if in_vain < budget {
                    let pick = Pick { choice: choice::GO_ON, writes: false, budget: Budget::Free };
                    self.offer(Adding { at: id.0, label: None, rf: EventId::INIT, pick }, EventId::INIT);
                }
                self.park(thread, op)
            }
        }
    }

    fn pass(&mut self, thread: ThreadId, op: &Op, choice: u32) -> Step {
        let id = self.append(thread, op);
        self.frame.graph.events[id.index()].choice = choice;
        Step::Done(0)
    }

    /// The thread ends here in this graph, unless something changes.
    pub(super) fn park(&mut self, thread: ThreadId, op: &Op) -> Step {
        self.run.wait(thread, op, State::Parked);
        self.leave()
    }

    /// What the thread has done since its last spin.
    fn iteration(&self, thread: ThreadId) -> Iteration {
        let graph = &self.frame.graph;
        let events = &graph.threads[thread.index()].events;
        let any = events.last().is_some_and(|&e| graph.events[e.index()].part != Part::Spin);
        let last = self.idle_suffix(thread, events.len()).next();
        let last_read = last.map(|e| graph.events[e.index()].site);
        Iteration { any, last_read }
    }

    /// The reads, newest first, that directly precede the event at `end` of the thread. Read-modify-writes that left the value
    /// as it was count as reads.
    fn idle_suffix(&self, thread: ThreadId, end: usize) -> impl Iterator<Item = EventId> + '_ {
        let graph = &self.frame.graph;
        let events = &graph.threads[thread.index()].events[..end];
        events.iter().rev().copied().take_while(|&id| {
            let e = &graph.events[id.index()];
            match e.part {
                Part::Read => !e.flags.has(Flags::WRITES) || self.keeps_value(events[e.index as usize], e.index),
                Part::Write => e.flags.has(Flags::RMW) && graph.events[graph.po_pred(id).index()].value == e.value,
                Part::Fence => true,
                _ => false,
            }
        }).filter(|&id| graph.events[id.index()].is_access())
    }

    /// Whether the write part after the read part `read` wrote what was read.
    fn keeps_value(&self, read: EventId, index: u32) -> bool {
        let graph = &self.frame.graph;
        let e = &graph.events[read.index()];
        let next = graph.threads[e.thread.index()].events.get(index as usize + 1);
        next.is_some_and(|&write| graph.events[write.index()].value == e.value)
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
                .take_while(|&&id| matches!(graph.events[id.index()].part, Part::Read | Part::Fence) || graph.is_write_part(id))
                .count();
            let Some(&before) = end.checked_sub(1).map(|i| &graph.threads[thread.index()].events[i]) else { return count };
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
        let end = graph.threads[thread.index()].events.len() - 1;
        // What the thread read before the loop is no part of the iteration.
        let reads = match self.parked_in(thread) {
            Some(Class::Await { reads } | Class::GivesUp { reads, .. }) => reads as usize,
            _ => usize::MAX,
        };
        let read_parts = self.idle_suffix(thread, end).filter(|id| graph.events[id.index()].part == Part::Read);
        read_parts.take(reads).all(|id| {
            let newer = &graph.object(graph.events[id.index()].object).co[graph.rank(graph.view(id))..];
            newer.iter().all(|&write| self.is_idle(write))
        })
    }

    /// Whether the write belongs to the last iteration of a parked thread, and so leaves the value as it was.
    fn is_idle(&self, write: EventId) -> bool {
        let thread = self.frame.graph.events[write.index()].thread;
        let end = self.graph().threads[thread.index()].events.len();
        self.run.is_parked(thread) && self.idle_suffix(thread, end - 1).any(|id| id == write)
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

    /// Whether the loop that the parked thread is in is known to give up.
    fn gives_up(&self, thread: ThreadId) -> bool {
        matches!(self.parked_in(thread), Some(Class::GivesUp { .. }))
    }

    /// The kind of loop that the parked thread is in.
    fn parked_in(&self, thread: ThreadId) -> Option<Class> {
        let end = self.graph().threads[thread.index()].events.len() - 1;
        let spin = self.run.pending[thread.index()].map(|op| op.site);
        let read = self.idle_suffix(thread, end).next().map(|e| self.graph().events[e.index()].site);
        self.spins.class((spin?, read?))
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
        debug_assert_eq!(probe.thread, thread);
        match op.action {
            Action::Spin | Action::Yield => {
                if op.site == probe.at.0 {
                    return self.probe_iteration(probe);
                }
                Step::Done(0)
            }
            Action::Fence { .. } => Step::Done(0),
            Action::Load { .. } => self.probe_read(thread, op.object),
            Action::Ended { thread: other } => self.probe_read(thread, ObjectId(other.0)),
            Action::Update { .. } | Action::Object { .. } => {
                let state = self.seen_before(thread, op.object);
                Self::eval(&mut self.outcomes, op, state, thread);
                match self.outcomes.as_slice().first() {
                    Some(&outcome) if !outcome.writes || outcome.state == state => {
                        self.count_probe_read();
                        self.run.wrote = outcome.writes;
                        Step::Done(outcome.result)
                    }
                    _ => self.probe_left(),
                }
            }
            _ => self.probe_left(),
        }
    }

    fn probe_read(&mut self, thread: ThreadId, object: ObjectId) -> Step {
        self.count_probe_read();
        Step::Done(self.seen_before(thread, object))
    }

    fn count_probe_read(&mut self) {
        if let Some(probe) = &mut self.run.probe {
            probe.reads += 1;
        }
    }

    /// The value that the thread saw when it accessed the object last.
    fn seen_before(&self, thread: ThreadId, object: ObjectId) -> u64 {
        let graph = &self.frame.graph;
        let head = graph.head(object, thread.index());
        let write = if head.is_init() { graph.newest(object) } else { graph.view(head) };
        graph.value_of(object, write)
    }

    fn probe_iteration(&mut self, mut probe: Probe) -> Step {
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
