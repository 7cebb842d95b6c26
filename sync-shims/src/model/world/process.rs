//! Simulated processes: who belongs to which, how one ends, and what the others see of it.
//!
//! A process ends only by steps of its own threads, so that nothing it does can come after its end. Killing one sets its
//! *signal*; each of its threads looks at the signal before each of its operations, and ends where it finds one. A thread that
//! was blocked when the signal came looked too early: that execution does not count, and another one has it look later. The
//! main thread of the process waits for its other threads, closes the descriptors in the process's table, and then lets others
//! see that the process is over. Threads that end like this are left where they are: no destructor of the program runs.
//!
//! Looking costs a step at each operation. So only processes spawned at a place where one was told to end are looked after
//! ([`Controller::counts`]); the first time, the exploration starts again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dpor::{Action, Budget, Info, Outcome, Outcomes, Role, ThreadId};

use super::call::{Call, Halt, Object, Step, Sys};
use super::entry::look;
use super::errno::Errno;
use super::tables::{Series, Tables};
use crate::model::controller::{Controller, Inert};
use crate::model::deferred;
use crate::model::event::{Answer, Site, perform_in};

/// The process id of the body of a model, the same in all.
pub(crate) const BODY: u32 = 1000;

/// Processes of one thread: with fewer than 64 threads in all, more cannot be.
const PER_THREAD: u64 = 64;

/// How a process ended: an exit code, or 256 and the signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExitCode(u64);

impl ExitCode {
    /// As `exit` with this code: the low 8 bits count.
    pub(crate) fn exited(code: i32) -> Self {
        ExitCode(u64::from(code as u8))
    }

    /// Ended by this signal.
    pub(crate) fn signalled(signal: i32) -> Self {
        ExitCode(0x100 | signal as u64)
    }

    /// The code, if it exited.
    pub(crate) fn code(self) -> Option<i32> {
        (self.0 & 0x100 == 0).then_some(self.0 as i32)
    }

    /// The signal, if one ended it.
    pub(crate) fn signal(self) -> Option<i32> {
        (self.0 & 0x100 != 0).then_some((self.0 & 0xff) as i32)
    }
}

/// SIGKILL, and what a crash looks like.
pub(crate) const KILLED: i32 = 9;
/// SIGABRT.
pub(crate) const ABORTED: i32 = 6;

/// How a process is started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// What reports call it.
    pub(crate) name: Option<String>,
    /// It may crash before any of its operations.
    pub(crate) crashable: bool,
    /// It may get the id of a process that is gone.
    pub(crate) may_reuse_pid: bool,
}

/// A simulated process. The body of the model is none of these.
#[derive(Debug)]
pub(crate) struct Process {
    /// The number, from 1, which does not depend on the order of steps.
    number: u64,
    pid: u32,
    name: Box<str>,
    site: Site,
    parent: Option<Arc<Process>>,
    crashable: bool,
    /// Its threads look at the signal.
    interruptible: bool,
    /// More than one thread has been started in it.
    threaded: AtomicBool,
    /// 0, or [`ENDS`] and how it is to end.
    signal: Object,
    /// [`RUNS`], [`ORPHANED`], or [`OVER`] and how it ended.
    life: Object,
    plain: Mutex<Plain>,
}

/// Plain data of a process.
#[derive(Debug, Default)]
struct Plain {
    threads: Vec<ThreadId>,
    children: Vec<Arc<Process>>,
    /// The signal is set.
    signalled: bool,
}

/// What is known of a thread of a simulated process.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    process: Arc<Process>,
    /// The threads it has started.
    children: Vec<ThreadId>,
    /// It is in the middle of several steps that look like one.
    masked: u32,
    /// It is going to be after its next step.
    masks_next: bool,
    /// How deep it is in system calls, and whether the outermost one has taken no step yet: crashes come between calls.
    depth: u32,
    fresh: bool,
    /// A crash now would leave something else than a crash at its last operation.
    dirty: bool,
    /// It is on its way out.
    ending: bool,
}

