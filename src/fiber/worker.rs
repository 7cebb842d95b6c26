//! The OS thread that a model runs on, and how its owner learns of the end.
//!
//! A model runs on a thread of its own, so that when something happens that no Rust program comes back from, a stack
//! overflow or a panic in a destructor during another panic, the thread can be parked for ever where it stands while
//! its owner, the test, goes on and reports it.

use std::cell::Cell;
use std::fmt;
use std::hint;
use std::io;
use std::mem;
use std::panic::{self, AssertUnwindSafe, Location};
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use super::doorbell::Doorbell;
use super::{Note, Pulse, crash};

thread_local! {
    /// The watch of the worker that this OS thread belongs to; null on all other threads.
    static WATCH: Cell<*const Watch> = const { Cell::new(ptr::null()) };

    /// How many times this OS thread is inside `in_fatal_section`.
    static FATAL_SECTIONS: Cell<u32> = const { Cell::new(0) };
}

const RUNNING: u8 = 0;
const FINISHED: u8 = 1;
const STACK_OVERFLOW: u8 = 2;
const MESSAGE: u8 = 3;
const STUCK: u8 = 4;
const UNWINDING: u8 = 5;

/// How often an owner looks at its worker, at most; and how often within the time that the worker may be silent.
const LOOK: Duration = Duration::from_secs(1);
const LOOKS: u32 = 4;

/// How long a worker that is told to stop may take to do so.
const STOPS_WITHIN: Duration = Duration::from_secs(5);

/// What a worker and its owner share.
pub(super) struct Watch {
    /// One of the constants above. It leaves `RUNNING` once.
    ending: AtomicU8,
    /// The owner has learnt that the worker is abandoned, and has got everywhere it needs to go.
    owner_goes_on: AtomicBool,
    doorbell: Arc<Doorbell>,
    message: OnceLock<String>,
    /// A thread that has not come to its end is being unwound.
    unwinding: AtomicBool,
    note: Note,
    pulse: Arc<Pulse>,
    /// The owner has given up on it. What its pulse was then comes first.
    silent_at: AtomicU64,
    told_to_stop: AtomicBool,
}

/// A worker that stopped in the middle of something and never runs again. Its memory, its stacks and the locks it holds
/// are lost.
#[derive(Debug)]
pub(crate) struct Abandoned {
    /// Why.
    pub(crate) cause: Cause,
    /// What the worker's [`Note`] said at that moment.
    #[allow(dead_code, reason = "a report may know more")]
    pub(crate) note: Vec<u8>,
    /// How many executions it had begun.
    pub(crate) begun: u64,
    /// What it had learnt.
    pub(crate) learnt: Vec<(&'static Location<'static>, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The running fiber used up its stack.
    StackOverflow,
    /// Somebody called [`abandon_worker`] with this text, or [`last_words`] before an abort.
    Message(String),
    /// The running fiber has not come to an operation for this time.
    Stuck(Duration),
    /// The program aborted the process because it was unwound, see [`while_unwinding`].
    Unwinding,
    /// It was not started: what it was to work with cannot be used.
    Unusable(String),
}

impl Abandoned {
    /// It cannot even begin.
    pub(crate) fn because(message: String) -> Abandoned {
        Abandoned { cause: Cause::Unusable(message), note: Vec::new(), begun: 0, learnt: Vec::new() }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::StackOverflow => f.write_str("stack overflow"),
            Cause::Stuck(time) => write!(f, "stuck for {time:?}"),
            Cause::Unwinding => f.write_str("the program aborts the process when it is unwound"),
            Cause::Message(message) | Cause::Unusable(message) => f.write_str(message),
        }
    }
}

