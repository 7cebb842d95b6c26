//! The mutexes, without the values they protect.
//!
//! One guarded object, whose state is 0 when it is free, else one more than the number of the thread that holds it. A thread
//! that locks it again waits for itself, which is a deadlock.
//!
//! A fair unlock is modelled as an unlock. It hands the lock to a thread that *waits*, and a thread that is about to lock
//! need not have begun to wait: so whoever could take the lock after an unlock could take it after a fair one.

use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering;
use std::time::Duration;

use ::parking_lot as real;
use dpor::{Info, Outcome, Outcomes, Role, ThreadId};
use real::lock_api::{self, RawMutex as _};

use super::core::{Call, Core, Hold, Release, holder, outside};
use crate::model::event::Answer;
use crate::model::time::Instant;

/// What operations that need not wait result in when somebody holds the mutex.
const BUSY: u64 = 1;

fn lock_outs(state: u64, _: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    if state == 0 {
        out.push(Outcome::write(holder(thread), 0));
    }
}

/// Also for a lock with a timeout: it either comes after an unlock, or gives up before.
fn try_lock_outs(state: u64, args: [u64; 2], thread: ThreadId, out: &mut Outcomes) {
    lock_outs(state, args, thread, out);
    if state != 0 {
        out.push(Outcome::read(BUSY));
    }
}

/// The argument is who holds it, who need not be the running thread. An exploration also asks about states in which it is
/// somebody else, or nobody.
fn unlock_outs(state: u64, [thread, _]: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state == thread {
        out.push(Outcome::write(0, 0));
    }
}

fn is_locked_outs(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(u64::from(state != 0)));
}

/// How the descriptions of the operations of a kind of mutex read.
struct Words {
    lock: Info,
    try_lock: Info,
    try_lock_for: Info,
    try_lock_until: Info,
    unlock: Info,
    unlock_fair: Info,
    is_locked: Info,
}

impl Words {
    const fn of(family: &'static str) -> Self {
        const fn info(family: &'static str, name: &'static str, role: Role) -> Info {
            Info { name, family, role }
        }
        Words {
            lock: info(family, "lock", Role::Acquire),
            try_lock: info(family, "try_lock", Role::Acquire),
            try_lock_for: info(family, "try_lock_for", Role::Acquire),
            try_lock_until: info(family, "try_lock_until", Role::Acquire),
            unlock: info(family, "unlock", Role::Release),
            unlock_fair: info(family, "unlock_fair", Role::Release),
            is_locked: info(family, "is_locked", Role::Plain),
        }
    }
}

static MUTEX: Words = Words::of("Mutex");
static FAIR_MUTEX: Words = Words::of("FairMutex");
static REENTRANT_MUTEX: Words = Words::of("ReentrantMutex");

