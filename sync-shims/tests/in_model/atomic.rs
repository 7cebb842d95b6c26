use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use sync_shims::model::atomic::{AtomicBool, AtomicI8, AtomicI64, AtomicPtr, AtomicU8, AtomicUsize, Ordering, fence};

use crate::controller::{Failed, Fake};

#[test]
fn every_access_is_an_operation() {
    let model = Fake::new();
    model.run(|| {
        let mut a = AtomicUsize::new(5);
        let b = AtomicBool::new(false);
        assert_eq!(a.load(Relaxed), 5);
        a.store(6, Release);
        assert!(!b.swap(true, AcqRel));
        assert_eq!(a.fetch_add(1, Relaxed), 6);
        assert_eq!(a.compare_exchange(6, 1, SeqCst, Relaxed), Err(7));
        assert_eq!(a.compare_exchange(7, 1, SeqCst, Relaxed), Ok(7));
        fence(Acquire);
        *a.get_mut() += 1;
        assert_eq!(a.load(Relaxed), 2);
        assert_eq!(format!("{a:?}"), "2");
        assert_eq!(a.into_inner(), 2);
    });
    assert_eq!(
        model.log(),
        [
            "t0 AtomicUsize::load of 0",
            "t0 AtomicUsize::store of 0",
            "t0 AtomicBool::swap of 1",
            "t0 AtomicUsize::fetch_add of 0",
            "t0 AtomicUsize::compare_exchange of 0",
            "t0 AtomicUsize::compare_exchange of 0",
            "t0 atomic::fence",
            "t0 exclusive get_mut",
            "t0 AtomicUsize::load of 2",
            "t0 AtomicUsize::load of 2",
            "t0 exclusive into_inner",
        ]
    );
}

#[test]
fn values_keep_their_sign_and_width() {
    Fake::new().run(|| {
        let a = AtomicI8::new(-128);
        assert_eq!(a.fetch_sub(1, Relaxed), -128);
        assert_eq!(a.fetch_add(2, Relaxed), 127);
        assert_eq!(a.fetch_max(-5, Relaxed), -127);
        assert_eq!(a.fetch_min(-6, Relaxed), -5);
        assert_eq!(a.fetch_nand(3, Relaxed), -6);
        assert_eq!(a.fetch_xor(-1, Relaxed), !(-6 & 3));
        assert_eq!(a.compare_exchange(-6 & 3, -1, SeqCst, Relaxed), Ok(-6 & 3));
        assert_eq!(a.load(Relaxed), -1);
        let b = AtomicI64::new(i64::MIN);
        assert_eq!(b.fetch_max(-1, Relaxed), i64::MIN);
        assert_eq!(b.load(Relaxed), -1);
        let c = AtomicU8::new(255);
        assert_eq!(c.fetch_add(1, Relaxed), 255);
        assert_eq!(c.fetch_max(7, Relaxed), 0);
        assert_eq!(c.load(Relaxed), 7);
        for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
            let d = AtomicBool::new(x);
            assert_eq!(d.fetch_nand(y, Relaxed), x);
            assert_eq!(d.fetch_not(Relaxed), !(x & y));
            assert_eq!(d.load(Relaxed), x & y);
        }
        let mut values = [1u16, 2, 3];
        let first = values.as_mut_ptr();
        let e = AtomicPtr::new(first);
        assert_eq!(e.fetch_ptr_add(2, Relaxed), first);
        assert_eq!(e.fetch_ptr_sub(1, Relaxed), first.wrapping_add(2));
        assert_eq!(e.fetch_byte_sub(2, Relaxed), first.wrapping_add(1));
        // SAFETY: 1. The pointer is that of the first value.
        assert_eq!(unsafe { *e.load(Relaxed) }, 1);
    });
}

#[test]
fn a_weak_exchange_may_fail_for_no_reason() {
    let model = Fake::new();
    model.choices.borrow_mut().push(1);
    model.run(|| {
        let a = AtomicUsize::new(5);
        assert_eq!(a.compare_exchange_weak(5, 6, SeqCst, Relaxed), Err(5));
        assert_eq!(a.compare_exchange_weak(5, 6, SeqCst, Relaxed), Ok(5));
    });
}

#[test]
fn an_update_is_a_load_and_exchanges() {
    let model = Fake::new();
    model.choices.borrow_mut().push(1);
    model.run(|| {
        let a = AtomicUsize::new(5);
        assert_eq!(a.update(SeqCst, Relaxed, |v| v + 1), 5);
    });
    let log = model.log();
    assert_eq!(log[0], "t0 AtomicUsize::load of 0");
    assert_eq!(log[1..], ["t0 AtomicUsize::compare_exchange_weak of 0"; 2]);
}

#[test]
fn an_address_is_not_given_out() {
    let payload = std::panic::catch_unwind(|| Fake::new().run(|| _ = AtomicUsize::new(0).as_ptr())).unwrap_err();
    assert_eq!(payload.downcast_ref::<Failed>().unwrap().0, "outside");
}

#[test]
fn a_static_starts_from_its_value_in_every_execution() {
    static COUNTER: AtomicUsize = AtomicUsize::new(3);
    for _ in 0..2 {
        Fake::new().run(|| assert_eq!(COUNTER.fetch_add(1, Relaxed), 3));
    }
    assert_eq!(COUNTER.load(Relaxed), 3);
}
