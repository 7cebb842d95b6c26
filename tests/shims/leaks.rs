//! Memory that is not freed, freed twice, or used afterwards.

use std::cell::UnsafeCell as RealUnsafeCell;

use interleave::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc, owns, realloc};
use interleave::cell::UnsafeCell;
use interleave::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, Ordering::*};
use interleave::sync::{Arc, LazyLock, Mutex, Weak};
use interleave::{Builder, Kind, Strategy, Verdict, thread};

use crate::{executions, failure};

/// The report of a model that fails.
fn report(body: impl Fn() + Send + Sync) -> (Kind, String) {
    let failure = Builder::new().explore(body).failure.expect("it fails");
    (failure.kind, failure.report.split_whitespace().collect::<Vec<_>>().join(" "))
}

struct Node {
    next: Mutex<Option<Arc<Node>>>,
}

/// A leak in one of two orders.
fn cycle() {
    let node = Arc::new(Node { next: Mutex::new(None) });
    let other = node.clone();
    let t = thread::spawn(move || {
        let next = other.next.lock().unwrap().take();
        drop(next);
    });
    *node.next.lock().unwrap() = Some(node.clone());
    t.join().unwrap();
}

#[test]
fn a_leak_is_found_however_executions_are_chosen() {
    let by = |builder: Builder| builder.leaks(true).explore(cycle);
    let report = by(Builder::new());
    assert_eq!((report.verdict, report.executions), (Verdict::Failed(Kind::Leak), 2));
    for strategy in [Strategy::Interleavings, Strategy::Random, Strategy::Pos, Strategy::Pct { depth: 2 }] {
        let report = by(Builder::new().strategy(strategy).max_executions(100));
        assert_eq!(report.verdict, Verdict::Failed(Kind::Leak), "{strategy:?}");
    }
    assert_eq!(by(Builder::new().workers(2)).verdict, Verdict::Failed(Kind::Leak));
}

#[test]
fn a_cycle_is_a_leak() {
    let failure = Builder::new().leaks(true).explore(cycle).failure.expect("a leak");
    assert_eq!(failure.kind, Kind::Leak);
    let text = failure.report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("an `Arc` that was made at tests/shims/leaks.rs:25:16 is never freed"), "{text}");
    assert!(text.contains("the breaking order"), "{text}");
    assert_eq!(Builder::new().explore(cycle).verdict, Verdict::Complete);
}

#[test]
fn what_is_forgotten_is_a_leak() {
    let leaks = |body: fn()| Builder::new().leaks(true).explore(body).verdict;
    assert_eq!(leaks(|| std::mem::forget(Arc::new(1))), Verdict::Failed(Kind::Leak));
    assert_eq!(leaks(|| std::mem::forget(Arc::downgrade(&Arc::new(1)))), Verdict::Failed(Kind::Leak));
    assert_eq!(failure(|| std::mem::forget(Track::new(1))), Kind::Leak);
    let layout = Layout::new::<u64>();
    // SAFETY: 1. The layout has a size.
    assert_eq!(failure(move || _ = unsafe { alloc(layout) }), Kind::Leak);
}

#[test]
fn what_ends_in_time_is_none() {
    static LAZY: LazyLock<Arc<usize>> = LazyLock::new(|| Arc::new(1));
    interleave::thread_local!(static LOCAL: Arc<usize> = Arc::new(2));
    let outside = Arc::new(3);
    let report = Builder::new().leaks(true).explore(|| {
        let tracked = (Track::new(String::from("a")), Track::new(4));
        let weak: Weak<usize> = Arc::downgrade(&Arc::new(5));
        thread::spawn(move || assert_eq!((tracked.0.get_ref().as_str(), tracked.1.into_inner()), ("a", 4)))
            .join()
            .unwrap();
        assert_eq!((weak.upgrade(), **LAZY, LOCAL.with(|local| **local)), (None, 1, 2));
        drop(outside.clone());
        let raw = Arc::into_raw(Arc::new(6));
        // SAFETY: 1. It comes from `into_raw`.
        drop(unsafe { Arc::from_raw(raw) });
    });
    assert_eq!((report.failure.map(|failure| failure.report), report.executions), (None, 1));
}

/// A list from which two threads pop without taking care: one of them may free what the other one has in hand.
#[test]
fn memory_is_freed_once_and_not_used_afterwards() {
    let layout = Layout::new::<AtomicUsize>();
    let make = move || {
        // SAFETY: 1. The layout has a size; the value fits.
        unsafe {
            let memory = alloc(layout).cast::<AtomicUsize>();
            memory.write(AtomicUsize::new(7));
            memory
        }
    };
    let (kind, text) = report(move || {
        let shared = Arc::new(AtomicPtr::new(make()));
        let other = shared.clone();
        let free = move |shared: &AtomicPtr<AtomicUsize>| {
            let memory = shared.load(Acquire);
            if !memory.is_null() {
                shared.store(std::ptr::null_mut(), Release);
                // SAFETY: 1. None: that is what the model shows.
                unsafe { dealloc(memory.cast(), layout) };
            }
        };
        let t = thread::spawn(move || free(&other));
        free(&shared);
        t.join().unwrap();
    });
    assert_eq!(kind, Kind::UseAfterFree, "{text}");
    assert!(text.contains("is freed twice"), "{text}");
    let (kind, text) = report(move || {
        let shared = Arc::new((AtomicPtr::new(make()), AtomicBool::new(false)));
        let other = shared.clone();
        let t = thread::spawn(move || {
            let memory = other.0.load(Acquire);
            if other.1.load(Relaxed) {
                // SAFETY: 1. As above.
                unsafe { (*memory).load(Relaxed) };
            }
        });
        let memory = shared.0.load(Relaxed);
        // SAFETY: 1. As above.
        unsafe { dealloc(memory.cast(), layout) };
        shared.1.store(true, Relaxed);
        t.join().unwrap();
    });
    assert_eq!(kind, Kind::UseAfterFree, "{text}");
    assert!(text.contains("`AtomicUsize::load` on an object in memory that has been freed"), "{text}");
}

