//! `sync_shims::parking_lot` in both builds: the crate itself, or the model types, which behave like it outside a model.

#![allow(missing_docs)]

use std::any::TypeId;
use std::thread;

use sync_shims::parking_lot::lock_api;
use sync_shims::parking_lot::{Condvar, Mutex, Once, RawRwLock, ReentrantMutex, RwLock, const_mutex};
use sync_shims::sync::Arc;

#[test]
fn the_names_mean_the_crate_unless_the_flag_is_set() {
    let same = [
        TypeId::of::<Mutex<u8>>() == TypeId::of::<parking_lot::Mutex<u8>>(),
        TypeId::of::<RwLock<u8>>() == TypeId::of::<parking_lot::RwLock<u8>>(),
        TypeId::of::<ReentrantMutex<u8>>() == TypeId::of::<parking_lot::ReentrantMutex<u8>>(),
        TypeId::of::<Condvar>() == TypeId::of::<parking_lot::Condvar>(),
        TypeId::of::<Once>() == TypeId::of::<parking_lot::Once>(),
        TypeId::of::<RawRwLock>() == TypeId::of::<parking_lot::RawRwLock>(),
        TypeId::of::<lock_api::RwLock<RawRwLock, u8>>() == TypeId::of::<RwLock<u8>>(),
    ];
    let [.., of_lock_api] = same;
    assert!(of_lock_api);
    assert_eq!(&same[..6], [cfg!(not(interleave)); 6]);
    // The traits are those of lock_api in both: raw locks of other crates fit.
    fn is_raw<R: parking_lot::lock_api::RawRwLock>() {}
    is_raw::<RawRwLock>();
}

#[test]
fn locks_of_threads() {
    static TOTAL: Mutex<u32> = const_mutex(0);
    let shared = Arc::new((RwLock::new(0), Condvar::new()));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                *shared.0.write() += 1;
                *TOTAL.lock() += 1;
                shared.1.notify_all();
            })
        })
        .collect();
    shared.1.wait_while(&mut TOTAL.lock(), |total| *total != 3);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*shared.0.read(), 3);
    let lock = Arc::new(RwLock::new(1));
    assert_eq!(*lock.read_arc(), 1);
    assert_eq!(*RwLock::write_arc(&lock), 1);
}
