//! The reader-writer lock, without the value it protects: one guarded object, whose states are in `rwlock_states`; or, as long
//! as it is only read and written, several, see `rwlock_apart`.
//!
//! Fair unlocks are modelled as unlocks, for the reason given in `raw_mutex`.

use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use ::parking_lot as real;
use dpor::{Info, Outs, Role};
use real::lock_api::{self, RawRwLock as _, RawRwLockUpgrade as _};

use super::core::{Call, Core, Hold, Release, outside};
use super::rwlock_apart::Apart;
use super::rwlock_states::{self as states, BUSY, CLAIMED};
use crate::model::controller;
use crate::model::event::{Answer, Site};
use crate::model::time::Instant;

/// Stands in for `parking_lot::RawRwLock`.
#[derive(Debug)]
pub struct RawRwLock {
    core: Core,
    pub(super) apart: Apart,
    real: real::RwLock<()>,
}

impl UnwindSafe for RawRwLock {}
impl RefUnwindSafe for RawRwLock {}

const fn info(name: &'static str, role: Role) -> Info {
    Info { name, family: "RwLock", role }
}

macro_rules! infos {
    ($($name:ident $role:ident $text:literal)*) => {
        $(pub(super) static $name: Info = info($text, Role::$role);)*
    };
}

infos! {
    READ Share "read"
    TRY_READ Share "try_read"
    TRY_READ_FOR Share "try_read_for"
    TRY_READ_UNTIL Share "try_read_until"
    READ_RECURSIVE Share "read_recursive"
    TRY_READ_RECURSIVE Share "try_read_recursive"
    TRY_READ_RECURSIVE_FOR Share "try_read_recursive_for"
    TRY_READ_RECURSIVE_UNTIL Share "try_read_recursive_until"
    UNLOCK_READ Release "unlock (read)"
    UNLOCK_READ_FAIR Release "unlock_fair (read)"
    WRITE Acquire "write"
    TRY_WRITE Acquire "try_write"
    TRY_WRITE_FOR Acquire "try_write_for"
    TRY_WRITE_UNTIL Acquire "try_write_until"
    UNLOCK_WRITE Release "unlock (write)"
    UNLOCK_WRITE_FAIR Release "unlock_fair (write)"
    UPGRADABLE_READ Acquire "upgradable_read"
    TRY_UPGRADABLE_READ Acquire "try_upgradable_read"
    TRY_UPGRADABLE_READ_FOR Acquire "try_upgradable_read_for"
    TRY_UPGRADABLE_READ_UNTIL Acquire "try_upgradable_read_until"
    UNLOCK_UPGRADABLE Release "unlock (upgradable)"
    UNLOCK_UPGRADABLE_FAIR Release "unlock_fair (upgradable)"
    UPGRADE Acquire "upgrade"
    TRY_UPGRADE Acquire "try_upgrade"
    TRY_UPGRADE_FOR Acquire "try_upgrade_for"
    TRY_UPGRADE_UNTIL Acquire "try_upgrade_until"
    DOWNGRADE Plain "downgrade"
    DOWNGRADE_TO_UPGRADABLE Plain "downgrade_to_upgradable"
    IS_LOCKED Plain "is_locked"
    IS_LOCKED_EXCLUSIVE Plain "is_locked_exclusive"
    WAIT_FOR_READERS Acquire "wait for readers"
}

impl RawRwLock {
    pub(super) fn core(&self) -> &Core {
        &self.core
    }

    fn real(&self) -> &real::RawRwLock {
        // SAFETY: 1. The value in the real lock is `()`, which no order of locks can harm.
        unsafe { self.real.raw() }
    }

    /// Takes the lock by `call`, or outside a model by `real`; whether it was had.
    fn take(&self, hold: Hold, call: Call, site: Site, real: impl FnOnce() -> bool) -> bool {
        self.as_whole(site);
        let answer = self.core.perform(call, site);
        self.taken(hold, answer, real)
    }

    fn taken(&self, hold: Hold, answer: Answer, real: impl FnOnce() -> bool) -> bool {
        match answer {
            Answer::Outside => {
                let taken = real();
                if taken {
                    self.core.taken_outside();
                }
                taken
            }
            Answer::Done(BUSY) => false,
            Answer::Done(_) => {
                self.core.taken(hold);
                true
            }
            Answer::Inert => true,
        }
    }

