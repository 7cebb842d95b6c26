//! Records one replayed execution in full, for the report: names, values, who could run, what each read read.

use std::collections::HashMap;
use std::time::Duration;

use dpor::{Action, Budget, EventId, Explorer, Info, Op, Ordering, Part, Role, ThreadId};
use sync_shims::model::controller::{CLAIMED, GAVE_UP, Reason, Target};

use crate::engine::{Failure, PanicNote, Site};
use crate::report::trace::{self, Effect, End, Mark, Object, Place, RacyAccess, ReadsFrom, Step, Waiter};
use crate::value;

/// A step with what only the recorder needs.
struct Recorded {
    step: Step,
    /// Position in its thread of its first event.
    index: u32,
    op: Op,
    first: EventId,
    last: EventId,
}

/// An operation that was performed, whether a report shows it or not: one for each decision, in the order of the decisions.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// Index into the threads.
    pub(crate) thread: usize,
    /// The method.
    pub(crate) method: &'static str,
    /// Index into the objects.
    pub(crate) object: Option<usize>,
    /// Where.
    pub(crate) site: Place,
    /// Out of how many outcomes.
    pub(crate) alternatives: u32,
    /// The step that shows it, from 1.
    pub(crate) step: Option<usize>,
}

/// How a step is tied to the steps before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    /// The step that wrote what this one found there, of objects too.
    pub(crate) from: Option<usize>,
    /// The steps of other threads that it comes after and that nothing else puts before it, ascending.
    pub(crate) after: Vec<usize>,
}

/// What the recorder knows beyond what reports show.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chronicle {
    /// One for each decision.
    pub(crate) operations: Vec<Operation>,
    /// One for each step.
    pub(crate) links: Vec<Links>,
    /// The spawn path of each thread: `0.1` is the second child of main.
    pub(crate) paths: Vec<String>,
}

/// The recording of one execution.
pub(crate) struct Recorder {
    threads: Vec<trace::Thread>,
    /// Index into `threads` by thread number.
    place_of: HashMap<ThreadId, usize>,
    /// The step that spawned each thread, main aside.
    spawn_steps: Vec<usize>,
    objects: Vec<Object>,
    object_of: HashMap<dpor::ObjectId, usize>,
    /// Of objects that are one for users.
    group_of: HashMap<u64, usize>,
    /// What threads have said last about what they wait for.
    reasons: HashMap<ThreadId, Reason>,
    steps: Vec<Recorded>,
    step_of: HashMap<EventId, usize>,
    /// Who could run before the operation that is being tried.
    before: Vec<(ThreadId, Mark)>,
    names: value::Names,
    /// The failure has begun; what follows is unwinding.
    over: bool,
    /// What the clock shows, if it has moved.
    time: Option<Duration>,
    chronicle: Chronicle,
    /// Events that `chronicle` has.
    seen: usize,
}

pub(crate) fn place(site: Site) -> Place {
    Place { file: site.file().to_owned(), line: site.line(), column: site.column() }
}

impl Recorder {
    pub(crate) fn new() -> Recorder {
        let main = trace::Thread { name: Some("main".to_owned()), spawned: None, process: None };
        Recorder {
            threads: vec![main],
            place_of: HashMap::from([(ThreadId::MAIN, 0)]),
            spawn_steps: vec![0],
            objects: Vec::new(),
            object_of: HashMap::new(),
            group_of: HashMap::new(),
            reasons: HashMap::new(),
            steps: Vec::new(),
            step_of: HashMap::new(),
            before: Vec::new(),
            names: value::Names::default(),
            over: false,
            time: None,
            chronicle: Chronicle { paths: vec!["0".to_owned()], ..Chronicle::default() },
            seen: 0,
        }
    }

    /// A thread has been made; the step of its spawn has been recorded.
    pub(crate) fn spawned(&mut self, thread: ThreadId, name: Option<&str>, process: Option<String>, site: Site) {
        let index = self.threads.len();
        let name = name.map(str::to_owned);
        self.threads.push(trace::Thread { name, spawned: Some(place(site)), process });
        self.place_of.insert(thread, index);
        // The last operation is the spawn.
        let (parent, spawn) = self.chronicle.operations.last().map_or((0, ""), |o| (o.thread, o.method));
        let spawns = |o: &&Operation| o.thread == parent && o.method == spawn;
        let before = self.chronicle.operations.iter().filter(spawns).count().saturating_sub(1);
        self.chronicle.paths.push(format!("{}.{before}", self.chronicle.paths[parent]));
        self.spawn_steps.push(self.steps.len());
        let shown = crate::report::thread_names(&self.threads)[index].clone();
        if let Some(last) = self.steps.last_mut().filter(|last| matches!(last.op.action, Action::Spawn)) {
            last.step.arguments = shown;
        }
    }

