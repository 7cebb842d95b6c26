//! Running models.

use std::env;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use interleave::{Failure, Kind, Report};

use crate::explore;

/// Operations that an execution may have in any case: loom counts fewer things than the checker does, and a limit that is
/// higher costs time only where there is a failure.
const STEPS: usize = 10_000;

/// How a model is explored.
///
/// The fields are loom's; [`check`](Self::check) says what each is here. [`new`](Self::new) takes their values from the
/// environment, so that what a test sets afterwards wins.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Builder {
    /// Not used: there is no need to say how many threads there are.
    pub max_threads: usize,

    /// Operations of one execution, of which 10,000 are allowed in any case. `LOOM_MAX_BRANCHES`
    pub max_branches: usize,

    /// Stop after so many executions. `LOOM_MAX_PERMUTATIONS`
    pub max_permutations: Option<usize>,

    /// Stop after this time. `LOOM_MAX_DURATION` (seconds)
    pub max_duration: Option<Duration>,

    /// Executions with at most so many preemptions. `LOOM_MAX_PREEMPTIONS`
    pub preemption_bound: Option<usize>,

    /// Not used: a failure says how to run the failing execution again. `LOOM_CHECKPOINT_FILE`
    pub checkpoint_file: Option<PathBuf>,

    /// Not used. `LOOM_CHECKPOINT_INTERVAL`
    pub checkpoint_interval: usize,

    /// Whether [`explore`](crate::explore()) may be called first: an execution starts as if
    /// [`stop_exploring`](crate::stop_exploring) had been called.
    pub expect_explicit_explore: bool,

    /// Not used: reports always have locations. `LOOM_LOCATION`
    pub location: bool,

    /// Print what came of models that pass. `LOOM_LOG`
    pub log: bool,
}

/// A number from the environment.
///
/// # Panics
///
/// If it is none.
fn number<T: FromStr>(name: &str) -> Option<T>
where
    T::Err: Display,
{
    let text = env::var_os(name)?;
    let text = text.to_str().unwrap_or_else(|| panic!("invalid value for `{name}`: it is not text"));
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => panic!("invalid value for `{name}`: {text:?}: {error}"),
    }
}

impl Builder {
    /// loom's defaults, and what the environment says.
    ///
    /// # Panics
    ///
    /// If a variable has a value that is no number.
    #[must_use]
    pub fn new() -> Builder {
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: number("LOOM_MAX_BRANCHES").unwrap_or(1_000),
            max_permutations: number("LOOM_MAX_PERMUTATIONS"),
            max_duration: number("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: number("LOOM_MAX_PREEMPTIONS"),
            checkpoint_file: env::var_os("LOOM_CHECKPOINT_FILE").map(PathBuf::from),
            checkpoint_interval: number("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
            expect_explicit_explore: false,
            location: env::var_os("LOOM_LOCATION").is_some(),
            log: env::var_os("LOOM_LOG").is_some(),
        }
    }

    /// Sets `checkpoint_file`.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Explores every execution of `f`.
    ///
    /// The environment of the checker (`INTERLEAVE_*`) wins over the fields. There are no spurious failures of
    /// `compare_exchange_weak` and no spurious wake-ups of `park` and `Condvar`, as with loom, unless `INTERLEAVE_SPURIOUS`
    /// asks for them.
    ///
    /// # Panics
    ///
    /// If an execution fails: with loom's words for what is wrong, and the report.
    #[track_caller]
    pub fn check<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        if self.checkpoint_file.is_some() {
            eprintln!(
                "loom: the checkpoint file is neither read nor written; a failure says how to run its execution again \
                 (INTERLEAVE_REPLAY)"
            );
        }
        let explored = !self.expect_explicit_explore;
        let report = self.explorer().explore(move || {
            if !explored {
                explore::begin(false);
            }
            f();
        });
        if let Some(failure) = &report.failure {
            panic!("{}", told(failure));
        }
        self.tell(&report);
    }

    /// The checker's own builder.
    fn explorer(&self) -> interleave::Builder {
        let steps = u32::try_from(self.max_branches.max(STEPS)).unwrap_or(u32::MAX);
        let mut builder = interleave::Builder::new().spurious(0).max_steps(steps).leaks(true);
        if let Some(bound) = self.preemption_bound {
            builder = builder.preemption_bound(u32::try_from(bound).unwrap_or(u32::MAX));
        }
        if let Some(most) = self.max_permutations {
            builder = builder.max_executions(most as u64);
        }
        if let Some(duration) = self.max_duration {
            builder = builder.max_duration(duration);
        }
        builder
    }

    /// What loom says when it logs: how many executions there were.
    fn tell(&self, report: &Report) {
        if self.log {
            eprintln!("Completed in {} iterations: {report}", report.executions);
        }
    }
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

/// The report on a failure, after the words that loom has for such a failure: tests ask for them.
fn told(failure: &Failure) -> String {
    let words = match failure.kind {
        Kind::Deadlock => "deadlock; threads = those in the report\n",
        Kind::DataRace => {
            "Causality violation: Concurrent read and write accesses.\n\
             Causality violation: Concurrent write accesses to `UnsafeCell`.\n\
             Causality violation: Concurrent read and write accesses to `UnsafeCell`.\n\
             Causality violation: Concurrent load and mut accesses.\n"
        }
        Kind::Limit | Kind::Livelock => "Model exceeded maximum number of branches.\n",
        Kind::Leak => "Arc leaked.\nAllocation leaked.\nMessages leaked.\n",
        Kind::UseAfterFree => "pointer not tracked\n",
        // The words of a panic are the program's.
        _ => "",
    };
    format!("{words}{}", failure.report)
}

/// Explores every execution of `f`, as the environment says.
///
/// # Panics
///
/// If an execution fails.
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}