const ENDS: u64 = 1 << 63;
const RUNS: u64 = 0;
const ORPHANED: u64 = 1;
const OVER: u64 = 1 << 63;

/// Sets the signal to `args[0]` unless there is one: the result is the one that is there now.
fn raise(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == 0 { Outcome::write(args[0], args[0]) } else { Outcome::read(state) });
}

/// The process is over, as `args[0]` says: the result is the state before.
fn die(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(args[0], state));
}

/// Waits until the process is over, which it stays: the result is how.
fn wait_over(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state & OVER != 0 {
        out.push(Outcome::read(state));
    }
}

/// Nobody waits for the process any more: the result is the state before.
fn orphan(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == RUNS { Outcome::write(ORPHANED, state) } else { Outcome::read(state) });
}

/// The process id stands for `args[0]`, or for nobody.
fn assign(_: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(args[0], 0));
}

/// What a report says of who has a process id.
fn holder(result: u64) -> String {
    if result == 0 { "→ no process".into() } else { "→ a process".into() }
}

/// What a report says of a process that was waited for.
fn ended(result: u64) -> String {
    match (result & OVER != 0, ExitCode(result & !OVER)) {
        (false, _) => "→ runs".into(),
        (true, code) => match code.signal() {
            Some(signal) => format!("→ ended by signal {signal}"),
            None => format!("→ exit code {}", code.code().unwrap_or(0)),
        },
    }
}

/// Ids of processes that are gone, the latest in the lowest bits, as differences from that of the body.
const FREED_BITS: u32 = 12;
const FREED: u64 = (1 << FREED_BITS) - 1;

/// The id `BODY + args[0]` is free again.
fn free(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write((state << FREED_BITS | args[0]) & ((1 << (5 * FREED_BITS)) - 1), 0));
}

/// Takes one of the free ids, or, as the result 0 says, a new one.
fn reuse(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(0));
    for place in 0..5 {
        let below = (1 << (place * FREED_BITS)) - 1;
        let id = state >> (place * FREED_BITS) & FREED;
        if id != 0 {
            let rest = state & below | state >> ((place + 1) * FREED_BITS) << (place * FREED_BITS);
            out.push(Outcome::write(rest, id).costs(Budget::PidReuse));
        }
    }
}

/// What a report says of it.
fn reused(result: u64) -> String {
    if result == 0 { "a new id".into() } else { format!("takes the id {} again", u64::from(BODY) + result) }
}

/// The place that stands for "some process may reuse an id": then those that end give theirs back.
fn reuses_pids() -> Site {
    std::panic::Location::caller()
}

/// The member that the running thread is, if it belongs to a simulated process.
fn member<R>(controller: &dyn Controller, f: impl FnOnce(&mut Member) -> R) -> Result<Option<R>, Inert> {
    let thread = controller.thread();
    Tables::with(controller, |tables| tables.members.get_mut(&thread).map(f))
}

/// Called before each operation while there are simulated processes: the thread may end here.
pub(crate) fn before_operation(controller: &dyn Controller, site: Site) -> Result<(), Inert> {
    let here = member(controller, |member| {
        let between = member.depth == 0 || std::mem::replace(&mut member.fresh, false);
        let may_crash = member.process.crashable && between && (member.dirty || member.process.is_threaded());
        let may_end = !member.ending && member.masked == 0;
        member.masked += u32::from(std::mem::take(&mut member.masks_next));
        may_end.then(|| (member.process.clone(), may_crash))
    })?;
    let Some(Some((process, may_crash))) = here else { return Ok(()) };
    let call = Call::at(controller, site);
    process.look(call)?;
    if may_crash { process.may_crash(call) } else { Ok(()) }
}

/// Called after each operation while there are simulated processes.
pub(crate) fn after_operation(controller: &dyn Controller) {
    let wrote = controller.wrote();
    let _ = member(controller, |member| member.dirty |= wrote);
}

