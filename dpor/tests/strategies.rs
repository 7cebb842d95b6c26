//! Strategies that do not explore everything: what they draw exists, what they promise holds, and what they estimate is about
//! right. All numbers are drawn from fixed seeds.

mod engine;
mod toy;

use dpor::{Config, Draws, Explorer, Leg, Memory, Plan, Sampling, Schedule, Strategy, Until, Who};
use toy::execution::{Execution, Source};
use toy::language::{self, parse};
use toy::program::Program;
use toy::random::{self, Flavour};

const SAMPLINGS: [Sampling; 6] = [
    Sampling::Uniform,
    Sampling::Pct { depth: 1 },
    Sampling::Pct { depth: 2 },
    Sampling::Pct { depth: 3 },
    Sampling::Pos,
    Sampling::Portfolio,
];

fn drawn(memory: Memory, draws: Draws) -> Config {
    Config { strategy: Strategy::Random(draws), ..engine::config(memory) }
}

/// Every execution drawn is one that the exhaustive search has, with the same races.
fn check_drawn(program: &Program) -> Result<(), String> {
    for memory in [Memory::Sc, Memory::Rc11] {
        let all = engine::explore(program, engine::config(memory));
        for sampling in SAMPLINGS {
            let some = engine::explore(program, drawn(memory, Draws::new(sampling, 5, 20)));
            for (execution, facts) in &some.classes {
                match all.classes.get(execution) {
                    Some(known) if known == facts => {}
                    _ => return Err(format!("{sampling:?} under {memory:?} has drawn {execution:?}")),
                }
            }
        }
    }
    Ok(())
}

#[test]
fn what_is_drawn_exists() {
    for flavour in Flavour::ALL {
        random::check(flavour, 100, 21, check_drawn);
    }
}

/// Two threads, of which the second loses the update of the first if it reads before that writes, and the other way round.
const LOST_UPDATE: &str = "r0=R(x,sc); W(x,r0+1,sc) || r0=R(x,sc); W(x,r0+1,sc)";

/// Both read the initial value.
fn is_lost(execution: &Execution) -> bool {
    execution.threads.iter().all(|(entries, _)| entries[0].source == Source::Init)
}

/// In how many of 1,000 searches of so many executions the update is lost in the last one.
fn losses(sampling: Sampling, executions: u64) -> u32 {
    let program = parse(LOST_UPDATE);
    let mut losses = 0;
    for seed in 0..1_000 {
        let mut last = false;
        engine::each(&program, drawn(Memory::Sc, Draws::new(sampling, seed, executions)), |_, e| last = is_lost(&e));
        losses += u32::from(last);
    }
    losses
}

/// Uniform: one reads, then the other with 1/2, before the first writes. Partial order sampling: the read that loses the
/// draw keeps its priority, as it does not conflict with the other read, and wins against the write with less than 1/2:
/// it is the smaller of two, against a third, which is 1/3. The standard deviation is 16.
#[test]
fn lost_updates_come_as_often_as_they_must() {
    assert!((450..550).contains(&losses(Sampling::Uniform, 1)), "{}", losses(Sampling::Uniform, 1));
    assert!((283..383).contains(&losses(Sampling::Pos, 1)), "{}", losses(Sampling::Pos, 1));
}

/// Without a change point nobody is preempted. With one, at one of the four steps, the first thread is, between its two
/// steps, with probability 1/4 at least: more than the 1/(3 * 4) that are promised for three threads.
#[test]
fn priorities_keep_what_they_promise() {
    assert_eq!(losses(Sampling::Pct { depth: 1 }, 2), 0);
    assert_eq!(losses(Sampling::Pct { depth: 2 }, 1), 0, "the first execution tells how many steps there are");
    assert!((200..300).contains(&losses(Sampling::Pct { depth: 2 }, 2)), "{}", losses(Sampling::Pct { depth: 2 }, 2));
}

