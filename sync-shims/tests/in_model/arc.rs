use std::panic::{AssertUnwindSafe, catch_unwind};

use sync_shims::model::atomic::{AtomicUsize, Ordering::Relaxed};
use sync_shims::model::cell::UnsafeCell;
use sync_shims::model::sync::{Arc, Weak};

use crate::controller::{CountFromNowOn, Fake};

/// Whether `body` makes the exploration start again with a count.
fn needs_a_count(body: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(|| Fake::new().run(body))) {
        Ok(()) => false,
        Err(payload) => payload.is::<CountFromNowOn>(),
    }
}

struct Visible(AtomicUsize);
impl Drop for Visible {
    fn drop(&mut self) {
        self.0.store(1, Relaxed);
    }
}

#[test]
fn a_count_that_does_not_matter_is_no_object() {
    let model = Fake::new();
    model.run(|| {
        let a = Arc::new(AtomicUsize::new(0));
        let b = a.clone();
        drop(a);
        let weak = Arc::downgrade(&b);
        drop(weak.clone());
        b.store(1, Relaxed);
    });
    assert_eq!(model.log(), ["t0 AtomicUsize::store of 0"]);
}

#[test]
fn what_tells_the_count_needs_one() {
    assert!(needs_a_count(|| _ = Arc::strong_count(&Arc::new(0))));
    assert!(needs_a_count(|| _ = Arc::weak_count(&Arc::new(0))));
    assert!(needs_a_count(|| _ = Arc::get_mut(&mut Arc::new(0))));
    assert!(needs_a_count(|| _ = Arc::make_mut(&mut Arc::new(0))));
    assert!(needs_a_count(|| _ = Arc::try_unwrap(Arc::new(0))));
    assert!(needs_a_count(|| _ = Arc::into_inner(Arc::new(0))));
    assert!(needs_a_count(|| _ = Arc::unwrap_or_clone(Arc::new(0))));
    assert!(needs_a_count(|| _ = Arc::downgrade(&Arc::new(0)).upgrade()));
    assert!(needs_a_count(|| _ = Arc::downgrade(&Arc::new(0)).strong_count()));
    assert!(needs_a_count(|| _ = Arc::downgrade(&Arc::new(0)).weak_count()));
    assert!(!needs_a_count(|| _ = Weak::<u8>::new().upgrade()));
}

#[test]
fn a_drop_that_others_can_notice_needs_a_count() {
    assert!(needs_a_count(|| drop(Arc::new(Visible(AtomicUsize::new(0))))));
    assert!(!needs_a_count(|| drop(Arc::new(AtomicUsize::new(0)))));
    assert!(needs_a_count(|| drop(Arc::new(Arc::new(Visible(AtomicUsize::new(0)))))));
    // Not the last handle.
    assert!(!needs_a_count(|| {
        let a = Arc::new(Visible(AtomicUsize::new(0)));
        drop(a.clone());
        std::mem::forget(a);
    }));
}

#[test]
fn a_count_from_now_on_while_unwinding_is_not_a_second_panic() {
    let model = Fake::new();
    let result = catch_unwind(AssertUnwindSafe(|| {
        model.run(|| {
            let _a = Arc::new(Visible(AtomicUsize::new(0)));
            panic!("on purpose");
        });
    }));
    assert!(result.unwrap_err().is::<&str>());
}

#[test]
fn the_drop_of_an_uncounted_value_is_ordered() {
    let model = Fake::new();
    model.run(|| {
        let a = Arc::new(UnsafeCell::new(1));
        drop(a.clone());
        drop(a);
        drop(UnsafeCell::new(1));
    });
    assert_eq!(model.log(), ["t0 Write drop of 0 in order", "t0 Write drop of 1"]);
}

#[test]
#[cfg_attr(miri, ignore = "get is a read under Miri")]
fn what_was_written_before_an_uncounted_drop_is_not_ordered_by_it() {
    let model = Fake::new();
    model.run(|| {
        let outer = UnsafeCell::new(1);
        let pointer = outer.get();
        // SAFETY: 1. There is one thread, and the cell is alive.
        unsafe { *pointer = 2 };
        drop(Arc::new(1));
        // SAFETY: 1. As above.
        unsafe { *pointer = 3 };
    });
    let log = ["t0 Read get of 0", "t0 Write get of 0", "t0 Write get of 0", "t0 Write drop of 0"];
    assert_eq!(model.log(), log);
}

#[test]
fn a_counted_one_is_an_object() {
    let model = Fake::counting();
    model.run(|| {
        let mut a = Arc::new(Visible(AtomicUsize::new(0)));
        let b = a.clone();
        let weak = Arc::downgrade(&b);
        assert!(Arc::get_mut(&mut a).is_none());
        assert_eq!((Arc::strong_count(&a), weak.weak_count()), (2, 1));
        drop(a);
        assert!(weak.upgrade().is_some());
        let b = Arc::into_inner(b).unwrap();
        assert!(weak.upgrade().is_none());
        drop(weak);
        std::mem::forget(b);
    });
    assert_eq!(
        model.log(),
        [
            "t0 Arc::clone of 0",
            "t0 Arc::downgrade of 1",
            "t0 Arc::get_mut of 1",
            "t0 Arc::strong_count of 0",
            "t0 Arc::weak_count of 1",
            "t0 Arc::weak_count of 0",
            "t0 Arc::drop of 0",
            "t0 Weak::upgrade of 0",
            "t0 Arc::drop of 0",
            "t0 Arc::drop of 0",
            "t0 Arc::drop",
            "t0 Weak::upgrade of 0",
            "t0 Weak::drop of 1",
        ]
    );
}

#[test]
fn a_counted_value_is_dropped_after_a_fence() {
    let model = Fake::counting();
    model.run(|| drop(Arc::new(Visible(AtomicUsize::new(0)))));
    assert_eq!(model.log(), ["t0 Arc::drop of 0", "t0 Arc::drop", "t0 AtomicUsize::store of 1"]);
}

#[test]
fn counted_owners() {
    Fake::counting().run(|| {
        let a = Arc::new(String::from("a"));
        let b = a.clone();
        let a = Arc::try_unwrap(a).unwrap_err();
        drop(b);
        assert_eq!(Arc::try_unwrap(a).unwrap(), "a");
        let mut c = Arc::new(1);
        assert!(Arc::get_mut(&mut c).is_some());
        *Arc::make_mut(&mut c) += 1;
        let d = c.clone();
        *Arc::make_mut(&mut c) += 1;
        assert_eq!((*c, *d), (3, 2));
        let weak = Arc::downgrade(&c);
        *Arc::make_mut(&mut c) += 1;
        assert_eq!((*c, weak.upgrade(), weak.strong_count(), weak.weak_count()), (4, None, 0, 0));
        let e = Arc::new_cyclic(|me: &Weak<Weak<u8>>| {
            assert!(me.upgrade().is_none());
            Weak::new()
        });
        assert_eq!((Arc::strong_count(&e), Arc::weak_count(&e)), (1, 0));
    });
}

#[test]
fn one_from_outside_brings_its_handles_along() {
    let a = Arc::new(1);
    let b = a.clone();
    Fake::counting().run(|| {
        assert_eq!(Arc::strong_count(&a), 2);
        drop(b);
        assert_eq!(Arc::strong_count(&a), 1);
    });
    assert_eq!(Arc::strong_count(&a), 1);
}
