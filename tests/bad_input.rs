//! Wrong use: each gets one clear error that names the thing and the cure, and the test process goes on where the platform
//! allows it.

use std::process::{Command, Output};

use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::sync::{Arc, Mutex};
use interleave::{Builder, Kind, Memory, Report, Strategy, Verdict, hint, thread};

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
fn child_passes() {
    Builder::new().check(two_adds);
}

#[test]
#[ignore = "run by the tests of the environment"]
fn child_loses_update() {
    Builder::new().check(lost_update);
}

#[test]
#[ignore = "run by the tests of the environment"]
fn child_exits() {
    Builder::new().check(|| {
        thread::spawn(|| std::process::exit(7)).join().unwrap();
    });
}

#[test]
fn a_token_replays_and_a_damaged_one_is_refused() {
    let first = text(&child("child_loses_update", &[]));
    let token = first.lines().find_map(|line| line.trim().strip_prefix("token")).expect("a token is printed").trim();
    let again = text(&child("child_loses_update", &[("INTERLEAVE_REPLAY", token)]));
    says(&again, &["error[interleave::panic]", "assertion `left == right` failed"]);
    let damaged = format!("{}A", &token[..token.len() - 2]);
    let output = child("child_loses_update", &[("INTERLEAVE_REPLAY", &damaged)]);
    assert!(!output.status.success());
    says(&text(&output), &["error[interleave::replay]", "the replay token is damaged"]);
    let output = child("child_passes", &[("INTERLEAVE_REPLAY", token)]);
    says(&text(&output), &["error[interleave::replay]", "has an execution of the test `child_loses_update`"]);
}

/// What was found at random and not reduced is reduced when it is replayed; the new token replays what is left of it.
#[test]
fn a_replay_is_reduced_on_request() {
    let token_of = |report: &str| {
        let token = report.lines().find_map(|line| line.trim().strip_prefix("token")).expect("a token is printed");
        token.trim().to_owned()
    };
    let as_found = [("INTERLEAVE_STRATEGY", "random"), ("INTERLEAVE_SHRINK", "0")];
    let first = text(&child("child_loses_update", &as_found));
    says(&first, &["of a random search with seed 0"]);
    let token = token_of(&first);
    let shrink = [("INTERLEAVE_REPLAY", token.as_str()), ("INTERLEAVE_SHRINK", "1")];
    let reduced = text(&child("child_loses_update", &shrink));
    says(
        &reduced,
        &["assertion `left == right` failed", "replayed; shrunk from ", "; 1 preemption (with 0 preemptions: "],
    );
    let again = text(&child("child_loses_update", &[("INTERLEAVE_REPLAY", &token_of(&reduced))]));
    says(&again, &["assertion `left == right` failed", "= found: replayed"]);
}