/// Called by whoever starts `thread`, before it begins: it belongs to the same process, whose name is returned.
pub(crate) fn inherit(controller: &dyn Controller, thread: ThreadId) -> Option<String> {
    if !deferred::watches_processes() {
        return None;
    }
    let process = member(controller, |member| {
        member.children.push(thread);
        member.process.clone()
    });
    let process = process.ok().flatten()?;
    process.threaded.store(true, Ordering::Relaxed);
    process.adopt(controller, thread);
    Some(process.name().to_owned())
}

/// Calls `f`, a system call: a crash comes before its first step, if at all.
pub(crate) fn system_call<R>(controller: &dyn Controller, f: impl FnOnce() -> R) -> R {
    if !deferred::watches_processes() {
        return f();
    }
    let enter = |member: &mut Member| {
        member.fresh |= member.depth == 0;
        member.depth += 1;
    };
    let _ = member(controller, enter);
    let result = f();
    // One that has started the first process of a model was not counted.
    let _ = member(controller, |member| member.depth = member.depth.saturating_sub(1));
    result
}

/// The next step is the first of another system call.
pub(crate) fn next_call(call: Call<'_>) {
    if deferred::watches_processes() {
        let _ = member(call.controller(), |member| member.fresh = true);
    }
}

/// Calls `f`, which is several steps of one call: the thread does not end within.
pub(crate) fn masked<R>(call: Call<'_>, f: impl FnOnce() -> R) -> R {
    if !deferred::watches_processes() {
        return f();
    }
    let _ = member(call.controller(), |member| member.masked += 1);
    let result = f();
    let _ = member(call.controller(), |member| member.masked -= 1);
    result
}

/// Calls `f`, which is several steps of one call: the thread may end before the first.
pub(crate) fn whole<R>(call: Call<'_>, f: impl FnOnce() -> R) -> R {
    if !deferred::watches_processes() {
        return f();
    }
    let _ = member(call.controller(), |member| member.masks_next = true);
    let result = f();
    let _ = member(call.controller(), |member| {
        if !std::mem::take(&mut member.masks_next) {
            member.masked = member.masked.saturating_sub(1);
        }
    });
    result
}

/// The process that the running thread belongs to; `None`: the body of the model.
pub(crate) fn current(call: Call<'_>) -> Sys<Option<Arc<Process>>> {
    Ok(member(call.controller(), |member| member.process.clone())?)
}

/// The number of the process that the running thread belongs to; 0 for the body of the model.
pub(crate) fn current_number(call: Call<'_>) -> Sys<u64> {
    Ok(member(call.controller(), |member| member.process.number)?.unwrap_or(0))
}

/// As [`current_number`], for those who have no call.
pub(crate) fn process_number(controller: &dyn Controller) -> Result<u64, Inert> {
    Ok(member(controller, |member| member.process.number)?.unwrap_or(0))
}

/// The id of the process that the running thread belongs to.
pub(crate) fn id(call: Call<'_>) -> u32 {
    member(call.controller(), |member| member.process.pid).ok().flatten().unwrap_or(BODY)
}

/// Stands in for kill(2) with signal 0: whether the id stands for a process, be it over, as long as nobody has waited for it.
pub(crate) fn is_alive(call: Call<'_>, pid: u32) -> Sys<bool> {
    static LOOKUP: Step = Step::new("process", "is_alive", look).shows(holder);
    // 0 means the caller's own process group.
    Ok(pid == 0 || pid == BODY || call.act(&*pid_entry(call, pid)?, &LOOKUP, [0, 0])? != 0)
}

/// Stands in for kill(2) with SIGKILL.
pub(crate) fn kill(call: Call<'_>, pid: u32) -> Sys<()> {
    static LOOKUP: Step = Step::new("process", "kill", look).shows(holder);
    if pid == 0 || pid == BODY {
        call.unsupported("killing the process of the model's body");
    }
    match call.act(&*pid_entry(call, pid)?, &LOOKUP, [0, 0])? {
        0 => Err(Errno::SRCH.into()),
        number => call.tables(|tables| tables.processes[&number].clone())?.kill(call),
    }
}

