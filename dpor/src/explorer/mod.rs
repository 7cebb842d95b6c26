//! The explorer: decides which operation comes next and what it reads, for one execution after the other.
//!
//! | module | decides |
//! |---|---|
//! | [`config`] | what is explored and under which bounds; what came of it |
//! | `run` | who runs next, and how an execution ended |
//! | `replay` | what recorded events do in this run |
//! | `exhaustive` | new events and their alternatives |
//! | `revisit` | which older reads a new write may redirect |
//! | `spin` | loops that wait |
//! | `estimate` | how many executions there are |
//! | `share` | work that one explorer gives to another |
//! | `await_fact` | waits for what the program can tell by itself |
//! | `walk` | strategies that take one decision at a time: all interleavings, random, replay |
//! | `race` | plain accesses |

mod await_fact;
mod config;
mod estimate;
mod exhaustive;
mod race;
mod replay;
mod revisit;
mod run;
mod share;
mod spin;
mod walk;

pub use config::{Config, Ending, Mismatch, Stats, Step, Strategy, ThreadOrder};
pub use estimate::Estimate;
pub use race::{PlainAccess, Race};
pub use replay::Replayed;
pub use share::WorkItem;
pub use spin::choice as spin_choice;

use crate::event::{Event, EventId};
use crate::graph::{Graph, MAX_THREADS};
use crate::linearize::{Allowance, Linearizer};
use crate::memory;
use crate::op::{Action, Op, Outcome, Outcomes, ThreadId};
use estimate::Survey;
use exhaustive::Alternative;
use race::Races;
use run::Run;
use spin::Spins;
use walk::Walk;

/// A graph under exploration with the alternatives that were seen on the way and not taken yet.
#[derive(Debug, Default)]
struct Frame {
    graph: Graph,
    alternatives: Vec<Alternative>,
    /// Labels of operations that are not in the graph: the blocked ones.
    labels: Vec<Event>,
    /// A read part whose outcome writes and whose write part is the next event to be added.
    unfinished: Option<EventId>,
}

/// Explores the executions of a program, which the caller runs: see the crate documentation.
#[derive(Debug)]
pub struct Explorer {
    config: Config,
    /// The current one.
    frame: Frame,
    /// Those it was derived from, the outermost first.
    outer: Vec<Frame>,
    /// Kept for their buffers.
    spare: Vec<Frame>,
    started: bool,
    run: Run,
    walk: Walk,
    survey: Option<Survey>,
    spins: Spins,
    races: Races,
    /// `children[t][n]` is the number of the n-th child of thread `t`.
    children: Vec<Vec<ThreadId>>,
    thread_count: usize,
    stats: Stats,
    linearizer: Linearizer,
    outcomes: Outcomes,
    revisit_outcomes: Outcomes,
    map: Vec<EventId>,
    scratch: memory::Scratch,
    random: u64,
    /// Two threads have used the same object.
    met: bool,
    /// The search was given up.
    out_of_time: bool,
}

/// Driving it.
impl Explorer {
    /// An explorer that has not started.
    pub fn new(config: Config) -> Self {
        let random = match config.thread_order {
            ThreadOrder::Leftmost => 0,
            ThreadOrder::Shuffled(seed) => seed | 1,
        };
        let scratch = memory::Scratch::new(config.stale == Some(0));
        Explorer {
            walk: Walk::new(&config.strategy),
            survey: match config.strategy {
                Strategy::Estimate { seed, samples } => Some(Survey::new(seed, samples)),
                _ => None,
            },
            config,
            frame: Frame::default(),
            outer: Vec::new(),
            spare: Vec::new(),
            started: false,
            run: Run::default(),
            spins: Spins::default(),
            races: Races::default(),
            children: vec![Vec::new()],
            thread_count: 1,
            stats: Stats::default(),
            linearizer: Linearizer::default(),
            outcomes: Outcomes::default(),
            revisit_outcomes: Outcomes::default(),
            map: Vec::new(),
            scratch,
            random,
            met: false,
            out_of_time: false,
        }
    }

    /// Sets up the next execution; false when there is none left.
    pub fn start(&mut self) -> bool {
        self.start_numbered(self.run.execution + 1)
    }

    /// As [`Explorer::start`], giving the execution a number. Numbers must be positive, fit into 40 bits and never repeat
    /// within what shares object keys.
    pub fn start_numbered(&mut self, execution: u64) -> bool {
        let more = match self.survey {
            _ if self.walk.is_on() => self.start_walk(),
            None => self.next_graph(),
            Some(_) => self.next_of_survey(),
        };
        if more {
            let graph = &self.frame.graph;
            self.run.reset(execution, graph, self.thread_count);
            self.races.reset();
        }
        more
    }

