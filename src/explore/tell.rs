//! The recorded repetition of a failing execution, the report and the replay file.

use dpor::{Ending, Schedule};

use super::lost::with_room;
use super::search::{Hit, Searched};
use super::written::{self, decisions, message_of, performed};
use super::{Run, program};
use crate::builder::Builder;
use crate::engine::spy::{Halt, Spy};
use crate::engine::{Failure, Learnt, Outcome, hook};
use crate::events::{Event, emit};
use crate::fiber::{self, Abandoned};
use crate::record::{Chronicle, Recorder};
use crate::replay;
use crate::report::trace::{self, Found, MemoryNote, Trace};
use crate::report::{self, Style};
use crate::verdict::{self, Kind, Report, Verdict};

/// From a failure to its report.
impl Run<'_> {
    pub(super) fn report(&self, builder: &Builder, searched: Searched) -> Report {
        let Searched { explored, fewer, drawn } = searched;
        let mut cut = explored.cut;
        if let Some(directions) = &builder.directions {
            if let Some(part) = explored.stranded.filter(|_| explored.hit.is_none()) {
                let message = format!("the directions cannot be followed: {}", directions.describe(part));
                let help = "the thread is not there, cannot go on, or never comes to that label";
                return self.unusable(builder, Kind::Config, message, help);
            }
            cut.push("one execution, as directed".to_owned());
        }
        let verdict = match &explored.hit {
            Some(hit) => Verdict::Failed(Kind::from_code(hit.failure.code())),
            None if !cut.is_empty() => Verdict::Bounded,
            None if !explored.met => Verdict::Vacuous,
            None => Verdict::Complete,
        };
        let mut report = self.empty_report(builder, verdict);
        report.executions = explored.stats.executions;
        report.blocked = explored.stats.deadlocks + explored.stats.livelocks;
        report.steps = explored.stats.steps;
        report.stale_bound = explored.stale_bound;
        report.cut = cut;
        report.note_budgets(builder.budgets, explored.offered);
        report.note_labels(&builder.watch);
        let Some(hit) = explored.hit else {
            if builder.summary {
                eprintln!("{}: {report}", self.test);
            }
            return report;
        };
        let seed = drawn.is_some().then_some(builder.seed);
        let sampling = drawn.unwrap_or_default();
        let mut found = Found { execution: explored.stats.executions, seed, sampling, ..Found::default() };
        found.fewer = fewer;
        let (hit, note) = self.simplify(builder, hit, &mut found, &explored.learnt);
        let learnt = explored.learnt;
        report.verdict = Verdict::Failed(Kind::from_code(hit.failure.code()));
        self.tell(builder, &hit, found, note, &learnt, &mut report);
        report
    }

    /// Repeats the failing execution with everything recorded, and writes the report and the replay file.
    pub(super) fn tell(
        &self,
        builder: &Builder,
        hit: &Hit,
        mut found: Found,
        note: Option<MemoryNote>,
        learnt: &[Learnt],
        report: &mut Report,
    ) {
        found.preemptions = hit.preemptions.filter(|p| *p != u32::MAX);
        let preemptions = found.preemptions;
        let execution = found.execution;
        match self.record_best(builder, hit, learnt) {
            Err(abandoned) => *report = self.abandoned(builder, &abandoned),
            Ok(mut recorded) => {
                if !recorded.failure.as_ref().is_some_and(|again| again.is_like(&hit.failure)) {
                    recorded.tell_unlike(hit);
                }
                let kind = recorded.kind(hit);
                report.verdict = Verdict::Failed(kind);
                // What is said of the order that is printed holds for that order.
                found.preemptions = preemptions.map(|_| recorded.recorder.preemptions());
                let schedule = recorded.schedule.clone();
                let token = replay::token(&self.test, &decisions(&schedule));
                let (mut trace, chronicle) = self.trace(recorded, found, note, report.line(), token.clone());
                self.write_recording(builder, &schedule, hit.failure.code(), &mut trace, &chronicle);
                let text = report::render(&trace, &Style::from_env());
                report.failure = Some(verdict::Failure {
                    kind,
                    message: message_of(&trace.failure),
                    execution,
                    preemptions,
                    token,
                    report: text,
                });
            }
        }
    }

    /// Records the failing execution. The schedule ends where it fails, so it may leave threads in the middle of something
    /// that they could as well have finished first; if that makes the order simpler, it is the one to show.
    fn record_best(&self, builder: &Builder, hit: &Hit, learnt: &[Learnt]) -> Result<Recorded, Abandoned> {
        let plain = self.record(builder, &hit.schedule, learnt, false, hit.halt.as_ref())?;
        if hit.preemptions.is_none_or(|fewest| plain.recorder.preemptions() <= fewest) {
            return Ok(plain);
        }
        let patient = self.record(builder, &hit.schedule, learnt, true, hit.halt.as_ref())?;
        let alike = patient.failure.as_ref().is_some_and(|failure| failure.is_like(&hit.failure));
        let simpler = patient.recorder.preemptions() < plain.recorder.preemptions();
        Ok(if alike && patient.diverged.is_none() && simpler { patient } else { plain })
    }

    /// Runs one schedule with a recorder.
    pub(super) fn record(
        &self,
        builder: &Builder,
        schedule: &Schedule,
        learnt: &[Learnt],
        patient: bool,
        halt: Option<&Halt>,
    ) -> Result<Recorded, Abandoned> {
        self.on_worker(builder, learnt, |learnt, begun, spy| {
            let given = halt.map(|halt| Spy::Halt(halt.clone()));
            let (begun, spy) = if spy.is_some() { (begun, spy) } else { (1, &given) };
            self.record_once(&with_room(builder, spy), schedule, learnt, patient, (begun, spy))
        })
    }

    fn record_once(
        &self,
        builder: &Builder,
        schedule: &Schedule,
        learnt: &[Learnt],
        patient: bool,
        (begun, spy): (u64, &Option<Spy>),
    ) -> Result<Recorded, Abandoned> {
        let strategy = dpor::Strategy::Replay(schedule.clone());
        let config = dpor::Config { patient, ..builder.config(strategy, None) };
        let work = || {
            let _hook = hook::install();
            let engine = self.engine(builder, config.clone(), learnt, Some(Recorder::new()));
            engine.spy(begun, spy.clone());
            let mut failure = None;
            let mut ending = None;
            engine.run(|| {
                while let Some(outcome) = engine.next(self.body, self.site) {
                    match outcome {
                        Outcome::Ended(Ending::Probe) => engine.record_anew(),
                        Outcome::Ended(ended) => ending = Some(ended),
                        Outcome::Failed(found, _) => failure = Some(found),
                        Outcome::Restart => {
                            engine.record_anew();
                            engine.restart(config.clone());
                            continue;
                        }
                    }
                    if failure.is_some() || ending.is_some() {
                        break;
                    }
                }
            });
            let diverged = engine.explorer(|e| e.diverged_at());
            let schedule = if patient { engine.explorer(|e| performed(e)) } else { schedule.clone() };
            let told = engine.told_failure();
            let recorder = engine.into_recorder().expect("a replay is recorded");
            Recorded { failure, told, recorder, diverged, schedule }
        };
        // SAFETY: as in `run_alone`.
        unsafe { fiber::run_on_worker(Some(&self.test), builder.max_pause, work) }
    }

    fn trace(
        &self,
        recorded: Recorded,
        found: Found,
        memory: Option<MemoryNote>,
        verdict: String,
        token: String,
    ) -> (Trace, Chronicle) {
        let failure = recorded.told.unwrap_or_else(|| trace::Failure::Other {
            code: "internal",
            message: "the failure was not recorded".to_owned(),
            help: None,
            site: None,
        });
        let (threads, objects, steps, chronicle) = recorded.recorder.into_parts();
        let trace = Trace {
            test: self.test.clone(),
            threads,
            objects,
            steps,
            failure,
            found,
            memory,
            verdict,
            replay: None,
            command: command(),
            token,
        };
        (trace, chronicle)
    }

    /// Writes the replay file, and notes in the trace where it is; that it cannot be written is no reason to hide the failure.
    fn write_recording(
        &self,
        builder: &Builder,
        schedule: &Schedule,
        code: &str,
        trace: &mut Trace,
        chronicle: &Chronicle,
    ) {
        let program = program();
        let place = replay::path_for(&program, &self.test);
        trace.replay = Some(place.shown);
        let report = report::render(trace, &Style::default());
        let recording = written::recording(builder, &program, schedule, trace, chronicle, code, &report);
        match recording.write(&place.path) {
            Ok(()) => emit(&Event::Recorded { test: self.test.clone(), program, file: place.path }),
            Err(_) => trace.replay = None,
        }
    }
}

