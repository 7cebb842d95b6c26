//! A system call in progress: how it acts on objects, and how it can end.

use std::fmt;
use std::io;
use std::path::Path;

use dpor::{Action, Info, ObjectId, Op, Ordering, Outs, Role, ThreadId};

use super::errno::Errno;
use super::process;
use super::tables::{Series, Tables};
use crate::model::controller::{Controller, Inert, Slot, Target, current};
use crate::model::event::{Answer, Site, perform_in};
use crate::model::live;

/// Something that several threads can see: its identity and the state that it starts with.
#[derive(Debug)]
pub(crate) struct Object {
    slot: Slot,
    init: u64,
    created: Site,
    name: Option<Box<str>>,
}

impl Object {
    /// An object that nobody has used yet. The state it starts with and its place in the tables must be the same in every
    /// order of the threads' steps.
    pub(crate) fn new(init: u64, created: Site) -> Self {
        Object { slot: Slot::new(), init, created, name: None }
    }

    /// The same object under the name that reports call it. It is written out only if somebody may ask for it.
    pub(crate) fn named(mut self, name: fmt::Arguments<'_>) -> Self {
        if current(|controller| controller.is_none_or(|controller| controller.records())) {
            self.name = Some(name.to_string().into());
        }
        self
    }

    /// The object as the controller wants to see it.
    pub(super) fn target(&self) -> Target<'_> {
        Target { slot: &self.slot, init: self.init, created: self.created, name: self.name.as_deref(), group: 0 }
    }

    /// The same object under the name of a path.
    pub(crate) fn at(self, path: &Path) -> Self {
        self.named(format_args!("{}", path.display()))
    }
}

/// Which sockets a call is about. They are the same machinery; reports name the types that the user wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Unix sockets, and all that is no socket.
    Unix,
    /// TCP on loopback addresses.
    Tcp,
}

/// What a step does, apart from its arguments.
#[derive(Debug)]
pub(crate) struct Step {
    info: Info,
    /// The same step of a TCP socket.
    tcp: Info,
    outs: Outs,
    shows: Option<fn(u64) -> String>,
}

impl Step {
    /// A step of the method `family::name`.
    pub(crate) const fn new(family: &'static str, name: &'static str, outs: Outs) -> Self {
        Step::of_either(family, family, name, outs)
    }

    /// A step of a method of `UnixStream` or `TcpStream`.
    pub(crate) const fn of_stream(name: &'static str, outs: Outs) -> Self {
        Step::of_either("UnixStream", "TcpStream", name, outs)
    }

    /// A step of a method of `UnixListener` or `TcpListener`.
    pub(crate) const fn of_listener(name: &'static str, outs: Outs) -> Self {
        Step::of_either("UnixListener", "TcpListener", name, outs)
    }

    const fn of_either(unix: &'static str, tcp: &'static str, name: &'static str, outs: Outs) -> Self {
        Step {
            info: Info { name, family: unix, role: Role::Plain },
            tcp: Info { name, family: tcp, role: Role::Plain },
            outs,
            shows: None,
        }
    }

    /// The same step, with what a report says of its result.
    pub(crate) const fn shows(mut self, shows: fn(u64) -> String) -> Self {
        self.shows = Some(shows);
        self
    }

    /// The same step, with what it means for who waits for whom.
    pub(crate) const fn role(mut self, role: Role) -> Self {
        self.info.role = role;
        self.tcp.role = role;
        self
    }
}

/// Whether a step may wait for a time only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As long as it takes.
    Unlimited,
    /// There is a timeout: another thread may run meanwhile at no cost.
    Limited,
}

/// How the caller has the descriptor that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Through `&mut`: nobody else uses this descriptor.
    Exclusive,
    /// Through `&`.
    Shared,
}

/// How a system call ends other than well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// With an error.
    Errno(Errno),
    /// Not at all: the execution is over.
    Inert,
}

