//! Random programs, as `proptest` strategies: genes that shrink well, compiled to code.

use dpor::Ordering;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use super::objects::ObjectOp;
use super::program::{Expr, Instr, Operator, Place, Program, REGISTERS, UpdateKind, Var};

/// Which operations a program may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// Loads, stores, read-modify-writes and fences.
    Atomics,
    /// Mutexes with `try_lock`, a semaphore, channels, a barrier.
    Locks,
    /// Condition variables with notifications of any waiter and timed waits.
    Condvars,
    /// All operations.
    Everything,
}

impl Flavour {
    pub(crate) const ALL: [Flavour; 4] = [Flavour::Atomics, Flavour::Locks, Flavour::Condvars, Flavour::Everything];

    /// Most visible operations of a program, so that brute force takes milliseconds.
    fn size(self) -> usize {
        match self {
            Flavour::Atomics => 9,
            Flavour::Locks | Flavour::Everything => 10,
            Flavour::Condvars => 9,
        }
    }
}

/// An operation that is not compiled yet; numbers are taken modulo whatever there is.
#[derive(Clone, Debug)]
pub(crate) enum Gene {
    Load {
        var: u8,
        order: u8,
        to: u8,
    },
    Store {
        var: u8,
        order: u8,
        value: Value,
    },
    Update {
        var: u8,
        order: u8,
        failure: u8,
        value: Value,
        expected: u8,
        kind: Update,
        to: u8,
    },
    Fence {
        order: u8,
    },
    Object {
        op: ObjectOp,
        which: u8,
        to: u8,
    },
    /// Lock, an operation, unlock.
    Section {
        mutex: u8,
        inner: Box<Gene>,
    },
    /// `try_lock`, and if that worked an operation and unlock.
    TrySection {
        mutex: u8,
        inner: Box<Gene>,
        to: u8,
    },
    /// Enqueue, unlock, wait to be woken, lock.
    Wait {
        timed: bool,
        to: u8,
    },
    /// The operation happens only if a register has, or has not, this value.
    Guarded {
        register: u8,
        equal: bool,
        value: u8,
        inner: Box<Gene>,
    },
    Choose {
        alternatives: u8,
        to: u8,
    },
    Assume {
        register: u8,
        equal: bool,
        value: u8,
    },
    /// Waits until an atomic has, or has not, this value.
    Await {
        var: u8,
        order: u8,
        equal: bool,
        value: u8,
        to: u8,
    },
    Plain {
        var: u8,
        write: bool,
    },
}

/// What is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Constant(u8),
    /// A register plus one.
    Register(u8),
}

/// A read-modify-write.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Update {
    Add,
    Exchange,
    Strong,
    Weak,
}

/// The genes of a program.
#[derive(Clone, Debug)]
pub(crate) struct Genome {
    threads: Vec<Vec<Gene>>,
    palette: u8,
    semaphore: u8,
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![3 => (1..3u8).prop_map(Value::Constant), 1 => (0..2u8).prop_map(Value::Register)]
}

fn atomic() -> BoxedStrategy<Gene> {
    let update = prop_oneof![Just(Update::Add), Just(Update::Exchange), Just(Update::Strong), Just(Update::Weak)];
    prop_oneof![
        4 => (0..2u8, 0..15u8, 0..2u8).prop_map(|(var, order, to)| Gene::Load { var, order, to }),
        4 => (0..2u8, 0..15u8, value()).prop_map(|(var, order, value)| Gene::Store { var, order, value }),
        4 => ((0..2u8, 0..15u8, 0..15u8), (value(), 0..2u8, update, 0..2u8)).prop_map(
            |((var, order, failure), (value, expected, kind, to))| Gene::Update {
                var, order, failure, value, expected, kind, to
            }
        ),
    ]
    .boxed()
}

fn fence() -> BoxedStrategy<Gene> {
    (0..15u8).prop_map(|order| Gene::Fence { order }).boxed()
}

fn object(ops: &'static [ObjectOp]) -> BoxedStrategy<Gene> {
    (prop::sample::select(ops), 0..2u8, 0..2u8).prop_map(|(op, which, to)| Gene::Object { op, which, to }).boxed()
}

fn choose() -> BoxedStrategy<Gene> {
    (2..4u8, 0..2u8).prop_map(|(alternatives, to)| Gene::Choose { alternatives, to }).boxed()
}

fn plain() -> BoxedStrategy<Gene> {
    (0..2u8, any::<bool>()).prop_map(|(var, write)| Gene::Plain { var, write }).boxed()
}

