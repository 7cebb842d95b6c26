//! Several workers explore one model: OS threads with engines of their own, which share nothing but work.
//!
//! Work is in *segments*: what one item of work has led to, in the order in which one worker would have run it. A worker that
//! others wait for gives away the last alternative of its segment, which becomes a segment of its own, right after it. So the
//! segments are in the order of a search by one worker, and a failure is told as that one would have told it: the first one in
//! that order counts, and of the executions those up to it. What comes after it is given up, what comes before is finished.

use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use dpor::{Stats, WorkItem};

use super::Run;
use super::auto::{difference, sum};
use super::search::{CLOCK, Came, Explored, Hit, Job, judge};
use crate::builder::Builder;
use crate::engine::{Engine, Learnt, hook};
use crate::fiber::{self, Abandoned};
use crate::report::{self, count};

/// Where a segment begins.
#[derive(Debug)]
pub(super) enum Start {
    /// With the first execution of the model.
    Root,
    /// With work that was set apart.
    Item(Box<WorkItem>),
}

/// What has been explored of one segment.
#[derive(Debug, Default)]
struct Segment {
    stats: Stats,
    hit: Option<Hit>,
    /// The number of the starting point that it comes from.
    origin: usize,
}

/// What the workers share.
struct Shared<'a> {
    state: Mutex<State>,
    changed: Condvar,
    /// Workers that wait for work, less the segments that wait for workers.
    hungry: AtomicIsize,
    /// Everybody is to stop.
    over: AtomicBool,
    /// How often a failure was found: then everybody looks whether what he does still matters.
    failures: AtomicUsize,
    /// Executions, if their number is limited.
    done: AtomicU64,
    finished: &'a (dyn Fn(usize, Stats) + Sync),
}

#[derive(Default)]
struct State {
    waiting: Vec<(usize, Start)>,
    segments: Vec<Segment>,
    /// The numbers of segments in the order of a search by one worker.
    order: Vec<usize>,
    /// Segments of each starting point that are not finished.
    unfinished: Vec<usize>,
    busy: usize,
    idle: usize,
    cut: Option<String>,
    met: bool,
    offered: u8,
    learnt: Vec<Learnt>,
    restart: bool,
    /// The model uses `static`s, which workers cannot share.
    alone: bool,
}

impl State {
    fn place(&self, segment: usize) -> usize {
        self.order.iter().position(|other| *other == segment).expect("every segment has a place")
    }

    /// The place of the first segment that fails.
    fn first_failure(&self) -> Option<usize> {
        self.order.iter().position(|segment| self.segments[*segment].hit.is_some())
    }

    fn add(&mut self, place: usize, origin: usize, start: Start) {
        let segment = self.segments.len();
        self.segments.push(Segment { origin, ..Segment::default() });
        self.order.insert(place, segment);
        self.unfinished[origin] += 1;
        self.waiting.push((segment, start));
    }
}

/// How an exploration by workers ended.
pub(super) enum Ended {
    Explored(Box<Explored>),
    /// It has to begin anew with what was learnt.
    Restart(Vec<Learnt>),
    /// Only one worker can explore this model.
    Alone,
}

