//! The texts of the breaking-order table, before they are laid out.

use super::fold::{Row, separated};
use super::measure::fit;
use super::names::Names;
use super::style::{Glyphs, Style, Tone};
use super::trace::{Effect, Failure, Mark, Place, RacyAccess, ReadsFrom, Step, Trace};
use super::wait_for;

/// Columns of one value.
const VALUE: usize = 24;

/// A line of the table.
pub(crate) enum Line {
    /// What a thread does, or what was folded.
    Row(Cells),
    /// The thread that was preempted here.
    Preempted(usize),
}

/// The texts of a row.
pub(crate) struct Cells {
    /// The number of the step.
    pub(crate) number: Option<usize>,
    /// `+10s`, or nothing.
    pub(crate) time: String,
    /// One sign a thread.
    pub(crate) signs: Vec<Sign>,
    /// `n.load(Acquire)`.
    pub(crate) call: String,
    /// `→ 0`, `reads 6`: what the step did, in the order of printing.
    pub(crate) effects: Vec<(Tone, String)>,
    /// Where.
    pub(crate) place: Option<Place>,
    /// The thread that acts, if it is one.
    pub(crate) thread: Option<usize>,
}

impl Cells {
    /// What the column of `thread` shows.
    pub(crate) fn sign(&self, thread: usize) -> Sign {
        self.signs.get(thread).copied().unwrap_or(Sign::Mark(Mark::Absent))
    }
}

/// What a column shows in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// As the step says.
    Mark(Mark),
    /// Steps of this thread were folded here.
    Folded,
    /// Iterations of this thread were folded here.
    Again,
}

impl Sign {
    /// The glyph and its colour; none: blank.
    pub(crate) fn drawn(self, glyphs: &Glyphs) -> Option<(Tone, &'static str)> {
        match self {
            Sign::Mark(Mark::Absent) => None,
            Sign::Mark(Mark::Steps) => Some((Tone::Active, glyphs.steps)),
            Sign::Mark(Mark::CouldRun) => Some((Tone::Faint, glyphs.could_run)),
            Sign::Mark(Mark::Blocked) => Some((Tone::Faint, glyphs.blocked)),
            Sign::Mark(Mark::Fails) => Some((Tone::Bad, glyphs.fails)),
            Sign::Folded => Some((Tone::Faint, glyphs.folded)),
            Sign::Again => Some((Tone::Faint, glyphs.again)),
        }
    }
}

/// Writes the lines of a table.
pub(crate) struct Writer<'a> {
    trace: &'a Trace,
    names: &'a Names,
    style: &'a Style,
}

impl<'a> Writer<'a> {
    /// For `trace`.
    pub(crate) fn new(trace: &'a Trace, names: &'a Names, style: &'a Style) -> Self {
        Writer { trace, names, style }
    }

    /// The lines of `rows`, and those that the failure adds.
    pub(crate) fn lines(&self, rows: &[Row]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut races = self.accesses();
        let due = |races: &mut Vec<(usize, Cells)>, reached: usize| {
            let index = races.iter().position(|(after, _)| *after <= reached)?;
            Some(Line::Row(races.remove(index).1))
        };
        for row in rows {
            // A race is found at its second access, which comes last; the first is shown where its thread was then.
            if races.len() > 1 && races[0].0 <= row.first() {
                lines.extend(due(&mut races, row.first()));
            }
            if separated(self.trace, row) {
                lines.extend(self.trace.steps[row.first()].preempts.map(Line::Preempted));
            }
            lines.push(Line::Row(self.row(row)));
        }
        lines.extend(races.into_iter().map(|(_, cells)| Line::Row(cells)));
        lines.extend(self.end().map(Line::Row));
        lines
    }

