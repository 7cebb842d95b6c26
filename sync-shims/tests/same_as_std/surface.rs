// The stable items of std's modules, each named once: what does not compile against the shims is missing there. The test
// `std_surface` compares this list with std's documentation.

use std::any::Any;
use std::mem::MaybeUninit;

/// Items of a module.
macro_rules! items {
    ($($module:ident)::+: $($item:ident)*) => {
        {
            #[allow(unused_imports)]
            use lib::$($module)::+::{$($item),*};
        }
    };
}

/// Methods, as values: with that, all their types are known.
macro_rules! methods {
    ($($method:expr),* $(,)?) => {
        $(_ = $method;)*
    };
}

#[test]
#[allow(deprecated)]
fn sync() {
    items!(sync:
        Arc Barrier BarrierWaitResult Condvar LazyLock LockResult Mutex MutexGuard Once OnceLock OnceState
        PoisonError RwLock RwLockReadGuard RwLockWriteGuard TryLockError TryLockResult WaitTimeoutResult Weak atomic
        mpsc
    );
    use lib::sync::{Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, Mutex, Once, OnceLock, OnceState, PoisonError, RwLock, RwLockWriteGuard, WaitTimeoutResult, Weak};
    methods![
        Arc::<u8>::new,
        Arc::<u8>::new_cyclic::<fn(&Weak<u8>) -> u8>,
        Arc::<u8>::new_uninit,
        Arc::<u8>::new_zeroed,
        Arc::<u8>::pin,
        Arc::<u8>::try_unwrap,
        Arc::<u8>::into_inner,
        Arc::<[u8]>::new_uninit_slice,
        Arc::<[u8]>::new_zeroed_slice,
        Arc::<MaybeUninit<u8>>::assume_init,
        Arc::<u8>::from_raw,
        Arc::<u8>::into_raw,
        Arc::<u8>::increment_strong_count,
        Arc::<u8>::decrement_strong_count,
        Arc::<u8>::as_ptr,
        Arc::<u8>::downgrade,
        Arc::<u8>::weak_count,
        Arc::<u8>::strong_count,
        Arc::<u8>::ptr_eq,
        Arc::<u8>::make_mut,
        Arc::<u8>::unwrap_or_clone,
        Arc::<u8>::get_mut,
        Arc::<dyn Any + Send + Sync>::downcast::<u8>,
    ];
    methods![
        Weak::<u8>::new,
        Weak::<u8>::from_raw,
        Weak::<u8>::into_raw,
        Weak::<u8>::as_ptr,
        Weak::<u8>::upgrade,
        Weak::<u8>::strong_count,
        Weak::<u8>::weak_count,
        Weak::<u8>::ptr_eq,
    ];
    methods![
        Barrier::new,
        Barrier::wait,
    ];
    methods![
        BarrierWaitResult::is_leader,
    ];
    methods![
        Condvar::new,
        Condvar::wait::<u8>,
        Condvar::wait_while::<u8, fn(&mut u8) -> bool>,
        Condvar::wait_timeout_ms::<u8>,
        Condvar::wait_timeout::<u8>,
        Condvar::wait_timeout_while::<u8, fn(&mut u8) -> bool>,
        Condvar::notify_one,
        Condvar::notify_all,
    ];
    methods![
        LazyLock::<u8>::new,
        LazyLock::<u8>::force_mut,
        LazyLock::<u8>::force,
        LazyLock::<u8>::get_mut,
        LazyLock::<u8>::get,
    ];
    methods![
        Mutex::<u8>::new,
        Mutex::<u8>::lock,
        Mutex::<u8>::try_lock,
        Mutex::<u8>::is_poisoned,
        Mutex::<u8>::clear_poison,
        Mutex::<u8>::into_inner,
        Mutex::<u8>::get_mut,
    ];
    methods![
        Once::new,
        Once::call_once::<fn()>,
        Once::call_once_force::<fn(&OnceState)>,
        Once::is_completed,
        Once::wait,
        Once::wait_force,
    ];
    methods![
        OnceLock::<u8>::new,
        OnceLock::<u8>::get,
        OnceLock::<u8>::get_mut,
        OnceLock::<u8>::wait,
        OnceLock::<u8>::set,
        OnceLock::<u8>::get_or_init::<fn() -> u8>,
        OnceLock::<u8>::into_inner,
        OnceLock::<u8>::take,
    ];
    methods![
        OnceState::is_poisoned,
    ];
    methods![
        PoisonError::<u8>::new,
        PoisonError::<u8>::into_inner,
        PoisonError::<u8>::get_ref,
        PoisonError::<u8>::get_mut,
    ];
    methods![
        RwLock::<u8>::new,
        RwLock::<u8>::read,
        RwLock::<u8>::try_read,
        RwLock::<u8>::write,
        RwLock::<u8>::try_write,
        RwLock::<u8>::is_poisoned,
        RwLock::<u8>::clear_poison,
        RwLock::<u8>::into_inner,
        RwLock::<u8>::get_mut,
    ];
    methods![
        RwLockWriteGuard::<u8>::downgrade,
    ];
    methods![
        WaitTimeoutResult::timed_out,
    ];
}

