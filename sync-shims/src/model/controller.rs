//! The interface between the shims and whoever decides what happens: the *controller* of the running model.

use std::any::Any;
use std::cell::Cell;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dpor::{Access, Budget, Op, ThreadId};

/// What a shim type carries so that the controller knows it again within one execution: the number of the execution that
/// used it last (upper 40 bits, 0: none yet) and its object number there (lower 24 bits). Kept in an atomic so that shims
/// are `Sync`; only the controller's thread touches it while a model runs.
#[derive(Debug, Default)]
pub struct Slot(AtomicU64);

impl Slot {
    /// The slot of an object that no execution has used.
    pub const fn new() -> Self {
        Slot(AtomicU64::new(0))
    }

    /// The raw word.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Replaces the raw word.
    #[inline]
    pub fn set(&self, word: u64) {
        self.0.store(word, Ordering::Relaxed);
    }

    /// Makes the object new to the running execution: its next use starts from its stored value.
    #[inline]
    pub fn forget(&self) {
        self.set(0);
    }
}

/// The execution is over and this thread is only being unwound: nothing is performed any more, and the shim returns
/// something harmless without touching shared state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inert;

/// A shared object as its shim presents it to the controller.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The identity within the execution.
    pub slot: &'a Slot,
    /// The abstract state the object was created with; used when this execution sees it first.
    pub init: u64,
    /// Where it was created.
    pub created: &'static Location<'static>,
    /// A name given by the user.
    pub name: Option<&'a str>,
    /// What users see as one object may be several here. They have this number in common, which is theirs alone; 0 if the
    /// object is all there is.
    pub group: u64,
}

/// What a reference count is called when it is tracked ([`Controller::track`]); a controller may leave these out.
pub const ARC: &str = "an `Arc`";

/// What a block of memory is called when it is tracked: objects may lie in it, and [`Controller::freed`] ends it.
pub const MEMORY: &str = "memory";

/// What freed memory is filled with: a controller knows from it that an object lies in freed memory.
pub const FREED: u8 = 0xdf;

/// The [`Controller::note`] of an operation that makes the thread an owner of a lock, but others must leave before it has it.
pub const CLAIMED: &str = "claimed";

/// The [`Controller::note`] of an operation that ends a claim in vain.
pub const GAVE_UP: &str = "gave up";

