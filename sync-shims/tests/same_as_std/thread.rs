// `std::thread`.

use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::time::Duration;

use lib::thread::{self, Builder, JoinHandle, Scope, ScopedJoinHandle, Thread, ThreadId};

use crate::panic_message;

#[test]
fn traits() {
    assert_impl!(JoinHandle<Rc<u8>>: Send + Sync + Unpin + Debug);
    assert_not_impl!(JoinHandle<u8>: UnwindSafe);
    assert_not_impl!(JoinHandle<u8>: RefUnwindSafe);
    assert_impl!(ScopedJoinHandle<'_, u8>: Send + Sync + Unpin + Debug);
    assert_not_impl!(ScopedJoinHandle<'_, u8>: UnwindSafe);
    assert_impl!(Scope<'_, '_>: Send + Sync + Unpin + RefUnwindSafe + Debug);
    assert_not_impl!(Scope<'_, '_>: UnwindSafe);
    assert_impl!(Thread: Send + Sync + Unpin + Clone + UnwindSafe + RefUnwindSafe + Debug);
    assert_impl!(ThreadId: Send + Sync + Unpin + Copy + Eq + Hash + UnwindSafe + RefUnwindSafe + Debug);
    assert_impl!(Builder: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug);
}

#[test]
fn spawn_and_join() {
    let handle: JoinHandle<String> = thread::spawn(|| String::from("done"));
    assert_ne!(handle.thread().id(), thread::current().id());
    assert_eq!(handle.thread().name(), None);
    assert_eq!(format!("{handle:?}"), "JoinHandle { .. }");
    assert_eq!(handle.join().unwrap(), "done");
    let handle = thread::spawn(|| ());
    while !handle.is_finished() {
        thread::yield_now();
    }
}

#[test]
fn a_panic_is_delivered_by_join() {
    let payload = thread::spawn(|| panic!("on purpose")).join().unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
    let result: thread::Result<()> = thread::spawn(|| std::panic::panic_any(5u8)).join();
    assert_eq!(*result.unwrap_err().downcast::<u8>().unwrap(), 5);
}

#[test]
fn builders() {
    let builder = Builder::new().name("worker".into()).stack_size(1 << 20);
    let handle = builder.spawn(|| thread::current().name().map(String::from)).unwrap();
    assert_eq!(handle.thread().name(), Some("worker"));
    assert_eq!(handle.join().unwrap().as_deref(), Some("worker"));
    let message = panic_message(|| Builder::new().name("a\0b".into()).spawn(|| ()));
    assert_eq!(message, "thread name may not contain interior null bytes: NulError(1, [97, 0, 98])");
    let local = 5;
    // SAFETY: 1. The thread is joined before `local` ends.
    let handle = unsafe { Builder::new().spawn_unchecked(|| local + 1) }.unwrap();
    assert_eq!(handle.join().unwrap(), 6);
}

#[test]
fn current_and_ids() {
    let me: Thread = thread::current();
    assert_eq!(me.id(), thread::current().id());
    let id: ThreadId = thread::spawn(|| thread::current().id()).join().unwrap();
    assert_ne!(me.id(), id);
    assert!(format!("{id:?}").starts_with("ThreadId("));
    let named = Builder::new().name("n".into()).spawn(thread::current).unwrap().join().unwrap();
    assert_eq!(format!("{named:?}"), format!("Thread {{ id: {:?}, name: Some(\"n\"), .. }}", named.id()));
}

#[test]
fn park_and_unpark() {
    let me = thread::current();
    me.unpark();
    me.unpark();
    thread::park();
    let other = thread::spawn(move || me.unpark());
    // It may have woken up spuriously; the join keeps the test deterministic.
    thread::park();
    other.join().unwrap();
    thread::park_timeout(Duration::from_millis(1));
    #[allow(deprecated)]
    thread::park_timeout_ms(1);
}

#[test]
fn pauses_and_questions() {
    thread::yield_now();
    thread::sleep(Duration::from_micros(1));
    #[allow(deprecated)]
    thread::sleep_ms(1);
    assert!(thread::available_parallelism().unwrap().get() >= 1);
    assert!(!thread::panicking());
    struct AsksWhenDropped;
    impl Drop for AsksWhenDropped {
        fn drop(&mut self) {
            assert!(thread::panicking());
        }
    }
    panic_message(|| {
        let _asks = AsksWhenDropped;
        panic!("on purpose");
    });
}

#[test]
fn scoped_threads_borrow() {
    let mut values = vec![1, 2, 3];
    let mut total = 0;
    let result = thread::scope(|scope| {
        let handle: ScopedJoinHandle<'_, i32> = scope.spawn(|| values.iter().sum());
        assert_eq!(handle.thread().name(), None);
        assert_eq!(format!("{handle:?}"), "ScopedJoinHandle { .. }");
        scope.spawn(|| {
            total += 5;
            scope.spawn(|| total += 1);
        });
        let named = Builder::new().name("s".into()).spawn_scoped(scope, || thread::current()).unwrap();
        assert_eq!(named.join().unwrap().name(), Some("s"));
        let done = scope.spawn(|| ());
        while !done.is_finished() {
            thread::yield_now();
        }
        handle.join().unwrap()
    });
    values.push(result);
    assert_eq!(values, [1, 2, 3, 6]);
    assert_eq!(total, 6);
}

#[test]
fn a_scope_can_be_shown() {
    thread::scope(|scope| {
        assert!(format!("{scope:?}").starts_with("Scope { num_running_threads: "));
    });
}

#[test]
fn a_scoped_panic_that_nobody_takes_is_the_scopes() {
    let message = panic_message(|| {
        thread::scope(|scope| {
            scope.spawn(|| panic!("on purpose"));
        });
    });
    assert_eq!(message, "a scoped thread panicked");
    let payload = thread::scope(|scope| scope.spawn(|| panic!("on purpose")).join().unwrap_err());
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
}

#[test]
fn a_panic_in_a_scope_waits_for_its_threads() {
    let mut done = false;
    let message = panic_message(|| {
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(2));
                done = true;
            });
            panic!("of the scope");
        });
    });
    assert_eq!((message.as_str(), done), ("of the scope", true));
}

#[test]
fn hints() {
    lib::hint::spin_loop();
    assert_eq!(lib::hint::black_box(5), 5);
}
