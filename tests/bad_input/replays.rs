//! Replay files and tokens.

use interleave::Builder;
use interleave::sync::Mutex;

use super::{child, lost_update, says, text, two_adds};

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
fn a_token_replays_and_a_damaged_one_is_refused() {
    let first = text(&child("replays::child_loses_update", &[]));
    let token = first.lines().find_map(|line| line.trim().strip_prefix("token")).expect("a token is printed").trim();
    let again = text(&child("replays::child_loses_update", &[("INTERLEAVE_REPLAY", token)]));
    says(&again, &["error[interleave::panic]", "assertion `left == right` failed"]);
    let damaged = format!("{}A", &token[..token.len() - 2]);
    let output = child("replays::child_loses_update", &[("INTERLEAVE_REPLAY", &damaged)]);
    assert!(!output.status.success());
    says(&text(&output), &["error[interleave::replay]", "the replay token is damaged"]);
    let output = child("replays::child_passes", &[("INTERLEAVE_REPLAY", token)]);
    says(&text(&output), &["error[interleave::replay]", "has an execution of the test `replays::child_loses_update`"]);
}

/// What was found at random and not reduced is reduced when it is replayed; the new token replays what is left of it.
#[test]
fn a_replay_is_reduced_on_request() {
    let token_of = |report: &str| {
        let token = report.lines().find_map(|line| line.trim().strip_prefix("token")).expect("a token is printed");
        token.trim().to_owned()
    };
    let as_found = [("INTERLEAVE_STRATEGY", "random"), ("INTERLEAVE_SHRINK", "0")];
    let first = text(&child("replays::child_loses_update", &as_found));
    says(&first, &["of a random search with seed 0"]);
    let token = token_of(&first);
    let shrink = [("INTERLEAVE_REPLAY", token.as_str()), ("INTERLEAVE_SHRINK", "1")];
    let reduced = text(&child("replays::child_loses_update", &shrink));
    says(
        &reduced,
        &["assertion `left == right` failed", "replayed; shrunk from ", "; 1 preemption (with 0 preemptions: "],
    );
    let again = text(&child("replays::child_loses_update", &[("INTERLEAVE_REPLAY", &token_of(&reduced))]));
    says(&again, &["assertion `left == right` failed", "= found: replayed"]);
}

#[test]
fn a_file_replays_and_a_damaged_newer_or_foreign_one_is_refused() {
    let first = text(&child("replays::child_loses_update", &[]));
    let path = first.split("INTERLEAVE_REPLAY=").nth(1).and_then(|rest| rest.split_whitespace().next());
    let path = path.expect("a replay file is written");
    let again = text(&child("replays::child_loses_update", &[("INTERLEAVE_REPLAY", path)]));
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
        let output = child("replays::child_loses_update", &[("INTERLEAVE_REPLAY", path.to_str().unwrap())]);
        assert!(!output.status.success());
        says(&text(&output), &["error[interleave::replay]", name, part]);
    }
    let output = child("replays::child_loses_update", &[("INTERLEAVE_REPLAY", "/nowhere/x.il")]);
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
    let first = text(&child("replays::child_has_another_name", &[]));
    let release = if cfg!(debug_assertions) { "" } else { " --release" };
    says(&first, &[&format!("cargo test{release} replays::child_has_another_name token il1:")]);
    let token = first.lines().find_map(|line| line.trim().strip_prefix("token")).expect("a token is printed").trim();
    let again = text(&child("replays::child_has_another_name", &[("INTERLEAVE_REPLAY", token)]));
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
    let first = text(&child("replays::child_deadlocks", &[]));
    says(&first, &["blocked: 1 of 1"]);
    let token = first.lines().find_map(|line| line.strip_prefix("token: ")).expect("a token is printed");
    says(&text(&child("replays::child_deadlocks", &[("INTERLEAVE_REPLAY", token)])), &["blocked: 1 of 1"]);
}

/// What is wrong with a token is said in one sentence, with the cure.
#[test]
fn every_wrong_token_says_what_is_wrong() {
    let first = text(&child("replays::child_loses_update", &[]));
    let token = first.lines().find_map(|line| line.trim().strip_prefix("token")).expect("a token is printed").trim();
    let payload = token.strip_prefix("il1:replays::child_loses_update:").expect("a token of this test");
    let damaged = |what: &str| {
        format!("the replay token is damaged ({what}): copy all of it, from `il1:` to the end of the line")
    };
    let cases = [
        ("il1:".to_owned(), damaged("it names no test")),
        ("il1:child".to_owned(), damaged("it names no test")),
        ("il1:replays::child_loses_update:".to_owned(), damaged("its payload is too short")),
        (format!("il1:replays::child_loses_update:{payload}!"), damaged("its payload is not base64url")),
        (format!("il1:replays::child_loses_update:A{}", &payload[1..]), damaged("its checksum does not match")),
        (format!("il1:replays::child_loses_updates:{payload}"), damaged("its checksum does not match")),
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
        let output = child("replays::child_loses_update", &[("INTERLEAVE_REPLAY", &value)]);
        assert_eq!(output.status.code(), Some(101), "{value}");
        let text = text(&output);
        says(&text, &["error[interleave::replay]", &message]);
        assert_eq!(text.matches("error[interleave").count(), 1, "{value}: one error:\n{text}");
    }
    let output = child("replays::child_passes", &[("INTERLEAVE_REPLAY", token)]);
    let other = "INTERLEAVE_REPLAY has an execution of the test `replays::child_loses_update`, but `replays::child_passes` is running: run only \
                 `replays::child_loses_update`, or unset INTERLEAVE_REPLAY";
    says(&text(&output), &["error[interleave::replay]", other]);
}
