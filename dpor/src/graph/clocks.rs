//! Vector clocks, four per event, laid out for short loops: a clock is one or more lanes of four counts, so that with up to
//! four threads copying or joining clocks takes a few instructions and no loop at all.

use crate::event::EventId;

/// Which of the clocks of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Clock {
    /// Program order and reads-from, itself included.
    Porf = 0,
    /// Happens-before, itself included.
    Hb = 1,
    /// Writes: what an acquire read of it comes after.
    Release = 2,
    /// What the relaxed reads of the thread so far make an acquire fence come after.
    Pending = 3,
}

const CLOCKS: usize = 4;
/// Threads in a lane.
const WIDTH: usize = 4;

type Lane = [u32; WIDTH];

const ZERO: Lane = [0; WIDTH];

/// The clocks of all events of a graph.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    /// Lanes of one clock.
    lanes: usize,
    rows: Vec<Lane>,
}

impl Default for Clocks {
    fn default() -> Self {
        Clocks { lanes: 1, rows: Vec::new() }
    }
}

impl Clocks {
    /// Threads that a clock has room for.
    #[inline]
    pub(super) fn stride(&self) -> usize {
        self.lanes * WIDTH
    }

    #[inline]
    fn base(&self, event: EventId, clock: Clock) -> usize {
        (event.index() * CLOCKS + clock as usize) * self.lanes
    }

    /// The events of `thread` that the clock includes.
    #[inline]
    pub(super) fn count(&self, event: EventId, clock: Clock, thread: usize) -> u32 {
        self.rows[self.base(event, clock) + thread / WIDTH][thread % WIDTH]
    }

    /// One clock.
    #[inline]
    pub(super) fn get(&self, event: EventId, clock: Clock) -> &[u32] {
        let base = self.base(event, clock);
        self.rows[base..base + self.lanes].as_flattened()
    }

    /// Adds the clocks of the next event, which is the `count`-th of `thread` and comes after `pred` in program order: the
    /// event before it in its thread, or the spawn of the thread.
    #[inline]
    pub(super) fn push(&mut self, pred: EventId, thread: usize, count: u32) {
        if self.lanes == 1 {
            let row = started(self.row(pred), thread, count);
            self.rows.extend_from_slice(&row);
        } else {
            self.push_wide(pred, thread, count);
        }
    }

    #[inline(never)]
    fn push_wide(&mut self, pred: EventId, thread: usize, count: u32) {
        let len = self.rows.len();
        self.rows.resize(len + CLOCKS * self.lanes, ZERO);
        self.start_wide(len, pred, thread, count);
    }

    /// Gives an event the clocks it had when it was pushed.
    #[inline]
    pub(super) fn restart(&mut self, event: EventId, pred: EventId, thread: usize, count: u32) {
        let base = self.base(event, Clock::Porf);
        if self.lanes == 1 {
            let row = started(self.row(pred), thread, count);
            self.rows[base..base + CLOCKS].copy_from_slice(&row);
        } else {
            self.start_wide(base, pred, thread, count);
        }
    }

    /// All clocks of an event, if each has one lane.
    #[inline]
    fn row(&self, event: EventId) -> [Lane; CLOCKS] {
        if event.is_init() {
            return [ZERO; CLOCKS];
        }
        let base = event.index() * CLOCKS;
        let row: &[Lane; CLOCKS] = self.rows[base..base + CLOCKS].try_into().expect("a row has all clocks");
        *row
    }

    #[inline(never)]
    fn start_wide(&mut self, to: usize, pred: EventId, thread: usize, count: u32) {
        let lanes = self.lanes;
        for lane in 0..lanes {
            let from = |clock| if pred.is_init() { ZERO } else { self.rows[self.base(pred, clock) + lane] };
            let row = [from(Clock::Porf), from(Clock::Hb), ZERO, if count == 1 { ZERO } else { from(Clock::Pending) }];
            for (clock, value) in row.into_iter().enumerate() {
                self.rows[to + clock * lanes + lane] = value;
            }
        }
        for clock in [Clock::Porf, Clock::Hb] {
            self.rows[to + clock as usize * lanes + thread / WIDTH][thread % WIDTH] = count;
        }
    }

    /// Takes into `to_clock` of `to` what `from_clock` of `from` includes.
    #[inline]
    pub(super) fn join(&mut self, to: EventId, to_clock: Clock, from: EventId, from_clock: Clock) {
        let (to, from) = (self.base(to, to_clock), self.base(from, from_clock));
        if self.lanes == 1 {
            self.rows[to] = joined(self.rows[to], self.rows[from]);
            return;
        }
        for lane in 0..self.lanes {
            self.rows[to + lane] = joined(self.rows[to + lane], self.rows[from + lane]);
        }
    }

    /// Keeps the first `events` rows.
    #[inline]
    pub(super) fn truncate(&mut self, events: usize) {
        self.rows.truncate(events * CLOCKS * self.lanes);
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    /// Becomes a copy of `from`.
    pub(super) fn copy(&mut self, from: &Clocks) {
        self.lanes = from.lanes;
        self.rows.clear();
        self.rows.extend_from_slice(&from.rows);
    }

    /// Gives `to` the clocks of `from`.
    #[inline]
    pub(super) fn move_row(&mut self, from: EventId, to: EventId) {
        if self.lanes == 1 {
            let row = self.row(from);
            let to = self.base(to, Clock::Porf);
            self.rows[to..to + CLOCKS].copy_from_slice(&row);
            return;
        }
        let (from, to) = (self.base(from, Clock::Porf), self.base(to, Clock::Porf));
        self.rows.copy_within(from..from + CLOCKS * self.lanes, to);
    }

    /// Lays the clocks out anew, with room for that many threads.
    pub(super) fn widen(&mut self, threads: usize) {
        let lanes = threads.div_ceil(WIDTH).next_power_of_two();
        let mut rows = Vec::with_capacity(self.rows.len() / self.lanes * lanes);
        for clock in self.rows.chunks(self.lanes) {
            rows.extend_from_slice(clock);
            rows.resize(rows.len() + lanes - self.lanes, ZERO);
        }
        self.rows = rows;
        self.lanes = lanes;
    }
}

/// The clocks of the `count`-th event of a thread, from those of what comes before it.
#[inline]
fn started([porf, hb, _, pending]: [Lane; CLOCKS], thread: usize, count: u32) -> [Lane; CLOCKS] {
    // A new thread knows what its parent knew, but not what the parent's relaxed reads have left pending.
    let pending = if count == 1 { ZERO } else { pending };
    [with_count(porf, thread % WIDTH, count), with_count(hb, thread % WIDTH, count), ZERO, pending]
}

/// The larger count of each thread. Counts fit into 31 bits, and signed numbers are what every x86-64 can compare by fours.
#[inline]
fn joined(a: Lane, b: Lane) -> Lane {
    core::array::from_fn(|i| if a[i].cast_signed() > b[i].cast_signed() { a[i] } else { b[i] })
}

/// The lane with another count of one thread. In registers: a lane that is read again right after one of its counts was written
/// to memory keeps the processor waiting.
#[inline]
fn with_count(lane: Lane, at: usize, count: u32) -> Lane {
    const ONE: [Lane; WIDTH] = [[!0, 0, 0, 0], [0, !0, 0, 0], [0, 0, !0, 0], [0, 0, 0, !0]];
    let mask = ONE[at % WIDTH];
    core::array::from_fn(|i| lane[i] & !mask[i] | count & mask[i])
}
