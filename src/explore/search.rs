//! Which executions are run, and when to stop.

use std::sync::atomic::Ordering;
use std::time::Instant;

use dpor::{Draws, Ending, EventId, Memory, Sampling, Schedule, Stats};

use super::Run;
use super::lost::with_room;
use super::workers::{Ended, Start};
use crate::builder::{Builder, Strategy};
use crate::engine::spy::Halt;
use crate::engine::{Engine, Failure, Learnt, Outcome, hook};
use crate::fiber::{self, Abandoned, Cause};
use crate::focus;
use crate::progress::Estimate;
use crate::record::Recorder;
use crate::report::{self, count};

/// Executions, or operations if the executions are long, between two looks at the clock.
pub(super) const CLOCK: u64 = 64;
const LONG_STEPS: u64 = 10_000;

/// Random executions that look at what the search is to focus on.
const FOCUSED: u64 = 100;

/// After so many executions, whoever waits for the rest learns how many there may be.
const LONG: u64 = 10_000;

/// How many guesses an estimate is made of, and the executions that they may take together.
const SAMPLES: u32 = 10;
const SURVEY: u64 = 20_000;

/// A failing execution as it was found.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub(super) failure: Failure,
    pub(super) schedule: Schedule,
    pub(super) preemptions: Option<u32>,
    /// An interleaving gives it.
    pub(super) interleaving: bool,
    /// Preemptions of the order in which it is run.
    pub(super) cost: u32,
    /// It is within the bounds.
    pub(super) within: bool,
    /// The thread has to be stopped where it fails.
    pub(super) halt: Option<Halt>,
}

/// What came of one exploration.
#[derive(Debug, Default)]
pub(super) struct Explored {
    pub(super) stats: Stats,
    pub(super) hit: Option<Hit>,
    pub(super) cut: Vec<String>,
    pub(super) learnt: Vec<Learnt>,
    pub(super) met: bool,
    /// Budgets that could be drawn on, by bit.
    pub(super) offered: u8,
    /// What was learned about the number of executions, if that was asked for.
    pub(super) estimate: Option<Estimate>,
    /// The part of the directions that could not be followed.
    pub(super) stranded: Option<usize>,
    /// The bound on stale accesses, if it may have kept something out.
    pub(super) stale_bound: Option<u32>,
}

/// What came of a search, which may be several explorations.
#[derive(Debug, Default)]
pub(super) struct Searched {
    /// The last one.
    pub(super) explored: Explored,
    /// For 0, 1, … preemptions: how many executions have at most so many, none of which fails.
    pub(super) fewer: Vec<u64>,
    /// The failure was found at random; how.
    pub(super) drawn: Option<String>,
}

impl From<Explored> for Searched {
    fn from(explored: Explored) -> Searched {
        Searched { explored, ..Searched::default() }
    }
}

/// What limits an exploration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    pub(super) executions: Option<u64>,
    pub(super) until: Option<Instant>,
}

impl Limits {
    /// No more executions than these.
    pub(super) fn at_most(self, executions: u64) -> Limits {
        Limits { executions: Some(self.executions.map_or(executions, |most| most.min(executions))), ..self }
    }
}

/// One exploration.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) config: dpor::Config,
    pub(super) limits: Limits,
}

impl Job {
    pub(super) fn exhaustive(builder: &Builder, limits: Limits) -> Job {
        Job { config: builder.config(dpor::Strategy::Exhaustive, None), limits }
    }

    pub(super) fn bounded(builder: &Builder, preemptions: Option<u32>, limits: Limits) -> Job {
        let config = builder.config(dpor::Strategy::Exhaustive, preemptions);
        let stale = builder.stale_bound(preemptions);
        Job { config: dpor::Config { stale, until: limits.until, ..config }, limits }
    }

    /// As [`Job::bounded`], without stale reads.
    pub(super) fn interleavings(builder: &Builder, preemptions: Option<u32>, limits: Limits) -> Job {
        let mut job = Job::bounded(builder, preemptions, limits);
        job.config.stale = (builder.memory == Memory::Rc11).then_some(0);
        job
    }

    pub(super) fn random(builder: &Builder, draws: Draws, limits: Limits) -> Job {
        // The draws come to an end by themselves.
        Job {
            config: builder.config(dpor::Strategy::Random(draws), None),
            limits: Limits { executions: None, ..limits },
        }
    }

