// The public items of parking_lot 0.12, with their signatures: those that take or return values as function pointers, types and
// traits by use. `whole_surface` compares this list with the source of the crate.

use time::{Duration, Instant};

use lib::lock_api::{
    self, GetThreadId, GuardNoSend, GuardSend, RawMutex as RawMutexTrait, RawMutexFair, RawMutexTimed,
    RawReentrantMutex, RawRwLock as RawRwLockTrait, RawRwLockDowngrade, RawRwLockFair, RawRwLockRecursive,
    RawRwLockRecursiveTimed, RawRwLockTimed, RawRwLockUpgrade, RawRwLockUpgradeDowngrade, RawRwLockUpgradeFair,
    RawRwLockUpgradeTimed,
};
use lib::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard, ArcRwLockWriteGuard,
    Condvar, FairMutex, FairMutexGuard, MappedFairMutexGuard, MappedMutexGuard, MappedReentrantMutexGuard,
    MappedRwLockReadGuard, MappedRwLockWriteGuard, Mutex, MutexGuard, Once, OnceState, RawFairMutex, RawMutex,
    RawRwLock, RawThreadId, ReentrantMutex, ReentrantMutexGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard,
    RwLockWriteGuard, WaitTimeoutResult, const_fair_mutex, const_mutex, const_reentrant_mutex, const_rwlock,
};

type V = (u8, u16);
type ArcMutex = ArcMutexGuard<RawMutex, V>;
type ArcReentrant = ArcReentrantMutexGuard<RawMutex, RawThreadId, V>;
type ArcRead = ArcRwLockReadGuard<RawRwLock, V>;
type ArcWrite = ArcRwLockWriteGuard<RawRwLock, V>;
type ArcUpgradable = ArcRwLockUpgradableReadGuard<RawRwLock, V>;
type RawReentrant = RawReentrantMutex<RawMutex, RawThreadId>;

macro_rules! items {
    ($($item:expr => $type:ty;)*) => {$(
        let _: $type = $item;
    )*};
}

#[test]
fn constants() {
    const _: Mutex<V> = const_mutex((1, 2));
    const _: FairMutex<V> = const_fair_mutex((1, 2));
    const _: ReentrantMutex<V> = const_reentrant_mutex((1, 2));
    const _: RwLock<V> = const_rwlock((1, 2));
    const _: Mutex<V> = Mutex::new((1, 2));
    const _: RwLock<V> = RwLock::new((1, 2));
    const _: ReentrantMutex<V> = ReentrantMutex::new((1, 2));
    const _: Mutex<V> = Mutex::from_raw(<RawMutex as RawMutexTrait>::INIT, (1, 2));
    const _: Mutex<V> = Mutex::const_new(<RawMutex as RawMutexTrait>::INIT, (1, 2));
    const _: FairMutex<V> = FairMutex::const_new(<RawFairMutex as RawMutexTrait>::INIT, (1, 2));
    const _: RwLock<V> = RwLock::from_raw(<RawRwLock as RawRwLockTrait>::INIT, (1, 2));
    const _: RwLock<V> = RwLock::const_new(<RawRwLock as RawRwLockTrait>::INIT, (1, 2));
    const THREAD: RawThreadId = <RawThreadId as GetThreadId>::INIT;
    const _: ReentrantMutex<V> = ReentrantMutex::from_raw(<RawMutex as RawMutexTrait>::INIT, THREAD, (1, 2));
    const _: ReentrantMutex<V> = ReentrantMutex::const_new(<RawMutex as RawMutexTrait>::INIT, THREAD, (1, 2));
    const _: RawReentrantMutex<RawMutex, RawThreadId> = RawReentrantMutex::INIT;
    const _: Condvar = Condvar::new();
    const _: Once = Once::new();
    let _ = RawThreadId;
}

#[test]
fn mutexes() {
    mutexes_of_a_lifetime();
}