    /// The same for a writer, by `call` which claims the lock, and `wait` if there are readers to wait for.
    fn take_to_write(&self, call: Call, wait: Outs, site: Site, real: impl FnOnce() -> bool) -> bool {
        self.as_whole(site);
        let timed = call.timed;
        let mut answer = self.core.perform(call, site);
        if answer == Answer::Done(CLAIMED) {
            self.core.note(controller::CLAIMED);
            answer = self.core.perform(Call { outs: wait, arg: 0, timed, info: &WAIT_FOR_READERS }, site);
            if answer == Answer::Done(BUSY) {
                self.core.note(controller::GAVE_UP);
            }
        }
        self.taken(Hold::Exclusive, answer, real)
    }

    /// Gives the lock back that is held as `hold`; as `then`, if that is what it is held as afterwards.
    #[track_caller]
    fn give_back(&self, hold: Hold, then: Option<Hold>, outs: Outs, info: &'static Info, real: impl FnOnce()) {
        let site = Location::caller();
        match self.core.release(hold, info, || self.real().is_locked()) {
            Release::Real => real(),
            Release::Nothing => {}
            Release::Model(arg) => {
                let in_parts = match (hold, then) {
                    (Hold::Shared, None) => self.unlock_read_in_parts(info, site),
                    (Hold::Exclusive, None) => self.unlock_write_in_parts(arg, info, site),
                    _ => {
                        self.as_whole(site);
                        false
                    }
                };
                if in_parts {
                    return;
                }
                let arg = if hold == Hold::Shared { 0 } else { arg };
                self.core.perform(Call { arg, ..Call::new(outs, info) }, site);
                if let Some(then) = then {
                    self.core.taken(then);
                }
            }
        }
    }

    /// Takes the lock as a writer instead of as an upgradable reader; whether it was had.
    #[track_caller]
    fn upgrade_by(&self, call: Call, wait: Outs, site: Site, real: impl FnOnce() -> bool) -> bool {
        let info = call.info;
        match self.core.release(Hold::Upgradable, info, || self.real().is_locked()) {
            Release::Real => real(),
            Release::Nothing => true,
            Release::Model(arg) => {
                let had = self.take_to_write(Call { arg, ..call }, wait, site, || true);
                if !had {
                    self.core.taken(Hold::Upgradable);
                }
                had
            }
        }
    }

    fn looks(&self, outs: Outs, info: &'static Info, site: Site, real: impl FnOnce() -> bool) -> bool {
        self.as_whole(site);
        match self.core.perform(Call::new(outs, info), site) {
            Answer::Outside => real(),
            Answer::Done(locked) => locked != 0,
            Answer::Inert => false,
        }
    }
}

/// The methods that take the lock.
macro_rules! takes {
    ($($method:ident $hold:ident $outs:ident $info:ident;)*) => {$(
        #[track_caller]
        fn $method(&self) -> bool {
            self.take(Hold::$hold, Call::new(states::$outs, &$info), Location::caller(), || self.real().$method())
        }
    )*};
}

/// The methods that take the lock within a time.
macro_rules! takes_within {
    ($($method:ident($time:ty) $hold:ident $outs:ident $info:ident;)*) => {$(
        #[track_caller]
        fn $method(&self, timeout: $time) -> bool {
            let (site, call) = (Location::caller(), Call::timed(states::$outs, &$info));
            let real = || self.real().$method(timeout.into());
            self.core.within(timeout, site, || self.take(Hold::$hold, call, site, real))
        }
    )*};
}

/// The methods that wait for the lock until they have it.
macro_rules! waits {
    ($($method:ident $hold:ident $outs:ident $info:ident;)*) => {$(
        #[track_caller]
        fn $method(&self) {
            self.take(Hold::$hold, Call::new(states::$outs, &$info), Location::caller(), || {
                self.real().$method();
                true
            });
        }
    )*};
}

