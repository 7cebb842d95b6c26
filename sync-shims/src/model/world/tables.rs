//! The plain data of the simulated kernel in one execution.

use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dpor::ThreadId;

use super::call::Object;
use super::clock::Clock;
use super::datagram::Inbox;
use super::descriptor;
use super::directory::Listing;
use super::entry::Entry;
use super::inode::Inode;
use super::listener::Socket;
use super::path;
use super::process::{Member, Process};
use super::turn::Turn;
use crate::model::controller::{Controller, Inert, Scope};
use crate::model::event::Site;

/// From names to what they name. All of it is append-only; no table is ever walked, so that nothing depends on the order in
/// which the threads filled it.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// The entry of each path that was ever looked at.
    entries: HashMap<PathBuf, Arc<Object>>,
    /// By number.
    inodes: HashMap<u64, Arc<Inode>>,
    /// By number: whether it is done.
    renames: HashMap<u64, Arc<Object>>,
    /// Of calls on two paths.
    turn_of_renames: Option<Arc<Turn>>,
    /// Of directories, if somebody lists or removes them.
    pub(super) listings: HashMap<PathBuf, Arc<Listing>>,
    /// Of sockets.
    pub(crate) sockets: SocketTables,
    /// All descriptors that are open, in an order that does not depend on that of the steps.
    pub(super) descriptors: BTreeMap<u64, descriptor::Entry>,
    /// The simulated processes by number.
    pub(super) processes: HashMap<u64, Arc<Process>>,
    /// Their threads.
    pub(super) members: HashMap<ThreadId, Member>,
    /// What stands for each process id that was ever used.
    pub(super) pids: HashMap<u32, Arc<Object>>,
    /// The ids that are free again.
    pub(super) freed_pids: Option<Arc<Object>>,
    /// The clock.
    pub(super) clock: Clock,
    /// Processes that have been waited for.
    pub(super) reaped: HashSet<u64>,
    /// How many numbers of each series each thread took.
    numbers: HashMap<(ThreadId, Series), u64>,
}

/// What is numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Series {
    /// Inodes, versions of a content, renames.
    Things,
    /// Open files.
    OpenFiles,
    /// Descriptors.
    Descriptors,
    /// Processes.
    Processes,
    /// TCP sockets that listen.
    Listeners,
    /// Ports that the kernel chooses.
    Ports,
    /// Abstract names that the kernel chooses.
    Names,
}

/// The tables of sockets.
#[derive(Debug, Default)]
pub(crate) struct SocketTables {
    /// By number.
    pub(crate) datagram: HashMap<u64, Arc<Inbox>>,
    /// By number.
    pub(crate) tcp: HashMap<u64, Arc<Socket>>,
    /// Each port that was ever looked at.
    ports: HashMap<u16, Arc<Object>>,
    /// Each address with a port that was ever looked at.
    addresses: HashMap<SocketAddr, Arc<Object>>,
}

impl SocketTables {
    /// What is known of a TCP port, whatever the address.
    pub(crate) fn port(&mut self, port: u16, site: Site) -> Arc<Object> {
        let new = || Arc::new(Object::new(0, site).named(format_args!("TCP port {port}")));
        self.ports.entry(port).or_insert_with(new).clone()
    }

    /// Who listens at a TCP address.
    pub(crate) fn address(&mut self, address: SocketAddr, site: Site) -> Arc<Object> {
        let new = || Arc::new(Object::new(0, site).named(format_args!("{address}")));
        self.addresses.entry(address).or_insert_with(new).clone()
    }
}

impl Tables {
    /// Uses those of the running execution.
    pub(crate) fn with<R>(controller: &dyn Controller, f: impl FnOnce(&mut Tables) -> R) -> Result<R, Inert> {
        /// Not zero-sized, so that its address is its own.
        static KEY: u8 = 0;
        let key = std::ptr::from_ref(&KEY) as usize;
        let mut init = || Box::new(RefCell::new(Tables::default())) as Box<dyn Any>;
        let storage = controller.storage(Scope::Execution, key, &mut init).ok_or(Inert)?;
        // SAFETY: 1. the controller keeps the value until the end of the execution, to which the running thread belongs;
        // 2. it hands out no exclusive reference meanwhile; 3. all threads of an execution take turns.
        let storage = unsafe { storage.as_ref() };
        let tables =
            storage.downcast_ref::<RefCell<Tables>>().expect("the key is the address of a static of this function");
        Ok(f(&mut tables.borrow_mut()))
    }

    /// How many numbers of `series` the thread has taken, with this one.
    pub(crate) fn next_number(&mut self, thread: ThreadId, series: Series) -> u64 {
        let number = self.numbers.entry((thread, series)).or_insert(0);
        *number += 1;
        *number
    }

    /// The entry of `path`, which is a name in the namespace.
    pub(crate) fn entry(&mut self, path: &Path, site: Site) -> Arc<Object> {
        if let Some(entry) = self.entries.get(path) {
            return entry.clone();
        }
        let init = path::initial_directory(path).map_or(Entry::ABSENT, Entry::directory);
        let entry = Arc::new(Object::new(init.state(), site).at(path::shown(path)));
        self.entries.insert(path.to_path_buf(), entry.clone());
        entry
    }

    /// The entry of an abstract name, under the key `key`.
    pub(crate) fn abstract_entry(&mut self, key: &Path, shown: String, site: Site) -> Arc<Object> {
        let new = || Arc::new(Object::new(Entry::ABSENT.state(), site).named(format_args!("{shown}")));
        self.entries.entry(key.to_path_buf()).or_insert_with(new).clone()
    }

    /// Adds an inode, before the step that lets others find it.
    pub(crate) fn add_inode(&mut self, inode: Arc<Inode>) {
        self.inodes.insert(inode.number(), inode);
    }

    /// The inode with this number, which an entry has led to.
    pub(crate) fn inode(&mut self, number: u64, site: Site) -> Arc<Inode> {
        // Directories that are there from the start are made when they are needed.
        self.inodes.entry(number).or_insert_with(|| Arc::new(Inode::directory(number, site))).clone()
    }

    /// The turn of calls on two paths.
    pub(crate) fn turn_of_renames(&mut self, site: Site) -> Arc<Turn> {
        self.turn_of_renames.get_or_insert_with(|| Arc::new(Turn::new(format_args!("renaming"), site))).clone()
    }

    /// Adds a rename, before the step that lets others find it.
    pub(crate) fn add_rename(&mut self, number: u64, done: Arc<Object>) {
        self.renames.insert(number, done);
    }

    /// The rename with this number, which an entry has led to.
    pub(crate) fn rename(&mut self, number: u64) -> Arc<Object> {
        self.renames[&number].clone()
    }
}
