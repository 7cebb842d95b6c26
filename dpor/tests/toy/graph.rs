//! A growing execution graph with the threads that grow it.

use dpor::{Budget, Outcome};

use super::axioms::Relations;
use super::enumerate::Axioms;
use super::execution::{At, Entry, Execution, Facts, Kind, Source, Status};
use super::machine::{Next, Thread, Visible, initial, thread_id};
use super::preemptions;
use super::program::Program;

/// What plain accesses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    /// Events with reads-from and modification order, like relaxed atomics.
    Events,
    /// No events: memory that is touched in the order of execution and watched for races.
    Accesses,
}

/// A plain access that is no event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainAccess {
    pub(crate) thread: usize,
    /// How many entries of the thread came before it.
    pub(crate) after: usize,
    pub(crate) var: usize,
    pub(crate) write: bool,
}

/// How many spurious failures an execution may have: the default of the explorer.
pub(crate) const SPURIOUS_BUDGET: u32 = 1;

/// An execution graph in which some threads may have more to do.
#[derive(Clone)]
pub(crate) struct Graph<'p> {
    program: &'p Program,
    plain: Plain,
    threads: Vec<Thread>,
    next: Vec<Next>,
    pub(crate) entries: Vec<Vec<Entry>>,
    /// The operation behind every entry.
    pub(crate) ops: Vec<Vec<Visible>>,
    pub(crate) order: Vec<Vec<At>>,
    pub(crate) accesses: Vec<PlainAccess>,
    memory: Vec<u64>,
    spurious: u32,
}

impl<'p> Graph<'p> {
    pub(crate) fn new(program: &'p Program, plain: Plain) -> Graph<'p> {
        let n = program.threads.len();
        let mut graph = Graph {
            program,
            plain,
            threads: vec![Thread::new(); n],
            next: vec![Next::End; n],
            entries: vec![Vec::new(); n],
            ops: vec![Vec::new(); n],
            order: vec![Vec::new(); program.vars.len()],
            accesses: Vec::new(),
            memory: initial(program),
            spurious: 0,
        };
        for thread in 0..n {
            graph.run(thread);
        }
        graph
    }

    /// Runs a thread up to its next event.
    fn run(&mut self, thread: usize) {
        let code = &self.program.threads[thread];
        self.next[thread] = loop {
            let next = self.threads[thread].next(code);
            let Next::Do(visible) = next else { break next };
            if self.plain == Plain::Events || !visible.is_plain() {
                break next;
            }
            let var = visible.var().expect("a plain access has a variable");
            let after = self.entries[thread].len();
            let write = matches!(visible, Visible::PlainWrite { .. });
            if let Visible::PlainWrite { value, .. } = visible {
                self.memory[var] = value;
            }
            self.accesses.push(PlainAccess { thread, after, var, write });
            self.threads[thread].take(code, self.memory[var]);
        };
    }

    /// The program of the graph.
    pub(crate) fn program(&self) -> &'p Program {
        self.program
    }

    /// Number of threads.
    pub(crate) fn width(&self) -> usize {
        self.threads.len()
    }

    /// The operation that a thread wants to do, if it wants one.
    pub(crate) fn wants(&self, thread: usize) -> Option<Visible> {
        match self.next[thread] {
            Next::Do(visible) => Some(visible),
            _ => None,
        }
    }

    /// The value that a source has for the readers of `var`.
    pub(crate) fn value(&self, var: usize, source: Source) -> u64 {
        match source {
            Source::Write(at) => {
                self.entries[at.thread as usize][at.index as usize].written.expect("a source is a write")
            }
            _ => self.program.vars[var].init as u64,
        }
    }

    /// The last write in modification order.
    pub(crate) fn newest(&self, var: usize) -> Source {
        self.order[var].last().map_or(Source::Init, |&at| Source::Write(at))
    }

    /// The outcomes that the next operation of a thread has if it reads from `source`, with their numbers, within the budgets.
    pub(crate) fn outcomes(&self, thread: usize, visible: Visible, source: Source) -> Vec<(u8, Outcome)> {
        let state = visible.var().map_or(0, |var| self.value(var, source));
        let all = visible.outcomes(state, thread_id(thread)).into_iter().enumerate();
        let affordable = |o: &Outcome| o.budget != Budget::Spurious || self.spurious < SPURIOUS_BUDGET;
        all.filter(|(_, o)| affordable(o)).map(|(i, o)| (i as u8, o)).collect()
    }