fn stop() -> BoxedStrategy<Gene> {
    prop_oneof![
        (0..2u8, any::<bool>(), 0..3u8).prop_map(|(register, equal, value)| Gene::Assume { register, equal, value }),
        (0..2u8, 0..15u8, any::<bool>(), 0..3u8, 0..2u8).prop_map(|(var, order, equal, value, to)| Gene::Await {
            var,
            order,
            equal,
            value,
            to
        }),
    ]
    .boxed()
}

const LOCK_OPS: &[ObjectOp] = &[
    ObjectOp::Lock,
    ObjectOp::Unlock,
    ObjectOp::TryLock,
    ObjectOp::Acquire,
    ObjectOp::Release,
    ObjectOp::TryAcquire,
    ObjectOp::Send,
    ObjectOp::SendBounded,
    ObjectOp::Receive,
    ObjectOp::TryReceive,
    ObjectOp::Arrive,
    ObjectOp::WaitFor,
    ObjectOp::Set,
    ObjectOp::WaitForZero,
];

const CONDVAR_OPS: &[ObjectOp] = &[
    ObjectOp::Enqueue,
    ObjectOp::NotifyOne,
    ObjectOp::NotifyOne,
    ObjectOp::NotifyAll,
    ObjectOp::Wake,
    ObjectOp::TimedWake,
];

fn sections(inner: BoxedStrategy<Gene>) -> BoxedStrategy<Gene> {
    prop_oneof![
        2 => (0..2u8, inner.clone()).prop_map(|(mutex, inner)| Gene::Section { mutex, inner: Box::new(inner) }),
        1 => (0..2u8, inner, 0..2u8)
            .prop_map(|(mutex, inner, to)| Gene::TrySection { mutex, inner: Box::new(inner), to }),
    ]
    .boxed()
}

fn waits() -> BoxedStrategy<Gene> {
    (any::<bool>(), 0..2u8).prop_map(|(timed, to)| Gene::Wait { timed, to }).boxed()
}

fn gene(flavour: Flavour) -> BoxedStrategy<Gene> {
    let base = match flavour {
        Flavour::Atomics => prop_oneof![8 => atomic(), 2 => fence(), 1 => plain()].boxed(),
        Flavour::Locks => {
            prop_oneof![4 => object(LOCK_OPS), 2 => sections(atomic()), 2 => atomic(), 1 => choose(), 1 => plain()]
                .boxed()
        }
        Flavour::Condvars => {
            prop_oneof![4 => object(CONDVAR_OPS), 3 => waits(), 1 => atomic(), 1 => sections(object(CONDVAR_OPS))]
                .boxed()
        }
        Flavour::Everything => prop_oneof![
            5 => atomic(), 1 => fence(), 2 => object(LOCK_OPS), 2 => object(CONDVAR_OPS), 1 => sections(atomic()),
            1 => waits(), 1 => choose(), 1 => stop(), 1 => plain()
        ]
        .boxed(),
    };
    let guarded = (0..2u8, any::<bool>(), 0..3u8, base.clone())
        .prop_map(|(register, equal, value, inner)| Gene::Guarded { register, equal, value, inner: Box::new(inner) });
    prop_oneof![5 => base, 1 => guarded].boxed()
}

/// Programs of 2 to 4 threads with up to 4 genes each.
pub(crate) fn genomes(flavour: Flavour) -> impl Strategy<Value = Genome> {
    let threads = prop::collection::vec(prop::collection::vec(gene(flavour), 1..=4), 2..=4);
    (threads, 0..4u8, 0..2u8).prop_map(|(threads, palette, semaphore)| Genome { threads, palette, semaphore })
}

/// Checks random programs, the same ones every time for a seed.
///
/// # Panics
///
/// With a program that fails and has been made small, if there is one.
pub(crate) fn check(flavour: Flavour, cases: u32, seed: u64, check: impl Fn(&Program) -> Result<(), String>) {
    let failure = run(flavour, cases, seed, |program| check(program).map_err(TestCaseError::fail));
    if let Some((reason, program)) = failure {
        panic!("seed {seed}, {flavour:?}: {program}\n{reason}");
    }
}

/// The smallest program found that fails a check.
pub(crate) fn smallest_failure(
    flavour: Flavour,
    cases: u32,
    seed: u64,
    check: impl Fn(&Program) -> Result<(), TestCaseError>,
) -> Option<Program> {
    run(flavour, cases, seed, check).map(|(_, program)| program)
}

