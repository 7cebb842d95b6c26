use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use sync_shims::model::atomic::{AtomicUsize, Ordering::Relaxed};
use sync_shims::model::{hint, thread};

use crate::controller::{CountFromNowOn, Failed, Fake};

#[test]
fn threads_are_spawned_and_joined() {
    let model = Fake::new();
    model.run(|| {
        let handle = thread::Builder::new().name("worker".into()).spawn(|| thread::current()).unwrap();
        assert!(handle.is_finished());
        assert_eq!(format!("{:?}", handle.thread().id()), "ThreadId(2)");
        let thread = handle.join().unwrap();
        assert_eq!(thread.name(), Some("worker"));
        assert_eq!(thread::current().name(), Some("main"));
        assert_ne!(thread.id(), thread::current().id());
        thread::yield_now();
        thread::sleep(Duration::from_secs(1000));
        hint::spin_loop();
        assert_eq!(thread::available_parallelism().unwrap().get(), 4);
    });
    assert_eq!(
        model.log(),
        [
            "t0 thread::spawn",
            "t0 JoinHandle::is_finished",
            "t0 JoinHandle::join",
            "t0 thread::yield_now",
            "t0 thread::sleep",
            "t0 hint::spin_loop",
        ]
    );
}

#[test]
fn a_panic_is_delivered_by_join() {
    let model = Fake::new();
    model.run(|| {
        let payload = thread::spawn(|| panic!("on purpose")).join().unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
        drop(thread::spawn(|| panic!("nobody knows")));
    });
    assert_eq!(
        model.log(),
        ["t0 thread::spawn", "t0 JoinHandle::join", "t0 panic of t1 delivered", "t0 thread::spawn"]
    );
}

#[test]
fn a_result_that_nobody_joins_may_need_a_count() {
    struct Visible(AtomicUsize);
    impl Drop for Visible {
        fn drop(&mut self) {
            self.0.store(1, Relaxed);
        }
    }
    let result = catch_unwind(|| Fake::new().run(|| drop(thread::spawn(|| Visible(AtomicUsize::new(0))))));
    assert!(result.unwrap_err().is::<CountFromNowOn>());
    let counting = Fake::counting();
    counting.run(|| drop(thread::spawn(|| Visible(AtomicUsize::new(0)))));
    assert_eq!(counting.log().last().unwrap(), "t0 AtomicUsize::store of 1");
}

#[test]
fn a_scope_joins_its_threads() {
    let model = Fake::new();
    let mut total = 0;
    model.run(|| {
        thread::scope(|scope| {
            scope.spawn(|| {
                total += 1;
                scope.spawn(|| total += 2);
            });
            let handle = thread::Builder::new().name("s".into()).spawn_scoped(scope, || 5).unwrap();
            assert_eq!(handle.thread().name(), Some("s"));
            assert!(format!("{scope:?}").starts_with("Scope { num_running_threads: 3, a_thread_panicked: false, "));
        });
    });
    assert_eq!(total, 3);
    let joins = model.log().iter().filter(|line| *line == "t0 thread::end of scope").count();
    assert_eq!(joins, 3);
}

#[test]
fn a_scoped_panic_that_nobody_takes_is_the_scopes() {
    let model = Fake::new();
    model.run(|| {
        let payload = catch_unwind(|| thread::scope(|scope| _ = scope.spawn(|| panic!("on purpose")))).unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"a scoped thread panicked"));
        thread::scope(|scope| assert!(scope.spawn(|| panic!("on purpose")).join().is_err()));
    });
    let delivered = model.log().iter().filter(|line| line.ends_with("delivered")).count();
    assert_eq!(delivered, 2);
}

#[test]
fn a_panic_in_a_scope_waits_for_its_threads() {
    let model = Fake::new();
    let result = catch_unwind(AssertUnwindSafe(|| {
        model.run(|| {
            thread::scope(|scope| {
                scope.spawn(|| ());
                panic!("of the scope");
            });
        });
    }));
    assert_eq!(result.unwrap_err().downcast_ref::<&str>(), Some(&"of the scope"));
    assert_eq!(model.log(), ["t0 thread::spawn", "t0 thread::end of scope"]);
}

#[test]
fn tokens() {
    let model = Fake::new();
    model.run(|| {
        let me = thread::current();
        let unpark = || {
            thread::spawn({
                let me = me.clone();
                move || me.unpark()
            })
        };
        unpark();
        unpark();
        thread::park();
        thread::park_timeout(Duration::from_secs(1000));
        model.choices.borrow_mut().push(1);
        thread::park();
        let blocked = catch_unwind(thread::park).unwrap_err();
        assert_eq!(blocked.downcast_ref::<Failed>().unwrap().0, "blocked");
    });
    assert_eq!(
        model.log(),
        [
            "t0 thread::spawn",
            "t1 Thread::unpark of 0",
            "t0 thread::spawn",
            "t2 Thread::unpark of 0",
            "t0 thread::wakes up spuriously",
            "t0 thread::park of 0",
            "t0 thread::park_timeout of 0",
            "t0 thread::time out",
            "t0 thread::wakes up spuriously",
            "t0 thread::wakes up spuriously",
        ]
    );
}
