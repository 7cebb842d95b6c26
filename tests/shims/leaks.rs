//! Memory that is not freed, freed twice, or used afterwards.

use std::cell::UnsafeCell as RealUnsafeCell;

use interleave::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc, realloc};
use interleave::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*};
use interleave::sync::{Arc, LazyLock, Mutex, Weak};
use interleave::{Builder, Kind, Verdict, thread};

use crate::{executions, failure};

/// The report of a model that fails.
fn report(body: impl Fn() + Send + Sync) -> (Kind, String) {
    let failure = Builder::new().explore(body).failure.expect("it fails");
    (failure.kind, failure.report.split_whitespace().collect::<Vec<_>>().join(" "))
}

struct Node {
    next: Mutex<Option<Arc<Node>>>,
}

/// The leak is in one of two orders.
#[test]
fn a_cycle_is_a_leak() {
    let body = || {
        let node = Arc::new(Node { next: Mutex::new(None) });
        let other = node.clone();
        let t = thread::spawn(move || {
            let next = other.next.lock().unwrap().take();
            drop(next);
        });
        *node.next.lock().unwrap() = Some(node.clone());
        t.join().unwrap();
    };
    let failure = Builder::new().leaks(true).explore(body).failure.expect("a leak");
    assert_eq!(failure.kind, Kind::Leak);
    let text = failure.report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("an `Arc` that was made at tests/shims/leaks.rs:26:20 is never freed"), "{text}");
    assert!(text.contains("the breaking order"), "{text}");
    assert_eq!(Builder::new().explore(body).verdict, Verdict::Complete);
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

#[test]
fn memory_is_std_s_otherwise() {
    let check = || {
        let layout = Layout::array::<u8>(4).unwrap();
        // SAFETY: 1. The layouts have a size. 2. Each block is used within its size, and freed once with its layout.
        unsafe {
            let memory = alloc_zeroed(layout);
            assert_eq!(*memory.cast::<[u8; 4]>(), [0; 4]);
            memory.write_bytes(5, 4);
            let larger = realloc(memory, layout, 6);
            assert_eq!(*larger.cast::<[u8; 4]>(), [5; 4]);
            dealloc(larger, Layout::array::<u8>(6).unwrap());
        }
        let mut tracked = Track::new(RealUnsafeCell::new(1));
        *tracked.get_mut().get_mut() += 1;
        assert_eq!(tracked.into_inner().into_inner(), 2);
    };
    check();
    assert_eq!(executions(check), 1);
    let wrong = || {
        // SAFETY: 1. The layout has a size. 2. The second one is wrong, which a model does not let through to the allocator.
        unsafe { dealloc(alloc(Layout::new::<u64>()), Layout::new::<u32>()) };
    };
    assert_eq!(failure(wrong), Kind::Outside);
}
