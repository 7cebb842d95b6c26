// `std::sync::atomic`.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};

use lib::sync::atomic::*;

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use crate::panic_message;

macro_rules! integer {
    ($test:ident, $atomic:ident, $t:ident) => {
        #[test]
        #[allow(deprecated)]
        fn $test() {
            assert_impl!($atomic: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Default + From<$t>);
            static COUNTER: $atomic = $atomic::new(7);
            assert_eq!(COUNTER.load(Relaxed), 7);

            const MIN: $t = $t::MIN;
            const MAX: $t = $t::MAX;
            let mut a = $atomic::new(MAX);
            assert_eq!(a.fetch_add(1, AcqRel), MAX);
            assert_eq!(a.load(SeqCst), MIN);
            assert_eq!(a.fetch_sub(1, Relaxed), MIN);
            assert_eq!(a.swap(5, Acquire), MAX);
            a.store(12, Release);
            assert_eq!(a.fetch_and(10, SeqCst), 12);
            assert_eq!(a.fetch_or(3, SeqCst), 8);
            assert_eq!(a.fetch_xor(1, SeqCst), 11);
            assert_eq!(a.fetch_nand(6, SeqCst), 10);
            assert_eq!(a.load(Relaxed), !(10 & 6));
            a.store(9, SeqCst);
            assert_eq!(a.fetch_max(100, SeqCst), 9);
            assert_eq!(a.fetch_max(50, SeqCst), 100);
            assert_eq!(a.fetch_min(MIN, SeqCst), 100);
            assert_eq!(a.fetch_min(0, SeqCst), MIN);
            assert_eq!(a.load(SeqCst), MIN);

            a.store(1, SeqCst);
            assert_eq!(a.compare_exchange(2, 3, SeqCst, Relaxed), Err(1));
            assert_eq!(a.compare_exchange(1, 3, AcqRel, Acquire), Ok(1));
            assert_eq!(a.compare_exchange_weak(1, 4, SeqCst, SeqCst), Err(3));
            while a.compare_exchange_weak(3, 4, SeqCst, SeqCst).is_err() {}
            assert_eq!(a.compare_and_swap(4, 5, AcqRel), 4);
            assert_eq!(a.compare_and_swap(4, 6, Release), 5);
            assert_eq!(a.fetch_update(SeqCst, SeqCst, |v| v.checked_add(1)), Ok(5));
            assert_eq!(a.fetch_update(SeqCst, SeqCst, |_| None), Err(6));
            assert_eq!(a.try_update(SeqCst, SeqCst, |v| (v == 6).then_some(7)), Ok(6));
            assert_eq!(a.update(SeqCst, SeqCst, |v| v * 2), 7);
            // SAFETY: 1. The atomic lives, and nobody else uses it.
            assert_eq!(unsafe { *a.as_ptr() }, 14);
            *a.get_mut() += 1;
            assert_eq!(format!("{a:?} {a:#?}"), "15 15");
            assert_eq!(a.into_inner(), 15);
            assert_eq!($atomic::default().into_inner(), 0);
            assert_eq!($atomic::from(3).into_inner(), 3);
            assert_eq!(format!("{:04x?}", $atomic::new(10)), "000a");
        }
    };
}

integer!(i8_, AtomicI8, i8);
integer!(i16_, AtomicI16, i16);
integer!(i32_, AtomicI32, i32);
integer!(i64_, AtomicI64, i64);
integer!(isize_, AtomicIsize, isize);
integer!(u8_, AtomicU8, u8);
integer!(u16_, AtomicU16, u16);
integer!(u32_, AtomicU32, u32);
integer!(u64_, AtomicU64, u64);
integer!(usize_, AtomicUsize, usize);

#[test]
#[allow(deprecated)]
fn bool_() {
    assert_impl!(AtomicBool: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Default + From<bool>);
    static FLAG: AtomicBool = AtomicBool::new(true);
    assert!(FLAG.load(Relaxed));
    for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
        let a = AtomicBool::new(x);
        assert_eq!(a.fetch_and(y, SeqCst), x);
        assert_eq!(a.swap(x, SeqCst), x & y);
        assert_eq!(a.fetch_or(y, SeqCst), x);
        assert_eq!(a.swap(x, SeqCst), x | y);
        assert_eq!(a.fetch_xor(y, SeqCst), x);
        assert_eq!(a.swap(x, SeqCst), x ^ y);
        assert_eq!(a.fetch_nand(y, SeqCst), x);
        assert_eq!(a.swap(x, SeqCst), !(x & y));
        assert_eq!(a.fetch_not(SeqCst), x);
        assert_eq!(a.into_inner(), !x);
    }
    let mut a = AtomicBool::new(false);
    assert_eq!(a.compare_exchange(true, true, SeqCst, Relaxed), Err(false));
    assert_eq!(a.compare_exchange(false, true, SeqCst, Relaxed), Ok(false));
    assert_eq!(a.compare_exchange_weak(false, true, SeqCst, Relaxed), Err(true));
    assert!(a.compare_and_swap(true, false, SeqCst));
    assert_eq!(a.fetch_update(SeqCst, SeqCst, |v| Some(!v)), Ok(false));
    assert_eq!(a.try_update(SeqCst, SeqCst, |_| None), Err(true));
    assert!(a.update(SeqCst, SeqCst, |v| !v));
    *a.get_mut() = true;
    // SAFETY: 1. The atomic lives, and nobody else uses it.
    assert!(unsafe { *a.as_ptr() });
    assert_eq!(format!("{a:?}"), "true");
    assert!(!AtomicBool::default().into_inner());
    assert!(AtomicBool::from(true).into_inner());
}

