//! The explorer against brute force on random programs: every class once, none missed, none invented.
//!
//! Each test draws the same programs in every run. The long version is behind `--ignored`; `DPOR_SEED` gives it other programs.

mod engine;
mod toy;

use std::collections::HashMap;

use dpor::{Config, Memory};
use engine::Explored;
use toy::enumerate::{self, Axioms};
use toy::execution::{Execution, Facts};
use toy::graph::Plain;
use toy::interleavings;
use toy::program::{Instr, Program};
use toy::random::{self, Flavour};

type Classes = HashMap<Execution, Facts>;

/// Programs with more graphs on the way than this are left out.
const LIMIT: usize = 10_000;

/// Programs with more interleavings than this are left out of the tests that run them all.
const INTERLEAVINGS: u64 = 3_000;

fn sc_classes(program: &Program) -> Classes {
    interleavings::all(program, Plain::Accesses)
}

/// Demands that an exploration found exactly the expected classes, each once unless `repeats`, with the same races.
fn same(what: &str, explored: &Explored, expected: &Classes, repeats: bool) -> Result<(), String> {
    if let Some(missed) = expected.keys().find(|e| !explored.classes.contains_key(e)) {
        return Err(format!("{what}: {} of {} classes, missed {missed:?}", explored.classes.len(), expected.len()));
    }
    if let Some(invented) = explored.classes.keys().find(|e| !expected.contains_key(e)) {
        return Err(format!("{what}: there is no {invented:?}"));
    }
    if let Some(twice) = explored.twice.first() {
        return Err(format!("{what}: {} duplicates, one is {twice:?}", explored.twice.len()));
    }
    if !repeats && explored.executions != expected.len() as u64 {
        return Err(format!("{what}: counted {} executions, {} classes", explored.executions, expected.len()));
    }
    for (execution, facts) in &explored.classes {
        if facts.racy != expected[execution].racy {
            return Err(format!("{what}: race found: {}, in {execution:?}", facts.racy));
        }
    }
    Ok(())
}

fn exhaustive(program: &Program, memory: Memory, expected: &Classes) -> Result<(), String> {
    same("leftmost thread first", &engine::explore(program, engine::config(memory)), expected, false)?;
    for seed in 1..=2 {
        let explored = engine::explore(program, engine::shuffled(memory, seed));
        same(&format!("threads shuffled by {seed}"), &explored, expected, false)?;
    }
    Ok(())
}

fn check_sc(program: &Program) -> Result<(), String> {
    exhaustive(program, Memory::Sc, &sc_classes(program))
}

fn check_rc11(program: &Program) -> Result<(), String> {
    match enumerate::all(program, Plain::Accesses, Axioms::Rc11, LIMIT) {
        Some(expected) => exhaustive(program, Memory::Rc11, &expected),
        None => Ok(()),
    }
}

fn check_bounds(program: &Program) -> Result<(), String> {
    let all = sc_classes(program);
    let most = all.values().filter_map(|f| f.preemptions).max().unwrap_or(0);
    for k in 0..=most + 1 {
        let within: Classes =
            all.iter().filter(|(_, f)| f.preemptions <= Some(k)).map(|(e, f)| (e.clone(), *f)).collect();
        same(&format!("at most {k} preemptions"), &engine::explore(program, engine::bounded(k)), &within, false)?;
        let orders = Config { preemptions: Some(k), ..engine::shuffled(Memory::Sc, u64::from(k) + 1) };
        same(&format!("at most {k}, shuffled"), &engine::explore(program, orders), &within, false)?;
    }
    Ok(())
}

fn check_interleavings(program: &Program) -> Result<(), String> {
    let count = interleavings::count(program);
    if count > INTERLEAVINGS {
        return Ok(());
    }
    let explored = engine::explore(program, engine::interleavings(Memory::Sc));
    same("interleavings", &explored, &sc_classes(program), true)?;
    let runs: u64 = explored.endings.values().sum();
    // A waiting loop is repeated here; brute force stops at the first look in vain.
    let waits = program.threads.iter().flatten().any(|i| matches!(i, Instr::Await { .. }));
    if waits || runs == count { Ok(()) } else { Err(format!("{runs} interleavings run, there are {count}")) }
}

fn check_walk_rc11(program: &Program) -> Result<(), String> {
    if interleavings::count(program) > INTERLEAVINGS / 10 {
        return Ok(());
    }
    let Some(expected) = enumerate::all(program, Plain::Accesses, Axioms::Rc11, LIMIT / 10) else { return Ok(()) };
    let explored = engine::explore(program, engine::interleavings(Memory::Rc11));
    same("interleavings with weak memory", &explored, &expected, true)
}