#[test]
fn a_file_replays_and_a_damaged_newer_or_foreign_one_is_refused() {
    let first = text(&child("child_loses_update", &[]));
    let path = first.split("INTERLEAVE_REPLAY=").nth(1).and_then(|rest| rest.split_whitespace().next());
    let path = path.expect("a replay file is written");
    let again = text(&child("child_loses_update", &[("INTERLEAVE_REPLAY", path)]));
    says(&again, &["error[interleave::panic]", "assertion `left == right` failed"]);
    // A path is shown from the directory above the target directory.
    let here = std::env::current_dir().expect("there is one");
    let found = here.ancestors().map(|directory| directory.join(path)).find(|path| path.exists());
    let content = std::fs::read_to_string(found.expect("it is there")).expect("the replay file can be read");
    let directory = std::env::temp_dir().join(format!("interleave-bad-input-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let cases = [
        ("damaged.il", content.replacen("\"thread\":1", "\"thread\":2", 1), "is damaged in line"),
        ("cut.il", content[..content.len() - 40].to_owned(), "is cut short"),
        ("newer.il", content.replacen("\"version\":2", "\"version\":99", 1), "has format 99"),
        ("foreign.il", "hello\n".to_owned(), "is not a replay file"),
    ];
    for (name, content, part) in cases {
        let path = directory.join(name);
        std::fs::write(&path, content).unwrap();
        let output = child("child_loses_update", &[("INTERLEAVE_REPLAY", path.to_str().unwrap())]);
        assert!(!output.status.success());
        says(&text(&output), &["error[interleave::replay]", name, part]);
    }
    let output = child("child_loses_update", &[("INTERLEAVE_REPLAY", "/nowhere/x.il")]);
    says(&text(&output), &["error[interleave::replay]", "there is no replay file `/nowhere/x.il`"]);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
#[ignore = "run by the tests of replays"]
fn child_has_another_name() {
    Builder::new().name("lost in the queue").check(lost_update);
}

/// The command runs the test, whatever its model is called; what it runs is the recorded execution.
#[test]
fn a_model_with_a_name_of_its_own_replays_by_the_command_that_is_printed() {
    let first = text(&child("child_has_another_name", &[]));
    let release = if cfg!(debug_assertions) { "" } else { " --release" };
    says(&first, &[&format!("cargo test{release} child_has_another_name token il1:")]);
    let token = first.lines().find_map(|line| line.trim().strip_prefix("token")).expect("a token is printed").trim();
    let again = text(&child("child_has_another_name", &[("INTERLEAVE_REPLAY", token)]));
    says(&again, &["error[interleave::panic]", "= found: replayed"]);
}

#[test]
#[ignore = "run by the tests of replays"]
fn child_deadlocks() {
    let report = Builder::new().explore(|| {
        let m = Mutex::new(0);
        let _held = m.lock().unwrap();
        drop(m.lock());
    });
    println!("blocked: {} of {}", report.blocked, report.executions);
    println!("token: {}", report.failure.expect("it deadlocks").token);
}

#[test]
fn a_replay_counts_threads_that_cannot_go_on() {
    let first = text(&child("child_deadlocks", &[]));
    says(&first, &["blocked: 1 of 1"]);
    let token = first.lines().find_map(|line| line.strip_prefix("token: ")).expect("a token is printed");
    says(&text(&child("child_deadlocks", &[("INTERLEAVE_REPLAY", token)])), &["blocked: 1 of 1"]);
}

/// What is wrong with a token is said in one sentence, with the cure.
#[test]
fn every_wrong_token_says_what_is_wrong() {
    let first = text(&child("child_loses_update", &[]));
    let token = first.lines().find_map(|line| line.trim().strip_prefix("token")).expect("a token is printed").trim();
    let payload = token.strip_prefix("il1:child_loses_update:").expect("a token of this test");
    let damaged = |what: &str| {
        format!("the replay token is damaged ({what}): copy all of it, from `il1:` to the end of the line")
    };
    let cases = [
        ("il1:".to_owned(), damaged("it names no test")),
        ("il1:child_loses_update".to_owned(), damaged("it names no test")),
        ("il1:child_loses_update:".to_owned(), damaged("its payload is too short")),
        (format!("il1:child_loses_update:{payload}!"), damaged("its payload is not base64url")),
        (format!("il1:child_loses_update:A{}", &payload[1..]), damaged("its checksum does not match")),
        (format!("il1:child_loses_updates:{payload}"), damaged("its checksum does not match")),
        (
            token.replacen("il1", "il2", 1),
            "the replay token has format 2 and this version of interleave reads up to format 1: update interleave, or \
             record the failure again"
                .to_owned(),
        ),
        (
            "no-token".to_owned(),
            "there is no replay file `no-token` here or in a directory above: run the test without INTERLEAVE_REPLAY to \
             write it again, or give its full path"
                .to_owned(),
        ),
    ];
    for (value, message) in cases {
        let output = child("child_loses_update", &[("INTERLEAVE_REPLAY", &value)]);
        assert_eq!(output.status.code(), Some(101), "{value}");
        let text = text(&output);
        says(&text, &["error[interleave::replay]", &message]);
        assert_eq!(text.matches("error[interleave").count(), 1, "{value}: one error:\n{text}");
    }
    let output = child("child_passes", &[("INTERLEAVE_REPLAY", token)]);
    let other = "INTERLEAVE_REPLAY has an execution of the test `child_loses_update`, but `child_passes` is running: run only \
                 `child_loses_update`, or unset INTERLEAVE_REPLAY";
    says(&text(&output), &["error[interleave::replay]", other]);
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
fn exit_in_the_body_says_what_happened() {
    let output = child("child_exits", &[]);
    assert_eq!(output.status.code(), Some(7));
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
    says(failing(&report, Kind::Nondeterminism), &["error[interleave::nondeterminism]", "tests/bad_input.rs"]);
}

#[test]
fn an_endless_loop_that_only_loads_hits_the_limit() {
    let report = Builder::new().max_steps(500).explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = thread::spawn(move || m.load(Relaxed));
        while n.load(Relaxed) == 0 {}
        t.join().unwrap();
    });
    says(failing(&report, Kind::Limit), &["error[interleave::limit]", "more than 500 operations", "spin_loop()"]);
}

#[test]
fn an_endless_loop_that_spins_is_a_livelock() {
    let report = Builder::new().explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = thread::spawn(move || m.load(Relaxed));
        while n.load(Relaxed) == 0 {
            hint::spin_loop();
        }
        t.join().unwrap();
    });
    says(failing(&report, Kind::Livelock), &["error[interleave::livelock]", "tests/bad_input.rs"]);
}

