//! Threads that do what nobody comes back from: they use up their stack, panic while they unwind, or run on without any
//! operation. The model fails with their name, the execution, an order, and a token that leads there again; the process goes
//! on.

use std::hint::black_box;
use std::time::{Duration, Instant};

use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::{Builder, Failure, Kind, Strategy, Verdict, hint, thread};

/// Never ends.
fn endless(n: u64) -> u64 {
    let big = black_box([n; 64]);
    if n == u64::MAX { 0 } else { endless(n + 1) + big[3] }
}

/// Never ends, and does something on its way.
fn endless_work(n: &AtomicUsize) -> usize {
    let big = black_box([n.fetch_add(1, Relaxed); 64]);
    if big[0] == usize::MAX { 0 } else { endless_work(n) + big[3] }
}

#[track_caller]
fn fails(builder: Builder, kind: Kind, body: impl Fn() + Send + Sync) -> Failure {
    let report = builder.explore(body);
    assert_eq!(report.verdict, Verdict::Failed(kind), "{report}\n{:?}", report.failure);
    let failure = report.failure.clone().expect("a failed model has a failure");
    assert!(failure.execution > 0 && failure.execution == report.executions, "{report}\n{}", failure.report);
    assert!(failure.token.starts_with("il1:"), "{}", failure.report);
    assert!(failure.report.contains("the breaking order") || failure.token.len() < 60, "{}", failure.report);
    failure
}

#[track_caller]
fn says(failure: &Failure, parts: &[&str]) {
    let flat = failure.report.split_whitespace().collect::<Vec<_>>().join(" ");
    parts.iter().for_each(|part| assert!(flat.contains(part), "{part:?} is not in:\n{}", failure.report));
}

/// The spawned thread is lost if it comes second: in one of two executions.
fn lost_if_second(lose: fn(&AtomicUsize)) -> impl Fn() + Send + Sync {
    move || {
        let n = Arc::new(AtomicUsize::new(0));
        let theirs = n.clone();
        let t = thread::Builder::new().name("deep".to_owned());
        let t = t.spawn(move || {
            if theirs.fetch_add(1, Relaxed) == 1 {
                lose(&theirs);
            }
        });
        n.fetch_add(1, Relaxed);
        t.unwrap().join().unwrap();
    }
}

const OVERFLOW: &str = "error[interleave::limit]: thread `deep` has used up its stack of 262144 bytes";

/// As many strategies and ways to share the work as there are.
fn builders(test: &str) -> Vec<Builder> {
    let checkpoint = std::env::temp_dir().join(format!("interleave-lost-{}-{test}", std::process::id()));
    let _ = std::fs::remove_file(&checkpoint);
    vec![
        Builder::new(),
        Builder::new().preemption_bound(2),
        Builder::new().workers(2),
        Builder::new().checkpoint(checkpoint),
        Builder::new().strategy(Strategy::Interleavings),
        Builder::new().strategy(Strategy::Random),
        Builder::new().strategy(Strategy::Auto),
    ]
}

#[test]
fn a_stack_that_is_used_up_is_told_with_an_order() {
    let overflow = |_: &AtomicUsize| _ = black_box(endless(0));
    for builder in builders("overflow") {
        let failure = fails(builder, Kind::Limit, lost_if_second(overflow));
        says(
            &failure,
            &[OVERFLOW, "n#1.fetch_add(1, Relaxed) 0 → 1", "1 → 2", "INTERLEAVE_STACK_SIZE", "endless recursion"],
        );
    }
}

#[test]
fn a_stack_may_be_used_up_within_an_operation() {
    let failure = fails(Builder::new(), Kind::Limit, lost_if_second(|n| _ = black_box(endless_work(n))));
    says(&failure, &[OVERFLOW, "fetch_add(1, Relaxed) 1 → 2"]);
}

#[test]
fn a_stack_may_be_used_up_at_once() {
    let failure = fails(Builder::new(), Kind::Limit, || _ = black_box(endless(0)));
    says(&failure, &["error[interleave::limit]: thread `main` has used up its stack of 262144 bytes"]);
    let failure = fails(Builder::new(), Kind::Limit, || {
        let first = thread::spawn(|| ());
        let t = thread::Builder::new().name("deep".to_owned()).spawn(|| black_box(endless(0))).unwrap();
        first.join().unwrap();
        t.join().unwrap();
    });
    says(&failure, &[OVERFLOW, "spawn deep"]);
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the destructor panics");
    }
}

