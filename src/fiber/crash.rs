//! Signals that end a process: what happens when one hits an OS thread that is running a model.
//!
//! * The running fiber has used up its stack (SIGSEGV or SIGBUS in its guard): the worker is abandoned. Its owner is told,
//!   and this thread stays in the handler for ever. It may hold locks that nobody gets again, of the allocator or of
//!   stdout. If its owner is stuck on one of them, this thread notices and does the last of these:
//! * The process aborts after a panic that nothing can catch (SIGABRT, with last words), or because a thread is unwound that
//!   could not go on: the same.
//! * Its owner has told it to stop (SIGURG, which otherwise does nothing), since the program runs on without any operation:
//!   the same, too.
//! * Anything else: what the model was doing is written to stderr, and the signal goes on to whoever had it before, so
//!   that the process dies as it would have.
//!
//! On other threads, and between models, every signal is passed on. The handler runs on an alternate stack (std's, if
//! the thread has one) and calls nothing that is not async-signal-safe.

use std::mem;
use std::ptr;
use std::sync::{Once, OnceLock};

use libc::{c_int, c_void, sigaction, siginfo_t};

use super::worker::Watch;
use super::{Backend, Fiber};

/// The signals, with the names that go to stderr.
const SIGNALS: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGFPE, "SIGFPE"),
];

/// Who had each of `SIGNALS` before.
static PREVIOUS: OnceLock<[sigaction; SIGNALS.len()]> = OnceLock::new();

/// Room for the handler and for those it passes signals on to, which may print a backtrace.
const ALTERNATE_STACK_BYTES: usize = 64 << 10;

/// How often, and how long each time, a worker that is to be abandoned waits for its owner: 10 s, but not in tests.
const OWNER_WAITS: u32 = 1000;
const OWNER_WAIT_MS: c_int = if cfg!(test) { 3 } else { 10 };

/// What interrupts a worker: a signal that is ignored by default, so it does no harm where it comes too late.
const INTERRUPT: c_int = libc::SIGURG;

/// An OS thread that can be interrupted.
pub(super) struct Thread(libc::pthread_t);

impl Thread {
    /// The thread must be running whenever it is interrupted.
    pub(super) fn of<T>(handle: &std::thread::JoinHandle<T>) -> Thread {
        Thread(std::os::unix::thread::JoinHandleExt::as_pthread_t(handle))
    }

    /// Makes the thread look at what its owner tells it; false if that is not possible. Fibers that are OS threads of their own
    /// cannot be stopped through this one.
    pub(super) fn interrupt(&self) -> bool {
        if super::ON_OS_THREADS {
            return false;
        }
        // SAFETY: 1. All-zero bytes are a valid `sigaction`. 2. `interrupted` has the signature that SA_SIGINFO asks for, and is
        // async-signal-safe. 3. The thread has not ended: it is at work, and its owner, who calls this, waits for that.
        unsafe {
            let mut action = mem::zeroed::<sigaction>();
            action.sa_sigaction = interrupted as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigfillset(&raw mut action.sa_mask);
            sigaction(INTERRUPT, &raw const action, ptr::null_mut()) == 0 && libc::pthread_kill(self.0, INTERRUPT) == 0
        }
    }
}

unsafe extern "C" fn interrupted(_: c_int, _: *mut siginfo_t, _: *mut c_void) {
    let Some(watch) = Watch::current() else { return };
    if !watch.give_up_if_silent() {
        return;
    }
    if owner_goes_on(watch) {
        stay();
    }
    write(b"\nerror[interleave::limit]: a model thread has run for long without an operation of the model, and holds a lock \
            that its test needs, so the whole process ends\n");
    describe(INTERRUPT, watch);
    // SAFETY: `abort` has no preconditions.
    unsafe { libc::abort() };
}

/// What a worker needs so that its faults are handled; to be kept while it runs models.
pub(super) struct Prepared(
    #[expect(dead_code, reason = "keeps the memory until it is no longer the alternate stack")] Option<AlternateStack>,
);

/// Installs the handlers, once per process, and gives this OS thread an alternate stack if it has none.
pub(super) fn prepare_thread() -> Prepared {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install);
    Prepared(AlternateStack::if_none())
}

fn install() {
    let previous = SIGNALS.map(|(signal, _)| {
        // SAFETY: 1. All-zero bytes are a valid `sigaction`. 2. Without a new action, the call only writes the old one.
        unsafe {
            let mut old = mem::zeroed::<sigaction>();
            sigaction(signal, ptr::null(), &raw mut old);
            old
        }
    });
    let _ = PREVIOUS.set(previous);
    // A backend may install handlers of its own with its first fiber, and may wrap the panic hook: now, not at a moment
    // when it would override ours or the controller's. Those handlers are left out of the chain on purpose:
    // `generator`'s takes locks and allocates.
    let pool = super::Pool::<Backend>::new(ALTERNATE_STACK_BYTES);
    pool.resume(pool.start(Box::new(|| {})));
    drop(pool);
    for (signal, _) in SIGNALS {
        // SAFETY: 1. All-zero bytes are a valid `sigaction`, with no flags and an empty mask. 2. `handle` has the
        // signature that SA_SIGINFO asks for, is async-signal-safe, and returns only where the interrupted code may go
        // on.
        unsafe {
            let mut action = mem::zeroed::<sigaction>();
            action.sa_sigaction = handle as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            // A thread that stays in the handler shall not be the one that the system picks for SIGTERM or SIGCHLD.
            libc::sigfillset(&raw mut action.sa_mask);
            sigaction(signal, &raw const action, ptr::null_mut());
        }
    }
}