/// Runs `f` on another OS thread, waits for it, and gives back its result; a panic of `f` goes on in the caller. The
/// thread has the given name, or else the caller's, and its output is captured with the caller's. It is kept for the
/// caller's next call. If code of the program runs for `patience` without an operation, the thread is given up; where that
/// is not possible, the process ends with a message.
///
/// # Safety
///
/// After `Err`, the caller does not use what `f` had exclusive access to: what it borrowed mutably, and what is behind
/// a lock that `f` may have held, even if Rust would now give it out (`get_mut`, `into_inner`, or after the end of a
/// guard's lifetime). It may be half changed. Everything else is fine: to its surroundings the abandoned thread is one
/// that the operating system never schedules again.
pub(crate) unsafe fn run_on_worker<F, R>(name: Option<&str>, patience: Duration, f: F) -> Result<R, Abandoned>
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    let caller = thread::current();
    let name = name.or(caller.name());
    let worker = Worker::idle(name).unwrap_or_else(|| Worker::start(name));
    let watch = Arc::new(Watch {
        ending: AtomicU8::new(RUNNING),
        owner_goes_on: AtomicBool::new(false),
        doorbell: Arc::clone(&worker.doorbell),
        message: OnceLock::new(),
        unwinding: AtomicBool::new(false),
        note: Note::new(),
        pulse: Arc::new(Pulse::default()),
        silent_at: AtomicU64::new(0),
        told_to_stop: AtomicBool::new(false),
    });
    let shared = Arc::clone(&watch);
    let mut result = None;
    let place = &mut result;
    let work: Box<dyn FnOnce() + Send + '_> = Box::new(move || {
        let _adopted = Heir(Some(Arc::clone(&shared))).adopt();
        let _finish = FinishOnDrop(shared);
        *place = Some(panic::catch_unwind(AssertUnwindSafe(f)));
    });
    // SAFETY: what `f` and `R` borrow, and `result`, must outlive the worker's use of it.
    // 1. If `work` finishes, its last act is to ring the doorbell, for which this function waits before it returns; nothing
    // in between unwinds. What is dropped after that, the rest of the closure, are counts of `watch`.
    // 2. If the worker is abandoned, it is at the end of `abandon_worker` or of the fault handler, which it never leaves, and
    // its fibers run only when it lets them. So it uses nothing any more, nor do its destructors; and what it borrowed
    // exclusively the caller has promised not to use.
    let work = unsafe { mem::transmute::<Box<dyn FnOnce() + Send + '_>, Work>(work) };
    worker.work.send(work).expect("a worker waits for work until its owner ends");
    watch.wait(&worker, patience);
    let ending = watch.ending.load(Ordering::Acquire);
    if ending == FINISHED {
        return match result.expect("it has finished") {
            Ok(result) => {
                worker.keep();
                Ok(result)
            }
            Err(payload) => panic::resume_unwind(payload),
        };
    }
    try_shared_locks();
    watch.owner_goes_on.store(true, Ordering::Release);
    let cause = match ending {
        STACK_OVERFLOW => Cause::StackOverflow,
        STUCK => Cause::Stuck(patience),
        UNWINDING => Cause::Unwinding,
        _ => Cause::Message(watch.message.get().cloned().unwrap_or_default()),
    };
    let (begun, learnt) = (watch.pulse.begun(), watch.pulse.learnt());
    Err(Abandoned { cause, note: watch.note.to_vec(), begun, learnt })
}

type Work = Box<dyn FnOnce() + Send>;

thread_local! {
    /// The worker that has run a model for this OS thread and waits for the next one. It ends with this OS thread.
    static IDLE: Cell<Option<Worker>> = const { Cell::new(None) };
}

/// A worker as its owner knows it. It ends when this is dropped, unless it is abandoned.
struct Worker {
    name: Option<String>,
    work: Sender<Work>,
    doorbell: Arc<Doorbell>,
    thread: crash::Thread,
}

impl Worker {
    /// The one that this OS thread has kept, if it has the right name. It also captures output as this thread does: libtest
    /// gives each test a thread of its own.
    fn idle(name: Option<&str>) -> Option<Worker> {
        IDLE.try_with(Cell::take).ok().flatten().filter(|worker| worker.name.as_deref() == name)
    }

    fn start(name: Option<&str>) -> Worker {
        let (work, jobs) = mpsc::channel::<Work>();
        let mut builder = thread::Builder::new();
        if let Some(name) = name {
            builder = builder.name(name.to_owned());
        }
        let run = move || {
            let _alternate_stack = crash::prepare_thread();
            while let Ok(work) = jobs.recv() {
                work();
            }
        };
        let thread = crash::Thread::of(&builder.spawn(run).expect("no OS thread to run the model on"));
        let doorbell = Doorbell::new().expect("no pipe to watch a worker with");
        Worker { name: name.map(str::to_owned), work, doorbell: Arc::new(doorbell), thread }
    }

    /// Keeps the worker for the next model. Miri wants all threads to end before the program.
    fn keep(self) {
        if !cfg!(miri) {
            let _ = IDLE.try_with(|idle| idle.set(Some(self)));
        }
    }
}

