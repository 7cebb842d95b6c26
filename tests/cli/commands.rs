//! The commands and their exit codes.

use std::path::PathBuf;
use std::process::Command;

use crate::fixture::{Directory, alone, builds, interleave, lock_file, manifest, package, run};

fn here(arguments: &[&str]) -> Command {
    interleave(package(), arguments)
}

/// The replay file of `loses_update`.
pub(crate) fn recorded() -> PathBuf {
    run(&mut here(&["test", "loses_update"])).with(1, &["error[interleave::panic]: an update is lost"]);
    let path = builds().join("cfg-interleave/interleave/counter--loses_update.il");
    assert!(path.exists(), "{}", path.display());
    path
}

fn token(file: &PathBuf) -> String {
    let text = std::fs::read_to_string(file).expect("it was written");
    let token = text.split("\"token\":\"").nth(1).and_then(|rest| rest.split('"').next());
    token.expect("the header has it").to_owned()
}

#[test]
fn all_tests_run_with_the_flag_and_doctests_too() {
    let _alone = alone();
    for no_nextest in [&["--no-nextest"][..], &[]] {
        let came = run(here(&["test"]).args(no_nextest));
        let came = came
            .with(1, &["error[interleave::panic]: an update is lost", "FAIL counter::loses_update failed(panic): "]);
        let models =
            ["ok counter::adds_under_a_lock complete: 2 executions (0 blocked), RC11", "ok other::is_in_two_programs"];
        came.with(1, &models).with(1, &["5 models: 4 passed, 1 failed"]);
    }
}

#[test]
fn a_filter_chooses_and_must_match_a_model() {
    let _alone = alone();
    run(&mut here(&["test", "adds_under"])).with(0, &["1 model: 1 passed, 0 failed"]);
    for filter in ["there_is_no_such_test", "has_no_model"] {
        let message = format!(
            "error: no model ran: no test with a model has a name that contains `{filter}` (packages: fixture)"
        );
        run(&mut here(&["test", filter])).with(5, &[&message, "wrap the body of a test in `interleave::model`"]);
    }
    run(&mut here(&["test", "fails_without_a_model", "--no-nextest", "--", "--ignored"])).with(101, &["as it says"]);
    run(&mut here(&["test", "--test", "there_is_none"])).with(101, &["no test target named `there_is_none`"]);
    run(&mut here(&["test", "adds_under", "--memory", "x86"])).with(1, &["INTERLEAVE_MEMORY is \"x86\", but it takes"]);
}

#[test]
fn progress_is_a_line_now_and_then() {
    let _alone = alone();
    let arguments = ["test", "takes_long", "--no-nextest", "--progress-every", "1.5", "--", "--ignored"];
    let came = run(&mut here(&arguments)).with(0, &["interleave: takes_long: ", " executions, ", "/s"]);
    let lines = came.text.lines().filter(|line| line.starts_with("interleave: takes_long: ")).count();
    assert!((1..=4).contains(&lines), "{}", came.text);
}

#[test]
fn models_are_listed() {
    let _alone = alone();
    run(&mut here(&["list", "--test", "counter"])).with(
        0,
        &[
            "counter::adds_under_a_lock tests/counter.rs:19:",
            "counter::is_in_two_programs tests/counter.rs:",
            "counter::loses_update tests/counter.rs:7:",
            "3 models",
        ],
    );
    run(&mut here(&["list", "has_no_model"])).with(5, &["no model ran"]);
}

