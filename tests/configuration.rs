//! Configurations that cannot be used, from the program and from the environment: each gets one error that names the knob
//! and what it takes, before anything is run.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::{Builder, Kind, Strategy, Verdict, thread};

/// Two threads add one each: 2 executions.
fn two_adds() {
    let n = Arc::new(AtomicUsize::new(0));
    let m = n.clone();
    let t = thread::spawn(move || m.fetch_add(1, Relaxed));
    n.fetch_add(1, Relaxed);
    t.join().unwrap();
}

#[test]
#[ignore = "run by the tests of the environment"]
fn child() {
    let report = Builder::new().explore(two_adds);
    match report.failure {
        Some(failure) => panic!("{}", failure.report),
        None => println!("verdict: {report}"),
    }
}

/// Runs `child` in a process of its own.
fn run(variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this test has an executable"));
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env_remove("RUST_BACKTRACE");
    command.envs(variables.iter().copied()).output().expect("the test can be run again")
}

/// What it printed, with single spaces: reports are wrapped.
fn text(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What each variable takes, and values that it does not.
const VARIABLES: &[(&str, &str, &[&str])] = &[
    ("INTERLEAVE_MEMORY", "`sc` or `rc11`", &["tso", "1", "sc rc11"]),
    ("INTERLEAVE_PREEMPTIONS", "a number", &["two", "-1", "1.5", "4294967296"]),
    ("INTERLEAVE_STALE_READS", "a number", &["one", "-1", "1.5", "4294967296"]),
    ("INTERLEAVE_MAX_EXECUTIONS", "a number from 1", &["many", "0", "-1", "1e3", "18446744073709551616"]),
    (
        "INTERLEAVE_MAX_DURATION",
        "a number of seconds above 0, such as `2.5`",
        &["1h", "0", "-3", "NaN", "inf", "1e400"],
    ),
    ("INTERLEAVE_MAX_STEPS", "a number from 1", &["1e3", "0", "-1", "4294967296"]),
    ("INTERLEAVE_MAX_PAUSE", "a number of seconds from 0.1", &["long", "0", "0.05", "-1"]),
    ("INTERLEAVE_SPURIOUS", "a number", &["none", "-1"]),
    ("INTERLEAVE_CRASHES", "a number", &["none", "-1"]),
    ("INTERLEAVE_PID_REUSES", "a number", &["none", "-1"]),
    ("INTERLEAVE_CLOCK_MOVES", "a number", &["none", "-1"]),
    ("INTERLEAVE_SPIN_BUDGET", "a number from 0 to 1000", &["none", "-1", "1001"]),
    (
        "INTERLEAVE_STRATEGY",
        "`exhaustive`, `interleavings`, `random`, `pct:<depth from 1 to 1000>`, `pos`, `portfolio` or `auto`",
        &["all", "pct", "pct:0", "pct:1001", "pct:x", "Random"],
    ),
    ("INTERLEAVE_SEED", "a number", &["dice", "-1"]),
    ("INTERLEAVE_WORKERS", "a number from 1 to 1024", &["0", "1025", "all"]),
    ("INTERLEAVE_STACK_SIZE", "a number of bytes from 16384 to 1073741824", &["64K", "0", "18446744073709551615"]),
    ("INTERLEAVE_LEAKS", "`0` or `1`", &["2", "yes"]),
    ("INTERLEAVE_LOG", "`off` or `summary`", &["loud", "1"]),
    ("INTERLEAVE_PROGRESS", "a file to append to", &["/nowhere/progress", "/"]),
    ("INTERLEAVE_SHARD", "two numbers such as `2/3`, the first not larger", &["0/3", "4/3", "2", "a/b"]),
    ("INTERLEAVE_CHECKPOINT", "a file that can be written", &["/nowhere/checkpoint", "/"]),
    ("INTERLEAVE_SHRINK", "a number (1 for the usual one)", &["much", "-1"]),
    ("INTERLEAVE_FOCUS", "names of functions or labels, separated by commas", &["push,,pop", ",", "push,"]),
    ("INTERLEAVE_STALE", "`warn` or `deny`", &["perhaps", "1"]),
    ("INTERLEAVE_REPAIR", "`0` or `1`", &["2", "no"]),
    ("INTERLEAVE_EVENTS", "a file to append to", &["/nowhere/events", "/"]),
    ("INTERLEAVE_ASCII", "`0` or `1` (reports in plain ASCII)", &["3", "yes"]),
];

/// Of `INTERLEAVE_REPLAY`, other tests say more.
const REPLAY: &str = "INTERLEAVE_REPLAY";

#[test]
fn every_variable_says_what_it_takes() {
    for (name, takes, wrong) in VARIABLES {
        for value in *wrong {
            let output = run(&[(name, value)]);
            let text = text(&output);
            assert_eq!(output.status.code(), Some(101), "{name}={value}: {text}");
            let line = format!("{name} is {value:?}, but it takes {takes}");
            assert!(text.contains(&line), "{line:?} is not in: {text}");
            assert_eq!(text.matches("error[interleave::config]: ").count(), 1, "one error: {text}");
            assert!(!text.contains("verdict: "), "{text}");
        }
    }
    let output = run(&[(REPLAY, "/nowhere/x.il")]);
    let said = text(&output);
    assert!(said.contains("error[interleave::replay]: there is no replay file `/nowhere/x.il`"), "{said}");
}

/// The table above has all of them: the error for one that does not exist lists those that do.
#[test]
fn all_variables_are_in_the_table() {
    let said = text(&run(&[("INTERLEAVE_PREMPTIONS", "1")]));
    let head = "there is no variable INTERLEAVE_PREMPTIONS: unset it, or use INTERLEAVE_ with one of ";
    // The error line is cut; the message below it is not.
    let all = said.rsplit(head).next().filter(|all| all.len() < said.len()).expect("the variables are listed");
    let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_uppercase() || "_,".contains(c));
    let name = |word: &str| format!("INTERLEAVE_{}", word.trim_end_matches(','));
    let mut listed: Vec<String> = all.split(' ').take_while(is_name).map(name).collect();
    let mut table: Vec<&str> = VARIABLES.iter().map(|(name, ..)| *name).chain([REPLAY]).collect();
    listed.sort_unstable();
    table.sort_unstable();
    assert_eq!(listed, table);
}