/// The methods that give the lock back.
macro_rules! gives_back {
    ($($method:ident $hold:ident => $then:expr, $outs:ident $info:ident;)*) => {$(
        #[track_caller]
        unsafe fn $method(&self) {
            // SAFETY: 1. The caller holds it.
            let real = || unsafe { self.real().$method() };
            self.give_back(Hold::$hold, $then, states::$outs, &$info, real);
        }
    )*};
}

/// The methods that give the lock back to others that wait, and take it again.
macro_rules! bumps {
    ($($method:ident $unlock:ident $lock:ident;)*) => {$(
        #[track_caller]
        unsafe fn $method(&self) {
            if outside() {
                // SAFETY: 1. The caller holds it.
                return unsafe { self.real().$method() };
            }
            // SAFETY: 1. The caller holds it.
            unsafe { self.$unlock() };
            self.$lock();
        }
    )*};
}

// SAFETY: 1. In a model, the guarded object lets one thread write or any number read, and its events order what they did. 2.
// Outside, the real lock does. 3. An inert thread only runs while no other does.
unsafe impl lock_api::RawRwLock for RawRwLock {
    const INIT: Self = RawRwLock { core: Core::new(), apart: Apart::new(), real: real::RwLock::new(()) };

    type GuardMarker = <real::RawRwLock as lock_api::RawRwLock>::GuardMarker;

    #[track_caller]
    fn lock_shared(&self) {
        let site = Location::caller();
        let real = || {
            self.real().lock_shared();
            true
        };
        match self.read_in_parts(site) {
            Some(answer) => self.taken(Hold::Shared, answer, real),
            None => self.take(Hold::Shared, Call::new(states::read, &READ), site, real),
        };
    }

    takes! {
        try_lock_shared Shared try_read TRY_READ;
        try_lock_exclusive Exclusive try_write TRY_WRITE;
    }

    gives_back! {
        unlock_shared Shared => None, unlock_read UNLOCK_READ;
        unlock_exclusive Exclusive => None, unlock_write UNLOCK_WRITE;
    }

    #[track_caller]
    fn lock_exclusive(&self) {
        let site = Location::caller();
        let real = || {
            self.real().lock_exclusive();
            true
        };
        match self.write_in_parts(site) {
            Some(answer) => self.taken(Hold::Exclusive, answer, real),
            None => self.take_to_write(Call::new(states::write, &WRITE), states::wait_for_readers, site, real),
        };
    }

    #[track_caller]
    fn is_locked(&self) -> bool {
        self.looks(states::is_locked, &IS_LOCKED, Location::caller(), || self.real().is_locked())
    }

    #[track_caller]
    fn is_locked_exclusive(&self) -> bool {
        let real = || self.real().is_locked_exclusive();
        self.looks(states::is_locked_exclusive, &IS_LOCKED_EXCLUSIVE, Location::caller(), real)
    }
}

// SAFETY: 1. As above.
unsafe impl lock_api::RawRwLockFair for RawRwLock {
    gives_back! {
        unlock_shared_fair Shared => None, unlock_read UNLOCK_READ_FAIR;
        unlock_exclusive_fair Exclusive => None, unlock_write UNLOCK_WRITE_FAIR;
    }

    bumps! {
        bump_shared unlock_shared_fair lock_shared;
        bump_exclusive unlock_exclusive_fair lock_exclusive;
    }
}

// SAFETY: 1. As above.
unsafe impl lock_api::RawRwLockDowngrade for RawRwLock {
    gives_back! {
        downgrade Exclusive => Some(Hold::Shared), downgrade DOWNGRADE;
    }
}

// SAFETY: 1. As above.
unsafe impl lock_api::RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    takes_within! {
        try_lock_shared_for(Duration) Shared try_read TRY_READ_FOR;
        try_lock_shared_until(Instant) Shared try_read TRY_READ_UNTIL;
    }

    #[track_caller]
    fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
        let (site, call) = (Location::caller(), Call::timed(states::write_or_time_out, &TRY_WRITE_FOR));
        let real = || self.real().try_lock_exclusive_for(timeout);
        let take = || self.take_to_write(call, states::wait_for_readers_or_time_out, site, real);
        self.core.within(timeout, site, take)
    }

    #[track_caller]
    fn try_lock_exclusive_until(&self, timeout: Instant) -> bool {
        let (site, call) = (Location::caller(), Call::timed(states::write_or_time_out, &TRY_WRITE_UNTIL));
        let real = || self.real().try_lock_exclusive_until(timeout.into());
        let take = || self.take_to_write(call, states::wait_for_readers_or_time_out, site, real);
        self.core.within(timeout, site, take)
    }
}