unsafe extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    if let Some(watch) = Watch::current() {
        // SAFETY: the kernel passes a valid `siginfo_t`; the field is meaningless, but there, for signals that are not
        // faults.
        let address = unsafe { (*info).si_addr() }.addr();
        let survived = match signal {
            libc::SIGSEGV | libc::SIGBUS => Backend::running_guard().contains(&address) && watch.give_up_on_overflow(),
            libc::SIGABRT => watch.give_up_on_abort(),
            _ => false,
        };
        if survived && owner_goes_on(watch) {
            stay();
        }
        describe(signal, watch);
    }
    // SAFETY: these are the arguments of a handler, and this is the end of one.
    unsafe { pass_on(signal, info, context) };
}

/// Waits until the owner of this worker has shown that it can do without it; false if it does not.
fn owner_goes_on(watch: &Watch) -> bool {
    // Many short waits: a debugger that stops the process makes one of them end early, not all.
    for _ in 0..OWNER_WAITS {
        if watch.owner_goes_on() {
            return true;
        }
        // SAFETY: no descriptors are passed. What it says does not matter.
        unsafe { libc::poll(ptr::null_mut(), 0, OWNER_WAIT_MS) };
    }
    watch.owner_goes_on()
}

/// Never returns, and never runs code that could touch what a model or its owner uses.
fn stay() -> ! {
    loop {
        // SAFETY: `pause` has no preconditions.
        unsafe { libc::pause() };
    }
}

fn describe(signal: c_int, watch: &Watch) {
    let name = SIGNALS.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, name)| name);
    let note = watch.note().as_atomics();
    write(b"\ninterleave: ");
    write(name.as_bytes());
    write(b" while a model was running\n");
    // SAFETY: 1. `AtomicU8` has the layout of `u8`. 2. Only this thread's worker writes the note, and it is here.
    write(unsafe { std::slice::from_raw_parts(note.as_ptr().cast::<u8>(), note.len()) });
    write(b"\n");
}

fn write(mut text: &[u8]) {
    while !text.is_empty() {
        // SAFETY: the pointer and the length are those of a slice.
        let written = unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        match usize::try_from(written) {
            Ok(0) | Err(_) => return,
            Ok(written) => text = &text[written..],
        }
    }
}

/// Does with the signal what would have been done without us.
///
/// # Safety
///
/// The arguments are those of the signal handler that calls this last of all.
unsafe fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let index = SIGNALS.iter().position(|(number, _)| *number == signal);
    let Some(previous) = index.and_then(|index| PREVIOUS.get().map(|previous| &previous[index])) else { return };
    match previous.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: 1. The action is one that the kernel gave out. 2. The caller passes a valid `siginfo_t`.
            unsafe {
                sigaction(signal, previous, ptr::null_mut());
                // A fault happens again when the handler returns, and ends the process. A signal that somebody sent
                // does not; nor does `abort`'s, but that sends another.
                if (*info).si_code <= 0 {
                    libc::raise(signal);
                }
            }
        }
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: a handler that was installed with SA_SIGINFO has this signature; the arguments are the kernel's.
            unsafe {
                let handler: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = mem::transmute(handler);
                handler(signal, info, context);
            }
        }
        handler => {
            // SAFETY: a handler that was installed without SA_SIGINFO has this signature.
            unsafe {
                let handler: unsafe extern "C" fn(c_int) = mem::transmute(handler);
                handler(signal);
            }
        }
    }
}

/// Memory that this OS thread's signal handlers run on. std gives one to the threads that it starts, but only if its
/// own handlers are installed, which they are not in a program whose `main` is not Rust's.
struct AlternateStack(#[expect(dead_code, reason = "the kernel uses it")] Vec<u8>);

impl AlternateStack {
    fn if_none() -> Option<Self> {
        // SAFETY: 1. All-zero bytes are a valid `stack_t`. 2. The first call only writes `current`. 3. The memory stays
        // where it is, in its vector, until `drop` has taken it away from the kernel.
        unsafe {
            let mut current = mem::zeroed::<libc::stack_t>();
            if libc::sigaltstack(ptr::null(), &raw mut current) != 0 || current.ss_flags & libc::SS_DISABLE == 0 {
                return None;
            }
            let mut memory = vec![0; ALTERNATE_STACK_BYTES];
            current.ss_sp = memory.as_mut_ptr().cast();
            current.ss_size = ALTERNATE_STACK_BYTES;
            current.ss_flags = 0;
            (libc::sigaltstack(&raw const current, ptr::null_mut()) == 0).then_some(AlternateStack(memory))
        }
    }
}

impl Drop for AlternateStack {
    fn drop(&mut self) {
        // SAFETY: 1. All-zero bytes are a valid `stack_t`. 2. This code does not run on the alternate stack.
        unsafe {
            let mut none = mem::zeroed::<libc::stack_t>();
            none.ss_flags = libc::SS_DISABLE;
            libc::sigaltstack(&raw const none, ptr::null_mut());
        }
    }
}
