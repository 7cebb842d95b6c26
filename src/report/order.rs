//! The layout of the breaking-order table.
//!
//! ```text
//!   step  main  inc-1    n.load(Acquire)   → 0   reads init        src/counter.rs:9:24
//!   ^^^^  ^^^^^^^^^^^    ^^^^^^^^^^^^^^^   ^^^^^^^^^^^^^^^^        ^^^^^^^^^^^^^^^^^^^
//!   number  columns      call              effects                 place, at the right edge
//! ```

use super::columns::{Column, Columns};
use super::fold::Row;
use super::measure::{clip, fit, pad, width, wrap_items};
use super::names::Names;
use super::rows::{Cells, Line, Writer};
use super::source::{brief, fitted, shown};
use super::style::{Style, Tone};
use super::trace::{Failure, Place, Trace};

/// In front of the step numbers.
const INDENT: usize = 2;
/// Between the thread columns and the call, between the parts of a row, in front of the place.
const GUTTER: usize = 2;
const PART: usize = 3;
const BEFORE_PLACE: usize = 2;
/// A place that is shortened further says nothing.
const PLACE: usize = 8;
/// Places keep so much if they can, at the cost of the names of threads.
const GOOD_PLACE: usize = 20;
/// A row is broken rather than to shorten its place further than this.
const ENOUGH_PLACE: usize = 14;
/// Lines that say what numbers stand for.
const KEY_LINES: usize = 3;
/// Calls that are longer than this do not push the effects of all rows to the right.
const CALL: usize = 30;

/// The table for `rows`, one string a line.
pub(crate) fn table(trace: &Trace, rows: &[Row], names: &Names, style: &Style) -> Vec<String> {
    let lines = Writer::new(trace, names, style).lines(rows);
    let layout = Layout::new(trace, &lines, names, style);
    let mut out = layout.title();
    out.push(String::new());
    out.extend(layout.heads());
    for line in &lines {
        match line {
            Line::Row(cells) => out.extend(layout.row(cells)),
            Line::Preempted(thread) => out.push(layout.separator(*thread)),
        }
    }
    out.extend(layout.keys(trace));
    out
}

struct Layout<'a> {
    names: &'a Names,
    style: &'a Style,
    edge: usize,
    number: usize,
    /// 0 if the clock does not move.
    time: usize,
    columns: Columns,
    call: usize,
}

impl<'a> Layout<'a> {
    fn new(trace: &Trace, lines: &[Line], names: &'a Names, style: &'a Style) -> Self {
        let cells: Vec<&Cells> =
            lines.iter().filter_map(|line| if let Line::Row(cells) = line { Some(cells) } else { None }).collect();
        let call = cells.iter().map(|cells| width(&cells.call)).filter(|call| *call <= CALL).max().unwrap_or(0);
        let number = width(&trace.steps.len().to_string()).max(4);
        let time = cells.iter().map(|cells| width(&cells.time)).max().unwrap_or(0);
        let time = if time == 0 { 0 } else { time.max(4) };
        let usual = |of: &dyn Fn(&Cells) -> usize| {
            // A few long rows are broken rather than to squeeze the columns of all.
            let mut widths: Vec<usize> = cells.iter().map(|cells| of(cells)).collect();
            widths.sort_unstable();
            widths.get(widths.len() * 4 / 5).copied().unwrap_or(0)
        };
        let text = usual(&|cells| call.max(width(&cells.call)) + effects_width(cells));
        let place = usual(&|cells| cells.place.as_ref().map_or(0, |place| width(&shown(place)).min(GOOD_PLACE)));
        let before = number + if time == 0 { 0 } else { 2 + time };
        let rest = INDENT + before + 2 + GUTTER + text + BEFORE_PLACE + place;
        let room = style.width.saturating_sub(rest).max(style.width / 4);
        let columns = Columns::new(&shown_threads(trace), names, room, style.width * 2 / 5, style);
        Layout { names, style, edge: style.width, number, time, columns, call }
    }