fn mutexes_of_a_lifetime<'g>() {
    items! {
        Mutex::into_inner => fn(Mutex<V>) -> V;
        Mutex::make_guard_unchecked => unsafe fn(&Mutex<V>) -> MutexGuard<'_, V>;
        Mutex::lock => fn(&Mutex<V>) -> MutexGuard<'_, V>;
        Mutex::try_lock => fn(&Mutex<V>) -> Option<MutexGuard<'_, V>>;
        Mutex::get_mut => fn(&mut Mutex<V>) -> &mut V;
        Mutex::is_locked => fn(&Mutex<V>) -> bool;
        Mutex::force_unlock => unsafe fn(&Mutex<V>);
        Mutex::raw => unsafe fn(&Mutex<V>) -> &RawMutex;
        Mutex::data_ptr => fn(&Mutex<V>) -> *mut V;
        Mutex::lock_arc => fn(&Arc<Mutex<V>>) -> ArcMutex;
        Mutex::try_lock_arc => fn(&Arc<Mutex<V>>) -> Option<ArcMutex>;
        Mutex::force_unlock_fair => unsafe fn(&Mutex<V>);
        Mutex::try_lock_for => fn(&Mutex<V>, Duration) -> Option<MutexGuard<'_, V>>;
        Mutex::try_lock_until => fn(&Mutex<V>, Instant) -> Option<MutexGuard<'_, V>>;
        Mutex::try_lock_arc_for => fn(&Arc<Mutex<V>>, Duration) -> Option<ArcMutex>;
        Mutex::try_lock_arc_until => fn(&Arc<Mutex<V>>, Instant) -> Option<ArcMutex>;
        FairMutex::lock => fn(&FairMutex<V>) -> FairMutexGuard<'_, V>;
    }
    let _: fn(&MutexGuard<'g, V>) -> &'g Mutex<V> = MutexGuard::mutex;
    let _: fn(MutexGuard<'g, V>, fn(&mut V) -> &mut u8) -> MappedMutexGuard<'g, u8> = MutexGuard::map;
    let _: fn(
        MutexGuard<'g, V>,
        fn(&mut V) -> Option<&mut u8>,
    ) -> Result<MappedMutexGuard<'g, u8>, MutexGuard<'g, V>> = MutexGuard::try_map;
    let _: fn(
        MutexGuard<'g, V>,
        fn(&mut V) -> Result<&mut u8, char>,
    ) -> Result<MappedMutexGuard<'g, u8>, (MutexGuard<'g, V>, char)> = MutexGuard::try_map_or_err;
    let _: fn(FairMutexGuard<'g, V>, fn(&mut V) -> &mut u8) -> MappedFairMutexGuard<'g, u8> =
        FairMutexGuard::map;
    let _: fn(
        MappedMutexGuard<'g, V>,
        fn(&mut V) -> Option<&mut u8>,
    ) -> Result<MappedMutexGuard<'g, u8>, MappedMutexGuard<'g, V>> = MappedMutexGuard::try_map;
    let _: fn(
        MappedMutexGuard<'g, V>,
        fn(&mut V) -> Result<&mut u8, char>,
    ) -> Result<MappedMutexGuard<'g, u8>, (MappedMutexGuard<'g, V>, char)> = MappedMutexGuard::try_map_or_err;
    items! {
        MutexGuard::unlocked => fn(&mut MutexGuard<'g, V>, fn() -> char) -> char;
        MutexGuard::leak => fn(MutexGuard<'g, V>) -> &'g mut V;
        MutexGuard::unlock_fair => fn(MutexGuard<'g, V>);
        MutexGuard::unlocked_fair => fn(&mut MutexGuard<'g, V>, fn() -> char) -> char;
        MutexGuard::bump => fn(&mut MutexGuard<'g, V>);
        MappedMutexGuard::map => fn(MappedMutexGuard<'g, V>, fn(&mut V) -> &mut u8) -> MappedMutexGuard<'g, u8>;
        MappedMutexGuard::unlock_fair => fn(MappedMutexGuard<'g, V>);
        ArcMutexGuard::mutex => fn(&ArcMutex) -> &Arc<Mutex<V>>;
        ArcMutexGuard::into_arc => fn(ArcMutex) -> Arc<Mutex<V>>;
        ArcMutexGuard::unlocked => fn(&mut ArcMutex, fn() -> char) -> char;
        ArcMutexGuard::unlock_fair => fn(ArcMutex);
        ArcMutexGuard::into_arc_fair => fn(ArcMutex) -> Arc<Mutex<V>>;
        ArcMutexGuard::unlocked_fair => fn(&mut ArcMutex, fn() -> char) -> char;
        ArcMutexGuard::bump => fn(&mut ArcMutex);
    }
}

#[test]
fn reentrant_mutexes() {
    reentrant_mutexes_of_a_lifetime();
}

fn reentrant_mutexes_of_a_lifetime<'g>() {
    items! {
        ReentrantMutex::into_inner => fn(ReentrantMutex<V>) -> V;
        ReentrantMutex::make_guard_unchecked => unsafe fn(&ReentrantMutex<V>) -> ReentrantMutexGuard<'_, V>;
        ReentrantMutex::lock => fn(&ReentrantMutex<V>) -> ReentrantMutexGuard<'_, V>;
        ReentrantMutex::try_lock => fn(&ReentrantMutex<V>) -> Option<ReentrantMutexGuard<'_, V>>;
        ReentrantMutex::get_mut => fn(&mut ReentrantMutex<V>) -> &mut V;
        ReentrantMutex::is_locked => fn(&ReentrantMutex<V>) -> bool;
        ReentrantMutex::is_owned_by_current_thread => fn(&ReentrantMutex<V>) -> bool;
        ReentrantMutex::force_unlock => unsafe fn(&ReentrantMutex<V>);
        ReentrantMutex::raw => unsafe fn(&ReentrantMutex<V>) -> &RawMutex;
        ReentrantMutex::data_ptr => fn(&ReentrantMutex<V>) -> *mut V;
        ReentrantMutex::make_arc_guard_unchecked => unsafe fn(&Arc<ReentrantMutex<V>>) -> ArcReentrant;
        ReentrantMutex::lock_arc => fn(&Arc<ReentrantMutex<V>>) -> ArcReentrant;
        ReentrantMutex::try_lock_arc => fn(&Arc<ReentrantMutex<V>>) -> Option<ArcReentrant>;
        ReentrantMutex::force_unlock_fair => unsafe fn(&ReentrantMutex<V>);
        ReentrantMutex::try_lock_for => fn(&ReentrantMutex<V>, Duration) -> Option<ReentrantMutexGuard<'_, V>>;
        ReentrantMutex::try_lock_until => fn(&ReentrantMutex<V>, Instant) -> Option<ReentrantMutexGuard<'_, V>>;
        ReentrantMutex::try_lock_arc_for => fn(&Arc<ReentrantMutex<V>>, Duration) -> Option<ArcReentrant>;
        ReentrantMutex::try_lock_arc_until => fn(&Arc<ReentrantMutex<V>>, Instant) -> Option<ArcReentrant>;
        RawReentrantMutex::lock => fn(&RawReentrant);
        RawReentrantMutex::try_lock => fn(&RawReentrant) -> bool;
        RawReentrantMutex::unlock => unsafe fn(&RawReentrant);
        RawReentrantMutex::is_locked => fn(&RawReentrant) -> bool;
        RawReentrantMutex::is_owned_by_current_thread => fn(&RawReentrant) -> bool;
        RawReentrantMutex::unlock_fair => unsafe fn(&RawReentrant);
        RawReentrantMutex::bump => unsafe fn(&RawReentrant);
        RawReentrantMutex::try_lock_until => fn(&RawReentrant, Instant) -> bool;
        RawReentrantMutex::try_lock_for => fn(&RawReentrant, Duration) -> bool;
    }
    let _: fn(&ReentrantMutexGuard<'g, V>) -> &'g ReentrantMutex<V> = ReentrantMutexGuard::remutex;
    let _: fn(
        ReentrantMutexGuard<'g, V>,
        fn(&V) -> Option<&u8>,
    ) -> Result<MappedReentrantMutexGuard<'g, u8>, ReentrantMutexGuard<'g, V>> = ReentrantMutexGuard::try_map;
    let _: fn(
        ReentrantMutexGuard<'g, V>,
        fn(&V) -> Result<&u8, char>,
    ) -> Result<MappedReentrantMutexGuard<'g, u8>, (ReentrantMutexGuard<'g, V>, char)> =
        ReentrantMutexGuard::try_map_or_err;
    let _: fn(
        MappedReentrantMutexGuard<'g, V>,
        fn(&V) -> Option<&u8>,
    ) -> Result<MappedReentrantMutexGuard<'g, u8>, MappedReentrantMutexGuard<'g, V>> =
        MappedReentrantMutexGuard::try_map;
    let _: fn(
        MappedReentrantMutexGuard<'g, V>,
        fn(&V) -> Result<&u8, char>,
    ) -> Result<MappedReentrantMutexGuard<'g, u8>, (MappedReentrantMutexGuard<'g, V>, char)> =
        MappedReentrantMutexGuard::try_map_or_err;
    items! {
        ReentrantMutexGuard::map =>
            fn(ReentrantMutexGuard<'g, V>, fn(&V) -> &u8) -> MappedReentrantMutexGuard<'g, u8>;
        ReentrantMutexGuard::unlocked => fn(&mut ReentrantMutexGuard<'g, V>, fn() -> char) -> char;
        ReentrantMutexGuard::unlock_fair => fn(ReentrantMutexGuard<'g, V>);
        ReentrantMutexGuard::unlocked_fair => fn(&mut ReentrantMutexGuard<'g, V>, fn() -> char) -> char;
        ReentrantMutexGuard::bump => fn(&mut ReentrantMutexGuard<'g, V>);
        MappedReentrantMutexGuard::map =>
            fn(MappedReentrantMutexGuard<'g, V>, fn(&V) -> &u8) -> MappedReentrantMutexGuard<'g, u8>;
        MappedReentrantMutexGuard::unlock_fair => fn(MappedReentrantMutexGuard<'g, V>);
        ArcReentrantMutexGuard::remutex => fn(&ArcReentrant) -> &Arc<ReentrantMutex<V>>;
        ArcReentrantMutexGuard::into_arc => fn(ArcReentrant) -> Arc<ReentrantMutex<V>>;
        ArcReentrantMutexGuard::unlocked => fn(&mut ArcReentrant, fn() -> char) -> char;
        ArcReentrantMutexGuard::unlock_fair => fn(ArcReentrant);
        ArcReentrantMutexGuard::into_arc_fair => fn(ArcReentrant) -> Arc<ReentrantMutex<V>>;
        ArcReentrantMutexGuard::unlocked_fair => fn(&mut ArcReentrant, fn() -> char) -> char;
        ArcReentrantMutexGuard::bump => fn(&mut ArcReentrant);
    }
}

#[test]
fn reader_writer_locks() {
    items! {
        RwLock::into_inner => fn(RwLock<V>) -> V;
        RwLock::make_read_guard_unchecked => unsafe fn(&RwLock<V>) -> RwLockReadGuard<'_, V>;
        RwLock::make_write_guard_unchecked => unsafe fn(&RwLock<V>) -> RwLockWriteGuard<'_, V>;
        RwLock::make_upgradable_guard_unchecked => unsafe fn(&RwLock<V>) -> RwLockUpgradableReadGuard<'_, V>;
        RwLock::make_arc_read_guard_unchecked => unsafe fn(&Arc<RwLock<V>>) -> ArcRead;
        RwLock::make_arc_write_guard_unchecked => unsafe fn(&Arc<RwLock<V>>) -> ArcWrite;
        RwLock::make_upgradable_arc_guard_unchecked => unsafe fn(&Arc<RwLock<V>>) -> ArcUpgradable;
        RwLock::read => fn(&RwLock<V>) -> RwLockReadGuard<'_, V>;
        RwLock::try_read => fn(&RwLock<V>) -> Option<RwLockReadGuard<'_, V>>;
        RwLock::write => fn(&RwLock<V>) -> RwLockWriteGuard<'_, V>;
        RwLock::try_write => fn(&RwLock<V>) -> Option<RwLockWriteGuard<'_, V>>;
        RwLock::get_mut => fn(&mut RwLock<V>) -> &mut V;
        RwLock::is_locked => fn(&RwLock<V>) -> bool;
        RwLock::is_locked_exclusive => fn(&RwLock<V>) -> bool;
        RwLock::force_unlock_read => unsafe fn(&RwLock<V>);
        RwLock::force_unlock_write => unsafe fn(&RwLock<V>);
        RwLock::raw => unsafe fn(&RwLock<V>) -> &RawRwLock;
        RwLock::data_ptr => fn(&RwLock<V>) -> *mut V;
        RwLock::read_arc => fn(&Arc<RwLock<V>>) -> ArcRead;
        RwLock::try_read_arc => fn(&Arc<RwLock<V>>) -> Option<ArcRead>;
        RwLock::write_arc => fn(&Arc<RwLock<V>>) -> ArcWrite;
        RwLock::try_write_arc => fn(&Arc<RwLock<V>>) -> Option<ArcWrite>;
        RwLock::force_unlock_read_fair => unsafe fn(&RwLock<V>);
        RwLock::force_unlock_write_fair => unsafe fn(&RwLock<V>);
        RwLock::try_read_for => fn(&RwLock<V>, Duration) -> Option<RwLockReadGuard<'_, V>>;
        RwLock::try_read_until => fn(&RwLock<V>, Instant) -> Option<RwLockReadGuard<'_, V>>;
        RwLock::try_write_for => fn(&RwLock<V>, Duration) -> Option<RwLockWriteGuard<'_, V>>;
        RwLock::try_write_until => fn(&RwLock<V>, Instant) -> Option<RwLockWriteGuard<'_, V>>;
        RwLock::try_read_arc_for => fn(&Arc<RwLock<V>>, Duration) -> Option<ArcRead>;
        RwLock::try_read_arc_until => fn(&Arc<RwLock<V>>, Instant) -> Option<ArcRead>;
        RwLock::try_write_arc_for => fn(&Arc<RwLock<V>>, Duration) -> Option<ArcWrite>;
        RwLock::try_write_arc_until => fn(&Arc<RwLock<V>>, Instant) -> Option<ArcWrite>;
        RwLock::read_recursive => fn(&RwLock<V>) -> RwLockReadGuard<'_, V>;
        RwLock::try_read_recursive => fn(&RwLock<V>) -> Option<RwLockReadGuard<'_, V>>;
        RwLock::read_arc_recursive => fn(&Arc<RwLock<V>>) -> ArcRead;
        RwLock::try_read_recursive_arc => fn(&Arc<RwLock<V>>) -> Option<ArcRead>;
        RwLock::try_read_recursive_for => fn(&RwLock<V>, Duration) -> Option<RwLockReadGuard<'_, V>>;
        RwLock::try_read_recursive_until => fn(&RwLock<V>, Instant) -> Option<RwLockReadGuard<'_, V>>;
        RwLock::try_read_arc_recursive_for => fn(&Arc<RwLock<V>>, Duration) -> Option<ArcRead>;
        RwLock::try_read_arc_recursive_until => fn(&Arc<RwLock<V>>, Instant) -> Option<ArcRead>;
        RwLock::upgradable_read => fn(&RwLock<V>) -> RwLockUpgradableReadGuard<'_, V>;
        RwLock::try_upgradable_read => fn(&RwLock<V>) -> Option<RwLockUpgradableReadGuard<'_, V>>;
        RwLock::upgradable_read_arc => fn(&Arc<RwLock<V>>) -> ArcUpgradable;
        RwLock::try_upgradable_read_arc => fn(&Arc<RwLock<V>>) -> Option<ArcUpgradable>;
        RwLock::try_upgradable_read_for => fn(&RwLock<V>, Duration) -> Option<RwLockUpgradableReadGuard<'_, V>>;
        RwLock::try_upgradable_read_until => fn(&RwLock<V>, Instant) -> Option<RwLockUpgradableReadGuard<'_, V>>;
        RwLock::try_upgradable_read_arc_for => fn(&Arc<RwLock<V>>, Duration) -> Option<ArcUpgradable>;
        RwLock::try_upgradable_read_arc_until => fn(&Arc<RwLock<V>>, Instant) -> Option<ArcUpgradable>;
    }
}

#[test]
fn guards_of_readers() {
    guards_of_readers_of_a_lifetime();
}

fn guards_of_readers_of_a_lifetime<'g>() {
    let _: fn(&RwLockReadGuard<'g, V>) -> &'g RwLock<V> = RwLockReadGuard::rwlock;
    let _: fn(
        RwLockReadGuard<'g, V>,
        fn(&V) -> Option<&u8>,
    ) -> Result<MappedRwLockReadGuard<'g, u8>, RwLockReadGuard<'g, V>> = RwLockReadGuard::try_map;
    let _: fn(
        RwLockReadGuard<'g, V>,
        fn(&V) -> Result<&u8, char>,
    ) -> Result<MappedRwLockReadGuard<'g, u8>, (RwLockReadGuard<'g, V>, char)> = RwLockReadGuard::try_map_or_err;
    let _: fn(
        MappedRwLockReadGuard<'g, V>,
        fn(&V) -> Option<&u8>,
    ) -> Result<MappedRwLockReadGuard<'g, u8>, MappedRwLockReadGuard<'g, V>> = MappedRwLockReadGuard::try_map;
    let _: fn(
        MappedRwLockReadGuard<'g, V>,
        fn(&V) -> Result<&u8, char>,
    ) -> Result<MappedRwLockReadGuard<'g, u8>, (MappedRwLockReadGuard<'g, V>, char)> =
        MappedRwLockReadGuard::try_map_or_else;
    items! {
        RwLockReadGuard::map => fn(RwLockReadGuard<'g, V>, fn(&V) -> &u8) -> MappedRwLockReadGuard<'g, u8>;
        RwLockReadGuard::unlocked => fn(&mut RwLockReadGuard<'g, V>, fn() -> char) -> char;
        RwLockReadGuard::unlock_fair => fn(RwLockReadGuard<'g, V>);
        RwLockReadGuard::unlocked_fair => fn(&mut RwLockReadGuard<'g, V>, fn() -> char) -> char;
        RwLockReadGuard::bump => fn(&mut RwLockReadGuard<'g, V>);
        MappedRwLockReadGuard::map =>
            fn(MappedRwLockReadGuard<'g, V>, fn(&V) -> &u8) -> MappedRwLockReadGuard<'g, u8>;
        MappedRwLockReadGuard::unlock_fair => fn(MappedRwLockReadGuard<'g, V>);
        ArcRwLockReadGuard::rwlock => fn(&ArcRead) -> &Arc<RwLock<V>>;
        ArcRwLockReadGuard::into_arc => fn(ArcRead) -> Arc<RwLock<V>>;
        ArcRwLockReadGuard::unlocked => fn(&mut ArcRead, fn() -> char) -> char;
        ArcRwLockReadGuard::unlock_fair => fn(ArcRead);
        ArcRwLockReadGuard::into_arc_fair => fn(ArcRead) -> Arc<RwLock<V>>;
        ArcRwLockReadGuard::unlocked_fair => fn(&mut ArcRead, fn() -> char) -> char;
        ArcRwLockReadGuard::bump => fn(&mut ArcRead);
    }
}

#[test]
fn guards_of_writers() {
    guards_of_writers_of_a_lifetime();
}

fn guards_of_writers_of_a_lifetime<'g>() {
    let _: fn(&RwLockWriteGuard<'g, V>) -> &'g RwLock<V> = RwLockWriteGuard::rwlock;
    let _: fn(
        RwLockWriteGuard<'g, V>,
        fn(&mut V) -> Option<&mut u8>,
    ) -> Result<MappedRwLockWriteGuard<'g, u8>, RwLockWriteGuard<'g, V>> = RwLockWriteGuard::try_map;
    let _: fn(
        RwLockWriteGuard<'g, V>,
        fn(&mut V) -> Result<&mut u8, char>,
    ) -> Result<MappedRwLockWriteGuard<'g, u8>, (RwLockWriteGuard<'g, V>, char)> = RwLockWriteGuard::try_map_or_err;
    let _: fn(
        MappedRwLockWriteGuard<'g, V>,
        fn(&mut V) -> Option<&mut u8>,
    ) -> Result<MappedRwLockWriteGuard<'g, u8>, MappedRwLockWriteGuard<'g, V>> = MappedRwLockWriteGuard::try_map;
    let _: fn(
        MappedRwLockWriteGuard<'g, V>,
        fn(&mut V) -> Result<&mut u8, char>,
    ) -> Result<MappedRwLockWriteGuard<'g, u8>, (MappedRwLockWriteGuard<'g, V>, char)> =
        MappedRwLockWriteGuard::try_map_or_err;
    items! {
        RwLockWriteGuard::map =>
            fn(RwLockWriteGuard<'g, V>, fn(&mut V) -> &mut u8) -> MappedRwLockWriteGuard<'g, u8>;
        RwLockWriteGuard::unlocked => fn(&mut RwLockWriteGuard<'g, V>, fn() -> char) -> char;
        RwLockWriteGuard::downgrade => fn(RwLockWriteGuard<'g, V>) -> RwLockReadGuard<'g, V>;
        RwLockWriteGuard::downgrade_to_upgradable =>
            fn(RwLockWriteGuard<'g, V>) -> RwLockUpgradableReadGuard<'g, V>;
        RwLockWriteGuard::unlock_fair => fn(RwLockWriteGuard<'g, V>);
        RwLockWriteGuard::unlocked_fair => fn(&mut RwLockWriteGuard<'g, V>, fn() -> char) -> char;
        RwLockWriteGuard::bump => fn(&mut RwLockWriteGuard<'g, V>);
        MappedRwLockWriteGuard::map =>
            fn(MappedRwLockWriteGuard<'g, V>, fn(&mut V) -> &mut u8) -> MappedRwLockWriteGuard<'g, u8>;
        MappedRwLockWriteGuard::unlock_fair => fn(MappedRwLockWriteGuard<'g, V>);
        ArcRwLockWriteGuard::rwlock => fn(&ArcWrite) -> &Arc<RwLock<V>>;
        ArcRwLockWriteGuard::into_arc => fn(ArcWrite) -> Arc<RwLock<V>>;
        ArcRwLockWriteGuard::unlocked => fn(&mut ArcWrite, fn() -> char) -> char;
        ArcRwLockWriteGuard::downgrade => fn(ArcWrite) -> ArcRead;
        ArcRwLockWriteGuard::downgrade_to_upgradable => fn(ArcWrite) -> ArcUpgradable;
        ArcRwLockWriteGuard::unlock_fair => fn(ArcWrite);
        ArcRwLockWriteGuard::into_arc_fair => fn(ArcWrite) -> Arc<RwLock<V>>;
        ArcRwLockWriteGuard::unlocked_fair => fn(&mut ArcWrite, fn() -> char) -> char;
        ArcRwLockWriteGuard::bump => fn(&mut ArcWrite);
    }
}

#[test]
fn guards_of_upgradable_readers() {
    guards_of_upgradable_readers_of_a_lifetime();
}

fn guards_of_upgradable_readers_of_a_lifetime<'g>() {
    let _: fn(&RwLockUpgradableReadGuard<'g, V>) -> &'g RwLock<V> = RwLockUpgradableReadGuard::rwlock;
    type Upgraded<'u> = Result<RwLockWriteGuard<'u, V>, RwLockUpgradableReadGuard<'u, V>>;
    items! {
        RwLockUpgradableReadGuard::unlocked => fn(&mut RwLockUpgradableReadGuard<'g, V>, fn() -> char) -> char;
        RwLockUpgradableReadGuard::upgrade => fn(RwLockUpgradableReadGuard<'g, V>) -> RwLockWriteGuard<'g, V>;
        RwLockUpgradableReadGuard::try_upgrade => fn(RwLockUpgradableReadGuard<'g, V>) -> Upgraded<'g>;
        RwLockUpgradableReadGuard::unlock_fair => fn(RwLockUpgradableReadGuard<'g, V>);
        RwLockUpgradableReadGuard::unlocked_fair => fn(&mut RwLockUpgradableReadGuard<'g, V>, fn() -> char) -> char;
        RwLockUpgradableReadGuard::bump => fn(&mut RwLockUpgradableReadGuard<'g, V>);
        RwLockUpgradableReadGuard::downgrade => fn(RwLockUpgradableReadGuard<'g, V>) -> RwLockReadGuard<'g, V>;
        RwLockUpgradableReadGuard::with_upgraded =>
            fn(&mut RwLockUpgradableReadGuard<'g, V>, fn(&mut V) -> char) -> char;
        RwLockUpgradableReadGuard::try_with_upgraded =>
            fn(&mut RwLockUpgradableReadGuard<'g, V>, fn(&mut V) -> char) -> Option<char>;
        RwLockUpgradableReadGuard::try_upgrade_for =>
            fn(RwLockUpgradableReadGuard<'g, V>, Duration) -> Upgraded<'g>;
        RwLockUpgradableReadGuard::try_upgrade_until =>
            fn(RwLockUpgradableReadGuard<'g, V>, Instant) -> Upgraded<'g>;
        RwLockUpgradableReadGuard::try_with_upgraded_for =>
            fn(&mut RwLockUpgradableReadGuard<'g, V>, Duration, fn(&mut V) -> char) -> Option<char>;
        RwLockUpgradableReadGuard::try_with_upgraded_until =>
            fn(&mut RwLockUpgradableReadGuard<'g, V>, Instant, fn(&mut V) -> char) -> Option<char>;
        ArcRwLockUpgradableReadGuard::rwlock => fn(&ArcUpgradable) -> &Arc<RwLock<V>>;
        ArcRwLockUpgradableReadGuard::into_arc => fn(ArcUpgradable) -> Arc<RwLock<V>>;
        ArcRwLockUpgradableReadGuard::unlocked => fn(&mut ArcUpgradable, fn() -> char) -> char;
        ArcRwLockUpgradableReadGuard::upgrade => fn(ArcUpgradable) -> ArcWrite;
        ArcRwLockUpgradableReadGuard::try_upgrade => fn(ArcUpgradable) -> Result<ArcWrite, ArcUpgradable>;
        ArcRwLockUpgradableReadGuard::unlock_fair => fn(ArcUpgradable);
        ArcRwLockUpgradableReadGuard::into_arc_fair => fn(ArcUpgradable) -> Arc<RwLock<V>>;
        ArcRwLockUpgradableReadGuard::unlocked_fair => fn(&mut ArcUpgradable, fn() -> char) -> char;
        ArcRwLockUpgradableReadGuard::bump => fn(&mut ArcUpgradable);
        ArcRwLockUpgradableReadGuard::downgrade => fn(ArcUpgradable) -> ArcRead;
        ArcRwLockUpgradableReadGuard::with_upgraded => fn(&mut ArcUpgradable, fn(&mut V) -> char) -> char;
        ArcRwLockUpgradableReadGuard::try_with_upgraded => fn(&mut ArcUpgradable, fn(&mut V) -> char) -> Option<char>;
        ArcRwLockUpgradableReadGuard::try_upgrade_for =>
            fn(ArcUpgradable, Duration) -> Result<ArcWrite, ArcUpgradable>;
        ArcRwLockUpgradableReadGuard::try_upgrade_until =>
            fn(ArcUpgradable, Instant) -> Result<ArcWrite, ArcUpgradable>;
        ArcRwLockUpgradableReadGuard::try_with_upgraded_for =>
            fn(&mut ArcUpgradable, Duration, fn(&mut V) -> char) -> Option<char>;
        ArcRwLockUpgradableReadGuard::try_with_upgraded_until =>
            fn(&mut ArcUpgradable, Instant, fn(&mut V) -> char) -> Option<char>;
    }
}

#[test]
fn condition_variables_and_once() {
    condition_variables_and_once_of_a_lifetime();
}

fn condition_variables_and_once_of_a_lifetime<'g>() {
    items! {
        Condvar::notify_one => fn(&Condvar) -> bool;
        Condvar::notify_all => fn(&Condvar) -> usize;
        Condvar::wait => fn(&Condvar, &mut MutexGuard<'g, V>);
        Condvar::wait_until => fn(&Condvar, &mut MutexGuard<'g, V>, Instant) -> WaitTimeoutResult;
        Condvar::wait_for => fn(&Condvar, &mut MutexGuard<'g, V>, Duration) -> WaitTimeoutResult;
        Condvar::wait_while => fn(&Condvar, &mut MutexGuard<'g, V>, fn(&mut V) -> bool);
        Condvar::wait_while_until =>
            fn(&Condvar, &mut MutexGuard<'g, V>, fn(&mut V) -> bool, Instant) -> WaitTimeoutResult;
        Condvar::wait_while_for =>
            fn(&Condvar, &mut MutexGuard<'g, V>, fn(&mut V) -> bool, Duration) -> WaitTimeoutResult;
        WaitTimeoutResult::timed_out => fn(WaitTimeoutResult) -> bool;
        Once::state => fn(&Once) -> OnceState;
        Once::call_once => fn(&Once, fn());
        Once::call_once_force => fn(&Once, fn(OnceState));
        OnceState::poisoned => fn(OnceState) -> bool;
        OnceState::done => fn(OnceState) -> bool;
    }
    match Once::new().state() {
        OnceState::New | OnceState::Poisoned | OnceState::InProgress | OnceState::Done => {}
    }
}

#[test]
fn traits() {
    assert_impl!(RawMutex: RawMutexTrait<GuardMarker = GuardNoSend> + RawMutexFair
        + RawMutexTimed<Duration = Duration, Instant = Instant> + Send + Sync + Unpin);
    assert_impl!(RawFairMutex: RawMutexTrait<GuardMarker = GuardNoSend> + RawMutexFair
        + RawMutexTimed<Duration = Duration, Instant = Instant> + Send + Sync + Unpin);
    assert_impl!(RawRwLock: RawRwLockTrait<GuardMarker = GuardNoSend> + RawRwLockFair + RawRwLockDowngrade
        + RawRwLockTimed<Duration = Duration, Instant = Instant> + RawRwLockRecursive + RawRwLockRecursiveTimed
        + RawRwLockUpgrade + RawRwLockUpgradeFair + RawRwLockUpgradeDowngrade + RawRwLockUpgradeTimed + Send + Sync);
    assert_impl!(RawMutex: UnwindSafe + RefUnwindSafe);
    assert_impl!(RawRwLock: UnwindSafe + RefUnwindSafe);
    assert_impl!(GuardSend: Send + Sync);
    assert_impl!(GuardNoSend: Sync);
    assert_not_impl!(GuardNoSend: Send);
    assert_impl!(RawThreadId: GetThreadId);

    assert_impl!(Mutex<Cell<u8>>: Send + Sync + Unpin + UnwindSafe + Debug + Default + From<Cell<u8>>);
    assert_not_impl!(Mutex<u8>: RefUnwindSafe);
    assert_not_impl!(Mutex<Rc<u8>>: Send);
    assert_not_impl!(Mutex<Rc<u8>>: Sync);
    assert_impl!(MutexGuard<'_, u8>: Sync + Unpin + Debug + Display + Deref<Target = u8> + DerefMut);
    assert_not_impl!(MutexGuard<'_, u8>: Send);
    assert_not_impl!(MutexGuard<'_, Cell<u8>>: Sync);
    assert_not_impl!(MutexGuard<'_, u8>: UnwindSafe);
    assert_impl!(MappedMutexGuard<'_, u8>: Sync + Unpin + Debug + Display + DerefMut);
    assert_not_impl!(MappedMutexGuard<'_, u8>: Send);
    assert_not_impl!(MappedMutexGuard<'_, Cell<u8>>: Sync);
    assert_impl!(ArcMutexGuard<RawMutex, u8>: Sync + Unpin + DerefMut);
    assert_not_impl!(ArcMutexGuard<RawMutex, u8>: Send);
    assert_not_impl!(ArcMutexGuard<RawMutex, u8>: Debug);

    assert_impl!(ReentrantMutex<Cell<u8>>: Send + Sync + Debug + Default + From<Cell<u8>>);
    assert_not_impl!(ReentrantMutex<Rc<u8>>: Sync);
    assert_impl!(ReentrantMutexGuard<'_, u8>: Sync + Debug + Display + Deref<Target = u8>);
    assert_not_impl!(ReentrantMutexGuard<'_, u8>: DerefMut);
    assert_not_impl!(ReentrantMutexGuard<'_, u8>: Send);
    assert_not_impl!(ReentrantMutexGuard<'_, Cell<u8>>: Sync);
    assert_impl!(MappedReentrantMutexGuard<'_, u8>: Sync + Debug + Display);
    assert_not_impl!(MappedReentrantMutexGuard<'_, u8>: Send);
    assert_impl!(ArcReentrantMutexGuard<RawMutex, RawThreadId, u8>: Sync + Deref<Target = u8>);
    assert_not_impl!(ArcReentrantMutexGuard<RawMutex, RawThreadId, u8>: Send);

    assert_impl!(RwLock<u8>: Send + Sync + Unpin + UnwindSafe + Debug + Default + From<u8>);
    assert_impl!(RwLock<Cell<u8>>: Send);
    assert_not_impl!(RwLock<Cell<u8>>: Sync);
    assert_impl!(RwLockReadGuard<'_, u8>: Sync + Debug + Display);
    assert_not_impl!(RwLockReadGuard<'_, u8>: DerefMut);
    assert_not_impl!(RwLockReadGuard<'_, u8>: Send);
    assert_impl!(RwLockWriteGuard<'_, u8>: Sync + Debug + Display + DerefMut);
    assert_not_impl!(RwLockWriteGuard<'_, u8>: Send);
    assert_impl!(RwLockUpgradableReadGuard<'_, u8>: Sync + Debug + Display);
    assert_not_impl!(RwLockUpgradableReadGuard<'_, u8>: Send);
    assert_impl!(MappedRwLockReadGuard<'_, u8>: Sync + Debug + Display);
    assert_not_impl!(MappedRwLockReadGuard<'_, u8>: Send);
    assert_impl!(MappedRwLockWriteGuard<'_, u8>: Sync + Debug + Display + DerefMut);
    assert_not_impl!(MappedRwLockWriteGuard<'_, u8>: Send);
    assert_impl!(ArcRwLockReadGuard<RawRwLock, u8>: Sync + Debug + Display);
    assert_not_impl!(ArcRwLockReadGuard<RawRwLock, u8>: Send);
    assert_impl!(ArcRwLockWriteGuard<RawRwLock, u8>: Sync + Debug + Display + DerefMut);
    assert_impl!(ArcRwLockUpgradableReadGuard<RawRwLock, u8>: Sync + Debug + Display);

    assert_impl!(Condvar: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Default);
    assert_impl!(WaitTimeoutResult: Copy + Eq + Debug);
    assert_impl!(Once: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Default);
    assert_impl!(OnceState: Copy + Eq + Debug + Send);
    // The names of the crate and of `lock_api` mean the same types.
    let _: fn(Mutex<V>) -> lock_api::Mutex<RawMutex, V> = |lock| lock;
    let _: fn(ReentrantMutex<V>) -> lock_api::ReentrantMutex<RawMutex, RawThreadId, V> = |lock| lock;
    let _: fn(RwLock<V>) -> lock_api::RwLock<RawRwLock, V> = |lock| lock;
    let _: fn(ArcRead) -> lock_api::ArcRwLockReadGuard<RawRwLock, V> = |guard| guard;
}
