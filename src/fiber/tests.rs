//! What every backend must do.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;

use super::{Fiber, Pool, State};

const STACK_BYTES: usize = 64 << 10;

/// Runs the same tests on one backend.
macro_rules! on_backend {
    ($module:ident, $fiber:ty, $($test:ident),+ $(,)?) => {
        mod $module {
            $(#[test]
            fn $test() {
                super::$test::<$fiber>();
            })+
        }
    };
}

macro_rules! on_each_backend {
    ($($test:ident),+ $(,)?) => {
        #[cfg(all(feature = "generator", not(miri)))]
        on_backend!(generator, crate::fiber::generator::GeneratorFiber, $($test),+);
        #[cfg(all(feature = "corosensei", not(miri)))]
        on_backend!(corosensei, crate::fiber::corosensei::CorosenseiFiber, $($test),+);
        on_backend!(os_thread, crate::fiber::os_thread::OsThreadFiber, $($test),+);
    };
}

on_each_backend![
    fibers_take_turns,
    a_fiber_starts_others,
    finished_fibers_are_reused,
    many_fibers_use_no_more_memory,
    nothing_on_an_abandoned_fiber_is_dropped,
    dropping_the_pool_unwinds_nothing,
    a_pool_is_dropped_by_a_panic,
    panics_stay_in_their_fiber,
    a_used_up_handle_is_refused,
    suspending_needs_a_fiber,
];

fn fibers_take_turns<F: Fiber>() {
    let pool = Pool::<F>::new(STACK_BYTES);
    let log = Rc::new(RefCell::new(String::new()));
    let body = |name: char| {
        let log = Rc::clone(&log);
        Box::new(move || {
            for step in ['1', '2', '3'] {
                log.borrow_mut().extend([name, step, ' ']);
                F::suspend();
            }
            log.borrow_mut().extend([name, '.', ' ']);
        })
    };
    let (a, b) = (pool.start(body('a')), pool.start(body('b')));
    let states = [a, b, b, b, a, b, a, a].map(|fiber| pool.resume(fiber));
    assert_eq!(*log.borrow(), "a1 b1 b2 b3 a2 b. a3 a. ");
    use State::{Finished, Suspended};
    assert_eq!(states, [Suspended, Suspended, Suspended, Suspended, Suspended, Finished, Suspended, Finished]);
}

fn a_fiber_starts_others<F: Fiber>() {
    let pool = Rc::new(Pool::<F>::new(STACK_BYTES));
    let count = Rc::new(Cell::new(0));
    let handles = Rc::new(RefCell::new(Vec::new()));
    let parent = {
        let (pool, count, handles) = (Rc::clone(&pool), Rc::clone(&count), Rc::clone(&handles));
        // Enough for the pool's list to move while this fiber is running.
        pool.clone().start(Box::new(move || {
            for _ in 0..20 {
                let count = Rc::clone(&count);
                handles.borrow_mut().push(pool.start(Box::new(move || count.set(count.get() + 1))));
            }
        }))
    };
    assert_eq!(pool.resume(parent), State::Finished);
    for handle in handles.take() {
        assert_eq!(pool.resume(handle), State::Finished);
    }
    assert_eq!(count.get(), 20);
    assert_eq!(pool.fibers(), 21);
}

fn finished_fibers_are_reused<F: Fiber>() {
    let pool = Pool::<F>::new(STACK_BYTES);
    for _ in 0..10 {
        let handles = [0; 3].map(|_| pool.start(Box::new(F::suspend)));
        assert_eq!(handles.map(|handle| pool.resume(handle)), [State::Suspended; 3]);
        assert_eq!(handles.map(|handle| pool.resume(handle)), [State::Finished; 3]);
    }
    assert_eq!(pool.fibers(), 3);
}

fn many_fibers_use_no_more_memory<F: Fiber>() {
    let fibers = if cfg!(miri) { 50 } else { 10_000 };
    let pool = Pool::<F>::new(STACK_BYTES);
    let one = || pool.resume(pool.start(Box::new(|| ())));
    one();
    let before = resident_pages();
    for _ in 0..fibers {
        one();
    }
    assert_eq!(pool.fibers(), 1);
    // Other tests run meanwhile: the bound is what only a leak for each fiber would reach.
    if let (Some(before), Some(after)) = (before, resident_pages()) {
        assert!(after < before + fibers, "{before} -> {after} pages");
    }
}

