//! The explorer against the exact counts of `data/programs.tsv`, and against brute force where the table counts differently.
//!
//! Plain accesses are events in the table and not in the explorer. Without a race this makes no difference. With one, the
//! explorer finds each race-free execution of the table, and the rest in coarser classes.

mod engine;
mod toy;

use dpor::Memory;
use engine::Explored;
use toy::execution::Kind;
use toy::graph::Plain;
use toy::interleavings;
use toy::language::{self, Row};

/// Checks every row and reports all that are wrong.
fn every_row(check: impl Fn(&Row) -> Result<(), String>) {
    let rows = language::rows();
    assert_eq!(rows.len(), 678);
    let fails = |row: &Row| check(row).err().map(|reason| format!("{}: {reason}\n{}", row.name, row.program));
    let wrong: Vec<String> = rows.iter().filter_map(fails).collect();
    assert!(wrong.is_empty(), "{} rows\n{}", wrong.len(), wrong.join("\n"));
}

fn demand(what: &str, found: u64, expected: u64) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found}, expected {expected}")) }
}

fn once_each(explored: &Explored) -> Result<(), String> {
    demand("duplicates", explored.twice.len() as u64, 0)?;
    demand("executions against classes", explored.executions, explored.classes.len() as u64)
}

fn is_racy(row: &Row) -> bool {
    row.racy_rc11.is_some_and(|n| n > 0)
}

#[test]
fn rc11_counts() {
    every_row(|row| {
        let explored = engine::explore(&row.program, engine::config(Memory::Rc11));
        once_each(&explored)?;
        let racy = row.racy_rc11.unwrap_or(0);
        demand("race-free executions", explored.count(|f| !f.racy), row.rc11 - racy)?;
        demand("a race", u64::from(explored.count(|f| f.racy) > 0), u64::from(racy > 0))?;
        match row.violating_rc11 {
            Some(violating) if !is_racy(row) => demand("violating", explored.count(|f| f.violating), violating),
            _ => Ok(()),
        }
    });
}

#[test]
fn sc_counts() {
    every_row(|row| {
        let explored = engine::explore(&row.program, engine::config(Memory::Sc));
        once_each(&explored)?;
        if is_racy(row) {
            let expected = interleavings::all(&row.program, Plain::Accesses);
            let complete = expected.iter().filter(|(e, _)| e.kind == Kind::Complete);
            demand("executions", explored.count(|_| true), complete.clone().count() as u64)?;
            let racy = complete.filter(|(_, f)| f.racy).count() as u64;
            return demand("racy executions", explored.count(|f| f.racy), racy);
        }
        demand("executions", explored.count(|_| true), row.sc)?;
        demand("racy executions", explored.count(|f| f.racy), 0)?;
        match row.violating_sc {
            Some(violating) => demand("violating", explored.count(|f| f.violating), violating),
            None => Ok(()),
        }
    });
}

#[test]
fn counts_within_preemption_bounds() {
    every_row(|row| {
        let Some(preempt) = &row.preempt else { return Ok(()) };
        let expected = if is_racy(row) { coarse_bounds(row, preempt.len()) } else { preempt.clone() };
        for (k, &expected) in expected.iter().enumerate() {
            let explored = engine::explore(&row.program, engine::bounded(k as u32));
            once_each(&explored)?;
            demand(&format!("executions with at most {k} preemptions"), explored.count(|_| true), expected)?;
        }
        Ok(())
    });
}

/// The numbers of executions within the bounds when plain accesses are no events.
fn coarse_bounds(row: &Row, bounds: usize) -> Vec<u64> {
    let classes = interleavings::all(&row.program, Plain::Accesses);
    let within = |k: usize| {
        let cheap = |f: &toy::execution::Facts| f.preemptions <= Some(k as u32);
        classes.iter().filter(|(e, f)| e.kind == Kind::Complete && cheap(f)).count() as u64
    };
    (0..bounds).map(within).collect()
}
