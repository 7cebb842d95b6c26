//! Starting a process.

use std::any::Any;
use std::panic::Location;
use std::sync::Arc;

use dpor::{Action, Info, Role, ThreadId};

use super::{Child, Termination};
use crate::model::controller::{Life, ThreadSpec, current};
use crate::model::deferred;
use crate::model::event::{Answer, Site, perform_in};
use crate::model::world::{Call, ExitCode, Halt, Plan, Process, Sys, enter, hand_over};

/// How a simulated process is started.
///
/// ```
/// use sync_shims::model::process;
///
/// # fn in_a_model() {
/// let mut daemon = process::Builder::new().name("daemon").crashable(true).spawn(|| {
///     // …
/// });
/// let status = daemon.wait().unwrap();
/// assert!(status.success() || status.signal() == Some(9));
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until `spawn`"]
pub struct Builder {
    plan: Plan,
}

impl Builder {
    /// A process that does not crash, with an id of its own.
    pub fn new() -> Self {
        Builder::default()
    }

    /// What reports call it. The default is `process` and its id.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.plan.name = Some(name.into());
        self
    }

    /// Whether it may crash: before any of its operations it may be killed, as often in an execution as the model's budget
    /// of crashes (`Builder::crashes`) allows.
    pub fn crashable(mut self, crashable: bool) -> Self {
        self.plan.crashable = crashable;
        self
    }

    /// Whether it may get the id of a process that is over and was waited for, one of the five latest, if the model's budget
    /// (`Builder::pid_reuses`) allows.
    pub fn may_reuse_pid(mut self, may: bool) -> Self {
        self.plan.may_reuse_pid = may;
        self
    }

    /// Starts the process: it runs `f`, and ends with the exit code that `f` returns.
    ///
    /// A panic of its threads fails the model; if the model delivers panics, one that leaves `f` ends the process with exit
    /// code 101, as std's runtime does.
    ///
    /// # Panics
    ///
    /// Outside a model there are no simulated processes.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> Child
    where
        F: FnOnce() -> T + Send + 'static,
        T: Termination,
    {
        let site = Location::caller();
        enter(site, |call| match call {
            None => panic!(
                "error[interleave::outside]: `process::spawn` outside a model: simulated processes exist in models only"
            ),
            Some(call) => start(call, self.plan, f, site).unwrap_or_else(|_| Child::inert()),
        })
    }
}

/// Starts a simulated process that runs `f`; see [`Builder::spawn`].
///
/// # Panics
///
/// Outside a model.
#[track_caller]
pub fn spawn<F, T>(f: F) -> Child
where
    F: FnOnce() -> T + Send + 'static,
    T: Termination,
{
    Builder::new().spawn(f)
}

fn start<F, T>(call: Call<'_>, plan: Plan, f: F, site: Site) -> Sys<Child>
where
    F: FnOnce() -> T + Send + 'static,
    T: Termination,
{
    const INFO: &Info = &Info { name: "spawn", family: "process", role: Role::Plain };
    let process = Process::new(call, plan)?;
    hand_over(call, &f, process.number())?;
    current(|controller| {
        let controller = controller.expect("the call is one of a model");
        let Answer::Done(id) = perform_in(controller, None, Action::Spawn, INFO, site) else {
            return Err(Halt::Inert);
        };
        let thread = ThreadId(id as u32);
        process.adopt(controller, thread);
        let life = Box::new(Main { f: Some(f), process: process.clone(), site });
        let (name, process_name) = (Some("main".to_owned()), Some(process.name().to_owned()));
        controller.start(thread, ThreadSpec { name, process: process_name, life, site });
        Ok(Child::new(controller.execution(), process))
    })
}

/// What the main thread of a process runs.
struct Main<F> {
    f: Option<F>,
    process: Arc<Process>,
    site: Site,
}

impl<F> Main<F> {
    fn finish(&self, code: ExitCode) {
        let _ = enter(self.site, |call| call.map(|call| self.process.finish_main(call, code)));
    }
}

impl<F: FnOnce() -> T, T: Termination> Life for Main<F> {
    fn run(&mut self) {
        // Model threads that are OS threads have to be told.
        deferred::watch_processes();
        let f = self.f.take().expect("a process runs once");
        let code = f().report();
        self.finish(ExitCode::exited(code));
    }

    fn panicked(&mut self, payload: Box<dyn Any + Send>) {
        const PANICKED: i32 = 101;
        // The panic was printed, as std's runtime does; nobody else is told.
        std::mem::forget(payload);
        current(|controller| {
            if let Some(controller) = controller {
                controller.delivered(controller.thread());
            }
        });
        self.finish(ExitCode::exited(PANICKED));
    }
}
