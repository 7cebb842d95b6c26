//! Programs small enough for brute force: straight-line code with registers, jumps and shared variables.

use std::fmt;

use dpor::Ordering;

use super::objects::ObjectOp;

/// Number of registers of a thread.
pub(crate) const REGISTERS: usize = 8;

/// An expression over the registers of a thread, or over final values (in `Program::finals`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expr {
    Const(i64),
    Reg(usize),
    /// The value a variable has in the end; only meaningful in `Program::finals`.
    Final(usize),
    Binary(Operator, Box<Expr>, Box<Expr>),
}

/// A binary operator; comparisons give 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Sub,
    Mul,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

impl Operator {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Sub => "-",
            Operator::Mul => "*",
            Operator::Eq => "==",
            Operator::Ne => "!=",
            Operator::Lt => "<",
            Operator::Le => "<=",
            Operator::Gt => ">",
            Operator::Ge => ">=",
            Operator::And => "&",
            Operator::Or => "|",
        }
    }
}

impl Expr {
    pub(crate) fn binary(operator: Operator, left: Expr, right: Expr) -> Expr {
        Expr::Binary(operator, Box::new(left), Box::new(right))
    }

    pub(crate) fn eval(&self, registers: &[i64; REGISTERS], finals: &[i64]) -> i64 {
        match self {
            Expr::Const(value) => *value,
            Expr::Reg(register) => registers[*register],
            Expr::Final(var) => finals[*var],
            Expr::Binary(operator, left, right) => {
                let (l, r) = (left.eval(registers, finals), right.eval(registers, finals));
                match operator {
                    Operator::Add => l.wrapping_add(r),
                    Operator::Sub => l.wrapping_sub(r),
                    Operator::Mul => l.wrapping_mul(r),
                    Operator::Eq => i64::from(l == r),
                    Operator::Ne => i64::from(l != r),
                    Operator::Lt => i64::from(l < r),
                    Operator::Le => i64::from(l <= r),
                    Operator::Gt => i64::from(l > r),
                    Operator::Ge => i64::from(l >= r),
                    Operator::And => i64::from(l != 0 && r != 0),
                    Operator::Or => i64::from(l != 0 || r != 0),
                }
            }
        }
    }
}

/// A variable, or an element of an array that is chosen when the instruction runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The variable, or element 0 of the array.
    pub(crate) base: usize,
    pub(crate) index: Option<Expr>,
}

impl Place {
    pub(crate) fn var(base: usize) -> Place {
        Place { base, index: None }
    }
}

/// What an atomic read-modify-write does with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum UpdateKind {
    /// Adds operand 0.
    Add,
    /// Stores operand 0.
    Exchange,
    /// Stores operand 1 if the old value is operand 0.
    CompareExchange,
}

/// One instruction. The position in the code of a thread is its name in canonical executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instr {
    Load {
        at: Place,
        order: Ordering,
        to: usize,
    },
    Store {
        at: Place,
        value: Expr,
        order: Ordering,
    },
    Update {
        at: Place,
        kind: UpdateKind,
        operands: [Expr; 2],
        order: Ordering,
        failure: Ordering,
        weak: bool,
        to: usize,
    },
    Object {
        on: Place,
        op: ObjectOp,
        argument: u64,
        to: usize,
    },
    Fence(Ordering),
    PlainRead {
        at: Place,
        to: usize,
    },
    PlainWrite {
        at: Place,
        value: Expr,
    },
    /// Any value below the number.
    Choose {
        alternatives: u32,
        to: usize,
    },
    /// Local: a register gets a value.
    Set {
        to: usize,
        value: Expr,
    },
    /// Local: goes to `target` if the condition is 0.
    JumpUnless {
        condition: Expr,
        target: usize,
    },
    /// Local: goes to `target`.
    Jump {
        target: usize,
    },
    /// Local: marks the execution as violating if the condition is 0.
    Assert(Expr),
    /// The thread stops for ever if the condition is 0, and the execution does not count.
    Assume(Expr),
    /// The end of an iteration of a loop that started at `back`: goes on if the condition holds, else spins.
    Await {
        until: Expr,
        back: usize,
    },
}