/// Each number stands for the same execution, whoever draws it.
#[test]
fn a_search_can_be_shared_by_number() {
    let program = parse("W(x,1,rlx); r0=R(y,rlx) || W(y,1,rlx); r0=R(x,rlx) || W(x,2,rlx); W(y,2,rlx)");
    let draw = |draws| {
        let mut drawn_ones = Vec::new();
        engine::each(&program, drawn(Memory::Rc11, draws), |explorer, execution| {
            drawn_ones.push((explorer.number_drawn().unwrap(), execution));
        });
        drawn_ones
    };
    let draws = Draws { steps: 6, ..Draws::new(Sampling::Portfolio, 3, 60) };
    let alone = draw(draws.clone());
    let mut shared: Vec<_> = (0..3).flat_map(|first| draw(Draws { first, every: 3, ..draws.clone() })).collect();
    shared.sort_by_key(|(number, _)| *number);
    assert_eq!((alone.len(), alone == shared), (60, true));
}

/// The estimate is within three standard errors of the truth, and the error is small.
#[test]
fn estimates_are_about_right() {
    let large: Vec<_> =
        language::rows().into_iter().filter(|row| row.rc11 >= 300 && row.racy_rc11 == Some(0)).collect();
    assert_eq!(large.len(), 8);
    for row in large {
        let strategy = Strategy::Estimate { seed: 1, samples: 20 };
        let explorer = engine::each(&row.program, Config { strategy, ..engine::config(Memory::Rc11) }, |_, _| {});
        let estimate = explorer.estimate().expect("there are samples");
        let off = (estimate.executions - row.rc11 as f64).abs();
        assert!(off <= 3.0 * estimate.error, "{}: {estimate:?}, in truth {}", row.name, row.rc11);
        assert!(estimate.error < 0.2 * estimate.executions, "{}: {estimate:?}", row.name);
    }
}

/// A plan made from an execution leads to that execution.
fn check_plans(program: &Program) -> Result<(), String> {
    for memory in [Memory::Sc, Memory::Rc11] {
        let mut plans = Vec::new();
        engine::each(program, engine::config(memory), |explorer, execution| {
            let (_, order) = explorer.witness(&[]).or_else(|| explorer.weak_witness(&[])).expect("there is an order");
            plans.push((Plan::of(&Schedule::of(explorer.graph(), &order)), execution));
        });
        for (plan, execution) in plans {
            let config = Config { strategy: Strategy::Planned(plan.clone()), ..engine::config(memory) };
            let mut followed = Vec::new();
            engine::each(program, config, |_, execution| followed.push(execution));
            if followed != [execution] {
                return Err(format!("{plan:?} under {memory:?} led to {followed:?}"));
            }
        }
    }
    Ok(())
}

#[test]
fn plans_are_followed() {
    for flavour in [Flavour::Atomics, Flavour::Locks, Flavour::Condvars] {
        random::check(flavour, 60, 22, check_plans);
    }
}

fn directed(legs: &[(u32, Until)]) -> (Execution, Explorer) {
    let leg = |(thread, until): &(u32, Until)| Leg { thread: Who::Path(vec![*thread]), until: until.clone() };
    let strategy = Strategy::Directed(legs.iter().map(leg).collect());
    let mut last = None;
    let config = Config { strategy, ..engine::config(Memory::Rc11) };
    let explorer = engine::each(&parse(LOST_UPDATE), config, |_, execution| last = Some(execution));
    (last.expect("there is one execution"), explorer)
}

#[test]
fn directions_are_followed() {
    let (execution, explorer) = directed(&[(0, Until::Stuck), (1, Until::Stuck)]);
    assert_eq!((is_lost(&execution), explorer.stranded_leg(), explorer.stats().executions), (false, None, 1));
    let (execution, explorer) = directed(&[(1, Until::Steps(1)), (0, Until::Steps(1))]);
    assert_eq!((is_lost(&execution), explorer.stranded_leg()), (true, None));
    // There is no third thread, and no label.
    let (_, explorer) = directed(&[(1, Until::Steps(1)), (2, Until::Steps(1))]);
    assert_eq!(explorer.stranded_leg(), Some(1));
    let (_, explorer) = directed(&[(1, Until::Label("there".to_owned()))]);
    assert_eq!(explorer.stranded_leg(), Some(0));
}