// SAFETY: 1. As above.
unsafe impl lock_api::RawRwLockRecursive for RawRwLock {
    waits! {
        lock_shared_recursive Shared read_recursive READ_RECURSIVE;
    }

    takes! {
        try_lock_shared_recursive Shared try_read_recursive TRY_READ_RECURSIVE;
    }
}

// SAFETY: 1. As above.
unsafe impl lock_api::RawRwLockRecursiveTimed for RawRwLock {
    takes_within! {
        try_lock_shared_recursive_for(Duration) Shared try_read_recursive TRY_READ_RECURSIVE_FOR;
        try_lock_shared_recursive_until(Instant) Shared try_read_recursive TRY_READ_RECURSIVE_UNTIL;
    }
}

// SAFETY: 1. As above.
unsafe impl lock_api::RawRwLockUpgrade for RawRwLock {
    waits! {
        lock_upgradable Upgradable upgradable_read UPGRADABLE_READ;
    }

    takes! {
        try_lock_upgradable Upgradable try_upgradable_read TRY_UPGRADABLE_READ;
    }

    gives_back! {
        unlock_upgradable Upgradable => None, unlock_upgradable UNLOCK_UPGRADABLE;
    }

    #[track_caller]
    unsafe fn upgrade(&self) {
        self.upgrade_by(Call::new(states::upgrade, &UPGRADE), states::wait_for_readers, Location::caller(), || {
            // SAFETY: 1. The caller holds it.
            unsafe { self.real().upgrade() };
            true
        });
    }

    #[track_caller]
    unsafe fn try_upgrade(&self) -> bool {
        let call = Call::new(states::try_upgrade, &TRY_UPGRADE);
        // SAFETY: 1. The caller holds it.
        self.upgrade_by(call, states::wait_for_readers, Location::caller(), || unsafe { self.real().try_upgrade() })
    }
}

// SAFETY: 1. As above.
unsafe impl lock_api::RawRwLockUpgradeFair for RawRwLock {
    gives_back! {
        unlock_upgradable_fair Upgradable => None, unlock_upgradable UNLOCK_UPGRADABLE_FAIR;
    }

    bumps! {
        bump_upgradable unlock_upgradable_fair lock_upgradable;
    }
}

// SAFETY: 1. As above.
unsafe impl lock_api::RawRwLockUpgradeDowngrade for RawRwLock {
    gives_back! {
        downgrade_upgradable Upgradable => Some(Hold::Shared), downgrade_upgradable DOWNGRADE;
        downgrade_to_upgradable Exclusive => Some(Hold::Upgradable), downgrade_to_upgradable DOWNGRADE_TO_UPGRADABLE;
    }
}

// SAFETY: 1. As above.
unsafe impl lock_api::RawRwLockUpgradeTimed for RawRwLock {
    takes_within! {
        try_lock_upgradable_for(Duration) Upgradable try_upgradable_read TRY_UPGRADABLE_READ_FOR;
        try_lock_upgradable_until(Instant) Upgradable try_upgradable_read TRY_UPGRADABLE_READ_UNTIL;
    }

    #[track_caller]
    unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool {
        // SAFETY: 1. The caller holds it.
        let real = || unsafe { self.real().try_upgrade_for(timeout) };
        let (site, call) = (Location::caller(), Call::timed(states::upgrade, &TRY_UPGRADE_FOR));
        self.core.within(timeout, site, || self.upgrade_by(call, states::upgrade_or_time_out, site, real))
    }

    #[track_caller]
    unsafe fn try_upgrade_until(&self, timeout: Instant) -> bool {
        // SAFETY: 1. The caller holds it.
        let real = || unsafe { self.real().try_upgrade_until(timeout.into()) };
        let (site, call) = (Location::caller(), Call::timed(states::upgrade, &TRY_UPGRADE_UNTIL));
        self.core.within(timeout, site, || self.upgrade_by(call, states::upgrade_or_time_out, site, real))
    }
}