/// Set to nothing is not set.
#[test]
fn empty_variables_change_nothing() {
    let empty: Vec<(&str, &str)> = VARIABLES.iter().map(|(name, ..)| (*name, "")).chain([(REPLAY, "")]).collect();
    let said = text(&run(&empty));
    assert!(said.contains("verdict: complete: 2 executions (0 blocked), RC11, spurious <= 1, "), "{said}");
}

#[test]
fn a_variable_whose_value_is_not_unicode_is_named() {
    #[cfg(unix)]
    for (name, takes, _) in VARIABLES {
        use std::os::unix::ffi::OsStrExt;
        let is_path = takes.starts_with("a file");
        let value = std::ffi::OsStr::from_bytes(if is_path { b"/nowhere/\xff" } else { b"\xff" });
        let mut command = Command::new(std::env::current_exe().expect("this test has an executable"));
        command.args(["--exact", "child", "--ignored", "--nocapture"]).env(name, value);
        let said = text(&command.output().expect("the test can be run again"));
        // Names of functions can be anything; no function has this one.
        if *name != "INTERLEAVE_FOCUS" {
            assert!(said.contains(&format!("error[interleave::config]: {name} is \"")), "{name}: {said}");
        }
    }
}

/// A change to the default configuration.
type Change = fn(Builder) -> Builder;

/// What is wrong, and what is said of it.
const KNOBS: &[(&str, Change, &str)] = &[
    (
        "max_executions 0",
        |b| b.max_executions(0),
        "`max_executions` is 0, so nothing would be explored: it takes a number from 1",
    ),
    (
        "max_duration 0",
        |b| b.max_duration(Duration::ZERO),
        "`max_duration` is 0, so nothing would be explored: it takes more than that",
    ),
    ("max_steps 0", |b| b.max_steps(0), "`max_steps` is 0, so nothing could be run: it takes a number from 1"),
    ("max_pause 0", |b| b.max_pause(Duration::ZERO), "`max_pause` is 0ns, but it takes 100ms or more"),
    ("spin_budget 1001", |b| b.spin_budget(1001), "`spin_budget` is 1001, but it takes 0 to 1000"),
    ("spin_budget MAX", |b| b.spin_budget(u32::MAX), "`spin_budget` is 4294967295, but it takes 0 to 1000"),
    ("workers 0", |b| b.workers(0), "`workers` is 0, but it takes 1 to 1024"),
    ("workers MAX", |b| b.workers(usize::MAX), "`workers` is 18446744073709551615, but it takes 1 to 1024"),
    ("stack_size 0", |b| b.stack_size(0), "`stack_size` is 0, but it takes 16384 to 1073741824"),
    (
        "stack_size MAX",
        |b| b.stack_size(usize::MAX),
        "`stack_size` is 18446744073709551615, but it takes 16384 to 1073741824",
    ),
    ("pct 0", |b| b.strategy(Strategy::Pct { depth: 0 }), "the `depth` of `Pct` is 0, but it takes 1 to 1000"),
    (
        "pct MAX",
        |b| b.strategy(Strategy::Pct { depth: u32::MAX }),
        "the `depth` of `Pct` is 4294967295, but it takes 1 to 1000",
    ),
    ("focus nothing", |b| b.focus(""), "`focus` is \"\", but it takes the name of a function or a label"),
    ("name nothing", |b| b.name(""), "`name` is \"\", but a model needs a name: leave it out for the test's"),
    (
        "checkpoint nowhere",
        |b| b.checkpoint("/nowhere/checkpoint"),
        "`checkpoint` is \"/nowhere/checkpoint\", but it takes a file that can be written (No such file or directory",
    ),
];

