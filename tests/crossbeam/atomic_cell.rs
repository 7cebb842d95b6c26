use interleave::crossbeam::atomic::{AtomicCell, AtomicConsume};
use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use interleave::thread;

use crate::{complete, distinct, failure};

/// n! orders.
#[test]
fn additions_are_one_step() {
    for (threads, orders) in [(2, 2), (3, 6)] {
        let count = distinct(move || {
            let cell = Arc::new(AtomicCell::new(-1i32));
            let handles: Vec<_> = (0..threads)
                .map(|_| {
                    let cell = cell.clone();
                    thread::spawn(move || cell.fetch_add(-2))
                })
                .collect();
            let seen: Vec<_> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
            assert_eq!(cell.load(), -1 - 2 * threads);
            seen
        });
        assert_eq!(count, orders);
    }
}

/// A load and a store are two steps, for values of any size.
#[test]
fn updates_are_lost() {
    fn lost<T: Copy + Eq + From<u8> + Send + std::ops::Add<Output = T> + 'static>() -> String {
        failure(|| {
            let cell = Arc::new(AtomicCell::new(T::from(0)));
            let other = cell.clone();
            let t = thread::spawn(move || other.store(other.load() + T::from(1)));
            cell.store(cell.load() + T::from(1));
            t.join().unwrap();
            assert!(cell.load() == T::from(2));
        })
    }
    for report in [lost::<u8>(), lost::<u64>(), lost::<u128>()] {
        assert!(report.starts_with("error[interleave::panic]"), "{report}");
    }
}

#[test]
fn a_compare_exchange_has_one_winner() {
    let (count, results) = complete(|| {
        let cell = Arc::new(AtomicCell::new((0u64, 0u64)));
        let other = cell.clone();
        let t = thread::spawn(move || other.compare_exchange((0, 0), (1, 1)).is_ok());
        let won = cell.compare_exchange((0, 0), (2, 2)).is_ok();
        (won, t.join().unwrap(), cell.load())
    });
    // Both see the old value, or one sees the other's: of the first kind there are two, as one of the writes comes first.
    assert_eq!((count, results), (4, vec![(false, true, (1, 1)), (true, false, (2, 2))]));
}

/// Every value is dropped once, whoever gets it.
#[test]
fn values_with_drop_glue_are_moved() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    complete(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let new = || Some(Box::new(Counted(dropped.clone())));
        let cell = Arc::new(AtomicCell::new(new()));
        let (other, its) = (cell.clone(), new());
        let t = thread::spawn(move || drop(other.swap(its)));
        let taken = cell.take();
        cell.store(new());
        t.join().unwrap();
        drop((taken, cell));
        assert_eq!(dropped.load(Relaxed), 3);
    });
}

/// What is stored is released, what is loaded acquired.
#[test]
fn cells_order_accesses() {
    complete(|| {
        let shared = Arc::new((AtomicUsize::new(0), AtomicCell::new(false), AtomicBool::new(false)));
        let other = shared.clone();
        let t = thread::spawn(move || {
            other.0.store(1, Relaxed);
            other.1.store(true);
            other.2.store(true, Relaxed);
        });
        if shared.1.load() {
            assert_eq!(shared.0.load(Relaxed), 1);
        }
        let seen = shared.2.load_consume();
        t.join().unwrap();
        seen
    });
}