/// Takes and releases the locks that a worker is likely to have held where it stopped, and that a report needs: of the
/// allocator, of captured output, of stdout and stderr. This waits for ever if it did; then the fault handler, which
/// waits for the end of this, lets the process die.
fn try_shared_locks() {
    for bytes in [16, 256, 4 << 10, 64 << 10, 1 << 20] {
        drop(hint::black_box(Vec::<u8>::with_capacity(bytes)));
    }
    print!("");
    eprint!("");
    drop((io::stdout().lock(), io::stderr().lock()));
}

/// Gives up the worker that this OS thread belongs to: publishes `message` to its owner, and stops here for ever. Not
/// for a panic hook, see [`last_words`].
#[allow(dead_code, reason = "the way out of code that cannot return, other than a panic hook")]
pub(crate) fn abandon_worker(message: String) -> ! {
    let Some(watch) = Watch::current() else {
        eprintln!("interleave: internal error: no worker to give up: {message}");
        process::abort();
    };
    let _ = watch.message.set(message);
    watch.end(MESSAGE);
    loop {
        thread::park();
    }
}

/// Says what the owner of this OS thread's worker shall be told if the process is about to abort: the worker is then
/// abandoned with this message, where the platform has a signal for it. The first message counts.
///
/// For a panic hook that sees a panic that nothing can catch: "panic in a destructor during cleanup" and the like. The
/// hook must not stop in its tracks, because std holds a lock while it runs, and whoever sets another hook waits for
/// that (libtest does, when the last test is over). It returns, std calls `abort`, and the signal finds this message.
pub(crate) fn last_words(message: String) {
    if let Some(watch) = Watch::current() {
        let _ = watch.message.set(message);
    }
}

/// Runs `f`, which unwinds code of the program in the middle of anything. If that code aborts the process, only this OS thread's
/// worker is abandoned, where the platform has a signal for it.
pub(crate) fn while_unwinding<R>(f: impl FnOnce() -> R) -> R {
    let Some(watch) = Watch::current() else { return f() };
    watch.unwinding.store(true, Ordering::Relaxed);
    let result = f();
    watch.unwinding.store(false, Ordering::Relaxed);
    result
}

/// Runs `f`, in which a stack overflow ends the process and not just the worker: because `f` holds a lock that others
/// will wait for after the model, as a panic hook does.
pub(crate) fn in_fatal_section<R>(f: impl FnOnce() -> R) -> R {
    struct Leave(u32);
    impl Drop for Leave {
        fn drop(&mut self) {
            FATAL_SECTIONS.set(self.0);
        }
    }
    let outer = FATAL_SECTIONS.get();
    FATAL_SECTIONS.set(outer + 1);
    let _leave = Leave(outer);
    f()
}

/// Calls `f` with the note of the worker that this OS thread belongs to, if it does.
#[allow(dead_code, reason = "a note is optional")]
pub(crate) fn with_note<R>(f: impl FnOnce(&Note) -> R) -> Option<R> {
    Watch::current().map(|watch| f(&watch.note))
}

/// The pulse of the worker that this OS thread belongs to; one that nobody looks at if it is none.
pub(crate) fn pulse() -> Arc<Pulse> {
    Watch::current().map_or_else(Arc::default, |watch| Arc::clone(&watch.pulse))
}

/// For owners.
impl Watch {
    /// Returns when the worker is at its end, and tells it to stop if it has been silent for so long.
    fn wait(&self, worker: &Worker, patience: Duration) {
        let every = (patience / LOOKS).clamp(Duration::from_millis(10), LOOK);
        // Looks instead of a clock: while the process is stopped, by a debugger, nobody looks.
        let looks = (patience.as_secs_f64() / every.as_secs_f64()).ceil() as u64;
        let (mut silent, mut before) = (0, None);
        while !self.doorbell.wait_for(every) {
            let now = self.pulse.count();
            silent = if now.is_some() && now == before { silent + 1 } else { 0 };
            before = now;
            let Some(count) = now.filter(|_| silent >= looks) else { continue };
            self.silent_at.store(count, Ordering::Relaxed);
            self.told_to_stop.store(true, Ordering::Release);
            let rang = worker.thread.interrupt() && self.doorbell.wait_for(STOPS_WITHIN);
            if rang {
                return;
            }
            if self.pulse.count() == now {
                self.end_process(patience);
            }
            self.told_to_stop.store(false, Ordering::Relaxed);
            silent = 0;
        }
    }

