//! The exploration of a model from beginning to end: executions until one fails, the search for a failure that is easier to
//! understand, the recorded repetition, the report.

use std::path::Path;
use std::time::{Duration, Instant};

use dpor::{Decision, Ending, EventId, Memory, Schedule, Stats, ThreadId};
use sync_shims::model::controller;

use crate::builder::{Builder, Strategy};
use crate::engine::{Engine, Failure, Outcome, Site, exit, hook};
use crate::fiber::{self, Abandoned, Cause};
use crate::record::Recorder;
use crate::replay::{self, Configuration, FailureNote, Provenance, Record, Recording};
use crate::report::trace::{self, Found, MemoryNote, Trace};
use crate::report::{self, Style, count};
use crate::verdict::{self, Kind, Report, Verdict};

/// What the main thread of every execution runs.
type Body<'a> = &'a (dyn Fn() + Sync);

/// Executions that the search for a simpler failure may take at each bound.
const SIMPLER: u64 = 20_000;

/// Executions between two looks at the clock.
const CLOCK: u64 = 64;

/// Explores the model `body`.
pub(crate) fn explore(builder: Builder, body: Body<'_>, site: Site) -> Report {
    let started = Instant::now();
    if controller::current(|controller| controller.is_some()) {
        controller::current(|controller| {
            let message = "a model inside a model".to_owned();
            controller.expect("there is one").fail("outside", message, site)
        });
    }
    exit::watch();
    let test = test_name(&builder);
    let run = Run { site, body, started, test };
    let mut report = match builder.clone().with_environment() {
        Ok(builder) => run.explore(&builder),
        Err(message) => run.unusable(&builder, Kind::Config, message, "see the documentation of `interleave::Builder`"),
    };
    report.duration = started.elapsed();
    report
}

/// The name of the model: the test's, which is the OS thread's, or the program's.
fn test_name(builder: &Builder) -> String {
    let thread = std::thread::current().name().filter(|name| *name != "main").map(str::to_owned);
    // The name becomes an OS thread's, which takes no null bytes.
    builder.name.clone().or(thread).unwrap_or_else(program).replace('\0', "\\0")
}

fn program() -> String {
    let executable = std::env::current_exe().unwrap_or_default();
    let stem = executable.file_stem().map_or_else(|| "model".to_owned(), |stem| stem.to_string_lossy().into_owned());
    // Cargo adds a hash to the names of test binaries.
    match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => name.to_owned(),
        _ => stem,
    }
}

/// One call of `explore`.
struct Run<'a> {
    site: Site,
    body: Body<'a>,
    started: Instant,
    test: String,
}

/// A failing execution as it was found.
#[derive(Clone)]
struct Hit {
    failure: Failure,
    schedule: Schedule,
    preemptions: Option<u32>,
    /// An interleaving gives it.
    interleaving: bool,
    /// Preemptions of the order in which it is run.
    cost: u32,
}

/// What came of one exploration.
struct Explored {
    stats: Stats,
    hit: Option<Hit>,
    cut: Vec<String>,
    counted: Vec<Site>,
    met: bool,
}

/// What limits an exploration.
#[derive(Clone, Copy)]
struct Limits {
    executions: Option<u64>,
    until: Option<Instant>,
}