impl From<Errno> for Halt {
    fn from(errno: Errno) -> Self {
        Halt::Errno(errno)
    }
}

impl From<Inert> for Halt {
    fn from(Inert: Inert) -> Self {
        Halt::Inert
    }
}

/// What comes of a system call.
pub(crate) type Sys<T> = Result<T, Halt>;

/// The way out of the simulated kernel.
pub(crate) trait OrInert<T> {
    /// As std returns it; `value` if the execution is over. Code that is only being unwound must find something harmless: an
    /// error might be unwrapped in a destructor, which would abort.
    fn or_inert(self, value: impl FnOnce() -> T) -> io::Result<T>;
}

impl<T> OrInert<T> for Sys<T> {
    fn or_inert(self, value: impl FnOnce() -> T) -> io::Result<T> {
        match self {
            Ok(result) => Ok(result),
            Err(Halt::Inert) => Ok(value()),
            Err(Halt::Errno(errno)) => Err(errno.into()),
        }
    }
}

/// Calls `f` with a call at `site`, or with `None` outside a model.
pub(crate) fn enter<R>(site: Site, f: impl FnOnce(Option<Call<'_>>) -> R) -> R {
    current(|controller| match controller {
        Some(controller) => {
            process::system_call(controller, || f(Some(Call { controller, site, protocol: Protocol::Unix })))
        }
        None => f(None),
    })
}

/// A call on something that `execution` has made.
///
/// Another execution fails as `outside`: its kernel does not know the descriptor, and the next execution would find it as the
/// last one has left it. Outside a model, EBADF is the answer when the execution is over.
///
/// # Panics
///
/// Outside a model while the execution is running, which fails, too: an OS thread that is none of its threads.
pub(crate) fn resume<T>(execution: u64, site: Site, f: impl FnOnce(Call<'_>) -> Sys<T>) -> Sys<T> {
    enter(site, |call| match call {
        Some(call) if call.controller.inert() => Err(Halt::Inert),
        Some(call) if call.controller.execution() == execution => f(call),
        Some(call) => call.foreign_descriptor(),
        None if live::touch_descriptor(execution, site) => panic!(
            "error[interleave::outside]: a socket or file of a running model is used at {site}, by an OS thread that is not \
             one of the model's threads (was it started with `std::thread::spawn`?)"
        ),
        None => Err(Errno::BADF.into()),
    })
}

/// The call of a destructor on something that `execution` has made. A descriptor whose execution is over is closed.
pub(crate) fn retire(execution: u64, site: Site, f: impl FnOnce(Call<'_>) -> Sys<()>) {
    // Closing cannot fail.
    let _ = enter(site, |call| match call {
        Some(call) if !call.controller.inert() && call.controller.execution() == execution => f(call),
        _ => Ok(()),
    });
}

/// A system call in progress.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    controller: &'a dyn Controller,
    site: Site,
    protocol: Protocol,
}

impl<'a> Call<'a> {
    /// A call of the kernel's own, at `site`.
    pub(super) fn at(controller: &'a dyn Controller, site: Site) -> Self {
        Call { controller, site, protocol: Protocol::Unix }
    }

    /// The controller.
    pub(super) fn controller(self) -> &'a dyn Controller {
        self.controller
    }

    /// An operation of it, on the object that the controller is told along with it.
    pub(super) fn operation(self, action: Action, info: &'static Info) -> Op {
        Op { action, object: ObjectId::NONE, info, site: self.site }
    }
}

impl Call<'_> {
    /// The same call, of a socket that speaks `protocol`.
    pub(crate) fn over(self, protocol: Protocol) -> Self {
        Call { protocol, ..self }
    }

    /// Where it was written.
    pub(crate) fn site(self) -> Site {
        self.site
    }

    /// The execution it belongs to.
    pub(crate) fn execution(self) -> u64 {
        self.controller.execution()
    }

    /// Takes one step; other threads may run first.
    pub(crate) fn act(self, object: &Object, step: &'static Step, args: [u64; 2]) -> Result<u64, Inert> {
        self.act_within(object, step, args, Patience::Unlimited)
    }

    /// As [`Call::act`], for a step that may have a timeout.
    pub(crate) fn act_within(
        self,
        object: &Object,
        step: &'static Step,
        args: [u64; 2],
        patience: Patience,
    ) -> Result<u64, Inert> {
        // Steps that only look pass on what they saw: whoever finds a path there finds what was done before it was made.
        let action =
            Action::Object { outs: step.outs, args, failure: Ordering::Acquire, yields: patience == Patience::Limited };
        let info = match self.protocol {
            Protocol::Unix => &step.info,
            Protocol::Tcp => &step.tcp,
        };
        match perform_in(self.controller, Some(object.target()), action, info, self.site) {
            Answer::Done(result) => {
                if let Some(shows) = step.shows {
                    self.controller.note(&mut || shows(result));
                }
                Ok(result)
            }
            Answer::Inert | Answer::Outside => Err(Inert),
        }
    }

    /// The thread has come round a loop in which it waits for a time only (as `yield_now`).
    pub(crate) fn close_iteration(self) -> Result<(), Inert> {
        static TIMEOUT: Info = Info { name: "timeout", family: "net", role: Role::Plain };
        match perform_in(self.controller, None, Action::Yield, &TIMEOUT, self.site) {
            Answer::Done(_) => Ok(()),
            Answer::Inert | Answer::Outside => Err(Inert),
        }
    }

    /// Uses the plain data of the execution. `f` must not take steps.
    pub(crate) fn tables<R>(self, f: impl FnOnce(&mut Tables) -> R) -> Result<R, Inert> {
        Tables::with(self.controller, f)
    }

    /// A number below 2^54 that nothing else in this execution has, nor a directory that is there from the start: the thread,
    /// and how many it took before. It does not depend on what other threads do, as the arguments and states of steps must
    /// not.
    pub(crate) fn fresh(self) -> Result<u64, Inert> {
        let (thread, count) = self.count(Series::Things)?;
        Ok((u64::from(thread.0) + 1) << 20 | count)
    }

    /// A number below 2^20 for an abstract name that the kernel chooses (see unix(7), autobind).
    pub(crate) fn number_for_a_name(self) -> Result<u64, Inert> {
        let (thread, count) = self.count(Series::Names)?;
        Ok((u64::from(thread.0) << 8 | (count & 0xff)) & 0xf_ffff)
    }

    /// The running thread, and how many of a series it has made, with the one that it makes now.
    pub(crate) fn count(self, series: Series) -> Result<(ThreadId, u64), Inert> {
        let thread = self.controller.thread();
        Ok((thread, self.tables(|tables| tables.next_number(thread, series))?))
    }

    /// The running thread.
    pub(crate) fn thread(self) -> ThreadId {
        self.controller.thread()
    }

    /// What a report calls the running thread.
    pub(crate) fn thread_name(self) -> String {
        let thread = self.controller.thread();
        self.controller.thread_name(thread).unwrap_or_else(|| format!("thread {}", thread.0))
    }

    /// The program wants something that the simulated kernel does not have: fails the model.
    pub(crate) fn unsupported(self, what: &str) -> ! {
        let message = format!("{what} is not part of the simulated kernel");
        self.controller.fail("outside", message, self.site)
    }

    /// The program uses a descriptor of another execution: fails the model.
    fn foreign_descriptor(self) -> ! {
        let message = "a socket or file that another execution of the model has made is used here: sockets and files must be \
                       made in the body of the model, not be kept in a `static` of std or captured by the closure";
        self.controller.fail("outside", message.into(), self.site)
    }

    /// The program does something more often than a state has room for: fails the model.
    pub(crate) fn limit(self, what: &str) -> ! {
        self.controller.fail("limit", format!("the simulated kernel has room for {what}"), self.site)
    }
}