#[test]
fn a_loop_that_waits_for_somebody_is_no_livelock() {
    let report = Builder::new().explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = thread::spawn(move || m.store(1, Relaxed));
        while n.load(Relaxed) == 0 {
            hint::spin_loop();
        }
        t.join().unwrap();
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 1), "{report}");
}

#[test]
fn a_budget_also_explores_looks_in_vain() {
    let looks = |budget: Option<u32>| {
        let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
        let builder = budget.map_or_else(Builder::new, |budget| Builder::new().spin_budget(budget));
        let report = builder.explore(|| {
            let n = Arc::new(AtomicUsize::new(0));
            let m = n.clone();
            let t = thread::spawn(move || m.store(1, Relaxed));
            let mut looks = 1;
            while n.load(Relaxed) == 0 {
                looks += 1;
                hint::spin_loop();
            }
            t.join().unwrap();
            seen.lock().unwrap().insert(looks);
        });
        assert_eq!(report.verdict, Verdict::Complete, "{report}");
        seen.into_inner().unwrap().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(looks(None), [1]);
    assert_eq!(looks(Some(2)), [1, 2, 3]);
}

/// With a budget of `b`, an interleaving is one in which the store comes before the first look, or after `1..=b` looks in vain;
/// then it comes before or after the pause: 1 + 2b. Weak memory adds looks that miss the store.
#[test]
fn a_budget_counts_in_every_strategy() {
    let explore = |builder: Builder| {
        let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
        let report = builder.explore(|| {
            let n = Arc::new(AtomicUsize::new(0));
            let m = n.clone();
            let t = thread::spawn(move || m.store(1, Relaxed));
            let mut looks = 1;
            while n.load(Relaxed) == 0 {
                looks += 1;
                hint::spin_loop();
            }
            t.join().unwrap();
            seen.lock().unwrap().insert(looks);
        });
        (report, seen.into_inner().unwrap().into_iter().collect::<Vec<usize>>())
    };
    for (budget, looks) in [(0, &[1][..]), (1, &[1, 2]), (2, &[1, 2, 3]), (5, &[1, 2, 3, 4, 5, 6])] {
        let all = Builder::new().strategy(Strategy::Interleavings).spin_budget(budget);
        let (report, seen) = explore(all.clone().memory(Memory::Sc));
        assert_eq!((report.verdict, seen.as_slice()), (Verdict::Complete, looks), "{budget}: {report}");
        assert_eq!(report.executions, 1 + 2 * u64::from(budget), "{budget}: {report}");
        let (report, seen) = explore(all);
        assert_eq!((report.verdict, seen.as_slice()), (Verdict::Complete, looks), "{budget}: {report}");
        let (report, seen) = explore(Builder::new().spin_budget(budget));
        assert_eq!((report.verdict, seen.as_slice()), (Verdict::Complete, looks), "{budget}: {report}");
        // A random search has more: what it parks may go on, and read a stale value once more.
        let (_, seen) = explore(Builder::new().strategy(Strategy::Random).spin_budget(budget));
        assert!(looks.iter().all(|looks| seen.contains(looks)), "{budget}: {seen:?}");
    }
}

/// A failure behind looks in vain is repeated as it was found, and its token replays it.
#[test]
fn a_failure_after_looks_in_vain_is_told_as_it_is() {
    for strategy in [Strategy::Exhaustive, Strategy::Interleavings, Strategy::Random] {
        let report = Builder::new().strategy(strategy).spin_budget(3).explore(|| {
            let n = Arc::new(AtomicUsize::new(0));
            let m = n.clone();
            let t = thread::spawn(move || m.store(1, Relaxed));
            let mut looks = 1;
            while n.load(Relaxed) == 0 {
                looks += 1;
                hint::spin_loop();
            }
            t.join().unwrap();
            assert!(looks < 4, "it was slow");
        });
        says(failing(&report, Kind::Panic), &["error[interleave::panic]: it was slow"]);
    }
}

#[test]
fn an_object_of_an_earlier_execution_is_refused() {
    let kept: std::sync::Mutex<Option<Arc<AtomicUsize>>> = std::sync::Mutex::new(None);
    let report = Builder::new().explore(|| {
        let mut kept = kept.lock().unwrap();
        let n = kept.get_or_insert_with(|| Arc::new(AtomicUsize::new(0))).clone();
        drop(kept);
        let m = n.clone();
        let t = thread::spawn(move || m.fetch_add(1, Relaxed));
        n.fetch_add(1, Relaxed);
        t.join().unwrap();
    });
    says(
        failing(&report, Kind::Outside),
        &[
            "error[interleave::outside]",
            "that an earlier execution has used",
            "create the object in the body of the model",
        ],
    );
}

#[test]
fn statics_are_fresh_in_every_execution() {
    static N: AtomicUsize = AtomicUsize::new(5);
    let report = Builder::new().explore(|| {
        let t = thread::spawn(|| N.fetch_add(1, Relaxed));
        N.fetch_add(1, Relaxed);
        t.join().unwrap();
        assert_eq!(N.load(Relaxed), 7);
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 2));
    assert_eq!(N.load(Relaxed), 5);
}

#[test]
fn another_os_thread_must_not_touch_the_model() {
    let report = Builder::new().explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        n.store(1, Relaxed);
        let outside = std::thread::scope(|scope| {
            let n = &n;
            scope.spawn(move || n.load(Relaxed)).join()
        });
        std::panic::resume_unwind(outside.unwrap_err());
    });
    says(
        failing(&report, Kind::Outside),
        &[
            "error[interleave::outside]: `AtomicUsize::load` by an OS thread that is not one of the model's",
            "start threads with `interleave::thread`",
        ],
    );
}