/// Under weak memory, both bounds: the executions with an order that has at most so many preemptions and stale accesses.
fn check_bounds_rc11(program: &Program) -> Result<(), String> {
    let Some(all) = enumerate::all(program, Plain::Accesses, Axioms::Rc11, LIMIT) else { return Ok(()) };
    for stale in 0..=2 {
        let fewest = |f: &Facts| if stale == 0 { f.preemptions } else { f.with_stale[stale - 1] };
        let most = all.values().filter_map(fewest).max().unwrap_or(0);
        for k in (0..=most).map(Some).chain([None]) {
            let within = |f: &Facts| fewest(f).is_some_and(|n| k.is_none_or(|k| n <= k));
            let expected: Classes = all.iter().filter(|(_, f)| within(f)).map(|(e, f)| (e.clone(), *f)).collect();
            let bounds = Config { preemptions: k, stale: Some(stale as u32), ..engine::config(Memory::Rc11) };
            let what = format!("at most {k:?} preemptions and {stale} stale accesses");
            same(&what, &engine::explore(program, bounds.clone()), &expected, false)?;
            let orders = Config { thread_order: dpor::ThreadOrder::Shuffled(stale as u64 + 1), ..bounds };
            same(&format!("{what}, shuffled"), &engine::explore(program, orders), &expected, false)?;
        }
    }
    let unbounded = Config { preemptions: Some(100), ..engine::config(Memory::Rc11) };
    same("no effective bound", &engine::explore(program, unbounded), &all, false)
}

/// Shares the work among some explorers: together they find what one finds.
fn check_shared(program: &Program) -> Result<(), String> {
    for memory in [Memory::Sc, Memory::Rc11] {
        let alone = engine::explore(program, engine::config(memory));
        for (explorers, seed) in [(2, 1), (3, 2)] {
            let (shared, _) = engine::explore_shared(program, engine::config(memory), explorers, seed);
            same(&format!("{explorers} explorers under {memory:?}"), &shared, &alone.classes, false)?;
            if shared.executions != alone.executions {
                return Err(format!("{} executions shared, {} alone", shared.executions, alone.executions));
            }
        }
    }
    for bound in 0..=1 {
        let alone = engine::explore(program, engine::bounded(bound));
        let (shared, _) = engine::explore_shared(program, engine::bounded(bound), 3, 3);
        same(&format!("shared, at most {bound} preemptions"), &shared, &alone.classes, false)?;
    }
    Ok(())
}

/// The property above is about something: most of the work does change hands.
#[test]
fn work_changes_hands() {
    let row = toy::language::rows().into_iter().find(|row| row.rc11 >= 100).expect("a large program");
    let (shared, gifts) = engine::explore_shared(&row.program, engine::config(Memory::Rc11), 2, 1);
    assert_eq!(shared.executions, row.rc11);
    assert!(gifts * 5 > row.rc11, "{gifts} of {}", row.rc11);
}

macro_rules! properties {
    ($($name:ident: $flavour:ident, $check:ident, $cases:expr;)*) => {
        $(#[test]
        fn $name() {
            random::check(Flavour::$flavour, $cases, 11, $check);
        })*
    };
}

properties! {
    sc_atomics: Atomics, check_sc, 500;
    sc_locks: Locks, check_sc, 500;
    sc_condvars: Condvars, check_sc, 500;
    sc_everything: Everything, check_sc, 1_000;
    rc11_atomics: Atomics, check_rc11, 1_000;
    rc11_locks: Locks, check_rc11, 500;
    rc11_condvars: Condvars, check_rc11, 300;
    rc11_everything: Everything, check_rc11, 1_000;
    bounds_atomics: Atomics, check_bounds, 200;
    bounds_locks: Locks, check_bounds, 200;
    bounds_condvars: Condvars, check_bounds, 200;
    bounds_everything: Everything, check_bounds, 300;
    bounds_rc11_atomics: Atomics, check_bounds_rc11, 200;
    bounds_rc11_everything: Everything, check_bounds_rc11, 200;
    interleavings_atomics: Atomics, check_interleavings, 200;
    interleavings_locks: Locks, check_interleavings, 200;
    interleavings_condvars: Condvars, check_interleavings, 200;
    interleavings_everything: Everything, check_interleavings, 300;
    shared_atomics: Atomics, check_shared, 300;
    shared_locks: Locks, check_shared, 300;
    shared_condvars: Condvars, check_shared, 200;
    shared_everything: Everything, check_shared, 400;
    walks_rc11_atomics: Atomics, check_walk_rc11, 200;
    walks_rc11_everything: Everything, check_walk_rc11, 200;
}

/// 50,000 programs, each checked in every way.
#[test]
#[ignore = "takes half an hour"]
fn many_programs() {
    let seed = std::env::var("DPOR_SEED").map_or(12, |seed| seed.parse().expect("DPOR_SEED is a number"));
    for flavour in Flavour::ALL {
        random::check(flavour, 12_500, seed, |program| {
            check_sc(program)?;
            check_rc11(program)?;
            check_bounds(program)?;
            check_bounds_rc11(program)?;
            check_interleavings(program)?;
            check_walk_rc11(program)
        });
    }
}
