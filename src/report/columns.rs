//! The thread columns of the breaking-order table: which there are, and how wide.

use std::collections::BTreeSet;

use super::measure::{fit_middle, width};
use super::names::Names;
use super::style::Style;

/// Names longer than this are shortened in any case.
const NAME: usize = 16;
/// Names shortened to less than this are replaced with numbers.
const SHORTEST: usize = 4;

/// The thread columns.
pub(crate) struct Columns {
    /// From left to right.
    pub(crate) all: Vec<Column>,
    /// Blank columns between two.
    pub(crate) gap: usize,
    /// What the heads stand for, if they are numbers: `t1 worker-with-a-long-name`.
    pub(crate) key: Vec<String>,
    /// Whether there is only one column for all threads, with the name of the one that steps.
    pub(crate) single: bool,
}

/// One column.
pub(crate) struct Column {
    pub(crate) thread: usize,
    pub(crate) head: String,
    pub(crate) process: String,
    pub(crate) width: usize,
}

impl Columns {
    /// Columns for `threads` in `room` terminal columns; in up to `limit`, rather than to give up a column for each thread.
    pub(crate) fn new(threads: &[usize], names: &Names, room: usize, limit: usize, style: &Style) -> Self {
        let tries = [room, limit];
        let fitting = tries.iter().find_map(|room| {
            Columns::named(threads, names, *room, style).or_else(|| Columns::numbered(threads, names, *room, style))
        });
        fitting.unwrap_or_else(|| Columns::single(threads, names, limit))
    }

    /// The longest names that fit.
    fn named(threads: &[usize], names: &Names, room: usize, style: &Style) -> Option<Self> {
        let ellipsis = style.glyphs().ellipsis;
        let sizes = (SHORTEST..=NAME).rev().flat_map(|cap| [(cap, 2), (cap, 1)]);
        sizes.into_iter().find_map(|(cap, gap)| {
            let heads = threads.iter().map(|thread| fit_middle(&names.threads[*thread], cap, ellipsis)).collect();
            let columns = Columns::build(threads, heads, gap, names, style);
            (columns.width() <= room && columns.distinct(names)).then_some(columns)
        })
    }

    fn numbered(threads: &[usize], names: &Names, room: usize, style: &Style) -> Option<Self> {
        let numbers = threads.iter().map(|thread| format!("t{thread}")).collect::<Vec<_>>();
        let mut columns = Columns::build(threads, numbers, 1, names, style);
        columns.key = threads.iter().map(|thread| format!("t{thread} {}", names.threads[*thread])).collect();
        (columns.width() <= room).then_some(columns)
    }

    fn build(threads: &[usize], heads: Vec<String>, gap: usize, names: &Names, style: &Style) -> Self {
        let column = |(thread, head): (&usize, String)| {
            let columns = width(&head).max(1);
            Column { thread: *thread, head, process: String::new(), width: columns }
        };
        let mut columns =
            Columns { all: threads.iter().zip(heads).map(column).collect(), gap, key: Vec::new(), single: false };
        columns.name_processes(names, style);
        columns
    }

    /// Puts the name of each process above its first column, and makes room for it.
    fn name_processes(&mut self, names: &Names, style: &Style) {
        let process = |column: &Column| names.processes[column.thread].clone();
        let mut start = 0;
        while start < self.all.len() {
            let owner = process(&self.all[start]);
            let end =
                (start..self.all.len()).find(|index| process(&self.all[*index]) != owner).unwrap_or(self.all.len());
            if let Some(name) = owner {
                let name = fit_middle(&name, NAME, style.glyphs().ellipsis);
                let room: usize =
                    self.all[start..end].iter().map(|column| column.width + self.gap).sum::<usize>() - self.gap;
                self.all[end - 1].width += width(&name).saturating_sub(room);
                self.all[start].process = name;
            }
            start = end;
        }
    }

    /// One column that names the thread of each row.
    fn single(threads: &[usize], names: &Names, room: usize) -> Self {
        let widest = threads.iter().map(|thread| width(&names.threads[*thread]) + 2).max().unwrap_or(0);
        let column = Column {
            thread: 0,
            head: "thread".to_owned(),
            process: String::new(),
            width: widest.clamp(6, NAME.min(room.max(6))),
        };
        Columns { all: vec![column], gap: 0, key: Vec::new(), single: true }
    }

    /// Whether two threads with different names have different heads.
    fn distinct(&self, names: &Names) -> bool {
        let full = |column: &Column| (names.processes[column.thread].clone(), names.threads[column.thread].clone());
        let heads: BTreeSet<_> =
            self.all.iter().map(|column| (names.processes[column.thread].clone(), column.head.clone())).collect();
        heads.len() == self.all.iter().map(full).collect::<BTreeSet<_>>().len()
    }

    /// Terminal columns they take.
    pub(crate) fn width(&self) -> usize {
        let gaps = self.gap * self.all.len().saturating_sub(1);
        self.all.iter().map(|column| column.width).sum::<usize>() + gaps
    }

    /// Whether a line with the names of processes is needed.
    pub(crate) fn have_processes(&self) -> bool {
        self.all.iter().any(|column| !column.process.is_empty())
    }
}