    /// The number of the current execution.
    #[inline]
    pub fn execution(&self) -> u64 {
        self.run.execution
    }

    /// The thread wants to do `op` next.
    #[inline]
    pub fn step(&mut self, thread: ThreadId, op: &Op) -> Step {
        if let Some(replayed) = self.replay_at_once(thread, op) {
            return Step::Done(replayed.result);
        }
        self.run.steps += 1;
        if self.run.steps > self.config.max_steps {
            return Step::Limit;
        }
        let step = if self.run.has_recorded(self.frame.graph.threads.get(thread.index()), thread) {
            self.replay(thread, op)
        } else if self.walk.is_on() {
            self.walk(thread, op)
        } else {
            self.extend(thread, op)
        };
        if !matches!(step, Step::Done(_)) {
            self.run.steps -= 1;
        }
        step
    }

    /// Whether the operation performed last wrote.
    #[inline]
    pub fn wrote(&self) -> bool {
        self.run.wrote
    }

    /// Puts back what [`Explorer::wrote`] said before other operations were performed.
    pub fn set_wrote(&mut self, wrote: bool) {
        self.run.wrote = wrote;
    }

    /// The object behind `key`, the word that its owner keeps for it: 0 if it was never used, else what this function
    /// returned last. The low 24 bits of the new word are the `ObjectId`, the others the number of the execution. `init` is
    /// the value of an object that this execution has not used yet. `Err` names the thread to run first.
    #[inline]
    pub fn resolve(&mut self, thread: ThreadId, key: u64, init: u64) -> Result<u64, ThreadId> {
        if key >> 24 == self.run.execution { Ok(key) } else { self.bind(thread, init) }
    }

    /// Whom to run now that a thread has ended; `None` when the execution is over.
    pub fn next_thread(&mut self) -> Option<ThreadId> {
        if self.walk.is_on() { self.walk_next() } else { self.choose_next() }
    }

    /// Ends an execution in which the program failed: it counts, whatever the threads would have done. One that
    /// [`Explorer::finish`] has ended already counts once.
    pub fn finish_failed(&mut self) {
        if !self.run.counted {
            self.run.counted = true;
            self.stats.steps += u64::from(self.run.steps);
            self.stats.executions += 1;
        }
    }

    /// Whether there is more to explore after this execution, as far as is known.
    pub fn has_more(&self) -> bool {
        let more = |frame: &Frame| !frame.alternatives.is_empty();
        self.walk.is_on() || more(&self.frame) || self.outer.iter().any(more)
    }

    /// Ends the execution and says how it ended. May be called at any time; an execution that is given up counts as
    /// `Ending::Unfinished`.
    pub fn finish(&mut self) -> Ending {
        let ending = self.ending();
        self.notice();
        self.stats.steps += u64::from(self.run.steps);
        self.run.counted = matches!(ending, Ending::Complete | Ending::Deadlock | Ending::Livelock);
        match ending {
            Ending::Complete => self.stats.executions += 1,
            Ending::Deadlock => {
                self.stats.executions += 1;
                self.stats.deadlocks += 1;
            }
            Ending::Livelock => {
                self.stats.executions += 1;
                self.stats.livelocks += 1;
            }
            Ending::Dropped => self.stats.dropped += 1,
            Ending::Bounded => self.stats.bounded += 1,
            Ending::Probe => self.stats.probes += 1,
            Ending::Unfinished => self.stats.unfinished += 1,
        }
        if self.walk.is_on() {
            self.finish_walk();
        }
        ending
    }
}

/// Looking at it.
impl Explorer {
    /// The current graph.
    pub fn graph(&self) -> &Graph {
        &self.frame.graph
    }

    /// Whether in any execution so far two threads used the same object or the same memory: else nothing was checked.
    pub fn threads_met(&self) -> bool {
        self.met
    }

    fn notice(&mut self) {
        self.stats.refused += u64::from(self.scratch.take_refused());
        self.stats.weak += u64::from(self.frame.graph.weak_accesses > 0);
        if !self.met {
            let graph = &self.frame.graph;
            self.met = self.races.threads_met() || graph.threads_met();
        }
    }

    /// Whether the search was given up because [`Config::until`] had passed.
    pub fn is_out_of_time(&self) -> bool {
        self.out_of_time
    }

    /// What has been explored so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What a thread that cannot go on wants to do.
    pub fn pending(&self, thread: ThreadId) -> Option<&Op> {
        self.run.pending.get(thread.index()).and_then(Option::as_ref)
    }

