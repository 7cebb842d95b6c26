//! How a model is explored: the knobs, and running it.

use std::panic::Location;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dpor::{BUDGETS, Budget, Memory};

use crate::budgets::Budgets;
use crate::directions::Directions;
use crate::environment;
use crate::explore::{self, Shard};
use crate::labels::Watch;
use crate::progress::{Listener, Progress};
use crate::verdict::{Panics, Report, Verdict};

/// Who decides what an execution does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Strategy {
    /// Every consistent execution exactly once, by dynamic partial-order reduction.
    #[default]
    Exhaustive,
    /// Every interleaving, without reduction. Slow; for comparison.
    Interleavings,
    /// Random executions, [`Builder::max_executions`] of them (1,000 if that is not given), drawn from [`Builder::seed`]: each
    /// time, every thread that can go on is as likely as every other.
    ///
    /// An execution in whose course `c1, c2, …` threads could go on comes with probability `1/(c1·c2·…)` at least.
    Random,
    /// As [`Strategy::Random`], by probabilistic concurrency testing: threads have random priorities, and change them at
    /// `depth - 1` random steps.
    ///
    /// A bug that shows whenever `depth` operations come in one certain order is found by an execution with probability
    /// `1/(n·k^(depth-1))` at least, where `n` is the number of threads and `k` that of the steps of the longest of the
    /// first 16 executions (Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs,
    /// ASPLOS 2010).
    Pct {
        /// Operations whose order matters, from 1 to 1,000.
        depth: u32,
    },
    /// As [`Strategy::Random`], by partial order sampling: operations have random priorities, and draw anew when something
    /// conflicts with them.
    ///
    /// Two conflicting operations that are both about to be performed come in either order with probability 1/2 (Yuan, Yang,
    /// Gu: Partial Order Aware Concurrency Sampling, CAV 2018, which also has a bound for whole executions).
    Pos,
    /// As [`Strategy::Random`]: [`Strategy::Pos`], [`Strategy::Pct`] with depths 1 to 3, and [`Strategy::Random`] in turn. The
    /// guarantee of each holds for every fifth execution.
    Portfolio,
    /// What fits: everything, if the number of executions is estimated to be within [`Builder::max_executions`] (100,000 if
    /// that is not given) and [`Builder::max_duration`]; else executions with at most 0, 1, … preemptions as long as there is
    /// half of the budget left; then random ones ([`Strategy::Portfolio`]). The verdict says which.
    Auto,
}

impl Strategy {
    /// How random executions are drawn; `None` if they are not.
    pub(crate) fn sampling(self) -> Option<dpor::Sampling> {
        match self {
            Strategy::Random => Some(dpor::Sampling::Uniform),
            Strategy::Pct { depth } => Some(dpor::Sampling::Pct { depth }),
            Strategy::Pos => Some(dpor::Sampling::Pos),
            Strategy::Portfolio => Some(dpor::Sampling::Portfolio),
            Strategy::Exhaustive | Strategy::Interleavings | Strategy::Auto => None,
        }
    }
}

/// Random executions, if it is not said how many.
const RANDOM: u64 = 1_000;

/// Stale accesses that an execution may have where its preemptions are bounded, if nothing is said.
const STALE_READS: u32 = 1;

/// Iterations within which a loop that gives up is explored in full.
const GIVES_UP: u32 = 4;

