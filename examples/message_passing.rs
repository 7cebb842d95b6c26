//! A message and a flag that says it is there, both relaxed: no interleaving breaks it, weak memory does.
//!
//! `cargo run --release --example message_passing` finds it, shows the stale read, and shows that a release store read by an
//! acquire load is right.

use std::process::ExitCode;

use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use interleave::{Builder, Verdict, thread};

/// Passes a message under a flag that is stored and loaded with these orderings.
fn pass_a_message(store: Ordering, load: Ordering) {
    let mail = Arc::new((AtomicU32::new(0), AtomicBool::new(false)));
    let sender = mail.clone();
    let sending = thread::Builder::new().name("sender".into()).spawn(move || {
        let (message, ready) = &*sender;
        message.store(42, Ordering::Relaxed);
        ready.store(true, store);
    });
    let (message, ready) = &*mail;
    if ready.load(load) {
        assert_eq!(message.load(Ordering::Relaxed), 42, "the flag is set, so the message is there");
    }
    sending.expect("threads can be spawned").join().expect("no thread panics");
}

fn main() -> ExitCode {
    let bug = Builder::new().explore(|| pass_a_message(Ordering::Relaxed, Ordering::Relaxed));
    println!("{}\n", bug.failure.as_ref().map_or("no failure", |failure| &failure.report));
    let half = Builder::new().explore(|| pass_a_message(Ordering::Release, Ordering::Relaxed));
    println!(
        "with a release store and a relaxed load: {}",
        if half.failure.is_some() { "found, too" } else { "NOT found" }
    );
    let fixed = Builder::new().explore(|| pass_a_message(Ordering::Release, Ordering::Acquire));
    println!("with release and acquire: {fixed}");
    let as_expected = bug.failure.is_some() && half.failure.is_some() && fixed.verdict == Verdict::Complete;
    println!(
        "{}",
        if as_expected { "as expected: the bug was found, and the fix is clean" } else { "NOT as expected" }
    );
    if as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
