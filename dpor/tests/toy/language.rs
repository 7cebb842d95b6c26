//! The notation of `data/programs.tsv` (described in `data/README.md`): a tokenizer and a recursive-descent compiler.

use std::collections::HashMap;

use dpor::Ordering;

use super::objects::ObjectOp;
use super::program::{Expr, Instr, Operator, Place, Program, REGISTERS, UpdateKind};

/// Compiles a program.
///
/// # Panics
///
/// On anything it does not understand, with the rest of the input: the inputs are files of this repository.
pub(crate) fn parse(text: &str) -> Program {
    let mut compiler = Compiler { tokens: tokenize(text), ..Compiler::default() };
    compiler.declarations();
    compiler.find_barrier_members();
    loop {
        compiler.thread();
        if !compiler.eat("||") {
            break;
        }
    }
    if compiler.eat(";;") {
        compiler.expect("final");
        compiler.expect("(");
        let condition = compiler.expr(true);
        compiler.program.finals.push(condition);
        compiler.expect(")");
    }
    assert!(compiler.peek().is_none(), "left over: {:?}", &compiler.tokens[compiler.position..]);
    compiler.program
}

const SYMBOLS: [&str; 7] = ["||", ";;", ":=", "==", "!=", "<=", ">="];

fn tokenize(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let symbol = SYMBOLS.iter().find(|s| rest.starts_with(**s));
        let length = match symbol {
            Some(symbol) => symbol.len(),
            None if word(first) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            None => first.len_utf8(),
        };
        tokens.push(rest[..length].to_string());
        rest = rest[length..].trim_start();
    }
    tokens
}

#[derive(Default)]
struct Compiler {
    tokens: Vec<String>,
    position: usize,
    program: Program,
    /// Element 0 of every array.
    arrays: HashMap<String, usize>,
    /// For every barrier the threads that use it.
    members: HashMap<String, Vec<usize>>,
    /// How often the current thread has passed every barrier.
    rounds: HashMap<String, u64>,
    code: Vec<Instr>,
    /// Jumps to the end of the thread, by position.
    exits: Vec<usize>,
    /// Jumps to the end of the enclosing loops, innermost last.
    breaks: Vec<Vec<usize>>,
}

/// The target of a jump that is not known yet.
const LATER: usize = usize::MAX;

