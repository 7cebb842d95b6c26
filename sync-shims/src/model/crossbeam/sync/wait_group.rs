//! `WaitGroup`.
//!
//! In a model, each handle is an object of its own that is set when the handle is dropped, and whoever waits waits for one after
//! the other. They are set once; so the order in which they are dropped is not explored, and n threads with a handle each
//! have one execution. The handles form a tree: when one is gone, all that were cloned from it are known.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dpor::{Info, Role};

use crate::model::controller::current;
use crate::model::crossbeam::no_waiting;
use crate::model::event::{Identity, Site, perform};
use crate::model::sync::mpsc::chan::{info, locked, object};
use crate::model::sync::mpsc::states::{DONE, EMPTY, set_outs, wait_outs};

static WAIT: Info = info("WaitGroup", "wait", Role::Wait);
static DROP: Info = info("WaitGroup", "drop", Role::Signal);

/// A handle, as those who wait see it.
struct Node {
    gone: Identity,
    /// Those cloned from it, by the number of the thread that did it and how many it had cloned before: in an order that does
    /// not depend on which thread was first.
    children: Mutex<BTreeMap<(u32, usize), Arc<Node>>>,
}

/// What all handles of a group share.
struct Group {
    root: Arc<Node>,
    count: AtomicUsize,
}

/// Stands in for [`crossbeam_utils::sync::WaitGroup`].
pub struct WaitGroup(Flavor);

enum Flavor {
    Real(crossbeam_utils::sync::WaitGroup),
    Model {
        group: Arc<Group>,
        node: Arc<Node>,
    },
    /// It has been used to wait.
    Used,
}

impl Node {
    fn new(site: Site) -> Arc<Self> {
        Arc::new(Node { gone: Identity::at(site), children: Mutex::new(BTreeMap::new()) })
    }

    /// Waits until the handle, and those cloned from it, are gone.
    fn wait(&self, site: Site) {
        perform(&self.gone, EMPTY, object(wait_outs, 0, false), &WAIT, site);
        let children: Vec<_> = locked(&self.children).values().cloned().collect();
        for child in children {
            child.wait(site);
        }
    }
}

fn this_thread() -> u32 {
    current(|controller| controller.map_or(0, |controller| controller.thread().0))
}

impl WaitGroup {
    /// Stands in for [`crossbeam_utils::sync::WaitGroup::new`].
    #[track_caller]
    pub fn new() -> Self {
        if current(|controller| controller.is_none()) {
            return WaitGroup(Flavor::Real(crossbeam_utils::sync::WaitGroup::new()));
        }
        let node = Node::new(Location::caller());
        let group = Arc::new(Group { root: node.clone(), count: AtomicUsize::new(1) });
        WaitGroup(Flavor::Model { group, node })
    }

    /// Stands in for [`crossbeam_utils::sync::WaitGroup::wait`].
    #[track_caller]
    pub fn wait(mut self) {
        let site = Location::caller();
        match std::mem::replace(&mut self.0, Flavor::Used) {
            Flavor::Real(group) => {
                if current(|controller| controller.is_none()) {
                    group.wait();
                } else {
                    no_waiting("WaitGroup::wait", "a group", site);
                }
            }
            Flavor::Model { group, node } => {
                leave(&group, &node);
                group.root.wait(site);
            }
            Flavor::Used => {}
        }
    }
}

/// The handle is gone. One that has left its model has nobody to tell.
fn leave(group: &Group, node: &Node) {
    if current(|controller| controller.is_some()) {
        perform(&node.gone, EMPTY, object(set_outs, DONE, false), &DROP, node.gone.created());
    }
    group.count.fetch_sub(1, Ordering::Relaxed);
}

impl Drop for WaitGroup {
    fn drop(&mut self) {
        if let Flavor::Model { group, node } = &self.0 {
            leave(group, node);
        }
    }
}

impl Clone for WaitGroup {
    #[track_caller]
    fn clone(&self) -> Self {
        WaitGroup(match &self.0 {
            Flavor::Real(group) => Flavor::Real(group.clone()),
            Flavor::Model { group, node } => {
                let (child, thread) = (Node::new(Location::caller()), this_thread());
                let mut children = locked(&node.children);
                let before = children.range((thread, 0)..=(thread, usize::MAX)).count();
                children.insert((thread, before), child.clone());
                group.count.fetch_add(1, Ordering::Relaxed);
                Flavor::Model { group: group.clone(), node: child }
            }
            Flavor::Used => Flavor::Used,
        })
    }
}

impl Default for WaitGroup {
    #[track_caller]
    fn default() -> Self {
        WaitGroup::new()
    }
}

/// In a model, the count is the one of this run at this moment, which is no operation.
impl fmt::Debug for WaitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Flavor::Real(group) => group.fmt(f),
            Flavor::Model { group, .. } => {
                f.debug_struct("WaitGroup").field("count", &group.count.load(Ordering::Relaxed)).finish()
            }
            Flavor::Used => f.debug_struct("WaitGroup").finish_non_exhaustive(),
        }
    }
}