impl Run<'_> {
    fn explore(&self, builder: &Builder) -> Report {
        if let Some(asked) = replay::from_env(&self.test) {
            return match asked {
                Ok(asked) => self.replay(builder, asked),
                Err(error) => self.unusable(builder, Kind::Replay, error.to_string(), ""),
            };
        }
        match self.search(builder) {
            Ok((explored, fewer)) => self.report(builder, explored, fewer),
            Err(abandoned) => self.abandoned(builder, &abandoned),
        }
    }

    /// Explores, bound by bound if there is one. Also returns how many executions have fewer preemptions than the failure.
    fn search(&self, builder: &Builder) -> Result<(Explored, Vec<u64>), Abandoned> {
        let limits = Limits {
            executions: builder.max_executions,
            until: builder.max_duration.map(|duration| self.started + duration),
        };
        let Some(bound) = builder.preemption_bound else {
            return Ok((self.run(builder, builder.config(None), limits, &[])?, Vec::new()));
        };
        let mut fewer = Vec::new();
        loop {
            let preemptions = fewer.len() as u32;
            let mut explored = self.run(builder, builder.config(Some(preemptions)), limits, &[])?;
            let cut = explored.stats.pruned + explored.stats.bounded > 0;
            let over = !explored.cut.is_empty();
            if explored.hit.is_some() || over || !cut || preemptions == bound {
                if over {
                    explored.cut.push(match preemptions {
                        0 => "not even all executions without preemptions".to_owned(),
                        n => format!("nothing fails with at most {}", count(u64::from(n - 1), "preemption")),
                    });
                } else if cut && explored.hit.is_none() {
                    explored.cut.push("there are executions with more preemptions".to_owned());
                }
                return Ok((explored, fewer));
            }
            fewer.push(explored.stats.executions);
        }
    }

    /// Runs executions until one fails or there are none left.
    fn run(
        &self,
        builder: &Builder,
        config: dpor::Config,
        limits: Limits,
        counted: &[Site],
    ) -> Result<Explored, Abandoned> {
        let work = || {
            let _hook = hook::install();
            self.note_for_crashes();
            let engine = Engine::new(config.clone(), builder.stack_size, builder.panics, None);
            engine.count(counted);
            engine.run(|| self.loop_over(&engine, &config, limits))
        };
        // SAFETY: 1. What `work` borrows mutably: nothing. 2. Locks it may have held: those of the program's own types, which
        // the program shares with an abandoned thread at its own risk, as the report says.
        unsafe { fiber::run_on_worker(Some(&self.test), work) }
    }

    /// What a signal that ends the process says.
    fn note_for_crashes(&self) {
        fiber::with_note(|note| {
            note.truncate(0);
            note.push(format!("  the model: {:?}", self.test).as_bytes());
        });
    }

    fn loop_over(&self, engine: &Engine, config: &dpor::Config, limits: Limits) -> Explored {
        let mut cut = Vec::new();
        let mut hit = None;
        while let Some(outcome) = engine.next(self.body, self.site) {
            match outcome {
                Outcome::Ended(ending) => {
                    let done = engine.explorer(|e| e.stats().executions);
                    if ending != Ending::Complete {
                        continue;
                    }
                    if limits.executions.is_some_and(|most| done >= most) && engine.explorer(|e| e.has_more()) {
                        cut.push(format!("stopped after {}", count(done, "execution")));
                        break;
                    }
                    if done.is_multiple_of(CLOCK) && limits.until.is_some_and(|until| Instant::now() >= until) {
                        cut.push("stopped by the time limit".to_owned());
                        break;
                    }
                }
                Outcome::Failed(failure, roots) => {
                    let found = engine.explorer(|explorer| locate(explorer, failure, &roots));
                    // It may have been reached by a way that seemed cheaper than it is.
                    if config.preemptions.is_some_and(|bound| found.cost > bound) {
                        engine.explorer(|explorer| explorer.finish_beyond_bound());
                        continue;
                    }
                    engine.explorer(|explorer| explorer.finish_failed());
                    hit = Some(found);
                    break;
                }
                Outcome::Restart => engine.restart(config.clone()),
            }
        }
        let stats = engine.explorer(|e| *e.stats());
        if stats.spin_cut > 0 {
            cut.push(format!("spin budget cut {}", report::thousands(stats.spin_cut)));
        }
        Explored { stats, hit, cut, counted: engine.counted(), met: engine.explorer(|e| e.threads_met()) }
    }
}

/// The schedule of a failing execution with the fewest preemptions.
fn locate(explorer: &mut dpor::Explorer, failure: Failure, roots: &[EventId]) -> Hit {
    let everything = matches!(failure, Failure::Deadlock | Failure::Livelock);
    if roots.is_empty() && !everything {
        return Hit { failure, schedule: Schedule::default(), preemptions: Some(0), interleaving: true, cost: 0 };
    }
    let strong = explorer.witness(roots);
    let interleaving = strong.is_some();
    let (cost, order) = strong.or_else(|| explorer.weak_witness(roots)).unwrap_or_default();
    let schedule = Schedule::of(explorer.graph(), &order);
    Hit { failure, schedule, preemptions: interleaving.then_some(cost), interleaving, cost }
}

