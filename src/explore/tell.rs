//! The recorded repetition of a failing execution, the report and the replay file.

use dpor::{Decision, Ending, EventId, Memory, Schedule, ThreadId};

use super::search::{Explored, Hit};
use super::{Run, program};
use crate::builder::{Builder, Strategy};
use crate::engine::{Engine, Failure, Outcome, Site, hook};
use crate::fiber::{self, Abandoned};
use crate::record::Recorder;
use crate::replay::{self, Configuration, FailureNote, Provenance, Record, Recording};
use crate::report::trace::{self, Found, MemoryNote, Trace};
use crate::report::{self, Style};
use crate::verdict::{self, Kind, Report, Verdict};

/// From a failure to its report.
impl Run<'_> {
    pub(super) fn report(&self, builder: &Builder, explored: Explored, fewer: Vec<u64>) -> Report {
        let random = builder.strategy == Strategy::Random;
        let mut cut = explored.cut;
        if random && explored.hit.is_none() {
            cut.push(format!("random, seed {}", builder.seed));
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
        report.cut = cut;
        let Some(hit) = explored.hit else {
            if builder.summary {
                eprintln!("{}: {report}", self.test);
            }
            return report;
        };
        let mut found =
            Found { execution: explored.stats.executions, seed: random.then_some(builder.seed), ..Found::default() };
        found.fewer = fewer;
        let (hit, note) = self.simplify(builder, hit, &mut found, &explored.counted);
        let counted = explored.counted;
        report.verdict = Verdict::Failed(Kind::from_code(hit.failure.code()));
        self.tell(builder, &hit, found, note, &counted, &mut report);
        report
    }

    /// Repeats the failing execution with everything recorded, and writes the report and the replay file.
    pub(super) fn tell(
        &self,
        builder: &Builder,
        hit: &Hit,
        mut found: Found,
        note: Option<MemoryNote>,
        counted: &[Site],
        report: &mut Report,
    ) {
        found.preemptions = hit.preemptions.filter(|p| *p != u32::MAX);
        let preemptions = found.preemptions;
        let execution = found.execution;
        match self.record_best(builder, hit, counted) {
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
                let mut trace = self.trace(recorded, found, note, report.line(), token.clone());
                trace.replay = self.write_recording(builder, &schedule, &hit.failure, &trace);
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
    fn record_best(&self, builder: &Builder, hit: &Hit, counted: &[Site]) -> Result<Recorded, Abandoned> {
        let plain = self.record(builder, &hit.schedule, counted, false)?;
        if hit.preemptions.is_none_or(|fewest| plain.recorder.preemptions() <= fewest) {
            return Ok(plain);
        }
        let patient = self.record(builder, &hit.schedule, counted, true)?;
        let alike = patient.failure.as_ref().is_some_and(|failure| failure.is_like(&hit.failure));
        let simpler = patient.recorder.preemptions() < plain.recorder.preemptions();
        Ok(if alike && patient.diverged.is_none() && simpler { patient } else { plain })
    }

    /// Runs one schedule with a recorder.
    pub(super) fn record(
        &self,
        builder: &Builder,
        schedule: &Schedule,
        counted: &[Site],
        patient: bool,
    ) -> Result<Recorded, Abandoned> {
        let strategy = dpor::Strategy::Replay(schedule.clone());
        let config = dpor::Config { strategy, patient, ..builder.config(None) };
        let work = || {
            let _hook = hook::install();
            self.note_for_crashes();
            let engine = Engine::new(config.clone(), builder.stack_size, builder.panics, Some(Recorder::new()));
            engine.count(counted);
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
        // SAFETY: as in `run`.
        unsafe { fiber::run_on_worker(Some(&self.test), work) }
    }

    fn trace(
        &self,
        recorded: Recorded,
        found: Found,
        memory: Option<MemoryNote>,
        verdict: String,
        token: String,
    ) -> Trace {
        let failure = recorded.told.unwrap_or_else(|| trace::Failure::Other {
            code: "internal",
            message: "the failure was not recorded".to_owned(),
            help: None,
            site: None,
        });
        let (threads, objects, steps) = recorded.recorder.into_parts();
        Trace {
            test: self.test.clone(),
            threads,
            objects,
            steps,
            failure,
            found,
            memory,
            verdict,
            replay: None,
            command: command(&self.test),
            token,
        }
    }

    /// Writes the replay file; `None` if that is not possible, which is no reason to hide the failure.
    fn write_recording(
        &self,
        builder: &Builder,
        schedule: &Schedule,
        failure: &Failure,
        trace: &Trace,
    ) -> Option<String> {
        let program = program();
        let place = replay::path_for(&program, &self.test);
        let mut recording = Recording {
            test: self.test.clone(),
            failure: FailureNote { code: failure.code().to_owned(), message: message_of(&trace.failure) },
            configuration: configuration(builder),
            provenance: Provenance::default(),
            records: records(schedule, trace),
        };
        recording.stamp(&std::env::current_dir().unwrap_or_default());
        recording.write(&place.path).ok().map(|()| place.shown)
    }
}

/// The command that runs this model alone.
pub(super) fn command(test: &str) -> String {
    let executable = std::env::current_exe().unwrap_or_default();
    let is_example = executable.parent().is_some_and(|dir| dir.ends_with("examples"));
    let release = executable.components().any(|c| c.as_os_str() == "release");
    let release = if release { " --release" } else { "" };
    if is_example {
        format!("cargo run{release} --example {}", program())
    } else if std::thread::current().name().is_some_and(|name| name != "main") {
        format!("cargo test{release} {}", test)
    } else {
        format!("cargo run{release}")
    }
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

/// The schedule of everything that the current execution has performed, in its order.
fn performed(explorer: &dpor::Explorer) -> Schedule {
    let graph = explorer.graph();
    let order: Vec<EventId> = (0..graph.len() as u32).map(EventId).collect();
    Schedule::of(graph, &order)
}

fn decisions(schedule: &Schedule) -> Vec<replay::Decision> {
    let convert =
        |d: &Decision| replay::Decision { thread: d.thread.0, read: d.read, place: d.place, choice: d.choice };
    schedule.decisions.iter().map(convert).collect()
}

pub(super) fn schedule(decisions: &[replay::Decision]) -> Schedule {
    let convert =
        |d: &replay::Decision| Decision { thread: ThreadId(d.thread), read: d.read, place: d.place, choice: d.choice };
    Schedule { decisions: decisions.iter().map(convert).collect() }
}

fn configuration(builder: &Builder) -> Configuration {
    Configuration {
        memory: match builder.memory {
            Memory::Sc => "SC".to_owned(),
            Memory::Rc11 => "RC11".to_owned(),
        },
        spurious: builder.spurious,
        spin_budget: builder.spin_budget,
        preemption_bound: builder.preemption_bound,
        max_steps: builder.max_steps,
        ..Configuration::default()
    }
}

/// The decisions with the recorded steps that they led to.
fn records(schedule: &Schedule, trace: &Trace) -> Vec<Record> {
    let names = report::thread_names(&trace.threads);
    let mut next = vec![0usize; trace.threads.len().max(1)];
    let mut records = Vec::new();
    for decision in decisions(schedule) {
        let thread = decision.thread as usize;
        let steps = trace.steps.iter().filter(|step| step.thread == thread);
        let step = next.get_mut(thread).and_then(|n| {
            *n += 1;
            steps.clone().nth(*n - 1)
        });
        records.push(Record {
            thread: names.get(thread).cloned().unwrap_or_default(),
            operation: step.map_or("end", |s| s.method).to_owned(),
            object: step.and_then(|s| s.object).map_or_else(String::new, |o| trace.objects[o].family.to_owned()),
            place: step.map_or_else(String::new, |s| format!("{}:{}:{}", s.site.file, s.site.line, s.site.column)),
            decision,
            alternatives: 1,
        });
    }
    records
}

fn message_of(failure: &trace::Failure) -> String {
    match failure {
        trace::Failure::Panic { message, .. } | trace::Failure::Other { message, .. } => message.clone(),
        trace::Failure::Deadlock { .. } => "deadlock".to_owned(),
        trace::Failure::Livelock { .. } => "livelock".to_owned(),
        trace::Failure::DataRace { .. } => "data race".to_owned(),
        trace::Failure::Nondeterminism { .. } => "the program does not repeat itself".to_owned(),
    }
}