/// A thread uses an object, says so, and another one frees the memory: in time if what is said has the right ordering.
#[test]
fn operations_are_ordered_before_the_memory_is_freed() {
    fn body<T: 'static>(new: fn() -> T, used: fn(&T), store: Ordering, load: Ordering) -> impl Fn() + Send + Sync {
        move || {
            let layout = Layout::new::<T>();
            let done = Arc::new(AtomicBool::new(false));
            // SAFETY: 1. The layout has a size. 2. The value fits.
            let memory = unsafe {
                let memory = alloc(layout).cast::<T>();
                memory.write(new());
                memory
            };
            let (address, other) = (memory.expose_provenance(), done.clone());
            let t = thread::spawn(move || {
                // SAFETY: 1. It is freed once `done` is set, or after the thread has ended.
                used(unsafe { &*std::ptr::with_exposed_provenance(address) });
                other.store(true, store);
            });
            let early = done.load(load);
            if !early {
                t.join().unwrap();
            }
            // SAFETY: 1. It comes from `alloc`, and its user is done.
            unsafe { dealloc(memory.cast(), layout) };
        }
    }
    let read = |atomic: &AtomicUsize| _ = atomic.load(Relaxed);
    let write = |atomic: &AtomicUsize| atomic.store(1, Relaxed);
    // SAFETY: 1. Threads of a model take turns.
    let look = |cell: &UnsafeCell<u32>| _ = cell.with(|value| unsafe { *value });
    let atomic = || AtomicUsize::new(7);
    let cell = || UnsafeCell::new(7);
    for (store, load) in [(Relaxed, Acquire), (Release, Relaxed)] {
        let (kind, text) = report(body(atomic, read, store, load));
        assert_eq!(kind, Kind::DataRace, "{text}");
        assert!(text.contains("dealloc"), "{text}");
        assert_eq!(failure(body(atomic, write, store, load)), Kind::DataRace);
        assert_eq!(failure(body(cell, look, store, load)), Kind::DataRace);
    }
    // The flag is seen or not.
    assert_eq!(executions(body(atomic, read, Release, Acquire)), 2);
    assert_eq!(executions(body(atomic, write, Release, Acquire)), 2);
    assert_eq!(executions(body(cell, look, Release, Acquire)), 2);
}

/// What is wrong with memory while a thread unwinds comes after what it unwinds from.
#[test]
fn the_panic_comes_first() {
    struct Twice(*mut u8);
    impl Drop for Twice {
        fn drop(&mut self) {
            // SAFETY: 1. It is freed twice, which a model does not let through to the allocator.
            unsafe {
                dealloc(self.0, Layout::new::<u64>());
                dealloc(self.0, Layout::new::<u64>());
            }
        }
    }
    let (kind, text) = report(|| {
        // SAFETY: 1. The layout has a size.
        let _twice = Twice(unsafe { alloc(Layout::new::<u64>()) });
        panic!("first");
    });
    assert_eq!(kind, Kind::Panic, "{text}");
    assert!(text.contains("first"), "{text}");
}

#[test]
fn memory_is_std_s_otherwise() {
    let check = |inside: bool| {
        let layout = Layout::array::<u8>(4).unwrap();
        // SAFETY: 1. The layouts have a size. 2. Each block is used within its size, and freed once with its layout.
        unsafe {
            let memory = alloc_zeroed(layout);
            assert_eq!(*memory.cast::<[u8; 4]>(), [0; 4]);
            assert_eq!(owns(memory), inside);
            memory.write_bytes(5, 4);
            let larger = realloc(memory, layout, 6);
            assert_eq!(*larger.cast::<[u8; 4]>(), [5; 4]);
            dealloc(larger, Layout::array::<u8>(6).unwrap());
        }
        let mut tracked = Track::new(RealUnsafeCell::new(1));
        *tracked.get_mut().get_mut() += 1;
        assert_eq!(tracked.into_inner().into_inner(), 2);
    };
    check(false);
    assert_eq!(executions(move || check(true)), 1);
    let wrong = || {
        // SAFETY: 1. The layout has a size. 2. The second one is wrong, which a model does not let through to the allocator.
        unsafe { dealloc(alloc(Layout::new::<u64>()), Layout::new::<u32>()) };
    };
    assert_eq!(failure(wrong), Kind::Outside);
}
