//! Runs toy programs on the explorer and brings its executions into canonical form.

#![allow(dead_code)]

use std::collections::{HashMap, HashSet};
use std::panic::Location;

use dpor::{
    Access, Action, Config, Ending, EventId, Explorer, Graph, Info, Memory, ObjectId, Op, Part, Role, Site, Step,
    Strategy, ThreadId, ThreadOrder, WorkItem,
};

use crate::toy::execution::{At, Entry, Execution, Facts, Kind, Source, Status};
use crate::toy::machine::{Next, Thread, Visible, initial, thread_id, update};
use crate::toy::program::{Program, REGISTERS, UpdateKind};

/// All that an exploration found.
#[derive(Debug, Default)]
pub(crate) struct Explored {
    /// Every class that counts. What it costs is not filled in.
    pub(crate) classes: HashMap<Execution, Facts>,
    /// Classes that came more than once.
    pub(crate) twice: Vec<Execution>,
    /// How many executions ended how.
    pub(crate) endings: HashMap<Ending, u64>,
    /// `Stats::executions`.
    pub(crate) executions: u64,
}

impl Explored {
    /// Adds what came of one run.
    fn add(&mut self, (canonical, ending): (Option<(Execution, Facts)>, Ending), repeats: bool) {
        *self.endings.entry(ending).or_default() += 1;
        let Some((execution, facts)) = canonical else { return };
        if self.classes.contains_key(&execution) && !repeats {
            self.twice.push(execution.clone());
        }
        // A class is racy or violating if one of its runs is: they must agree, as both follow from the graph.
        let before = self.classes.insert(execution.clone(), facts);
        assert!(before.is_none_or(|b| b == facts), "two runs of one class differ: {before:?} {facts:?} {execution:?}");
    }

    /// Number of complete classes for which the predicate holds.
    pub(crate) fn count(&self, holds: impl Fn(&Facts) -> bool) -> u64 {
        self.classes.iter().filter(|(e, facts)| e.kind == Kind::Complete && holds(facts)).count() as u64
    }

    /// Number of complete executions, duplicates included.
    pub(crate) fn complete(&self) -> u64 {
        self.endings.get(&Ending::Complete).copied().unwrap_or(0)
    }

    /// The classes alone.
    pub(crate) fn keys(&self) -> HashSet<&Execution> {
        self.classes.keys().collect()
    }
}

/// The usual configuration of a memory model.
pub(crate) fn config(memory: Memory) -> Config {
    Config { memory, ..Config::default() }
}

/// As [`config`], with threads tried in a random order.
pub(crate) fn shuffled(memory: Memory, seed: u64) -> Config {
    Config { thread_order: ThreadOrder::Shuffled(seed), ..config(memory) }
}

/// All interleavings, without reduction.
pub(crate) fn interleavings(memory: Memory) -> Config {
    Config { strategy: Strategy::Interleavings, ..config(memory) }
}

/// At most so many preemptions, under sequential consistency.
pub(crate) fn bounded(preemptions: u32) -> Config {
    Config { preemptions: Some(preemptions), ..config(Memory::Sc) }
}

/// More operations than the executions of any program here have together: to go on would mean not to end.
const MOST: u64 = 8_000_000;

/// Explores a program.
///
/// # Panics
///
/// If the explorer says that the program is nondeterministic, or needs too many steps.
pub(crate) fn explore(program: &Program, config: Config) -> Explored {
    let repeats = matches!(config.strategy, Strategy::Interleavings | Strategy::Random(_));
    let mut explorer = Explorer::new(config);
    let mut explored = Explored::default();
    // The words of objects, then those of plain memory.
    let mut slots = vec![0; 2 * program.vars.len()];
    while explorer.start() {
        assert!(explorer.stats().steps < MOST, "no end: {:?} of {program}", explorer.stats());
        explored.add(run_once(program, &mut explorer, &mut slots), repeats);
    }
    explored.executions = explorer.stats().executions;
    explored
}

/// Shows every execution that counts, in canonical form, while the explorer still has it.
pub(crate) fn each(program: &Program, config: Config, mut show: impl FnMut(&mut Explorer, Execution)) -> Explorer {
    let mut explorer = Explorer::new(config);
    let mut slots = vec![0; 2 * program.vars.len()];
    while explorer.start() {
        if let (Some((execution, _)), _) = run_once(program, &mut explorer, &mut slots) {
            show(&mut explorer, execution);
        }
    }
    explorer
}

/// Runs the execution that has been started.
fn run_once(program: &Program, explorer: &mut Explorer, slots: &mut [u64]) -> (Option<(Execution, Facts)>, Ending) {
    let mut run = Run::new(program, explorer, slots);
    run.execute();
    run.finish()
}

