// `std::sync::Mutex`.

use std::fmt::{Debug, Display};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use lib::sync::{LockResult, Mutex, MutexGuard, PoisonError, TryLockError, TryLockResult};

use crate::panic_message;

#[test]
fn traits() {
    assert_impl!(Mutex<u8>: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Default + From<u8>);
    assert_impl!(Mutex<std::cell::Cell<u8>>: Send + Sync + UnwindSafe + RefUnwindSafe);
    assert_impl!(Mutex<&mut u8>: UnwindSafe + RefUnwindSafe);
    assert_not_impl!(Mutex<Rc<u8>>: Send);
    assert_not_impl!(Mutex<Rc<u8>>: Sync);
    assert_impl!(MutexGuard<'_, u8>: Sync + Unpin + UnwindSafe + Debug + Display);
    assert_not_impl!(MutexGuard<'_, u8>: Send);
    assert_not_impl!(MutexGuard<'_, std::cell::Cell<u8>>: Sync);
}

#[test]
fn lock_and_unlock() {
    static TOTAL: Mutex<u32> = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).for_each(|_| *TOTAL.lock().unwrap() += 1));
        }
    });
    assert_eq!(*TOTAL.lock().unwrap(), 400);
    let held: TryLockResult<MutexGuard<'_, u32>> = TOTAL.try_lock();
    assert!(matches!(TOTAL.try_lock(), Err(TryLockError::WouldBlock)));
    drop(held);
    assert!(TOTAL.try_lock().is_ok());
}

#[test]
fn owners_need_no_lock() {
    let mut mutex = Mutex::new(String::from("a"));
    mutex.get_mut().unwrap().push('b');
    mutex.lock().unwrap().push('c');
    assert_eq!(mutex.into_inner().unwrap(), "abc");
    assert_eq!(Mutex::<u8>::default().into_inner().unwrap(), 0);
    assert_eq!(Mutex::from(4).into_inner().unwrap(), 4);
}

#[test]
fn unsized_values() {
    let mutex: &Mutex<[u8]> = &Mutex::new([1, 2, 3]);
    mutex.lock().unwrap()[1] = 7;
    assert_eq!(*mutex.lock().unwrap(), [1, 7, 3]);
    let mut boxed: Box<Mutex<dyn Debug + Send>> = Box::new(Mutex::new(5));
    assert_eq!(format!("{:?}", boxed.lock().unwrap()), "5");
    assert_eq!(format!("{:?}", boxed.get_mut().unwrap()), "5");
}

#[test]
fn debug_output() {
    let mutex = Mutex::new(5);
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 5, poisoned: false, .. }");
    let guard = mutex.lock().unwrap();
    assert_eq!(format!("{guard:?} {guard}"), "5 5");
    assert_eq!(format!("{mutex:?}"), "Mutex { data: \"<locked>\", poisoned: false, .. }");
    drop(guard);
    poison(&mutex);
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 5, poisoned: true, .. }");
}

fn poison<T>(mutex: &Mutex<T>) {
    panic_message(|| {
        let _guard = mutex.lock();
        panic!("with the lock held");
    });
}

#[test]
fn a_panic_with_the_lock_held_poisons_it() {
    let mut mutex = Mutex::new(1);
    assert!(!mutex.is_poisoned());
    poison(&mutex);
    assert!(mutex.is_poisoned());
    let result: LockResult<MutexGuard<'_, i32>> = mutex.lock();
    let error: PoisonError<MutexGuard<'_, i32>> = result.unwrap_err();
    assert_eq!(**error.get_ref(), 1);
    *error.into_inner() = 2;
    match mutex.try_lock() {
        Err(TryLockError::Poisoned(error)) => assert_eq!(*error.into_inner(), 2),
        _ => panic!("not poisoned"),
    }
    assert_eq!(*mutex.get_mut().unwrap_err().into_inner(), 2);
    mutex.clear_poison();
    assert!(!mutex.is_poisoned());
    assert_eq!(*mutex.lock().unwrap(), 2);
    poison(&mutex);
    assert_eq!(mutex.into_inner().unwrap_err().into_inner(), 2);
}

#[test]
fn a_lock_taken_and_given_back_while_panicking_does_not_poison() {
    struct LocksWhenDropped<'a>(&'a Mutex<i32>);
    impl Drop for LocksWhenDropped<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let mutex = Mutex::new(0);
    panic_message(|| {
        let _locks = LocksWhenDropped(&mutex);
        panic!("elsewhere");
    });
    assert_eq!(*mutex.lock().unwrap(), 1);
}

#[test]
fn a_panic_in_the_drop_of_a_value_under_the_lock_poisons_it() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let mutex = Mutex::new(Some(Panics));
    assert_eq!(panic_message(|| *mutex.lock().unwrap() = None), "dropped");
    assert!(mutex.is_poisoned());
    std::mem::forget(mutex);
}
