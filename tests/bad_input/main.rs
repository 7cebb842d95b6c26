//! Wrong use: each gets one clear error that names the thing and the cure, and the test process goes on where the platform
//! allows it.

mod loops;
mod outside;
#[cfg(target_os = "linux")]
mod real_calls;
mod replays;

use std::process::{Command, Output};

use interleave::sync::atomic::AtomicUsize;
use interleave::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use interleave::sync::{Arc, Mutex};
use interleave::{Builder, Kind, Report, Verdict, hint, thread};

/// The report of a model that must fail with `kind`.
#[track_caller]
fn failing(report: &Report, kind: Kind) -> &str {
    assert_eq!(report.verdict, Verdict::Failed(kind), "{report}\n{:?}", report.failure);
    &report.failure.as_ref().expect("a failed model has a failure").report
}

/// That the text has each of the parts.
#[track_caller]
fn says(text: &str, parts: &[&str]) {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(flat.contains(part), "{part:?} is not in:\n{text}");
    }
}

/// Runs one of the ignored tests below in a process of its own.
fn child(test: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this test has an executable"));
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env_remove("RUST_BACKTRACE");
    command.envs(variables.iter().copied()).output().expect("the test can be run again")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Two threads add one each.
fn two_adds() {
    let n = Arc::new(AtomicUsize::new(0));
    let m = n.clone();
    let t = thread::spawn(move || m.fetch_add(1, Relaxed));
    n.fetch_add(1, Relaxed);
    t.join().unwrap();
}

/// Loses an update.
fn lost_update() {
    let n = Arc::new(AtomicUsize::new(0));
    let m = n.clone();
    let t = thread::spawn(move || m.store(m.load(Relaxed) + 1, Relaxed));
    n.store(n.load(Relaxed) + 1, Relaxed);
    t.join().unwrap();
    assert_eq!(n.load(Relaxed), 2);
}

#[test]
#[ignore = "run by the tests of the environment"]
fn child_exits() {
    Builder::new().check(|| {
        thread::spawn(|| std::process::exit(0)).join().unwrap();
    });
}

#[test]
#[ignore = "run by the test of narrow terminals"]
fn child_has_hostile_names() {
    Builder::new().check(|| {
        let m = Arc::new(Mutex::new(0));
        let theirs = m.clone();
        let name = "\u{1b}[31m<script>alert(1)</script>\u{202e}\u{7}name";
        let t = thread::Builder::new().name(name.to_owned());
        let t = t.spawn(move || *theirs.lock().unwrap() += 1).unwrap();
        *m.lock().unwrap() += 1;
        t.join().unwrap();
        panic!("\u{1b}]0;title\u{7}\nsecond \u{8}line");
    });
}

/// A terminal of 40 columns, and text from the user that would change it: nothing gets through, and no line is longer but those
/// that are to be copied.
#[test]
fn a_narrow_terminal_and_hostile_names() {
    for ascii in ["0", "1"] {
        let output = child("child_has_hostile_names", &[("COLUMNS", "40"), ("INTERLEAVE_ASCII", ascii)]);
        let text = text(&output);
        let report = text.split("error[interleave::panic]").nth(1).expect("there is a report");
        let report = report.split("note: run with").next().expect("it has a beginning");
        let unsafe_ones = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!report.contains(unsafe_ones), "{report:?}");
        assert!(ascii == "0" || report.is_ascii(), "{report}");
        says(report, &["\\u{1b}"]);
        let copied = |line: &str| ["INTERLEAVE_REPLAY=", "cargo test", "token"].iter().any(|part| line.contains(part));
        let too_long: Vec<&str> =
            report.lines().skip(1).filter(|line| line.chars().count() > 40 && !copied(line)).collect();
        assert!(too_long.is_empty(), "{too_long:#?} in:\n{report}");
    }
}

#[test]
fn exit_in_the_body_says_what_happened_and_fails() {
    let output = child("child_exits", &[]);
    assert_eq!(output.status.code(), Some(101));
    says(&text(&output), &["interleave", "process::exit", "while the model `child_exits` was running"]);
}

