//! Several workers, several processes, several sittings: together they explore what one would.

use std::collections::BTreeMap;
use std::sync::Mutex as StdMutex;
use std::time::Duration;

use interleave::sync::atomic::{AtomicUsize, Ordering};
use interleave::sync::{Arc, Mutex, mpsc};
use interleave::{Builder, Memory, Report, Verdict, thread};

use Ordering::{Acquire, Relaxed, Release};

/// `threads` threads that each add `times`, and note what they saw.
fn adds(threads: usize, times: usize) -> impl Fn() -> Vec<usize> + Send + Sync {
    move || {
        let n = Arc::new(AtomicUsize::new(0));
        let spawn = |n: Arc<AtomicUsize>| {
            thread::spawn(move || (0..times).map(|_| n.fetch_add(1, Relaxed)).collect::<Vec<_>>())
        };
        let handles: Vec<_> = (0..threads).map(|_| spawn(n.clone())).collect();
        handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
    }
}

/// Producers and a consumer, a lock, and weak memory.
fn mixture() -> Vec<usize> {
    let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let total = Arc::new(Mutex::new(0));
    let (sender, receiver) = mpsc::channel();
    let spawn = |n: usize| {
        let (x, y, total, sender) = (x.clone(), y.clone(), total.clone(), sender.clone());
        thread::spawn(move || {
            x.store(n, Release);
            sender.send(y.load(Acquire)).unwrap();
            y.store(n, Relaxed);
            *total.lock().unwrap() += n;
        })
    };
    let handles: Vec<_> = (1..=2).map(spawn).collect();
    drop(sender);
    let mut seen: Vec<usize> = receiver.iter().collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
    seen.extend([x.load(Relaxed), y.load(Relaxed), *total.lock().unwrap()]);
    seen
}

/// How often the executions come to each result.
type Results = BTreeMap<Vec<usize>, u64>;

fn results(builder: Builder, model: &(dyn Fn() -> Vec<usize> + Send + Sync)) -> (Report, Results) {
    let results = StdMutex::new(Results::new());
    let report = builder.explore(|| {
        let result = model();
        *results.lock().unwrap().entry(result).or_default() += 1;
    });
    (report, results.into_inner().unwrap())
}

/// A model and how many executions it has.
type Model = (Box<dyn Fn() -> Vec<usize> + Send + Sync>, Option<u64>);

fn models() -> [Model; 3] {
    [(Box::new(adds(3, 2)), Some(90)), (Box::new(adds(6, 1)), Some(720)), (Box::new(mixture), None)]
}

#[test]
fn workers_run_the_same_executions() {
    for (model, executions) in models() {
        let (alone, expected) = results(Builder::new(), &*model);
        assert_eq!(alone.verdict, Verdict::Complete, "{alone}");
        assert!(executions.is_none_or(|n| n == alone.executions), "{alone}");
        assert!(alone.executions > 20, "{alone}");
        for workers in [2, 3, 8] {
            let (report, found) = results(Builder::new().workers(workers), &*model);
            assert_eq!((report.verdict, report.executions), (Verdict::Complete, alone.executions), "{report}");
            assert_eq!(found, expected, "{workers} workers");
        }
    }
}

#[test]
fn workers_share_bounded_searches() {
    let bounded =
        |workers| results(Builder::new().memory(Memory::Sc).preemption_bound(1).workers(workers), &adds(3, 3));
    let ((alone, expected), (shared, found)) = (bounded(1), bounded(2));
    assert_eq!((alone.verdict, shared.verdict), (Verdict::Bounded, Verdict::Bounded));
    assert_eq!(shared.executions, alone.executions);
    // Executions that turn out to have too many preemptions are run, too.
    assert_eq!(found, expected);
}

/// The first failure in the order of one worker is the one that is told, whoever finds one first.
#[test]
fn workers_tell_the_same_failure() {
    let model = |late: usize| {
        move || {
            let n = Arc::new(AtomicUsize::new(0));
            let spawn = |n: Arc<AtomicUsize>| thread::spawn(move || n.fetch_add(1, Relaxed));
            let handles: Vec<_> = (0..5).map(|_| spawn(n.clone())).collect();
            let order: Vec<usize> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
            let number = order.iter().fold(0, |number, n| number * 5 + n);
            assert!(number % 7 != late, "the order is {order:?}");
        }
    };
    for late in 0..7 {
        let alone = Builder::new().explore(model(late));
        let expected = alone.failure.as_ref().expect("it fails");
        for workers in [2, 4] {
            let report = Builder::new().workers(workers).explore(model(late));
            let failure = report.failure.as_ref().expect("it fails");
            assert_eq!((failure.execution, &failure.report), (expected.execution, &expected.report));
            assert_eq!((report.executions, &report.cut), (alone.executions, &alone.cut));
        }
    }
}

#[test]
fn workers_stop_at_a_limit() {
    let report = Builder::new().workers(3).max_executions(500).explore(|| _ = adds(7, 1)());
    assert_eq!((report.verdict, report.executions), (Verdict::Bounded, 500), "{report}");
    assert_eq!(report.cut, ["stopped after 500 executions"]);
    let report = Builder::new().workers(2).max_duration(Duration::from_millis(100)).explore(|| _ = adds(10, 2)());
    assert_eq!((report.verdict, report.cut[0].as_str()), (Verdict::Bounded, "stopped by the time limit"), "{report}");
}

