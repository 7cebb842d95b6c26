//! What the shims see of the engine.

use std::any::Any;
use std::ops::Range;
use std::panic;
use std::ptr::NonNull;
use std::time::Duration;

use dpor::{Access, Action, Info, Op, Replayed, Step, ThreadId};
use sync_shims::model::controller::{ARC, Controller, Inert, Reason, Scope, Slot, Target, ThreadSpec};
use sync_shims::model::statics::is_static;

use super::spy::Point;
use super::threads::Teardown;
use super::tracked::Placed;
use super::{Engine, Failure, Phase, Request, Site};
use crate::fiber;

/// The fact that values have a modelled count.
const COUNTED: u64 = 1 << 63;

impl Controller for Engine {
    #[inline]
    fn perform(&self, target: Option<Target<'_>>, mut op: Op) -> Result<u64, Inert> {
        self.pulse.beat();
        let fast = self.fast.get();
        let word = target.as_ref().map_or(fast << 24, |target| target.slot.get());
        if word >> 24 != fast || fast == 0 {
            return self.perform_first(target.as_ref(), &mut op);
        }
        if target.is_some() {
            op.object = dpor::ObjectId((word & 0xff_ffff) as u32);
        }
        let thread = self.current.get();
        match self.explorer.with(|explorer| explorer.replay_at_once(thread, &op)) {
            Some(Replayed { result, goes_on: true }) => Ok(result),
            replayed => self.perform_known(thread, target.as_ref(), &mut op, replayed),
        }
    }

    fn wrote(&self) -> bool {
        self.explorer.with(|explorer| explorer.wrote())
    }

    fn note(&self, text: &mut dyn FnMut() -> String) {
        if let Some(recorder) = &self.recorder
            && self.phase.get() == Phase::Running
        {
            let text = text();
            recorder.with(|recorder| recorder.note(self.current.get(), text));
        }
    }

    fn plain(&self, target: Target<'_>, access: Access, what: &'static Info, site: Site) {
        if self.phase.get() != Phase::Running {
            return;
        }
        let thread = self.current.get();
        if self.threads.get(thread).ordered.get() > 0 {
            return;
        }
        if self.gives_up_on_static(std::ptr::from_ref(target.slot).cast()) {
            return;
        }
        self.check_carried(&target, what, site);
        if self.phase.get() != Phase::Running {
            return;
        }
        let outcome = self.explorer.with(|explorer| {
            if explorer.is_probing() {
                return Ok(());
            }
            let before = target.slot.get();
            let (word, outcome) = explorer.plain(thread, before, access, site);
            if word != before {
                target.slot.set(word);
                self.placed(target.slot, Placed::Plain(word));
            }
            outcome
        });
        if let Err(race) = outcome {
            let first = earlier_name(race.first.access);
            if what.name != "drop" || !self.is_ordered_unseen(&race, target.created) {
                self.stop(Failure::Race {
                    race,
                    family: what.family,
                    what: (first, what.name),
                    created: target.created,
                });
            }
        }
    }

    fn exclusive(&self, target: Target<'_>, what: &'static Info, site: Site) -> Option<u64> {
        if target.slot.get() >> 24 != self.execution.get() {
            self.check_carried(&target, what, site);
            target.slot.forget();
            return None;
        }
        if self.phase.get() != Phase::Running {
            // Destructors of an execution that is over find what it has left.
            let object = dpor::ObjectId((target.slot.get() & 0xff_ffff) as u32);
            target.slot.forget();
            return Some(self.explorer.with(|explorer| explorer.newest_value(object)));
        }
        let thread = self.current.get();
        let object = dpor::ObjectId((target.slot.get() & 0xff_ffff) as u32);
        let ordered = self.threads.get(thread).ordered.get() > 0;
        let (value, race) = self.explorer.with(|explorer| {
            let race = if ordered { None } else { explorer.exclusive(thread, object, site).err() };
            (explorer.newest_value(object), race)
        });
        target.slot.forget();
        self.moved(target.slot);
        if let Some(race) = race {
            let first = earlier_name(race.first.access);
            self.stop(Failure::Race { race, family: what.family, what: (first, what.name), created: target.created });
            return None;
        }
        Some(value)
    }