fn resident_pages() -> Option<usize> {
    if !cfg!(target_os = "linux") || cfg!(miri) {
        return None;
    }
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    statm.split(' ').nth(1)?.parse().ok()
}

/// Counts its drops.
struct Counted(Rc<Cell<u32>>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// A body that holds a `Counted` while it is suspended for ever.
fn stuck<F: Fiber>(drops: &Rc<Cell<u32>>) -> Box<dyn FnOnce()> {
    let captured = Counted(Rc::clone(drops));
    Box::new(move || {
        let _captured = captured;
        loop {
            F::suspend();
        }
    })
}

fn nothing_on_an_abandoned_fiber_is_dropped<F: Fiber>() {
    let drops = Rc::new(Cell::new(0));
    let pool = Pool::<F>::new(STACK_BYTES);
    let handle = pool.start(stuck::<F>(&drops));
    pool.resume(handle);
    pool.abandon(handle);
    // The next body gets another stack.
    pool.resume(pool.start(Box::new(|| ())));
    assert_eq!(pool.fibers(), 2);
    drop(pool);
    assert_eq!(drops.get(), 0);
}

fn dropping_the_pool_unwinds_nothing<F: Fiber>() {
    let drops = Rc::new(Cell::new(0));
    let pool = Pool::<F>::new(STACK_BYTES);
    let _never_resumed = pool.start(stuck::<F>(&drops));
    pool.resume(pool.start(stuck::<F>(&drops)));
    pool.resume(pool.start(Box::new(|| ())));
    drop(pool);
    assert_eq!(drops.get(), 0);
}

fn a_pool_is_dropped_by_a_panic<F: Fiber>() {
    let drops = Rc::new(Cell::new(0));
    let payload = panic::catch_unwind(AssertUnwindSafe(|| {
        let pool = Pool::<F>::new(STACK_BYTES);
        let (stuck, finished) = (pool.start(stuck::<F>(&drops)), pool.start(Box::new(|| ())));
        pool.resume(stuck);
        pool.resume(finished);
        panic::resume_unwind(Box::new(7));
    }));
    assert_eq!(payload.unwrap_err().downcast_ref(), Some(&7));
    assert_eq!(drops.get(), 0);
}

fn panics_stay_in_their_fiber<F: Fiber>() {
    /// Panics while it is dropped by a panic, and catches that.
    struct Nested(Rc<Cell<u32>>);
    impl Drop for Nested {
        fn drop(&mut self) {
            let _inner = Counted(Rc::clone(&self.0));
            assert!(panic::catch_unwind(|| panic::resume_unwind(Box::new("inner"))).is_err());
        }
    }
    let pool = Pool::<F>::new(STACK_BYTES);
    let drops = Rc::new(Cell::new(0));
    let body = |drops: Rc<Cell<u32>>| {
        Box::new(move || {
            let result = panic::catch_unwind(AssertUnwindSafe(|| {
                let _nested = Nested(drops);
                F::suspend();
                panic::resume_unwind(Box::new("outer"));
            }));
            assert_eq!(result.unwrap_err().downcast_ref(), Some(&"outer"));
            assert!(!std::thread::panicking());
            F::suspend();
        })
    };
    let handles = [0; 2].map(|_| pool.start(body(Rc::clone(&drops))));
    for expected in [State::Suspended, State::Suspended, State::Finished] {
        assert_eq!(handles.map(|handle| pool.resume(handle)), [expected; 2]);
        assert!(!std::thread::panicking());
    }
    assert_eq!(drops.get(), 2);
}

fn a_used_up_handle_is_refused<F: Fiber>() {
    let pool = Pool::<F>::new(STACK_BYTES);
    let handle = pool.start(Box::new(|| ()));
    pool.resume(handle);
    let resume = || {
        pool.resume(handle);
    };
    assert_eq!(message_of(resume), "fiber 0 cannot be resumed: Idle");
}

fn suspending_needs_a_fiber<F: Fiber>() {
    assert_eq!(message_of(F::suspend), "no fiber is running");
}

/// What `f` panics with.
fn message_of(f: impl FnOnce()) -> String {
    let payload = panic::catch_unwind(AssertUnwindSafe(f)).expect_err("no panic");
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload.downcast_ref::<&str>().expect("a text").to_string(),
    }
}
