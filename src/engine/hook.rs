//! The panic hook while models run: a panic of a model thread is noted for the report instead of being printed, and a panic
//! that would abort the process gives up the worker instead.
//!
//! Installed when the first of the running models starts; the previous hook is put back when the last one ends.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, PanicHookInfo};
use std::ptr;
use std::sync::{Mutex, RwLock};

use sync_shims::model::controller::Controller;

use super::spy::Point;
use super::threads::PanicNote;
use super::{Engine, Phase};
use crate::fiber;

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send>;

/// How many models run.
static MODELS: Mutex<usize> = Mutex::new(0);

/// The hook that was there before, while ours is installed.
static PREVIOUS: RwLock<Option<Hook>> = RwLock::new(None);

thread_local! {
    static ENGINE: Cell<*const Engine> = const { Cell::new(ptr::null()) };
}

/// The hook is installed while this lives.
pub(crate) struct Installed(());

/// Installs the hook.
pub(crate) fn install() -> Installed {
    let mut models = MODELS.lock().unwrap_or_else(|e| e.into_inner());
    *models += 1;
    if *models == 1 {
        *PREVIOUS.write().unwrap_or_else(|e| e.into_inner()) = Some(panic::take_hook());
        panic::set_hook(Box::new(|info| {
            if !fiber::in_fatal_section(|| noted(info))
                && let Some(previous) = &*PREVIOUS.read().unwrap_or_else(|e| e.into_inner())
            {
                previous(info);
            }
        }));
    }
    Installed(())
}

impl Drop for Installed {
    fn drop(&mut self) {
        let mut models = MODELS.lock().unwrap_or_else(|e| e.into_inner());
        *models -= 1;
        // A panicking thread may not change the hook; the next model that ends puts it back.
        if *models == 0 && !std::thread::panicking() {
            drop(panic::take_hook());
            if let Some(previous) = PREVIOUS.write().unwrap_or_else(|e| e.into_inner()).take() {
                panic::set_hook(previous);
            }
        }
    }
}

/// Runs `f` with the panics of this OS thread noted in `engine`.
pub(super) fn noting<R>(engine: &Engine, f: impl FnOnce() -> R) -> R {
    struct Restore(*const Engine);
    impl Drop for Restore {
        fn drop(&mut self) {
            ENGINE.set(self.0);
        }
    }
    let _restore = Restore(ENGINE.replace(engine));
    f()
}

/// Whether this OS thread is running a model thread.
pub(crate) fn is_on_fiber() -> bool {
    let engine = ENGINE.get();
    // SAFETY: as in `noted`.
    !engine.is_null() && unsafe { &*engine }.on_fiber.get()
}

/// Notes a panic if it belongs to a model.
fn noted(info: &PanicHookInfo<'_>) -> bool {
    let engine = ENGINE.get();
    if engine.is_null() {
        return false;
    }
    // SAFETY: 1. `noting` borrows the engine for as long as the pointer is set. 2. The engine is only used through `&self`,
    // and this is its OS thread.
    let engine = unsafe { &*engine };
    if !engine.on_fiber.get() {
        // The checker's own.
        return false;
    }
    let message = message_of(info.payload());
    let place = info.location().map_or(("unknown".to_owned(), 1, 1), |l| (l.file().to_owned(), l.line(), l.column()));
    engine.note_panic(message, place);
    true
}

fn message_of(payload: &dyn Any) -> String {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic with a payload that is not text".to_owned()
    }
}

/// Whether std is about to abort the process: it panics once more, with one of these texts, when a panic leaves a destructor
/// during unwinding, or a function that must not unwind.
fn is_fatal(message: &str) -> bool {
    message.starts_with("panic in a destructor during cleanup")
        || message.starts_with("panic in a function that cannot unwind")
}

impl Engine {
    fn note_panic(&self, message: String, place: (String, u32, u32)) {
        let id = self.current.get();
        let thread = self.threads.get(id);
        if is_fatal(&message) {
            self.last_words(&message);
            return;
        }
        let after = self.explorer.with(|explorer| explorer.performed_by(id));
        let note = PanicNote { thread: id, message, place, after };
        if let Some(recorder) = &self.recorder
            && self.phase.get() == Phase::Running
        {
            recorder.with(|recorder| recorder.panicked(&note));
        }
        thread.unwinding.set(true);
        thread.panic.with(|slot| *slot = Some(note));
    }

    /// std is about to abort the process: the worker is abandoned then, and the test that waits for it goes on.
    fn last_words(&self, fatal: &str) {
        if self.is_spied_on() {
            let site = self.threads.get(self.current.get()).site.get();
            site.into_iter().for_each(|site| self.look(Point::Goes, site));
        }
        let thread = self.threads.get(self.current.get());
        let name = self.thread_name(self.current.get()).unwrap_or_else(|| format!("{:?}", self.current.get()));
        let last = thread.panic.with(|panic| panic.clone());
        let cause =
            last.map_or(String::new(), |p| format!(": `{}` at {}:{}:{}", p.message, p.place.0, p.place.1, p.place.2));
        let when = match self.phase.get() {
            Phase::Running => "while the thread was unwinding from another panic",
            Phase::Ending => "while the thread was unwound at the end of an execution",
        };
        fiber::last_words(format!("thread `{name}`: {fatal} ({when}){cause}"));
    }
}