    fn unsynchronised(&self, target: Target<'_>, what: &'static Info, site: Site) -> Option<u64> {
        if target.slot.get() >> 24 != self.execution.get() {
            return None;
        }
        let object = dpor::ObjectId((target.slot.get() & 0xff_ffff) as u32);
        let checked = self.phase.get() == Phase::Running;
        let (value, race) = self.explorer.with(|explorer| {
            let race = if checked { explorer.unsynchronised(self.current.get(), object, site).err() } else { None };
            (explorer.newest_value(object), race)
        });
        if let Some(race) = race {
            self.stop(Failure::Race { race, family: what.family, what: ("write", what.name), created: target.created });
        }
        Some(value)
    }

    fn start(&self, thread: ThreadId, spec: ThreadSpec) {
        if let Some(recorder) = &self.recorder {
            recorder.with(|recorder| recorder.spawned(thread, spec.name.as_deref(), spec.process.clone(), spec.site));
        }
        if let Some(name) = &spec.name {
            self.explorer.with(|explorer| explorer.name_thread(thread, name));
        }
        self.add_thread(thread, spec);
        if self.phase.get() == Phase::Running
            && let Some(first) = self.explorer.with(|explorer| explorer.ahead_of(self.current.get()))
        {
            let _ = self.switch(Request::Run(first));
        }
    }

    fn thread(&self) -> ThreadId {
        self.current.get()
    }

    fn thread_name(&self, thread: ThreadId) -> Option<String> {
        if thread == ThreadId::MAIN {
            return Some("main".to_owned());
        }
        self.threads.get(thread).name.with(|name| name.clone())
    }

    fn spawned_at(&self, thread: ThreadId) -> Option<Site> {
        if thread == ThreadId::MAIN { None } else { self.threads.get(thread).site.get() }
    }

    fn execution(&self) -> u64 {
        self.execution.get()
    }

    fn inert(&self) -> bool {
        self.phase.get() == Phase::Ending
    }

    fn panicking(&self) -> bool {
        std::thread::panicking()
            && (self.suspended_panics.get() == 0 || self.threads.get(self.current.get()).unwinding.get())
    }

    fn storage(&self, scope: Scope, key: usize, init: &mut dyn FnMut() -> Box<dyn Any>) -> Option<NonNull<dyn Any>> {
        match scope {
            Scope::Thread => self.threads.get(self.current.get()).storage.get(key, init),
            Scope::Execution => self.storage.get(key, init),
        }
    }

    fn fail(&self, kind: &'static str, message: String, site: Site) -> ! {
        self.stop(Failure::Other { code: kind, message, help: None, site: Some(site) });
        panic::resume_unwind(Box::new(Teardown))
    }

    fn delivered(&self, thread: ThreadId) {
        self.threads.get(thread).undelivered.set(false);
    }

    fn counts(&self, site: Site) -> bool {
        self.facts(site) & COUNTED != 0
    }

    fn count_from_now_on(&self, site: Site) {
        self.learn(site, COUNTED);
    }

    fn facts(&self, site: Site) -> u64 {
        self.learnt.with(|learnt| learnt.iter().find(|(at, _)| *at == site).map_or(0, |(_, facts)| *facts))
    }

    fn learn(&self, site: Site, facts: u64) {
        if self.phase.get() != Phase::Running {
            return;
        }
        self.learnt.with(|learnt| match learnt.iter_mut().find(|(at, _)| *at == site) {
            Some((_, known)) => *known |= facts,
            None => learnt.push((site, facts)),
        });
        self.pulse.learn(site, facts);
        self.restart.set(true);
        self.leave();
    }

    fn allows_static(&self, address: *const ()) -> bool {
        !self.gives_up_on_static(address)
    }

    fn awaits(&self, reason: &mut dyn FnMut() -> Reason) {
        if let Some(recorder) = &self.recorder
            && self.phase.get() == Phase::Running
        {
            let reason = reason();
            recorder.with(|recorder| recorder.awaits(self.current.get(), reason));
        }
    }

    fn track(&self, what: &'static str, site: Site) -> u64 {
        if self.phase.get() != Phase::Running || (what == ARC && !self.leaks.get()) {
            return 0;
        }
        self.tracked.with(|tracked| tracked.add(what, site))
    }

