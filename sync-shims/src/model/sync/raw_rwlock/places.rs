//! The objects of a lock in one execution.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dpor::ThreadId;

use crate::model::controller::{Controller, new_group};
use crate::model::event::{Identity, Site};
use crate::model::statics::process;

/// What an exploration has learnt about the locks that are created at a place in the source. The lower bits are the threads
/// that read.
pub(crate) mod facts {
    /// Threads from this number on have no bit.
    pub(crate) const THREADS: u32 = 56;
    /// It must be one object.
    pub(crate) const WHOLE: u64 = 1 << 56;
    /// A thread reads that reads already.
    pub(crate) const RECURSIVE: u64 = 1 << 57;
    /// It is poisoned at some time.
    pub(crate) const POISONED: u64 = 1 << 58;
}

/// Where a reader is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the whole lock.
    Whole,
    /// In one of the places for readers.
    Own(u32),
}

/// The objects of a lock in one execution, but for the whole.
#[derive(Debug)]
pub(crate) struct Places {
    execution: u64,
    pub(crate) facts: u64,
    /// One for each thread that reads, in the order of their numbers.
    pub(crate) own: Box<[Identity]>,
    /// How many guards for reading each thread has.
    reading: Mutex<Vec<(ThreadId, u32)>>,
    /// Tells the objects of this lock from others in a report.
    pub(crate) group: u64,
}

impl Places {
    fn new(execution: u64, facts: u64, created: Site) -> Places {
        let readers = (facts & (facts::WHOLE - 1)).count_ones();
        let own = if facts & facts::WHOLE == 0 { readers } else { 0 };
        Places {
            execution,
            facts,
            own: (0..own).map(|_| Identity::at(created)).collect(),
            reading: Mutex::default(),
            group: new_group(),
        }
    }

    pub(crate) fn has(&self, fact: u64) -> bool {
        self.facts & fact != 0
    }

    /// Where the thread is counted if it reads; the fact that has to be learnt first if that is not known.
    pub(crate) fn of(&self, thread: ThreadId) -> Result<Place, u64> {
        if self.has(facts::WHOLE) {
            return Ok(Place::Whole);
        }
        if thread.0 >= facts::THREADS {
            return Err(facts::WHOLE);
        }
        let bit = 1 << thread.0;
        if !self.has(bit) {
            return Err(bit);
        }
        Ok(Place::Own((self.facts & (bit - 1)).count_ones()))
    }

    fn count<R>(&self, thread: ThreadId, f: impl FnOnce(&mut u32) -> R) -> R {
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, count)) = reading.iter_mut().find(|(reader, _)| *reader == thread) {
            return f(count);
        }
        reading.push((thread, 0));
        f(&mut reading.last_mut().expect("it was pushed").1)
    }

    pub(crate) fn reads(&self, thread: ThreadId) -> bool {
        self.count(thread, |count| *count > 0)
    }

    pub(crate) fn add_reader(&self, thread: ThreadId) {
        self.count(thread, |count| *count += 1);
    }

    pub(crate) fn remove_reader(&self, thread: ThreadId) {
        self.count(thread, |count| *count = count.saturating_sub(1));
    }
}

/// The places of the running execution, for each process that uses the lock if it is a `static`; those of an earlier one are
/// forgotten.
#[derive(Debug)]
pub(crate) struct Current(Mutex<Vec<(u64, Arc<Places>)>>);

impl Current {
    pub(crate) const fn new() -> Current {
        Current(Mutex::new(Vec::new()))
    }

    fn process(&self, controller: &dyn Controller) -> u64 {
        process(controller, std::ptr::from_ref(self).cast())
    }

    fn list(&self) -> MutexGuard<'_, Vec<(u64, Arc<Places>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those of the running execution, if it has used the lock.
    pub(crate) fn known(&self, controller: &dyn Controller) -> Option<Arc<Places>> {
        let process = self.process(controller);
        let list = self.list();
        let mut now = list.iter().filter(|(_, places)| places.execution == controller.execution());
        now.find(|(of, _)| *of == process).map(|(_, places)| places.clone())
    }

    pub(crate) fn get(&self, controller: &dyn Controller, created: Site) -> Arc<Places> {
        if let Some(known) = self.known(controller) {
            return known;
        }
        let places = Arc::new(Places::new(controller.execution(), controller.facts(created), created));
        let process = self.process(controller);
        let mut list = self.list();
        list.retain(|(of, places)| *of != process && places.execution == controller.execution());
        list.push((process, places.clone()));
        places
    }

    /// Has the exploration start again with one more thing known. The thread is unwound, or inert if it is unwinding already.
    pub(crate) fn learn(&self, controller: &dyn Controller, created: Site, fact: u64) -> Arc<Places> {
        controller.learn(created, fact);
        let process = self.process(controller);
        self.list().retain(|(of, _)| *of != process);
        self.get(controller, created)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    #[test]
    fn places_go_by_thread_numbers() {
        let places = Places::new(1, 0b1010, Location::caller());
        assert_eq!(places.own.len(), 2);
        let of = [0, 1, 3, 60].map(|thread| places.of(ThreadId(thread)));
        assert_eq!(of, [Err(1), Ok(Place::Own(0)), Ok(Place::Own(1)), Err(facts::WHOLE)]);
        let whole = Places::new(1, 0b1010 | facts::WHOLE, Location::caller());
        assert_eq!((whole.own.len(), whole.of(ThreadId(60))), (0, Ok(Place::Whole)));
    }

    #[test]
    fn readers_are_counted() {
        let places = Places::new(1, 0, Location::caller());
        places.add_reader(ThreadId(1));
        places.add_reader(ThreadId(1));
        places.remove_reader(ThreadId(1));
        assert_eq!([0, 1].map(|thread| places.reads(ThreadId(thread))), [false, true]);
        places.remove_reader(ThreadId(1));
        assert!(!places.reads(ThreadId(1)));
    }
}
