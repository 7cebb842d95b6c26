// `std::sync::RwLock`.

use std::cell::Cell;
use std::fmt::{Debug, Display};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use lib::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use crate::panic_message;

#[test]
fn traits() {
    assert_impl!(RwLock<u8>: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Default + From<u8>);
    assert_impl!(RwLock<Cell<u8>>: Send + UnwindSafe + RefUnwindSafe);
    assert_not_impl!(RwLock<Cell<u8>>: Sync);
    assert_not_impl!(RwLock<Rc<u8>>: Send);
    assert_impl!(RwLockReadGuard<'_, u8>: Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Display);
    assert_not_impl!(RwLockReadGuard<'_, u8>: Send);
    assert_not_impl!(RwLockReadGuard<'_, Cell<u8>>: UnwindSafe);
    assert_not_impl!(RwLockReadGuard<'_, Cell<u8>>: Sync);
    assert_impl!(RwLockWriteGuard<'_, u8>: Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Display);
    assert_not_impl!(RwLockWriteGuard<'_, u8>: Send);
    assert_impl!(RwLockWriteGuard<'_, Cell<u8>>: UnwindSafe);
    fn covariant<'a>(guard: RwLockReadGuard<'a, &'static str>) -> RwLockReadGuard<'a, &'a str> {
        guard
    }
    let lock = RwLock::new("x");
    assert_eq!(*covariant(lock.read().unwrap()), "x");
}

#[test]
fn readers_and_writers() {
    static LOCK: RwLock<u32> = RwLock::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..100).for_each(|_| *LOCK.write().unwrap() += 1));
            scope.spawn(|| (0..100).for_each(|_| assert!(*LOCK.read().unwrap() <= 300)));
        }
    });
    let (one, two) = (LOCK.read().unwrap(), LOCK.try_read().unwrap());
    assert_eq!((*one, *two), (300, 300));
    assert!(matches!(LOCK.try_write(), Err(TryLockError::WouldBlock)));
    drop((one, two));
    let mut writer = LOCK.try_write().unwrap();
    *writer += 1;
    assert!(matches!(LOCK.try_read(), Err(TryLockError::WouldBlock)));
    assert!(matches!(LOCK.try_write(), Err(TryLockError::WouldBlock)));
    let reader = RwLockWriteGuard::downgrade(writer);
    assert_eq!(*LOCK.try_read().unwrap(), *reader);
    assert!(LOCK.try_write().is_err());
    drop(reader);
    assert!(LOCK.try_write().is_ok());
}

#[test]
fn owners_need_no_lock() {
    let mut lock = RwLock::new(String::from("a"));
    lock.get_mut().unwrap().push('b');
    lock.write().unwrap().push('c');
    assert_eq!(lock.into_inner().unwrap(), "abc");
    assert_eq!(RwLock::<u8>::default().into_inner().unwrap(), 0);
    assert_eq!(RwLock::from(4).into_inner().unwrap(), 4);
    let lock: &RwLock<[u8]> = &RwLock::new([1, 2, 3]);
    lock.write().unwrap()[1] = 7;
    assert_eq!(*lock.read().unwrap(), [1, 7, 3]);
}

#[test]
fn writers_poison_and_readers_do_not() {
    let mut lock = RwLock::new(5);
    panic_message(|| {
        let _guard = lock.read();
        panic!("reading");
    });
    assert!(!lock.is_poisoned());
    panic_message(|| {
        let _guard = lock.write();
        panic!("writing");
    });
    assert!(lock.is_poisoned());
    assert_eq!(*lock.read().unwrap_err().into_inner(), 5);
    assert_eq!(**lock.write().unwrap_err().get_ref(), 5);
    assert!(matches!(lock.try_read(), Err(TryLockError::Poisoned(_))));
    assert!(matches!(lock.try_write(), Err(TryLockError::Poisoned(_))));
    assert!(lock.get_mut().is_err());
    assert_eq!(format!("{lock:?}"), "RwLock { data: 5, poisoned: true, .. }");
    lock.clear_poison();
    assert!(lock.read().is_ok());
    panic_message(|| {
        let _guard = lock.write();
        panic!("writing");
    });
    assert!(lock.into_inner().is_err());
}

#[test]
fn debug_output() {
    let lock = RwLock::new(5);
    assert_eq!(format!("{lock:?}"), "RwLock { data: 5, poisoned: false, .. }");
    let reader = lock.read().unwrap();
    assert_eq!(format!("{reader:?} {reader} {lock:?}"), "5 5 RwLock { data: 5, poisoned: false, .. }");
    drop(reader);
    let writer = lock.write().unwrap();
    assert_eq!(format!("{writer:?} {writer} {lock:?}"), "5 5 RwLock { data: <locked>, poisoned: false, .. }");
}