#[test]
#[allow(deprecated)]
fn pointer() {
    assert_impl!(AtomicPtr<std::cell::Cell<u8>>: Send + Sync + Unpin + RefUnwindSafe + Debug + std::fmt::Pointer + Default);
    assert_impl!(AtomicPtr<u8>: UnwindSafe + From<*mut u8>);
    static NULL: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    assert!(NULL.load(Relaxed).is_null());
    let mut values = [1u32, 2, 3, 4];
    let first = values.as_mut_ptr();
    // SAFETY: 1. In bounds.
    let second = unsafe { first.add(1) };
    let mut a = AtomicPtr::new(first);
    assert_eq!(a.swap(second, SeqCst), first);
    assert_eq!(a.compare_exchange(first, second, SeqCst, Relaxed), Err(second));
    assert_eq!(a.compare_exchange(second, first, SeqCst, Relaxed), Ok(second));
    assert_eq!(a.compare_exchange_weak(second, first, SeqCst, Relaxed), Err(first));
    assert_eq!(a.compare_and_swap(first, second, SeqCst), first);
    a.store(first, Release);
    assert_eq!(a.fetch_ptr_add(3, SeqCst), first);
    assert_eq!(a.fetch_ptr_sub(2, SeqCst), first.wrapping_add(3));
    assert_eq!(a.fetch_byte_add(4, SeqCst), second);
    assert_eq!(a.fetch_byte_sub(8, SeqCst), second.wrapping_add(1));
    assert_eq!(a.fetch_or(1, SeqCst), first);
    assert_eq!(a.fetch_xor(2, SeqCst).addr(), first.addr() | 1);
    assert_eq!(a.fetch_and(!3, SeqCst).addr(), first.addr() | 3);
    assert_eq!(a.fetch_update(SeqCst, SeqCst, |p| Some(p.wrapping_add(1))), Ok(first));
    assert_eq!(a.try_update(SeqCst, SeqCst, |_| None), Err(second));
    assert_eq!(a.update(SeqCst, SeqCst, |_| first), second);
    assert_eq!(format!("{a:?} {a:p}"), format!("{first:?} {first:p}"));
    // SAFETY: 1. The pointers are those of `values`, and nobody else uses the atomic.
    assert_eq!(unsafe { **a.as_ptr() }, 1);
    *a.get_mut() = second;
    // SAFETY: 1. The pointer is in bounds.
    assert_eq!(unsafe { *a.into_inner() }, 2);
    assert!(AtomicPtr::<u8>::default().into_inner().is_null());
    assert_eq!(AtomicPtr::from(first).into_inner(), first);
}

#[test]
#[allow(invalid_atomic_ordering)]
fn orderings_that_mean_nothing_panic() {
    let a = AtomicU8::new(0);
    assert_eq!(panic_message(|| a.load(Release)), "there is no such thing as a release load");
    assert_eq!(panic_message(|| a.load(AcqRel)), "there is no such thing as an acquire-release load");
    assert_eq!(panic_message(|| a.store(1, Acquire)), "there is no such thing as an acquire store");
    assert_eq!(panic_message(|| a.store(1, AcqRel)), "there is no such thing as an acquire-release store");
    let exchange = |failure| a.compare_exchange(0, 1, SeqCst, failure);
    assert_eq!(panic_message(|| exchange(Release)), "there is no such thing as a release failure ordering");
    assert_eq!(panic_message(|| exchange(AcqRel)), "there is no such thing as an acquire-release failure ordering");
    let exchange = |failure| a.compare_exchange_weak(0, 1, SeqCst, failure);
    assert_eq!(panic_message(|| exchange(Release)), "there is no such thing as a release failure ordering");
    assert_eq!(panic_message(|| exchange(AcqRel)), "there is no such thing as an acquire-release failure ordering");
    assert_eq!(panic_message(|| fence(Relaxed)), "there is no such thing as a relaxed fence");
    assert_eq!(panic_message(|| compiler_fence(Relaxed)), "there is no such thing as a relaxed fence");
    assert_eq!(a.into_inner(), 0);
}

#[test]
fn fences() {
    for order in [Acquire, Release, AcqRel, SeqCst] {
        fence(order);
        compiler_fence(order);
    }
}

#[test]
fn a_panic_in_an_update_leaves_the_value() {
    let a = AtomicU8::new(3);
    assert_eq!(panic_message(|| a.try_update(SeqCst, SeqCst, |_| panic!("no"))), "no");
    assert_eq!(panic_message(|| a.update(SeqCst, SeqCst, |_| panic!("no"))), "no");
    assert_eq!(a.into_inner(), 3);
}

#[test]
fn zeroed_memory_is_an_atomic() {
    // SAFETY: 1. An atomic integer may be all zeros.
    let a: AtomicUsize = unsafe { std::mem::zeroed() };
    assert_eq!(a.fetch_add(1, SeqCst), 0);
    assert_eq!(a.into_inner(), 1);
}

#[test]
fn increments_are_not_lost() {
    let counter = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).for_each(|_| _ = counter.fetch_add(1, Relaxed)));
        }
    });
    assert_eq!(counter.into_inner(), 400);
}