impl Compiler {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.position).map(String::as_str)
    }

    fn take(&mut self) -> String {
        let token = self.tokens.get(self.position).expect("unexpected end of the program").clone();
        self.position += 1;
        token
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.peek() == Some(token);
        self.position += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) {
        assert!(self.eat(token), "expected {token:?} at {:?}", &self.tokens[self.position..]);
    }

    fn number(&mut self) -> i64 {
        let sign = if self.eat("-") { -1 } else { 1 };
        let token = self.take();
        sign * token.parse::<i64>().unwrap_or_else(|_| panic!("{token:?} is no number"))
    }

    /// `{x=1; a[3]; mutex m; barrier b 2}`
    fn declarations(&mut self) {
        if !self.eat("{") {
            return;
        }
        while !self.eat("}") {
            let name = self.take();
            match name.as_str() {
                ";" => {}
                "mutex" => {
                    while !matches!(self.peek(), Some(";" | "}")) {
                        let name = self.take();
                        self.program.var(&name);
                    }
                }
                "barrier" => {
                    let name = self.take();
                    let members = self.number() as usize;
                    self.members.insert(name, Vec::with_capacity(members));
                }
                _ if self.eat("=") => {
                    let var = self.program.var(&name);
                    self.program.vars[var].init = self.number();
                }
                _ => {
                    self.expect("[");
                    let length = self.number();
                    self.expect("]");
                    let elements: Vec<usize> = (0..length).map(|i| self.program.var(&format!("{name}[{i}]"))).collect();
                    self.arrays.insert(name, elements[0]);
                }
            }
        }
    }

    /// A barrier is one counter for each member, so that the order of arrival, which nobody sees, is not part of the graph.
    fn find_barrier_members(&mut self) {
        let mut thread = 0;
        for window in self.tokens.windows(3) {
            thread += usize::from(window[0] == "||");
            if window[0] == "B" && window[1] == "(" {
                let members = self.members.get_mut(&window[2]).expect("a declared barrier");
                if !members.contains(&thread) {
                    members.push(thread);
                }
            }
        }
    }

    fn thread(&mut self) {
        self.rounds.clear();
        while !matches!(self.peek(), None | Some("||" | ";;")) {
            self.statement();
        }
        let end = self.code.len();
        for jump in std::mem::take(&mut self.exits) {
            self.code[jump] = Instr::Jump { target: end };
        }
        self.program.threads.push(std::mem::take(&mut self.code));
    }

    fn block(&mut self) {
        self.expect("{");
        while !self.eat("}") {
            self.statement();
        }
    }

    fn statement(&mut self) {
        let word = self.take();
        match word.as_str() {
            ";" => {}
            "W" | "WN" => {
                let at = self.open_place();
                self.expect(",");
                let value = self.expr(false);
                let instr = if word == "WN" {
                    Instr::PlainWrite { at, value }
                } else {
                    Instr::Store { at, value, order: self.comma_order() }
                };
                self.expect(")");
                self.code.push(instr);
            }
            "F" => {
                self.expect("(");
                let order = self.order();
                self.expect(")");
                self.code.push(Instr::Fence(order));
            }
            "L" | "U" => {
                let op = if word == "L" { ObjectOp::Lock } else { ObjectOp::Unlock };
                self.object(op, REGISTERS - 1);
            }
            "B" => self.barrier(),
            "AS" | "assert" => {
                self.expect("(");
                let condition = self.expr(false);
                self.expect(")");
                self.code.push(if word == "AS" { Instr::Assume(condition) } else { Instr::Assert(condition) });
            }
            "AWAIT" => {
                self.expect("(");
                let back = self.code.len();
                let register = self.take();
                self.assignment(&register);
                self.expect(",");
                let until = self.expr(false);
                self.expect(")");
                self.code.push(Instr::Await { until, back });
            }
            "if" => self.branch(),
            "exit" => {
                self.exits.push(self.code.len());
                self.code.push(Instr::Jump { target: LATER });
            }
            "loop" => self.bounded_loop(),
            "brk" => {
                self.expect("(");
                let condition = self.expr(false);
                self.expect(")");
                let after = self.code.len() + 2;
                self.code.push(Instr::JumpUnless { condition, target: after });
                self.breaks.last_mut().expect("brk is in a loop").push(self.code.len());
                self.code.push(Instr::Jump { target: LATER });
            }
            register => self.assignment(register),
        }
    }

    /// What follows the register in `r0=R(x,rlx)` and `r0:=1`.
    fn assignment(&mut self, register: &str) {
        let to = register_of(register).unwrap_or_else(|| panic!("{register:?} is no statement"));
        if self.eat(":=") {
            let value = self.expr(false);
            self.code.push(Instr::Set { to, value });
            return;
        }
        self.expect("=");
        let word = self.take();
        let zero = Expr::Const(0);
        let instr = match word.as_str() {
            "TL" => return self.object(ObjectOp::TryLock, to),
            "R" => {
                let at = self.open_place();
                Instr::Load { at, order: self.comma_order(), to }
            }
            "RN" => Instr::PlainRead { at: self.open_place(), to },
            "FAA" | "XCHG" => {
                let at = self.open_place();
                self.expect(",");
                let operands = [self.expr(false), zero];
                let order = self.comma_order();
                let kind = if word == "FAA" { UpdateKind::Add } else { UpdateKind::Exchange };
                Instr::Update { at, kind, operands, order, failure: Ordering::Relaxed, weak: false, to }
            }
            "CAS" => {
                let at = self.open_place();
                self.expect(",");
                let expected = self.expr(false);
                self.expect(",");
                let operands = [expected, self.expr(false)];
                let (order, failure) = (self.comma_order(), self.comma_order());
                Instr::Update { at, kind: UpdateKind::CompareExchange, operands, order, failure, weak: false, to }
            }
            other => panic!("{other:?} is no operation"),
        };
        self.expect(")");
        self.code.push(instr);
    }

    fn object(&mut self, op: ObjectOp, to: usize) {
        self.expect("(");
        let name = self.take();
        self.expect(")");
        let on = Place::var(self.program.var(&name));
        self.code.push(Instr::Object { on, op, argument: 0, to });
    }

    fn barrier(&mut self) {
        self.expect("(");
        let name = self.take();
        self.expect(")");
        let me = self.program.threads.len();
        let round = self.rounds.entry(name.clone()).or_default();
        *round += 1;
        let (round, to) = (*round, REGISTERS - 1);
        let members = self.members[&name].clone();
        let mut counter = |thread: usize| Place::var(self.program.var(&format!("{name}.{thread}")));
        self.code.push(Instr::Object { on: counter(me), op: ObjectOp::Arrive, argument: 0, to });
        for other in members.into_iter().filter(|&other| other != me) {
            self.code.push(Instr::Object { on: counter(other), op: ObjectOp::WaitFor, argument: round, to });
        }
    }

    fn branch(&mut self) {
        self.expect("(");
        let condition = self.expr(false);
        self.expect(")");
        let test = self.code.len();
        self.code.push(Instr::Jump { target: LATER });
        self.block();
        let mut target = self.code.len();
        if self.eat("else") {
            self.code.push(Instr::Jump { target: LATER });
            self.block();
            self.code[target] = Instr::Jump { target: self.code.len() };
            target += 1;
        }
        self.code[test] = Instr::JumpUnless { condition, target };
    }

    /// The rounds are unrolled; after the last one the thread stops for ever.
    fn bounded_loop(&mut self) {
        self.expect("(");
        let rounds = self.number();
        self.expect(")");
        self.breaks.push(Vec::new());
        let start = self.position;
        for _ in 0..rounds {
            self.position = start;
            self.block();
        }
        self.code.push(Instr::Assume(Expr::Const(0)));
        let end = self.code.len();
        for jump in self.breaks.pop().expect("pushed above") {
            self.code[jump] = Instr::Jump { target: end };
        }
    }

    fn open_place(&mut self) -> Place {
        self.expect("(");
        let name = self.take();
        if self.eat("[") {
            let index = self.expr(false);
            self.expect("]");
            let base = *self.arrays.get(&name).unwrap_or_else(|| panic!("{name:?} is no array"));
            return Place { base, index: Some(index) };
        }
        Place::var(self.program.var(&name))
    }

    fn order(&mut self) -> Ordering {
        match self.take().as_str() {
            "rlx" => Ordering::Relaxed,
            "acq" => Ordering::Acquire,
            "rel" => Ordering::Release,
            "ar" => Ordering::AcqRel,
            "sc" => Ordering::SeqCst,
            other => panic!("{other:?} is no memory ordering"),
        }
    }

    fn comma_order(&mut self) -> Ordering {
        self.expect(",");
        self.order()
    }

    /// An expression; with `finals`, names other than registers are final values.
    fn expr(&mut self, finals: bool) -> Expr {
        self.level(0, finals)
    }

    /// Operators of one level of precedence and above, all associating to the left.
    fn level(&mut self, level: usize, finals: bool) -> Expr {
        const LEVELS: [&[(&str, Operator)]; 5] = [
            &[("|", Operator::Or)],
            &[("&", Operator::And)],
            &[
                ("==", Operator::Eq),
                ("!=", Operator::Ne),
                ("<=", Operator::Le),
                (">=", Operator::Ge),
                ("<", Operator::Lt),
                (">", Operator::Gt),
            ],
            &[("+", Operator::Add), ("-", Operator::Sub)],
            &[("*", Operator::Mul)],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.atom(finals) };
        let mut left = self.level(level + 1, finals);
        while let Some(&(symbol, operator)) = operators.iter().find(|(s, _)| self.peek() == Some(s)) {
            self.expect(symbol);
            left = Expr::binary(operator, left, self.level(level + 1, finals));
        }
        left
    }

    fn atom(&mut self, finals: bool) -> Expr {
        if self.eat("(") {
            let inner = self.expr(finals);
            self.expect(")");
            return inner;
        }
        if self.eat("-") {
            return Expr::binary(Operator::Sub, Expr::Const(0), self.atom(finals));
        }
        let token = self.take();
        if let Ok(value) = token.parse() {
            return Expr::Const(value);
        }
        if !finals {
            return Expr::Reg(register_of(&token).unwrap_or_else(|| panic!("{token:?} is no register")));
        }
        if self.eat("[") {
            let element = format!("{token}[{}]", self.number());
            self.expect("]");
            return Expr::Final(self.program.var(&element));
        }
        Expr::Final(self.program.var(&token))
    }
}