/// Configures the exploration of a model. [`Builder::check`] and [`Builder::explore`] run it.
///
/// Every knob can also be set from outside by an environment variable, which wins. A value that a knob does not take, and a
/// variable whose value does not parse, fail the model with the code `interleave::config` before anything is run.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `check` or `explore`"]
pub struct Builder {
    pub(crate) memory: Memory,
    pub(crate) preemption_bound: Option<u32>,
    pub(crate) stale_reads: Option<u32>,
    pub(crate) max_executions: Option<u64>,
    pub(crate) max_duration: Option<Duration>,
    pub(crate) max_steps: u32,
    pub(crate) max_pause: Duration,
    pub(crate) spurious: u32,
    pub(crate) budgets: Budgets,
    /// Labels that must be reached, and the one that is looked for.
    pub(crate) watch: Watch,
    pub(crate) spin_budget: Option<u32>,
    pub(crate) strategy: Strategy,
    pub(crate) seed: u64,
    pub(crate) workers: usize,
    pub(crate) panics: Panics,
    pub(crate) stack_size: usize,
    pub(crate) name: Option<String>,
    pub(crate) summary: bool,
    pub(crate) shard: Option<Shard>,
    pub(crate) checkpoint: Option<PathBuf>,
    pub(crate) shrink: u64,
    /// Replays are reduced too.
    pub(crate) shrink_replays: bool,
    pub(crate) focus: Vec<String>,
    pub(crate) directions: Option<Directions>,
    pub(crate) listener: Option<Listener>,
    pub(crate) progress: Option<PathBuf>,
    pub(crate) stale: explore::Stale,
    pub(crate) repair: bool,
    pub(crate) leaks: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

impl Builder {
    /// The defaults: RC11 memory, exhaustive, no bound, one spurious event an execution.
    pub fn new() -> Builder {
        Builder {
            memory: Memory::Rc11,
            preemption_bound: None,
            stale_reads: None,
            max_executions: None,
            max_duration: None,
            max_steps: 10_000,
            max_pause: Duration::from_secs(20),
            spurious: 1,
            budgets: Budgets::default(),
            watch: Watch::default(),
            spin_budget: None,
            strategy: Strategy::Exhaustive,
            seed: 0,
            workers: 1,
            panics: Panics::Fail,
            leaks: false,
            stack_size: 256 << 10,
            name: None,
            summary: false,
            shard: None,
            checkpoint: None,
            shrink: 20_000,
            shrink_replays: false,
            focus: Vec::new(),
            directions: None,
            listener: None,
            progress: None,
            stale: explore::Stale::Warn,
            repair: true,
        }
    }

    /// The memory model. Under `sc` every ordering counts as `SeqCst`, for data races too: those that a stronger ordering cures
    /// are found under `rc11` (the default) only. `INTERLEAVE_MEMORY=sc|rc11`
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// Explores the executions with at most 0, 1, …, `bound` preemptions in turn, and stops at the first failure, which then
    /// has the fewest. A preemption takes the turn from a thread that could have gone on; switches at a blocked operation, a
    /// yield or the end of a thread are free. Under RC11, the interleavings come first, for all these numbers, and then, from 0
    /// again, the executions with stale reads, as many as [`Builder::stale_reads`] says. `INTERLEAVE_PREEMPTIONS=<number>`
    pub fn preemption_bound(mut self, bound: u32) -> Self {
        self.preemption_bound = Some(bound);
        self
    }

    /// Explores only executions that have an order with at most so many stale accesses: reads of older values than the newest
    /// one, and stores that come before one already there in modification order. With a bound on preemptions, one order must
    /// meet both. 0: only interleavings, though with the synchronisation that the orderings give. If nothing is said, there is
    /// no such bound without one on preemptions, and one stale access with it: enough for store buffering, message passing
    /// without synchronisation and most of what real programs get wrong. SC has no stale reads.
    /// `INTERLEAVE_STALE_READS=<number>`
    pub fn stale_reads(mut self, bound: u32) -> Self {
        self.stale_reads = Some(bound);
        self
    }

    /// Stops after so many executions, 1 or more; the verdict is `bounded` then. `INTERLEAVE_MAX_EXECUTIONS=<number>`
    pub fn max_executions(mut self, executions: u64) -> Self {
        self.max_executions = Some(executions);
        self
    }

    /// Stops after this time, which is more than 0; the verdict is `bounded` then. `INTERLEAVE_MAX_DURATION=<seconds>`
    /// (fractions allowed)
    pub fn max_duration(mut self, duration: Duration) -> Self {
        self.max_duration = Some(duration);
        self
    }

