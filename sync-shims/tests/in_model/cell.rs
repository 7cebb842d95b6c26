use sync_shims::model::atomic::{Ordering, fence};
use sync_shims::model::cell::UnsafeCell;

use crate::controller::Fake;

#[test]
fn accesses_say_what_they_are() {
    let model = Fake::new();
    model.run(|| {
        let mut cell = UnsafeCell::new(1);
        // SAFETY: 1. There is one thread.
        cell.with(|p| assert_eq!(unsafe { *p }, 1));
        // SAFETY: 1. There is one thread.
        cell.with_mut(|p| unsafe { *p = 2 });
        *cell.get_mut() = 3;
        assert_eq!(cell.into_inner(), 3);
        drop(UnsafeCell::new(1));
    });
    assert_eq!(
        model.log(),
        [
            "t0 Read with of 0",
            "t0 Write with_mut of 0",
            "t0 Write get_mut of 0",
            "t0 Write into_inner of 0",
            "t0 Write drop of 1",
        ]
    );
}

#[test]
#[cfg_attr(miri, ignore = "get is a read under Miri")]
fn a_pointer_is_judged_by_what_has_changed() {
    let model = Fake::new();
    model.run(|| {
        let cells = [const { UnsafeCell::new(1u64) }; 3];
        let [read, written, both] = cells.each_ref().map(UnsafeCell::get);
        // SAFETY: 1. There is one thread, and the cells are alive.
        unsafe {
            *written = *read + 1;
            *both += *written;
        }
        fence(Ordering::SeqCst);
        assert_eq!(model.log()[3..], ["t0 Write get of 2", "t0 Write get of 1", "t0 atomic::fence"]);
        // What is written later than the next operation is missed.
        // SAFETY: 1. As above.
        unsafe { *read = 5 };
        fence(Ordering::SeqCst);
        assert_eq!(model.log(), ["t0 atomic::fence"]);
        std::mem::forget(cells);
    });
}

#[test]
#[cfg_attr(miri, ignore = "get is a read under Miri")]
fn large_values_are_compared_too() {
    let model = Fake::new();
    model.run(|| {
        let cell = UnsafeCell::new([0u8; 1000]);
        // SAFETY: 1. There is one thread, and the cell is alive.
        unsafe { (*cell.get())[999] = 1 };
        drop(cell);
    });
    assert_eq!(model.log(), ["t0 Read get of 0", "t0 Write get of 0", "t0 Write drop of 0"]);
}

#[test]
#[cfg_attr(miri, ignore = "get is a read under Miri")]
fn the_end_of_a_thread_settles() {
    let model = Fake::new();
    static CELL: Shared = Shared(UnsafeCell::new(1));
    struct Shared(UnsafeCell<u32>);
    // SAFETY: 1. One thread at a time uses it.
    unsafe impl Sync for Shared {}
    model.run(|| {
        // SAFETY: 1. As above.
        sync_shims::model::thread::spawn(|| unsafe { *CELL.0.get() += 1 }).join().unwrap();
    });
    assert_eq!(model.log()[1..3], ["t1 Read get of 0", "t1 Write get of 0"]);
}

#[test]
#[cfg_attr(miri, ignore = "get is a read under Miri")]
fn a_second_look_at_the_same_cell_settles_the_first() {
    let model = Fake::new();
    model.run(|| {
        let cell = UnsafeCell::new(1);
        for _ in 0..2 {
            // SAFETY: 1. There is one thread, and the cell is alive.
            unsafe { *cell.get() += 1 };
        }
        assert_eq!(model.log(), ["t0 Read get of 0", "t0 Read get of 0", "t0 Write get of 0"]);
        let moved = cell;
        fence(Ordering::SeqCst);
        assert_eq!(model.log(), ["t0 Write get of 0", "t0 atomic::fence"]);
        assert_eq!(moved.into_inner(), 3);
    });
}
