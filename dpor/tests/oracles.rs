//! The brute-force oracles checked against each other and against independently computed counts. Nothing here needs the
//! explorer: what fails here is a wrong oracle.

mod toy;

use std::collections::HashMap;

use toy::enumerate::{self, Axioms};
use toy::execution::{Execution, Facts, Kind};
use toy::graph::Plain;
use toy::language::{self, Row};
use toy::interleavings;

type Classes = HashMap<Execution, Facts>;

fn complete(classes: &Classes) -> impl Iterator<Item = &Facts> {
    classes.iter().filter(|(e, _)| e.kind == Kind::Complete).map(|(_, facts)| facts)
}

fn count(classes: &Classes, holds: impl Fn(&Facts) -> bool) -> u64 {
    complete(classes).filter(|facts| holds(facts)).count() as u64
}

/// Numbers of executions with at most 0, 1, 2, ... preemptions.
fn cumulative(classes: &Classes) -> Option<Vec<u64>> {
    let most = complete(classes).map(|f| f.preemptions.expect("sequentially consistent")).max()?;
    Some((0..=most).map(|k| count(classes, |f| f.preemptions <= Some(k))).collect())
}

fn check(row: &Row) -> Result<(), String> {
    let mut wrong = Vec::new();
    let mut demand = |what: &str, found: String, expected: String| {
        if found != expected {
            wrong.push(format!("{what}: {found}, expected {expected}"));
        }
    };
    let sc = interleavings::all(&row.program, Plain::Events);
    demand("sc", count(&sc, |_| true).to_string(), row.sc.to_string());
    if let Some(violating) = row.violating_sc {
        demand("violating_sc", count(&sc, |f| f.violating).to_string(), violating.to_string());
    }
    if row.preempt.is_some() {
        demand("preempt", format!("{:?}", cumulative(&sc)), format!("{:?}", row.preempt));
    }
    if let Some(rc11) = enumerate::all(&row.program, Plain::Events, Axioms::Rc11, 100_000) {
        demand("rc11", count(&rc11, |_| true).to_string(), row.rc11.to_string());
        if let Some(racy) = row.racy_rc11 {
            demand("racy", count(&rc11, |f| f.racy).to_string(), racy.to_string());
        }
        if let Some(violating) = row.violating_rc11 {
            demand("violating_rc11", count(&rc11, |f| f.violating).to_string(), violating.to_string());
        }
    } else {
        demand("rc11", "too large".to_string(), row.rc11.to_string());
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}: {}", row.name, wrong.join("; "))) }
}

#[test]
fn counts_of_the_program_table() {
    let rows = language::rows();
    assert_eq!(rows.len(), 678);
    let small = rows.iter().filter(|row| row.program.threads.len() <= 8);
    let wrong: Vec<String> = small.filter_map(|row| {
        let t = std::time::Instant::now();
        let r = check(row).err();
        if t.elapsed().as_millis() > 500 { eprintln!("{} {:?}", row.name, t.elapsed()); }
        r
    }).collect();
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
#[ignore]
fn stats() {
    use proptest::strategy::{Strategy, ValueTree};
    for flavour in [toy::random::Flavour::Atomics, toy::random::Flavour::Locks, toy::random::Flavour::Condvars, toy::random::Flavour::Everything] {
        for most in [7usize, 8, 9, 10, 12] {
            let mut runner = toy::random::runner(1, 7);
            let strategy = toy::random::genomes(flavour);
            let (mut ts, mut tr, mut large, mut classes, mut dead, mut live, mut empty, mut racy) = (0f64, 0f64, 0, 0, 0, 0, 0,0);
            let mut tg = 0f64;
            let mut maxc = 0;
            for _ in 0..300 {
                let t = std::time::Instant::now();
                let program = strategy.new_tree(&mut runner).unwrap().current().program(most);
                tg += t.elapsed().as_secs_f64();
                let t = std::time::Instant::now();
                let sc = interleavings::all(&program, Plain::Accesses);
                ts += t.elapsed().as_secs_f64();
                dead += sc.keys().filter(|e| e.kind == Kind::Deadlock).count();
                live += sc.keys().filter(|e| e.kind == Kind::Livelock).count();
                racy += sc.values().filter(|e| e.racy).count();
                classes += sc.len();
                empty += usize::from(sc.len() <= 1);
                let t = std::time::Instant::now();
                match enumerate::all(&program, Plain::Accesses, Axioms::Rc11, 3000) {
                    None => large += 1,
                    Some(c) => maxc = maxc.max(c.len()),
                }
                tr += t.elapsed().as_secs_f64();
            }
            eprintln!("{flavour:?} {most}: gen {tg:.2} sc {ts:.2}s rc11 {tr:.2}s large {large} classes {classes} dead {dead} live {live} <=1 {empty} racy {racy} maxc {maxc}");
        }
    }
}