/// The command that runs this model alone. The harness knows its test by the name of the OS thread, whatever the model is
/// called.
pub(super) fn command() -> String {
    let executable = std::env::current_exe().unwrap_or_default();
    let is_in = |name: &str| executable.parent().is_some_and(|directory| directory.ends_with(name));
    let release = executable.components().any(|c| c.as_os_str() == "release");
    let release = if release { " --release" } else { "" };
    if is_in("examples") {
        return format!("cargo run{release} --example {}", program());
    }
    let thread = std::thread::current();
    match thread.name().filter(|name| *name != "main") {
        Some(name) if is_path(name) => format!("cargo test{release} {name}"),
        // Somebody else's thread, in a test all the same.
        _ if is_in("deps") => format!("cargo test{release}"),
        _ => format!("cargo run{release}"),
    }
}

/// Whether a test can be called so.
fn is_path(name: &str) -> bool {
    let is_identifier = |part: &str| {
        let part = part.strip_prefix("r#").unwrap_or(part);
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    name.split("::").all(is_identifier)
}

/// A recorded execution.
pub(super) struct Recorded {
    pub(super) failure: Option<Failure>,
    pub(super) told: Option<trace::Failure>,
    pub(super) recorder: Recorder,
    pub(super) diverged: Option<usize>,
    /// What was performed.
    pub(super) schedule: Schedule,
}

impl Recorded {
    /// What was performed, for the comparison with a recording.
    pub(super) fn comparable(&self) -> Vec<replay::Performed> {
        written::comparable(self.recorder.operations(), self.recorder.paths())
    }

    /// What the report calls the failure.
    fn kind(&self, hit: &Hit) -> Kind {
        match &self.told {
            Some(trace::Failure::Other { code, .. }) => Kind::from_code(code),
            _ => Kind::from_code(hit.failure.code()),
        }
    }

    /// The execution did not fail as it had.
    fn tell_unlike(&mut self, hit: &Hit) {
        if matches!(hit.failure, Failure::Other { .. } | Failure::Nondeterminism(_)) {
            // These may come from what executions share, and then a single one does not show them: they stand for themselves.
            let recorder = Recorder::new();
            self.told = Some(recorder.plain_failure(&hit.failure));
            self.recorder = recorder;
            return;
        }
        let now = match &self.failure {
            Some(failure) => format!("fails with `{}`", failure.code()),
            None => "passes".to_owned(),
        };
        let how = match &hit.failure {
            Failure::Panic(note) => format!("a panic ({})", note.message),
            failure => format!("`{}`", failure.code()),
        };
        self.told = Some(trace::Failure::Other {
            code: "nondeterminism",
            message: format!("an execution failed with {how}, but when it is repeated it {now}"),
            help: Some(
                "make the body depend on nothing but the shims: no real time, random numbers, addresses, hash orders, or state \
                 that outlives an execution"
                    .to_owned(),
            ),
            site: None,
        });
    }
}
