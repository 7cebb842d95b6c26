//! Recorded executions: they fail again, pass, or have become others; kept files run first.
//!
//! The tests run the ignored ones below in processes of their own. `VARIANT` says what the program is like: replays of an
//! execution of the first variant are followed in the others.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use interleave::{Builder, Kind, Verdict, thread};

fn is(variant: &str) -> bool {
    std::env::var("VARIANT").is_ok_and(|value| value == variant)
}

/// Loses an update; what it does besides depends on the variant.
#[test]
#[ignore = "run by the tests of replays"]
fn child_loses_update() {
    Builder::new().check(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let fixed = is("fixed with other operations");
        let add = move |n: &AtomicUsize| match fixed {
            true => drop(n.fetch_add(1, Relaxed)),
            false => n.store(n.load(Relaxed) + 1, Relaxed),
        };
        let t = thread::spawn(move || add(&m));
        let own = AtomicUsize::new(0);
        if is("local steps come in") {
            own.store(1, Relaxed);
            own.swap(2, Relaxed);
        }
        if !is("local steps go") {
            own.fetch_add(1, Relaxed);
        }
        add(&n);
        t.join().unwrap();
        let sum = n.load(Relaxed);
        if is("fails with another message") {
            assert!(sum == 2, "lost");
        }
        assert!(sum == 2 || is("expects less"), "an update is lost");
    });
}

/// A directory that goes away.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        // Tests may give the same name.
        static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Relaxed);
        let path = std::env::temp_dir().join(format!("interleave-replays-{}-{number}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary directory can be written");
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// All of them write the same replay file when they fail.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs `child_loses_update` as this variant.
fn run(variant: &str, package: &Path, variables: &[(&str, &str)]) -> Output {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    run_alone(variant, package, variables)
}

fn run_alone(variant: &str, package: &Path, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this test has an executable"));
    command.args(["--exact", "child_loses_update", "--ignored", "--nocapture", "--test-threads=1"]);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("INTERLEAVE_")) {
        command.env_remove(name);
    }
    command.env_remove("RUST_BACKTRACE").env("VARIANT", variant).env("CARGO_MANIFEST_DIR", package);
    command.envs(variables.iter().copied()).output().expect("the test can be run again")
}

/// What the run said, as one line.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn contains(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in:\n{text}");
}

/// The replay file of the first variant, copied to `to`, and the events of the run that wrote it.
fn record(directory: &Directory, to: &str) -> PathBuf {
    let events = directory.0.join("recording.jsonl");
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let output = run_alone("", &directory.0, &[("INTERLEAVE_EVENTS", events.to_str().expect("a plain path"))]);
    assert!(!output.status.success(), "{}", said(&output));
    let events = std::fs::read_to_string(events).expect("events were written");
    let of = |kind: &str| {
        let prefix = format!("{{\"event\":\"{kind}\"");
        let mut lines = events.lines().filter(|line| line.starts_with(&prefix));
        let line = lines.next().unwrap_or_else(|| panic!("no {kind} in:\n{events}")).to_owned();
        assert_eq!(lines.next(), None, "one model ran");
        line
    };
    contains(&of("started"), "\"test\":\"child_loses_update\",\"program\":\"replays\",\"place\":\"tests/replays.rs:");
    contains(&of("ended"), "\"failure\":\"panic\",\"message\":\"an update is lost\"");
    let recorded = of("recorded");
    let file = recorded.split("\"file\":\"").nth(1).and_then(|rest| rest.strip_suffix("\"}")).expect("a path");
    let copy = directory.0.join(to);
    std::fs::create_dir_all(copy.parent().expect("it has one")).expect("the directory can be written");
    std::fs::copy(file, &copy).expect("the file is there");
    copy
}

/// What a replay of the first variant in `variant` says, and whether the test passes then. Also the outcome for programs.
fn replay(variant: &str, more: &[(&str, &str)]) -> (bool, String, String) {
    let directory = Directory::new(&variant.replace(' ', "-"));
    let file = record(&directory, "x.il");
    let events = directory.0.join("replay.jsonl");
    let path = |path: &Path| path.to_str().expect("a plain path").to_owned();
    let (file, events_path) = (path(&file), path(&events));
    let mut variables = vec![("INTERLEAVE_REPLAY", file.as_str()), ("INTERLEAVE_EVENTS", events_path.as_str())];
    variables.extend(more);
    let output = run(variant, &directory.0, &variables);
    let events = std::fs::read_to_string(&events).expect("events were written");
    let replayed = events.lines().find(|line| line.starts_with("{\"event\":\"replayed\"")).expect("it was replayed");
    let outcome = replayed.split("\"outcome\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an outcome");
    (output.status.success(), said(&output), outcome.to_owned())
}

#[test]
fn the_same_program_fails_in_the_same_way() {
    let (passes, text, outcome) = replay("", &[]);
    assert_eq!((passes, outcome.as_str()), (false, "same"));
    contains(&text, "error[interleave::panic]: an update is lost");
    contains(&text, "= found: replayed");
}

#[test]
fn a_failure_that_is_not_there_any_more_passes() {
    let (passes, text, outcome) = replay("expects less", &[]);
    assert_eq!((passes, outcome.as_str()), (true, "passes"));
    contains(
        &text,
        "child_loses_update: the recorded execution passes now (replayed; no other execution was explored)",
    );
}

