// `crossbeam-utils`.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use time::{Duration, Instant};

use lib::atomic::AtomicCell;
use lib::sync::{Parker, ShardedLock, Unparker, WaitGroup};
use lib::utils::Backoff;

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn parkers() {
    let parker = Parker::new();
    let unparker = parker.unparker().clone();
    assert_eq!(format!("{parker:?} {unparker:?}"), "Parker { .. } Unparker { .. }");
    unparker.unpark();
    unparker.unpark();
    parker.park();
    parker.park_timeout(SHORT);
    parker.park_deadline(Instant::now());
    let t = std::thread::spawn(move || unparker.unpark());
    parker.park();
    t.join().unwrap();
    // SAFETY: 1. Each pointer is used once, and comes from `into_raw`.
    let (parker, unparker) = unsafe {
        let raw = Unparker::into_raw(parker.unparker().clone());
        (Parker::from_raw(Parker::into_raw(parker)), Unparker::from_raw(raw))
    };
    unparker.unpark();
    parker.park();
}

#[test]
fn wait_groups() {
    let group = WaitGroup::new();
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..4 {
        let (group, done) = (group.clone(), done.clone());
        std::thread::spawn(move || {
            done.fetch_add(1, Relaxed);
            drop(group);
        });
    }
    group.wait();
    assert_eq!(done.load(Relaxed), 4);
    assert_eq!(format!("{:?}", WaitGroup::default()), "WaitGroup { count: 1 }");
}

#[test]
fn sharded_locks() {
    let mut lock = ShardedLock::new(1);
    *lock.write().unwrap() += 1;
    assert_eq!(*lock.read().unwrap(), 2);
    assert_eq!(*lock.get_mut().unwrap(), 2);
    assert_eq!(format!("{lock:?}"), "ShardedLock { data: 2 }");
    {
        let reading = lock.read().unwrap();
        assert!(lock.try_write().is_err() && lock.try_read().is_ok());
        assert_eq!(format!("{reading:?}"), "ShardedLockReadGuard { lock: ShardedLock { data: 2 } }");
    }
    {
        let writing = lock.write().unwrap();
        assert_eq!(
            format!("{writing:?} {writing}"),
            "ShardedLockWriteGuard { lock: ShardedLock { data: <locked> } } 2"
        );
    }
    let shared = Arc::new(lock);
    let other = shared.clone();
    let result = std::thread::spawn(move || {
        let _writing = other.write();
        panic!("with the lock held");
    });
    assert!(result.join().is_err());
    assert!(shared.is_poisoned() && shared.read().is_err() && shared.try_write().is_err());
    assert_eq!(Arc::into_inner(shared).unwrap().into_inner().unwrap_err().into_inner(), 2);
}

#[test]
fn scoped_threads() {
    let numbers = [1, 2, 3];
    let total = AtomicUsize::new(0);
    let result = lib::scope(|scope| {
        assert_eq!(format!("{scope:?}"), "Scope { .. }");
        for n in &numbers {
            scope.spawn(|scope| {
                scope.spawn(|_| total.fetch_add(*n, Relaxed));
            });
        }
        let named = scope.builder().name("named".into()).stack_size(100_000).spawn(|_| numbers.len()).unwrap();
        assert_eq!((format!("{named:?}").as_str(), named.thread().name()), ("ScopedJoinHandle { .. }", Some("named")));
        named.join().unwrap()
    });
    assert_eq!((result.unwrap(), total.load(Relaxed)), (3, 6));
    let result = lib::thread::scope(|scope| {
        scope.spawn(|_| panic!("one"));
        scope.spawn(|scope| {
            scope.spawn(|_| panic!("two"));
        });
        assert!(scope.spawn(|_| panic!("handled")).join().is_err());
    });
    let panics = *result.unwrap_err().downcast::<Vec<Box<dyn std::any::Any + Send>>>().unwrap();
    assert_eq!(panics.len(), 2);
}

#[test]
fn backing_off_comes_to_an_end() {
    let backoff = Backoff::new();
    assert!(!backoff.is_completed());
    (0..20).for_each(|_| backoff.snooze());
    backoff.spin();
    assert!(backoff.is_completed());
    backoff.reset();
    assert_eq!(format!("{backoff:?}"), "Backoff { step: Cell { value: 0 }, is_completed: false }");
}

#[test]
fn cells_of_any_type() {
    static CELL: AtomicCell<i16> = AtomicCell::new(-3);
    assert_eq!((CELL.load(), CELL.swap(5), CELL.fetch_sub(7), CELL.fetch_max(4), CELL.take()), (-3, -3, 5, -2, 4));
    assert_eq!((CELL.fetch_min(-9), CELL.fetch_nand(6), CELL.load()), (0, -9, !(-9 & 6)));
    let cell = AtomicCell::new((1u64, 2u64));
    assert_eq!(cell.compare_exchange((1, 2), (3, 4)), Ok((1, 2)));
    assert_eq!(cell.compare_exchange((1, 2), (5, 6)), Err((3, 4)));
    assert_eq!(cell.fetch_update(|(a, b)| Some((b, a))), Ok((3, 4)));
    assert_eq!(cell.fetch_update(|_| None), Err((4, 3)));
    assert_eq!((format!("{cell:?}").as_str(), cell.into_inner()), ("AtomicCell { value: (4, 3) }", (4, 3)));
    let big = AtomicCell::new(u128::MAX);
    assert_eq!((big.fetch_add(2), big.load()), (u128::MAX, 1));
    let counted = Rc::new(());
    let cell = AtomicCell::new(Some(counted.clone()));
    cell.store(None);
    assert_eq!(Rc::strong_count(&counted), 1);
    assert!(cell.swap(Some(counted.clone())).is_none());
    drop(cell);
    assert_eq!(Rc::strong_count(&counted), 1);
}
