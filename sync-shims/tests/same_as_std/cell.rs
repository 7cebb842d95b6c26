// `std::cell`.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};

use lib::cell::{Cell, LazyCell, OnceCell, RefCell, UnsafeCell};

#[test]
fn traits() {
    assert_impl!(UnsafeCell<u8>: Send + Unpin + UnwindSafe + Debug + Default + From<u8>);
    assert_not_impl!(UnsafeCell<u8>: Sync);
    assert_not_impl!(UnsafeCell<u8>: RefUnwindSafe);
    assert_not_impl!(UnsafeCell<std::rc::Rc<u8>>: Send);
}

#[test]
fn access() {
    const CELL: UnsafeCell<u8> = UnsafeCell::new(1);
    let mut cell = CELL;
    // SAFETY: 1. The cell lives, and nobody else has a reference to its value.
    unsafe {
        *cell.get() += 1;
        *UnsafeCell::raw_get(&raw const cell) += 1;
    }
    *cell.get_mut() += 1;
    assert_eq!(format!("{cell:?}"), "UnsafeCell { .. }");
    assert_eq!(cell.into_inner(), 4);
    assert_eq!(UnsafeCell::<u8>::default().into_inner(), 0);
    assert_eq!(UnsafeCell::from(3).into_inner(), 3);
}

#[test]
fn unsized_values() {
    let cell: Box<UnsafeCell<[u8]>> = Box::new(UnsafeCell::new([1, 2, 3]));
    // SAFETY: 1. The cell lives, and nobody else has a reference to its value.
    assert_eq!(unsafe { &*cell.get() }, [1, 2, 3]);
}

#[test]
fn the_value_is_dropped_once() {
    let counted = std::rc::Rc::new(());
    drop(UnsafeCell::new(counted.clone()));
    assert_eq!(std::rc::Rc::strong_count(&counted), 1);
    drop(UnsafeCell::new(counted.clone()).into_inner());
    assert_eq!(std::rc::Rc::strong_count(&counted), 1);
}

#[test]
fn a_value_may_refer_to_what_is_dropped_before_the_cell() {
    let cell;
    let value = 5;
    cell = UnsafeCell::new(&value);
    // SAFETY: 1. Nobody else has a reference to its value.
    assert_eq!(unsafe { **cell.get() }, 5);
}

#[test]
fn the_other_cells() {
    assert_eq!(Cell::new(1).replace(2), 1);
    assert_eq!(*RefCell::new(1).borrow(), 1);
    assert_eq!(*OnceCell::new().get_or_init(|| 1), 1);
    assert_eq!(*LazyCell::new(|| 1), 1);
}