    /// Most visible operations of one execution (default 10,000): an execution that needs more fails with
    /// `interleave::limit`. `INTERLEAVE_MAX_STEPS=<number>`
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.max_steps = steps;
        self
    }

    /// How long code of a model thread may run, or wait for something that is not part of the model, without coming to an
    /// operation (default 20 s, at least 0.1 s): a thread that takes longer fails with `interleave::limit`. Time in which a
    /// debugger has stopped the process does not count. Where a thread cannot be stopped (with the feature `os-threads`, and
    /// on systems that are not Unix) the process ends; under Miri nothing is watched. `INTERLEAVE_MAX_PAUSE=<seconds>`
    pub fn max_pause(mut self, pause: Duration) -> Self {
        self.max_pause = pause;
        self
    }

    /// How many spurious wake-ups and spurious failures of `compare_exchange_weak` an execution may have (default 1).
    /// `INTERLEAVE_SPURIOUS=<number>`
    pub fn spurious(mut self, events: u32) -> Self {
        self.spurious = events;
        self
    }

    /// How often in a row a loop that spins (`spin_loop`, `yield_now`) may look in vain.
    ///
    /// A loop that waits for ever is explored as if it looked at the right moment: looking in vain changes nothing that other
    /// threads see. Code that counts how often it looked, or whether it had to wait, is the exception: with a budget, each such
    /// loop is also explored with 1, …, `iterations` looks in vain. A loop that gives up by itself is explored in full if it
    /// does so within the budget (4 if none is given); else it is kept from spinning on, and the verdict is `bounded`. At most
    /// 1,000. `INTERLEAVE_SPIN_BUDGET=<number>`
    pub fn spin_budget(mut self, iterations: u32) -> Self {
        self.spin_budget = Some(iterations);
        self
    }

    /// Who decides. `INTERLEAVE_STRATEGY=exhaustive|interleavings|random|pct:<depth>|pos|portfolio|auto`
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// The seed of random executions (default 0). `INTERLEAVE_SEED=<number>`
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many executions the search for a failure that is easier to understand may take, for each of the questions it asks:
    /// whether one without weak memory fails, one with fewer preemptions, and what can be left out of one that was found at
    /// random (default 20,000; 0: the failure is told as it was found). With `INTERLEAVE_REPLAY`, the variable reduces the
    /// execution that is replayed; 1 is as good as the number that is set. `INTERLEAVE_SHRINK=<number>`
    pub fn shrink(mut self, executions: u64) -> Self {
        self.shrink = executions;
        self
    }

    /// Tries preemptions right before certain operations first: those in a function with this name, and the
    /// [`label!`](crate::label)s with it. Before the search, 100 random executions are run in which threads are preempted
    /// nowhere else. Can be called several times. `INTERLEAVE_FOCUS=<name>,<name>,…`
    pub fn focus(mut self, name: impl Into<String>) -> Self {
        self.focus.push(name.into());
        self
    }

    /// Runs one execution only: the one that the directions lead to. For regression tests that know what went wrong.
    pub fn directed(mut self, directions: Directions) -> Self {
        self.directions = Some(directions);
        self
    }

    /// How many OS threads explore (default 1, at most 1,024). They run the same executions as one would, and a failure is told as one would
    /// tell it. Random executions, and models that use `static`s, which threads cannot share, are run by one. If a limit
    /// stops the search, which executions were run before depends on who was faster. `INTERLEAVE_WORKERS=<number>`
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Explores only a part of the executions: the share `number`, from 1, of `of` shares that together are all of them, each
    /// once. Processes that explore different shares need not know of each other. `INTERLEAVE_SHARD=<number>/<of>`
    ///
    /// # Panics
    ///
    /// If `number` is not from 1 to `of`.
    #[track_caller]
    pub fn shard(mut self, number: u64, of: u64) -> Self {
        assert!((1..=of).contains(&number), "there is no share {number} of {of}");
        self.shard = Some(Shard { number, of });
        self
    }

