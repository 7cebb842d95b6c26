//! How a model is explored: the knobs, and running it.

use std::panic::Location;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dpor::{BUDGETS, Budget, Memory};

use crate::budgets::Budgets;
use crate::environment;
use crate::explore;
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
    /// Random executions, [`Builder::max_executions`] of them (1,000 if that is not given), drawn from [`Builder::seed`].
    Random,
}

/// Iterations within which a loop that gives up is explored in full.
const GIVES_UP: u32 = 4;

/// Configures the exploration of a model. [`Builder::check`] and [`Builder::explore`] run it.
///
/// Every knob can also be set from outside by an environment variable, which wins; a value that does not parse fails the
/// model with the code `interleave::config`.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `check` or `explore`"]
pub struct Builder {
    pub(crate) memory: Memory,
    pub(crate) preemption_bound: Option<u32>,
    pub(crate) max_executions: Option<u64>,
    pub(crate) max_duration: Option<Duration>,
    pub(crate) max_steps: u32,
    pub(crate) spurious: u32,
    pub(crate) budgets: Budgets,
    pub(crate) spin_budget: Option<u32>,
    pub(crate) strategy: Strategy,
    pub(crate) seed: u64,
    pub(crate) workers: usize,
    pub(crate) panics: Panics,
    pub(crate) stack_size: usize,
    pub(crate) name: Option<String>,
    pub(crate) summary: bool,
    pub(crate) listener: Option<Listener>,
    pub(crate) progress: Option<PathBuf>,
    pub(crate) stale: explore::Stale,
    pub(crate) repair: bool,
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
            max_executions: None,
            max_duration: None,
            max_steps: 10_000,
            spurious: 1,
            budgets: Budgets::default(),
            spin_budget: None,
            strategy: Strategy::Exhaustive,
            seed: 0,
            workers: 1,
            panics: Panics::Fail,
            stack_size: 256 << 10,
            name: None,
            summary: false,
            listener: None,
            progress: None,
            stale: explore::Stale::Warn,
            repair: true,
        }
    }

    /// The memory model. `INTERLEAVE_MEMORY=sc|rc11`
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// Explores the executions with at most 0, 1, …, `bound` preemptions in turn, and stops at the first failure, which then
    /// has the fewest. A preemption takes the turn from a thread that could have gone on; switches at a blocked operation, a
    /// yield or the end of a thread are free. `INTERLEAVE_PREEMPTIONS=<number>`
    pub fn preemption_bound(mut self, bound: u32) -> Self {
        self.preemption_bound = Some(bound);
        self
    }

    /// Stops after so many executions; the verdict is `bounded` then. `INTERLEAVE_MAX_EXECUTIONS=<number>`
    pub fn max_executions(mut self, executions: u64) -> Self {
        self.max_executions = Some(executions);
        self
    }

    /// Stops after this time; the verdict is `bounded` then. `INTERLEAVE_MAX_DURATION=<seconds>` (fractions allowed)
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
    /// does so within the budget (4 if none is given); else it is kept from spinning on, and the verdict is `bounded`.
    /// `INTERLEAVE_SPIN_BUDGET=<number>`
    pub fn spin_budget(mut self, iterations: u32) -> Self {
        self.spin_budget = Some(iterations);
        self
    }

    /// Who decides. `INTERLEAVE_STRATEGY=exhaustive|interleavings|random`
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// The seed of random executions (default 0). `INTERLEAVE_SEED=<number>`
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many OS threads explore. For now only 1. `INTERLEAVE_WORKERS=<number>`
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// What a panic of a spawned thread means.
    pub fn panics(mut self, panics: Panics) -> Self {
        self.panics = panics;
        self
    }

    /// Bytes of stack for each model thread (default 256 KiB). `INTERLEAVE_STACK_SIZE=<bytes>`
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

    /// The explorer's part of it.
    pub(crate) fn config(&self, preemptions: Option<u32>) -> dpor::Config {
        let mut budgets = [0; BUDGETS];
        budgets[Budget::Free as usize] = u32::MAX;
        budgets[Budget::Spurious as usize] = self.spurious;
        self.budgets.apply(&mut budgets);
        dpor::Config {
            memory: self.memory,
            strategy: match self.strategy {
                Strategy::Exhaustive => dpor::Strategy::Exhaustive,
                Strategy::Interleavings => dpor::Strategy::Interleavings,
                Strategy::Random => {
                    dpor::Strategy::Random { seed: self.seed, executions: self.max_executions.unwrap_or(1_000) }
                }
            },
            budgets,
            spin_budget: self.spin_budget.unwrap_or(GIVES_UP),
            await_budget: self.spin_budget.unwrap_or(0),
            preemptions,
            max_steps: self.max_steps,
            thread_order: dpor::ThreadOrder::Leftmost,
            patient: false,
        }
    }
}
