//! What an exploration came to.

use std::fmt;
use std::time::Duration;

use dpor::Memory;

use crate::report::{count, thousands};

/// What a panic of a spawned thread means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Panics {
    /// It fails the model, wherever it is.
    #[default]
    Fail,
    /// As in std: `join` delivers it as `Err`. It fails the model only if nobody joins the thread.
    Deliver,
}

/// What kind of failure. The codes (`Display`) are stable: `#[should_panic(expected = "interleave::deadlock")]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A thread panicked.
    Panic,
    /// Threads remain and none can go on.
    Deadlock,
    /// Threads spin, and nobody can change what they read.
    Livelock,
    /// Two conflicting plain accesses that happens-before does not order.
    DataRace,
    /// Tracked memory was never freed.
    Leak,
    /// Tracked memory was freed twice, or an object in it was used after it was freed.
    UseAfterFree,
    /// The program did something else when its execution was repeated.
    Nondeterminism,
    /// Something was used outside the model it belongs to.
    Outside,
    /// An execution was too large: operations, threads, stack.
    Limit,
    /// No two threads touched the same object: the model checks nothing.
    Vacuous,
    /// No failure: what `Builder::find` looked for.
    Found,
    /// A configuration that cannot be used.
    Config,
    /// A replay file or token that cannot be used, or that the program does not follow any more.
    Replay,
    /// An error of the checker itself.
    Internal,
}

impl Kind {
    /// The stable code.
    pub fn code(self) -> &'static str {
        match self {
            Kind::Panic => "panic",
            Kind::Deadlock => "deadlock",
            Kind::Livelock => "livelock",
            Kind::DataRace => "data_race",
            Kind::Leak => "leak",
            Kind::UseAfterFree => "use_after_free",
            Kind::Nondeterminism => "nondeterminism",
            Kind::Outside => "outside",
            Kind::Limit => "limit",
            Kind::Vacuous => "vacuous",
            Kind::Found => "found",
            Kind::Config => "config",
            Kind::Replay => "replay",
            Kind::Internal => "internal",
        }
    }

    pub(crate) fn from_code(code: &str) -> Kind {
        match code {
            "panic" => Kind::Panic,
            "deadlock" => Kind::Deadlock,
            "livelock" => Kind::Livelock,
            "data_race" => Kind::DataRace,
            "leak" => Kind::Leak,
            "use_after_free" => Kind::UseAfterFree,
            "nondeterminism" => Kind::Nondeterminism,
            "outside" => Kind::Outside,
            "limit" => Kind::Limit,
            "vacuous" => Kind::Vacuous,
            "found" => Kind::Found,
            "config" => Kind::Config,
            "replay" => Kind::Replay,
            _ => Kind::Internal,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interleave::{}", self.code())
    }
}

/// The result in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every execution under the stated memory model and budgets was explored, and none fails.
    Complete,
    /// None of the executions explored fails, but a limit cut something.
    Bounded,
    /// An execution fails.
    Failed(Kind),
    /// No two threads touched the same object: nothing was checked.
    Vacuous,
}

/// A failing execution.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// What kind.
    pub kind: Kind,
    /// The message: of the panic, or what is wrong.
    pub message: String,
    /// The number of the execution that failed first, from 1.
    pub execution: u64,
    /// Preemptions of the printed order; `None` if no interleaving fails like this (it needs weak memory).
    pub preemptions: Option<u32>,
    /// The token that replays it: `INTERLEAVE_REPLAY=<token>`.
    pub token: String,
    /// The report as a person reads it.
    pub report: String,
}

/// What an exploration came to. Its `Display` is the verdict line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The result in a word.
    pub verdict: Verdict,
    /// How many executions were explored: complete, deadlocked and livelocked ones.
    pub executions: u64,
    /// Of these, how many ended with threads that could not go on.
    pub blocked: u64,
    /// The first failure.
    pub failure: Option<Failure>,
    /// Labels of `sometimes!` and of `Builder::reaches` that held in no execution.
    pub unreached: Vec<String>,
    /// What cut the exploration short, in words; empty if nothing did.
    pub cut: Vec<String>,
    /// The bound on preemptions that was in force.
    pub preemption_bound: Option<u32>,
    /// The bound on stale reads that was in force, where it may have kept something out.
    pub stale_bound: Option<u32>,
    /// The memory model.
    pub memory: Memory,
    /// The budget of spurious events.
    pub spurious: u32,
    /// The budget of crashes, if a process could crash.
    pub crashes: Option<u32>,
    /// The budget of process ids given out again, if a process could get one.
    pub pid_reuses: Option<u32>,
    /// The budget of early moves of the clock, if there could be one.
    pub clock_moves: Option<u32>,
    /// Operations performed, those of repeated beginnings included.
    pub steps: u64,
    /// How long it took.
    pub duration: Duration,
}

impl Report {
    /// The verdict line without the time, which differs from run to run.
    pub(crate) fn line(&self) -> String {
        let memory = match self.memory {
            Memory::Sc => "SC",
            Memory::Rc11 => "RC11",
        };
        let executions = count(self.executions, "execution");
        let mut parts = Vec::new();
        let head = match self.verdict {
            Verdict::Complete => {
                parts.push(format!("{executions} ({} blocked)", thousands(self.blocked)));
                "complete".to_owned()
            }
            Verdict::Bounded => {
                parts.push(executions);
                "bounded".to_owned()
            }
            Verdict::Failed(Kind::Found) => {
                parts.push(executions);
                "found".to_owned()
            }
            Verdict::Failed(kind) => {
                parts.push(executions);
                format!("failed({})", kind.code())
            }
            Verdict::Vacuous => {
                parts.push(executions);
                match self.unreached.as_slice() {
                    [] => parts.push("no two threads touched the same object".to_owned()),
                    labels => parts.extend(labels.iter().map(|label| format!("`{label}` was never true"))),
                }
                "vacuous".to_owned()
            }
        };
        parts.push(memory.to_owned());
        if let Some(bound) = self.preemption_bound {
            parts.push(format!("at most {}", count(u64::from(bound), "preemption")));
        }
        if let Some(bound) = self.stale_bound {
            parts.push(format!("at most {}", count(u64::from(bound), "stale read")));
        }
        parts.push(format!("spurious <= {}", self.spurious));
        parts.extend(self.budget_parts());
        parts.extend(self.cut.iter().cloned());
        format!("{head}: {}", parts.join(", "))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.duration.as_secs_f64() * 1e3;
        write!(f, "{}, {ms:.1} ms", self.line())
    }
}