    fn release(&self, number: u64) {
        self.tracked.with(|tracked| tracked.remove(number));
    }

    fn freed(&self, memory: Range<usize>, what: &'static Info, created: Site, site: Site) {
        self.write_to_all(memory, what, created, site);
    }

    fn ordered_drop(&self, enter: bool) {
        let ordered = &self.threads.get(self.current.get()).ordered;
        ordered.set(if enter { ordered.get() + 1 } else { ordered.get() - 1 });
    }

    fn performed(&self) -> u64 {
        let thread = self.current.get();
        self.explorer.with(|explorer| explorer.performed_by(thread).into())
    }

    fn halt(&self, site: Site) -> Inert {
        self.halt_thread(site)
    }

    fn doom(&self, thread: ThreadId) {
        self.threads.get(thread).doomed.set(true);
    }

    fn position(&self) -> u64 {
        let thread = self.current.get();
        self.explorer.with(|explorer| explorer.performed_by(thread)).into()
    }

    fn has_seen(&self, thread: ThreadId, position: u64) -> bool {
        let me = self.current.get();
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        self.explorer.with(|explorer| explorer.has_seen(me, thread, position))
    }

    fn records(&self) -> bool {
        self.recorder.is_some()
    }

    fn time(&self, since_start: Duration) {
        if let Some(recorder) = &self.recorder
            && self.phase.get() == Phase::Running
        {
            recorder.with(|recorder| recorder.time(self.current.get(), since_start));
        }
    }

    fn written(&self, slot: &Slot) -> Vec<u64> {
        let object = dpor::ObjectId((slot.get() & 0xff_ffff) as u32);
        self.explorer.with(|explorer| {
            let graph = explorer.graph();
            graph.modification_order(object).iter().map(|&event| graph.event(event).value).collect()
        })
    }

    fn label(&self, label: &'static str, holds: bool, site: Site) {
        self.note_label(label, holds, site);
    }

    fn offers(&self, budget: dpor::Budget) {
        self.budgets.set(self.budgets.get() | 1 << budget as u8);
    }
}

pub(super) fn earlier_name(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
    }
}

/// Performs an operation once. If that worked: whom to run before the program learns the result.
#[inline]
fn step(explorer: &mut dpor::Explorer, thread: ThreadId, op: &Op) -> (Step, Option<ThreadId>) {
    let step = explorer.step(thread, op);
    // A spawned thread has to be started before anybody runs it: `start` looks ahead then.
    let looks = matches!(step, Step::Done(_)) && !matches!(op.action, Action::Spawn);
    let ahead = if looks { explorer.ahead_of(thread) } else { None };
    (step, ahead)
}

impl Engine {
    /// An operation on an object that this execution knows, or on none, that may have been replayed already.
    #[inline(never)]
    fn perform_known(
        &self,
        thread: ThreadId,
        target: Option<&Target<'_>>,
        op: &mut Op,
        replayed: Option<Replayed>,
    ) -> Result<u64, Inert> {
        if let Some(Replayed { result, .. }) = replayed {
            if let Some(first) = self.explorer.with(|explorer| explorer.ahead_of(thread)) {
                self.let_go_first(first)?;
            }
            return Ok(result);
        }
        let (step, ahead) = self.checking(|explorer| step(explorer, thread, op));
        if let (Step::Done(result), None) = (&step, ahead) {
            return Ok(*result);
        }
        self.perform_slowly(thread, target, op, step, ahead)
    }

    /// Others perform operations before the running thread learns what came of its own.
    #[inline(always)]
    fn let_go_first(&self, first: ThreadId) -> Result<(), Inert> {
        let wrote = self.explorer.with(|explorer| explorer.wrote());
        self.switch(Request::Run(first))?;
        // What this operation did is asked for next.
        self.explorer.with(|explorer| explorer.set_wrote(wrote));
        Ok(())
    }

