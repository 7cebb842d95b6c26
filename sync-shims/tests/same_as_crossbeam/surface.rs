// Every public item of `crossbeam-channel` 0.5 and `crossbeam-utils` 0.8 that must exist, with its signature. What is missing
// on purpose: the extension traits of the platform on `ScopedJoinHandle`, and that `AtomicCell::{into_inner, as_ptr}` are `const`.

use std::fmt::{Debug, Display};
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, TryLockResult};
use time::{Duration, Instant};

use lib::atomic::{AtomicCell, AtomicConsume};
use lib::channel::*;
use lib::sync::{Parker, ShardedLock, ShardedLockReadGuard, ShardedLockWriteGuard, Unparker, WaitGroup};
use lib::thread::{Scope, ScopedJoinHandle, ScopedThreadBuilder};
use lib::utils::{Backoff, CachePadded};

type Set<T> = (Sender<T>, Receiver<T>);

#[test]
fn channels() {
    let _: fn() -> Set<u8> = unbounded;
    let _: fn(usize) -> Set<u8> = bounded;
    let _: (fn(Duration) -> Receiver<Instant>, fn(Duration) -> Receiver<Instant>) = (after, tick);
    let _: fn(Instant) -> Receiver<Instant> = at;
    const _: fn() -> Receiver<u8> = never;
    let _: fn(&Sender<u8>, u8) -> Result<(), TrySendError<u8>> = Sender::try_send;
    let _: fn(&Sender<u8>, u8) -> Result<(), SendError<u8>> = Sender::send;
    let _: fn(&Sender<u8>, u8, Duration) -> Result<(), SendTimeoutError<u8>> = Sender::send_timeout;
    let _: fn(&Sender<u8>, u8, Instant) -> Result<(), SendTimeoutError<u8>> = Sender::send_deadline;
    let _: [fn(&Sender<u8>) -> bool; 2] = [Sender::is_empty, Sender::is_full];
    let _: (fn(&Sender<u8>) -> usize, fn(&Sender<u8>) -> Option<usize>) = (Sender::len, Sender::capacity);
    let _: fn(&Sender<u8>, &Sender<u8>) -> bool = Sender::same_channel;
    let _: fn(&Receiver<u8>) -> Result<u8, TryRecvError> = Receiver::try_recv;
    let _: fn(&Receiver<u8>) -> Result<u8, RecvError> = Receiver::recv;
    let _: fn(&Receiver<u8>, Duration) -> Result<u8, RecvTimeoutError> = Receiver::recv_timeout;
    let _: fn(&Receiver<u8>, Instant) -> Result<u8, RecvTimeoutError> = Receiver::recv_deadline;
    let _: [fn(&Receiver<u8>) -> bool; 2] = [Receiver::is_empty, Receiver::is_full];
    let _: (fn(&Receiver<u8>) -> usize, fn(&Receiver<u8>) -> Option<usize>) = (Receiver::len, Receiver::capacity);
    let _: fn(&Receiver<u8>) -> Iter<'_, u8> = Receiver::iter;
    let _: fn(&Receiver<u8>) -> TryIter<'_, u8> = Receiver::try_iter;
    let _: fn(&Receiver<u8>, &Receiver<u8>) -> bool = Receiver::same_channel;
}