/// Ends the process of the running thread, from wherever it is. Returns only after the end of the execution.
pub(crate) fn exit(call: Call<'_>, code: ExitCode) -> Sys<()> {
    match current(call)? {
        None => call.unsupported("the end of the process of the model's body (start a process with `process::spawn`)"),
        Some(process) => {
            process.may_crash_before_end(call)?;
            process.end(call, code)
        }
    }
}

/// What stands for a process id.
fn pid_entry(call: Call<'_>, pid: u32) -> Sys<Arc<Object>> {
    let site = call.site();
    Ok(call.tables(|tables| {
        let new = || Arc::new(Object::new(0, site).named(format_args!("process {pid}")));
        tables.pids.entry(pid).or_insert_with(new).clone()
    })?)
}

/// The ids that are free again.
fn freed_pids(call: Call<'_>) -> Sys<Arc<Object>> {
    let site = call.site();
    Ok(call.tables(|tables| {
        let new = || Arc::new(Object::new(0, site).named(format_args!("free process ids")));
        tables.freed_pids.get_or_insert_with(new).clone()
    })?)
}

impl Process {
    /// A new child of the running process, with an id, before its main thread is started.
    pub(crate) fn new(call: Call<'_>, plan: Plan) -> Sys<Arc<Process>> {
        static SPAWN: Step = Step::new("process", "spawn", assign);
        static REUSE: Step = Step::new("process", "spawn", reuse).shows(reused);
        let (thread, count) = call.count(Series::Processes)?;
        let number = u64::from(thread.0) * PER_THREAD + count;
        let mut pid = BODY + number as u32;
        if plan.may_reuse_pid {
            call.controller().offers(Budget::PidReuse);
            if !call.controller().counts(reuses_pids()) {
                call.controller().count_from_now_on(reuses_pids());
                return Err(Halt::Inert);
            }
            let again = call.act(&*freed_pids(call)?, &REUSE, [0, 0])?;
            if again != 0 {
                pid = BODY + again as u32;
            }
        }
        let name: Box<str> = plan.name.unwrap_or_else(|| format!("process {pid}")).into();
        let site = call.site();
        let process = Arc::new(Process {
            number,
            pid,
            site,
            parent: current(call)?,
            crashable: plan.crashable,
            interruptible: call.controller().counts(site),
            threaded: AtomicBool::new(false),
            signal: Object::new(0, site).named(format_args!("signal of {name}")),
            life: Object::new(RUNS, site).named(format_args!("{name}")),
            name,
            plain: Mutex::default(),
        });
        call.tables(|tables| tables.processes.insert(number, process.clone()))?;
        if let Some(parent) = &process.parent {
            parent.plain().children.push(process.clone());
        }
        call.act(&*pid_entry(call, pid)?, &SPAWN, [number, 0])?;
        deferred::watch_processes();
        Ok(process)
    }

    /// The number.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// What reports call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether `other` is the process that has started this one.
    pub(crate) fn is_child_of(&self, other: u64) -> bool {
        self.parent.as_ref().map_or(0, |parent| parent.number) == other
    }

    /// `thread` belongs to it from now on; it has not begun yet.
    pub(crate) fn adopt(self: &Arc<Self>, controller: &dyn Controller, thread: ThreadId) {
        let signalled = {
            let mut plain = self.plain();
            plain.threads.push(thread);
            plain.signalled
        };
        if signalled {
            controller.doom(thread);
        }
        let member = Member {
            process: self.clone(),
            children: Vec::new(),
            masked: 0,
            masks_next: false,
            depth: 0,
            fresh: false,
            dirty: true,
            ending: false,
        };
        let _ = Tables::with(controller, |tables| tables.members.insert(thread, member));
    }

    fn plain(&self) -> MutexGuard<'_, Plain> {
        self.plain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_threaded(&self) -> bool {
        self.threaded.load(Ordering::Relaxed)
    }

    /// The running thread, one of this process, ends here if there is a signal.
    fn look(self: &Arc<Self>, call: Call<'_>) -> Result<(), Inert> {
        static LOOK: Info = Info { name: "look for a signal", family: "process", role: Role::Plain };
        if !self.interruptible {
            return Ok(());
        }
        let action = Action::Object { outs: look, args: [0, 0], failure: dpor::Ordering::Acquire, yields: false };
        match call.controller().perform(Some(self.signal.target()), call.operation(action, &LOOK))? {
            0 => Ok(()),
            _ => self.end(call, ExitCode(0)).map_err(|_| Inert),
        }
    }

