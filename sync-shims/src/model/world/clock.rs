//! The clock: one object, whose state is the time since the start of the execution in nanoseconds.
//!
//! It moves only when somebody could be late. A thread that sleeps, or whose timeout is over, moves it to the end of its time:
//! whatever the others have done by then, they were that slow. A thread that looks at the clock may find that it has come to a
//! deadline that the thread can know of: one that was computed (`Instant + Duration`) by itself, or by another thread before
//! something that it has seen. That it finds this early, with nobody waiting, is a choice that costs [`Budget::Clock`]. A loop
//! that looks at the clock and yields waits for the next deadline as well as one that sleeps.
//!
//! As long as nobody looks at the clock it does not matter, and is no object at all: the first look starts the exploration
//! again ([`Controller::counts`]).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dpor::{Budget, Outcome, Outcomes, ThreadId};

use super::call::{Call, Halt, Object, Patience, Step, Sys};
use super::entry::look;
use crate::model::controller::Controller;
use crate::model::event::Site;

/// The clock of an execution, and what its threads know of it.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    object: Option<Arc<Object>>,
    threads: HashMap<ThreadId, Known>,
}

/// What one thread has computed and seen.
#[derive(Debug, Default)]
struct Known {
    /// Deadlines, with how far the thread was when it computed them.
    deadlines: Vec<(u64, u64)>,
    /// The latest time it has seen.
    seen: u64,
    /// How often it has come round a loop with nothing to wait for but the clock.
    rounds: u32,
    /// It has looked at the clock since it last came round a loop.
    looked: bool,
    /// Where it last looked, how many operations it had performed then, and how often in a row it has looked there and done
    /// nothing else.
    last: Option<Site>,
    performed: u64,
    repeated: u32,
}

/// The first time that a loop without a deadline lets pass; each later one is ten times as long.
const FIRST_ROUND: u64 = 1_000;

/// A thread that has looked so often at the same place again, and done nothing else, is in a loop.
const IN_A_ROW: u32 = 2;

/// The clock moves to one of `args` that is later, or stays, as it does for the canonical outcome.
fn glance(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(state));
    for deadline in args {
        if deadline > state {
            out.push(Outcome::write(deadline, deadline).costs(Budget::Clock));
        }
    }
}

/// As [`glance`], further on: what it costs has been paid.
fn glance_on(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(state));
    for deadline in args {
        if deadline > state {
            out.push(Outcome::write(deadline, deadline));
        }
    }
}

/// The clock is at `args[0]` now, or later.
fn advance(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if args[0] > state { Outcome::write(args[0], args[0]) } else { Outcome::read(state) });
}

/// A time as reports show it.
pub(crate) fn shown(nanoseconds: u64) -> String {
    format!("+{:?}", Duration::from_nanos(nanoseconds))
}

/// The place that stands for "somebody looks at the clock".
fn somebody_looks() -> Site {
    std::panic::Location::caller()
}

