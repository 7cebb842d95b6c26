// `std::thread_local!`.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use lib::thread::{AccessError, LocalKey};

use crate::panic_message;

lib::thread_local! {
    /// A documented one.
    static LAZY: RefCell<Vec<u32>> = RefCell::new(vec![1]);
    pub(crate) static CONST: Cell<u32> = const { Cell::new(7) };
    #[allow(dead_code)]
    static LAST: Rc<u8> = Rc::new(1)
}

lib::thread_local!(static ALONE: u32 = 5);
lib::thread_local!(
    pub static CONST_ALONE: u32 = const { 2 + 3 };
);
lib::thread_local! {}

#[test]
fn traits() {
    assert_impl!(LocalKey<Rc<u8>>: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug);
    assert_impl!(AccessError: Copy + Eq + Debug + std::fmt::Display + std::error::Error + Send + Sync);
    assert_eq!(format!("{LAST:?}"), "LocalKey { .. }");
}

#[test]
fn every_thread_has_its_own() {
    LAZY.with(|v| v.borrow_mut().push(2));
    assert_eq!(LAZY.with_borrow(|v| v.clone()), [1, 2]);
    CONST.set(8);
    std::thread::spawn(|| {
        assert_eq!(LAZY.with_borrow(Vec::len), 1);
        assert_eq!(CONST.get(), 7);
    })
    .join()
    .unwrap();
    assert_eq!((CONST.get(), CONST.replace(9), CONST.take(), CONST.get()), (8, 8, 9, 0));
    assert_eq!(ALONE.with(|v| *v) + CONST_ALONE.with(|v| *v), 10);
    assert_eq!(ALONE.try_with(|v| *v), Ok(5));
}

#[test]
fn cells_have_shortcuts() {
    LAZY.set(vec![5]);
    LAZY.with_borrow_mut(|v| v.push(6));
    assert_eq!(LAZY.replace(vec![7]), [5, 6]);
    assert_eq!(LAZY.take(), [7]);
    assert!(LAZY.with_borrow(Vec::is_empty));
}

#[test]
fn set_does_not_run_the_initialiser() {
    lib::thread_local!(static NEVER: Cell<u32> = panic!("initialised"));
    NEVER.set(3);
    assert_eq!(NEVER.get(), 3);
}

#[test]
fn a_panic_in_the_initialiser_leaves_no_value() {
    lib::thread_local! {
        static FIRST: Cell<bool> = const { Cell::new(true) };
        static VALUE: u32 = if FIRST.replace(false) { panic!("first") } else { 2 };
    }
    assert_eq!(panic_message(|| VALUE.with(|_| ())), "first");
    assert_eq!(VALUE.with(|v| *v), 2);
}

#[test]
fn values_that_are_gone() {
    struct UsesItself;
    impl Drop for UsesItself {
        fn drop(&mut self) {
            let error = GOING.try_with(|_| ()).unwrap_err();
            assert_eq!(format!("{error:?} {error}"), "AccessError already destroyed");
            let message = panic_message(|| GOING.with(|_| ()));
            assert_eq!(message, "cannot access a Thread Local Storage value during or after destruction: AccessError");
        }
    }
    lib::thread_local!(static GOING: UsesItself = const { UsesItself });
    std::thread::spawn(|| GOING.with(|_| ())).join().unwrap();
}
