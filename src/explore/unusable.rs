//! Reports on what cannot be explored.

use std::time::Duration;

use super::Run;
use super::lost::{ABORT, DOUBLE_PANIC};
use super::tell::command;
use crate::builder::Builder;
use crate::fiber::{Abandoned, Cause};
use crate::report::trace::{self, Found, Trace};
use crate::report::{self, Style};
use crate::verdict::{self, Kind, Report, Verdict};

impl Run<'_> {
    /// A report that tells one thing.
    pub(super) fn unusable(&self, builder: &Builder, kind: Kind, message: String, help: &str) -> Report {
        unusable(&self.test, builder, kind, message, help)
    }

    /// The worker stopped in the middle of something.
    pub(super) fn abandoned(&self, builder: &Builder, abandoned: &Abandoned) -> Report {
        match &abandoned.cause {
            Cause::StackOverflow => self.unusable(
                builder,
                Kind::Limit,
                format!("a model thread has used up its stack of {} bytes", builder.stack_size),
                "look for endless recursion; if the code needs that much, raise `stack_size` (INTERLEAVE_STACK_SIZE)",
            ),
            Cause::Unwinding => self.unusable(builder, Kind::Panic, abandoned.cause.to_string(), ABORT),
            Cause::Stuck(time) => self.unusable(
                builder,
                Kind::Limit,
                format!("a model thread has run for {} s without an operation of the model", time.as_secs_f64()),
                "look for a loop without any operation, or a wait for something that is not part of the model; if it only \
                 computes, raise `max_pause` (INTERLEAVE_MAX_PAUSE)",
            ),
            Cause::Unusable(message) => self.unusable(builder, Kind::Config, message.clone(), ""),
            Cause::Message(message) => self.unusable(builder, Kind::Panic, message.clone(), DOUBLE_PANIC),
        }
    }

    pub(super) fn empty_report(&self, builder: &Builder, verdict: Verdict) -> Report {
        empty_report(builder, verdict)
    }
}

/// A report that tells one thing.
pub(super) fn unusable(test: &str, builder: &Builder, kind: Kind, message: String, help: &str) -> Report {
    let mut report = empty_report(builder, Verdict::Failed(kind));
    let trace = bare_trace(
        test,
        trace::Failure::Other {
            code: kind.code(),
            message: message.clone(),
            help: (!help.is_empty()).then(|| help.to_owned()),
            site: None,
        },
    );
    report.failure = Some(verdict::Failure {
        kind,
        message,
        execution: 0,
        preemptions: None,
        token: String::new(),
        report: report::render(&trace, &Style::from_env()),
    });
    report
}

fn bare_trace(test: &str, failure: trace::Failure) -> Trace {
    Trace {
        test: test.to_owned(),
        threads: Vec::new(),
        objects: Vec::new(),
        steps: Vec::new(),
        failure,
        found: Found::default(),
        memory: None,
        verdict: String::new(),
        replay: None,
        command: command(),
        token: String::new(),
    }
}

fn empty_report(builder: &Builder, verdict: Verdict) -> Report {
    Report {
        verdict,
        executions: 0,
        blocked: 0,
        failure: None,
        cut: Vec::new(),
        preemption_bound: builder.preemption_bound,
        stale_bound: None,
        memory: builder.memory,
        spurious: builder.spurious,
        crashes: None,
        pid_reuses: None,
        clock_moves: None,
        unreached: Vec::new(),
        steps: 0,
        duration: Duration::ZERO,
    }
}
