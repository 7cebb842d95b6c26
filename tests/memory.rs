//! What a process holds does not grow with the number of models that it has checked, nor with the number of executions.

use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::sync::{Arc, Mutex};
use interleave::{Builder, thread};

const MODELS: usize = 10_000;
const SETTLED_AFTER: usize = 1_000;
const EXECUTIONS: u64 = 1_000_000;

/// What may come and go: the allocator's own, and what other threads of the test program do.
const SLACK_BYTES: usize = 2 << 20;

/// Resident memory; `None` where that is not known.
fn resident() -> Option<usize> {
    const PAGE_BYTES: usize = 4096;
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split_whitespace().nth(1)?.parse::<usize>().ok()? * PAGE_BYTES)
}

fn deadlock() {
    let (a, b) = (Arc::new(Mutex::new(vec![0u8; 100])), Arc::new(Mutex::new(0)));
    let (a2, b2) = (a.clone(), b.clone());
    let thread = thread::spawn(move || {
        let _first = b2.lock().unwrap();
        let _second = a2.lock().unwrap();
    });
    {
        let _first = a.lock().unwrap();
        let _second = b.lock().unwrap();
    }
    thread.join().unwrap();
}

fn adds() {
    let counter = Arc::new(AtomicUsize::new(0));
    let other = counter.clone();
    let thread = thread::spawn(move || {
        for _ in 0..10 {
            other.fetch_add(1, Relaxed);
        }
    });
    for _ in 0..10 {
        counter.fetch_add(1, Relaxed);
    }
    thread.join().unwrap();
}

/// One test, as it measures the process.
#[test]
fn memory_is_flat() {
    if resident().is_none() {
        println!("skipped: resident memory is not known on this platform");
        return;
    }
    let grown = |since: usize| resident().unwrap().saturating_sub(since);

    let mut settled = 0;
    for model in 0..MODELS {
        if model == SETTLED_AFTER {
            settled = resident().unwrap();
        }
        let report = Builder::new().explore(deadlock);
        assert!(report.failure.is_some(), "{report}");
    }
    assert!(grown(settled) < SLACK_BYTES, "deadlocked models left {} bytes behind", grown(settled));

    Builder::new().max_executions(SETTLED_AFTER as u64).explore(adds);
    let settled = resident().unwrap();
    let mut executions = 0;
    while executions < EXECUTIONS {
        executions += Builder::new().max_executions(EXECUTIONS - executions).explore(adds).executions;
    }
    assert!(grown(settled) < SLACK_BYTES, "executions left {} bytes behind", grown(settled));
}