/// Explores a program with several explorers that take turns and give work to each other, in an order that `seed` decides.
/// Also returns how often work was given.
///
/// # Panics
///
/// As [`explore`].
pub(crate) fn explore_shared(program: &Program, config: Config, explorers: usize, seed: u64) -> (Explored, u64) {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |n: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 16) as usize % n
    };
    let mut all: Vec<Explorer> = (0..explorers).map(|_| Explorer::new(config.clone())).collect();
    let mut slots = vec![vec![0; 2 * program.vars.len()]; explorers];
    // The first one starts with everything, the others with nothing.
    let mut busy = vec![false; explorers];
    busy[0] = true;
    let mut given: Vec<WorkItem> = Vec::new();
    let (mut explored, mut gifts) = (Explored::default(), 0);
    while busy.contains(&true) || !given.is_empty() {
        let index = below(explorers);
        let explorer = &mut all[index];
        if !busy[index] {
            if given.is_empty() {
                continue;
            }
            explorer.adopt(given.swap_remove(below(given.len())));
            busy[index] = true;
        }
        if below(3) == 0
            && let Some(item) = explorer.split()
        {
            gifts += 1;
            given.push(item);
        }
        busy[index] = explorer.start();
        if busy[index] {
            explored.add(run_once(program, explorer, &mut slots[index]), false);
        }
        assert!(explorer.stats().steps < MOST, "no end: {:?} of {program}", explorer.stats());
    }
    explored.executions = all.iter().map(|explorer| explorer.stats().executions).sum();
    (explored, gifts)
}

/// A visible operation that a thread has performed.
struct Performed {
    pc: usize,
    visible: Visible,
    result: u64,
    /// It belongs to an iteration of a waiting loop that was repeated.
    in_vain: bool,
}

/// One execution.
struct Run<'a> {
    program: &'a Program,
    explorer: &'a mut Explorer,
    slots: &'a mut [u64],
    threads: Vec<Thread>,
    performed: Vec<Vec<Performed>>,
    ended: Vec<bool>,
    /// How far the main thread is: it spawns all threads, joins them and ends.
    main: usize,
    memory: Vec<u64>,
    racy: bool,
}

#[track_caller]
const fn here() -> Site {
    Location::caller()
}

#[rustfmt::skip]
static SITES: [Site; 64] = [
    here(), here(), here(), here(), here(), here(), here(), here(),
    here(), here(), here(), here(), here(), here(), here(), here(),
    here(), here(), here(), here(), here(), here(), here(), here(),
    here(), here(), here(), here(), here(), here(), here(), here(),
    here(), here(), here(), here(), here(), here(), here(), here(),
    here(), here(), here(), here(), here(), here(), here(), here(),
    here(), here(), here(), here(), here(), here(), here(), here(),
    here(), here(), here(), here(), here(), here(), here(), here(),
];

static INFO: Info = Info { name: "operation", family: "Toy", role: Role::Plain };

