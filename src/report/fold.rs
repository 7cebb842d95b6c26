//! Which steps are printed: folds what cannot matter, then what fits least.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::trace::{Failure, Mark, Step, Trace};

/// A line of the table (and the separator above it, if its first step preempts somebody). Steps by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// A step.
    Step(usize),
    /// Steps of one thread on objects that nobody else touches.
    Local(RangeInclusive<usize>),
    /// Further iterations of the steps printed right above it.
    Again {
        /// All of them.
        steps: RangeInclusive<usize>,
        /// Steps in an iteration.
        period: usize,
        /// Whether they read and wrote what the first iteration did.
        same_values: bool,
    },
    /// Steps left out to keep the report short.
    Hidden(RangeInclusive<usize>),
}

impl Row {
    /// The first step of the row.
    pub(crate) fn first(&self) -> usize {
        match self {
            Row::Step(step) => *step,
            Row::Local(steps) | Row::Hidden(steps) | Row::Again { steps, .. } => *steps.start(),
        }
    }

    /// The last step of the row.
    pub(crate) fn last(&self) -> usize {
        match self {
            Row::Step(step) => *step,
            Row::Local(steps) | Row::Hidden(steps) | Row::Again { steps, .. } => *steps.end(),
        }
    }
}

/// Fewer steps in a row than this are not folded: the fold would say less than they do.
const LOCAL: usize = 4;
const ITERATIONS: usize = 3;
const PERIOD: usize = 12;

/// More steps than this are not kept from being folded.
const NOTABLE: usize = 40;

/// The rows of `trace` in at most `lines` lines, separators included.
pub(crate) fn fold(trace: &Trace, lines: usize) -> Vec<Row> {
    let notable = notable(trace);
    let keep: BTreeSet<usize> = notable.iter().copied().collect();
    let rows = fold_local(trace, &keep, fold_iterations(trace, &keep));
    if height(trace, &rows) <= lines {
        return rows;
    }
    // A third of the lines for what the explanation names, the rest for the end of the story.
    let mut named = notable.len().min(lines / 3);
    loop {
        let tail = (0..=lines).rev().find_map(|tail| {
            let short = hide(&rows, &notable[..named].iter().copied().collect(), tail);
            (height(trace, &short) <= lines).then_some(short)
        });
        match tail {
            Some(short) => return short,
            None if named == 0 => return hide(&rows, &BTreeSet::new(), 1),
            None => named /= 2,
        }
    }
}

/// The lines that `rows` take.
fn height(trace: &Trace, rows: &[Row]) -> usize {
    rows.len() + rows.iter().filter(|row| separated(trace, row)).count()
}

/// Whether a preemption separator stands above the row.
pub(crate) fn separated(trace: &Trace, row: &Row) -> bool {
    trace.steps[row.first()].preempts.is_some() && !matches!(row, Row::Hidden(_))
}

/// The steps that the explanation names, the most important first, as far as a reader could follow them.
fn notable(trace: &Trace) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut add = |step: Option<usize>| {
        let index = step.and_then(|step| step.checked_sub(1)).filter(|index| *index < trace.steps.len());
        found.extend(index.filter(|index| !found.contains(index)));
    };
    match &trace.failure {
        Failure::Deadlock { waiters } | Failure::Livelock { waiters } => {
            for waiter in waiters {
                waiter.waits_for.iter().for_each(|(_, step)| add(*step));
                add(waiter.last_signal);
                add(trace.steps.iter().rposition(|step| step.thread == waiter.thread).map(|index| index + 1));
            }
        }
        Failure::DataRace { first, second, .. } => {
            [first, second].iter().for_each(|access| add(Some(access.after_step)))
        }
        Failure::Panic { .. } | Failure::Nondeterminism { .. } | Failure::Other { .. } => {}
    }
    for (index, step) in trace.steps.iter().enumerate().filter(|(_, step)| is_notable(step)).take(NOTABLE) {
        add(Some(index + 1));
        add(step.reads.and_then(|reads| reads.stale));
        add(step.reads.and_then(|reads| reads.step));
    }
    found.truncate(NOTABLE);
    found
}

fn is_notable(step: &Step) -> bool {
    step.marks.contains(&Mark::Fails) || step.reads.is_some_and(|reads| reads.stale.is_some())
}

