//! Recorded executions: the one that `INTERLEAVE_REPLAY` names, and those that are kept in `tests/interleave`.
//!
//! A replay has one of three outcomes, and never passes for another: the execution fails as it did; it does not fail; or the
//! program does something else, and this is not the execution that was recorded.

use std::path::Path;

use super::Run;
use super::search::Hit;
use super::tell::Recorded;
use super::written::{configured, message_of, schedule};
use crate::builder::Builder;
use crate::engine::Failure;
use crate::events::{Event, Outcome, emit};
use crate::fiber::Abandoned;
use crate::replay::{self, Lesson, Repair, Replay};
use crate::report::count;
use crate::report::trace::Found;
use crate::verdict::{Kind, Report, Verdict};

/// What to do about recordings that cannot be followed any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Stale {
    /// Say so.
    #[default]
    Warn,
    /// Fail.
    Deny,
}

/// How a recording was followed.
struct Followed {
    builder: Builder,
    replay: Replay,
    recorded: Recorded,
    outcome: Outcome,
    /// Why it diverged, or what had to be changed: a sentence.
    note: Option<String>,
}

impl Run<'_> {
    /// Runs the execution that the environment asks for.
    pub(super) fn replay(&self, builder: &Builder, asked: Replay) -> Report {
        let followed = match self.follow(builder, asked, builder.repair) {
            Ok(followed) => followed,
            Err(abandoned) => return self.abandoned(builder, &abandoned),
        };
        self.emit_replayed(&followed, None);
        match followed.outcome {
            Outcome::Same | Outcome::Other => self.tell_replayed(followed),
            Outcome::Diverged => {
                let help = "explore the model anew without INTERLEAVE_REPLAY";
                self.unusable(&followed.builder, Kind::Replay, followed.note.unwrap_or_default(), help)
            }
            Outcome::Passes => {
                let note = followed.note.map_or_else(String::new, |note| format!(" ({note})"));
                eprintln!(
                    "{}: the recorded execution passes now{note} (replayed; no other execution was explored)",
                    self.test
                );
                let mut report = self.empty_report(&followed.builder, Verdict::Bounded);
                report.executions = 1;
                report.cut.push("replayed one execution".to_owned());
                report
            }
        }
    }

    /// Runs the executions that are kept for this test. The report, if one of them fails.
    pub(super) fn kept(&self, builder: &Builder) -> Option<Report> {
        for file in replay::committed(&super::program(), &self.test) {
            let stale = match &file.recording {
                Err(error) => error.to_string(),
                Ok(recording) => {
                    let asked = Replay { decisions: recording.decisions(), recording: Some(recording.clone()) };
                    let followed = match self.follow(builder, asked, true) {
                        Ok(followed) => followed,
                        Err(abandoned) => return Some(self.abandoned(builder, &abandoned)),
                    };
                    self.emit_replayed(&followed, Some(&file.shown));
                    match followed.outcome {
                        Outcome::Same | Outcome::Other => return Some(self.tell_replayed(followed)),
                        Outcome::Passes => continue,
                        Outcome::Diverged => format!("{}: {}", file.shown, followed.note.unwrap_or_default()),
                    }
                }
            };
            match builder.stale {
                Stale::Warn => eprintln!("{}: stale: {stale}", self.test),
                Stale::Deny => {
                    let help = "delete the file if it is of no use any more, or record the failure again; without \
                                `INTERLEAVE_STALE=deny` this is only a warning";
                    return Some(self.unusable(builder, Kind::Replay, format!("stale: {stale}"), help));
                }
            }
        }
        None
    }

    fn emit_replayed(&self, followed: &Followed, file: Option<&str>) {
        emit(&Event::Replayed {
            test: self.test.clone(),
            program: super::program(),
            outcome: followed.outcome,
            file: file.map(str::to_owned),
            note: followed.note.clone(),
        });
    }

    /// Follows a recording; if that is not possible, and `repair`, one that is changed in what other threads do not see.
    fn follow(&self, builder: &Builder, asked: Replay, repair: bool) -> Result<Followed, Abandoned> {
        let builder = asked.recording.as_ref().map_or_else(|| builder.clone(), |r| configured(builder, r));
        let recorded = self.record(&builder, &schedule(&asked.decisions), &[], false, None)?;
        let (outcome, note) = judge(&asked, &recorded);
        let followed = Followed { builder, replay: asked, recorded, outcome, note };
        if followed.outcome != Outcome::Diverged || !repair {
            return Ok(followed);
        }
        self.repair(followed)
    }

    fn repair(&self, mut followed: Followed) -> Result<Followed, Abandoned> {
        let Some(recording) = followed.replay.recording.clone() else { return Ok(followed) };
        let Some(mut repair) = Repair::new(&recording.records) else { return Ok(followed) };
        let mut performed = followed.recorded.comparable();
        loop {
            match repair.learn(&performed) {
                Lesson::Conflict(what) => {
                    let note = followed.note.take().unwrap_or_default();
                    followed.note = Some(format!("{note}; it cannot be repaired: {what}"));
                    return Ok(followed);
                }
                Lesson::Changed => {}
                Lesson::Follows => return Ok(followed),
            }
            let decisions = repair.decisions();
            let recorded = self.record(&followed.builder, &schedule(&decisions), &[], false, None)?;
            performed = recorded.comparable();
            let fails = recorded.failure.is_some();
            let like = alike(&Replay { decisions: Vec::new(), recording: Some(recording.clone()) }, &recorded);
            let complete = repair.is_followed(&performed) && recorded.diverged.is_none();
            if (fails && like) || complete {
                followed.outcome = match (fails, like) {
                    (true, true) => Outcome::Same,
                    (true, false) => Outcome::Other,
                    (false, _) => Outcome::Passes,
                };
                let (out, put) = (repair.skipped as u64, repair.inserted as u64);
                followed.note = Some(format!(
                    "repaired: the program has changed, {} left out and {} put in",
                    count(out, "local step"),
                    put
                ));
                followed.replay.decisions = decisions;
                followed.recorded = recorded;
                return Ok(followed);
            }
        }
    }

    /// The report of a replay that fails.
    fn tell_replayed(&self, followed: Followed) -> Report {
        let Followed { builder, replay, recorded, note, .. } = followed;
        let failure = recorded.failure.expect("only what fails is told");
        let mut report = self.empty_report(&builder, Verdict::Failed(Kind::from_code(failure.code())));
        report.executions = 1;
        report.blocked = u64::from(matches!(failure, Failure::Deadlock | Failure::Livelock));
        report.cut.extend(note);
        let schedule = schedule(&replay.decisions);
        let mut hit =
            Hit { failure, schedule, preemptions: None, interleaving: true, cost: 0, within: true, halt: None };
        let mut found = Found { execution: 1, replayed: true, ..Found::default() };
        let mut memory = None;
        if builder.shrink_replays {
            (hit, memory) = self.simplify(&builder, hit, &mut found, &[]);
        }
        self.tell(&builder, &hit, found, memory, &[], &mut report);
        report
    }
}