#[test]
fn replays_tell_the_outcomes_apart() {
    let _alone = alone();
    let file = recorded();
    let (path, token) = (file.to_str().expect("a plain path"), token(&file));
    run(&mut here(&["replay", path])).with(1, &["= found: replayed", "replay: `loses_update` fails as recorded"]);
    run(&mut here(&["replay", &token])).with(1, &["replay: `loses_update` fails as recorded"]);
    let came = run(here(&["replay", path]).env("EXPECT_LESS", "1"));
    came.with(0, &["replay: `loses_update` passes now: the recorded execution does not fail"]);

    let scratch = Directory::new("recordings");
    let text = std::fs::read_to_string(&file).expect("it was written");
    for (name, text, part) in [
        ("damaged.il", text.replacen("RC11", "SC", 1), "is damaged in line 1"),
        ("cut.il", text[..text.len() / 2].to_owned(), "is "),
        ("newer.il", text.replacen("\"version\":2", "\"version\":7", 1), "has format 7 and this version"),
        ("foreign.il", "hello\n".to_owned(), "is not a replay file"),
        ("empty.il", String::new(), "is not a replay file"),
    ] {
        scratch.write(name, &text);
        for command in ["replay", "report", "keep", "shrink"] {
            let came = run(here(&[command]).arg(scratch.0.join(name))).with(2, &["error: ", name, part]);
            assert_eq!(came.text.lines().count(), 1, "one clear message: {}", came.text);
        }
    }
    run(&mut here(&["replay", "no-such-file.il"])).with(2, &["there is no replay file"]);
    run(&mut here(&["replay", &token[..token.len() - 1]])).with(2, &["error: the replay token is damaged"]);
}

#[test]
fn a_recording_that_matches_no_test_or_two_is_refused() {
    let _alone = alone();
    let came = run(here(&["test", "--test", "counter", "is_in_two_programs"]).env("FAIL_BOTH", "1")).with(1, &["il1:"]);
    let token = came.text.split_whitespace().find(|word| word.starts_with("il1:")).expect("a token").to_owned();
    let both = run(here(&["replay", &token]).env("FAIL_BOTH", "1"));
    both.with(2, &["error: `is_in_two_programs` is in `counter`, `other`: choose one with --package, --lib, --test"]);
    run(here(&["replay", &token, "--test", "other"]).env("FAIL_BOTH", "1")).with(1, &["fails as recorded"]);
    // A file says which program it is about.
    let file = builds().join("cfg-interleave/interleave/counter--is_in_two_programs.il");
    run(here(&["replay"]).arg(&file).env("FAIL_BOTH", "1")).with(1, &["fails as recorded"]);
    // A recording of a test that is not there.
    let scratch = Directory::new("old");
    scratch.write("old.il", OLD);
    let old = scratch.0.join("old.il");
    run(here(&["replay"]).arg(&old))
        .with(5, &["replay: no model `counter::two_increments` ran: it has been renamed or deleted"]);
    run(here(&["report"]).arg(&old)).with(2, &["was written by an older version (format 1), and has no steps to show"]);
}

/// A file that the first version wrote.
const OLD: &str = include_str!("../../src/replay/testdata/format-1.il");

#[test]
fn a_recording_is_shrunk() {
    let _alone = alone();
    let file = recorded();
    let came = run(here(&["shrink"]).arg(&file));
    came.with(
        0,
        &[
            "`loses_update` fails as recorded",
            "shrink: 1 preemptions, 7 steps, 2 threads -> 1 preemptions, 7 steps, 2 threads",
        ],
    );
}

#[test]
fn kept_recordings_run_first_and_orphans_are_denied() {
    let _alone = alone();
    let package = Directory::new("kept");
    package.write("Cargo.toml", &manifest("kept"));
    package.write("Cargo.lock", &lock_file());
    package.write("src/lib.rs", "");
    package.write("tests/lost.rs", LOST);
    let here = |arguments: &[&str]| interleave(&package.0, arguments);
    run(&mut here(&["test", "--no-cfg"])).with(1, &["an update is lost", "= found: execution"]);
    let file = builds().join("interleave/lost--loses_update.il");
    run(here(&["keep"]).arg(&file)).with(0, &["tests/interleave/lost--loses_update.il"]);
    run(here(&["keep"]).arg(&file)).with(0, &["tests/interleave/lost--loses_update.il has it already"]);
    let kept = package.0.join("tests/interleave/lost--loses_update.il");
    assert_eq!(std::fs::read(&kept).expect("it is kept"), std::fs::read(&file).expect("it was written"));
    run(&mut here(&["test", "--no-cfg"]))
        .with(1, &["= found: replayed", "FAIL loses_update kept tests/interleave/lost--loses_update.il"]);
    run(&mut here(&["list", "--no-cfg"]))
        .with(0, &["lost::loses_update tests/lost.rs:", "kept tests/interleave/lost--loses_update.il"]);
    package.write("tests/lost.rs", &LOST.replace("loses_update", "was_renamed").replace("// fixed", "return;"));
    let stale = "stale: tests/interleave/lost--loses_update.il belongs to no model that ran";
    run(&mut here(&["test", "--no-cfg"])).with(0, &[stale, "1 model: 1 passed"]);
    run(&mut here(&["test", "--no-cfg", "--stale=deny"])).with(1, &[stale]);
    run(&mut here(&["test", "--no-cfg", "--stale=perhaps"])).with(2, &["invalid value 'perhaps'"]);
}

