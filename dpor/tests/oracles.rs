//! The brute-force oracles checked against each other and against independently computed counts. Nothing here needs the
//! explorer: what fails here is a wrong oracle.

mod toy;

use std::collections::{HashMap, HashSet};

use dpor::Ordering;
use proptest::test_runner::TestCaseError;
use toy::enumerate::{self, Axioms};
use toy::execution::{Execution, Facts, Kind};
use toy::graph::Plain;
use toy::interleavings;
use toy::language::{self, Row};
use toy::program::{Instr, Program};
use toy::random::{self, Flavour};

type Classes = HashMap<Execution, Facts>;

/// More graphs than any program of the table has.
const LIMIT: usize = 100_000;

/// Random programs with more graphs on the way than this are left out.
const RANDOM_LIMIT: usize = 10_000;

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

/// What brute force finds in a row of the table, in the notation of the table; empty where the table says nothing.
fn found(row: &Row) -> Vec<String> {
    let sc = interleavings::all(&row.program, Plain::Events);
    let rc11 = enumerate::all(&row.program, Plain::Events, Axioms::Rc11, LIMIT).expect("small enough");
    let numbers = |n: Vec<u64>| n.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let unless_empty = |known: bool, n: u64| if known { n.to_string() } else { String::new() };
    vec![
        count(&sc, |_| true).to_string(),
        count(&rc11, |_| true).to_string(),
        unless_empty(row.racy_rc11.is_some(), count(&rc11, |f| f.racy)),
        unless_empty(row.violating_sc.is_some(), count(&sc, |f| f.violating)),
        unless_empty(row.violating_rc11.is_some(), count(&rc11, |f| f.violating)),
        row.preempt.as_ref().and_then(|_| cumulative(&sc)).map(numbers).unwrap_or_default(),
    ]
}

#[test]
fn counts_of_the_program_table() {
    let rows = language::rows();
    assert_eq!(rows.len(), 678);
    // The four `filesystem` programs have 13 to 16 threads: too many prefixes for brute force.
    let small: Vec<&Row> = rows.iter().filter(|row| row.program.threads.len() <= 12).collect();
    assert_eq!(small.len(), 674);
    for row in small {
        assert_eq!(found(row), row.columns, "{}\n{}", row.name, row.program);
    }
}

/// Runs a check on random programs of every flavour.
fn on_random_programs(cases: u32, seed: u64, check: impl Fn(&Program) -> Result<(), String>) {
    for flavour in Flavour::ALL {
        random::check(flavour, cases, seed, &check);
    }
}

fn keys(classes: &Classes) -> HashSet<&Execution> {
    classes.keys().collect()
}

#[test]
fn interleavings_are_what_the_sc_axiom_allows() {
    on_random_programs(500, 1, |program| {
        let operational = interleavings::all(program, Plain::Accesses);
        let Some(axiomatic) = enumerate::all(program, Plain::Accesses, Axioms::Sc, RANDOM_LIMIT) else { return Ok(()) };
        if operational == axiomatic { Ok(()) } else { Err(format!("{operational:#?} against {axiomatic:#?}")) }
    });
}

#[test]
fn plain_events_are_determined_without_races() {
    on_random_programs(500, 2, |program| {
        let few = interleavings::all(program, Plain::Accesses);
        let many = interleavings::all(program, Plain::Events);
        let racy = few.values().any(|facts| facts.racy);
        let fits = if racy { many.len() >= few.len() } else { many.len() == few.len() };
        if fits { Ok(()) } else { Err(format!("{} classes, {} with plain events", few.len(), many.len())) }
    });
}

#[test]
fn sc_executions_are_rc11_executions() {
    on_random_programs(500, 3, |program| {
        let sc = interleavings::all(program, Plain::Accesses);
        let Some(rc11) = enumerate::all(program, Plain::Accesses, Axioms::Rc11, RANDOM_LIMIT) else { return Ok(()) };
        match sc.keys().find(|e| !rc11.contains_key(e)) {
            None => Ok(()),
            Some(lost) => Err(format!("not consistent: {lost:?}")),
        }
    });
}

/// The guarantee that the model was repaired for.
#[test]
fn only_sequentially_consistent_accesses_give_sequential_consistency() {
    on_random_programs(500, 4, |program| {
        let strong = strengthened(program);
        let sc = interleavings::all(&strong, Plain::Accesses);
        let Some(rc11) = enumerate::all(&strong, Plain::Accesses, Axioms::Rc11, RANDOM_LIMIT) else { return Ok(()) };
        if keys(&sc) == keys(&rc11) { Ok(()) } else { Err(format!("{sc:#?} against {rc11:#?}")) }
    });
}

fn strengthened(program: &Program) -> Program {
    let mut program = program.clone();
    for instr in program.threads.iter_mut().flatten() {
        match instr {
            Instr::Load { order, .. } | Instr::Store { order, .. } | Instr::Fence(order) => *order = Ordering::SeqCst,
            Instr::Update { order, failure, .. } => (*order, *failure) = (Ordering::SeqCst, Ordering::SeqCst),
            _ => {}
        }
    }
    program
}

/// The random programs are worth something only if they show all that there is to get wrong.
#[test]
fn random_programs_are_diverse() {
    let seen = std::cell::RefCell::new([0u32; 7]);
    on_random_programs(300, 5, |program| {
        let sc = interleavings::all(program, Plain::Accesses);
        let Some(rc11) = enumerate::all(program, Plain::Accesses, Axioms::Rc11, RANDOM_LIMIT) else { return Ok(()) };
        let has = |kind| sc.keys().any(|e| e.kind == kind);
        let facts = [
            has(Kind::Deadlock),
            has(Kind::Livelock),
            sc.len() >= 10,
            rc11.len() > sc.len(),
            rc11.values().any(|f| f.racy),
            sc.values().any(|f| f.preemptions >= Some(3)),
            sc.keys().any(|e| e.threads.iter().flat_map(|t| &t.0).any(|e| e.choice != 0)),
        ];
        seen.borrow_mut().iter_mut().zip(facts).for_each(|(n, fact)| *n += u32::from(fact));
        Ok(())
    });
    let seen = seen.into_inner();
    eprintln!("{seen:?}");
    assert!(seen.iter().all(|&n| n >= 20), "of 1,200 programs: {seen:?}");
}

/// Nothing orders two threads that share no variable: 20 steps, 10 of each.
#[test]
fn number_of_interleavings() {
    let steps = |var: &str| vec![format!("W({var},1,rlx)"); 10].join("; ");
    let program = language::parse(&format!("{} || {}", steps("x"), steps("y")));
    assert_eq!(interleavings::count(&program), 184_756);
    assert_eq!(interleavings::all(&program, Plain::Accesses).len(), 1);
}

/// The runner reports a failing program as small as it gets.
#[test]
fn failing_programs_shrink() {
    let fails = |program: &Program| -> Result<(), TestCaseError> {
        let stores = program.threads.iter().flatten().filter(|i| matches!(i, Instr::Store { .. })).count();
        if stores < 2 { Ok(()) } else { Err(TestCaseError::fail("two stores")) }
    };
    let smallest = random::smallest_failure(Flavour::Atomics, 100, 6, fails).expect("some program has two stores");
    assert_eq!(smallest.threads.iter().map(Vec::len).sum::<usize>(), 2, "{smallest}");
}