    /// Ends an execution in which the program failed, but with more preemptions than allowed: it does not count.
    pub fn finish_beyond_bound(&mut self) {
        self.stats.bounded += 1;
        if core::mem::take(&mut self.run.counted) {
            self.stats.executions -= 1;
            return;
        }
        self.stats.steps += u64::from(self.run.steps);
        if self.walk.is_on() {
            self.finish_walk();
        }
    }

    /// Whether the guard of the operation that the thread wants to do is false now.
    pub fn is_blocked(&mut self, thread: ThreadId) -> bool {
        self.pending(thread).copied().is_some_and(|op| !self.can_proceed(thread, &op))
    }

    /// Whether the thread waits in a spinning loop for something it read to change.
    pub fn is_parked(&self, thread: ThreadId) -> bool {
        self.run.is_parked(thread)
    }

    /// How many events of the current execution the thread has performed.
    pub fn performed_by(&self, thread: ThreadId) -> u32 {
        self.run.performed_by(thread)
    }

    /// Whether the thread has ended in this execution.
    pub fn has_ended(&self, thread: ThreadId) -> bool {
        self.run.has_ended(thread)
    }

    /// The thread numbers that exist in this execution.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        let graph = self.graph();
        (0..graph.thread_count())
            .filter(|&t| t == 0 || !graph.threads[t].spawned_by.is_init())
            .map(|t| ThreadId(t as u32))
    }

    /// The parent of a thread and its position among the parent's children.
    pub fn spawn_path(&self, thread: ThreadId) -> Option<(ThreadId, usize)> {
        self.children.iter().enumerate().find_map(|(parent, children)| {
            children.iter().position(|&c| c == thread).map(|n| (ThreadId(parent as u32), n))
        })
    }

    /// An order of the events of the current graph that the given ones come before or are in, and which is an interleaving
    /// with the fewest preemptions; `None` if no interleaving gives this graph.
    pub fn witness(&mut self, events: &[EventId]) -> Option<(u32, Vec<EventId>)> {
        let graph = &self.frame.graph;
        self.linearizer.witness(graph, self.run.known(), events)
    }

    /// As [`Explorer::witness`] for a graph that no interleaving gives: an order in which it can be run within the bounds,
    /// with the fewest preemptions and then the fewest stale accesses. `None` if it is beyond the bounds.
    pub fn weak_witness(&mut self, events: &[EventId]) -> Option<(u32, Vec<EventId>)> {
        let any = Allowance { preemptions: u32::MAX, stale: u32::MAX };
        let allowance = self.config.allowance().unwrap_or(any);
        self.linearizer.weak_witness(&self.frame.graph, self.run.known(), events, allowance)
    }
}

/// What the parts share.
impl Explorer {
    /// Outcomes of `op` for `thread` in `state`.
    #[inline]
    fn eval(out: &mut Outcomes, action: &Action, state: u64, thread: ThreadId) {
        out.clear();
        match *action {
            Action::Update { update, operands, weak, .. } => match update(state, operands) {
                Some(new) => {
                    out.push(Outcome::write(new, state));
                    if weak {
                        out.push(Outcome::read(state).costs(crate::op::Budget::Spurious));
                    }
                }
                None => out.push(Outcome::read(state)),
            },
            Action::Object { outs, args, .. } => outs(state, args, thread, out),
            _ => out.push(Outcome::read(state)),
        }
    }

    /// Whether the guard of `op` holds now.
    fn can_proceed(&mut self, thread: ThreadId, op: &Op) -> bool {
        let graph = &self.frame.graph;
        match op.action {
            Action::Join { thread: other } => self.run.has_ended(other),
            Action::Object { .. } => {
                let newest = graph.newest(op.object);
                Self::eval(&mut self.outcomes, &op.action, graph.value_of(op.object, newest), thread);
                !self.outcomes.as_slice().is_empty()
            }
            Action::Await { settled, arg } => settled(arg).is_some(),
            Action::Assume => false,
            _ => true,
        }
    }

    /// The number of the next child of `parent`, which has spawned `spawns` so far. `None`: too many threads.
    fn child(&mut self, parent: ThreadId, spawns: u32) -> Option<ThreadId> {
        if let Some(&child) = self.children[parent.index()].get(spawns as usize) {
            return Some(child);
        }
        if self.thread_count == MAX_THREADS {
            return None;
        }
        let child = ThreadId(self.thread_count as u32);
        self.thread_count += 1;
        self.children.push(Vec::new());
        self.children[parent.index()].push(child);
        let graph = &mut self.frame.graph;
        graph.reserve_threads(self.thread_count);
        self.run.reserve_threads(self.thread_count);
        Some(child)
    }

    /// A pseudo-random number below `n` (xorshift; for thread orders and walks, not for secrets).
    fn random_below(&mut self, n: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((self.random >> 11) % n as u64) as usize
    }
}