/// All steps as rows, the iterations of loops after their first folded.
fn fold_iterations(trace: &Trace, keep: &BTreeSet<usize>) -> Vec<Row> {
    let steps = &trace.steps;
    let mut rows = Vec::new();
    let mut at = 0;
    while at < steps.len() {
        let repeated = (1..=PERIOD).find_map(|period| Some((period, repeats(steps, keep, at, period)?)));
        let Some((period, more)) = repeated else {
            rows.push(Row::Step(at));
            at += 1;
            continue;
        };
        rows.extend((at..at + period).map(Row::Step));
        let folded = at + period..=at + period * (more + 1) - 1;
        let same_values = folded.clone().all(|index| steps[index].effect == steps[index - period].effect);
        at = folded.end() + 1;
        rows.push(Row::Again { steps: folded, period, same_values });
    }
    rows
}

/// How many more times the `period` steps from `at` on are repeated right after, if it is worth a fold.
fn repeats(steps: &[Step], keep: &BTreeSet<usize>, at: usize, period: usize) -> Option<usize> {
    let alike = |index: usize| {
        let (now, before) = (&steps[index], &steps[index - period]);
        (now.thread, now.object, now.method, now.preempts)
            == (before.thread, before.object, before.method, before.preempts)
            && now.site == before.site
            && !keep.contains(&index)
    };
    let matching = (at + period..steps.len()).take_while(|index| alike(*index)).count();
    let more = matching / period;
    (more >= ITERATIONS && more * period >= LOCAL).then_some(more)
}

/// Folds runs of steps on objects that only one thread touches.
fn fold_local(trace: &Trace, keep: &BTreeSet<usize>, rows: Vec<Row>) -> Vec<Row> {
    let local = local_objects(trace);
    let steps = &trace.steps;
    let foldable = |row: &Row| match row {
        Row::Step(index) => !keep.contains(index) && steps[*index].object.is_some_and(|object| local[object]),
        _ => false,
    };
    let mut out: Vec<Row> = Vec::new();
    let mut run: Vec<Row> = Vec::new();
    for row in rows {
        let step = &steps[row.first()];
        let continues =
            run.last().is_some_and(|last| steps[last.first()].thread == step.thread && step.preempts.is_none());
        let joins = foldable(&row);
        if !joins || !continues {
            close(&mut out, &mut run);
        }
        if joins { run.push(row) } else { out.push(row) }
    }
    close(&mut out, &mut run);
    out
}

fn close(out: &mut Vec<Row>, run: &mut Vec<Row>) {
    match (run.first(), run.last()) {
        (Some(first), Some(last)) if run.len() >= LOCAL => out.push(Row::Local(first.first()..=last.first())),
        _ => out.append(run),
    }
    run.clear();
}

/// For each object, whether only one thread touches it (or waits for it).
fn local_objects(trace: &Trace) -> Vec<bool> {
    let mut owner: Vec<Option<usize>> = vec![None; trace.objects.len()];
    let mut local = vec![true; trace.objects.len()];
    for step in &trace.steps {
        let Some(object) = step.object else { continue };
        local[object] &= *owner[object].get_or_insert(step.thread) == step.thread;
    }
    match &trace.failure {
        Failure::Deadlock { waiters } | Failure::Livelock { waiters } => {
            waiters.iter().filter_map(|waiter| waiter.object).for_each(|object| local[object] = false);
        }
        Failure::DataRace { object, .. } => local[*object] = false,
        Failure::Panic { .. } | Failure::Nondeterminism { .. } | Failure::Other { .. } => {}
    }
    local
}

/// Keeps the last `tail` rows and those of the `named` steps.
fn hide(rows: &[Row], named: &BTreeSet<usize>, tail: usize) -> Vec<Row> {
    let cut = rows.len().saturating_sub(tail);
    let mut out: Vec<Row> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let kept = index >= cut || named.range(row.first()..=row.last()).next().is_some();
        match out.last_mut() {
            _ if kept => out.push(row.clone()),
            Some(Row::Hidden(steps)) => *steps = *steps.start()..=row.last(),
            _ => out.push(Row::Hidden(row.first()..=row.last())),
        }
    }
    out
}