#[test]
#[cfg(target_pointer_width = "64")]
fn every_knob_says_what_it_takes() {
    for (what, change, message) in KNOBS {
        let runs = AtomicU64::new(0);
        let report = change(Builder::new()).explore(|| {
            runs.fetch_add(1, Ordering::Relaxed);
            two_adds();
        });
        assert_eq!(report.verdict, Verdict::Failed(Kind::Config), "{what}: {report}");
        assert_eq!((report.executions, runs.into_inner()), (0, 0), "{what}: nothing is run");
        let failure = report.failure.expect("a failed model has a failure");
        assert!(failure.message.starts_with(message), "{what}: {}", failure.message);
        assert_eq!(failure.report.matches("error[").count(), 1, "{what}: one error:\n{}", failure.report);
        assert!(!failure.report.contains("found: execution"), "{what}: no execution was run:\n{}", failure.report);
    }
}

/// Values at the ends of what the types can hold, and that make sense: as much as there is.
const EXTREMES: &[(&str, Change)] = &[
    ("preemption_bound 0", |b| b.preemption_bound(0)),
    ("preemption_bound MAX", |b| b.preemption_bound(u32::MAX)),
    ("max_executions MAX", |b| b.max_executions(u64::MAX)),
    ("max_duration MAX", |b| b.max_duration(Duration::MAX)),
    ("max_pause MAX", |b| b.max_pause(Duration::MAX)),
    ("max_steps MAX", |b| b.max_steps(u32::MAX)),
    ("spurious 0", |b| b.spurious(0)),
    ("spurious MAX", |b| b.spurious(u32::MAX)),
    ("crashes MAX", |b| b.crashes(u32::MAX)),
    ("pid_reuses MAX", |b| b.pid_reuses(u32::MAX)),
    ("clock_moves MAX", |b| b.clock_moves(u32::MAX)),
    ("spin_budget 0", |b| b.spin_budget(0)),
    ("spin_budget 1000", |b| b.spin_budget(1000)),
    ("seed MAX", |b| b.seed(u64::MAX)),
    ("shrink 0", |b| b.shrink(0)),
    ("shrink MAX", |b| b.shrink(u64::MAX)),
    ("stack_size least", |b| b.stack_size(16 << 10)),
    ("shard 1 of 1", |b| b.shard(1, 1)),
    ("name with null bytes", |b| b.name("a\0b")),
    ("name with escape codes", |b| b.name("\u{1b}[31mred\u{7}")),
    ("name of 10,000 letters", |b| b.name("x".repeat(10_000))),
    ("progress without a break", |b| b.progress(Duration::ZERO, |_| ())),
    ("progress never", |b| b.progress(Duration::MAX, |_| ())),
];

#[test]
fn extremes_are_fine() {
    for (what, change) in EXTREMES {
        let report = change(Builder::new()).explore(two_adds);
        let expected = match *what {
            // One of the two orders of the additions takes the turn from somebody.
            "preemption_bound 0" => (Verdict::Bounded, 1),
            _ => (Verdict::Complete, 2),
        };
        assert_eq!((report.verdict, report.executions), expected, "{what}: {report} {:?}", report.failure);
    }
}

#[test]
#[should_panic(expected = "there is no share 4 of 3")]
fn a_share_that_is_not_there_is_refused() {
    let _ = Builder::new().shard(4, 3);
}

/// A file of this test.
fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("interleave-configuration-{}-{name}", std::process::id()))
}

/// Six threads with an addition each: 720 executions, enough for work that is set apart.
fn six_adds() {
    let n = Arc::new(AtomicUsize::new(0));
    let add = |n: &Arc<AtomicUsize>| {
        let n = n.clone();
        thread::spawn(move || n.fetch_add(1, Relaxed))
    };
    let threads = [add(&n), add(&n), add(&n), add(&n), add(&n)];
    n.fetch_add(1, Relaxed);
    threads.into_iter().for_each(|t| assert!(t.join().is_ok()));
}

