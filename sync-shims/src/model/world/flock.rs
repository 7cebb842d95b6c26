//! The lock of a file: flock(2), as `std::fs::File::lock` uses it.
//!
//! The lock belongs to the open file (what `open` made; all `try_clone`s of it are one owner) and to the inode, not to the
//! path. The state is the list of owners, four at most, and whether the one there is excludes all others.

use std::path::Path;

use dpor::{Outcome, Outcomes, Role, ThreadId};

use super::call::{Call, Object, Step, Sys};
use super::tables::Series;
use crate::model::event::Site;

/// The lock of one inode.
#[derive(Debug)]
pub(crate) struct Lock(Object);

/// Who can own locks: an open file. The number is small, so that several fit in a state; 0 if there was none left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner(u64);

/// Bits of an owner's number: 7 for the thread that opened the file, 8 for which of its open files it is.
const OWNER_BITS: u32 = 15;
const PLACES: u32 = 4;
/// Set if the owner, then the only one, excludes all others.
const EXCLUSIVE: u64 = 1 << 63;

/// The lock is not the caller's now.
const WOULD_BLOCK: u64 = 1;
/// The shared lock that the caller had is gone; the exclusive one is not there yet.
const CONVERTING: u64 = 2;
/// There are more owners than the state has room for.
const FULL: u64 = 3;

impl Owner {
    /// The open file that the running thread makes.
    pub(crate) fn new(call: Call<'_>) -> Sys<Self> {
        let (thread, count) = call.count(Series::OpenFiles)?;
        let fits = thread.0 < 1 << 7 && count < 1 << 8;
        Ok(Owner(if fits { u64::from(thread.0) << 8 | count } else { 0 }))
    }
}

/// The owners in `state`.
fn owners(state: u64) -> impl Iterator<Item = u64> {
    (0..PLACES).map(move |place| state >> (place * OWNER_BITS) & ((1 << OWNER_BITS) - 1)).filter(|&owner| owner != 0)
}

/// The state with these shared owners.
fn shared(owners: impl Iterator<Item = u64>) -> u64 {
    owners.enumerate().fold(0, |state, (place, owner)| state | owner << (place as u32 * OWNER_BITS))
}

/// The state without `me`.
fn without(state: u64, me: u64) -> u64 {
    shared(owners(state).filter(|&owner| owner != me))
}

fn owns(state: u64, me: u64) -> bool {
    owners(state).any(|owner| owner == me)
}

/// Takes the lock for `args[0]` alone. A shared lock that it has is given up first, even if others then keep it from having
/// the exclusive one.
fn lock(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let me = args[0];
    if without(state, me) == 0 {
        out.push(Outcome::write(EXCLUSIVE | me, 0));
    } else if owns(state, me) {
        out.push(Outcome::write(without(state, me), CONVERTING));
    }
}

/// As [`lock`], without waiting.
fn try_lock(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let me = args[0];
    out.push(if without(state, me) == 0 {
        Outcome::write(EXCLUSIVE | me, 0)
    } else if owns(state, me) {
        Outcome::write(without(state, me), WOULD_BLOCK)
    } else {
        Outcome::read(WOULD_BLOCK)
    });
}

/// Takes the lock for `args[0]` and others who share it.
fn lock_shared(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let me = args[0];
    if state & EXCLUSIVE == 0 || owns(state, me) {
        let others = owners(state).filter(|&owner| owner != me);
        out.push(if others.count() as u32 == PLACES {
            Outcome::read(FULL)
        } else {
            Outcome::write(shared(owners(state).filter(|&owner| owner != me).chain([me])), 0)
        });
    }
}

/// As [`lock_shared`], without waiting.
fn try_lock_shared(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    lock_shared(state, args, thread, out);
    if out.as_slice().is_empty() {
        out.push(Outcome::read(WOULD_BLOCK));
    }
}

/// Gives up what `args[0]` has, if anything.
fn unlock(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if owns(state, args[0]) { Outcome::write(without(state, args[0]), 0) } else { Outcome::read(0) });
}

/// Which lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nobody else has one.
    Exclusive,
    /// Nobody has an exclusive one.
    Shared,
}

