use std::cell::Cell;

use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::sync::{LazyLock, Mutex, OnceLock};
use interleave::{thread, thread_local};

use crate::executions;

static COUNTER: AtomicUsize = AtomicUsize::new(0);
static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static LOCK: OnceLock<String> = OnceLock::new();
static LAZY: LazyLock<Mutex<Vec<String>>> = LazyLock::new(Mutex::default);

thread_local! {
    static LOCAL: Cell<u32> = const { Cell::new(1) };
}

#[test]
fn statics_are_fresh_in_every_execution() {
    let count = executions(|| {
        assert_eq!(LOCAL.replace(5), 1);
        let t = thread::spawn(|| {
            assert_eq!(LOCAL.replace(7), 1);
            COUNTER.fetch_add(1, Relaxed);
            LIST.lock().unwrap().push(1);
            LAZY.lock().unwrap().push(String::from("t"));
            LOCK.get_or_init(|| "t".into()).len()
        });
        COUNTER.fetch_add(1, Relaxed);
        LIST.lock().unwrap().push(2);
        LAZY.lock().unwrap().push(String::from("m"));
        let mine = LOCK.get_or_init(|| "main".into()).len();
        assert_eq!(t.join().unwrap(), mine);
        assert_eq!((COUNTER.load(Relaxed), LOCAL.get()), (2, 5));
        let mut list = LIST.lock().unwrap();
        list.sort();
        assert_eq!(*list, [1, 2]);
        assert_eq!(LAZY.lock().unwrap().len(), 2);
    });
    assert!(count > 8, "{count}");
    assert_eq!((COUNTER.load(Relaxed), LIST.lock().unwrap().len(), LOCK.get()), (0, 0, None));
}

/// What a lazy value holds is made anew in each execution, and dropped once.
#[test]
fn locks_in_lazy_statics_are_made_anew() {
    static LAZY: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| Mutex::new(vec![1, 2]));
    static ONCE: OnceLock<Mutex<Vec<u32>>> = OnceLock::new();
    let once = || ONCE.get_or_init(|| Mutex::new(vec![1]));
    let count = executions(move || {
        let t = thread::spawn(move || {
            LAZY.lock().unwrap().push(3);
            once().lock().unwrap().push(2);
        });
        LAZY.lock().unwrap().push(4);
        once().lock().unwrap().push(2);
        t.join().unwrap();
        assert_eq!((LAZY.lock().unwrap().len(), once().lock().unwrap().len()), (4, 3));
    });
    assert!(count > 3, "{count}");
}