/// From a failure to its report.
impl Run<'_> {
    fn report(&self, builder: &Builder, explored: Explored, fewer: Vec<u64>) -> Report {
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

    /// Looks for a failure that is easier to understand: one that is an interleaving, and one with fewer preemptions.
    fn simplify(&self, builder: &Builder, hit: Hit, found: &mut Found, counted: &[Site]) -> (Hit, Option<MemoryNote>) {
        if !matches!(hit.failure, Failure::Panic(_) | Failure::Deadlock | Failure::Livelock | Failure::Race { .. }) {
            return (hit, None);
        }
        let mut hit = hit;
        let limits = Limits { executions: Some(SIMPLER), until: None };
        let sc = Builder { memory: Memory::Sc, strategy: Strategy::Exhaustive, ..builder.clone() };
        if !hit.interleaving {
            match self.run(&sc, sc.config(None), limits, counted) {
                Ok(Explored { hit: Some(simpler), .. }) => hit = simpler,
                _ => return (hit, Some(MemoryNote::NeedsWeakMemory)),
            }
        }
        if builder.preemption_bound.is_none() {
            for bound in 0..hit.preemptions.unwrap_or(0) {
                match self.run(&sc, sc.config(Some(bound)), limits, counted) {
                    Ok(Explored { hit: Some(simpler), .. }) if simpler.interleaving => {
                        hit = simpler;
                        break;
                    }
                    Ok(explored) if explored.hit.is_none() && explored.cut.is_empty() => {
                        found.fewer.push(explored.stats.executions);
                    }
                    _ => break,
                }
            }
        }
        let note = if builder.memory == Memory::Sc { MemoryNote::RanUnderSc } else { MemoryNote::FailsUnderSc };
        (hit, Some(note))
    }

    /// Repeats the failing execution with everything recorded, and writes the report and the replay file.
    fn tell(
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
    fn record(
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
            command: self.command(),
            token,
        }
    }

    /// The command that runs this model alone.
    fn command(&self) -> String {
        let executable = std::env::current_exe().unwrap_or_default();
        let is_example = executable.parent().is_some_and(|dir| dir.ends_with("examples"));
        let release = executable.components().any(|c| c.as_os_str() == "release");
        let release = if release { " --release" } else { "" };
        if is_example {
            format!("cargo run{release} --example {}", program())
        } else if std::thread::current().name().is_some_and(|name| name != "main") {
            format!("cargo test{release} {}", self.test)
        } else {
            format!("cargo run{release}")
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

/// A recorded execution.
struct Recorded {
    failure: Option<Failure>,
    told: Option<trace::Failure>,
    recorder: Recorder,
    diverged: Option<usize>,
    /// What was performed.
    schedule: Schedule,
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

fn schedule(decisions: &[replay::Decision]) -> Schedule {
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

/// Replays, and what cannot be explored.
impl Run<'_> {
    fn replay(&self, builder: &Builder, asked: replay::Replay) -> Report {
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

    /// A report that tells one thing.
    fn unusable(&self, builder: &Builder, kind: Kind, message: String, help: &str) -> Report {
        let mut report = self.empty_report(builder, Verdict::Failed(kind));
        let trace = self.bare_trace(trace::Failure::Other {
            code: kind.code(),
            message: message.clone(),
            help: (!help.is_empty()).then(|| help.to_owned()),
            site: None,
        });
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

    /// The worker stopped in the middle of something.
    fn abandoned(&self, builder: &Builder, abandoned: &Abandoned) -> Report {
        match &abandoned.cause {
            Cause::StackOverflow => self.unusable(
                builder,
                Kind::Limit,
                format!("a model thread has used up its stack of {} bytes", builder.stack_size),
                "look for endless recursion; if the code needs that much, raise `stack_size` (INTERLEAVE_STACK_SIZE)",
            ),
            Cause::Message(message) => self.unusable(
                builder,
                Kind::Panic,
                message.clone(),
                "a destructor must not panic while its thread unwinds: check `std::thread::panicking()` first",
            ),
        }
    }

    fn bare_trace(&self, failure: trace::Failure) -> Trace {
        Trace {
            test: self.test.clone(),
            threads: Vec::new(),
            objects: Vec::new(),
            steps: Vec::new(),
            failure,
            found: Found::default(),
            memory: None,
            verdict: String::new(),
            replay: None,
            command: self.command(),
            token: String::new(),
        }
    }

    fn empty_report(&self, builder: &Builder, verdict: Verdict) -> Report {
        Report {
            verdict,
            executions: 0,
            blocked: 0,
            failure: None,
            cut: Vec::new(),
            preemption_bound: builder.preemption_bound,
            memory: builder.memory,
            spurious: builder.spurious,
            steps: 0,
            duration: Duration::ZERO,
        }
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