/// A checkpoint of a complete exploration, as text.
fn checkpoint(path: &PathBuf) -> String {
    let report = Builder::new().name("kept").checkpoint(path).explore(six_adds);
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 720), "{report} {:?}", report.failure);
    std::fs::read_to_string(path).expect("the checkpoint was written")
}

#[test]
fn a_checkpoint_that_cannot_be_used_is_refused_before_anything_is_run() {
    let path = file("damaged");
    let good = checkpoint(&path);
    let digit = good.find("\"executions\": ").expect("there are numbers") + "\"executions\": ".len();
    let mut changed = good.clone();
    changed.replace_range(digit..=digit, if &good[digit..=digit] == "7" { "8" } else { "7" });
    assert_ne!(changed, good);
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("one number", changed.into_bytes(), "is damaged: its checksum is not that of its content"),
        ("cut", good.as_bytes()[..good.len() / 2].to_vec(), "is damaged or no checkpoint: EOF while parsing"),
        ("empty", Vec::new(), "is damaged or no checkpoint: EOF while parsing"),
        ("foreign", b"hello\n".to_vec(), "is damaged or no checkpoint: expected value"),
        ("foreign JSON", b"[1, 2]\n".to_vec(), "is damaged or no checkpoint: "),
        ("not text", vec![0xff, 0xfe, 0], "is damaged or no checkpoint: it is not UTF-8"),
        (
            "newer",
            good.replacen("\"version\": 2", "\"version\": 99", 1).into_bytes(),
            "is of another format, \"interleave-checkpoint 99\" and not \"interleave-checkpoint 2\"",
        ),
        (
            "older",
            good.replacen("\"version\": 2", "\"version\": 1", 1).into_bytes(),
            "is of another format, \"interleave-checkpoint 1\" and not \"interleave-checkpoint 2\"",
        ),
        (
            "of another test",
            good.replacen("\"test\": \"kept\"", "\"test\": \"other\"", 1).into_bytes(),
            "is of another test, \"other\" and not \"kept\"",
        ),
    ];
    // Also where the checkpoint would not have been looked at, as another strategy runs.
    for strategy in [Strategy::Exhaustive, Strategy::Random] {
        for (what, content, message) in &cases {
            std::fs::write(&path, content).unwrap();
            let runs = AtomicU64::new(0);
            let report = Builder::new().name("kept").strategy(strategy).checkpoint(&path).explore(|| {
                runs.fetch_add(1, Ordering::Relaxed);
                six_adds();
            });
            assert_eq!(report.verdict, Verdict::Failed(Kind::Config), "{what}: {report}");
            assert_eq!(runs.into_inner(), 0, "{what}: nothing is run");
            let failure = report.failure.expect("a failed model has a failure");
            let head = format!("the checkpoint {:?} {message}", path.display());
            assert!(failure.message.starts_with(&head), "{what}: {}", failure.message);
            assert!(failure.message.ends_with("; delete it to begin anew"), "{what}: {}", failure.message);
            assert_eq!(std::fs::read(&path).unwrap(), *content, "{what}: the file is left as it is");
        }
    }
    std::fs::write(&path, &good).unwrap();
    let runs = AtomicU64::new(0);
    let report = Builder::new().name("kept").checkpoint(&path).explore(|| {
        runs.fetch_add(1, Ordering::Relaxed);
        six_adds();
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 720), "{report}");
    let again = runs.into_inner();
    assert!((1..720).contains(&again), "what is done is not run again: {again}");
    std::fs::remove_file(&path).unwrap();
}

/// Whether a failure needs weak memory, and how few preemptions it needs, is asked of all executions: neither a share nor a
/// checkpoint changes the answer.
#[test]
fn a_failure_is_told_alike_with_a_share_or_a_checkpoint() {
    fn lost_update() {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = thread::spawn(move || m.store(m.load(Relaxed) + 1, Relaxed));
        n.store(n.load(Relaxed) + 1, Relaxed);
        t.join().unwrap();
        assert_eq!(n.load(Relaxed), 2);
    }
    let told = |builder: Builder| {
        let report = builder.name("told").explore(lost_update).failure.expect("an update is lost").report;
        report
            .lines()
            .filter(|line| line.contains("= memory: ") || line.contains(" preemption ("))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let plain = told(Builder::new());
    assert_eq!(plain.len(), 2, "{plain:?}");
    let path = file("told");
    assert_eq!(told(Builder::new().checkpoint(&path)), plain);
    assert_eq!(told(Builder::new().shard(1, 2)), plain);
    let _ = std::fs::remove_file(&path);
}
