//! The budgets of what the simulated kernel may do to a program.

use dpor::{BUDGETS, Budget};

use crate::builder::Builder;
use crate::report::count;
use crate::verdict::Report;

/// How often an execution may have each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budgets {
    pub(crate) crashes: u32,
    pub(crate) pid_reuses: u32,
    pub(crate) clock_moves: u32,
}

impl Default for Budgets {
    /// One of each: only programs that ask for them have them at all.
    fn default() -> Self {
        Budgets { crashes: 1, pid_reuses: 1, clock_moves: 1 }
    }
}

impl Budgets {
    /// Tells the explorer.
    pub(crate) fn apply(self, budgets: &mut [u32; BUDGETS]) {
        budgets[Budget::Crash as usize] = self.crashes;
        budgets[Budget::PidReuse as usize] = self.pid_reuses;
        budgets[Budget::Clock as usize] = self.clock_moves;
    }
}

impl Builder {
    /// How many crashes of processes that are `crashable` an execution may have (default 1). `INTERLEAVE_CRASHES=<number>`
    pub fn crashes(mut self, crashes: u32) -> Self {
        self.budgets.crashes = crashes;
        self
    }

    /// How often an execution may give out a process id again, to a process that `may_reuse_pid` (default 1).
    /// `INTERLEAVE_PID_REUSES=<number>`
    pub fn pid_reuses(mut self, reuses: u32) -> Self {
        self.budgets.pid_reuses = reuses;
        self
    }

    /// How often the clock of an execution may move while nobody waits for it to (default 1), as if the thread that looks at
    /// it had been slow. `INTERLEAVE_CLOCK_MOVES=<number>`
    pub fn clock_moves(mut self, moves: u32) -> Self {
        self.budgets.clock_moves = moves;
        self
    }
}

impl Report {
    /// Notes the budgets that the program could draw on, which are those in `offered` by bit.
    pub(crate) fn note_budgets(&mut self, budgets: Budgets, offered: u8) {
        let of = |budget: Budget, value: u32| (offered >> budget as u8 & 1 != 0).then_some(value);
        self.crashes = of(Budget::Crash, budgets.crashes);
        self.pid_reuses = of(Budget::PidReuse, budgets.pid_reuses);
        self.clock_moves = of(Budget::Clock, budgets.clock_moves);
    }

    /// What the verdict line says of them.
    pub(crate) fn budget_parts(&self) -> impl Iterator<Item = String> {
        let crashes = self.crashes.map(|n| format!("crashes <= {n}"));
        let reuses = self.pid_reuses.map(|n| format!("reused process ids <= {n}"));
        let moves = self.clock_moves.map(|n| format!("at most {}", count(n.into(), "early move of the clock")));
        [crashes, reuses, moves].into_iter().flatten()
    }
}