    /// A panic has begun: what follows is unwinding.
    pub(crate) fn panicked(&mut self, _note: &PanicNote) {
        self.over = true;
    }

    /// Goes on after a panic that was caught.
    fn resume_after_panic(&mut self) {
        self.over = false;
    }

    /// The thread is about to wait for something.
    pub(crate) fn awaits(&mut self, thread: ThreadId, reason: Reason) {
        if !self.group_of.contains_key(&reason.group) {
            self.group_of.insert(reason.group, self.objects.len());
            self.objects.push(Object { family: reason.family, name: None, created: Some(place(reason.created)) });
        }
        self.reasons.insert(thread, reason);
    }

    /// What the thread, which waits in `op`, has said about that.
    fn reason(&self, thread: ThreadId, op: &Op) -> Option<(usize, Vec<End>)> {
        let reason = self.reasons.get(&thread)?;
        let object = *self.group_of.get(&reason.group)?;
        if !matches!(op.action, Action::Await { .. }) && self.object_of.get(&op.object) != Some(&object) {
            return None;
        }
        let user = |end: &sync_shims::model::controller::End| self.place_of.get(&end.user?).copied();
        let ends = (reason.ends)();
        let ends = ends.iter().map(|end| End { what: end.what, created: place(end.created), user: user(end) });
        Some((object, ends.collect()))
    }

    /// An operation is about to be tried.
    pub(crate) fn attempt(&mut self, explorer: &mut Explorer, target: Option<&Target<'_>>, op: &Op) {
        if let Some(target) = target {
            self.object(op, target);
        }
        self.before.clear();
        let threads: Vec<ThreadId> = explorer.threads().collect();
        for thread in threads {
            let ends = explorer.pending(thread).is_some_and(|op| matches!(op.action, Action::End));
            let mark = if explorer.has_ended(thread) || ends {
                Mark::Absent
            } else if explorer.is_blocked(thread) || explorer.is_parked(thread) {
                Mark::Blocked
            } else {
                Mark::CouldRun
            };
            self.before.push((thread, mark));
        }
    }

    fn object(&mut self, op: &Op, target: &Target<'_>) -> usize {
        if let Some(&index) = self.object_of.get(&op.object) {
            return index;
        }
        if let Some(&index) = self.group_of.get(&target.group) {
            self.object_of.insert(op.object, index);
            return index;
        }
        let index = self.objects.len();
        if target.group != 0 {
            self.group_of.insert(target.group, index);
        }
        self.objects.push(Object {
            family: op.info.family,
            name: target.name.map(str::to_owned),
            created: Some(place(target.created)),
        });
        self.object_of.insert(op.object, index);
        index
    }

    /// The operation has been performed: its events are the last of its thread.
    pub(crate) fn performed(&mut self, explorer: &Explorer, thread: ThreadId, target: Option<&Target<'_>>, op: &Op) {
        if self.over && !std::thread::panicking() {
            self.resume_after_panic();
        }
        let graph = explorer.graph();
        let events = graph.thread_events(thread);
        let Some(&last) = events.last() else { return };
        let first = if graph.is_write_part(last) { events[events.len() - 2] } else { last };
        let object = target.map(|target| self.object(op, target));
        // A spin that is followed is no event.
        if graph.len() > self.seen {
            self.seen = graph.len();
            self.chronicle.operations.push(Operation {
                thread: self.place_of.get(&thread).copied().unwrap_or(0),
                method: op.info.name,
                object,
                site: place(op.site),
                alternatives: explorer.alternatives(),
                step: None,
            });
        }
        if self.over || matches!(op.action, Action::End) {
            return;
        }
        // Something that could have happened, and did not.
        if matches!(op.action, Action::Choose { budget, .. } if budget != Budget::Free && graph.event(first).choice == 0)
        {
            return;
        }
        if matches!(op.action, Action::Spin | Action::Yield) && graph.event(first).part != Part::Spin {
            return;
        }
        if matches!(op.action, Action::Await { .. }) {
            // What it has waited for shows in the next step.
            return;
        }
        let number = self.steps.len() + 1;
        let mut step = Step {
            thread: self.place_of.get(&thread).copied().unwrap_or(0),
            object,
            method: op.info.name,
            arguments: self.arguments(op),
            role: op.info.role,
            effect: Effect::None,
            reads: None,
            overwrites: None,
            time: self.time,
            site: place(op.site),
            preempts: self.preempted(thread),
            marks: self.marks(thread),
        };
        self.describe(explorer, op, first, &mut step);
        self.step_of.insert(first, number);
        self.step_of.insert(last, number);
        if let Some(operation) = self.chronicle.operations.last_mut() {
            operation.step = Some(number);
        }
        self.steps.push(Recorded { step, index: graph.event(first).index, op: *op, first, last });
    }

