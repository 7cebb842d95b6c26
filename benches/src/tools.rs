//! The tools, each behind the same call.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shuttle::scheduler::{DfsScheduler, RandomScheduler, Scheduler};

use crate::Program;

/// A checker, with a way to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// interleave, exhaustive, no bound on preemptions.
    Interleave,
    /// loom, exhaustive, no bound on preemptions.
    Loom,
    /// shuttle, depth-first through all interleavings.
    ShuttleDfs,
    /// shuttle, random interleavings.
    ShuttleRandom,
}

impl Tool {
    /// All tools, the one that the others are compared with first.
    pub const ALL: [Tool; 4] = [Tool::Interleave, Tool::Loom, Tool::ShuttleDfs, Tool::ShuttleRandom];

    /// For the command line and the tables.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Interleave => "interleave",
            Tool::Loom => "loom",
            Tool::ShuttleDfs => "shuttle-dfs",
            Tool::ShuttleRandom => "shuttle-random",
        }
    }

    /// The tool of this name.
    pub fn named(name: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Runs `executions` executions of `program`: checks it again and again if it has fewer. Returns how many checks were
    /// begun.
    ///
    /// # Panics
    ///
    /// If the tool finds fault with the program, or ends a check without an execution.
    pub fn run(self, program: &Program, executions: u64) -> u64 {
        let body = program.body(self);
        let mut left = executions;
        let mut checks = 0;
        while left > 0 {
            let done = match self {
                Tool::Interleave => interleave(body, left),
                Tool::Loom => loom(body, left),
                Tool::ShuttleDfs => shuttle(DfsScheduler::new(Some(as_limit(left)), false), body),
                Tool::ShuttleRandom => shuttle(RandomScheduler::new_from_seed(1, as_limit(left)), body),
            };
            assert!(done > 0, "{} ran no execution of {}", self.name(), program.name);
            left = left.saturating_sub(done);
            checks += 1;
        }
        checks
    }
}

fn as_limit(executions: u64) -> usize {
    usize::try_from(executions).unwrap_or(usize::MAX)
}

/// One check with at most `limit` executions. Returns how many there were.
fn interleave(body: fn(), limit: u64) -> u64 {
    let report = interleave::Builder::new().max_executions(limit).explore(body);
    assert!(report.failure.is_none(), "{:?}", report.failure);
    report.executions
}

fn loom(body: fn(), limit: u64) -> u64 {
    let executions = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&executions);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = None;
    // loom looks at its limit only when the number of the next execution is a multiple of the interval.
    let next = as_limit(limit).saturating_add(1);
    builder.max_permutations = Some(next);
    builder.checkpoint_interval = next;
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        body();
    });
    executions.load(Ordering::Relaxed)
}

fn shuttle(scheduler: impl Scheduler + 'static, body: fn()) -> u64 {
    // shuttle leaves a panic hook behind. It would be called for the panics by which loom's coroutines are cancelled, at
    // the end of each execution.
    let hook = panic::take_hook();
    let mut config = shuttle::Config::default();
    config.silence_warnings = true;
    let executions = shuttle::Runner::new(scheduler, config).run(body);
    drop(panic::take_hook());
    panic::set_hook(hook);
    executions as u64
}
