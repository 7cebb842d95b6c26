//! The numbers of executions within preemption bounds, of all programs of dpor's table, through the whole engine: threads are
//! fibers, atomics are the shims', and bounds are the builder's.

#![cfg(not(miri))]

use std::sync::atomic::AtomicU64 as Plain;

use dpor::{Action, Info, Role};
use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicU64, Ordering, fence};
use interleave::{Builder, Kind, Memory, Verdict, hint, thread};
use sync_shims::model::event::{Answer, Identity, perform, perform_alone};

#[path = "../dpor/tests/toy/mod.rs"]
mod toy;

use toy::language::{self, Row};
use toy::machine::{Next, Thread, Visible, initial};
use toy::program::{Instr, Program, UpdateKind};

static INFO: Info = Info { name: "operation", family: "Toy", role: Role::Plain };

/// A variable: the operations of a program treat it as one of these.
struct Var {
    atomic: AtomicU64,
    object: Identity,
    init: u64,
    plain: Plain,
}

fn site() -> &'static std::panic::Location<'static> {
    std::panic::Location::caller()
}

/// Performs an operation; `None` if the execution is over.
fn act(vars: &[Var], visible: Visible) -> Option<u64> {
    let done = |answer| match answer {
        Answer::Done(result) => Some(result),
        _ => None,
    };
    match visible {
        Visible::Load { var, order } => Some(vars[var].atomic.load(order)),
        Visible::Store { var, value, order } => {
            vars[var].atomic.store(value, order);
            Some(0)
        }
        Visible::Update { var, kind, operands: [first, second], order, failure, weak } => {
            let atomic = &vars[var].atomic;
            Some(match kind {
                UpdateKind::Add => atomic.fetch_add(first, order),
                UpdateKind::Exchange => atomic.swap(first, order),
                UpdateKind::CompareExchange if weak => {
                    atomic.compare_exchange_weak(first, second, order, failure).unwrap_or_else(|now| now)
                }
                UpdateKind::CompareExchange => {
                    atomic.compare_exchange(first, second, order, failure).unwrap_or_else(|now| now)
                }
            })
        }
        Visible::Object { var, op, argument } => {
            let action =
                Action::Object { outs: op.outs(), args: [argument, 0], failure: op.failure(), yields: op.yields() };
            done(perform(&vars[var].object, vars[var].init, action, &INFO, site()))
        }
        Visible::Fence { order } => {
            fence(order);
            Some(0)
        }
        Visible::Choose { alternatives } => {
            done(perform_alone(Action::Choose { alternatives, budget: dpor::Budget::Free }, &INFO, site()))
        }
        // Without a race it does not matter that these are no events.
        Visible::PlainRead { var } => Some(vars[var].plain.load(Ordering::Relaxed)),
        Visible::PlainWrite { var, value } => {
            vars[var].plain.store(value, Ordering::Relaxed);
            Some(0)
        }
    }
}

fn run_thread(code: &[Instr], vars: &[Var]) {
    let mut thread = Thread::new();
    loop {
        match thread.next(code) {
            Next::Do(visible) => {
                let Some(result) = act(vars, visible) else { return };
                thread.take(code, result);
            }
            Next::Spin { back } => {
                hint::spin_loop();
                thread.pc = back;
            }
            Next::Assume => {
                perform_alone(Action::Assume, &INFO, site());
                return;
            }
            Next::End => return,
        }
    }
}

fn run(program: &Arc<Program>) {
    let var = |init: u64| Var { atomic: AtomicU64::new(init), object: Identity::new(), init, plain: Plain::new(init) };
    let vars: Arc<Vec<Var>> = Arc::new(initial(program).into_iter().map(var).collect());
    let spawn = |index: usize| {
        let (program, vars) = (program.clone(), vars.clone());
        thread::spawn(move || run_thread(&program.threads[index], &vars))
    };
    let threads: Vec<_> = (0..program.threads.len()).map(spawn).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// The programs that have executions which do not end, and the bound at which the first one is found. The table does not count
/// such executions.
const STUCK: [(&str, Kind, usize); 2] = [("deadlock01", Kind::Deadlock, 0), ("peterson sc", Kind::Livelock, 1)];

fn check(row: Row, bounds: &[u64]) -> Result<(), String> {
    let program = Arc::new(row.program);
    let stuck = STUCK.iter().find(|(name, ..)| *name == row.name);
    for (bound, expected) in bounds.iter().enumerate() {
        let builder = Builder::new().memory(Memory::Sc).preemption_bound(bound as u32);
        let report = builder.explore(|| run(&program));
        let right = match (report.verdict, stuck) {
            (Verdict::Failed(found), Some((_, kind, first))) => found == *kind && bound >= *first,
            (Verdict::Failed(_), None) => false,
            (_, Some((_, _, first))) => bound < *first && report.executions == *expected,
            (_, None) => report.executions == *expected,
        };
        if !right {
            return Err(format!("{}: at bound {bound} {expected} executions are expected: {report}", row.name));
        }
    }
    Ok(())
}

#[test]
fn executions_within_preemption_bounds() {
    let (mut rows, mut columns, mut wrong) = (0, 0, Vec::new());
    for row in language::rows().into_iter().filter(|row| row.racy_rc11.is_none_or(|racy| racy == 0)) {
        let Some(bounds) = row.preempt.clone() else { continue };
        rows += 1;
        columns += bounds.len();
        wrong.extend(check(row, &bounds).err());
    }
    assert!(wrong.is_empty(), "{} of {rows} rows\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!((rows, columns), (661, 1613));
}