/// A shared variable: an atomic, plain memory, or the state of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) init: i64,
}

/// A program: the main thread starts all `threads`, in order, and joins them, in order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Program {
    pub(crate) vars: Vec<Var>,
    pub(crate) threads: Vec<Vec<Instr>>,
    /// Conditions on final values.
    pub(crate) finals: Vec<Expr>,
}

impl Program {
    /// The index of a variable, which is added with initial value 0 if it is new.
    pub(crate) fn var(&mut self, name: &str) -> usize {
        match self.vars.iter().position(|v| v.name == name) {
            Some(index) => index,
            None => {
                self.vars.push(Var { name: name.to_string(), init: 0 });
                self.vars.len() - 1
            }
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Const(value) => write!(f, "{value}"),
            Expr::Reg(register) => write!(f, "r{register}"),
            Expr::Final(var) => write!(f, "final{var}"),
            Expr::Binary(operator, left, right) => write!(f, "({left} {} {right})", operator.symbol()),
        }
    }
}

/// The short name of a memory ordering in the program notation.
pub(crate) fn order_name(order: Ordering) -> &'static str {
    match order {
        Ordering::Relaxed => "rlx",
        Ordering::Acquire => "acq",
        Ordering::Release => "rel",
        Ordering::AcqRel => "ar",
        _ => "sc",
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for var in self.vars.iter().filter(|v| v.init != 0) {
            write!(f, "{}={} ", var.name, var.init)?;
        }
        for (t, code) in self.threads.iter().enumerate() {
            writeln!(f, "\n  thread {}:", t + 1)?;
            for (pc, instr) in code.iter().enumerate() {
                write!(f, "    {pc:2}: ")?;
                self.write_instr(f, instr)?;
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

impl Program {
    fn place(&self, place: &Place) -> String {
        let name = &self.vars[place.base].name;
        match &place.index {
            None => name.clone(),
            Some(index) => format!("{name}+[{index}]"),
        }
    }

    fn write_instr(&self, f: &mut fmt::Formatter<'_>, instr: &Instr) -> fmt::Result {
        match instr {
            Instr::Load { at, order, to } => write!(f, "r{to} = R({}, {})", self.place(at), order_name(*order)),
            Instr::Store { at, value, order } => write!(f, "W({}, {value}, {})", self.place(at), order_name(*order)),
            Instr::Update { at, kind, operands, order, failure, weak, to } => write!(
                f,
                "r{to} = {kind:?}{}({}, {}, {}, {}, {})",
                if *weak { "Weak" } else { "" },
                self.place(at),
                operands[0],
                operands[1],
                order_name(*order),
                order_name(*failure)
            ),
            Instr::Object { on, op, argument, to } => write!(f, "r{to} = {op:?}({}, {argument})", self.place(on)),
            Instr::Fence(order) => write!(f, "F({})", order_name(*order)),
            Instr::PlainRead { at, to } => write!(f, "r{to} = RN({})", self.place(at)),
            Instr::PlainWrite { at, value } => write!(f, "WN({}, {value})", self.place(at)),
            Instr::Choose { alternatives, to } => write!(f, "r{to} = choose({alternatives})"),
            Instr::Set { to, value } => write!(f, "r{to} := {value}"),
            Instr::JumpUnless { condition, target } => write!(f, "unless {condition} goto {target}"),
            Instr::Jump { target } => write!(f, "goto {target}"),
            Instr::Assert(condition) => write!(f, "assert({condition})"),
            Instr::Assume(condition) => write!(f, "AS({condition})"),
            Instr::Await { until, back } => write!(f, "until {until} spin to {back}"),
        }
    }
}