    /// What the last operation of `thread` did, in the words of its shim. Others may have performed operations since.
    pub(crate) fn note(&mut self, thread: ThreadId, text: String) {
        let place = self.place_of.get(&thread).copied();
        if let Some(last) = self.steps.iter_mut().rev().find(|r| Some(r.step.thread) == place && !self.over) {
            last.step.effect = Effect::Text(text);
        }
    }

    /// The clock has moved, by the last operation of `thread`.
    pub(crate) fn time(&mut self, thread: ThreadId, since_start: Duration) {
        self.time = Some(since_start);
        let place = self.place_of.get(&thread).copied();
        if let Some(last) = self.steps.iter_mut().rev().find(|r| Some(r.step.thread) == place && !self.over) {
            last.step.time = self.time;
        }
    }

    /// The thread that performed the step before, if it could have gone on.
    fn preempted(&self, thread: ThreadId) -> Option<usize> {
        let last = self.steps.last()?;
        let mover = self.place_of.iter().find(|(_, place)| **place == last.step.thread).map(|(id, _)| *id)?;
        let free = matches!(last.op.action, Action::Spin | Action::Yield | Action::Object { yields: true, .. });
        let able = self.before.iter().any(|(t, mark)| *t == mover && *mark == Mark::CouldRun);
        (mover != thread && able && !free).then_some(last.step.thread)
    }

    fn marks(&self, thread: ThreadId) -> Vec<Mark> {
        let mut marks = vec![Mark::Absent; self.threads.len()];
        for (id, mark) in &self.before {
            if let Some(place) = self.place_of.get(id) {
                marks[*place] = if *id == thread { Mark::Steps } else { *mark };
            }
        }
        marks
    }

    fn arguments(&mut self, op: &Op) -> String {
        let family = op.info.family;
        match op.action {
            Action::Load { order } | Action::Fence { order } => order_name(order).to_owned(),
            Action::Store { order, value } => {
                format!("{}, {}", self.names.show(family, value), order_name(order))
            }
            // The value is told with the result.
            Action::Update { .. } if family == "ghost::State" => String::new(),
            Action::Update { operands, order, failure, .. } => {
                let [a, b] = operands.map(|operand| self.names.show(family, operand));
                if op.info.name.starts_with("compare") {
                    format!("{a}, {b}, {}, {}", order_name(order), order_name(failure))
                } else {
                    format!("{a}, {}", order_name(order))
                }
            }
            Action::Join { thread } | Action::Ended { thread } => self.thread_name(thread),
            _ => String::new(),
        }
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        let names = crate::report::thread_names(&self.threads);
        self.place_of.get(&thread).map_or_else(|| format!("{thread:?}"), |place| names[*place].clone())
    }

    /// What the step did.
    fn describe(&mut self, explorer: &Explorer, op: &Op, first: EventId, step: &mut Step) {
        let graph = explorer.graph();
        let e = graph.event(first);
        let family = op.info.family;
        let wrote = graph.has_write_part(first);
        let co = graph.modification_order(e.object);
        let value_at =
            |event: EventId| if event.is_init() { graph.initial_value(e.object) } else { graph.event(event).value };
        match op.action {
            Action::Load { .. } => step.effect = Effect::Read(self.names.show(family, e.value)),
            Action::Ended { .. } => step.effect = Effect::Read((e.value != 0).to_string()),
            Action::Store { value, .. } => {
                let at = co.iter().position(|&w| w == first).unwrap_or(0);
                let before = at.checked_sub(1).map_or(EventId::INIT, |i| co[i]);
                let (from, to) = (self.names.show(family, value_at(before)), self.names.show(family, value));
                step.effect = Effect::Write { from, to };
                if !before.is_init() && graph.event(before).thread != e.thread {
                    step.overwrites = self.step_of.get(&before).copied();
                }
                return;
            }
            Action::Update { .. } if wrote => {
                let write = graph.thread_events(e.thread)[e.index as usize + 1];
                step.effect = Effect::Write {
                    from: self.names.show(family, e.value),
                    to: self.names.show(family, graph.event(write).value),
                };
            }
            Action::Update { operands, .. } => {
                step.effect = Effect::CasFailed {
                    expected: self.names.show(family, operands[0]),
                    new: self.names.show(family, operands[1]),
                    was: self.names.show(family, e.value),
                    spurious: e.choice != 0,
                };
            }
            Action::Object { .. } => {
                step.effect = object_effect(op.info, wrote);
                return;
            }
            _ => return,
        }
        let newest = co.iter().copied().rfind(|&w| w < first).unwrap_or(EventId::INIT);
        step.reads = Some(ReadsFrom {
            step: if e.rf.is_init() { None } else { self.step_of.get(&e.rf).copied() },
            stale: if newest == e.rf { None } else { self.step_of.get(&newest).copied() },
        });
    }
}