#[test]
fn another_failure_is_not_taken_for_the_same() {
    let (passes, text, outcome) = replay("fails with another message", &[]);
    assert_eq!((passes, outcome.as_str()), (false, "other"));
    contains(&text, "error[interleave::panic]: lost");
    contains(&text, "another failure than the recorded one: `panic` (an update is lost)");
}

#[test]
fn other_operations_on_what_threads_share_are_another_execution() {
    let (passes, text, outcome) = replay("fixed with other operations", &[]);
    assert_eq!((passes, outcome.as_str()), (false, "diverged"));
    contains(&text, "error[interleave::replay]: the replay diverged: decision ");
    contains(&text, " of the recording (`load` by 0 at tests/replays.rs:");
    contains(&text, " cannot be followed any more; now it is `fetch_add` by 0 at tests/replays.rs:");
    contains(&text, "it cannot be repaired: `fetch_add` of AtomicUsize by thread 0 at tests/replays.rs:");
}

#[test]
fn local_steps_that_come_or_go_are_repaired() {
    let (passes, text, outcome) = replay("local steps come in", &[]);
    assert_eq!((passes, outcome.as_str()), (false, "same"), "{text}");
    contains(&text, "error[interleave::panic]: an update is lost");
    contains(&text, "repaired: the program has changed, 0 local steps left out and 2 put in");
    let (passes, text, outcome) = replay("local steps go", &[]);
    assert_eq!((passes, outcome.as_str()), (false, "same"), "{text}");
    contains(&text, "repaired: the program has changed, 1 local step left out and 0 put in");
}

#[test]
fn repair_can_be_switched_off() {
    let (passes, text, outcome) = replay("local steps come in", &[("INTERLEAVE_REPAIR", "0")]);
    assert_eq!((passes, outcome.as_str()), (false, "diverged"));
    contains(&text, "decision 2 of the recording (`fetch_add` by 0 at tests/replays.rs:");
    contains(&text, "now it is `store` by 0 at tests/replays.rs:");
}

#[test]
fn kept_files_run_first() {
    let directory = Directory::new("kept");
    record(&directory, "tests/interleave/replays--child_loses_update.il");
    let output = run("", &directory.0, &[]);
    assert!(!output.status.success());
    contains(&said(&output), "= found: replayed");
    // The exploration comes after it, and counts as ever: one thread reads what the other has stored, or both read the
    // initial value and store in either order.
    let output = run("expects less", &directory.0, &[("INTERLEAVE_LOG", "summary")]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(!said(&output).contains("stale"), "{}", said(&output));
    contains(&said(&output), "child_loses_update: complete: 4 executions (0 blocked), RC11");
}

#[test]
fn stale_files_are_said_or_denied() {
    let directory = Directory::new("stale");
    record(&directory, "tests/interleave/replays--child_loses_update.il");
    let variant = "fixed with other operations";
    let output = run(variant, &directory.0, &[]);
    assert!(output.status.success(), "{}", said(&output));
    contains(
        &said(&output),
        "child_loses_update: stale: tests/interleave/replays--child_loses_update.il: the replay diverged",
    );
    let output = run(variant, &directory.0, &[("INTERLEAVE_STALE", "deny")]);
    assert!(!output.status.success());
    contains(
        &said(&output),
        "error[interleave::replay]: stale: tests/interleave/replays--child_loses_update.il: the replay",
    );
    contains(&said(&output), "delete the file if it is of no use any more");
}

#[test]
fn damaged_kept_files_are_stale_and_those_of_others_nobodys() {
    let directory = Directory::new("damaged");
    let file = record(&directory, "tests/interleave/replays--child_loses_update.2.il");
    let text = std::fs::read_to_string(&file).expect("it was written");
    std::fs::write(&file, text.replacen("RC11", "SC", 1)).expect("it can be written");
    std::fs::write(file.with_file_name("replays--another.il"), "nonsense").expect("it can be written");
    let output = run("expects less", &directory.0, &[]);
    assert!(output.status.success(), "{}", said(&output));
    let text = said(&output);
    contains(&text, "stale: the replay file `tests/interleave/replays--child_loses_update.2.il` is damaged in line 1");
    assert!(!text.contains("another"), "{text}");
    let output = run("expects less", &directory.0, &[("INTERLEAVE_STALE", "deny")]);
    assert!(!output.status.success());
    let output = run("expects less", &directory.0, &[("INTERLEAVE_STALE", "no")]);
    contains(&said(&output), "INTERLEAVE_STALE is \"no\", but it takes `warn` or `deny`");
}

#[test]
fn numbers_of_threads_do_not_depend_on_the_search() {
    // In the order that fails, the thread within the first one is made before the second one; in the order that is tried
    // first, after it.
    let report = Builder::new().name("nested").explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let (a, b) = (n.clone(), n.clone());
        let first = thread::spawn(move || {
            let c = a.clone();
            thread::spawn(move || c.store(1, SeqCst)).join().unwrap();
            a.store(2, SeqCst);
        });
        let seen = n.load(SeqCst);
        let second = thread::spawn(move || assert!(seen != 2 || b.load(SeqCst) != 2, "both seen"));
        first.join().unwrap();
        second.join().unwrap();
    });
    let failure = report.failure.expect("it fails");
    assert_eq!(report.verdict, Verdict::Failed(Kind::Panic), "{}", failure.report);
    assert_eq!(failure.message, "both seen");
}