impl<'a> Run<'a> {
    fn new(program: &'a Program, explorer: &'a mut Explorer, slots: &'a mut [u64]) -> Run<'a> {
        let n = program.threads.len();
        Run {
            program,
            explorer,
            slots,
            threads: vec![Thread::new(); n],
            performed: (0..n).map(|_| Vec::new()).collect(),
            ended: vec![false; n],
            main: 0,
            memory: initial(program),
            racy: false,
        }
    }

    fn execute(&mut self) {
        let mut current = Some(ThreadId::MAIN);
        while let Some(thread) = current {
            current = if thread == ThreadId::MAIN { self.main_step() } else { self.worker_step(thread) };
        }
    }

    /// One step of the main thread; gives the thread to run next.
    fn main_step(&mut self) -> Option<ThreadId> {
        let n = self.program.threads.len();
        let action = match self.main {
            i if i < n => Action::Spawn,
            i if i < 2 * n => Action::Join { thread: thread_id(i - n) },
            _ => Action::End,
        };
        let result = match self.ask(ThreadId::MAIN, action, ObjectId::NONE) {
            Ok(result) => result,
            Err(other) => return other,
        };
        if self.main < n {
            assert_eq!(ThreadId(result as u32), thread_id(self.main), "threads are numbered in the order of spawning");
        }
        self.main += 1;
        if self.main > 2 * n { self.explorer.next_thread() } else { Some(ThreadId::MAIN) }
    }

    /// Asks the explorer; `Err` says whom to run instead.
    fn ask(&mut self, thread: ThreadId, action: Action, object: ObjectId) -> Result<u64, Option<ThreadId>> {
        let op = Op { action, object, info: &INFO, site: self.site(thread) };
        match self.explorer.step(thread, &op) {
            Step::Done(result) => Ok(result),
            Step::Run(other) => Err(Some(other)),
            Step::Over => Err(None),
            other => panic!("{other:?} in {}", self.program),
        }
    }

    /// Where the next operation of a thread is written: the same for the same instruction, and different for most others.
    fn site(&self, thread: ThreadId) -> Site {
        match thread.index() {
            0 => SITES[self.main % SITES.len()],
            t => SITES[(16 * t + self.threads[t - 1].pc) % SITES.len()],
        }
    }

    /// The object of a variable in this execution; `Err` says whom to run first.
    fn resolve(&mut self, thread: ThreadId, var: usize) -> Result<ObjectId, Option<ThreadId>> {
        let init = self.program.vars[var].init as u64;
        let slot = self.explorer.resolve(thread, self.slots[var], init).map_err(Some)?;
        self.slots[var] = slot;
        Ok(ObjectId((slot & 0xff_ffff) as u32))
    }

    /// One step of another thread; gives the thread to run next.
    fn worker_step(&mut self, thread: ThreadId) -> Option<ThreadId> {
        match self.try_worker_step(thread) {
            Ok(next) | Err(next) => next,
        }
    }

    fn try_worker_step(&mut self, thread: ThreadId) -> Result<Option<ThreadId>, Option<ThreadId>> {
        let t = thread.index() - 1;
        let code = &self.program.threads[t];
        match self.threads[t].next(code) {
            Next::Do(visible) if visible.is_plain() => self.plain(thread, visible),
            Next::Do(visible) => {
                let object = match visible.var() {
                    Some(var) => self.resolve(thread, var)?,
                    None => ObjectId::NONE,
                };
                let result = self.ask(thread, action(visible), object)?;
                self.performed[t].push(Performed { pc: self.threads[t].pc, visible, result, in_vain: false });
                self.threads[t].take(code, result);
            }
            Next::Spin { back } => {
                self.ask(thread, Action::Spin, ObjectId::NONE)?;
                let iteration = self.performed[t].iter_mut().rev().take_while(|p| p.pc >= back && !p.in_vain);
                iteration.for_each(|p| p.in_vain = true);
                self.threads[t].pc = back;
            }
            Next::Assume => {
                self.ask(thread, Action::Assume, ObjectId::NONE)?;
                panic!("a thread went on after a failed assumption");
            }
            Next::End => {
                self.ask(thread, Action::End, ObjectId::NONE)?;
                self.ended[t] = true;
                return Ok(self.explorer.next_thread());
            }
        }
        Ok(Some(thread))
    }

    fn plain(&mut self, thread: ThreadId, visible: Visible) {
        let var = visible.var().expect("a plain access has a variable");
        let access = match visible {
            Visible::PlainWrite { value, .. } => {
                self.memory[var] = value;
                Access::Write
            }
            _ => Access::Read,
        };
        let slot = self.slots.len() / 2 + var;
        let (word, ordered) = self.explorer.plain(thread, self.slots[slot], access, self.site(thread));
        self.slots[slot] = word;
        self.racy |= ordered.is_err();
        let t = thread.index() - 1;
        self.threads[t].take(&self.program.threads[t], self.memory[var]);
    }

    /// The canonical form, unless the execution does not count.
    fn finish(mut self) -> (Option<(Execution, Facts)>, Ending) {
        let ending = self.explorer.finish();
        let kind = match ending {
            Ending::Complete => Kind::Complete,
            Ending::Deadlock => Kind::Deadlock,
            Ending::Livelock => Kind::Livelock,
            _ => return (None, ending),
        };
        let objects = self.objects();
        let (threads, writes) = self.entries();
        let graph = self.explorer.graph();
        let order = objects.iter().map(|o| match o {
            Some(object) => graph.modification_order(*object).iter().map(|w| writes[w]).collect(),
            None => Vec::new(),
        });
        let order: Vec<Vec<At>> = order.collect();
        let finals = order.iter().enumerate().map(|(var, order)| match order.last() {
            Some(at) => threads[at.thread as usize].0[at.index as usize].written.expect("it writes") as i64,
            None => self.memory[var] as i64,
        });
        let finals: Vec<i64> = finals.collect();
        let broken = self.program.finals.iter().any(|f| f.eval(&[0; REGISTERS], &finals) == 0);
        let violating = broken || self.threads.iter().any(|t| t.violated);
        let facts = Facts { racy: self.racy, violating, ..Facts::default() };
        (Some((Execution { kind, threads, order }, facts)), ending)
    }

    /// The objects that the variables have in this execution.
    fn objects(&self) -> Vec<Option<ObjectId>> {
        let execution = self.explorer.execution();
        self.slots
            .iter()
            .take(self.program.vars.len())
            .map(|s| (s >> 24 == execution).then_some(ObjectId((s & 0xff_ffff) as u32)))
            .collect()
    }

    /// What the threads did, and which operation every write of the graph belongs to.
    ///
    /// Iterations of a waiting loop that were repeated are left out: they only read, and how often a thread looks in vain is
    /// not what makes an execution.
    #[allow(clippy::type_complexity)]
    fn entries(&mut self) -> (Vec<(Vec<Entry>, Status)>, HashMap<EventId, At>) {
        let graph = self.explorer.graph();
        let mut writes = HashMap::new();
        let mut parts = Vec::new();
        for (t, performed) in self.performed.iter().enumerate() {
            let mine = parts_of(graph, t);
            assert!(
                mine.len() == performed.len(),
                "thread {t}: {} operations in the graph, {} performed",
                mine.len(),
                performed.len()
            );
            let kept = mine.iter().zip(performed).filter(|(_, p)| !p.in_vain).map(|(parts, _)| *parts);
            let mine: Vec<Parts> = kept.collect();
            for (index, (_, write)) in mine.iter().enumerate() {
                if let Some(write) = write {
                    writes.insert(*write, At { thread: t as u8, index: index as u8 });
                }
            }
            parts.push(mine);
        }
        let entry = |p: &Performed, (read, write): &Parts| Entry {
            pc: p.pc as u16,
            source: match read {
                Some(read) if p.visible.reads() => match graph.event(*read).rf {
                    EventId::INIT => Source::Init,
                    rf => Source::Write(writes[&rf]),
                },
                _ => Source::None,
            },
            choice: read.map_or(0, |read| graph.event(read).choice as u8),
            result: p.result,
            written: write.map(|write| graph.event(write).value),
        };
        let lists: Vec<Vec<Entry>> = self
            .performed
            .iter()
            .zip(&parts)
            .map(|(performed, parts)| {
                performed.iter().filter(|p| !p.in_vain).zip(parts).map(|(p, ids)| entry(p, ids)).collect()
            })
            .collect();
        let statuses: Vec<Status> = (0..self.threads.len()).map(|t| self.status(t)).collect();
        (lists.into_iter().zip(statuses).collect(), writes)
    }

    fn status(&mut self, t: usize) -> Status {
        if self.ended[t] {
            return Status::Finished;
        }
        let next = self.threads[t].next(&self.program.threads[t]);
        let pc = self.threads[t].pc as u16;
        match next {
            Next::Do(visible) => {
                assert!(matches!(visible, Visible::Object { .. }), "{visible:?} was left undone in {}", self.program);
                Status::Blocked(pc)
            }
            Next::Assume | Next::Spin { .. } => Status::Stopped(pc),
            Next::End => panic!("the end of thread {t} was left undone in {}", self.program),
        }
    }
}

/// The events of an operation: the read (or only) one, and the one that writes.
type Parts = (Option<EventId>, Option<EventId>);

/// The events of every operation of a thread.
fn parts_of(graph: &Graph, thread: usize) -> Vec<Parts> {
    let mut parts = Vec::new();
    let events = graph.thread_events(thread_id(thread));
    let end = |id: EventId| graph.event(id).kind == dpor::Kind::End;
    let mut events = events.iter().copied().filter(|&id| graph.event(id).part != Part::Spin && !end(id));
    while let Some(id) = events.next() {
        parts.push(match graph.event(id).part {
            Part::Write => (None, Some(id)),
            _ if graph.has_write_part(id) => (Some(id), events.next()),
            _ => (Some(id), None),
        });
    }
    parts
}

fn add(old: u64, operands: [u64; 2]) -> Option<u64> {
    update(UpdateKind::Add, old, operands)
}

fn exchange(old: u64, operands: [u64; 2]) -> Option<u64> {
    update(UpdateKind::Exchange, old, operands)
}

fn compare_exchange(old: u64, operands: [u64; 2]) -> Option<u64> {
    update(UpdateKind::CompareExchange, old, operands)
}

fn action(visible: Visible) -> Action {
    match visible {
        Visible::Load { order, .. } => Action::Load { order },
        Visible::Store { value, order, .. } => Action::Store { order, value },
        Visible::Update { kind, operands, order, failure, weak, .. } => {
            let update = match kind {
                UpdateKind::Add => add,
                UpdateKind::Exchange => exchange,
                UpdateKind::CompareExchange => compare_exchange,
            };
            Action::Update { update, operands, order, failure, weak }
        }
        Visible::Object { op, argument, .. } => {
            Action::Object { outs: op.outs(), args: [argument, 0], failure: op.failure(), yields: op.yields() }
        }
        Visible::Fence { order } => Action::Fence { order },
        Visible::Choose { alternatives } => Action::Choose { alternatives, budget: dpor::Budget::Free },
        Visible::PlainRead { .. } | Visible::PlainWrite { .. } => unreachable!("plain accesses are no events"),
    }
}
