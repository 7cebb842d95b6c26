//! The words that tests of other crates ask for in `#[should_panic(expected = "...")]`.

use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::{Arc, Mutex, Notify};
use loom::{hint, thread};

/// A cell that two threads may share.
struct Shared(UnsafeCell<usize>);

// SAFETY: 1. The models below are about whether this is right.
unsafe impl Sync for Shared {}

fn write(cell: &Shared) {
    // SAFETY: 1. Threads of a model do not run at the same time.
    cell.0.with_mut(|value| unsafe { *value += 1 });
}

fn read(cell: &Shared) -> usize {
    // SAFETY: 1. Threads of a model do not run at the same time.
    cell.0.with(|value| unsafe { *value })
}

#[test]
#[should_panic(expected = "Causality violation: Concurrent write accesses to `UnsafeCell`.")]
fn two_writes() {
    loom::model(|| {
        let cell = Arc::new(Shared(UnsafeCell::new(0)));
        let same = cell.clone();
        let t = thread::spawn(move || write(&same));
        write(&cell);
        t.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "Causality violation: Concurrent read and write accesses.")]
fn a_read_and_a_write() {
    loom::model(|| {
        let cell = Arc::new(Shared(UnsafeCell::new(0)));
        let same = cell.clone();
        let t = thread::spawn(move || write(&same));
        read(&cell);
        t.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "interleave::data_race")]
fn an_access_that_lasts_ends_too_late() {
    loom::model(|| {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicUsize::new(0)));
        let same = shared.clone();
        let t = thread::spawn(move || {
            if same.1.load(Acquire) == 1 {
                write(&same.0);
            }
        });
        let guard = shared.0.0.get();
        // The write that this lets in comes after the beginning of the read, but not after its end.
        shared.1.store(1, Release);
        shared.1.load(Relaxed);
        drop(guard);
        t.join().unwrap();
    });
}

#[test]
fn an_access_that_lasts_and_ends_in_time() {
    loom::model(|| {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicUsize::new(0)));
        let same = shared.clone();
        let t = thread::spawn(move || {
            if same.1.load(Acquire) == 1 {
                write(&same.0);
            }
        });
        let guard = shared.0.0.get();
        shared.1.load(Relaxed);
        drop(guard);
        shared.1.store(1, Release);
        t.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "currently reading from cell")]
fn a_write_within_a_read() {
    loom::model(|| {
        let cell = UnsafeCell::new(0);
        cell.with(|_| cell.with_mut(|_| ()));
    });
}

#[test]
#[should_panic(expected = "currently writing to cell")]
fn a_read_within_a_write() {
    loom::model(|| {
        let cell = UnsafeCell::new(0);
        let _guard = cell.get_mut();
        cell.with(|_| ());
    });
}

#[test]
fn reads_nest() {
    loom::model(|| {
        let cell = UnsafeCell::new(7);
        // SAFETY: 1. Nobody writes.
        let sum = cell.with(|a| cell.with(|b| unsafe { *a + *b }));
        assert_eq!(sum, 14);
    });
}

#[test]
#[should_panic(expected = "deadlock; threads = ")]
fn a_deadlock() {
    loom::model(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let same = locks.clone();
        let t = thread::spawn(move || drop((same.0.lock(), same.1.lock())));
        drop((locks.1.lock(), locks.0.lock()));
        t.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "Model exceeded maximum number of branches.")]
fn a_loop_without_end() {
    loom::model(|| {
        let flag = AtomicUsize::new(0);
        while flag.load(Relaxed) == 0 {
            thread::yield_now();
        }
    });
}

#[test]
#[should_panic(expected = "the words of the program")]
fn a_panic() {
    loom::model(|| {
        thread::spawn(|| panic!("the words of the program"));
    });
}

#[test]
#[should_panic(expected = "cannot access Loom execution state from outside a Loom model")]
fn a_thread_outside() {
    thread::spawn(|| ());
}

#[test]
#[should_panic(expected = "not in critical state")]
fn exploring_twice() {
    loom::model(loom::explore);
}

#[test]
#[should_panic(expected = "only a single thread may wait on `Notify`")]
fn two_waiters() {
    loom::model(|| {
        let notify = Arc::new(Notify::new());
        let same = notify.clone();
        let t = thread::spawn(move || same.wait());
        notify.wait();
        t.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "unreachable_unchecked was reached!")]
fn what_cannot_be_reached() {
    // SAFETY: 1. Here it is a panic.
    unsafe { hint::unreachable_unchecked() }
}

struct Node(Mutex<Option<Arc<Node>>>);

#[test]
#[should_panic(expected = "Arc leaked.")]
fn a_cycle() {
    loom::model(|| {
        let node = Arc::new(Node(Mutex::new(None)));
        *node.0.lock().unwrap() = Some(node.clone());
    });
}

#[test]
#[should_panic(expected = "Allocation leaked.")]
fn a_tracked_value_that_is_forgotten() {
    loom::model(|| std::mem::forget(loom::alloc::Track::new(7)));
}

#[test]
#[should_panic(expected = "Allocation leaked.")]
fn a_block_that_is_not_freed() {
    loom::model(|| {
        // SAFETY: 1. The layout has a size.
        let _ = unsafe { loom::alloc::alloc(loom::alloc::Layout::new::<u64>()) };
    });
}

loom::lazy_static! {
    static ref LAZY: Arc<usize> = Arc::new(7);
}

#[test]
fn what_the_execution_itself_drops_is_no_leak() {
    loom::thread_local!(static LOCAL: Arc<usize> = Arc::new(8));
    loom::model(|| {
        let t = thread::spawn(|| LOCAL.with(|local| **local) + **LAZY);
        assert_eq!(**LAZY + t.join().unwrap(), 22);
    });
}

#[test]
#[should_panic(expected = "pointer not tracked")]
fn a_block_of_another_allocator() {
    loom::model(|| {
        let block = Box::into_raw(Box::new(7_u64));
        // SAFETY: 1. The call panics before it frees anything.
        unsafe { loom::alloc::dealloc(block.cast(), loom::alloc::Layout::new::<u64>()) };
    });
}

#[test]
#[should_panic(expected = "pointer not tracked")]
fn a_block_freed_twice() {
    loom::model(|| {
        let layout = loom::alloc::Layout::new::<u64>();
        // SAFETY: 1. The layout has a size. 2. The second call frees nothing.
        unsafe {
            let block = loom::alloc::alloc(layout);
            loom::alloc::dealloc(block, layout);
            loom::alloc::dealloc(block, layout);
        }
    });
}