fn run(
    flavour: Flavour,
    cases: u32,
    seed: u64,
    check: impl Fn(&Program) -> Result<(), TestCaseError>,
) -> Option<(String, Program)> {
    let mut bytes = [flavour as u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let size = flavour.size();
    match runner.run(&genomes(flavour), |genome| check(&genome.program(size))) {
        Ok(()) => None,
        Err(TestError::Fail(reason, genome)) => Some((reason.to_string(), genome.program(size))),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

const ATOMICS: usize = 0;
const MUTEXES: usize = 2;
const SEMAPHORE: usize = 4;
const CHANNEL: usize = 5;
const CONDVAR: usize = 6;
const COUNTER: usize = 7;
const PLAIN: usize = 8;
const BOUNDED: usize = 10;
const NAMES: [&str; 11] = ["x", "y", "m", "n", "s", "c", "w", "k", "p", "q", "b"];

impl Genome {
    /// The program, cut off where it would have more than `most` visible operations.
    pub(crate) fn program(&self, most: usize) -> Program {
        let mut vars: Vec<Var> = NAMES.iter().map(|n| Var { name: n.to_string(), init: 0 }).collect();
        vars[SEMAPHORE].init = i64::from(self.semaphore);
        let mut threads = vec![Vec::new(); self.threads.len()];
        let mut left = most;
        for round in 0..4 {
            for (genes, code) in self.threads.iter().zip(&mut threads) {
                let Some(gene) = genes.get(round) else { continue };
                if let Some(rest) = left.checked_sub(gene.size()) {
                    left = rest;
                    self.compile(gene, code);
                }
            }
        }
        Program { vars, threads, finals: Vec::new() }
    }

    fn order(&self, raw: u8) -> Ordering {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        let palette: &[Ordering] = match self.palette {
            0 => &[Relaxed, Acquire, Release, AcqRel, SeqCst],
            1 => &[Relaxed, Relaxed, SeqCst],
            2 => &[Relaxed, AcqRel, AcqRel],
            _ => &[Relaxed],
        };
        palette[usize::from(raw) % palette.len()]
    }

    fn load_order(&self, raw: u8) -> Ordering {
        match self.order(raw) {
            Ordering::Release => Ordering::Relaxed,
            Ordering::AcqRel => Ordering::Acquire,
            order => order,
        }
    }

    fn store_order(&self, raw: u8) -> Ordering {
        match self.order(raw) {
            Ordering::Acquire => Ordering::Relaxed,
            Ordering::AcqRel => Ordering::Release,
            order => order,
        }
    }

    /// There are no relaxed fences.
    fn fence_order(&self, raw: u8) -> Ordering {
        match self.order(raw) {
            Ordering::Relaxed => Ordering::SeqCst,
            order => order,
        }
    }

    fn compile(&self, gene: &Gene, code: &mut Vec<Instr>) {
        let atomic = |var: u8| Place::var(ATOMICS + usize::from(var));
        let lock =
            |op, mutex: u8, to| Instr::Object { on: Place::var(MUTEXES + usize::from(mutex)), op, argument: 0, to };
        let unused = REGISTERS - 1;
        match gene {
            Gene::Load { var, order, to } => {
                code.push(Instr::Load { at: atomic(*var), order: self.load_order(*order), to: usize::from(*to) });
            }
            Gene::Store { var, order, value } => {
                code.push(Instr::Store { at: atomic(*var), value: value.expr(), order: self.store_order(*order) });
            }
            Gene::Update { var, order, failure, value, expected, kind, to } => {
                let expected = Expr::Const(i64::from(*expected));
                let (kind, operands, weak) = match kind {
                    Update::Add => (UpdateKind::Add, [value.expr(), Expr::Const(0)], false),
                    Update::Exchange => (UpdateKind::Exchange, [value.expr(), Expr::Const(0)], false),
                    Update::Strong => (UpdateKind::CompareExchange, [expected, value.expr()], false),
                    Update::Weak => (UpdateKind::CompareExchange, [expected, value.expr()], true),
                };
                let (order, failure) = (self.order(*order), self.load_order(*failure));
                code.push(Instr::Update {
                    at: atomic(*var),
                    kind,
                    operands,
                    order,
                    failure,
                    weak,
                    to: usize::from(*to),
                });
            }
            Gene::Fence { order } => code.push(Instr::Fence(self.fence_order(*order))),
            Gene::Object { op, which, to } => {
                code.push(Instr::Object {
                    on: Place::var(object_of(*op, *which)),
                    op: *op,
                    argument: argument_of(*op, *which),
                    to: usize::from(*to),
                });
            }
            Gene::Section { mutex, inner } => {
                code.push(lock(ObjectOp::Lock, *mutex, unused));
                self.compile(inner, code);
                code.push(lock(ObjectOp::Unlock, *mutex, unused));
            }
            Gene::TrySection { mutex, inner, to } => {
                let to = usize::from(*to);
                code.push(lock(ObjectOp::TryLock, *mutex, to));
                unless(Expr::Reg(to), code, |code| {
                    self.compile(inner, code);
                    code.push(lock(ObjectOp::Unlock, *mutex, unused));
                });
            }
            Gene::Wait { timed, to } => {
                let wake = if *timed { ObjectOp::TimedWake } else { ObjectOp::Wake };
                let condvar = |op, to| Instr::Object { on: Place::var(CONDVAR), op, argument: 0, to };
                code.push(condvar(ObjectOp::Enqueue, unused));
                code.push(lock(ObjectOp::Unlock, 0, unused));
                code.push(condvar(wake, usize::from(*to)));
                code.push(lock(ObjectOp::Lock, 0, unused));
            }
            Gene::Guarded { register, equal, value, inner } => {
                unless(comparison(*register, *equal, *value), code, |code| self.compile(inner, code));
            }
            Gene::Choose { alternatives, to } => {
                code.push(Instr::Choose { alternatives: u32::from(*alternatives), to: usize::from(*to) });
            }
            Gene::Assume { register, equal, value } => {
                code.push(Instr::Assume(comparison(*register, *equal, *value)));
            }
            Gene::Await { var, order, equal, value, to } => {
                let back = code.len();
                code.push(Instr::Load { at: atomic(*var), order: self.load_order(*order), to: usize::from(*to) });
                code.push(Instr::Await { until: comparison(*to, *equal, *value), back });
            }
            Gene::Plain { var, write } => {
                let at = Place::var(PLAIN + usize::from(*var));
                code.push(if *write {
                    Instr::PlainWrite { at, value: Expr::Const(1) }
                } else {
                    // Nothing may depend on the value: that of a race is arbitrary.
                    Instr::PlainRead { at, to: unused }
                });
            }
        }
    }
}

/// Code that is skipped if the condition is 0.
fn unless(condition: Expr, code: &mut Vec<Instr>, body: impl FnOnce(&mut Vec<Instr>)) {
    let test = code.len();
    code.push(Instr::Jump { target: 0 });
    body(code);
    code[test] = Instr::JumpUnless { condition, target: code.len() };
}

fn comparison(register: u8, equal: bool, value: u8) -> Expr {
    let operator = if equal { Operator::Eq } else { Operator::Ne };
    Expr::binary(operator, Expr::Reg(usize::from(register)), Expr::Const(i64::from(value)))
}

fn object_of(op: ObjectOp, which: u8) -> usize {
    match op {
        ObjectOp::Lock | ObjectOp::Unlock | ObjectOp::TryLock => MUTEXES + usize::from(which),
        ObjectOp::Acquire | ObjectOp::Release | ObjectOp::TryAcquire | ObjectOp::Set | ObjectOp::WaitForZero => {
            SEMAPHORE
        }
        ObjectOp::SendBounded => BOUNDED,
        ObjectOp::Send => CHANNEL,
        ObjectOp::Receive | ObjectOp::TryReceive => {
            if which == 0 {
                CHANNEL
            } else {
                BOUNDED
            }
        }
        ObjectOp::Enqueue | ObjectOp::NotifyOne | ObjectOp::NotifyAll | ObjectOp::Wake | ObjectOp::TimedWake => CONDVAR,
        ObjectOp::Arrive | ObjectOp::WaitFor => COUNTER,
    }
}

fn argument_of(op: ObjectOp, which: u8) -> u64 {
    match op {
        ObjectOp::Send | ObjectOp::SendBounded | ObjectOp::WaitFor => u64::from(which) + 1,
        ObjectOp::Set => u64::from(which),
        _ => 0,
    }
}

impl Value {
    fn expr(self) -> Expr {
        match self {
            Value::Constant(value) => Expr::Const(i64::from(value)),
            Value::Register(register) => Expr::binary(Operator::Add, Expr::Reg(usize::from(register)), Expr::Const(1)),
        }
    }
}

impl Gene {
    /// Number of visible operations; plain accesses are none.
    fn size(&self) -> usize {
        match self {
            Gene::Section { inner, .. } | Gene::TrySection { inner, .. } => inner.size() + 2,
            Gene::Wait { .. } => 4,
            Gene::Guarded { inner, .. } => inner.size(),
            Gene::Assume { .. } | Gene::Plain { .. } => 0,
            _ => 1,
        }
    }
}