#[test]
fn a_program_that_differs_is_nondeterminism() {
    let runs = std::sync::atomic::AtomicUsize::new(0);
    let report = Builder::new().explore(|| {
        let run = runs.fetch_add(1, Relaxed);
        let (n, m) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(0)));
        let (n2, m2) = (n.clone(), m.clone());
        let t = thread::spawn(move || {
            n2.fetch_add(1, Relaxed);
            drop(m2.lock());
        });
        if run == 0 {
            n.fetch_add(1, Relaxed);
        }
        drop(m.lock());
        t.join().unwrap();
    });
    says(failing(&report, Kind::Nondeterminism), &["error[interleave::nondeterminism]", "tests/bad_input/main.rs"]);
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the destructor panics");
    }
}

#[test]
fn a_panic_in_a_destructor_is_a_failure() {
    let report = Builder::new().explore(|| drop(Bomb));
    says(failing(&report, Kind::Panic), &["error[interleave::panic]: the destructor panics"]);
}

#[test]
fn a_panic_in_a_destructor_during_a_panic_is_survived() {
    let report = Builder::new().explore(|| {
        let _bomb = Bomb;
        panic!("the first panic");
    });
    says(failing(&report, Kind::Panic), &["error[interleave::panic]", "panic in a destructor during cleanup"]);
}

#[test]
fn a_panic_in_a_destructor_during_teardown_is_survived() {
    let report = Builder::new().explore(|| {
        let m = Arc::new(Mutex::new(0));
        let _bomb = Bomb;
        let _held = m.lock().unwrap();
        drop(m.lock());
    });
    // What matters is that there is one failure and that the process goes on.
    assert!(matches!(report.verdict, Verdict::Failed(_)), "{report}");
}

#[test]
fn a_panic_whose_scope_waits_in_vain_is_told() {
    let report = Builder::new().explore(|| {
        let a = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                while a.load(Relaxed) == 0 {
                    hint::spin_loop();
                }
            });
            panic!("the cause");
        });
    });
    says(failing(&report, Kind::Panic), &["error[interleave::panic]: the cause"]);
}

#[test]
fn names_with_null_bytes_are_shown_escaped() {
    let report = Builder::new().name("a\0b").explore(lost_update);
    says(failing(&report, Kind::Panic), &["error[interleave::panic]"]);
}

#[test]
fn a_stack_overflow_is_survived() {
    fn endless(n: u64) -> u64 {
        let big = std::hint::black_box([n; 64]);
        if n == u64::MAX { 0 } else { endless(n + 1) + big[3] }
    }
    let report = Builder::new().explore(|| {
        thread::spawn(|| std::hint::black_box(endless(0))).join().unwrap();
    });
    says(failing(&report, Kind::Limit), &["error[interleave::limit]", "used up its stack", "INTERLEAVE_STACK_SIZE"]);
}

#[test]
fn too_many_threads_are_a_limit() {
    let report = Builder::new().explore(|| {
        for _ in 0..70 {
            thread::spawn(|| ()).join().unwrap();
        }
    });
    says(failing(&report, Kind::Limit), &["error[interleave::limit]", "at most 64 threads"]);
}

/// Executions that are given up leave threads in the middle of something. One whose destructors abort when they are unwound is
/// left as it is.
#[test]
fn a_thread_that_aborts_when_it_is_unwound_is_abandoned() {
    struct Aborts;
    impl Drop for Aborts {
        fn drop(&mut self) {
            if std::thread::panicking() {
                std::process::abort();
            }
        }
    }
    let report = Builder::new().explore(|| {
        let ready = Arc::new(AtomicUsize::new(0));
        let theirs = ready.clone();
        let t = thread::spawn(move || {
            let _aborts = Aborts;
            // Where it looks in vain, it waits for ever, and the execution is given up.
            while theirs.load(Acquire) == 0 {
                thread::yield_now();
            }
        });
        ready.store(1, Release);
        t.join().unwrap();
    });
    assert_eq!((report.executions, report.verdict), (1, Verdict::Complete), "{:?}", report.failure);
}