    /// The running thread, one of this process, may crash here, and the process with it.
    fn may_crash(self: &Arc<Self>, call: Call<'_>) -> Result<(), Inert> {
        static CRASH: Info = Info { name: "crash", family: "process", role: Role::Plain };
        call.controller().offers(Budget::Crash);
        member(call.controller(), |member| member.dirty = false)?;
        let action = Action::Choose { alternatives: 2, budget: Budget::Crash };
        match call.controller().perform(None, call.operation(action, &CRASH))? {
            0 => Ok(()),
            _ => self.end(call, ExitCode::signalled(KILLED)).map_err(|_| Inert),
        }
    }

    /// The same before the process ends by itself: then it need not look for a signal.
    fn may_crash_before_end(self: &Arc<Self>, call: Call<'_>) -> Result<(), Inert> {
        let dirty = member(call.controller(), |member| !member.ending && member.dirty)?.unwrap_or(false);
        if self.crashable && (dirty || self.is_threaded()) { self.may_crash(call) } else { Ok(()) }
    }

    /// From now on threads of processes that are spawned where this one was look at the signal.
    fn look_from_now_on(&self, call: Call<'_>) -> Sys<()> {
        if self.interruptible {
            return Ok(());
        }
        call.controller().count_from_now_on(self.site);
        Err(Halt::Inert)
    }

    /// Sets the signal: the result is how the process ends, which an earlier signal may have settled.
    fn raise(&self, call: Call<'_>, code: ExitCode, step: &'static Step) -> Sys<ExitCode> {
        self.look_from_now_on(call)?;
        let settled = call.act(&self.signal, step, [ENDS | code.0, 0])?;
        let threads = {
            let mut plain = self.plain();
            plain.signalled = true;
            plain.threads.clone()
        };
        threads.into_iter().for_each(|thread| call.controller().doom(thread));
        Ok(ExitCode(settled & !ENDS))
    }

    /// Stands in for kill(2) with SIGKILL.
    pub(crate) fn kill(&self, call: Call<'_>) -> Sys<()> {
        static KILL: Step = Step::new("process", "kill", raise);
        self.raise(call, ExitCode::signalled(KILLED), &KILL)?;
        Ok(())
    }

    /// Ends the process from within, and the running thread. Returns only after the end of the execution.
    fn end(self: &Arc<Self>, call: Call<'_>, code: ExitCode) -> Sys<()> {
        static EXIT: Step = Step::new("process", "exit", raise);
        self.leave(call)?;
        if self.main() == call.thread() {
            self.finish(call, code)?;
        } else {
            // An earlier signal stays.
            self.raise(call, code, &EXIT)?;
        }
        let Inert = call.controller().halt(call.site());
        Err(Halt::Inert)
    }

    /// The last steps of the process, on its main thread, whose code has come to its end.
    pub(crate) fn finish_main(self: &Arc<Self>, call: Call<'_>, code: ExitCode) -> Sys<()> {
        self.may_crash_before_end(call)?;
        self.leave(call)?;
        self.finish(call, code)
    }

    /// The running thread does not end any more before it is at its end.
    fn leave(&self, call: Call<'_>) -> Sys<()> {
        member(call.controller(), |member| member.ending = true)?;
        Ok(())
    }

    fn main(&self) -> ThreadId {
        self.plain().threads[0]
    }