/// The controller of the model that is running on this OS thread. The root crate implements it; shims find it with
/// [`current`]. All methods act for the model thread that is running now.
pub trait Controller {
    /// Performs `op` on `target` (its `object` field is filled in here) and returns its result. May run other model threads
    /// first. Does not return, but unwinds, when the execution ends here.
    fn perform(&self, target: Option<Target<'_>>, op: Op) -> Result<u64, Inert>;

    /// Whether the operation that the running thread performed last wrote: tells a spurious failure of
    /// `compare_exchange_weak` (whose result, the old value, is the expected one) from a success.
    fn wrote(&self) -> bool;

    /// What the operation that the running thread performed last did, in a few words for the report: `3 bytes`, `refused`. To
    /// be called right after it. `text` is asked only if the execution is being recorded.
    fn note(&self, text: &mut dyn FnMut() -> String) {
        let _ = text;
    }

    /// Checks a plain access to the memory that `target` stands for against all earlier ones. A race ends the model.
    fn plain(&self, target: Target<'_>, access: Access, what: &'static dpor::Info, site: &'static Location<'static>);

    /// The caller has exclusive access (`get_mut`, `into_inner`, drop): returns the newest state of the object if this
    /// execution has used it, and makes it new ([`Slot::forget`]). An operation that is not ordered before is a race.
    fn exclusive(&self, target: Target<'_>, what: &'static dpor::Info, site: &'static Location<'static>)
    -> Option<u64>;

    /// The newest state of the object, read without synchronisation; `None` if this execution has not used it. A write that is
    /// not ordered before is a race.
    fn unsynchronised(
        &self,
        target: Target<'_>,
        what: &'static dpor::Info,
        site: &'static Location<'static>,
    ) -> Option<u64>;

    /// Starts a model thread that runs `body`. The caller has performed `Action::Spawn` before.
    fn start(&self, thread: ThreadId, spec: ThreadSpec);

    /// The thread that is running.
    fn thread(&self) -> ThreadId;

    /// Its name (given, or "main"), if any.
    fn thread_name(&self, thread: ThreadId) -> Option<String>;

    /// Where it was spawned; `None` for the main thread.
    fn spawned_at(&self, thread: ThreadId) -> Option<&'static Location<'static>>;

    /// The number of this execution, unique in the process and never 0.
    fn execution(&self) -> u64;

    /// Whether the running thread is being unwound because the execution is over (see [`Inert`]).
    fn inert(&self) -> bool;

    /// Whether the running model thread is unwinding from a panic: what `std::thread::panicking` means inside a model.
    fn panicking(&self) -> bool;

    /// A value of the running thread (`thread_local!`), of the running process or execution (`static` state of the shims):
    /// looks it up by key, or makes it with `init`. Dropped at the end of the thread, in reverse order of creation, or at
    /// the end of the execution. `None` when the scope's storage is already being destroyed. The pointer is valid until then.
    fn storage(&self, scope: Scope, key: usize, init: &mut dyn FnMut() -> Box<dyn Any>) -> Option<NonNull<dyn Any>>;

    /// The shim cannot go on: the model fails with the stable code `kind` ("outside", "limit", …) and `message`.
    fn fail(&self, kind: &'static str, message: String, site: &'static Location<'static>) -> !;

    /// A panic that nobody has taken (the handle of a panicked thread was dropped, or its result is thrown away) fails the
    /// model; called by `JoinHandle` when the panic has been delivered to the user instead.
    fn delivered(&self, thread: ThreadId);

    /// Whether values created at `site` need a modelled reference count in this exploration.
    fn counts(&self, site: &'static Location<'static>) -> bool;

    /// From now on values created at `site` need a modelled count; the exploration starts again. Unwinds; if the thread is
    /// unwinding already, makes it inert and returns.
    fn count_from_now_on(&self, site: &'static Location<'static>);

    /// What this exploration has learnt so far about the objects that are created at `site`: bits whose meaning is up to the
    /// type of the object. The upmost bit is the controller's.
    fn facts(&self, site: &'static Location<'static>) -> u64;

    /// From now on these facts hold as well for the objects created at `site`; the exploration starts again. Unwinds; if the
    /// thread is unwinding already, makes it inert and returns.
    fn learn(&self, site: &'static Location<'static>, facts: u64);

    /// What the running thread is about to wait for, so that it can be explained if it waits for ever. `reason` is asked only
    /// if the execution is being recorded.
    fn awaits(&self, reason: &mut dyn FnMut() -> Reason) {
        let _ = reason;
    }

    /// Something has been made at `site` that must be gone before the execution ends; its number, which is not 0.
    fn track(&self, what: &'static str, site: &'static Location<'static>) -> u64 {
        let _ = (what, site);
        0
    }

    /// What has this number is gone. Of another execution: nothing happens.
    fn release(&self, number: u64) {
        let _ = number;
    }

    /// The memory at these addresses, allocated at `created`, is freed at `site`: a write to each object in it.
    fn freed(
        &self,
        memory: std::ops::Range<usize>,
        what: &'static dpor::Info,
        created: &'static Location<'static>,
        site: &'static Location<'static>,
    ) {
        let _ = (memory, what, created, site);
    }

    /// Enters (`true`) or leaves code of the running thread that is ordered after everything that happened to the memory it
    /// touches, by a count that is not modelled: the drop of the value of an `Arc`. Plain and exclusive accesses made in
    /// between race with nothing that came before them. Nests.
    fn ordered_drop(&self, enter: bool);

    /// Whether the running execution may use the `static` at `address`. If not, the execution ends here: this unwinds, or, if
    /// the thread is unwinding already, returns false.
    fn allows_static(&self, address: *const ()) -> bool {
        let _ = address;
        true
    }

    /// Number of visible operations performed so far by the running thread: two readings tell whether code in between did any.
    fn performed(&self) -> u64;

    /// Ends the running thread here: nothing it owns is dropped while the execution goes on. Does not return, but unwinds, when
    /// the execution is over; returns then if the thread is unwinding already.
    fn halt(&self, site: &'static Location<'static>) -> Inert {
        self.fail("internal", "this controller cannot end threads".to_owned(), site)
    }

    /// The process of `thread` has been told to end, and the thread looks for that before each of its operations. If it is
    /// blocked when nothing else can happen, it is not stuck: it had looked too early, and the execution does not count.
    fn doom(&self, thread: ThreadId) {
        let _ = thread;
    }

    /// How far the running thread is: a position for [`Controller::has_seen`].
    fn position(&self) -> u64 {
        self.performed()
    }

    /// Whether the running thread can know, by way of what it has read, what `thread` did at `position`: it has seen something
    /// that `thread` did after that.
    fn has_seen(&self, thread: ThreadId, position: u64) -> bool {
        let _ = (thread, position);
        true
    }

    /// Whether anybody may ask what the objects of this execution are called.
    fn records(&self) -> bool {
        true
    }

    /// The clock of the simulated kernel has moved, by the operation that the running thread performed last, to this time
    /// since the start of the execution.
    fn time(&self, since_start: Duration) {
        let _ = since_start;
    }

    /// The values that the object has had in this execution, in modification order, without the one it started with. Some of
    /// the last ones may be written later.
    fn written(&self, slot: &Slot) -> Vec<u64> {
        let _ = slot;
        Vec::new()
    }

    /// What `label` stands for holds here, or does not: an exploration in which it never holds is vacuous.
    fn label(&self, label: &'static str, holds: bool, site: &'static Location<'static>) {
        let _ = (label, holds, site);
    }

    /// The running thread may draw on `budget`: the verdict has to name it.
    fn offers(&self, budget: Budget) {
        let _ = budget;
    }
}

/// What a thread waits for that others would have to do with their end of something.
pub struct Reason {
    /// The number of the object, see [`Target::group`].
    pub group: u64,
    /// The type of the object, as the user writes it.
    pub family: &'static str,
    /// Where the object was created.
    pub created: &'static Location<'static>,
    /// The other ends that there are.
    pub ends: Box<dyn Fn() -> Vec<End> + Send>,
}

/// One end of a channel that is still there.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// What it is called: `sender`.
    pub what: &'static str,
    /// Where it was created.
    pub created: &'static Location<'static>,
    /// The thread that used it last, if any has.
    pub user: Option<ThreadId>,
}

/// A number for [`Target::group`].
pub fn new_group() -> u64 {
    static GROUPS: AtomicU64 = AtomicU64::new(1);
    GROUPS.fetch_add(1, Ordering::Relaxed)
}

/// What a thread does.
pub trait Life {
    /// Runs once, on the new thread. Its panics are caught and reported by the controller, which also performs `Action::End`.
    fn run(&mut self);