    /// A thread that cannot be stopped uses what it has borrowed from this one, so there is no way on.
    fn end_process(&self, patience: Duration) -> ! {
        let note = String::from_utf8_lossy(&self.note.to_vec()).into_owned();
        // What a test prints is captured, and lost when the process ends.
        let _ = io::Write::write_all(
            &mut io::stderr(),
            format!(
                "\nerror[interleave::limit]: a model thread has run for {patience:?} without an operation of the model, and \
                 cannot be stopped here, so the whole process ends\n{note}\n"
            )
            .as_bytes(),
        );
        process::abort();
    }
}

impl Watch {
    /// The watch of this OS thread's worker. Async-signal-safe. Not to be kept: it is valid while the caller's frame
    /// is.
    pub(super) fn current<'a>() -> Option<&'a Watch> {
        // SAFETY: `Adopted` keeps the watch alive from before `WATCH` is set until after it is reset, in a frame at the
        // bottom of this thread, below the caller's.
        unsafe { WATCH.get().as_ref() }
    }

    pub(super) fn note(&self) -> &Note {
        &self.note
    }

    /// The running fiber has used up its stack: tells the owner, unless that must be the end of the process. If true,
    /// the caller may not go on. Async-signal-safe.
    pub(super) fn give_up_on_overflow(&self) -> bool {
        let survivable = FATAL_SECTIONS.get() == 0;
        if survivable {
            self.end(STACK_OVERFLOW);
        }
        survivable
    }

    /// The process is about to abort: tells the owner the last words, if there are any, or that this is no more than what an
    /// unwinding led to. If true, the caller may not go
    /// on. Async-signal-safe.
    pub(super) fn give_up_on_abort(&self) -> bool {
        let ending = if self.message.get().is_some() {
            MESSAGE
        } else if self.unwinding.load(Ordering::Relaxed) {
            UNWINDING
        } else {
            return false;
        };
        self.end(ending);
        true
    }

    /// The owner has told this worker to stop, as it has been silent: does so, unless it is not any more. If true, the caller
    /// may not go on. Async-signal-safe.
    pub(super) fn give_up_if_silent(&self) -> bool {
        let stops = self.told_to_stop.load(Ordering::Acquire)
            && FATAL_SECTIONS.get() == 0
            && self.pulse.count() == Some(self.silent_at.load(Ordering::Relaxed));
        if stops {
            self.end(STUCK);
        }
        stops
    }

    /// True once the owner can do without the worker. Async-signal-safe.
    pub(super) fn owner_goes_on(&self) -> bool {
        self.owner_goes_on.load(Ordering::Acquire)
    }

    fn end(&self, ending: u8) {
        // A worker that is abandoned is not running, and one that has finished cannot be abandoned: there is one
        // ending.
        self.ending.store(ending, Ordering::Release);
        self.doorbell.ring();
    }
}

/// Tells the owner that `f` is over, also if it panicked.
struct FinishOnDrop(Arc<Watch>);

impl Drop for FinishOnDrop {
    fn drop(&mut self) {
        self.0.end(FINISHED);
    }
}

/// The watch of a worker on its way to a thread that belongs to it.
pub(super) struct Heir(Option<Arc<Watch>>);

/// Marks an OS thread as part of a worker, until it is dropped.
pub(super) struct Adopted(#[expect(dead_code, reason = "keeps the watch alive")] Option<Arc<Watch>>);

/// What a helper thread of this OS thread's worker needs to become part of it.
#[cfg(any(test, miri, feature = "os-threads", not(any(feature = "generator", feature = "corosensei"))))]
pub(super) fn inherit() -> Heir {
    let watch = WATCH.get();
    if watch.is_null() {
        return Heir(None);
    }
    // SAFETY: 1. `adopt` took `watch` from `Arc::as_ptr`. 2. `Adopted` keeps that `Arc` alive, see `Watch::current`; so
    // the count can be raised, and the result owns what was added.
    unsafe {
        Arc::increment_strong_count(watch);
        Heir(Some(Arc::from_raw(watch)))
    }
}

impl Heir {
    /// Makes the calling thread part of the worker.
    pub(super) fn adopt(self) -> Adopted {
        WATCH.set(self.0.as_ref().map_or(ptr::null(), Arc::as_ptr));
        Adopted(self.0)
    }
}

impl Drop for Adopted {
    fn drop(&mut self) {
        WATCH.set(ptr::null());
    }
}