    /// Ends the other threads, closes what is open, and lets others see it.
    fn finish(self: &Arc<Self>, call: Call<'_>, mut code: ExitCode) -> Sys<()> {
        static EXIT: Step = Step::new("process", "exit", raise);
        static DIE: Step = Step::new("process", "ends", die).role(Role::Signal);
        if self.interruptible {
            code = self.raise(call, code, &EXIT)?;
            self.others(call, self.main(), &|other| {
                static JOIN: Info = Info { name: "waits for the end of", family: "process", role: Role::Wait };
                call.alone(Action::Join { thread: other }, &JOIN).map(|_| true)
            })?;
        } else if self.is_threaded() {
            let ended = self.others(call, self.main(), &|other| {
                static ENDED: Info = Info { name: "looks for the end of", family: "process", role: Role::Plain };
                call.alone(Action::Ended { thread: other }, &ENDED).map(|ended| ended != 0)
            })?;
            if !ended {
                self.look_from_now_on(call)?;
            }
        }
        super::descriptor::close_all(call, self.number)?;
        let mut children = self.plain().children.clone();
        children.sort_by_key(|child| child.number);
        for child in children {
            child.orphan(call)?;
        }
        if call.act(&self.life, &DIE, [OVER | code.0, 0])? == ORPHANED {
            self.reap(call)?;
        }
        Ok(())
    }

    /// Calls `f` for each thread that `thread` has started, and those that these have, as long as it says that it has ended;
    /// whether all have.
    fn others(&self, call: Call<'_>, thread: ThreadId, f: &dyn Fn(ThreadId) -> Sys<bool>) -> Sys<bool> {
        let children = call
            .tables(|tables| tables.members.get(&thread).map(|member| member.children.clone()).unwrap_or_default())?;
        for child in children {
            // Whoever has ended starts nobody any more.
            if !f(child)? || !self.others(call, child, f)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Stands in for waitpid(2): waits for the end, and gives up the process id.
    pub(crate) fn wait(&self, call: Call<'_>) -> Sys<ExitCode> {
        static WAIT: Step = Step::new("Child", "wait", wait_over).role(Role::Wait).shows(ended);
        self.check_parent(call)?;
        let state = call.act(&self.life, &WAIT, [0, 0])?;
        self.reap(call)?;
        Ok(ExitCode(state & !OVER))
    }

    /// The same with WNOHANG.
    pub(crate) fn try_wait(&self, call: Call<'_>) -> Sys<Option<ExitCode>> {
        static TRY_WAIT: Step = Step::new("Child", "try_wait", look).shows(ended);
        self.check_parent(call)?;
        let state = call.act(&self.life, &TRY_WAIT, [0, 0])?;
        if state & OVER == 0 {
            return Ok(None);
        }
        self.reap(call)?;
        Ok(Some(ExitCode(state & !OVER)))
    }

    /// Only the parent waits for a process.
    fn check_parent(&self, call: Call<'_>) -> Sys<()> {
        if self.is_child_of(current_number(call)?) { Ok(()) } else { Err(Errno::CHILD.into()) }
    }

    /// The parent is gone: what is over is reaped now, the others when they are over.
    fn orphan(&self, call: Call<'_>) -> Sys<()> {
        static ORPHAN: Step = Step::new("process", "loses its parent", orphan);
        if call.act(&self.life, &ORPHAN, [0, 0])? & OVER != 0 {
            self.reap(call)?;
        }
        Ok(())
    }

    /// The process id stands for nobody any more. Once only: by the one who waits, or by the end of the parent.
    fn reap(&self, call: Call<'_>) -> Sys<()> {
        static REAP: Step = Step::new("process", "reaped", assign);
        static FREE: Step = Step::new("process", "reaped", free);
        let mine = call.tables(|tables| tables.reaped.insert(self.number))?;
        if !mine {
            return Ok(());
        }
        call.act(&*pid_entry(call, self.pid)?, &REAP, [0, 0])?;
        if call.controller().counts(reuses_pids()) {
            call.act(&*freed_pids(call)?, &FREE, [u64::from(self.pid - BODY), 0])?;
        }
        Ok(())
    }
}

/// Performs `action`, which has no object, unless the execution is over.
impl Call<'_> {
    fn alone(self, action: Action, info: &'static Info) -> Sys<u64> {
        match perform_in(self.controller(), None, action, info, self.site()) {
            Answer::Done(result) => Ok(result),
            Answer::Inert | Answer::Outside => Err(Halt::Inert),
        }
    }
}