impl Run<'_> {
    /// Explores all that comes from `starts`. `finished` is told which of them is, and what came of it.
    pub(super) fn run_by_workers(
        &self,
        builder: &Builder,
        job: &Job,
        learnt: &[Learnt],
        starts: Vec<Start>,
        finished: &(dyn Fn(usize, Stats) + Sync),
    ) -> Result<Ended, Abandoned> {
        let mut state = State { unfinished: vec![0; starts.len()], learnt: learnt.to_vec(), ..State::default() };
        for (origin, start) in starts.into_iter().enumerate() {
            state.add(origin, origin, start);
        }
        // The first is taken first.
        state.waiting.reverse();
        let shared = Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            hungry: AtomicIsize::new(0),
            over: AtomicBool::new(false),
            failures: AtomicUsize::new(0),
            done: AtomicU64::new(0),
            finished,
        };
        let results: Vec<Result<(), Abandoned>> = std::thread::scope(|scope| {
            let spawn = |_| scope.spawn(|| self.work(builder, job, learnt, &shared));
            let workers: Vec<_> = (0..builder.workers).map(spawn).collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
            };
            workers.into_iter().map(join).collect()
        });
        results.into_iter().collect::<Result<(), Abandoned>>()?;
        Ok(shared.into_result())
    }

    /// One worker, from its first item to its last.
    fn work(&self, builder: &Builder, job: &Job, learnt: &[Learnt], shared: &Shared<'_>) -> Result<(), Abandoned> {
        let work = || {
            let _hook = hook::install();
            let engine = self.engine(builder, job.config.clone(), learnt, None);
            if builder.workers > 1 {
                engine.share();
            }
            engine.run(|| {
                while let Some((segment, start)) = shared.take() {
                    self.explore_segment(&engine, job, shared, segment, start);
                    shared.leave();
                }
            });
            let mut state = shared.lock();
            for (site, facts) in engine.learnt() {
                match state.learnt.iter_mut().find(|(at, _)| *at == site) {
                    Some((_, known)) => *known |= facts,
                    None => state.learnt.push((site, facts)),
                }
            }
            state.offered |= engine.offered();
        };
        // SAFETY: as in `run_alone`.
        let result = unsafe { fiber::run_on_worker(Some(&self.test), builder.max_pause, work) };
        if result.is_err() {
            shared.stop(None);
        }
        result
    }

    fn explore_segment(&self, engine: &Engine, job: &Job, shared: &Shared<'_>, segment: usize, start: Start) {
        let before = engine.explorer(|explorer| {
            if let Start::Item(item) = start {
                explorer.adopt(*item);
            }
            *explorer.stats()
        });
        let (mut hit, mut runs, mut told, mut uncounted) = (None, 0u64, before.executions, 0);
        let mut failures = 0;
        let mut complete = false;
        loop {
            if shared.over.load(Ordering::Relaxed) {
                break;
            }
            let seen = shared.failures.load(Ordering::Relaxed);
            if seen != failures {
                failures = seen;
                if shared.comes_too_late(segment) {
                    break;
                }
            }
            let Some(outcome) = engine.next(self.body, self.site) else {
                complete = !engine.explorer(|explorer| explorer.is_out_of_time());
                if !complete {
                    shared.stop(Some("stopped by the time limit".to_owned()));
                }
                break;
            };
            runs += 1;
            match judge(engine, outcome) {
                Came::Hit(found) => {
                    hit = Some(*found);
                    break;
                }
                Came::Restart => {
                    shared.restart(engine.met_static());
                    break;
                }
                Came::Counted => {
                    if let Some(most) = job.limits.executions {
                        let done = shared.done.fetch_add(1, Ordering::Relaxed) + 1;
                        uncounted += u64::from(done > most);
                        if done >= most {
                            shared.stop(Some(format!("stopped after {}", count(most, "execution"))));
                            break;
                        }
                    }
                }
                Came::Nothing => {}
            }
            if runs.is_multiple_of(CLOCK) {
                let done = engine.explorer(|explorer| explorer.stats().executions);
                self.watchers.advance(done - told);
                told = done;
                if job.limits.until.is_some_and(|until| Instant::now() >= until) {
                    shared.stop(Some("stopped by the time limit".to_owned()));
                    break;
                }
            }
            if shared.hungry.load(Ordering::Relaxed) > 0 {
                let item = engine.explorer(|explorer| {
                    // The last one is no gift: the giver would be the next to wait.
                    if explorer.waiting() > 1 && !explorer.is_probing() { explorer.split() } else { None }
                });
                item.into_iter().for_each(|item| shared.give(segment, item));
            }
        }
        let mut stats = engine.explorer(|explorer| difference(*explorer.stats(), before));
        self.watchers.advance(before.executions + stats.executions - told);
        stats.executions -= uncounted;
        let met = engine.explorer(|explorer| explorer.threads_met());
        if !complete {
            // What is left of it is nobody's.
            engine.restart(job.config.clone());
        }
        shared.end(segment, Segment { stats, hit, origin: 0 }, met, complete);
    }
}