/// Whether it fails in the way that was recorded; a token does not say how it failed, so any failure is.
fn alike(asked: &Replay, recorded: &Recorded) -> bool {
    let Some(failure) = &recorded.failure else { return false };
    let message = recorded.told.as_ref().map_or_else(String::new, message_of);
    asked.recording.as_ref().is_none_or(|recording| recording.failure.is_like(failure.code(), &message))
}

/// The outcome of a replay, and why it diverged.
fn judge(asked: &Replay, recorded: &Recorded) -> (Outcome, Option<String>) {
    let fails = recorded.failure.is_some();
    if fails && alike(asked, recorded) {
        return (Outcome::Same, None);
    }
    match diverged(asked, recorded) {
        Some(sentence) => (Outcome::Diverged, Some(sentence)),
        None if fails => {
            let failure = asked.recording.as_ref().map(|r| format!("`{}` ({})", r.failure.code, r.failure.message));
            let failure = failure.unwrap_or_default();
            (Outcome::Other, Some(format!("another failure than the recorded one: {failure}")))
        }
        None => (Outcome::Passes, None),
    }
}

/// The sentence about a replay that has become another execution.
fn diverged(asked: &Replay, recorded: &Recorded) -> Option<String> {
    let performed = recorded.comparable();
    let records = asked.recording.as_ref().map_or(&[][..], |r| &r.records);
    // Files of format 1 say nothing about objects, and call threads by their names.
    let known = !records.is_empty() && Repair::new(records).is_some();
    let differs = || {
        let pairs = records.iter().zip(&performed);
        let first = pairs.into_iter().position(|(record, performed)| !performed.is(record));
        // One that fails ends where it fails.
        let shorter = recorded.failure.is_none() && performed.len() < records.len();
        first.or_else(|| shorter.then_some(performed.len()))
    };
    let by_operation = if known { differs() } else { None };
    let at = [recorded.diverged, by_operation].into_iter().flatten().min()?;
    let step = at + 1;
    let what =
        records.get(at).map_or_else(String::new, |r| format!(" (`{}` by {} at {})", r.operation, r.thread, r.place));
    let now = match performed.get(at) {
        Some(now) if known && by_operation == Some(at) => {
            format!("; now it is `{}` by {} at {}", now.operation, now.thread, now.place)
        }
        None if known => "; now the execution ends before it".to_owned(),
        _ => String::new(),
    };
    let changed = asked.recording.as_ref().map(|r| r.provenance.changed(Path::new("."))).unwrap_or_default();
    let files = if changed.is_empty() { String::new() } else { format!("; changed since: {}", changed.join(", ")) };
    Some(format!("the replay diverged: decision {step} of the recording{what} cannot be followed any more{now}{files}"))
}