    /// Notes in a file, once a second, which parts of the search are done, and leaves those out that the file has already: so
    /// an exploration that was stopped goes on where it was. A file of another model or configuration is an error, and so is
    /// one that is damaged: neither is written to, and nothing is run.
    /// `INTERLEAVE_CHECKPOINT=<file>`
    pub fn checkpoint(mut self, file: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some(file.into());
        self
    }

    /// What a panic of a spawned thread means.
    pub fn panics(mut self, panics: Panics) -> Self {
        self.panics = panics;
        self
    }

    /// Whether an execution also fails with the code `interleave::leak` if it does not free all its `Arc`s (default: no). What
    /// [`alloc`](crate::alloc) watches must be freed in any case. Only executions in which all threads end are looked at.
    /// `INTERLEAVE_LEAKS=0|1`
    pub fn leaks(mut self, leaks: bool) -> Self {
        self.leaks = leaks;
        self
    }

    /// Bytes of stack for each model thread (default 256 KiB, from 16 KiB to 1 GiB). `INTERLEAVE_STACK_SIZE=<bytes>`
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes;
        self
    }

    /// The name of the model in reports and replay files. The default is the name of the OS thread, which test harnesses set
    /// to the test's, or the name of the program.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Calls `tell` about once in `every` while the model is explored, and once more at the end. It runs between two
    /// executions, and must not use the model's types. `INTERLEAVE_PROGRESS=<file>` appends the same to a file, one line of
    /// JSON a second.
    pub fn progress(mut self, every: Duration, tell: impl Fn(&Progress<'_>) + Send + Sync + 'static) -> Self {
        self.listener = Some(Listener { every, tell: Arc::new(tell) });
        self
    }

    /// Explores the model and panics with the report if it fails.
    ///
    /// # Panics
    ///
    /// With the report, which starts with `error[interleave::<code>]`, if an execution fails, or if the configuration cannot
    /// be used.
    #[track_caller]
    pub fn check<F>(self, f: F) -> Report
    where
        F: Fn() + Send + Sync,
    {
        let report = explore::explore(self, &f, Location::caller());
        if let (Verdict::Failed(_), Some(failure)) = (report.verdict, &report.failure) {
            panic!("{}", failure.report);
        }
        if let Some(message) = report.unreached_message() {
            panic!("{message}");
        }
        report
    }

    /// Explores the model and says what came of it. A failure of the model is in the report.
    #[track_caller]
    pub fn explore<F>(self, f: F) -> Report
    where
        F: Fn() + Send + Sync,
    {
        explore::explore(self, &f, Location::caller())
    }

    /// The configuration with what the environment says.
    pub(crate) fn with_environment(self) -> Result<Builder, String> {
        environment::apply(self, |name| std::env::var_os(name), std::env::vars_os().map(|(name, _)| name))
    }

    /// Random executions.
    pub(crate) fn draws(&self, sampling: dpor::Sampling) -> dpor::Draws {
        dpor::Draws::new(sampling, self.seed, self.max_executions.unwrap_or(RANDOM))
    }

    /// How many stale accesses there may be with this bound on preemptions, if that is bounded.
    pub(crate) fn stale_bound(&self, preemptions: Option<u32>) -> Option<u32> {
        match self.memory {
            Memory::Sc => None,
            Memory::Rc11 => self.stale_reads.or(preemptions.map(|_| STALE_READS)),
        }
    }

    /// The explorer's part of it.
    pub(crate) fn config(&self, strategy: dpor::Strategy, preemptions: Option<u32>) -> dpor::Config {
        let mut budgets = [0; BUDGETS];
        budgets[Budget::Free as usize] = u32::MAX;
        budgets[Budget::Spurious as usize] = self.spurious;
        self.budgets.apply(&mut budgets);
        dpor::Config {
            memory: self.memory,
            strategy,
            budgets,
            spin_budget: self.spin_budget.unwrap_or(GIVES_UP),
            await_budget: self.spin_budget.unwrap_or(0),
            preemptions,
            stale: None,
            until: None,
            max_steps: self.max_steps,
            thread_order: dpor::ThreadOrder::Leftmost,
            patient: false,
        }
    }
}
