//! Two daemons start at the same time, and both end up serving: on the socket that they claim, without and with a socket file
//! that a crash left behind. Then what maintainers tried, and what works.
//!
//! `cargo run --release --example socket_claim` explores; with `-- --real` the same source runs on real sockets instead, many
//! times, and says how often it went wrong.

#![expect(clippy::duplicate_mod, reason = "the daemon is compiled against two sets of types")]

mod explored;
mod real;

use std::process::ExitCode;

use explored::Before;
use interleave::{Builder, Report, Verdict};

fn main() -> ExitCode {
    let as_expected = if std::env::args().any(|argument| argument == "--real") { run() } else { explore() };
    if as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Explores all variants; whether each comes out as it should.
fn explore() -> bool {
    use explored::Startup;
    let bug = bounded(Startup::Original, Before::Nothing);
    println!("{}\n", bug.failure.as_ref().map_or("no failure", |failure| &failure.report));
    let mut good = found("the original", Before::Nothing, &bug);
    for (name, how, befores) in [
        ("the original", Startup::Original, &[Before::Debris][..]),
        ("fix 1: bind first", Startup::BindFirst, &[Before::Nothing, Before::Debris]),
        ("fix 2: a lock, released before listen", Startup::LockTooShort, &[Before::Nothing, Before::Debris]),
        ("fix 3: rename over the path", Startup::RenameOver, &[Before::Nothing, Before::Debris]),
    ] {
        for &before in befores {
            good &= found(name, before, &bounded(how, before));
        }
    }
    for (daemons, before) in [(2, Before::Nothing), (2, Before::Debris), (3, Before::Nothing), (3, Before::Debris)] {
        let report = explored::explore(Builder::new(), Startup::Locked, before, daemons);
        let complete = report.verdict == Verdict::Complete;
        let verdict = if complete { "complete" } else { "NOT COMPLETE" };
        println!(
            "a lock held until listen, {daemons} daemons, {before}: {verdict} in {} executions",
            report.executions
        );
        good &= complete;
    }
    good
}

fn bounded(how: explored::Startup, before: Before) -> Report {
    explored::explore(Builder::new().preemption_bound(1), how, before, 2)
}

/// Prints the line of a variant that must fail; whether it did.
fn found(name: &str, before: Before, report: &Report) -> bool {
    match &report.failure {
        Some(failure) => {
            let preemptions = failure.preemptions.map_or("no order".into(), |count| count.to_string());
            println!("{name}, {before}: found, preemptions: {preemptions}, executions: {}", report.executions);
            true
        }
        None => {
            println!("{name}, {before}: NOT FOUND in {} executions", report.executions);
            false
        }
    }
}

/// Runs all variants on real sockets; whether the one that works did.
fn run() -> bool {
    use real::Startup;
    const TIMES: u32 = 1000;
    let mut good = true;
    for how in [Startup::Original, Startup::BindFirst, Startup::LockTooShort, Startup::RenameOver, Startup::Locked] {
        for debris in [false, true] {
            let wrong =
                (0..TIMES).filter(|&time| in_a_directory(time, |at| real::run_once(how, at, debris).is_err())).count();
            println!(
                "{how:?}, {}: wrong {wrong} times of {TIMES}",
                if debris { "with debris" } else { "without debris" }
            );
            good &= how != Startup::Locked || wrong == 0;
        }
    }
    good
}

/// Calls `f` with a new directory, which is gone afterwards.
fn in_a_directory<R>(number: u32, f: impl FnOnce(&std::path::Path) -> R) -> R {
    let directory = std::env::temp_dir().join(format!("socket-claim-{}-{number}", std::process::id()));
    std::fs::create_dir(&directory).expect("a new directory");
    let result = f(&directory);
    std::fs::remove_dir_all(&directory).expect("the directory is still there");
    result
}