fn register_of(token: &str) -> Option<usize> {
    let register = token.strip_prefix('r')?.parse().ok()?;
    (register < REGISTERS).then_some(register)
}

/// One row of `data/programs.tsv`.
#[derive(Debug)]
pub(crate) struct Row {
    /// Family and parameters.
    pub(crate) name: String,
    pub(crate) sc: u64,
    pub(crate) rc11: u64,
    pub(crate) racy_rc11: Option<u64>,
    pub(crate) violating_sc: Option<u64>,
    pub(crate) violating_rc11: Option<u64>,
    /// Executions under sequential consistency with at most 0, 1, 2, ... preemptions.
    pub(crate) preempt: Option<Vec<u64>>,
    pub(crate) program: Program,
    /// The numbers as they are written: `sc` to `preempt`.
    pub(crate) columns: Vec<String>,
}

/// All rows of `data/programs.tsv`.
pub(crate) fn rows() -> Vec<Row> {
    let text = include_str!("../data/programs.tsv");
    text.lines().skip(1).map(row).collect()
}

fn row(line: &str) -> Row {
    let columns: Vec<&str> = line.split('\t').collect();
    let [family, params, sc, rc11, racy, violating_sc, violating_rc11, preempt, program] = columns[..] else {
        panic!("a row has nine columns: {line}")
    };
    let number = |text: &str| (!text.is_empty()).then(|| text.parse().expect("a number"));
    let numbers = |text: &str| text.split(',').map(|n| n.parse().expect("a number")).collect();
    Row {
        name: format!("{family} {params}").trim_end().to_string(),
        sc: number(sc).expect("every row has a number for SC"),
        rc11: number(rc11).expect("every row has a number for RC11"),
        racy_rc11: number(racy),
        violating_sc: number(violating_sc),
        violating_rc11: number(violating_rc11),
        preempt: (!preempt.is_empty()).then(|| numbers(preempt)),
        program: parse(program),
        columns: columns[2..8].iter().map(|c| c.to_string()).collect(),
    }
}