    /// The graph in which a thread has performed its next operation; a write goes to this position of the modification order.
    pub(crate) fn extend(
        &self,
        thread: usize,
        source: Source,
        (choice, outcome): (u8, Outcome),
        position: usize,
    ) -> Graph<'p> {
        let visible = self.wants(thread).expect("the thread wants to do something");
        let mut graph = self.clone();
        let at = At { thread: thread as u8, index: graph.entries[thread].len() as u8 };
        graph.entries[thread].push(Entry {
            pc: graph.threads[thread].pc as u16,
            source,
            choice,
            result: outcome.result,
            written: outcome.writes.then_some(outcome.state),
        });
        graph.ops[thread].push(visible);
        if outcome.writes {
            graph.order[visible.var().expect("a write has a variable")].insert(position, at);
        }
        graph.spurious += u32::from(outcome.budget == Budget::Spurious);
        graph.threads[thread].take(&self.program.threads[thread], outcome.result);
        graph.run(thread);
        graph
    }

    /// What tells this graph from all others of the program: values and program counters follow from it.
    pub(crate) fn key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        for entries in &self.entries {
            key.push(entries.len() as u8);
            for e in entries {
                match e.source {
                    Source::None => key.push(255),
                    Source::Init => key.push(254),
                    Source::Write(at) => key.extend([at.thread, at.index]),
                }
                key.push(e.choice);
            }
        }
        for order in &self.order {
            key.push(order.len() as u8);
            key.extend(order.iter().flat_map(|at| [at.thread, at.index]));
        }
        key
    }

    /// Whether the reads of the iteration that a thread ended with are all of newest writes.
    fn iteration_is_newest(&self, thread: usize, back: usize) -> bool {
        let pairs = self.entries[thread].iter().zip(&self.ops[thread]).rev();
        pairs.take_while(|(e, _)| usize::from(e.pc) >= back).all(|(e, op)| match op.var() {
            Some(var) => e.source == self.newest(var),
            None => true,
        })
    }

    /// How the execution ended, for a graph that cannot grow; `None` if it does not count.
    fn kind(&self) -> Option<Kind> {
        let mut kind = Kind::Complete;
        for (t, next) in self.next.iter().enumerate() {
            match *next {
                Next::End => {}
                Next::Assume => return None,
                Next::Spin { back } if self.iteration_is_newest(t, back) => kind = Kind::Livelock,
                Next::Spin { .. } => return None,
                Next::Do(visible) => {
                    let var = visible.var().expect("only operations on objects block");
                    let free = visible.outcomes(self.value(var, self.newest(var)), thread_id(t));
                    assert!(free.is_empty(), "{visible:?} could go on in a graph that cannot grow");
                    kind = kind.max(Kind::Deadlock);
                }
            }
        }
        Some(kind)
    }

    /// The canonical form, for a graph that cannot grow; `None` if the execution does not count.
    pub(crate) fn execution(&self) -> Option<Execution> {
        let status = |t: usize| {
            let pc = self.threads[t].pc as u16;
            match self.next[t] {
                Next::End => Status::Finished,
                Next::Do(_) => Status::Blocked(pc),
                Next::Assume | Next::Spin { .. } => Status::Stopped(pc),
            }
        };
        let threads = self.entries.iter().cloned().enumerate().map(|(t, e)| (e, status(t))).collect();
        Some(Execution { kind: self.kind()?, threads, order: self.order.clone() })
    }

    /// The value of every variable after the last operation.
    fn finals(&self) -> Vec<i64> {
        let last = |var: usize| match self.newest(var) {
            Source::Init => self.memory[var],
            source => self.value(var, source),
        };
        (0..self.order.len()).map(|var| last(var) as i64).collect()
    }

    /// What is worth knowing about the execution.
    pub(crate) fn facts(&self, axioms: Axioms) -> Facts {
        let finals = self.finals();
        let broken = self.program.finals.iter().any(|f| f.eval(&[0; super::program::REGISTERS], &finals) == 0);
        Facts {
            racy: Relations::with_accesses(self, axioms).racy(),
            violating: broken || self.threads.iter().any(|t| t.violated),
            preemptions: preemptions::fewest(self, 0),
            with_stale: match axioms {
                Axioms::Sc => [preemptions::fewest(self, 0); 2],
                Axioms::Rc11 => [1, 2].map(|stale| preemptions::fewest(self, stale)),
            },
        }
    }
}