#[test]
fn selections() {
    fn operations<'a>() {
        let _: [fn() -> Select<'a>; 2] = [Select::new, Select::new_biased];
        let _: fn(&mut Select<'a>, &'a Sender<u8>) -> usize = Select::send;
        let _: fn(&mut Select<'a>, &'a Receiver<u8>) -> usize = Select::recv;
        let _: fn(&mut Select<'a>, usize) = Select::remove;
        let _: fn(&mut Select<'a>) -> Result<SelectedOperation<'a>, TrySelectError> = Select::try_select;
        let _: fn(&mut Select<'a>) -> SelectedOperation<'a> = Select::select;
        type Timed<'a> = Result<SelectedOperation<'a>, SelectTimeoutError>;
        let _: fn(&mut Select<'a>, Duration) -> Timed<'a> = Select::select_timeout;
        let _: fn(&mut Select<'a>, Instant) -> Timed<'a> = Select::select_deadline;
        let _: fn(&mut Select<'a>) -> Result<usize, TryReadyError> = Select::try_ready;
        let _: fn(&mut Select<'a>) -> usize = Select::ready;
        let _: fn(&mut Select<'a>, Duration) -> Result<usize, ReadyTimeoutError> = Select::ready_timeout;
        let _: fn(&mut Select<'a>, Instant) -> Result<usize, ReadyTimeoutError> = Select::ready_deadline;
        let _: fn(&SelectedOperation<'a>) -> usize = SelectedOperation::index;
        let _: fn(SelectedOperation<'a>, &Sender<u8>, u8) -> Result<(), SendError<u8>> = SelectedOperation::send;
        let _: fn(SelectedOperation<'a>, &Receiver<u8>) -> Result<u8, RecvError> = SelectedOperation::recv;
    }
    operations();
    lib::select! { default => {} }
    lib::channel::select! { default => {} }
    lib::channel::select_biased! { default => {} }
}

#[test]
fn synchronisation() {
    let _: (fn() -> Parker, fn() -> Parker, fn(&Parker)) = (Parker::new, Parker::default, Parker::park);
    let _: (fn(&Parker, Duration), fn(&Parker, Instant)) = (Parker::park_timeout, Parker::park_deadline);
    let _: (fn(&Parker) -> &Unparker, fn(Parker) -> *const ()) = (Parker::unparker, Parker::into_raw);
    let _: unsafe fn(*const ()) -> Parker = Parker::from_raw;
    let _: (fn(&Unparker), fn(Unparker) -> *const ()) = (Unparker::unpark, Unparker::into_raw);
    let _: (unsafe fn(*const ()) -> Unparker, fn(&Unparker) -> Unparker) = (Unparker::from_raw, Unparker::clone);
    let _: (fn() -> WaitGroup, fn(WaitGroup)) = (WaitGroup::new, WaitGroup::wait);
    assert_impl!(Parker: Send + Debug);
    assert_not_impl!(Parker: Sync);
    assert_impl!(Unparker: Send + Sync + Debug);
    assert_impl!(WaitGroup: Send + Sync + Clone + Default + Debug);
    let _: fn(u8) -> ShardedLock<u8> = ShardedLock::new;
    let _: fn(ShardedLock<u8>) -> LockResult<u8> = ShardedLock::into_inner;
    let _: fn(&ShardedLock<u8>) -> bool = ShardedLock::is_poisoned;
    let _: fn(&mut ShardedLock<u8>) -> LockResult<&mut u8> = ShardedLock::get_mut;
    let _: fn(&ShardedLock<u8>) -> TryLockResult<ShardedLockReadGuard<'_, u8>> = ShardedLock::try_read;
    let _: fn(&ShardedLock<u8>) -> LockResult<ShardedLockReadGuard<'_, u8>> = ShardedLock::read;
    let _: fn(&ShardedLock<u8>) -> TryLockResult<ShardedLockWriteGuard<'_, u8>> = ShardedLock::try_write;
    let _: fn(&ShardedLock<u8>) -> LockResult<ShardedLockWriteGuard<'_, u8>> = ShardedLock::write;
    assert_impl!(ShardedLock<u8>: Send + Sync + Debug + Default + From<u8>);
    assert_impl!(ShardedLockReadGuard<'_, u8>: Sync + Deref<Target = u8> + Debug + Display);
    assert_impl!(ShardedLockWriteGuard<'_, u8>: Sync + DerefMut<Target = u8> + Debug + Display);
}

#[test]
fn threads() {
    fn scoped<'env>() {
        type Result<T> = std::thread::Result<T>;
        let _: fn(fn(&Scope<'env>) -> u8) -> Result<u8> = lib::scope;
        let _: fn(fn(&Scope<'env>) -> u8) -> Result<u8> = lib::thread::scope;
        let _: for<'s> fn(&'s Scope<'env>, fn(&Scope<'env>) -> u8) -> ScopedJoinHandle<'s, u8> = Scope::spawn;
        let _: for<'s> fn(&'s Scope<'env>) -> ScopedThreadBuilder<'s, 'env> = Scope::builder;
        let _: fn(ScopedJoinHandle<'env, u8>) -> Result<u8> = ScopedJoinHandle::join;
    }
    scoped();
    assert_impl!(Scope<'_>: Sync + Debug);
    assert_impl!(ScopedThreadBuilder<'_, '_>: Debug);
    assert_impl!(ScopedJoinHandle<'_, u8>: Send + Sync + Debug);
}

#[test]
fn the_rest() {
    let _: (fn() -> Backoff, fn(&Backoff), fn(&Backoff)) = (Backoff::new, Backoff::reset, Backoff::spin);
    let _: (fn(&Backoff), fn(&Backoff) -> bool) = (Backoff::snooze, Backoff::is_completed);
    assert_impl!(Backoff: Send + Debug + Default);
    const _: CachePadded<u8> = CachePadded::new(1);
    const _: bool = AtomicCell::<u64>::is_lock_free();
    const _: fn(u8) -> AtomicCell<u8> = AtomicCell::new;
    let _: (fn(AtomicCell<u8>) -> u8, fn(&AtomicCell<u8>) -> *mut u8) = (AtomicCell::into_inner, AtomicCell::as_ptr);
    let _: (fn(&AtomicCell<u8>, u8), fn(&AtomicCell<u8>, u8) -> u8) = (AtomicCell::store, AtomicCell::swap);
    let _: [fn(&AtomicCell<u8>) -> u8; 2] = [AtomicCell::take, AtomicCell::load];
    let _: fn(&AtomicCell<u8>, u8, u8) -> Result<u8, u8> = AtomicCell::compare_exchange;
    let _: fn(&AtomicCell<u8>, fn(u8) -> Option<u8>) -> Result<u8, u8> = AtomicCell::fetch_update;
    macro_rules! arithmetic {
        ($($t:ty)*) => {$(
            let _: [fn(&AtomicCell<$t>, $t) -> $t; 8] = [
                AtomicCell::<$t>::fetch_add, AtomicCell::<$t>::fetch_sub, AtomicCell::<$t>::fetch_and,
                AtomicCell::<$t>::fetch_nand, AtomicCell::<$t>::fetch_or, AtomicCell::<$t>::fetch_xor,
                AtomicCell::<$t>::fetch_max, AtomicCell::<$t>::fetch_min,
            ];
        )*};
    }
    arithmetic!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);
    let _: [fn(&AtomicCell<bool>, bool) -> bool; 4] = [
        AtomicCell::<bool>::fetch_and,
        AtomicCell::<bool>::fetch_nand,
        AtomicCell::<bool>::fetch_or,
        AtomicCell::<bool>::fetch_xor,
    ];
    assert_impl!(AtomicCell<std::cell::Cell<u8>>: Send + Sync + std::panic::RefUnwindSafe + Default + From<std::cell::Cell<u8>>);
    assert_impl!(AtomicCell<u8>: Debug);
    assert_impl!(std::sync::atomic::AtomicU8: AtomicConsume<Val = u8>);
}
