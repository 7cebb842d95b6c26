//! A controller that performs every operation at once, in the state the object is in, with the first outcome that it has.
//! Threads run when they are started. It writes down what it was asked for.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, panic_any};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use dpor::{Access, Action, Info, Op, Outcome, Outcomes, ThreadId};
use sync_shims::model::controller::{Controller, Inert, Scope, Target, ThreadSpec, enter};
use sync_shims::model::deferred;
use sync_shims::model::live::Live;

type Site = &'static Location<'static>;

/// Of a stored value: whether it lives as long as the execution, its thread if not, and the key of the shim.
type Key = (bool, u32, usize);

/// What the controller unwinds with when a place in the source needs a count.
pub(crate) struct CountFromNowOn;

/// What the controller unwinds with when a shim gives up.
#[derive(Debug)]
pub(crate) struct Failed(pub &'static str);

pub(crate) struct Fake {
    execution: u64,
    live: Live,
    objects: RefCell<Vec<u64>>,
    log: RefCell<Vec<String>>,
    thread: Cell<u32>,
    threads: Cell<u32>,
    names: RefCell<BTreeMap<u32, String>>,
    ended: RefCell<BTreeSet<u32>>,
    storage: RefCell<BTreeMap<Key, Box<dyn Any>>>,
    wrote: Cell<bool>,
    inert: Cell<bool>,
    counted: Cell<bool>,
    /// What is known of all objects.
    pub(crate) facts: Cell<u64>,
    ordered: Cell<i32>,
    /// What the next choices and weak operations come to; 0 and no spurious failure if there is nothing here.
    pub(crate) choices: RefCell<Vec<u64>>,
}

impl Fake {
    pub(crate) fn new() -> Self {
        static EXECUTIONS: AtomicU64 = AtomicU64::new(1);
        let execution = EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        let live = Live::new();
        live.set(execution);
        Fake {
            execution,
            live,
            objects: RefCell::default(),
            log: RefCell::default(),
            thread: Cell::new(0),
            threads: Cell::new(1),
            names: RefCell::default(),
            ended: RefCell::default(),
            storage: RefCell::default(),
            wrote: Cell::new(false),
            inert: Cell::new(false),
            counted: Cell::new(false),
            facts: Cell::new(0),
            ordered: Cell::new(0),
            choices: RefCell::default(),
        }
    }

    /// One that counts every `Arc`.
    pub(crate) fn counting() -> Self {
        let fake = Fake::new();
        fake.counted.set(true);
        fake
    }

    /// Runs `body` as the main thread of a model.
    pub(crate) fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        let result = enter(self, || {
            let result = catch_unwind(AssertUnwindSafe(|| {
                let result = body();
                deferred::settle(self);
                result
            }));
            deferred::clear();
            self.drop_storage(false, 0);
            self.drop_storage(true, 0);
            result
        });
        self.live.set(0);
        result.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    }

    /// From now on the execution is over.
    pub(crate) fn end(&self) {
        self.inert.set(true);
    }

    /// What has been done since the last call.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.take()
    }

    fn write_down(&self, what: String) {
        let ordered = if self.ordered.get() > 0 { " in order" } else { "" };
        self.log.borrow_mut().push(format!("t{} {what}{ordered}", self.thread.get()));
    }

    fn drop_storage(&self, execution: bool, thread: u32) {
        loop {
            let mut storage = self.storage.borrow_mut();
            let Some(&key) = storage.keys().find(|key| (key.0, key.1) == (execution, thread)) else { break };
            let value = storage.remove(&key);
            drop(storage);
            drop(value);
        }
    }

    fn object(&self, target: &Target<'_>) -> usize {
        let word = target.slot.get();
        if word >> 24 == self.execution {
            return (word & 0xff_ffff) as usize;
        }
        let mut objects = self.objects.borrow_mut();
        objects.push(target.init);
        let id = objects.len() - 1;
        target.slot.set(self.execution << 24 | id as u64);
        id
    }

    fn choose(&self) -> u64 {
        self.choices.borrow_mut().pop().unwrap_or(0)
    }

    fn outcome(&self, op: &Op, state: u64) -> Outcome {
        match op.action {
            Action::Load { .. } => Outcome::read(state),
            Action::Store { value, .. } => Outcome::write(value, 0),
            Action::Update { weak: true, .. } if self.choose() == 1 => Outcome::read(state),
            Action::Update { update, operands, .. } => match update(state, operands) {
                Some(new) => Outcome::write(new, state),
                None => Outcome::read(state),
            },
            Action::Object { outs, args, .. } => {
                let mut outcomes = Outcomes::default();
                outs(state, args, self.thread(), &mut outcomes);
                let free = outcomes.as_slice().first().copied();
                free.unwrap_or_else(|| panic_any(Failed("blocked")))
            }
            _ => unreachable!("it has no object"),
        }
    }
}

