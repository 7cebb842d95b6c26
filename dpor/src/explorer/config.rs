//! What is explored and under which bounds, and what came of it.

use std::time::Instant;

use crate::linearize::Allowance;
use crate::memory::Memory;
use crate::op::{BUDGETS, Budget, Site, ThreadId};
use crate::schedule::Schedule;
use crate::strategy::{Draws, Leg, Plan};

/// Who decides.
#[derive(Clone, Debug, Default)]
pub enum Strategy {
    /// Every consistent execution once, by dynamic partial-order reduction.
    #[default]
    Exhaustive,
    /// Every interleaving, without reduction: executions come as often as they have interleavings. The yardstick.
    Interleavings,
    /// Random executions of the exhaustive search, to learn how many there are.
    Estimate {
        /// The same seed gives the same estimate.
        seed: u64,
        /// How many guesses.
        samples: u32,
    },
    /// Random executions.
    Random(Draws),
    /// One given execution.
    Replay(Schedule),
    /// One execution in which threads run as they are told, and then each as long as it can.
    Directed(Vec<Leg>),
    /// One execution that follows a plan as far as that goes.
    Planned(Plan),
}

/// In which order threads are tried. Any order explores the same executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadOrder {
    /// A thread runs until it must wait; then the first that can.
    #[default]
    Leftmost,
    /// Random, for tests.
    Shuffled(u64),
}

/// The configuration of an exploration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Which executions are consistent.
    pub memory: Memory,
    /// Who decides.
    pub strategy: Strategy,
    /// How often outcomes of each budget may be taken in one execution, by [`Budget`] as index.
    pub budgets: [u32; BUDGETS],
    /// How many iterations in a row a loop that is known to give up by itself may spin in vain.
    pub spin_budget: u32,
    /// The same for a loop that never gives up. Looking once more in vain changes nothing that other threads see, so this only
    /// matters to code that counts how often it looked.
    pub await_budget: u32,
    /// Most preemptions of an execution, if bounded.
    pub preemptions: Option<u32>,
    /// Most stale accesses of an execution, if bounded: reads of older writes than the newest one, and writes below one in
    /// modification order. Both bounds must be met in one order in which the program can be run. With 0, all executions are
    /// interleavings, with the synchronisation that the memory model gives them.
    pub stale: Option<u32>,
    /// When to give up the search for the next execution within the bound.
    pub until: Option<Instant>,
    /// Most operations of one execution.
    pub max_steps: u32,
    /// In which order threads are tried.
    pub thread_order: ThreadOrder,
    /// Replays: a thread goes on after its last given decision as long as it can, before the next decision is followed. An
    /// order that was cut off where it fails then leaves fewer threads in the middle of something.
    pub patient: bool,
}

impl Default for Config {
    fn default() -> Self {
        let mut budgets = [0; BUDGETS];
        budgets[Budget::Free as usize] = u32::MAX;
        budgets[Budget::Spurious as usize] = 1;
        Config {
            memory: Memory::Rc11,
            strategy: Strategy::Exhaustive,
            budgets,
            spin_budget: 0,
            await_budget: 0,
            preemptions: None,
            stale: None,
            until: None,
            max_steps: 100_000,
            thread_order: ThreadOrder::Leftmost,
            patient: false,
        }
    }
}

impl Config {
    /// Whether it pays to ask for consistency only once a graph is known to be within the bounds: few are.
    pub(crate) fn judges_later(&self) -> bool {
        self.stale.is_some_and(|stale| stale > 0)
    }

    /// What an execution may cost, if that is bounded.
    pub(crate) fn allowance(&self) -> Option<Allowance> {
        let any = |bound: Option<u32>| bound.unwrap_or(u32::MAX);
        let stale = if self.memory == Memory::Sc { 0 } else { any(self.stale) };
        (self.preemptions.is_some() || self.stale.is_some())
            .then(|| Allowance { preemptions: any(self.preemptions), stale })
    }
}

/// The answer to an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Performed; the result.
    Done(u64),
    /// Not now: run that thread (start it, if it has not begun), and ask again with the same operation later.
    Run(ThreadId),
    /// The execution is over: no thread can go on.
    Over,
    /// The program did not do what it did before.
    Nondeterminism(Box<Mismatch>),
    /// More operations than `Config::max_steps`.
    Limit,
    /// More threads than [`MAX_THREADS`](crate::MAX_THREADS).
    TooManyThreads,
}

/// A program that differs when it is repeated: what the recording says, and what the program wants now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mismatch {
    /// The thread.
    pub thread: ThreadId,
    /// Description and place of the recorded operation.
    pub recorded: (&'static str, Site),
    /// Description and place of the operation now.
    pub now: (&'static str, Site),
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// All threads ended.
    Complete,
    /// Threads remain whose guards are false for ever.
    Deadlock,
    /// Threads remain that spin, and nobody will change what they read.
    Livelock,
    /// It stops at an assumption, or is the unfair beginning of another execution: it does not count.
    Dropped,
    /// It needs more preemptions than allowed: it does not count.
    Bounded,
    /// It was cut to learn about a loop, and comes again.
    Probe,
    /// The caller gave up on it.
    Unfinished,
}

/// Counters of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Complete, deadlocked and livelocked executions.
    pub executions: u64,
    /// Of these, deadlocks.
    pub deadlocks: u64,
    /// Of these, livelocks.
    pub livelocks: u64,
    /// Runs that ended at an assumption or in an unfair spin.
    pub dropped: u64,
    /// Runs beyond the bounds.
    pub bounded: u64,
    /// Graphs that were not run because of the bounds.
    pub pruned: u64,
    /// Runs cut to learn about a loop.
    pub probes: u64,
    /// Runs the caller gave up.
    pub unfinished: u64,
    /// Executions, whatever became of them, with an access weaker than `SeqCst`: if there are none, all executions are
    /// interleavings, and a bound on stale accesses says nothing.
    pub weak: u64,
    /// Executions in which something consistent was left out because it is no interleaving, where these alone are wanted.
    pub refused: u64,
    /// Times a loop that gives up by itself was kept from spinning on.
    pub spin_cut: u64,
    /// Operations performed, replayed ones included.
    pub steps: u64,
}