#[test]
#[allow(deprecated)]
fn sync_atomic() {
    items!(sync::atomic:
        AtomicBool AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize AtomicPtr AtomicU8 AtomicU16 AtomicU32
        AtomicU64 AtomicUsize Ordering compiler_fence fence
    );
    use lib::sync::atomic::Ordering::Relaxed;
    use lib::sync::atomic::{AtomicBool, AtomicI16, AtomicI32, AtomicI64, AtomicI8, AtomicIsize, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, AtomicU8, AtomicUsize};
    methods![
        AtomicBool::new,
        AtomicBool::get_mut,
        AtomicBool::into_inner,
        AtomicBool::load,
        AtomicBool::store,
        AtomicBool::swap,
        AtomicBool::compare_and_swap,
        AtomicBool::compare_exchange,
        AtomicBool::compare_exchange_weak,
        AtomicBool::fetch_and,
        AtomicBool::fetch_nand,
        AtomicBool::fetch_or,
        AtomicBool::fetch_xor,
        AtomicBool::fetch_not,
        AtomicBool::as_ptr,
        |a| AtomicBool::fetch_update(a, Relaxed, Relaxed, Some),
        |a| AtomicBool::try_update(a, Relaxed, Relaxed, Some),
        |a| AtomicBool::update(a, Relaxed, Relaxed, |v| v),
    ];
    methods![
        AtomicPtr::<u8>::new,
        AtomicPtr::<u8>::get_mut,
        AtomicPtr::<u8>::into_inner,
        AtomicPtr::<u8>::load,
        AtomicPtr::<u8>::store,
        AtomicPtr::<u8>::swap,
        AtomicPtr::<u8>::compare_and_swap,
        AtomicPtr::<u8>::compare_exchange,
        AtomicPtr::<u8>::compare_exchange_weak,
        |a| AtomicPtr::<u8>::fetch_update(a, Relaxed, Relaxed, Some),
        |a| AtomicPtr::<u8>::try_update(a, Relaxed, Relaxed, Some),
        |a| AtomicPtr::<u8>::update(a, Relaxed, Relaxed, |v| v),
        AtomicPtr::<u8>::fetch_ptr_add,
        AtomicPtr::<u8>::fetch_ptr_sub,
        AtomicPtr::<u8>::fetch_byte_add,
        AtomicPtr::<u8>::fetch_byte_sub,
        AtomicPtr::<u8>::fetch_or,
        AtomicPtr::<u8>::fetch_and,
        AtomicPtr::<u8>::fetch_xor,
        AtomicPtr::<u8>::as_ptr,
    ];
    methods![
        AtomicI8::new,
        AtomicI8::get_mut,
        AtomicI8::into_inner,
        AtomicI8::load,
        AtomicI8::store,
        AtomicI8::swap,
        AtomicI8::compare_and_swap,
        AtomicI8::compare_exchange,
        AtomicI8::compare_exchange_weak,
        AtomicI8::fetch_add,
        AtomicI8::fetch_sub,
        AtomicI8::fetch_and,
        AtomicI8::fetch_nand,
        AtomicI8::fetch_or,
        AtomicI8::fetch_xor,
        |a| AtomicI8::fetch_update(a, Relaxed, Relaxed, Some),
        |a| AtomicI8::try_update(a, Relaxed, Relaxed, Some),
        |a| AtomicI8::update(a, Relaxed, Relaxed, |v| v),
        AtomicI8::fetch_max,
        AtomicI8::fetch_min,
        AtomicI8::as_ptr,
    ];
    methods![
        AtomicI16::new,
        AtomicI16::get_mut,
        AtomicI16::into_inner,
        AtomicI16::load,
        AtomicI16::store,
        AtomicI16::swap,
        AtomicI16::compare_and_swap,
        AtomicI16::compare_exchange,
        AtomicI16::compare_exchange_weak,
        AtomicI16::fetch_add,
        AtomicI16::fetch_sub,
        AtomicI16::fetch_and,
        AtomicI16::fetch_nand,
        AtomicI16::fetch_or,
        AtomicI16::fetch_xor,
        |a| AtomicI16::fetch_update(a, Relaxed, Relaxed, Some),
        |a| AtomicI16::try_update(a, Relaxed, Relaxed, Some),
        |a| AtomicI16::update(a, Relaxed, Relaxed, |v| v),
        AtomicI16::fetch_max,
        AtomicI16::fetch_min,
        AtomicI16::as_ptr,
    ];
    methods![
        AtomicI32::new,
        AtomicI32::get_mut,
        AtomicI32::into_inner,
        AtomicI32::load,
        AtomicI32::store,
        AtomicI32::swap,
        AtomicI32::compare_and_swap,
        AtomicI32::compare_exchange,
        AtomicI32::compare_exchange_weak,
        AtomicI32::fetch_add,
        AtomicI32::fetch_sub,
        AtomicI32::fetch_and,
        AtomicI32::fetch_nand,
        AtomicI32::fetch_or,
        AtomicI32::fetch_xor,
        |a| AtomicI32::fetch_update(a, Relaxed, Relaxed, Some),
        |a| AtomicI32::try_update(a, Relaxed, Relaxed, Some),
        |a| AtomicI32::update(a, Relaxed, Relaxed, |v| v),
        AtomicI32::fetch_max,
        AtomicI32::fetch_min,
        AtomicI32::as_ptr,
    ];
    methods![
        AtomicI64::new,
        AtomicI64::get_mut,
        AtomicI64::into_inner,
        AtomicI64::load,
        AtomicI64::store,
        AtomicI64::swap,
        AtomicI64::compare_and_swap,
        AtomicI64::compare_exchange,
        AtomicI64::compare_exchange_weak,
        AtomicI64::fetch_add,
        AtomicI64::fetch_sub,
        AtomicI64::fetch_and,
        AtomicI64::fetch_nand,
        AtomicI64::fetch_or,
        AtomicI64::fetch_xor,
        |a| AtomicI64::fetch_update(a, Relaxed, Relaxed, Some),
        |a| AtomicI64::try_update(a, Relaxed, Relaxed, Some),
        |a| AtomicI64::update(a, Relaxed, Relaxed, |v| v),
        AtomicI64::fetch_max,
        AtomicI64::fetch_min,
        AtomicI64::as_ptr,
    ];
    methods![
        AtomicIsize::new,
        AtomicIsize::get_mut,
        AtomicIsize::into_inner,
        AtomicIsize::load,
        AtomicIsize::store,
        AtomicIsize::swap,
        AtomicIsize::compare_and_swap,
        AtomicIsize::compare_exchange,
        AtomicIsize::compare_exchange_weak,
        AtomicIsize::fetch_add,
        AtomicIsize::fetch_sub,
        AtomicIsize::fetch_and,
        AtomicIsize::fetch_nand,
        AtomicIsize::fetch_or,
        AtomicIsize::fetch_xor,
        |a| AtomicIsize::fetch_update(a, Relaxed, Relaxed, Some),
        |a| AtomicIsize::try_update(a, Relaxed, Relaxed, Some),
        |a| AtomicIsize::update(a, Relaxed, Relaxed, |v| v),
        AtomicIsize::fetch_max,
        AtomicIsize::fetch_min,
        AtomicIsize::as_ptr,
    ];
    methods![
        AtomicU8::new,
        AtomicU8::get_mut,
        AtomicU8::into_inner,
        AtomicU8::load,
        AtomicU8::store,
        AtomicU8::swap,
        AtomicU8::compare_and_swap,
        AtomicU8::compare_exchange,
        AtomicU8::compare_exchange_weak,
        AtomicU8::fetch_add,
        AtomicU8::fetch_sub,
        AtomicU8::fetch_and,
        AtomicU8::fetch_nand,
        AtomicU8::fetch_or,
        AtomicU8::fetch_xor,
        |a| AtomicU8::fetch_update(a, Relaxed, Relaxed, Some),
        |a| AtomicU8::try_update(a, Relaxed, Relaxed, Some),
        |a| AtomicU8::update(a, Relaxed, Relaxed, |v| v),
        AtomicU8::fetch_max,
        AtomicU8::fetch_min,
        AtomicU8::as_ptr,
    ];
    methods![
        AtomicU16::new,
        AtomicU16::get_mut,
        AtomicU16::into_inner,
        AtomicU16::load,
        AtomicU16::store,
        AtomicU16::swap,
        AtomicU16::compare_and_swap,
        AtomicU16::compare_exchange,
        AtomicU16::compare_exchange_weak,
        AtomicU16::fetch_add,
        AtomicU16::fetch_sub,
        AtomicU16::fetch_and,
        AtomicU16::fetch_nand,
        AtomicU16::fetch_or,
        AtomicU16::fetch_xor,
        |a| AtomicU16::fetch_update(a, Relaxed, Relaxed, Some),
        |a| AtomicU16::try_update(a, Relaxed, Relaxed, Some),
        |a| AtomicU16::update(a, Relaxed, Relaxed, |v| v),
        AtomicU16::fetch_max,
        AtomicU16::fetch_min,
        AtomicU16::as_ptr,
    ];
    methods![
        AtomicU32::new,
        AtomicU32::get_mut,
        AtomicU32::into_inner,
        AtomicU32::load,
        AtomicU32::store,
        AtomicU32::swap,
        AtomicU32::compare_and_swap,
        AtomicU32::compare_exchange,
        AtomicU32::compare_exchange_weak,
        AtomicU32::fetch_add,
        AtomicU32::fetch_sub,
        AtomicU32::fetch_and,
        AtomicU32::fetch_nand,
        AtomicU32::fetch_or,
        AtomicU32::fetch_xor,
        |a| AtomicU32::fetch_update(a, Relaxed, Relaxed, Some),
        |a| AtomicU32::try_update(a, Relaxed, Relaxed, Some),
        |a| AtomicU32::update(a, Relaxed, Relaxed, |v| v),
        AtomicU32::fetch_max,
        AtomicU32::fetch_min,
        AtomicU32::as_ptr,
    ];
    methods![
        AtomicU64::new,
        AtomicU64::get_mut,
        AtomicU64::into_inner,
        AtomicU64::load,
        AtomicU64::store,
        AtomicU64::swap,
        AtomicU64::compare_and_swap,
        AtomicU64::compare_exchange,
        AtomicU64::compare_exchange_weak,
        AtomicU64::fetch_add,
        AtomicU64::fetch_sub,
        AtomicU64::fetch_and,
        AtomicU64::fetch_nand,
        AtomicU64::fetch_or,
        AtomicU64::fetch_xor,
        |a| AtomicU64::fetch_update(a, Relaxed, Relaxed, Some),
        |a| AtomicU64::try_update(a, Relaxed, Relaxed, Some),
        |a| AtomicU64::update(a, Relaxed, Relaxed, |v| v),
        AtomicU64::fetch_max,
        AtomicU64::fetch_min,
        AtomicU64::as_ptr,
    ];
    methods![
        AtomicUsize::new,
        AtomicUsize::get_mut,
        AtomicUsize::into_inner,
        AtomicUsize::load,
        AtomicUsize::store,
        AtomicUsize::swap,
        AtomicUsize::compare_and_swap,
        AtomicUsize::compare_exchange,
        AtomicUsize::compare_exchange_weak,
        AtomicUsize::fetch_add,
        AtomicUsize::fetch_sub,
        AtomicUsize::fetch_and,
        AtomicUsize::fetch_nand,
        AtomicUsize::fetch_or,
        AtomicUsize::fetch_xor,
        |a| AtomicUsize::fetch_update(a, Relaxed, Relaxed, Some),
        |a| AtomicUsize::try_update(a, Relaxed, Relaxed, Some),
        |a| AtomicUsize::update(a, Relaxed, Relaxed, |v| v),
        AtomicUsize::fetch_max,
        AtomicUsize::fetch_min,
        AtomicUsize::as_ptr,
    ];
}

