//! A lost update: two threads increment a counter, each with a load and a store.
//!
//! `cargo run --release --example counter` finds it, prints the order that loses the update, and shows that `fetch_add` is
//! right.

use std::process::ExitCode;

use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicU32, Ordering};
use interleave::{Builder, Verdict, thread};

/// Adds one with `increment` in each of two threads.
fn two_increments(increment: fn(&AtomicU32)) {
    let counter = Arc::new(AtomicU32::new(0));
    let threads = ["inc-1", "inc-2"].map(|name| {
        let counter = counter.clone();
        thread::Builder::new().name(name.into()).spawn(move || increment(&counter)).expect("threads can be spawned")
    });
    for thread in threads {
        thread.join().expect("no thread panics");
    }
    assert_eq!(counter.load(Ordering::Relaxed), 2);
}

fn load_and_store(counter: &AtomicU32) {
    let value = counter.load(Ordering::Acquire);
    counter.store(value + 1, Ordering::Release);
}

fn add(counter: &AtomicU32) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn main() -> ExitCode {
    let bug = Builder::new().explore(|| two_increments(load_and_store));
    println!("{}\n", bug.failure.as_ref().map_or("no failure", |failure| &failure.report));
    let fixed = Builder::new().explore(|| two_increments(add));
    println!("with fetch_add: {fixed}");
    let as_expected = bug.failure.is_some() && fixed.verdict == Verdict::Complete;
    println!(
        "{}",
        if as_expected { "as expected: the bug was found, and the fix is clean" } else { "NOT as expected" }
    );
    if as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