    fn row(&self, row: &Row) -> Cells {
        match row {
            Row::Step(index) => self.step(*index),
            Row::Local(steps) => {
                let text = format!("{} {} local steps", self.style.glyphs().folded, steps.clone().count());
                self.folded(steps.clone(), Sign::Folded, text, Vec::new())
            }
            Row::Hidden(steps) => {
                let preemptions = steps.clone().filter(|index| self.trace.steps[*index].preempts.is_some()).count();
                let note = match preemptions {
                    0 => Vec::new(),
                    1 => vec![(Tone::Faint, "with 1 preemption".to_owned())],
                    n => vec![(Tone::Faint, format!("with {n} preemptions"))],
                };
                let text = format!("{} {} steps", self.style.glyphs().folded, steps.clone().count());
                self.folded(steps.clone(), Sign::Folded, text, note)
            }
            Row::Again { steps, period, same_values } => {
                let glyphs = self.style.glyphs();
                let times = steps.clone().count() / period;
                let text = format!("{} {}{times} until {}", glyphs.again, glyphs.times, steps.end() + 1);
                let what = match (period, same_values) {
                    (1, true) => "this step again".to_owned(),
                    (1, false) => "this step again, other values".to_owned(),
                    (n, true) => format!("these {n} steps again"),
                    (n, false) => format!("these {n} steps again, other values"),
                };
                self.folded(steps.clone(), Sign::Again, text, vec![(Tone::Faint, what)])
            }
        }
    }

    fn step(&self, index: usize) -> Cells {
        let step = &self.trace.steps[index];
        Cells {
            number: Some(index + 1),
            time: step.time.map_or_else(String::new, |time| format!("+{time:?}")),
            signs: step.marks.iter().map(|mark| Sign::Mark(*mark)).collect(),
            call: self.names.call(step),
            effects: self.effects(step),
            place: Some(step.site.clone()),
            thread: Some(step.thread),
        }
    }

    fn folded(
        &self,
        steps: std::ops::RangeInclusive<usize>,
        sign: Sign,
        call: String,
        effects: Vec<(Tone, String)>,
    ) -> Cells {
        let last = &self.trace.steps[*steps.end()];
        let mut signs: Vec<Sign> = last.marks.iter().map(|mark| Sign::Mark(*mark)).collect();
        for step in &self.trace.steps[steps] {
            signs[step.thread] = sign;
        }
        Cells { number: None, time: String::new(), signs, call, effects, place: None, thread: None }
    }

    fn effects(&self, step: &Step) -> Vec<(Tone, String)> {
        let done = self.effect(&step.effect).into_iter();
        let mut effects: Vec<_> = done.map(|text| (Tone::Strong, text)).collect();
        effects.extend(step.reads.into_iter().flat_map(read_from));
        effects.extend(step.overwrites.map(|step| (Tone::Faint, format!("overwrites {step}"))));
        effects
    }

    /// What an operation did: `0 → 1`.
    pub(crate) fn effect(&self, effect: &Effect) -> Option<String> {
        let arrow = self.style.glyphs().arrow;
        match effect {
            Effect::None => None,
            Effect::Read(value) => Some(format!("{arrow} {}", self.value(value))),
            Effect::Write { from, to } => Some(format!("{} {arrow} {}", self.value(from), self.value(to))),
            Effect::CasFailed { expected, new, was, spurious } => {
                let how = match spurious {
                    true => "failed spuriously".to_owned(),
                    false => format!("failed (was {})", self.value(was)),
                };
                Some(format!("CAS {}{arrow}{} {how}", self.value(expected), self.value(new)))
            }
            Effect::Text(text) => Some(self.text(text)),
        }
    }

    fn value(&self, value: &str) -> String {
        fit(&self.style.user(value), VALUE, self.style.glyphs().ellipsis)
    }

    fn text(&self, text: &str) -> String {
        fit(&self.style.user(text), 2 * VALUE, self.style.glyphs().ellipsis)
    }

