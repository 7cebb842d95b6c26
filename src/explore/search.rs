//! Which executions are run, and when to stop.

use std::time::Instant;

use dpor::{Ending, EventId, Schedule, Stats};

use super::Run;
use crate::builder::Builder;
use crate::engine::{Engine, Failure, Learnt, Outcome, hook};
use crate::fiber::{self, Abandoned};
use crate::report::{self, count};

/// Executions between two looks at the clock.
const CLOCK: u64 = 64;
/// A failing execution as it was found.
#[derive(Clone)]
pub(super) struct Hit {
    pub(super) failure: Failure,
    pub(super) schedule: Schedule,
    pub(super) preemptions: Option<u32>,
    /// An interleaving gives it.
    pub(super) interleaving: bool,
    /// Preemptions of the order in which it is run.
    pub(super) cost: u32,
}

/// What came of one exploration.
pub(super) struct Explored {
    pub(super) stats: Stats,
    pub(super) hit: Option<Hit>,
    pub(super) cut: Vec<String>,
    pub(super) learnt: Vec<Learnt>,
    pub(super) met: bool,
    /// Budgets that could be drawn on, by bit.
    pub(super) offered: u8,
}

/// What limits an exploration.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) executions: Option<u64>,
    pub(super) until: Option<Instant>,
}

impl Run<'_> {
    /// Explores, bound by bound if there is one. Also returns how many executions have fewer preemptions than the failure.
    pub(super) fn search(&self, builder: &Builder) -> Result<(Explored, Vec<u64>), Abandoned> {
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
            self.watchers.enter("bounded", Some(preemptions), None);
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
    pub(super) fn run(
        &self,
        builder: &Builder,
        config: dpor::Config,
        limits: Limits,
        learnt: &[Learnt],
    ) -> Result<Explored, Abandoned> {
        let work = || {
            let _hook = hook::install();
            self.note_for_crashes();
            let engine = Engine::new(config.clone(), builder.stack_size, builder.panics, None);
            engine.know(learnt);
            engine.run(|| self.loop_over(&engine, &config, limits))
        };
        // SAFETY: 1. What `work` borrows mutably: nothing. 2. Locks it may have held: those of the program's own types, which
        // the program shares with an abandoned thread at its own risk, as the report says.
        unsafe { fiber::run_on_worker(Some(&self.test), work) }
    }

    /// What a signal that ends the process says.
    pub(super) fn note_for_crashes(&self) {
        fiber::with_note(|note| {
            note.truncate(0);
            note.push(format!("  the model: {:?}", self.test).as_bytes());
        });
    }

    fn loop_over(&self, engine: &Engine, config: &dpor::Config, limits: Limits) -> Explored {
        let mut cut = Vec::new();
        let mut hit = None;
        let mut runs = 0u64;
        let mut told = 0;
        while let Some(outcome) = engine.next(self.body, self.site) {
            runs += 1;
            if runs.is_multiple_of(CLOCK) {
                let done = engine.explorer(|e| e.stats().executions);
                self.watchers.advance(done - told);
                told = done;
                if limits.until.is_some_and(|until| Instant::now() >= until) && !matches!(outcome, Outcome::Failed(..))
                {
                    cut.push("stopped by the time limit".to_owned());
                    break;
                }
            }
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
                Outcome::Restart => {
                    engine.restart(config.clone());
                    told = 0;
                }
            }
        }
        let stats = engine.explorer(|e| *e.stats());
        self.watchers.advance(stats.executions - told);
        if stats.spin_cut > 0 {
            cut.push(format!("spin budget cut {}", report::thousands(stats.spin_cut)));
        }
        let met = engine.explorer(|e| e.threads_met());
        Explored { stats, hit, cut, learnt: engine.learnt(), met, offered: engine.offered() }
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