#[test]
#[allow(deprecated)]
fn sync_mpsc() {
    items!(sync::mpsc:
        IntoIter Iter Receiver RecvError RecvTimeoutError SendError Sender SyncSender TryIter TryRecvError
        TrySendError channel sync_channel
    );
    use lib::sync::mpsc::{Receiver, Sender, SyncSender};
    methods![
        Sender::<u8>::send,
    ];
    methods![
        SyncSender::<u8>::send,
        SyncSender::<u8>::try_send,
    ];
    methods![
        Receiver::<u8>::try_recv,
        Receiver::<u8>::recv,
        Receiver::<u8>::recv_timeout,
        Receiver::<u8>::iter,
        Receiver::<u8>::try_iter,
    ];
}

#[test]
#[allow(deprecated)]
fn thread() {
    items!(thread:
        AccessError Builder JoinHandle LocalKey Result Scope ScopedJoinHandle Thread ThreadId available_parallelism
        current panicking park park_timeout scope sleep spawn yield_now
    );
    use lib::cell::{Cell, RefCell};
    use lib::thread::{Builder, JoinHandle, LocalKey, Scope, ScopedJoinHandle, Thread};
    methods![
        Builder::new,
        Builder::name,
        Builder::stack_size,
        Builder::spawn::<fn() -> u8, u8>,
        Builder::spawn_unchecked::<fn() -> u8, u8>,
        Builder::spawn_scoped::<fn() -> u8, u8>,
    ];
    methods![
        JoinHandle::<u8>::thread,
        JoinHandle::<u8>::join,
        JoinHandle::<u8>::is_finished,
    ];
    methods![
        LocalKey::<u8>::with::<fn(&u8), ()>,
        LocalKey::<u8>::try_with::<fn(&u8), ()>,
        LocalKey::<Cell<u8>>::set,
        LocalKey::<Cell<u8>>::get,
        LocalKey::<RefCell<u8>>::take,
        LocalKey::<RefCell<u8>>::replace,
        LocalKey::<RefCell<u8>>::with_borrow::<fn(&u8), ()>,
        LocalKey::<RefCell<u8>>::with_borrow_mut::<fn(&mut u8), ()>,
    ];
    methods![
        Scope::spawn::<fn() -> u8, u8>,
    ];
    methods![
        ScopedJoinHandle::<u8>::thread,
        ScopedJoinHandle::<u8>::join,
        ScopedJoinHandle::<u8>::is_finished,
    ];
    methods![
        Thread::unpark,
        Thread::id,
        Thread::name,
    ];
}