    fn survey(builder: &Builder, limits: Limits) -> Job {
        let strategy = dpor::Strategy::Estimate { seed: builder.seed, samples: SAMPLES };
        Job { config: builder.config(strategy, None), limits: limits.at_most(SURVEY) }
    }
}

impl Run<'_> {
    /// Explores as the configuration says.
    pub(super) fn search(&self, builder: &Builder) -> Result<Searched, Abandoned> {
        let limits = Limits {
            executions: builder.max_executions,
            // A time that no clock will ever show is none.
            until: builder.max_duration.and_then(|duration| self.started.checked_add(duration)),
        };
        self.look_at_checkpoint(builder).map_err(Abandoned::because)?;
        if let Some(directions) = &builder.directions {
            self.watchers.enter("directed", None, None);
            let config = builder.config(dpor::Strategy::Directed(directions.legs()), None);
            return Ok(self.run(builder, &Job { config, limits }, &[])?.into());
        }
        if !builder.focus.is_empty()
            && let Some(found) = self.focused(builder, limits)?
        {
            return Ok(found);
        }
        match builder.strategy {
            Strategy::Auto => self.auto(builder, limits),
            Strategy::Interleavings => {
                self.watchers.enter("interleavings", None, None);
                let bound = builder.preemption_bound;
                let config = builder.config(dpor::Strategy::Interleavings, bound);
                let config = dpor::Config { stale: builder.stale_bound(bound), ..config };
                Ok(self.run(builder, &Job { config, limits }, &[])?.into())
            }
            Strategy::Exhaustive => match (builder.preemption_bound, builder.stale_bound(None)) {
                (Some(bound), _) => self.bounded(builder, bound, limits),
                (None, Some(_)) => {
                    let mut explored = self.within(builder, None, limits)?;
                    if explored.hit.is_none() && explored.cut.is_empty() && explored.is_beyond() {
                        explored.cut.push("there are executions with more stale reads".to_owned());
                    }
                    Ok(explored.into())
                }
                (None, None) => self.exhaustive(builder, limits),
            },
            _ => {
                let sampling = builder.strategy.sampling().expect("the strategies left are random");
                self.random(builder, builder.draws(sampling), limits)
            }
        }
    }

    /// Everything. Who watches a long search learns how long it may be.
    fn exhaustive(&self, builder: &Builder, limits: Limits) -> Result<Searched, Abandoned> {
        self.watchers.enter("exhaustive", None, None);
        if !self.watchers.any() && !builder.summary {
            return Ok(self.run(builder, &Job::exhaustive(builder, limits), &[])?.into());
        }
        let first = self.run(builder, &Job::exhaustive(builder, limits.at_most(LONG)), &[])?;
        if !first.is_long(limits) {
            return Ok(first.into());
        }
        let survey = self.survey(builder, limits)?;
        if survey.hit.is_some() {
            return Ok(survey.at_random("estimating"));
        }
        if let Some(estimate) = survey.estimate {
            self.announce(estimate, "exploring all of them");
        }
        self.watchers.start_again();
        self.watchers.enter("exhaustive", None, survey.estimate);
        Ok(self.run(builder, &Job::exhaustive(builder, limits), &[])?.into())
    }

    /// Says what a long run is about to do.
    pub(super) fn announce(&self, estimate: Estimate, what: &str) {
        eprintln!("{}: {}; {what}", self.test, about(estimate));
    }

    /// How many executions there may be, unless one of them fails.
    pub(super) fn survey(&self, builder: &Builder, limits: Limits) -> Result<Explored, Abandoned> {
        self.watchers.enter("estimating", None, None);
        self.run(builder, &Job::survey(builder, limits), &[])
    }

    /// Random executions that are preempted at certain operations only; something if one fails.
    fn focused(&self, builder: &Builder, limits: Limits) -> Result<Option<Searched>, Abandoned> {
        self.watchers.enter("focused", None, None);
        let focus = Some(focus::on(&builder.focus));
        let draws = Draws { focus, ..Draws::new(Sampling::Uniform, builder.seed, FOCUSED) };
        let explored = self.run(builder, &Job::random(builder, draws, limits), &[])?;
        Ok(explored.hit.is_some().then(|| explored.at_random("focused")))
    }

    /// Random executions.
    pub(super) fn random(&self, builder: &Builder, draws: Draws, limits: Limits) -> Result<Searched, Abandoned> {
        self.watchers.enter("random", None, None);
        let name = sampling_name(draws.sampling);
        let mut explored = self.run(builder, &Job::random(builder, draws, limits), &[])?;
        if explored.hit.is_none() {
            explored.cut.push(format!("random ({name}), seed {}", builder.seed));
        }
        Ok(explored.at_random(&name))
    }

    /// Explores the executions with at most 0, 1, … preemptions in turn, until one fails or there are no more: first all
    /// interleavings, and then what has stale reads.
    pub(super) fn bounded(&self, builder: &Builder, bound: u32, limits: Limits) -> Result<Searched, Abandoned> {
        let interleavings = |preemptions| Job::interleavings(builder, Some(preemptions), limits);
        let mut strong = self.in_turn(builder, bound, interleavings)?;
        let explored = &mut strong.explored;
        let may_be_stale = builder.memory == Memory::Rc11 && explored.stats.weak > 0;
        let stale = builder.stale_bound(Some(bound));
        if explored.hit.is_some() || !explored.cut.is_empty() {
            if may_be_stale && stale != Some(0) && explored.hit.is_none() {
                explored.cut.push("stale reads not looked at".to_owned());
            }
            return Ok(strong);
        }
        if !explored.is_beyond() {
            return Ok(strong);
        }
        if !may_be_stale || stale == Some(0) {
            explored.stale_bound = stale.filter(|_| may_be_stale);
            explored.note_more();
            return Ok(strong);
        }
        let all = |preemptions| Job::bounded(builder, Some(preemptions), limits);
        let mut weak = self.in_turn(builder, bound, all)?;
        let explored = &mut weak.explored;
        explored.stale_bound = stale;
        if explored.hit.is_none() && !explored.cut.is_empty() {
            let most = count(bound.into(), "preemption");
            explored.cut.push(format!("without stale reads, nothing fails with at most {most}"));
        } else if explored.hit.is_none() && explored.is_beyond() {
            explored.note_more();
        }
        Ok(weak)
    }

    /// Runs the jobs for at most 0, 1, …, `bound` preemptions, until one fails, is cut short, or leaves no preemptions out.
    fn in_turn(&self, builder: &Builder, bound: u32, job: impl Fn(u32) -> Job) -> Result<Searched, Abandoned> {
        let mut fewer = Vec::new();
        loop {
            let preemptions = fewer.len() as u32;
            self.watchers.enter("bounded", Some(preemptions), None);
            let mut explored = self.run(builder, &job(preemptions), &[])?;
            let over = !explored.cut.is_empty();
            if over && explored.hit.is_none() {
                explored.cut.push(explored_in_full(&fewer));
            }
            let more = explored.stats.pruned + explored.stats.bounded > 0;
            if explored.hit.is_some() || over || !more || preemptions == bound {
                return Ok(Searched { explored, fewer, drawn: None });
            }
            fewer.push(explored.stats.executions);
        }
    }

    /// Explores the interleavings within the bound, and then the executions with stale reads, if there may be any.
    pub(super) fn within(
        &self,
        builder: &Builder,
        preemptions: Option<u32>,
        limits: Limits,
    ) -> Result<Explored, Abandoned> {
        self.watchers.enter("bounded", preemptions, None);
        let explored = self.run(builder, &Job::interleavings(builder, preemptions, limits), &[])?;
        let over = explored.hit.is_some() || !explored.cut.is_empty();
        // If nothing was left out, or nothing can be stale, there are no others.
        if builder.memory == Memory::Sc || over || explored.stats.weak == 0 || !explored.is_beyond() {
            return Ok(explored);
        }
        let all = Job::bounded(builder, preemptions, limits);
        if all.config.stale == Some(0) {
            return Ok(Explored { stale_bound: Some(0), ..explored });
        }
        let mut explored = self.run(builder, &all, &explored.learnt)?;
        explored.stale_bound = all.config.stale;
        if explored.hit.is_none() && !explored.cut.is_empty() {
            explored.cut.push(match preemptions {
                None => "without stale reads, nothing fails".to_owned(),
                Some(n) => format!("without stale reads, nothing fails with {}", count(n.into(), "preemption")),
            });
        }
        Ok(explored)
    }

    /// Runs executions until one fails or there are none left.
    pub(super) fn run(&self, builder: &Builder, job: &Job, learnt: &[Learnt]) -> Result<Explored, Abandoned> {
        if !matches!(job.config.strategy, dpor::Strategy::Exhaustive) {
            return self.run_alone(builder, job, learnt);
        }
        if builder.shard.is_some() || builder.checkpoint.is_some() {
            return self.or_alone(builder, job, learnt, self.run_pieces(builder, job, learnt));
        }
        if builder.workers == 1 {
            return self.run_alone(builder, job, learnt);
        }
        self.or_alone(builder, job, learnt, self.run_together(builder, job, learnt))
    }

    /// One worker runs everything again if some were given up: what for can only be told of one.
    fn or_alone(
        &self,
        builder: &Builder,
        job: &Job,
        learnt: &[Learnt],
        came: Result<Explored, Abandoned>,
    ) -> Result<Explored, Abandoned> {
        match came {
            Err(abandoned) if !matches!(abandoned.cause, Cause::Unusable(_)) => self.run_alone(builder, job, learnt),
            came => came,
        }
    }

    fn run_together(&self, builder: &Builder, job: &Job, learnt: &[Learnt]) -> Result<Explored, Abandoned> {
        let mut learnt = learnt.to_vec();
        loop {
            match self.run_by_workers(builder, job, &learnt, vec![Start::Root], &|_, _| {})? {
                Ended::Explored(explored) => return Ok(*explored),
                Ended::Restart(more) => learnt = more,
                Ended::Alone => return self.run_alone(builder, job, &learnt),
            }
        }
    }

    fn run_alone(&self, builder: &Builder, job: &Job, learnt: &[Learnt]) -> Result<Explored, Abandoned> {
        self.on_worker(builder, learnt, |learnt, begun, spy| {
            let builder = with_room(builder, spy);
            let work = || {
                let _hook = hook::install();
                let engine = self.engine(&builder, job.config.clone(), learnt, None);
                engine.spy(begun, spy.clone());
                engine.run(|| self.loop_over(&engine, job))
            };
            // SAFETY: 1. What `work` borrows mutably: nothing. 2. Locks it may have held: those of the program's own types,
            // which the program shares with an abandoned thread at its own risk, as the report says.
            unsafe { fiber::run_on_worker(Some(&self.test), builder.max_pause, work) }
        })
    }

    /// An engine on the worker that it is made on.
    pub(super) fn engine(
        &self,
        builder: &Builder,
        config: dpor::Config,
        learnt: &[Learnt],
        recorder: Option<Recorder>,
    ) -> Engine {
        self.note_for_crashes();
        let engine = Engine::new(config, builder.stack_size, builder.panics, recorder).watching(&builder.watch);
        engine.look_for_leaks(builder.leaks);
        engine.abandon_threads(self.abandons.load(Ordering::Relaxed));
        engine.know(learnt);
        engine
    }

    /// What a signal that ends the process says.
    fn note_for_crashes(&self) {
        fiber::with_note(|note| {
            note.truncate(0);
            note.push(format!("  the model: {:?}", self.test).as_bytes());
        });
    }

    fn loop_over(&self, engine: &Engine, job: &Job) -> Explored {
        let mut cut = Vec::new();
        let mut hit = None;
        let mut runs = 0u64;
        let (mut told, mut looked) = (0, 0);
        while let Some(outcome) = engine.next(self.body, self.site) {
            runs += 1;
            let came = judge(engine, outcome);
            let done = engine.explorer(|e| e.stats().executions);
            match came {
                Came::Hit(found) => {
                    hit = Some(*found);
                    break;
                }
                Came::Counted if job.limits.executions.is_some_and(|most| done >= most) => {
                    if engine.explorer(|e| e.has_more()) {
                        cut.push(format!("stopped after {}", count(done, "execution")));
                        break;
                    }
                }
                Came::Counted | Came::Nothing => {}
                Came::Restart => {
                    engine.restart(job.config.clone());
                    (told, looked) = (0, 0);
                    continue;
                }
            }
            let steps = engine.explorer(|e| e.stats().steps);
            if runs.is_multiple_of(CLOCK) || steps - looked >= LONG_STEPS {
                looked = steps;
                self.watchers.advance(done - told);
                told = done;
                if job.limits.until.is_some_and(|until| Instant::now() >= until) {
                    cut.push("stopped by the time limit".to_owned());
                    break;
                }
            }
        }
        let stats = engine.explorer(|e| *e.stats());
        self.watchers.advance(stats.executions - told);
        if engine.explorer(|e| e.is_out_of_time()) {
            cut.push("stopped by the time limit".to_owned());
        }
        if stats.spin_cut > 0 {
            cut.push(format!("spin budget cut {}", report::thousands(stats.spin_cut)));
        }
        engine.explorer(|e| Explored {
            stats,
            hit,
            cut,
            learnt: engine.learnt(),
            offered: engine.offered(),
            met: e.threads_met(),
            estimate: e.estimate().map(Estimate::from),
            stranded: e.stranded_leg(),
            stale_bound: None,
        })
    }
}