    /// The accesses of a data race: they are no steps, as nothing orders them. With the number of steps before each.
    fn accesses(&self) -> Vec<(usize, Cells)> {
        let Failure::DataRace { object, first, second, .. } = &self.trace.failure else {
            return Vec::new();
        };
        let end = self.trace.steps.len();
        let describe = |access: &RacyAccess, after: usize, effect: &str| {
            let mut signs = self.signs_after(after.min(end));
            signs[access.thread] = Sign::Mark(Mark::Fails);
            let what = self.style.user(&access.what);
            let cells = Cells {
                number: None,
                time: String::new(),
                signs,
                call: format!("{what} {}", self.names.object(*object)),
                effects: vec![(Tone::Bad, effect.to_owned())],
                place: Some(access.site.clone()),
                thread: Some(access.thread),
            };
            (after, cells)
        };
        vec![describe(first, first.after_step, "first access"), describe(second, end, "not ordered after it")]
    }

    /// What the columns show after so many steps.
    fn signs_after(&self, steps: usize) -> Vec<Sign> {
        let Some(step) = steps.checked_sub(1).map(|index| &self.trace.steps[index]) else {
            let first = std::iter::once(Mark::CouldRun).chain(std::iter::repeat(Mark::Absent));
            return first.take(self.trace.threads.len()).map(Sign::Mark).collect();
        };
        let settle = |mark: &Mark| match mark {
            // The last step of a thread is its end.
            Mark::Steps | Mark::Fails if step.method == "end" => Mark::Absent,
            Mark::Steps | Mark::Fails => Mark::CouldRun,
            other => *other,
        };
        step.marks.iter().map(|mark| Sign::Mark(settle(mark))).collect()
    }

    /// The row of the failure itself, if no step is it.
    fn end(&self) -> Option<Cells> {
        let mut signs = self.signs_after(self.trace.steps.len());
        let row = |signs, call: &str, effect: String, place, thread| {
            Some(Cells {
                number: None,
                time: String::new(),
                signs,
                call: call.to_owned(),
                effects: vec![(Tone::Bad, effect)],
                place,
                thread,
            })
        };
        match &self.trace.failure {
            Failure::Panic { .. } if self.trace.steps.iter().any(|step| step.marks.contains(&Mark::Fails)) => None,
            Failure::Panic { thread, message, site } => {
                signs[*thread] = Sign::Mark(Mark::Fails);
                let mut cells =
                    row(signs, "panic", self.text(&panic_summary(message)), Some(site.clone()), Some(*thread))?;
                cells.number = Some(self.trace.steps.len() + 1);
                Some(cells)
            }
            Failure::Deadlock { waiters } => {
                waiters.iter().for_each(|waiter| signs[waiter.thread] = Sign::Mark(Mark::Blocked));
                let cycle = wait_for::cycle(waiters);
                let failing = waiters
                    .iter()
                    .map(|waiter| waiter.thread)
                    .filter(|thread| cycle.is_empty() || cycle.contains(thread));
                failing.for_each(|thread| signs[thread] = Sign::Mark(Mark::Fails));
                row(signs, "deadlock", "none can go on".to_owned(), None, None)
            }
            Failure::Livelock { waiters } => {
                waiters.iter().for_each(|waiter| signs[waiter.thread] = Sign::Mark(Mark::Fails));
                row(signs, "livelock", "nothing they read can change".to_owned(), None, None)
            }
            Failure::DataRace { .. } | Failure::Nondeterminism { .. } | Failure::Other { .. } => None,
        }
    }
}

/// What the row of a panic says: the details, or else the first line of the message.
fn panic_summary(message: &str) -> String {
    let details = panic_details(message);
    let fits = !details.is_empty() && details.chars().count() <= 2 * VALUE;
    if fits { details } else { message.trim_start().lines().next().unwrap_or("").trim_end().to_owned() }
}

/// What a panic message says after its first line, on one line: `left: 2, right: 1`.
pub(crate) fn panic_details(message: &str) -> String {
    message.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

fn read_from(reads: ReadsFrom) -> Vec<(Tone, String)> {
    let source = reads.step.map_or_else(|| "init".to_owned(), |step| step.to_string());
    let mut texts = vec![(Tone::Faint, format!("reads {source}"))];
    texts.extend(reads.stale.map(|newest| (Tone::Notable, format!("STALE (newest is {newest})"))));
    texts
}