    /// `the breaking order      ( ● step   │ could run … )`.
    fn title(&self) -> Vec<String> {
        let glyphs = self.style.glyphs();
        let legend = format!(
            "( {} step   {} could run   {} blocked   {} failed here )",
            glyphs.steps, glyphs.could_run, glyphs.blocked, glyphs.fails
        );
        let title = format!("{:INDENT$}the breaking order", "");
        let painted = self.style.paint(Tone::Strong, &title);
        let room = self.edge.saturating_sub(width(&title) + BEFORE_PLACE);
        if width(&legend) <= room {
            let blank = self.edge - width(&title) - width(&legend);
            return vec![format!("{painted}{:blank$}{}", "", self.style.paint(Tone::Faint, &legend))];
        }
        vec![painted, clip(&format!("{:INDENT$}{legend}", ""), self.edge, glyphs.ellipsis)]
    }

    fn heads(&self) -> Vec<String> {
        let line = |number: &str, text: &dyn Fn(&Column) -> String, fill: bool| {
            let mut out = format!("{:INDENT$}{}  ", "", self.before(number, "time"));
            for column in &self.columns.all {
                let head = text(column);
                out.push_str(&if fill { pad(&head, column.width + self.columns.gap) } else { head });
            }
            out.trim_end().to_owned()
        };
        let mut out = Vec::new();
        if self.columns.have_processes() {
            out.push(self.style.paint(Tone::Faint, &self.processes()));
        }
        out.push(self.style.paint(Tone::Strong, &line("step", &|column| column.head.clone(), true)));
        out
    }

    /// The number of a step, and the time.
    fn before(&self, number: &str, time: &str) -> String {
        let number = format!("{number:>width$}", width = self.number);
        if self.time == 0 { number } else { format!("{number}  {time:>width$}", width = self.time) }
    }

    /// The names of processes; one may reach over several columns.
    fn processes(&self) -> String {
        let mut out = " ".repeat(self.left());
        let mut at = self.left();
        for column in &self.columns.all {
            if !column.process.is_empty() {
                out = pad(&out, at);
                out.push_str(&column.process);
            }
            at += column.width + self.columns.gap;
        }
        out
    }

    /// Where the thread columns start.
    fn left(&self) -> usize {
        INDENT + width(&self.before("", "")) + 2
    }

    fn row(&self, cells: &Cells) -> Vec<String> {
        let ellipsis = self.style.glyphs().ellipsis;
        let start = self.left() + self.columns.width() + GUTTER;
        let number = cells.number.map_or(String::new(), |number| number.to_string());
        let left = format!("{:INDENT$}{}  {}", "", self.before(&number, &cells.time), self.signs(cells));
        let call_room = self.edge.saturating_sub(start).max(PLACE);
        let call = fit(&cells.call, call_room, ellipsis);
        let place = cells.place.as_ref();
        let needed = place.map_or(0, |place| BEFORE_PLACE + width(&brief(place)).min(ENOUGH_PLACE));
        for call in [pad(&call, self.call), call] {
            let used = start + width(&call) + effects_width(cells);
            if used + needed <= self.edge {
                return vec![self.with_place(
                    format!("{left}{:GUTTER$}{call}{}", "", self.effects(cells)),
                    used,
                    place,
                )];
            }
        }
        // Too much for one line: the effects go below the call.
        let call = fit(&cells.call, call_room.saturating_sub(needed).max(PLACE), ellipsis);
        let first = self.with_place(format!("{left}{:GUTTER$}{call}", ""), start + width(&call), place);
        let below = format!("{:start$}{}", "", self.effects(cells));
        if cells.effects.is_empty() { vec![first] } else { vec![first, clip(&below, self.edge, ellipsis)] }
    }

    fn with_place(&self, text: String, used: usize, place: Option<&Place>) -> String {
        let Some(place) = place else { return text.trim_end().to_owned() };
        let room = self.edge.saturating_sub(used + BEFORE_PLACE);
        if room < PLACE {
            return text.trim_end().to_owned();
        }
        let shown = self.style.user(&fitted(place, room, self.style.glyphs().ellipsis));
        let shown = fit(&shown, room, self.style.glyphs().ellipsis);
        let blank = self.edge - used - width(&shown);
        format!("{text}{:blank$}{}", "", self.style.paint(Tone::Faint, &shown))
    }