impl Explored {
    /// Whether a first look was cut short, and not by what limits the whole search.
    fn is_long(&self, limits: Limits) -> bool {
        let within =
            limits.executions.is_none_or(|most| most > LONG) && limits.until.is_none_or(|u| Instant::now() < u);
        self.hit.is_none() && self.stats.executions >= LONG && !self.cut.is_empty() && within
    }

    /// Says what was not explored.
    fn note_more(&mut self) {
        let stale = if self.stale_bound.is_some() { " or stale reads" } else { "" };
        self.cut.push(format!("there are executions with more preemptions{stale}"));
    }

    fn at_random(self, how: &str) -> Searched {
        Searched { drawn: Some(how.to_owned()), ..self.into() }
    }
}

/// What came of one execution.
pub(super) enum Came {
    /// It counts.
    Counted,
    /// It does not.
    Nothing,
    /// It fails.
    Hit(Box<Hit>),
    /// Everything has to begin anew, with more counted values.
    Restart,
}

/// Judges an execution that has just ended.
pub(super) fn judge(engine: &Engine, outcome: Outcome) -> Came {
    match outcome {
        Outcome::Ended(Ending::Complete) => Came::Counted,
        Outcome::Ended(_) => Came::Nothing,
        Outcome::Failed(failure, roots) => {
            let mut found = engine.explorer(|explorer| locate(explorer, failure, &roots));
            found.halt = engine.halted(&found.schedule);
            // It may have been reached by a way that seemed cheaper than it is.
            if !found.within {
                engine.explorer(|explorer| explorer.finish_beyond_bound());
                return Came::Nothing;
            }
            // A leak shows when the execution has been counted already.
            if found.failure.code() != "leak" {
                engine.explorer(|explorer| explorer.finish_failed());
            }
            Came::Hit(Box::new(found))
        }
        Outcome::Restart => Came::Restart,
    }
}