/// Also if the model does not look at what comes of the thread.
#[test]
fn a_thread_of_std_that_touches_the_model_is_noticed() {
    let message = "by an OS thread that is not one of the model's, on an object of it that was created at \
                   tests/bad_input.rs:";
    let uses_it_later = || {
        let n = Arc::new(AtomicUsize::new(0));
        let theirs = n.clone();
        // Nobody in the model has used it yet.
        std::thread::spawn(move || theirs.fetch_add(1, Relaxed)).join().unwrap();
        let theirs = n.clone();
        let t = thread::spawn(move || theirs.fetch_add(1, Relaxed));
        n.fetch_add(1, Relaxed);
        t.join().unwrap();
    };
    let used_it_before = || {
        let n = Arc::new(AtomicUsize::new(0));
        n.fetch_add(1, Relaxed);
        let theirs = n.clone();
        let t = std::thread::spawn(move || theirs.fetch_add(1, Relaxed));
        assert!(t.join().is_err());
    };
    let takes_it_back = || {
        let n = AtomicUsize::new(0);
        std::thread::scope(|scope| _ = scope.spawn(|| n.fetch_add(1, Relaxed)));
        assert_eq!(n.into_inner(), 1);
    };
    let locks = || {
        let m = Arc::new(Mutex::new(0));
        let theirs = m.clone();
        std::thread::spawn(move || *theirs.lock().unwrap() += 1).join().unwrap();
        *m.lock().unwrap() += 1;
    };
    let programs: [&(dyn Fn() + Send + Sync); 4] = [&uses_it_later, &used_it_before, &takes_it_back, &locks];
    let report = Builder::new().explore(|| {
        let pair = interleave::os::unix::net::UnixStream::pair().unwrap();
        let t = std::thread::spawn(move || pair.0.set_nonblocking(true).is_ok());
        assert!(t.join().is_err());
    });
    let kernel = "use of a file or socket of the model by an OS thread that is not one of the model's";
    says(failing(&report, Kind::Outside), &[kernel]);
    for (program, report) in programs.map(|program| Builder::new().explore(program)).iter().enumerate() {
        says(failing(report, Kind::Outside), &["error[interleave::outside]", message]);
        assert_eq!(report.executions, 1, "{program}: {report}");
    }
    // Afterwards, and with threads of std that keep to themselves, all is well.
    let report = Builder::new().explore(|| {
        let own = std::thread::spawn(|| {
            let n = std::sync::atomic::AtomicUsize::new(0);
            n.fetch_add(1, Relaxed)
        });
        two_adds();
        own.join().unwrap();
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 2), "{report}");
}

/// What was used outside while a model ran can be used in the next one.
#[test]
fn an_object_of_a_normal_test_can_go_into_a_model_later() {
    let n = Arc::new(AtomicUsize::new(0));
    let report = Builder::new().explore(two_adds);
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
    n.fetch_add(1, Relaxed);
    let once = std::sync::atomic::AtomicBool::new(false);
    let report = Builder::new().max_executions(1).explore(|| {
        let theirs = n.clone();
        assert!(!once.swap(true, Relaxed));
        let t = thread::spawn(move || theirs.fetch_add(1, Relaxed));
        n.fetch_add(1, Relaxed);
        t.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Bounded, "{report}\n{:?}", report.failure);
}

#[test]
fn a_model_inside_a_model_is_refused() {
    let report = Builder::new().explore(|| interleave::model(two_adds));
    says(failing(&report, Kind::Outside), &["error[interleave::outside]", "a model inside a model"]);
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