impl Controller for Fake {
    fn perform(&self, target: Option<Target<'_>>, op: Op) -> Result<u64, Inert> {
        if self.inert.get() {
            return Err(Inert);
        }
        let name = format!("{}::{}", op.info.family, op.info.name);
        let Some(target) = target else {
            self.write_down(name);
            return Ok(match op.action {
                Action::Spawn => {
                    self.threads.set(self.threads.get() + 1);
                    u64::from(self.threads.get() - 1)
                }
                Action::Join { thread } if !self.ended.borrow().contains(&thread.0) => panic_any(Failed("blocked")),
                Action::Ended { thread } => u64::from(self.ended.borrow().contains(&thread.0)),
                Action::Choose { .. } => self.choose(),
                Action::Await { settled, arg } => {
                    u64::from(settled(arg).unwrap_or_else(|| panic_any(Failed("blocked"))))
                }
                _ => 0,
            });
        };
        let id = self.object(&target);
        let state = self.objects.borrow()[id];
        let outcome = self.outcome(&op, state);
        self.wrote.set(outcome.writes);
        if outcome.writes {
            self.objects.borrow_mut()[id] = outcome.state;
        }
        self.write_down(format!("{name} of {id}"));
        Ok(outcome.result)
    }

    fn wrote(&self) -> bool {
        self.wrote.get()
    }

    fn plain(&self, target: Target<'_>, access: Access, what: &'static Info, _: Site) {
        let id = self.object(&target);
        self.write_down(format!("{access:?} {} of {id}", what.name));
    }

    fn exclusive(&self, target: Target<'_>, what: &'static Info, _: Site) -> Option<u64> {
        let known = target.slot.get() >> 24 == self.execution;
        let state = known.then(|| self.objects.borrow()[self.object(&target)]);
        target.slot.forget();
        self.write_down(format!("exclusive {}", what.name));
        state
    }

    fn unsynchronised(&self, target: Target<'_>, what: &'static Info, _: Site) -> Option<u64> {
        let known = target.slot.get() >> 24 == self.execution;
        self.write_down(format!("unsynchronised {}", what.name));
        known.then(|| self.objects.borrow()[self.object(&target)])
    }

    fn start(&self, thread: ThreadId, mut spec: ThreadSpec) {
        if let Some(name) = spec.name {
            self.names.borrow_mut().insert(thread.0, name);
        }
        let parent = self.thread.replace(thread.0);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| spec.life.run())) {
            spec.life.panicked(payload);
        }
        self.drop_storage(false, thread.0);
        self.ended.borrow_mut().insert(thread.0);
        self.thread.set(parent);
    }

    fn thread(&self) -> ThreadId {
        ThreadId(self.thread.get())
    }

    fn thread_name(&self, thread: ThreadId) -> Option<String> {
        if thread == ThreadId::MAIN { Some("main".into()) } else { self.names.borrow().get(&thread.0).cloned() }
    }

    fn spawned_at(&self, _: ThreadId) -> Option<Site> {
        None
    }

    fn execution(&self) -> u64 {
        self.execution
    }

    fn inert(&self) -> bool {
        self.inert.get()
    }

    fn panicking(&self) -> bool {
        std::thread::panicking()
    }

    fn storage(&self, scope: Scope, key: usize, init: &mut dyn FnMut() -> Box<dyn Any>) -> Option<NonNull<dyn Any>> {
        let execution = scope == Scope::Execution;
        let key = (execution, if execution { 0 } else { self.thread.get() }, key);
        if !self.storage.borrow().contains_key(&key) {
            let value = init();
            self.storage.borrow_mut().insert(key, value);
        }
        self.storage.borrow_mut().get_mut(&key).map(|value| NonNull::from(&mut **value))
    }

    fn fail(&self, kind: &'static str, _: String, _: Site) -> ! {
        panic_any(Failed(kind))
    }

    fn delivered(&self, thread: ThreadId) {
        self.write_down(format!("panic of {thread:?} delivered"));
    }

    fn counts(&self, _: Site) -> bool {
        self.counted.get()
    }

    fn count_from_now_on(&self, _: Site) {
        self.inert.set(true);
        if !std::thread::panicking() {
            panic_any(CountFromNowOn);
        }
    }

    fn facts(&self, _: Site) -> u64 {
        self.facts.get()
    }

    fn learn(&self, _: Site, facts: u64) {
        // What was done without knowing is not done again here.
        self.write_down(format!("learns {facts:#x}"));
        self.facts.set(self.facts.get() | facts);
    }

    fn ordered_drop(&self, enter: bool) {
        self.ordered.set(self.ordered.get() + if enter { 1 } else { -1 });
    }

    fn performed(&self) -> u64 {
        0
    }
}