    /// An operation that is recorded, comes after the end, or is the first one on an object in this execution.
    #[inline(never)]
    fn perform_first(&self, target: Option<&Target<'_>>, op: &mut Op) -> Result<u64, Inert> {
        if let Some(target) = target
            && self.gives_up_on_static(std::ptr::from_ref(target.slot).cast())
        {
            return Err(Inert);
        }
        if let Some(target) = target {
            self.check_carried(target, op.info, op.site);
        }
        if self.phase.get() != Phase::Running {
            return self.operation_after_the_end();
        }
        let thread = self.current.get();
        let (step, ahead) = self.attempt(thread, target, op);
        self.perform_slowly(thread, target, op, step, ahead)
    }

    /// Asks the explorer for the operation once. If it was performed: whom to run before the program learns the result.
    fn attempt(&self, thread: ThreadId, target: Option<&Target<'_>>, op: &mut Op) -> (Step, Option<ThreadId>) {
        self.checking(|explorer| {
            if let Some(target) = target {
                match explorer.resolve(thread, target.slot.get(), target.init) {
                    Ok(word) => {
                        if target.slot.get() != word {
                            self.placed(target.slot, Placed::Object(word));
                        }
                        target.slot.set(word);
                        op.object = dpor::ObjectId((word & 0xff_ffff) as u32);
                    }
                    Err(first) => return (Step::Run(first), None),
                }
            }
            if let Some(recorder) = &self.recorder {
                recorder.with(|recorder| recorder.attempt(explorer, target, op));
            }
            step(explorer, thread, op)
        })
    }

    /// Lets the explorer work, which may take its time.
    #[inline(always)]
    fn checking<R>(&self, work: impl FnOnce(&mut dpor::Explorer) -> R) -> R {
        self.pulse.set_checking(true);
        let came = self.explorer.with(work);
        self.pulse.set_checking(false);
        came
    }

    /// An operation that has to wait, ends something, or is recorded.
    #[inline(never)]
    fn perform_slowly(
        &self,
        thread: ThreadId,
        target: Option<&Target<'_>>,
        op: &mut Op,
        mut step: Step,
        mut ahead: Option<ThreadId>,
    ) -> Result<u64, Inert> {
        loop {
            match step {
                Step::Done(result) => {
                    self.record(thread, target, op);
                    if let Some(first) = ahead {
                        self.let_go_first(first)?;
                    }
                    if self.is_spied_on() {
                        self.look(Point::Performed, op.site);
                    }
                    return Ok(result);
                }
                Step::Run(next) => self.switch(Request::Run(next))?,
                Step::Over => self.switch(Request::Stop)?,
                Step::Nondeterminism(mismatch) => self.give_up(Failure::Nondeterminism(*mismatch))?,
                Step::Limit => self.give_up(self.too_many_steps(op))?,
                Step::TooManyThreads => self.give_up(too_many_threads(op))?,
            }
            (step, ahead) = self.attempt(thread, target, op);
        }
    }

    fn record(&self, thread: ThreadId, target: Option<&Target<'_>>, op: &Op) {
        if let Some(recorder) = &self.recorder
            && self.failure.with(|failure| failure.is_none())
        {
            self.explorer.with(|explorer| recorder.with(|recorder| recorder.performed(explorer, thread, target, op)));
        }
    }

    /// An operation after the end of the execution.
    #[cold]
    fn operation_after_the_end(&self) -> Result<u64, Inert> {
        if std::thread::panicking() {
            return Err(Inert);
        }
        // The program has caught the unwinding of a previous operation, or has not been unwound yet.
        panic::resume_unwind(Box::new(Teardown))
    }

    /// Gives up control; returns when this thread is to go on.
    // Inlined: after a switch the processor mispredicts the returns of the frames below it.
    #[inline(always)]
    pub(super) fn switch(&self, request: Request) -> Result<(), Inert> {
        self.request.set(request);
        if std::thread::panicking() {
            self.suspend_while_panicking();
        } else {
            fiber::suspend();
        }
        // It runs, and nobody looks.
        if self.fast.get() != 0 { Ok(()) } else { self.woken() }
    }

    #[cold]
    #[inline(never)]
    fn suspend_while_panicking(&self) {
        let thread = self.current.get();
        if self.panicking() {
            self.suspended_panics.set(self.suspended_panics.get() + 1);
            self.threads.get(thread).unwinding.set(true);
            fiber::suspend_while_panicking();
            self.suspended_panics.set(self.suspended_panics.get() - 1);
        } else {
            fiber::suspend_while_panicking();
        }
        debug_assert_eq!(self.current.get(), thread);
    }

