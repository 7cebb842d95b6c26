//! What a thread of a toy program asks for next, and what it does with the answer. Shared by all ways of running a program.

use dpor::{Budget, Ordering, Outcome, Outcomes, ThreadId};

use super::objects::ObjectOp;
use super::program::{Instr, Place, Program, REGISTERS, UpdateKind};

/// The local state of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) pc: usize,
    pub(crate) registers: [i64; REGISTERS],
    /// Whether an assertion failed.
    pub(crate) violated: bool,
}

/// An operation on shared state with its operands evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visible {
    Load { var: usize, order: Ordering },
    Store { var: usize, value: u64, order: Ordering },
    Update { var: usize, kind: UpdateKind, operands: [u64; 2], order: Ordering, failure: Ordering, weak: bool },
    Object { var: usize, op: ObjectOp, argument: u64 },
    Fence { order: Ordering },
    Choose { alternatives: u32 },
    PlainRead { var: usize },
    PlainWrite { var: usize, value: u64 },
}

/// How a thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It wants to do this.
    Do(Visible),
    /// It is over.
    End,
    /// It stopped at an assumption that does not hold.
    Assume,
    /// It is at the end of an iteration of a waiting loop, to be repeated from this instruction.
    Spin { back: usize },
}

impl Thread {
    pub(crate) fn new() -> Thread {
        Thread { pc: 0, registers: [0; REGISTERS], violated: false }
    }

    /// Runs local instructions up to the next visible one.
    pub(crate) fn next(&mut self, code: &[Instr]) -> Next {
        loop {
            let Some(instr) = code.get(self.pc) else { return Next::End };
            match instr {
                Instr::Set { to, value } => self.registers[*to] = value.eval(&self.registers, &[]),
                Instr::JumpUnless { condition, target } => {
                    if condition.eval(&self.registers, &[]) == 0 {
                        self.pc = *target;
                        continue;
                    }
                }
                Instr::Jump { target } => {
                    self.pc = *target;
                    continue;
                }
                Instr::Assert(condition) => self.violated |= condition.eval(&self.registers, &[]) == 0,
                Instr::Assume(condition) => {
                    if condition.eval(&self.registers, &[]) == 0 {
                        return Next::Assume;
                    }
                }
                Instr::Await { until, back } => {
                    if until.eval(&self.registers, &[]) == 0 {
                        return Next::Spin { back: *back };
                    }
                }
                visible => return Next::Do(self.visible(visible)),
            }
            self.pc += 1;
        }
    }

    /// Takes the result of the visible instruction that `next` stopped at.
    pub(crate) fn take(&mut self, code: &[Instr], result: u64) {
        match &code[self.pc] {
            Instr::Load { to, .. }
            | Instr::Update { to, .. }
            | Instr::Object { to, .. }
            | Instr::PlainRead { to, .. }
            | Instr::Choose { to, .. } => self.registers[*to] = result as i64,
            _ => {}
        }
        self.pc += 1;
    }

    fn at(&self, place: &Place) -> usize {
        match &place.index {
            None => place.base,
            Some(index) => place.base.wrapping_add_signed(index.eval(&self.registers, &[]) as isize),
        }
    }

    fn visible(&self, instr: &Instr) -> Visible {
        let word = |e: &super::program::Expr| e.eval(&self.registers, &[]) as u64;
        match instr {
            Instr::Load { at, order, .. } => Visible::Load { var: self.at(at), order: *order },
            Instr::Store { at, value, order } => Visible::Store { var: self.at(at), value: word(value), order: *order },
            Instr::Update { at, kind, operands, order, failure, weak, .. } => Visible::Update {
                var: self.at(at),
                kind: *kind,
                operands: [word(&operands[0]), word(&operands[1])],
                order: *order,
                failure: *failure,
                weak: *weak,
            },
            Instr::Object { on, op, argument, .. } => {
                Visible::Object { var: self.at(on), op: *op, argument: *argument }
            }
            Instr::Fence(order) => Visible::Fence { order: *order },
            Instr::Choose { alternatives, .. } => Visible::Choose { alternatives: *alternatives },
            Instr::PlainRead { at, .. } => Visible::PlainRead { var: self.at(at) },
            Instr::PlainWrite { at, value } => Visible::PlainWrite { var: self.at(at), value: word(value) },
            local => unreachable!("{local:?} is local"),
        }
    }
}

/// The new value of an atomic read-modify-write, or `None` if it writes nothing.
pub(crate) fn update(kind: UpdateKind, old: u64, operands: [u64; 2]) -> Option<u64> {
    match kind {
        UpdateKind::Add => Some(old.wrapping_add(operands[0])),
        UpdateKind::Exchange => Some(operands[0]),
        UpdateKind::CompareExchange => (old == operands[0]).then_some(operands[1]),
    }
}

impl Visible {
    /// The variable it is on.
    pub(crate) fn var(&self) -> Option<usize> {
        match *self {
            Visible::Load { var, .. }
            | Visible::Store { var, .. }
            | Visible::Update { var, .. }
            | Visible::Object { var, .. }
            | Visible::PlainRead { var }
            | Visible::PlainWrite { var, .. } => Some(var),
            Visible::Fence { .. } | Visible::Choose { .. } => None,
        }
    }

    /// Whether it reads the state of its variable.
    pub(crate) fn reads(&self) -> bool {
        !matches!(
            self,
            Visible::Store { .. } | Visible::PlainWrite { .. } | Visible::Fence { .. } | Visible::Choose { .. }
        )
    }

    /// Whether it is a plain access.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Visible::PlainRead { .. } | Visible::PlainWrite { .. })
    }

    /// The outcomes in a state of the variable; the state is ignored by what does not read.
    pub(crate) fn outcomes(&self, state: u64, thread: ThreadId) -> Vec<Outcome> {
        match *self {
            Visible::Load { .. } | Visible::PlainRead { .. } => vec![Outcome::read(state)],
            Visible::Store { value, .. } | Visible::PlainWrite { value, .. } => vec![Outcome::write(value, 0)],
            Visible::Update { kind, operands, weak, .. } => match update(kind, state, operands) {
                Some(new) if weak => {
                    vec![Outcome::write(new, state), Outcome::read(state).costs(Budget::Spurious)]
                }
                Some(new) => vec![Outcome::write(new, state)],
                None => vec![Outcome::read(state)],
            },
            Visible::Object { op, argument, .. } => {
                let mut out = Outcomes::default();
                op.outs()(state, [argument, 0], thread, &mut out);
                out.as_slice().to_vec()
            }
            Visible::Fence { .. } => vec![Outcome::read(0)],
            Visible::Choose { alternatives } => (0..u64::from(alternatives)).map(Outcome::read).collect(),
        }
    }
}

/// The identity of the n-th thread that the main thread starts.
pub(crate) fn thread_id(thread: usize) -> ThreadId {
    ThreadId(thread as u32 + 1)
}

/// The initial states of the variables.
pub(crate) fn initial(program: &Program) -> Vec<u64> {
    program.vars.iter().map(|v| v.init as u64).collect()
}