/// The effect of an operation on a lock or the like.
fn object_effect(info: &Info, wrote: bool) -> Effect {
    match (info.role, wrote) {
        (Role::Acquire | Role::Share, true) => Effect::Text("acquired".to_owned()),
        (Role::Acquire | Role::Share, false) => Effect::Text("would block".to_owned()),
        _ => Effect::None,
    }
}

pub(crate) fn order_name(order: Ordering) -> &'static str {
    match order {
        Ordering::Relaxed => "Relaxed",
        Ordering::Acquire => "Acquire",
        Ordering::Release => "Release",
        Ordering::AcqRel => "AcqRel",
        _ => "SeqCst",
    }
}

/// The end of the recording.
impl Recorder {
    /// Notes how the steps are tied to each other, while the graph is there.
    pub(crate) fn link(&mut self, explorer: &Explorer) {
        let graph = explorer.graph();
        let mut own: Vec<Vec<usize>> = vec![Vec::new(); self.threads.len()];
        let mut clocks: Vec<Vec<usize>> = Vec::with_capacity(self.steps.len());
        for (index, recorded) in self.steps.iter().enumerate() {
            let thread = recorded.step.thread;
            let known = own[thread].last().map_or(&[][..], |&step| &clocks[step - 1]);
            // How many steps of each thread come before this one.
            let mut clock: Vec<usize> = (0..own.len())
                .map(|other| own[other].partition_point(|&step| comes_before(graph, &self.steps[step - 1], recorded)))
                .collect();
            let newest: Vec<usize> = (0..own.len())
                .filter(|&other| other != thread && clock[other] > known.get(other).copied().unwrap_or(0))
                .map(|other| own[other][clock[other] - 1])
                .collect();
            // What another of them comes after is not worth an arrow of its own.
            let implied = |step: usize| {
                let of = self.steps[step - 1].step.thread;
                newest.iter().any(|&by| by != step && clocks[by - 1][of] >= clock[of])
            };
            let mut after: Vec<usize> = newest.iter().copied().filter(|&step| !implied(step)).collect();
            after.sort_unstable();
            let event = graph.event(recorded.first);
            let reads = event.is_access() && event.part == Part::Read && !event.rf.is_init();
            let from = if reads { self.step_of.get(&event.rf).copied() } else { None };
            self.chronicle.links.push(Links { from, after });
            clock[thread] = own[thread].len() + 1;
            clocks.push(clock);
            own[thread].push(index + 1);
        }
    }

    /// The failure as the report tells it.
    pub(crate) fn failure(&mut self, failure: &Failure, explorer: &mut Explorer) -> trace::Failure {
        match failure {
            Failure::Panic(note) => trace::Failure::Panic {
                thread: self.place_of.get(&note.thread).copied().unwrap_or(0),
                message: note.message.clone(),
                site: Place { file: note.place.0.clone(), line: note.place.1, column: note.place.2 },
            },
            Failure::Deadlock => trace::Failure::Deadlock { waiters: self.waiters(explorer) },
            Failure::Livelock => trace::Failure::Livelock { waiters: self.waiters(explorer) },
            Failure::Race { race, family, what, created } => {
                let object = self.objects.len();
                self.objects.push(Object { family, name: None, created: Some(place(created)) });
                trace::Failure::DataRace {
                    object,
                    first: self.racy(&race.first, what.0),
                    second: self.racy(&race.second, what.1),
                    missing: self.missing_edge(race),
                }
            }
            Failure::Nondeterminism(_) | Failure::Other { .. } => self.plain_failure(failure),
        }
    }