macro_rules! raw_mutex {
    ($(#[$doc:meta])* $name:ident, $real_mutex:ident, $real_raw:ident, $words:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            core: Core,
            real: real::$real_mutex<()>,
        }

        impl UnwindSafe for $name {}
        impl RefUnwindSafe for $name {}

        impl $name {
            pub(super) fn core(&self) -> &Core {
                &self.core
            }

            fn real(&self) -> &real::$real_raw {
                // SAFETY: 1. The value in the real mutex is `()`, which no order of locks can harm.
                unsafe { self.real.raw() }
            }

            fn words(&self) -> &'static Words {
                if self.core.reentrant.load(Ordering::Relaxed) { &REENTRANT_MUTEX } else { &$words }
            }

            /// Takes the lock by `call`, or outside a model by `real`; whether it was had.
            fn take(&self, call: Call, caller: &'static Location<'static>, real: impl FnOnce() -> bool) -> bool {
                match self.core.perform(call, caller) {
                    Answer::Outside => {
                        let taken = real();
                        if taken {
                            self.core.taken_outside();
                        }
                        taken
                    }
                    Answer::Done(BUSY) => false,
                    Answer::Done(_) => {
                        self.core.taken(Hold::Exclusive);
                        true
                    }
                    Answer::Inert => true,
                }
            }

            #[track_caller]
            fn give_back(&self, info: &'static Info, real: impl FnOnce()) {
                match self.core.release(Hold::Exclusive, info, || self.real().is_locked()) {
                    Release::Real => real(),
                    Release::Nothing => {}
                    Release::Model(arg) => {
                        self.core.perform(Call { arg, ..Call::new(unlock_outs, info) }, Location::caller());
                    }
                }
            }
        }

        // SAFETY: 1. In a model, the guarded object lets one thread at a time hold it, and its events order what they did.
        // 2. Outside, the real lock does. 3. An inert thread only runs while no other does.
        unsafe impl lock_api::RawMutex for $name {
            const INIT: Self = $name { core: Core::new(), real: real::$real_mutex::new(()) };

            type GuardMarker = <real::$real_raw as lock_api::RawMutex>::GuardMarker;

            #[track_caller]
            fn lock(&self) {
                self.take(Call::new(lock_outs, &self.words().lock), Location::caller(), || {
                    self.real().lock();
                    true
                });
            }

            #[track_caller]
            fn try_lock(&self) -> bool {
                let call = Call::new(try_lock_outs, &self.words().try_lock);
                self.take(call, Location::caller(), || self.real().try_lock())
            }

            #[track_caller]
            unsafe fn unlock(&self) {
                // SAFETY: 1. The caller holds it.
                self.give_back(&self.words().unlock, || unsafe { self.real().unlock() });
            }

            #[track_caller]
            fn is_locked(&self) -> bool {
                match self.core.perform(Call::new(is_locked_outs, &self.words().is_locked), Location::caller()) {
                    Answer::Outside => self.real().is_locked(),
                    Answer::Done(locked) => locked != 0,
                    Answer::Inert => false,
                }
            }
        }

        // SAFETY: 1. As above.
        unsafe impl lock_api::RawMutexFair for $name {
            #[track_caller]
            unsafe fn unlock_fair(&self) {
                // SAFETY: 1. The caller holds it.
                self.give_back(&self.words().unlock_fair, || unsafe { self.real().unlock_fair() });
            }

            #[track_caller]
            unsafe fn bump(&self) {
                if outside() {
                    // SAFETY: 1. The caller holds it.
                    return unsafe { self.real().bump() };
                }
                // SAFETY: 1. The caller holds it.
                unsafe { self.unlock_fair() };
                self.lock();
            }
        }

        // SAFETY: 1. As above.
        unsafe impl lock_api::RawMutexTimed for $name {
            type Duration = Duration;
            type Instant = Instant;

            #[track_caller]
            fn try_lock_for(&self, timeout: Duration) -> bool {
                let (site, real) = (Location::caller(), || self.real().try_lock_for(timeout));
                let call = Call::timed(try_lock_outs, &self.words().try_lock_for);
                self.core.within(timeout, site, || self.take(call, site, real))
            }

            #[track_caller]
            fn try_lock_until(&self, timeout: Instant) -> bool {
                let (site, real) = (Location::caller(), || self.real().try_lock_until(timeout.into()));
                let call = Call::timed(try_lock_outs, &self.words().try_lock_until);
                self.core.within(timeout, site, || self.take(call, site, real))
            }
        }
    };
}

raw_mutex! {
    /// Stands in for `parking_lot::RawMutex`.
    RawMutex, Mutex, RawMutex, MUTEX
}

raw_mutex! {
    /// Stands in for `parking_lot::RawFairMutex`.
    RawFairMutex, FairMutex, RawFairMutex, FAIR_MUTEX
}

impl RawMutex {
    /// The real one, for a condition variable outside a model.
    pub(super) fn real_mutex(&self) -> &real::Mutex<()> {
        &self.real
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::outcomes_of;
    use dpor::Outs;

    fn outcomes(outs: Outs, state: u64, arg: u64, thread: u32) -> Vec<Outcome> {
        outcomes_of(outs, state, [arg, 0], ThreadId(thread))
    }

    #[test]
    fn a_lock_waits_for_its_holder_even_if_that_is_the_same_thread() {
        assert_eq!(outcomes(lock_outs, 0, 0, 4), [Outcome::write(5, 0)]);
        assert_eq!(outcomes(lock_outs, 5, 0, 4), []);
        assert_eq!(outcomes(lock_outs, 5, 0, 0), []);
    }

    #[test]
    fn who_need_not_wait_only_reads_when_it_is_held() {
        assert_eq!(outcomes(try_lock_outs, 0, 0, 0), [Outcome::write(1, 0)]);
        assert_eq!(outcomes(try_lock_outs, 5, 0, 0), [Outcome::read(BUSY)]);
        assert_eq!(outcomes(is_locked_outs, 0, 0, 0), [Outcome::read(0)]);
        assert_eq!(outcomes(is_locked_outs, 5, 0, 0), [Outcome::read(1)]);
    }

    #[test]
    fn another_thread_can_unlock_for_the_holder() {
        assert_eq!(outcomes(unlock_outs, 5, 5, 0), [Outcome::write(0, 0)]);
        assert_eq!(outcomes(unlock_outs, 5, 1, 0), []);
        assert_eq!(outcomes(unlock_outs, 0, 1, 0), []);
    }
}