    /// Told, on the new thread and before `Action::End`, of the panic that ended `run`.
    fn panicked(&mut self, payload: Box<dyn Any + Send>);
}

/// A thread to be started.
pub struct ThreadSpec {
    /// The name given by the user.
    pub name: Option<String>,
    /// The name of the simulated process it belongs to, unless that is the body's.
    pub process: Option<String>,
    /// What it does; dropped on the new thread.
    pub life: Box<dyn Life>,
    /// Where it was spawned.
    pub site: &'static Location<'static>,
}

/// How long a stored value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// As the model thread.
    Thread,
    /// As the execution.
    Execution,
}

thread_local! {
    static CURRENT: Cell<Option<NonNull<dyn Controller>>> = const { Cell::new(None) };
}

/// Calls `f` with the controller of the model that runs on this OS thread, or with `None` outside a model.
#[inline]
pub fn current<R>(f: impl FnOnce(Option<&dyn Controller>) -> R) -> R {
    // SAFETY: the closure cannot keep it.
    f(unsafe { current_for_a_call() })
}

/// As [`current`], without a closure: an operation is put together where it is passed on from, and there is one return less
/// after a switch.
///
/// # Safety
///
/// The caller does not keep the reference beyond the call that it is in.
#[inline(always)]
pub(super) unsafe fn current_for_a_call<'a>() -> Option<&'a dyn Controller> {
    // SAFETY: `enter` keeps the pointee borrowed for as long as the pointer is set, on this OS thread; model threads that are
    // suspended within the call are ended before `enter` returns.
    CURRENT.get().map(|controller| unsafe { &*controller.as_ptr() })
}

/// Runs `f` with `controller` as the current one of this OS thread.
pub fn enter<R>(controller: &dyn Controller, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<NonNull<dyn Controller>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    // SAFETY: only the lifetime changes; the guard takes the pointer away before `controller` can end.
    let erased: NonNull<dyn Controller> = unsafe { std::mem::transmute(NonNull::from(controller)) };
    let _restore = Restore(CURRENT.replace(Some(erased)));
    f()
}
