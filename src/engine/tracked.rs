//! What has to be gone before an execution ends, and what lies in memory that may be freed.

use std::collections::BTreeMap;
use std::ops::Range;

use dpor::{Access, Info};
use sync_shims::model::controller::{MEMORY, Slot};

use super::controller::earlier_name;
use super::{Engine, Failure, Phase, Site};

/// An object whose place is known, by the word of its slot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Placed {
    /// It has operations.
    Object(u64),
    /// It has plain accesses.
    Plain(u64),
}

/// What was made in the running execution and is tracked.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    /// The number of the execution, modulo what is left beside the index.
    execution: u64,
    made: Vec<Option<(&'static str, Site)>>,
    left: usize,
    /// There was memory, in which objects may lie.
    memory: bool,
    /// By address: the objects that were first used since there is memory.
    placed: BTreeMap<usize, Placed>,
}

/// Bits of a number that are an index, plus one so that it is never 0.
const INDEX: u32 = 32;

impl Tracked {
    /// Forgets what an earlier execution has left behind.
    #[inline]
    pub(super) fn start(&mut self, execution: u64) {
        self.execution = execution & (u64::MAX >> INDEX);
        self.made.clear();
        self.left = 0;
        self.memory = false;
        self.placed.clear();
    }

    #[inline]
    pub(super) fn add(&mut self, what: &'static str, site: Site) -> u64 {
        self.made.push(Some((what, site)));
        self.left += 1;
        self.memory |= what == MEMORY;
        self.execution << INDEX | self.made.len() as u64
    }

    #[inline]
    pub(super) fn remove(&mut self, number: u64) {
        let index = (number & (u64::MAX >> INDEX)) as usize;
        if number >> INDEX == self.execution
            && let Some(entry) = index.checked_sub(1).and_then(|index| self.made.get_mut(index))
            && entry.take().is_some()
        {
            self.left -= 1;
        }
    }

    /// The failure if something is left.
    #[inline]
    pub(super) fn leak(&self) -> Option<Failure> {
        if self.left == 0 { None } else { self.first_leak() }
    }

    #[cold]
    fn first_leak(&self) -> Option<Failure> {
        let (what, site) = self.made.iter().flatten().next()?;
        let others = match self.left - 1 {
            0 => String::new(),
            1 => ", and one thing more".to_owned(),
            n => format!(", and {n} things more"),
        };
        Some(Failure::Other {
            code: "leak",
            message: format!("{what} that was made at {site} is never freed{others}"),
            help: None,
            site: Some(site),
        })
    }
}

impl Engine {
    /// An object got this word in this execution.
    #[inline]
    pub(super) fn placed(&self, slot: &Slot, object: Placed) {
        self.tracked.with(|tracked| {
            if tracked.memory {
                tracked.placed.insert(std::ptr::from_ref(slot).addr(), object);
            }
        });
    }

    /// The object is another one from now on, which may go elsewhere before it is used.
    #[inline]
    pub(super) fn moved(&self, slot: &Slot) {
        self.tracked.with(|tracked| {
            if tracked.memory {
                tracked.placed.remove(&std::ptr::from_ref(slot).addr());
            }
        });
    }

    /// A write to all objects in the memory, which is given up: each operation on them must be ordered before.
    pub(super) fn write_to_all(&self, memory: Range<usize>, what: &'static Info, created: Site, site: Site) {
        let thread = self.current.get();
        let objects = self.tracked.with(|tracked| {
            let addresses: Vec<_> = tracked.placed.range(memory).map(|(&address, _)| address).collect();
            addresses.into_iter().filter_map(|address| tracked.placed.remove(&address)).collect::<Vec<_>>()
        });
        if self.phase.get() != Phase::Running || self.threads.get(thread).ordered.get() > 0 {
            return;
        }
        let race = self.explorer.with(|explorer| {
            objects.into_iter().find_map(|object| match object {
                _ if explorer.is_probing() => None,
                Placed::Object(word) => {
                    explorer.exclusive(thread, dpor::ObjectId((word & 0xff_ffff) as u32), site).err()
                }
                Placed::Plain(word) => explorer.plain(thread, word, Access::Write, site).1.err(),
            })
        });
        if let Some(race) = race
            && !self.is_ordered_unseen(&race, created)
        {
            let accesses = (earlier_name(race.first.access), what.name);
            self.stop(Failure::Race { race, family: what.family, what: accesses, created });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    #[test]
    fn what_is_left_is_a_leak() {
        let mut tracked = Tracked::default();
        tracked.start(7);
        let numbers = ["one", "two", "three"].map(|what| tracked.add(what, Location::caller()));
        tracked.remove(numbers[0]);
        tracked.remove(numbers[0]);
        let Some(Failure::Other { message, .. }) = tracked.leak() else { panic!("there is a leak") };
        assert!(message.starts_with("two that was made at ") && message.ends_with("and one thing more"), "{message}");
        numbers.into_iter().for_each(|number| tracked.remove(number));
        assert!(tracked.leak().is_none());
    }

    #[test]
    fn what_another_execution_has_made_does_not_count() {
        let mut tracked = Tracked::default();
        tracked.start(7);
        let old = tracked.add("old", Location::caller());
        tracked.start(8);
        let new = tracked.add("new", Location::caller());
        tracked.remove(old);
        assert!(tracked.leak().is_some());
        tracked.remove(new);
        assert!(tracked.leak().is_none());
    }
}