#[test]
fn a_panic_while_unwinding_is_told_with_an_order() {
    let lose = |_: &AtomicUsize| {
        let _bomb = Bomb;
        panic!("the first panic");
    };
    for builder in builders("panic") {
        let failure = fails(builder, Kind::Panic, lost_if_second(lose));
        says(&failure, &["error[interleave::panic]: thread `deep`: panic in a destructor during cleanup", "1 → 2"]);
    }
}

/// What a wrong end of a passing execution would be: the value of an `Arc` may be dropped as everything has to begin anew.
#[test]
fn what_ends_only_to_begin_anew_may_panic_meanwhile() {
    struct Adds(Arc<AtomicUsize>, Option<Bomb>);
    impl Drop for Adds {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
            std::mem::forget(self.1.take());
        }
    }
    let report = Builder::new().explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let bomb = Bomb;
        let a = Arc::new(Adds(n.clone(), None));
        let b = a.clone();
        let t = thread::spawn(move || drop(b));
        drop(a);
        t.join().unwrap();
        assert_eq!(n.load(Relaxed), 1);
        std::mem::forget(bomb);
    });
    assert_eq!(report.verdict, Verdict::Complete, "{report}\n{:?}", report.failure);
}

/// Short enough for a test, and long enough for a busy machine.
const PAUSE: Duration = Duration::from_millis(1500);

#[test]
fn a_loop_without_any_operation_is_told_with_an_order() {
    let lose = |_: &AtomicUsize| {
        while black_box(true) {
            std::hint::spin_loop();
        }
    };
    let began = Instant::now();
    let failure = fails(Builder::new().max_pause(PAUSE), Kind::Limit, lost_if_second(lose));
    assert!(began.elapsed() < 20 * PAUSE, "it takes {:?}", began.elapsed());
    says(
        &failure,
        &[
            "error[interleave::limit]: thread `deep` has run for 1.5 s without an operation of the model",
            "fetch_add(1, Relaxed) 1 → 2",
            "INTERLEAVE_MAX_PAUSE",
        ],
    );
    // The next model runs as if nothing had been.
    let report = Builder::new().explore(lost_if_second(|_| ()));
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 2), "{report}");
}

/// A lock of std that a thread keeps while it waits in the model: the other one blocks the whole worker.
#[test]
fn a_wait_for_something_that_is_not_modelled_is_told() {
    let failure = fails(Builder::new().max_pause(PAUSE), Kind::Limit, || {
        let held = std::sync::Arc::new(std::sync::Mutex::new(()));
        let n = Arc::new(AtomicUsize::new(0));
        let theirs = (held.clone(), n.clone());
        let t = thread::Builder::new().name("waits".to_owned());
        let t = t.spawn(move || {
            theirs.1.fetch_add(1, Relaxed);
            drop(theirs.0.lock());
        });
        let guard = held.lock();
        while n.load(Relaxed) == 0 {
            hint::spin_loop();
        }
        n.fetch_add(1, Relaxed);
        t.unwrap().join().unwrap();
        drop(guard);
    });
    says(&failure, &["thread `waits` has run for 1.5 s without an operation", "a lock of std"]);
}

#[test]
fn a_thread_that_takes_its_time_is_fine() {
    let report = Builder::new().max_pause(PAUSE).explore(lost_if_second(|_| std::thread::sleep(PAUSE / 3)));
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 2), "{report}");
}

/// Run by the test below, with and without a token.
#[test]
#[ignore = "run by a test of replays"]
fn child_overflows() {
    let report = Builder::new().name("overflows").explore(lost_if_second(|_| _ = black_box(endless(0))));
    let failure = report.failure.expect("it fails");
    println!("{}\ntoken: {}", failure.report, failure.token);
}

#[test]
fn a_token_leads_there_again() {
    let child = |token: &str| {
        let mut command = std::process::Command::new(std::env::current_exe().expect("this test has an executable"));
        command.args(["--exact", "child_overflows", "--ignored", "--nocapture"]).env("INTERLEAVE_REPLAY", token);
        String::from_utf8_lossy(&command.output().expect("the test can be run again").stdout).into_owned()
    };
    let first = child("");
    let token = first.lines().find_map(|line| line.strip_prefix("token: ")).expect("a token is printed");
    let again = child(token);
    assert!(again.contains(OVERFLOW) && again.contains("= found: replayed"), "{again}");
    assert!(again.contains(&format!("token: {token}")), "{token}\n{again}");
}