/// Whether the clock of this exploration matters.
pub(crate) fn matters(controller: &dyn Controller) -> bool {
    controller.counts(somebody_looks())
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn object(call: Call<'_>) -> Sys<Arc<Object>> {
    let site = call.site();
    Ok(call.tables(|tables| {
        let new = || Arc::new(Object::new(0, site).named(format_args!("the clock")));
        tables.clock.object.get_or_insert_with(new).clone()
    })?)
}

/// Uses what the running thread knows.
fn known<R>(call: Call<'_>, f: impl FnOnce(&mut Known) -> R) -> Sys<R> {
    let thread = call.thread();
    Ok(call.tables(|tables| f(tables.clock.threads.entry(thread).or_default()))?)
}

/// A step at the clock, after which the thread has seen the time that is its result.
fn act(call: Call<'_>, step: &'static Step, args: [u64; 2], patience: Patience) -> Sys<u64> {
    let time = call.act_within(&*object(call)?, step, args, patience)?;
    if call.controller().wrote() {
        call.controller().time(Duration::from_nanos(time));
    }
    known(call, |known| known.seen = known.seen.max(time))?;
    Ok(time)
}

/// The time since the start of the execution, for somebody who looks.
pub(crate) fn now(call: Call<'_>) -> Sys<Duration> {
    static NOW: Step = Step::new("Instant", "now", glance).shows(shown);
    static ON: Step = Step::new("Instant", "now", glance_on).shows(shown);
    let controller = call.controller();
    if !matters(controller) {
        controller.count_from_now_on(somebody_looks());
        return Err(Halt::Inert);
    }
    let again = known(call, |known| {
        let again = known.performed == controller.performed() && known.last == Some(call.site());
        known.repeated = if again { known.repeated + 1 } else { 0 };
        known.last = Some(call.site());
        known.looked = true;
        known.repeated >= IN_A_ROW
    })?;
    if again {
        // A loop without a `yield_now`.
        pass(call)?;
    }
    let ahead = deadlines(call)?;
    let mut time = 0;
    for (index, pair) in ahead.chunks(2).enumerate() {
        let args = [pair[0], pair.get(1).copied().unwrap_or(0)];
        controller.offers(Budget::Clock);
        time = act(call, if index == 0 { &NOW } else { &ON }, args, Patience::Unlimited)?;
        if !controller.wrote() || time != pair[pair.len() - 1] {
            break;
        }
    }
    if ahead.is_empty() {
        time = act(call, &NOW, [0, 0], Patience::Unlimited)?;
    }
    known(call, |known| known.performed = controller.performed())?;
    Ok(Duration::from_nanos(time))
}

/// A deadline has been computed.
pub(crate) fn deadline(call: Call<'_>, at: Duration) -> Sys<()> {
    let position = call.controller().position();
    known(call, |known| known.deadlines.push((position, nanoseconds(at))))
}

/// The deadlines that the running thread can know of and has not seen go by, in order.
fn deadlines(call: Call<'_>) -> Sys<Vec<u64>> {
    let (me, controller) = (call.thread(), call.controller());
    let mut ahead: Vec<u64> = call.tables(|tables| {
        let seen = tables.clock.threads.get(&me).map_or(0, |known| known.seen);
        let of = |(thread, known): (&ThreadId, &Known)| {
            let (thread, list) = (*thread, known.deadlines.clone());
            list.into_iter()
                .filter(move |(position, _)| thread == me || controller.has_seen(thread, *position))
                .map(|(_, deadline)| deadline)
                .filter(move |deadline| *deadline > seen)
                .collect::<Vec<_>>()
        };
        tables.clock.threads.iter().flat_map(of).collect()
    })?;
    ahead.sort_unstable();
    ahead.dedup();
    Ok(ahead)
}

/// The clock moves to the next deadline, or, if there is none, by a time that grows from round to round.
fn pass(call: Call<'_>) -> Sys<()> {
    static PASS: Step = Step::new("clock", "time passes", advance).shows(shown);
    let (seen, rounds) = known(call, |known| {
        known.rounds += 1;
        (known.seen, known.rounds)
    })?;
    let next = deadlines(call)?.first().copied();
    let to = next.unwrap_or_else(|| seen.saturating_add(FIRST_ROUND.saturating_mul(10u64.saturating_pow(rounds - 1))));
    act(call, &PASS, [to, 0], Patience::Limited)?;
    Ok(())
}

/// A loop has come round (`yield_now`, `spin_loop`). If it waits for the clock, time passes: the result says so.
pub(crate) fn came_round(call: Call<'_>) -> Sys<bool> {
    if !matters(call.controller()) || !known(call, |known| std::mem::take(&mut known.looked))? {
        return Ok(false);
    }
    pass(call)?;
    Ok(true)
}

/// A wait that ends by itself after a time.
#[derive(Debug)]
pub(crate) struct Timer {
    /// `None` if nobody looks at the clock.
    end: Option<u64>,
}

impl Timer {
    /// Starts now.
    pub(crate) fn start(call: Call<'_>, duration: Duration) -> Sys<Timer> {
        static START: Step = Step::new("clock", "starts to wait", look).shows(shown);
        if !matters(call.controller()) {
            return Ok(Timer { end: None });
        }
        let now = act(call, &START, [0, 0], Patience::Unlimited)?;
        Ok(Timer { end: Some(now.saturating_add(nanoseconds(duration))) })
    }

    #[cfg(any(feature = "parking_lot", feature = "crossbeam"))]
    /// Ends at this time since the start of the execution.
    pub(crate) fn until(call: Call<'_>, end: Duration) -> Timer {
        Timer { end: matters(call.controller()).then(|| nanoseconds(end)) }
    }

    #[cfg(feature = "crossbeam")]
    /// When it ends, as the time since the start of the execution, if anybody looks at the clock.
    pub(crate) fn end(&self) -> Option<Duration> {
        self.end.map(Duration::from_nanos)
    }

    /// Looks whether the time is over. If nobody looks at the clock it is not.
    pub(crate) fn is_over(&self, call: Call<'_>) -> Sys<bool> {
        static IS_OVER: Step = Step::new("clock", "is it time", look).shows(shown);
        let Some(end) = self.end else { return Ok(false) };
        Ok(act(call, &IS_OVER, [0, 0], Patience::Unlimited)? >= end)
    }

    /// The time is over. Whether somebody looks at the clock, so that it moves.
    pub(crate) fn over(&self, call: Call<'_>) -> Sys<bool> {
        static OVER: Step = Step::new("clock", "time is over", advance).shows(shown);
        if let Some(end) = self.end {
            act(call, &OVER, [end, 0], Patience::Limited)?;
        }
        Ok(self.end.is_some())
    }
}