/// How far a search came that has explored, for 0, 1, … preemptions, so many executions in full, none of which fails.
pub(super) fn explored_in_full(fewer: &[u64]) -> String {
    match fewer.len() {
        0 => "not even all executions without preemptions".to_owned(),
        n => format!("nothing fails with at most {}", count(n as u64 - 1, "preemption")),
    }
}

/// An estimate as a person reads it.
pub(super) fn about(estimate: Estimate) -> String {
    let rounded = |number: f64| report::thousands(two_digits(number));
    format!("about {} executions (± {})", rounded(estimate.executions), rounded(estimate.error))
}

/// The number, rounded to two digits.
fn two_digits(number: f64) -> u64 {
    let scale = 10f64.powi((number.max(1.0).log10().floor() as i32 - 1).max(0));
    ((number / scale).round() * scale) as u64
}

/// What a way to draw executions is called in a report: as `INTERLEAVE_STRATEGY` has it.
pub(super) fn sampling_name(sampling: Sampling) -> String {
    match sampling {
        Sampling::Uniform => "uniform".to_owned(),
        Sampling::Pct { depth } => format!("pct:{depth}"),
        Sampling::Pos => "pos".to_owned(),
        Sampling::Portfolio => "portfolio".to_owned(),
    }
}

/// The schedule of a failing execution with the fewest preemptions.
pub(super) fn locate(explorer: &mut dpor::Explorer, failure: Failure, roots: &[EventId]) -> Hit {
    let everything = matches!(failure, Failure::Deadlock | Failure::Livelock) || failure.code() == "leak";
    if roots.is_empty() && !everything {
        let schedule = Schedule::default();
        let preemptions = Some(0);
        return Hit { failure, schedule, preemptions, interleaving: true, cost: 0, within: true, halt: None };
    }
    let bound = explorer.config().preemptions.unwrap_or(u32::MAX);
    let strong = explorer.witness(roots);
    // With stale reads, fewer preemptions may do.
    let weak = match &strong {
        Some((cost, _)) if *cost <= bound => None,
        _ => explorer.weak_witness(roots),
    };
    let within = weak.is_some() || strong.as_ref().is_some_and(|(cost, _)| *cost <= bound);
    let interleaving = weak.is_none();
    let (cost, order) = weak.or(strong).unwrap_or_default();
    let schedule = Schedule::of(explorer.graph(), &order);
    Hit { failure, schedule, preemptions: interleaving.then_some(cost), interleaving, cost, within, halt: None }
}
