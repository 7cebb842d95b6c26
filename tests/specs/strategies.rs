//! How soon random searches find these bugs, and what they make of them. The table is in `docs/strategies.md`; `UPDATE_DOCS=1`
//! writes it anew.

use std::fmt::Write;

use interleave::{Builder, Failure, Strategy, Verdict};

use crate::{s01_two_daemons, s05_second_to_leave, s09_idle_worker, s10_bit_cleared_twice};

/// A bug, and the fewest preemptions that it needs.
type Bug = (&'static str, u32, fn() -> Box<dyn Fn() + Send + Sync>);

const BUGS: [Bug; 4] = [
    ("S1 two daemons", 1, s01_two_daemons::buggy),
    ("S5 second to leave", 1, s05_second_to_leave::buggy),
    ("S9 idle worker", 0, s09_idle_worker::buggy),
    ("S10 bit cleared twice", 1, s10_bit_cleared_twice::buggy),
];

const STRATEGIES: [(&str, Strategy); 6] = [
    ("`random`", Strategy::Random),
    ("`pct:1`", Strategy::Pct { depth: 1 }),
    ("`pct:2`", Strategy::Pct { depth: 2 }),
    ("`pct:3`", Strategy::Pct { depth: 3 }),
    ("`pos`", Strategy::Pos),
    ("`portfolio`", Strategy::Portfolio),
];

const SEEDS: usize = 100;
const EXECUTIONS: u64 = 200;

/// The executions that each seed took to find the bug, in order; those that did not are left out.
fn tries(bug: &Bug, strategy: Strategy) -> Vec<u64> {
    let program = bug.2();
    let mut tries = Vec::new();
    for seed in 0..SEEDS as u64 {
        let builder = Builder::new().strategy(strategy).seed(seed).max_executions(EXECUTIONS).shrink(0);
        if let Some(failure) = builder.explore(&program).failure {
            tries.push(failure.execution);
        }
    }
    tries.sort_unstable();
    tries
}

/// The median, and the number that 95 of 100 seeds need at most, or how many find it.
fn cell(tries: &[u64]) -> String {
    match (tries.get(SEEDS / 2 - 1), tries.get(SEEDS * 95 / 100 - 1)) {
        (Some(median), Some(most)) => format!("{median} / {most}"),
        _ => format!("{} of {SEEDS} seeds", tries.len()),
    }
}

#[test]
fn the_table_is_right_and_one_strategy_finds_each_bug() {
    let mut table = String::from("| bug |");
    STRATEGIES.iter().for_each(|(name, _)| _ = write!(table, " {name} |"));
    table.push_str("\n|---|");
    table.push_str(&"---|".repeat(STRATEGIES.len()));
    for bug in &BUGS {
        let all = STRATEGIES.map(|(_, strategy)| tries(bug, strategy));
        let best = all.iter().map(Vec::len).max().unwrap_or(0);
        assert!(best * 100 >= SEEDS * 95, "{}: {best} of {SEEDS} seeds", bug.0);
        _ = write!(table, "\n| {} |", bug.0);
        all.iter().for_each(|tries| _ = write!(table, " {} |", cell(tries)));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/strategies.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("<!-- table -->\n").expect("the page has a table");
    let (shown, after) = rest.split_once("\n<!-- end -->").expect("the table has an end");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{before}<!-- table -->\n{table}\n<!-- end -->{after}")).unwrap();
    } else {
        assert_eq!(shown, table, "UPDATE_DOCS=1 writes it anew");
    }
}

/// Whatever random execution shows the bug, what is told has the fewest preemptions that any can have.
#[test]
fn what_is_found_at_random_is_told_with_the_fewest_preemptions() {
    for (name, preemptions, program) in BUGS {
        for seed in 0..3 {
            let report = Builder::new().strategy(Strategy::Portfolio).seed(seed).explore(program());
            assert!(matches!(report.verdict, Verdict::Failed(_)), "{name}: {report}");
            let Failure { preemptions: told, report, .. } = report.failure.unwrap();
            assert_eq!(told, Some(preemptions), "{name}\n{report}");
        }
    }
}