    /// As [`Recorder::failure`], for failures that need no step.
    pub(crate) fn plain_failure(&self, failure: &Failure) -> trace::Failure {
        match failure {
            Failure::Nondeterminism(mismatch) => {
                let describe = |(name, site): (&'static str, Site)| (name.to_owned(), place(site));
                trace::Failure::Nondeterminism {
                    thread: self.place_of.get(&mismatch.thread).copied().unwrap_or(0),
                    recorded: describe(mismatch.recorded),
                    now: describe(mismatch.now),
                }
            }
            Failure::Other { code, message, help, site } => {
                trace::Failure::Other { code, message: message.clone(), help: help.clone(), site: site.map(place) }
            }
            _ => trace::Failure::Other {
                code: "internal",
                message: format!("`{}` without its steps", failure.code()),
                help: None,
                site: None,
            },
        }
    }

    fn racy(&self, access: &dpor::PlainAccess, what: &str) -> RacyAccess {
        let thread = self.place_of.get(&access.thread).copied().unwrap_or(0);
        let before = |r: &Recorded| r.step.thread == thread && r.index < access.after;
        let last = self.steps.iter().rposition(before).map(|index| index + 1);
        RacyAccess {
            thread,
            what: what.to_owned(),
            site: place(access.site),
            after_step: last.unwrap_or(self.spawn_steps[thread]),
        }
    }

    /// What would order the two accesses: a read of the second thread from a write of the first one after its access, whose
    /// orderings are too weak.
    fn missing_edge(&self, race: &dpor::Race) -> Option<String> {
        let first = self.place_of.get(&race.first.thread).copied()?;
        let second = self.place_of.get(&race.second.thread).copied()?;
        let candidates =
            self.steps.iter().enumerate().filter(|(_, r)| r.step.thread == second && r.index < race.second.after);
        for (reader, r) in candidates {
            let Some(writer) = r.step.reads.and_then(|reads| reads.step) else { continue };
            let w = &self.steps[writer - 1];
            if w.step.thread != first || w.index < race.first.after {
                continue;
            }
            let (reader, write_order, read_order) = (reader + 1, write_order(&w.op), read_order(&r.op));
            let edge = format!("step {reader} read what step {writer} stored");
            return Some(match (releases(write_order), acquires(read_order)) {
                (false, false) => format!(
                    "{edge}, but step {writer} is `{}` and step {reader} is `{}`: a release and an acquire would order the accesses",
                    order_name(write_order),
                    order_name(read_order)
                ),
                (false, true) => format!("{edge}, but step {writer} is `{}`, not a release", order_name(write_order)),
                (true, false) => format!("{edge}, but step {reader} is `{}`, not an acquire", order_name(read_order)),
                (true, true) => return None,
            });
        }
        Some("nothing that the second thread did before its access comes after the first access".to_owned())
    }

    fn waiters(&mut self, explorer: &mut Explorer) -> Vec<Waiter> {
        let threads: Vec<ThreadId> = explorer.threads().filter(|&t| !explorer.has_ended(t)).collect();
        threads.into_iter().filter_map(|thread| self.waiter(explorer, thread)).collect()
    }

    fn waiter(&self, explorer: &Explorer, thread: ThreadId) -> Option<Waiter> {
        let op = *explorer.pending(thread)?;
        let (object, ends) = match self.reason(thread, &op) {
            Some((object, ends)) => (Some(object), ends),
            None => (self.object_of.get(&op.object).copied(), Vec::new()),
        };
        let waits_for = match (op.action, op.info.role) {
            (Action::Join { thread: other }, _) => vec![(self.place_of.get(&other).copied()?, None)],
            (_, role @ (Role::Acquire | Role::Share)) => self.owners(op.object, role, thread),
            (_, Role::Wait) if trace::initialises(op.info.family) => self.initialiser(op.object),
            _ => Vec::new(),
        };
        let signals = |r: &Recorded| r.step.role == Role::Signal && r.step.object == object && object.is_some();
        let last_signal = self.steps.iter().rposition(signals).map(|index| index + 1);
        Some(Waiter {
            thread: self.place_of.get(&thread).copied()?,
            method: op.info.name,
            object,
            waits_for,
            role: op.info.role,
            last_signal,
            ends,
            site: place(op.site),
        })
    }

    /// Who initialises the object that others wait for: whoever has begun last. All that comes after that waits or looks.
    fn initialiser(&self, object: dpor::ObjectId) -> Vec<(usize, Option<usize>)> {
        let begins = |r: &Recorded| r.op.object == object && r.step.role == Role::Wait;
        let last = self.steps.iter().rposition(begins);
        last.map(|index| (self.steps[index].step.thread, Some(index + 1))).into_iter().collect()
    }

    /// Who has acquired the object and not released it, and at which step: those that somebody waits for who wants it in the
    /// given role.
    fn owners(&self, object: dpor::ObjectId, wanted: Role, waiter: ThreadId) -> Vec<(usize, Option<usize>)> {
        let mut owners: Vec<(usize, Option<usize>, Role)> = Vec::new();
        for (index, r) in self.steps.iter().enumerate().filter(|(_, r)| r.op.object == object) {
            let (thread, role) = (r.step.thread, r.step.role);
            match (role, &r.step.effect) {
                (Role::Acquire | Role::Share, Effect::Text(text)) if text == "acquired" => {
                    owners.retain(|owner| (owner.0, owner.2) != (thread, Role::Announce));
                    if role == Role::Acquire {
                        // An upgradable reader that writes now owns the object once.
                        owners.retain(|owner| (owner.0, owner.2) != (thread, Role::Acquire));
                    }
                    owners.push((thread, Some(index + 1), role));
                }
                (Role::Acquire, Effect::Text(text)) if text == CLAIMED => {
                    owners.push((thread, Some(index + 1), Role::Announce));
                }
                (Role::Acquire, Effect::Text(text)) if text == GAVE_UP => {
                    owners.retain(|owner| (owner.0, owner.2) != (thread, Role::Announce));
                }
                (Role::Announce, _) => owners.push((thread, Some(index + 1), role)),
                (Role::Release, _) => {
                    if let Some(last) = owners.iter().rposition(|owner| owner.0 == thread) {
                        owners.remove(last);
                    }
                }
                _ => {}
            }
        }
        let waiter = self.place_of.get(&waiter).copied();
        if owners.iter().any(|owner| (Some(owner.0), owner.2) == (waiter, Role::Announce)) {
            // An upgradable reader that is to write waits for the other readers.
            owners.retain(|owner| (Some(owner.0), owner.2) != (waiter, Role::Acquire));
        }
        let no_matter = if wanted == Role::Share { Role::Share } else { Role::Announce };
        owners.iter().filter(|owner| owner.2 != no_matter).map(|(thread, step, _)| (*thread, *step)).collect()
    }

    /// How many steps took the turn from a thread that could have gone on.
    pub(crate) fn preemptions(&self) -> u32 {
        self.steps.iter().filter(|recorded| recorded.step.preempts.is_some()).count() as u32
    }

    /// The recorded steps, objects and threads.
    pub(crate) fn into_parts(self) -> (Vec<trace::Thread>, Vec<Object>, Vec<Step>, Chronicle) {
        let threads = self.threads.len();
        let steps = self.steps.into_iter().map(|mut recorded| {
            // A step knows the threads that there were then.
            recorded.step.marks.resize(threads, Mark::Absent);
            recorded.step
        });
        let steps = steps.collect();
        (self.threads, self.objects, steps, self.chronicle)
    }

    /// The spawn path of each thread.
    pub(crate) fn paths(&self) -> &[String] {
        &self.chronicle.paths
    }

    /// The operations so far, and the objects that they name.
    pub(crate) fn operations(&self) -> (&[Operation], &[Object]) {
        (&self.chronicle.operations, &self.objects)
    }
}

/// Whether `a` happens before `b`, a later step.
fn comes_before(graph: &dpor::Graph, a: &Recorded, b: &Recorded) -> bool {
    graph.happens_before(a.first, b.last)
}

fn write_order(op: &Op) -> Ordering {
    match op.action {
        Action::Store { order, .. } | Action::Update { order, .. } => order,
        _ => Ordering::SeqCst,
    }
}

fn read_order(op: &Op) -> Ordering {
    match op.action {
        Action::Load { order } | Action::Update { order, .. } => order,
        _ => Ordering::SeqCst,
    }
}

fn releases(order: Ordering) -> bool {
    !matches!(order, Ordering::Relaxed | Ordering::Acquire)
}

fn acquires(order: Ordering) -> bool {
    !matches!(order, Ordering::Relaxed | Ordering::Release)
}