/// A `static` is one for all threads, so there is one worker.
#[test]
fn models_with_statics_are_explored_by_one() {
    static TOTAL: AtomicUsize = AtomicUsize::new(0);
    static LIST: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let model = || {
        let spawn = |n: usize| {
            thread::spawn(move || {
                LIST.lock().unwrap().push(n);
                TOTAL.fetch_add(n, Relaxed)
            })
        };
        let handles: Vec<_> = (1..=3).map(spawn).collect();
        handles.into_iter().for_each(|handle| _ = handle.join().unwrap());
        assert_eq!((TOTAL.load(Relaxed), LIST.lock().unwrap().len()), (6, 3));
    };
    let alone = Builder::new().explore(model);
    let shared = Builder::new().workers(4).explore(model);
    assert_eq!(alone.verdict, Verdict::Complete, "{alone}");
    assert_eq!((shared.verdict, shared.executions), (alone.verdict, alone.executions), "{shared}");
}

#[test]
fn a_counted_value_is_learned_by_all() {
    let model = || {
        let shared = Arc::new(());
        let spawn = |one: Arc<()>| thread::spawn(move || Arc::strong_count(&one));
        let handles: Vec<_> = (0..2).map(|_| spawn(shared.clone())).collect();
        handles.into_iter().for_each(|handle| _ = handle.join().unwrap());
    };
    let (alone, shared) = (Builder::new().explore(model), Builder::new().workers(2).explore(model));
    assert_eq!((shared.verdict, shared.executions), (alone.verdict, alone.executions), "{shared}");
}

#[test]
fn shares_add_up() {
    for (model, _) in models() {
        let (alone, expected) = results(Builder::new(), &*model);
        let mut sum = 0;
        for number in 1..=3 {
            let (report, found) = results(Builder::new().shard(number, 3), &*model);
            assert_eq!(report.verdict, Verdict::Bounded, "{report}");
            assert_eq!(report.cut, [format!("share {number} of 3")]);
            sum += report.executions;
            // What is run to find the pieces is run by each.
            assert!(found.keys().all(|result| expected.contains_key(result)));
        }
        assert_eq!(sum, alone.executions);
    }
    // Large enough for each to have about a third: 5,040 executions.
    let shares: Vec<u64> =
        (1..=3).map(|n| results(Builder::new().shard(n, 3).workers(2), &adds(7, 1)).0.executions).collect();
    assert_eq!(shares.iter().sum::<u64>(), 5_040, "{shares:?}");
    assert!(shares.iter().all(|share| *share > 800), "{shares:?}");
}

#[test]
fn a_search_is_taken_up_again() {
    let path = std::env::temp_dir().join(format!("interleave-checkpoint-{}.json", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let model = adds(7, 1);
    let sit = |executions| results(Builder::new().checkpoint(&path).max_executions(executions), &model);
    let mut sittings = 0;
    let last = loop {
        sittings += 1;
        let (report, _) = sit(900);
        if report.verdict == Verdict::Complete {
            break report;
        }
        assert_eq!(report.verdict, Verdict::Bounded, "{report}");
        assert!(sittings < 20, "no end");
    };
    assert_eq!(last.executions, 5_040);
    assert!(sittings > 4, "{sittings} sittings");
    // Nothing is left to do, and nothing but the pieces is found again.
    let (report, found) = sit(900);
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 5_040), "{report}");
    assert!(found.values().sum::<u64>() < 500);
    // Another model must not take it for its own.
    let (report, _) = results(Builder::new().checkpoint(&path).memory(Memory::Sc), &model);
    let failure = report.failure.expect("it cannot be used");
    assert!(failure.message.contains("is of another configuration"), "{}", failure.message);
    std::fs::write(&path, "{").unwrap();
    let (report, _) = sit(900);
    assert!(report.failure.expect("it cannot be used").message.contains("delete it to begin anew"));
    std::fs::remove_file(&path).unwrap();
}

/// Processor time of this process so far.
#[cfg(unix)]
fn processor_time() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the call fills in what it is given, and cannot fail for the own process.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1_000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Two workers do the work of one in hardly more processor time, and share it evenly; on two idle processors they need little
/// more than half of the time.
#[test]
#[cfg(unix)]
#[ignore = "takes a minute, and means something on an idle machine only"]
fn two_workers_are_faster() {
    let measure = |workers| {
        let (began, used) = (std::time::Instant::now(), processor_time());
        let report = Builder::new().workers(workers).explore(|| _ = adds(9, 1)());
        assert_eq!((report.verdict, report.executions), (Verdict::Complete, 362_880), "{report}");
        (began.elapsed().as_secs_f64(), (processor_time() - used).as_secs_f64())
    };
    let (alone, shared) = (measure(1), measure(2));
    println!(
        "one worker {:.2} s ({:.2} s of processor time), two {:.2} s ({:.2} s)",
        alone.0, alone.1, shared.0, shared.1
    );
    assert!(alone.0 / shared.0 >= 1.7, "{:.2} times as fast", alone.0 / shared.0);
}
