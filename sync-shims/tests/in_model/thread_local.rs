use std::cell::{Cell, RefCell};

use sync_shims::model::thread;
use sync_shims::model::thread_local;

use crate::controller::Fake;

thread_local! {
    static LIST: RefCell<Vec<u32>> = RefCell::new(vec![1]);
    static NUMBER: Cell<u32> = const { Cell::new(7) };
    static NEVER: Cell<u32> = panic!("initialised");
}

#[test]
fn every_thread_of_every_execution_has_its_own() {
    NUMBER.set(1);
    LIST.with_borrow_mut(|list| list.push(0));
    for _ in 0..2 {
        Fake::new().run(|| {
            assert_eq!(NUMBER.replace(8), 7);
            LIST.with_borrow_mut(|list| list.push(2));
            thread::spawn(|| assert_eq!((NUMBER.get(), LIST.take()), (7, vec![1]))).join().unwrap();
            assert_eq!((NUMBER.get(), LIST.take()), (8, vec![1, 2]));
            LIST.set(vec![3]);
            assert_eq!(LIST.replace(vec![]), [3]);
            NEVER.set(2);
            assert_eq!(NEVER.get(), 2);
        });
    }
    assert_eq!((NUMBER.get(), LIST.take()), (1, vec![1, 0]));
}

#[test]
fn values_are_dropped_with_their_thread() {
    struct Says(&'static Cell<u32>);
    impl Drop for Says {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    thread_local!(static SAYS: RefCell<Option<Says>> = const { RefCell::new(None) });
    let dropped: &'static Cell<u32> = Box::leak(Box::new(Cell::new(0)));
    let address = std::ptr::from_ref(dropped).expose_provenance();
    Fake::new().run(|| {
        let child = thread::spawn(move || {
            // SAFETY: 1. It was leaked. 2. The threads of a model share one OS thread.
            let dropped = unsafe { &*std::ptr::with_exposed_provenance::<Cell<u32>>(address) };
            SAYS.set(Some(Says(dropped)));
        });
        child.join().unwrap();
        assert_eq!(dropped.get(), 1);
        SAYS.set(Some(Says(dropped)));
    });
    assert_eq!(dropped.get(), 2);
}