const LOST: &str = r#"use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicUsize, Ordering::SeqCst};

#[test]
fn loses_update() {
    interleave::model(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = interleave::thread::spawn(move || m.store(m.load(SeqCst) + 1, SeqCst));
        n.store(n.load(SeqCst) + 1, SeqCst);
        t.join().unwrap();
        // fixed
        assert!(n.load(SeqCst) == 2, "an update is lost");
    });
}
"#;

#[test]
fn reports_are_shown_again() {
    let _alone = alone();
    let file = recorded();
    run(here(&["report"]).arg(&file)).with(0, &["error[interleave::panic]: an update is lost", "the breaking order"]);
    let json = run(here(&["report", "--json"]).arg(&file)).with(0, &[]).text;
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["test"], "loses_update");
    assert_eq!(json["threads"].as_array().map(Vec::len), Some(2));
    let steps = json["steps"].as_array().expect("a list");
    assert_eq!(steps.len(), 7, "spawn, 2 loads, 2 stores, join, load");
    assert_eq!(steps[6]["call"], "n.load(SeqCst)");
    // The first load may read the initial value only.
    assert_eq!(steps[1]["alternatives"], 1);
    run(&mut here(&["report", &token(&file)]))
        .with(2, &["error: a token has only decisions, which is too little to show"]);
}

#[test]
fn codes_and_variables_are_explained() {
    run(&mut here(&["explain", "interleave::deadlock"])).with(0, &["interleave::deadlock Threads remain"]);
    let all = run(&mut here(&["explain"])).with(0, &[]);
    assert_eq!(all.text.lines().filter(|line| line.starts_with("interleave::")).count(), 14, "one for each kind");
    run(&mut here(&["explain", "deadlok\u{1b}"]))
        .with(2, &["error: there is no code `deadlok\\u{1b}`: the codes are panic,"]);
    let narrow = run(here(&["explain"]).env("COLUMNS", "40")).with(0, &[]);
    assert!(narrow.text.lines().all(|line| line.chars().count() <= 40), "{}", narrow.text);
    run(here(&["env"]).env("INTERLEAVE_SEED", "7"))
        .with(0, &["INTERLEAVE_SEED=7 takes a number", "INTERLEAVE_ASCII takes"]);
    run(here(&["env"]).env("INTERLEAVE_SEEED", "7")).with(2, &["there is no variable INTERLEAVE_SEEED: unset it"]);
    let help = run(&mut here(&["--help"])).with(0, &["Exit codes:", "125 a bisection is undecided"]);
    let table =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cli.md")).expect("the page is there");
    let codes = help.text.split("Exit codes:").nth(1).expect("the table").lines();
    let codes: Vec<&str> =
        codes.filter_map(|line| line.get(..5)?.trim().parse::<u32>().ok().map(|_| line[..5].trim())).collect();
    assert_eq!(codes, ["0", "1", "2", "3", "4", "5", "101", "125"]);
    codes.iter().for_each(|code| assert!(table.contains(&format!("| {code} |")), "{code} is not in docs/cli.md"));
    run(&mut here(&["no-such-command"])).with(2, &["unrecognized subcommand"]);
    let outside = Directory::new("outside");
    run(&mut interleave(&outside.0, &["test"])).with(2, &["error: cargo metadata failed: could not find `Cargo.toml`"]);
}
