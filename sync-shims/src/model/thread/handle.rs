//! Threads as values: `Thread`, `ThreadId`, `current`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use crate::model::controller::{Controller, Scope, current as controller};
use crate::model::event::{Identity, Site};

/// Stands in for [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread(pub(super) Kind);

#[derive(Clone)]
pub(super) enum Kind {
    Real(std::thread::Thread),
    Model(Arc<ModelThread>),
}

/// What all handles of a model thread share.
pub(super) struct ModelThread {
    pub(super) id: dpor::ThreadId,
    execution: u64,
    name: Option<String>,
    /// The object behind `park` and `unpark`.
    pub(super) token: Identity,
}

/// The threads of an execution that somebody has a handle of, so that all handles of a thread share their token. Lives in
/// the storage of the execution.
type Registry = RefCell<BTreeMap<u32, Arc<ModelThread>>>;

/// Its address is the key of the registry.
static REGISTRY: u8 = 0;

/// The handle of the model thread `id`, which gets `name` and was started at `site` if it has none yet.
pub(super) fn handle_of(
    controller: &dyn Controller,
    id: dpor::ThreadId,
    name: Option<String>,
    site: Site,
) -> Arc<ModelThread> {
    let execution = controller.execution();
    let new = || Arc::new(ModelThread { id, execution, name, token: Identity::at(site) });
    let registry =
        controller.storage(Scope::Execution, &raw const REGISTRY as usize, &mut || Box::new(Registry::default()));
    match registry {
        // The storage is being destroyed with the execution: no other thread is there to use the handle.
        None => new(),
        Some(registry) => {
            // SAFETY: 1. The controller keeps the value until the storage of the execution is destroyed. 2. It is only used
            // through shared references, on this OS thread.
            let registry = unsafe { registry.as_ref() };
            let registry = registry.downcast_ref::<Registry>().expect("the registry of threads has its own key");
            registry.borrow_mut().entry(id.0).or_insert_with(new).clone()
        }
    }
}

/// The handle of the thread `id` of `execution`, which was spawned at `site`, for somebody who need not be in that execution
/// any more.
pub(super) fn handle_from_outside(execution: u64, id: dpor::ThreadId, name: Option<&str>, site: Site) -> Thread {
    let name = name.map(str::to_owned);
    Thread(Kind::Model(controller(|controller| match controller {
        Some(controller) if controller.execution() == execution => handle_of(controller, id, name, site),
        _ => Arc::new(ModelThread { id, execution, name, token: Identity::at(site) }),
    })))
}

/// Stands in for [`std::thread::current`].
#[must_use]
#[track_caller]
pub fn current() -> Thread {
    let site = Location::caller();
    controller(|controller| match controller {
        None => Thread(Kind::Real(std::thread::current())),
        Some(controller) => {
            let id = controller.thread();
            let site = controller.spawned_at(id).unwrap_or(site);
            Thread(Kind::Model(handle_of(controller, id, controller.thread_name(id), site)))
        }
    })
}

impl Thread {
    /// Stands in for [`std::thread::Thread::id`].
    #[must_use]
    pub fn id(&self) -> ThreadId {
        match &self.0 {
            Kind::Real(thread) => ThreadId(Id::Real(thread.id())),
            Kind::Model(thread) => ThreadId(Id::Model { execution: thread.execution, thread: thread.id.0 }),
        }
    }

    /// Stands in for [`std::thread::Thread::name`].
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Real(thread) => thread.name(),
            Kind::Model(thread) => thread.name.as_deref(),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// Stands in for [`std::thread::ThreadId`]. The threads of a model are numbered from 1, the same in every execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Id {
    Real(std::thread::ThreadId),
    Model { execution: u64, thread: u32 },
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Id::Real(id) => id.fmt(f),
            Id::Model { thread, .. } => f.debug_tuple("ThreadId").field(&(thread + 1)).finish(),
        }
    }
}
