//! Descriptors: how many an open file has, and which process has each.
//!
//! `try_clone` adds a descriptor, and closing the last one closes the file. The table of all descriptors says which process has
//! each: when a process ends, those it has are closed, whether or not its destructors run.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dpor::{Outcome, Outcomes, ThreadId};

use super::call::{Call, Object, Step, Sys, resume, retire};
use super::process;
use super::tables::Series;
use crate::model::deferred;
use crate::model::event::Site;

/// The descriptors of one open file description.
#[derive(Debug)]
pub(crate) struct Descriptors {
    count: Object,
    /// Whether there ever was more than one. Only then can it matter who closes last, and only then is closing a step at the
    /// count. Whoever closes a descriptor had it to himself, so he knows of all clones made from it.
    cloned: AtomicBool,
}

/// One more, made of another one.
fn more(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state != 0 {
        out.push(Outcome::write(state + 1, state));
    }
}

/// One less: the result is how many there were.
fn less(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state != 0 {
        out.push(Outcome::write(state - 1, state));
    }
}

impl Descriptors {
    /// One.
    pub(crate) fn new(site: Site) -> Self {
        Descriptors { count: Object::new(1, site).named(format_args!("descriptors")), cloned: AtomicBool::new(false) }
    }

    /// Stands in for dup(2).
    pub(crate) fn add(&self, call: Call<'_>) -> Sys<()> {
        static DUP: Step = Step::new("fd", "try_clone", more);
        self.cloned.store(true, Ordering::Relaxed);
        call.act(&self.count, &DUP, [0, 0])?;
        Ok(())
    }

    /// Stands in for close(2): whether it was the last one.
    pub(crate) fn close(&self, call: Call<'_>) -> Sys<bool> {
        static CLOSE: Step = Step::new("fd", "close", less);
        Ok(!self.cloned() || call.act(&self.count, &CLOSE, [0, 0])? == 1)
    }

    /// Whether there ever was more than one.
    pub(crate) fn cloned(&self) -> bool {
        self.cloned.load(Ordering::Relaxed)
    }
}

/// What descriptors are of.
pub(crate) trait Open: fmt::Debug + Send + Sync + 'static {
    /// The execution it belongs to.
    fn execution(&self) -> u64;

    /// Where it was made.
    fn site(&self) -> Site;

    /// Stands in for dup(2).
    fn dup(&self, call: Call<'_>) -> Sys<()>;

    /// Stands in for close(2), of one descriptor.
    fn close(&self, call: Call<'_>) -> Sys<()>;
}

/// Types with these methods of their own.
macro_rules! open {
    ($($type:ty),*) => {$(
        impl Open for $type {
            fn execution(&self) -> u64 {
                <$type>::execution(self)
            }

            fn site(&self) -> Site {
                <$type>::site(self)
            }

            fn dup(&self, call: Call<'_>) -> Sys<()> {
                <$type>::dup(self, call)
            }

            fn close(&self, call: Call<'_>) -> Sys<()> {
                <$type>::close(self, call)
            }
        }
    )*};
}

open!(super::OpenFile, super::Listener, super::Endpoint, super::Datagram);

/// A descriptor: what a value of the program, such as a `File`, has. Dropping it closes it.
pub(crate) struct Fd<T: Open> {
    /// Its place in the table.
    key: u64,
    /// Known by these bytes where a closure is moved into another process.
    mark: u64,
    of: Arc<T>,
}

/// An entry of the table of descriptors.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    mark: u64,
    /// The number of the process.
    owner: u64,
    of: Arc<dyn Open>,
}