    /// The columns of a row, each as wide as it is.
    fn signs(&self, cells: &Cells) -> String {
        if self.columns.single {
            return self.single(cells);
        }
        let last = self.columns.all.len().saturating_sub(1);
        let mut out = String::new();
        for (index, column) in self.columns.all.iter().enumerate() {
            let gap = if index == last { 0 } else { self.columns.gap };
            let before = (width(&column.head).max(1) - 1) / 2;
            let (sign, after) = match cells.sign(column.thread).drawn(self.style.glyphs()) {
                Some((tone, sign)) => (self.style.paint(tone, sign), column.width - before - 1),
                None => (String::new(), column.width - before),
            };
            out.push_str(&format!("{:before$}{sign}{:after$}{:gap$}", "", "", ""));
        }
        out
    }

    /// The one column of a table with too many threads: who steps.
    fn single(&self, cells: &Cells) -> String {
        let columns = self.columns.width();
        let Some(thread) = cells.thread else { return " ".repeat(columns) };
        let (tone, sign) =
            cells.sign(thread).drawn(self.style.glyphs()).unwrap_or((Tone::Active, self.style.glyphs().steps));
        let name = fit(&self.names.threads[thread], columns - 2, self.style.glyphs().ellipsis);
        format!("{} {}", self.style.paint(tone, sign), pad(&name, columns - 2))
    }

    fn effects(&self, cells: &Cells) -> String {
        let parts = cells.effects.iter().map(|(tone, text)| match tone {
            Tone::Strong => text.clone(),
            tone => self.style.paint(*tone, text),
        });
        parts.map(|part| format!("{:PART$}{part}", "")).collect()
    }

    /// `── preempt inc-1 ─────…`.
    fn separator(&self, thread: usize) -> String {
        let rule = self.style.glyphs().rule;
        let room = self.edge.saturating_sub(self.left() + 20);
        let name = fit(&self.names.threads[thread], room.max(PLACE), self.style.glyphs().ellipsis);
        let name = if self.columns.key.is_empty() { name } else { format!("t{thread} {name}") };
        let head = format!("{0}{0} preempt {name} ", rule);
        let fill = rule.repeat(self.edge.saturating_sub(self.left() + width(&head)));
        format!("{:left$}{}", "", self.style.paint(Tone::Notable, &format!("{head}{fill}")), left = self.left())
    }

    /// What the numbers in the table stand for.
    fn keys(&self, trace: &Trace) -> Vec<String> {
        let mut out = Vec::new();
        let lists = [("threads", self.columns.key.clone()), ("objects", self.names.numbered(&trace.objects))];
        for (label, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            let blank = self.left() + 3;
            let ellipsis = self.style.glyphs().ellipsis;
            let lines = wrap_items(&list, self.edge - blank, ellipsis);
            for (index, line) in lines.into_iter().take(KEY_LINES).enumerate() {
                let label = if index == 0 { label } else { "" };
                out.push(clip(&format!("{:INDENT$}{}{line}", "", pad(label, blank - INDENT)), self.edge, ellipsis));
            }
        }
        if !out.is_empty() {
            out.insert(0, String::new());
        }
        out
    }
}

fn effects_width(cells: &Cells) -> usize {
    cells.effects.iter().map(|(_, text)| PART + width(text)).sum()
}

/// The threads that get a column: all, unless they are many and some of them never do anything.
fn shown_threads(trace: &Trace) -> Vec<usize> {
    let failing: Vec<usize> = match &trace.failure {
        Failure::Panic { thread, .. } | Failure::Nondeterminism { thread, .. } => vec![*thread],
        Failure::Deadlock { waiters } | Failure::Livelock { waiters } => {
            waiters.iter().map(|waiter| waiter.thread).collect()
        }
        Failure::DataRace { first, second, .. } => vec![first.thread, second.thread],
        Failure::Other { .. } => Vec::new(),
    };
    let acts = |thread: usize| failing.contains(&thread) || trace.steps.iter().any(|step| step.thread == thread);
    let all = 0..trace.threads.len();
    if trace.threads.len() <= 8 { all.collect() } else { all.filter(|thread| acts(*thread)).collect() }
}
