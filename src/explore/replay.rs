//! `INTERLEAVE_REPLAY`: one execution, run again.

use std::path::Path;

use dpor::Memory;

use super::Run;
use super::search::Hit;
use super::tell::{Recorded, schedule};
use crate::builder::Builder;
use crate::replay;
use crate::report::trace::Found;
use crate::verdict::{Kind, Report, Verdict};

impl Run<'_> {
    pub(super) fn replay(&self, builder: &Builder, asked: replay::Replay) -> Report {
        let mut builder = builder.clone();
        if let Some(recording) = &asked.recording {
            let c = &recording.configuration;
            builder.memory = if c.memory == "SC" { Memory::Sc } else { Memory::Rc11 };
            builder.spurious = c.spurious;
            builder.spin_budget = c.spin_budget;
            builder.max_steps = c.max_steps;
        }
        let schedule = schedule(&asked.decisions);
        let recorded = match self.record(&builder, &schedule, &[], false) {
            Ok(recorded) => recorded,
            Err(abandoned) => return self.abandoned(&builder, &abandoned),
        };
        let Some(failure) = recorded.failure.clone() else {
            return self.not_replayed(&builder, &asked, &recorded);
        };
        let expected = asked.recording.as_ref().map(|r| r.failure.code.clone());
        let code = failure.code();
        if let Some(at) = recorded.diverged.filter(|_| expected.is_some_and(|expected| expected != code)) {
            return self.unusable(
                &builder,
                Kind::Replay,
                diverged(&asked, at),
                "explore the model anew without INTERLEAVE_REPLAY",
            );
        }
        let mut report = self.empty_report(&builder, Verdict::Failed(Kind::from_code(code)));
        report.executions = 1;
        let hit = Hit { failure, schedule, preemptions: None, interleaving: true, cost: 0 };
        let found = Found { execution: 1, replayed: true, ..Found::default() };
        self.tell(&builder, &hit, found, None, &[], &mut report);
        report
    }

    /// The execution did not fail: it passes now, or it has become another one.
    fn not_replayed(&self, builder: &Builder, asked: &replay::Replay, recorded: &Recorded) -> Report {
        if let Some(at) = recorded.diverged {
            return self.unusable(
                builder,
                Kind::Replay,
                diverged(asked, at),
                "explore the model anew without INTERLEAVE_REPLAY",
            );
        }
        eprintln!("{}: the recorded execution passes now (replayed; no other execution was explored)", self.test);
        let mut report = self.empty_report(builder, Verdict::Bounded);
        report.executions = 1;
        report.cut.push("replayed one execution".to_owned());
        report
    }
}

/// The sentence about a replay that has become another execution.
fn diverged(asked: &replay::Replay, at: usize) -> String {
    let step = at + 1;
    let recorded = asked.recording.as_ref().and_then(|r| r.records.get(at));
    let what = recorded.map_or_else(String::new, |r| format!(" (`{}` by {} at {})", r.operation, r.thread, r.place));
    let changed = asked.recording.as_ref().map(|r| r.provenance.changed(Path::new("."))).unwrap_or_default();
    let files = if changed.is_empty() { String::new() } else { format!("; changed since: {}", changed.join(", ")) };
    format!("the replay diverged: decision {step} of the recording{what} cannot be followed any more{files}")
}