/// A word that nothing but the descriptor has, as good as certainly.
fn mark(execution: u64, key: u64) -> u64 {
    let mut word = (execution << 24 ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

impl<T: Open> Fd<T> {
    /// The first descriptor of `of`, or one that `of` has counted already.
    pub(crate) fn new(of: Arc<T>) -> Self {
        let entered = resume(of.execution(), of.site(), |call| Fd::<T>::enter(call, of.clone()));
        // After the end of the execution it is in no table.
        let (key, mark) = entered.unwrap_or((u64::MAX, 0));
        Fd { key, mark, of }
    }

    /// Puts an entry into the table: its key and mark.
    fn enter(call: Call<'_>, of: Arc<dyn Open>) -> Sys<(u64, u64)> {
        let (thread, count) = call.count(Series::Descriptors)?;
        let key = u64::from(thread.0) << 32 | count;
        let mark = mark(call.execution(), key);
        let owner = process::current_number(call)?;
        call.tables(|tables| tables.descriptors.insert(key, Entry { mark, owner, of }))?;
        Ok((key, mark))
    }

    /// A call on what it is of.
    pub(crate) fn call<R>(&self, site: Site, f: impl FnOnce(Call<'_>, &T) -> Sys<R>) -> Sys<R> {
        resume(self.of.execution(), site, |call| {
            self.check_owner(call)?;
            f(call, &self.of)
        })
    }

    /// Stands in for dup(2).
    pub(crate) fn try_clone(&self, site: Site) -> Sys<Self> {
        self.call(site, |call, of| of.dup(call))?;
        Ok(Fd::new(self.of.clone()))
    }

    /// A process uses its own descriptors, and those it got from the process that started it.
    fn check_owner(&self, call: Call<'_>) -> Sys<()> {
        if !deferred::watches_processes() {
            return Ok(());
        }
        let me = process::current(call)?;
        let number = me.as_ref().map_or(0, |me| me.number());
        let owner = call.tables(|tables| tables.descriptors.get(&self.key).map(|entry| entry.owner))?;
        match owner {
            Some(owner) if owner == number => Ok(()),
            Some(owner) if me.is_some_and(|me| me.is_child_of(owner)) => {
                call.tables(|tables| {
                    if let Some(entry) = tables.descriptors.get_mut(&self.key) {
                        entry.owner = number;
                    }
                })?;
                Ok(())
            }
            // Or the end of the other process has closed it.
            _ => call.controller().fail(
                "outside",
                format!(
                    "a descriptor of another process is used (opened at {}): a process has those that it opens, and those in the \
                     closure it is started with; make one for each process with `try_clone`",
                    self.of.site()
                ),
                call.site(),
            ),
        }
    }
}

impl<T: Open> Drop for Fd<T> {
    fn drop(&mut self) {
        // A destructor is not told where it is called: the report names the place where the file was opened.
        retire(self.of.execution(), self.of.site(), |call| {
            // The end of its process may have closed it.
            if call.tables(|tables| !tables.descriptors.contains_key(&self.key))? {
                return Ok(());
            }
            // If its process ends here, that closes it.
            process::whole(call, || self.of.close(call))?;
            call.tables(|tables| tables.descriptors.remove(&self.key))?;
            Ok(())
        });
    }
}

/// What can be asked without a call.
impl<T: Open> Deref for Fd<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.of
    }
}

impl<T: Open> fmt::Debug for Fd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fd").field("mark", &self.mark).field("of", &self.of).finish()
    }
}

/// The process `number` gets what is in `closure`, of the descriptors of the running process. Those that a closure has by way
/// of the heap become the new process's when it uses them first.
pub(crate) fn hand_over<F>(call: Call<'_>, closure: &F, number: u64) -> Sys<()> {
    // Miri would refuse to look at bytes that may be uninitialised.
    if cfg!(miri) {
        return Ok(());
    }
    let words = size_of::<F>() / size_of::<u64>();
    let start = std::ptr::from_ref(closure).cast::<u8>();
    let found: Vec<u64> = (0..words)
        .map(|word| {
            // SAFETY: 1. The word lies within the closure, which is borrowed. 2. It may be padding; the volatile read of bytes
            // makes the compiler take what is there. 3. Nobody writes meanwhile: model threads take turns.
            unsafe { start.add(word * size_of::<u64>()).cast::<u64>().read_unaligned() }
        })
        .collect();
    let owner = process::current_number(call)?;
    call.tables(|tables| {
        for entry in tables.descriptors.values_mut() {
            if entry.owner == owner && found.contains(&entry.mark) {
                entry.owner = number;
            }
        }
    })?;
    Ok(())
}

/// Closes all that the process `number` has open, as its end does.
pub(crate) fn close_all(call: Call<'_>, number: u64) -> Sys<()> {
    let open: Vec<(u64, Entry)> = call.tables(|tables| {
        let mine = |entry: &Entry| entry.owner == number;
        tables.descriptors.iter().filter(|(_, entry)| mine(entry)).map(|(key, entry)| (*key, entry.clone())).collect()
    })?;
    for (key, entry) in open {
        call.tables(|tables| tables.descriptors.remove(&key))?;
        entry.of.close(call)?;
    }
    Ok(())
}
