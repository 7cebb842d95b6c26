// `std::sync::{Once, OnceLock, LazyLock}`.

use std::cell::Cell;
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use lib::sync::{LazyLock, Once, OnceLock, OnceState};

use crate::panic_message;

#[test]
fn traits() {
    assert_impl!(Once: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug);
    assert_impl!(OnceState: Send + Unpin + UnwindSafe + Debug);
    assert_not_impl!(OnceState: Sync);
    assert_not_impl!(OnceState: RefUnwindSafe);
    assert_impl!(OnceLock<u8>: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Default + Clone + Eq + From<u8>);
    assert_not_impl!(OnceLock<Cell<u8>>: Sync);
    assert_not_impl!(OnceLock<Rc<u8>>: Send);
    assert_impl!(OnceLock<Cell<u8>>: UnwindSafe);
    assert_not_impl!(OnceLock<Cell<u8>>: RefUnwindSafe);
    assert_impl!(LazyLock<u8>: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Default + std::ops::DerefMut);
    assert_not_impl!(LazyLock<Cell<u8>>: Sync);
    assert_not_impl!(LazyLock<u8, Rc<u8>>: Send);
    assert_impl!(LazyLock<u8, Cell<u8>>: Sync);
}

#[test]
fn once_is_once() {
    static ONCE: Once = Once::new();
    let times = AtomicU32::new(0);
    assert!(!ONCE.is_completed());
    assert_eq!(format!("{ONCE:?}"), "Once { .. }");
    std::thread::scope(|scope| {
        scope.spawn(|| ONCE.wait());
        scope.spawn(|| ONCE.wait_force());
        for _ in 0..4 {
            scope.spawn(|| ONCE.call_once(|| _ = times.fetch_add(1, SeqCst)));
        }
    });
    ONCE.call_once_force(|_| unreachable!());
    ONCE.wait();
    assert_eq!((times.into_inner(), ONCE.is_completed()), (1, true));
}

#[test]
fn a_panic_poisons_a_once() {
    let once = Once::new();
    assert_eq!(panic_message(|| once.call_once(|| panic!("in it"))), "in it");
    assert!(!once.is_completed());
    assert_eq!(panic_message(|| once.call_once(|| ())), "Once instance has previously been poisoned");
    assert_eq!(panic_message(|| once.wait()), "Once instance has previously been poisoned");
    assert_eq!(panic_message(|| once.call_once_force(|_| panic!("again"))), "again");
    once.call_once_force(|state| {
        assert!(state.is_poisoned());
        assert_eq!(format!("{state:?}"), "OnceState { poisoned: true }");
    });
    once.call_once(|| unreachable!());
    once.wait_force();
    Once::new().call_once_force(|state| assert!(!state.is_poisoned()));
}

#[test]
fn once_locks() {
    static LOCK: OnceLock<String> = OnceLock::new();
    assert_eq!(LOCK.get(), None);
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(LOCK.wait(), "a"));
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(LOCK.get_or_init(|| String::from("a")), "a"));
        }
    });
    assert_eq!(LOCK.get().unwrap(), "a");
    assert_eq!(LOCK.set("b".into()), Err("b".into()));

    let mut lock = OnceLock::new();
    assert_eq!(format!("{lock:?}"), "OnceLock(<uninit>)");
    assert_eq!(lock.set(1), Ok(()));
    *lock.get_mut().unwrap() += 1;
    assert_eq!(format!("{lock:?}"), "OnceLock(2)");
    assert_eq!(lock.clone(), OnceLock::from(2));
    assert_ne!(lock, OnceLock::default());
    assert_eq!((lock.take(), lock.take(), lock.get_mut()), (Some(2), None, None));
    assert_eq!(*lock.get_or_init(|| 3), 3);
    assert_eq!(lock.into_inner(), Some(3));
}

#[test]
fn a_panic_leaves_a_once_lock_empty() {
    let lock = OnceLock::new();
    assert_eq!(panic_message(|| _ = lock.get_or_init(|| panic!("in it"))), "in it");
    assert_eq!(lock.get(), None);
    assert_eq!(*lock.get_or_init(|| 1), 1);
}

#[test]
fn once_locks_own_their_values() {
    let counted = Rc::new(());
    drop(OnceLock::from(counted.clone()));
    drop(OnceLock::from(counted.clone()).into_inner());
    let lock = OnceLock::new();
    assert!(lock.set(counted.clone()).is_ok() && lock.set(counted.clone()).is_err());
    drop(lock);
    assert_eq!(Rc::strong_count(&counted), 1);
}

#[test]
fn lazy_locks() {
    static TIMES: AtomicU32 = AtomicU32::new(0);
    static LAZY: LazyLock<String> = LazyLock::new(|| {
        TIMES.fetch_add(1, SeqCst);
        std::thread::sleep(Duration::from_millis(1));
        "made".into()
    });
    assert_eq!(LazyLock::get(&LAZY), None);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(*LAZY, "made"));
        }
    });
    assert_eq!((LazyLock::force(&LAZY).as_str(), TIMES.load(SeqCst)), ("made", 1));

    let mut lazy = LazyLock::new(|| 1);
    assert_eq!(format!("{lazy:?}"), "LazyLock(<uninit>)");
    assert_eq!(LazyLock::get_mut(&mut lazy), None);
    *LazyLock::force_mut(&mut lazy) += 1;
    *lazy += 1;
    assert_eq!(LazyLock::get_mut(&mut lazy), Some(&mut 3));
    assert_eq!((*lazy, LazyLock::get(&lazy)), (3, Some(&3)));
    assert_eq!(format!("{lazy:?}"), "LazyLock(3)");
    assert_eq!(*LazyLock::<u8>::default(), 0);
}

#[test]
fn a_panic_poisons_a_lazy_lock() {
    let poisoned = "LazyLock instance has previously been poisoned";
    let mut lazy: LazyLock<u8> = LazyLock::new(|| panic!("in it"));
    assert_eq!(panic_message(|| *lazy), "in it");
    assert_eq!(panic_message(|| *lazy), poisoned);
    assert_eq!(LazyLock::get(&lazy), None);
    assert_eq!(panic_message(|| LazyLock::force_mut(&mut lazy).wrapping_add(1)), poisoned);
    let mut lazy: LazyLock<u8> = LazyLock::new(|| panic!("in it"));
    assert_eq!(panic_message(|| LazyLock::force_mut(&mut lazy).wrapping_add(1)), "in it");
    assert_eq!(panic_message(|| LazyLock::force_mut(&mut lazy).wrapping_add(1)), poisoned);
}

#[test]
fn lazy_locks_own_their_values_and_closures() {
    let counted = Rc::new(());
    let make = |counted: Rc<()>| LazyLock::new(move || counted);
    drop(make(counted.clone()));
    let lazy = make(counted.clone());
    assert_eq!(Rc::strong_count(&lazy), 2);
    drop(lazy);
    let held = counted.clone();
    let panics: LazyLock<(), _> = LazyLock::new(move || {
        let _held = held;
        panic!("in it")
    });
    panic_message(|| *panics);
    drop(panics);
    assert_eq!(Rc::strong_count(&counted), 1);
}
