use interleave::cell::UnsafeCell;
use interleave::sync::atomic::{AtomicBool, Ordering};
use interleave::sync::{Arc, Mutex};
use interleave::{Kind, thread};

use crate::{executions, failure};

struct Shared {
    cell: UnsafeCell<u64>,
    ready: AtomicBool,
    lock: Mutex<()>,
}

// SAFETY: 1. None, if the program is wrong: that is what the tests are about.
unsafe impl Sync for Shared {}

fn shared() -> Arc<Shared> {
    Arc::new(Shared { cell: UnsafeCell::new(0), ready: AtomicBool::new(false), lock: Mutex::new(()) })
}

/// One thread writes and says so, the other reads when it has been told.
fn message_passing(store: Ordering, load: Ordering) -> impl Fn() + Send + Sync {
    move || {
        let a = shared();
        let b = a.clone();
        thread::spawn(move || {
            // SAFETY: 1. The reader waits, if the orderings are right.
            unsafe { *b.cell.get() = 1 };
            b.ready.store(true, store);
        });
        if a.ready.load(load) {
            // SAFETY: 1. As above.
            assert_eq!(unsafe { *a.cell.get() }, 1);
        }
    }
}

#[test]
fn pointers_that_are_given_out_are_watched() {
    use Ordering::{Acquire, Relaxed, Release};
    assert_eq!(executions(message_passing(Release, Acquire)), 2);
    assert_eq!(failure(message_passing(Relaxed, Acquire)), Kind::DataRace);
    assert_eq!(failure(message_passing(Release, Relaxed)), Kind::DataRace);
}

#[test]
fn reads_do_not_race() {
    assert_eq!(
        executions(|| {
            let a = shared();
            let b = a.clone();
            // SAFETY: 1. Nobody writes.
            let t = thread::spawn(move || unsafe { *b.cell.get() });
            // SAFETY: 1. Nobody writes.
            assert_eq!(unsafe { *a.cell.get() }, 0);
            t.join().unwrap();
        }),
        1
    );
}

#[test]
fn writes_race_unless_they_are_locked() {
    let body = |locked: bool| {
        move || {
            let a = shared();
            let add = move |a: Arc<Shared>| {
                let _guard = locked.then(|| a.lock.lock().unwrap());
                // SAFETY: 1. The lock is held, if the program is right.
                a.cell.with_mut(|p| unsafe { *p += 1 });
            };
            let b = a.clone();
            let t = thread::spawn(move || add(b));
            add(a.clone());
            t.join().unwrap();
            // SAFETY: 1. The other thread has ended.
            a.cell.with(|p| assert_eq!(unsafe { *p }, 2));
        }
    };
    assert_eq!(executions(body(true)), 2);
    assert_eq!(failure(body(false)), Kind::DataRace);
}

/// The value is freed while the other thread may still look at it.
#[test]
fn the_end_of_a_cell_is_a_write() {
    struct Pointer(*const UnsafeCell<u64>);
    // SAFETY: 1. None: the program is wrong.
    unsafe impl Send for Pointer {}
    let kind = failure(|| {
        // The memory stays, so that the other thread finds the cell.
        let cell = Box::leak(Box::new(UnsafeCell::new(1)));
        let pointer = Pointer(&raw const *cell);
        let t = thread::spawn(move || {
            let pointer = pointer;
            // SAFETY: 1. None: the program is wrong. The model ends before anything is read.
            unsafe { &*pointer.0 }.with(|_| ());
        });
        // SAFETY: 1. As above.
        unsafe { std::ptr::drop_in_place(cell) };
        t.join().unwrap();
    });
    assert_eq!(kind, Kind::DataRace);
}