    /// The thread goes on while somebody looks, or only to be unwound.
    #[cold]
    #[inline(never)]
    fn woken(&self) -> Result<(), Inert> {
        match self.phase.get() {
            Phase::Running => {
                // What it was about to do may be all that it does before it is lost.
                if self.is_spied_on()
                    && let Some(site) = self.threads.get(self.current.get()).site.get()
                {
                    self.look(Point::Goes, site);
                }
                Ok(())
            }
            Phase::Ending if self.panicking() => Err(Inert),
            Phase::Ending => panic::resume_unwind(Box::new(Teardown)),
        }
    }

    /// The model fails here.
    pub(super) fn stop(&self, failure: Failure) {
        self.set_failure(failure);
        self.leave();
    }

    fn give_up(&self, failure: Failure) -> Result<(), Inert> {
        self.set_failure(failure);
        self.leave();
        Err(Inert)
    }

    /// Ends the execution if it comes to a `static` which others may use at the same time.
    #[inline]
    fn gives_up_on_static(&self, address: *const ()) -> bool {
        self.shared.get()
            && self.phase.get() == Phase::Running
            && is_static(address) != Some(false)
            && self.give_up_static()
    }

    #[cold]
    fn give_up_static(&self) -> bool {
        self.met_static.set(true);
        self.restart.set(true);
        self.leave();
        true
    }

    /// Ends the execution from within a thread: unwinds, or, if the thread is unwinding already, goes on inert.
    fn leave(&self) {
        if std::thread::panicking() {
            self.set_phase(Phase::Ending);
            self.request.set(Request::Stop);
        } else {
            let _ = self.switch(Request::Stop);
        }
    }

    /// Remembers the first failure, and where it happened.
    pub(super) fn set_failure(&self, failure: Failure) {
        self.failure.with(|slot| {
            if slot.is_none() {
                let events = self.explorer.with(|explorer| involved(explorer, &failure, self.current.get()));
                self.failed_at.with(|at| *at = events);
                *slot = Some(failure);
            }
        });
    }

    fn too_many_steps(&self, op: &Op) -> Failure {
        let limit = self.explorer.with(|explorer| explorer.config().max_steps);
        Failure::Other {
            code: "limit",
            message: format!(
                "an execution has more than {limit} operations (the last one: `{}::{}`)",
                op.info.family, op.info.name
            ),
            help: Some(
                "if a loop waits for another thread here, call `spin_loop()` or `yield_now()` in it; if the model is meant \
                 to be that long, raise `max_steps` (INTERLEAVE_MAX_STEPS)"
                    .to_owned(),
            ),
            site: Some(op.site),
        }
    }
}

fn too_many_threads(op: &Op) -> Failure {
    Failure::Other {
        code: "limit",
        message: format!("an exploration can have at most {} threads", dpor::MAX_THREADS),
        help: Some("use fewer threads: two or three show nearly every concurrency bug".to_owned()),
        site: Some(op.site),
    }
}

/// The last events that the failure depends on.
fn involved(explorer: &dpor::Explorer, failure: &Failure, current: ThreadId) -> Vec<dpor::EventId> {
    match failure {
        Failure::Panic(note) => events_before(explorer, note.thread, note.after),
        Failure::Race { race, .. } => {
            [race.first, race.second].iter().flat_map(|a| events_before(explorer, a.thread, a.after)).collect()
        }
        Failure::Deadlock | Failure::Livelock => Vec::new(),
        _ => match events_before(explorer, current, u32::MAX) {
            // It depends on its being there.
            none if none.is_empty() => explorer.graph().spawn_of(current).into_iter().collect(),
            last => last,
        },
    }
}

/// The last of the first `after` events of a thread, if there is one.
pub(super) fn events_before(explorer: &dpor::Explorer, thread: ThreadId, after: u32) -> Vec<dpor::EventId> {
    let events = explorer.graph().thread_events(thread);
    (after as usize).min(events.len()).checked_sub(1).map(|last| events[last]).into_iter().collect()
}