impl Lock {
    /// Free, of an inode that is going to be at `path`.
    pub(crate) fn new(path: &Path, site: Site) -> Self {
        Lock(Object::new(0, site).named(format_args!("lock of {}", super::path::shown(path).display())))
    }

    /// Waits for the lock.
    pub(crate) fn acquire(&self, call: Call<'_>, owner: Owner, mode: Mode) -> Sys<()> {
        static LOCK: Step = Step::new("File", "lock", lock).role(Role::Acquire);
        static LOCK_SHARED: Step = Step::new("File", "lock_shared", lock_shared).role(Role::Acquire);
        let step = match mode {
            Mode::Exclusive => &LOCK,
            Mode::Shared => &LOCK_SHARED,
        };
        while self.act(call, step, owner)? == CONVERTING {}
        Ok(())
    }

    /// Takes the lock if it is free; whether it was.
    pub(crate) fn try_acquire(&self, call: Call<'_>, owner: Owner, mode: Mode) -> Sys<bool> {
        static TRY_LOCK: Step = Step::new("File", "try_lock", try_lock).role(Role::Acquire);
        static TRY_LOCK_SHARED: Step = Step::new("File", "try_lock_shared", try_lock_shared).role(Role::Acquire);
        let step = match mode {
            Mode::Exclusive => &TRY_LOCK,
            Mode::Shared => &TRY_LOCK_SHARED,
        };
        Ok(self.act(call, step, owner)? != WOULD_BLOCK)
    }

    /// Gives up what the owner has, if anything.
    pub(crate) fn release(&self, call: Call<'_>, owner: Owner) -> Sys<()> {
        static UNLOCK: Step = Step::new("File", "unlock", unlock).role(Role::Release);
        self.act(call, &UNLOCK, owner)?;
        Ok(())
    }

    fn act(&self, call: Call<'_>, step: &'static Step, owner: Owner) -> Sys<u64> {
        if owner.0 == 0 {
            call.limit("255 open files of each of 128 threads that lock them");
        }
        match call.act(&self.0, step, [owner.0, 0])? {
            FULL => call.limit("4 owners of the shared lock of one file"),
            result => Ok(result),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(outs: dpor::Outs, state: u64, me: u64) -> Option<Outcome> {
        let mut out = Outcomes::default();
        outs(state, [me, 0], ThreadId::MAIN, &mut out);
        out.as_slice().first().copied()
    }

    #[test]
    fn owners_share_and_exclude() {
        let one = outcome(lock_shared, 0, 7).unwrap().state;
        let two = outcome(lock_shared, one, 9).unwrap().state;
        assert_eq!(owners(two).collect::<Vec<_>>(), [7, 9]);
        assert_eq!(outcome(lock, two, 11), None);
        assert_eq!(outcome(try_lock, two, 11), Some(Outcome::read(WOULD_BLOCK)));
        assert_eq!(outcome(unlock, two, 11), Some(Outcome::read(0)));
        let alone = outcome(unlock, two, 7).unwrap().state;
        assert_eq!(outcome(lock, alone, 9), Some(Outcome::write(EXCLUSIVE | 9, 0)));
        assert_eq!(outcome(lock_shared, EXCLUSIVE | 9, 7), None);
        assert_eq!(outcome(try_lock_shared, EXCLUSIVE | 9, 7), Some(Outcome::read(WOULD_BLOCK)));
        assert_eq!(outcome(lock_shared, EXCLUSIVE | 9, 9), Some(Outcome::write(9, 0)));
        assert_eq!(outcome(unlock, EXCLUSIVE | 9, 9), Some(Outcome::write(0, 0)));
    }

    #[test]
    fn a_failed_conversion_loses_the_shared_lock() {
        let two = shared([7, 9].into_iter());
        assert_eq!(outcome(try_lock, two, 7), Some(Outcome::write(9, WOULD_BLOCK)));
        assert_eq!(outcome(lock, two, 7), Some(Outcome::write(9, CONVERTING)));
    }

    #[test]
    fn the_fifth_shared_owner_is_too_many() {
        let four = shared([1, 2, 3, (1 << OWNER_BITS) - 1].into_iter());
        assert_eq!(four & EXCLUSIVE, 0);
        assert_eq!(outcome(lock_shared, four, 5), Some(Outcome::read(FULL)));
        assert!(outcome(lock_shared, four, 3).unwrap().writes);
    }
}