#[test]
#[allow(deprecated)]
fn cell() {
    items!(cell:
        BorrowError BorrowMutError Cell LazyCell OnceCell Ref RefCell RefMut UnsafeCell
    );
    use lib::cell::{Cell, LazyCell, OnceCell, Ref, RefCell, RefMut, UnsafeCell};
    methods![
        Cell::<u8>::new,
        Cell::<u8>::set,
        Cell::<u8>::swap,
        Cell::<u8>::replace,
        Cell::<u8>::into_inner,
        Cell::<u8>::get,
        |a| Cell::<u8>::update(a, |v| v),
        Cell::<u8>::as_ptr,
        Cell::<u8>::get_mut,
        Cell::<u8>::from_mut,
        Cell::<u8>::take,
        Cell::<[u8]>::as_slice_of_cells,
        Cell::<[u8; 2]>::as_array_of_cells,
    ];
    methods![
        LazyCell::<u8>::new,
        LazyCell::<u8>::force,
        LazyCell::<u8>::force_mut,
        LazyCell::<u8>::get_mut,
        LazyCell::<u8>::get,
    ];
    methods![
        OnceCell::<u8>::new,
        OnceCell::<u8>::get,
        OnceCell::<u8>::get_mut,
        OnceCell::<u8>::set,
        OnceCell::<u8>::get_or_init::<fn() -> u8>,
        OnceCell::<u8>::into_inner,
        OnceCell::<u8>::take,
    ];
    methods![
        RefCell::<u8>::new,
        RefCell::<u8>::into_inner,
        RefCell::<u8>::replace,
        RefCell::<u8>::replace_with::<fn(&mut u8) -> u8>,
        RefCell::<u8>::swap,
        RefCell::<u8>::borrow,
        RefCell::<u8>::try_borrow,
        RefCell::<u8>::borrow_mut,
        RefCell::<u8>::try_borrow_mut,
        RefCell::<u8>::as_ptr,
        RefCell::<u8>::get_mut,
        RefCell::<u8>::try_borrow_unguarded,
        RefCell::<u8>::take,
    ];
    methods![
        UnsafeCell::<u8>::new,
        UnsafeCell::<u8>::into_inner,
        UnsafeCell::<u8>::get,
        UnsafeCell::<u8>::get_mut,
        UnsafeCell::<u8>::raw_get,
    ];
    methods![
        Ref::<u8>::clone,
        Ref::<u8>::map::<u8, fn(&u8) -> &u8>,
        Ref::<u8>::filter_map::<u8, fn(&u8) -> Option<&u8>>,
        Ref::<u8>::map_split::<u8, u8, fn(&u8) -> (&u8, &u8)>,
    ];
    methods![
        RefMut::<u8>::map::<u8, fn(&mut u8) -> &mut u8>,
        RefMut::<u8>::filter_map::<u8, fn(&mut u8) -> Option<&mut u8>>,
        RefMut::<u8>::map_split::<u8, u8, fn(&mut u8) -> (&mut u8, &mut u8)>,
    ];
}