impl Shared<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The next segment to explore; `None` when there will be none.
    fn take(&self) -> Option<(usize, Start)> {
        let mut state = self.lock();
        let mut waits = false;
        loop {
            let over = self.over.load(Ordering::Relaxed);
            if !over && let Some(taken) = state.waiting.pop() {
                if state.first_failure().is_some_and(|first| state.place(taken.0) > first) {
                    continue;
                }
                state.busy += 1;
                state.idle -= usize::from(waits);
                self.tell_hunger(&state);
                return Some(taken);
            }
            if over || state.busy == 0 {
                self.over.store(true, Ordering::Relaxed);
                self.changed.notify_all();
                return None;
            }
            if !waits {
                waits = true;
                state.idle += 1;
                self.tell_hunger(&state);
            }
            state = self.changed.wait(state).unwrap_or_else(|e| e.into_inner());
        }
    }

    fn tell_hunger(&self, state: &State) {
        self.hungry.store(state.idle as isize - state.waiting.len() as isize, Ordering::Relaxed);
    }

    /// The worker is done with what it took.
    fn leave(&self) {
        let mut state = self.lock();
        state.busy -= 1;
        if state.busy == 0 {
            self.changed.notify_all();
        }
    }

    /// Adds a segment right after the one that it was part of.
    fn give(&self, giver: usize, item: WorkItem) {
        let mut state = self.lock();
        let place = state.place(giver) + 1;
        let origin = state.segments[giver].origin;
        state.add(place, origin, Start::Item(Box::new(item)));
        self.tell_hunger(&state);
        self.changed.notify_one();
    }

    /// A segment is finished, or given up.
    fn end(&self, segment: usize, came: Segment, met: bool, complete: bool) {
        let mut state = self.lock();
        state.met |= met;
        let failed = came.hit.is_some();
        let origin = state.segments[segment].origin;
        state.segments[segment] = Segment { origin, ..came };
        if failed {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        if complete && !failed {
            state.unfinished[origin] -= 1;
            if state.unfinished[origin] == 0 {
                let parts = state.segments.iter().filter(|part| part.origin == origin);
                let total = parts.fold(Stats::default(), |total, part| sum(total, part.stats));
                (self.finished)(origin, total);
            }
        }
    }

    /// Whether a segment comes after one that fails.
    fn comes_too_late(&self, segment: usize) -> bool {
        let state = self.lock();
        state.first_failure().is_some_and(|first| state.place(segment) > first)
    }

    fn stop(&self, why: Option<String>) {
        let mut state = self.lock();
        state.cut = state.cut.take().or(why);
        self.over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn restart(&self, alone: bool) {
        let mut state = self.lock();
        state.restart = true;
        state.alone |= alone;
        self.over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn into_result(self) -> Ended {
        let state = self.state.into_inner().unwrap_or_else(|e| e.into_inner());
        if state.alone {
            return Ended::Alone;
        }
        if state.restart {
            return Ended::Restart(state.learnt);
        }
        let last = state.first_failure();
        let counts = &state.order[..last.map_or(state.order.len(), |last| last + 1)];
        let stats = counts.iter().fold(Stats::default(), |total, segment| sum(total, state.segments[*segment].stats));
        let hit = last.and_then(|last| state.segments[state.order[last]].hit.clone());
        let mut cut: Vec<String> = state.cut.into_iter().filter(|_| hit.is_none()).collect();
        if stats.spin_cut > 0 {
            cut.push(format!("spin budget cut {}", report::thousands(stats.spin_cut)));
        }
        let State { met, offered, learnt, .. } = state;
        let rest = Explored::default();
        Ended::Explored(Box::new(Explored { stats, hit, cut, learnt, met, offered, ..rest }))
    }
}
