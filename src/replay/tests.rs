//! Round trips, and damage of every kind: nothing panics, and nothing that was changed is accepted.

use proptest::prelude::*;

use super::decision::{pack, unpack};
use super::error::ReplayError;
use super::request::load;
use super::token::{self, token};
use super::*;

fn decision(thread: u32, read: u32, place: u32, choice: u32) -> Decision {
    Decision { thread, read, place, choice }
}

/// The ten operations of two threads that lose an increment.
fn lost_increment() -> Vec<Decision> {
    [0, 0, 1, 2, 2, 2, 1, 1, 0, 0].map(|thread| decision(thread, 0, 0, 0)).to_vec()
}

fn recording() -> Recording {
    let decisions = [decision(0, 0, 0, 0), decision(1, 2, 0, 0), decision(1, 0, 1, 0), decision(0, 0, 0, 1)];
    let record = |decision: Decision| Record {
        thread: if decision.thread == 0 { "0".into() } else { "0.0".into() },
        operation: "load".into(),
        object: "n \"é\"\n".into(),
        place: "src/report/testdata/src/counter.rs:9:15".into(),
        on: Some(0),
        decision,
        alternatives: 3,
        step: (decision.choice == 0).then(|| StepNote {
            call: "n.load(Acquire)".into(),
            effect: "→ 0".into(),
            reads: Some(0),
            after: vec![1],
            marks: "*|".into(),
            ..StepNote::default()
        }),
    };
    let mut recording = Recording {
        test: "counter::two_increments".into(),
        program: "counter".into(),
        command: "cargo test counter::two_increments".into(),
        failure: FailureNote {
            code: "panic".into(),
            message: "left: 2\nright: 1 \u{1b}".into(),
            thread: Some(0),
            place: Some("src/x.rs:1:1".into()),
            preemptions: Some(1),
        },
        threads: vec![
            ThreadNote { path: "0".into(), name: "main".into(), ..ThreadNote::default() },
            ThreadNote { path: "0.0".into(), name: "inc".into(), spawned: Some("src/x.rs:2:1".into()), process: None },
        ],
        objects: vec![ObjectNote { name: "n".into(), family: "AtomicUsize".into(), created: None }],
        report: "error[interleave::panic]: …\n".into(),
        configuration: Configuration {
            memory: "RC11".into(),
            spurious: 1,
            max_steps: 10_000,
            ..Configuration::default()
        },
        provenance: Provenance::default(),
        records: decisions.into_iter().map(record).collect(),
    };
    recording.stamp(env!("CARGO_MANIFEST_DIR").as_ref());
    recording
}

fn read(bytes: &[u8]) -> Result<Recording, ReplayError> {
    Recording::from_bytes("x.il", bytes)
}

fn any_decisions() -> impl Strategy<Value = Vec<Decision>> {
    let small = || prop_oneof![4 => Just(0u32), 2 => 0..3u32, 1 => any::<u32>()];
    let one = (0..4u32, small(), small(), small())
        .prop_map(|(thread, read, place, choice)| decision(thread, read, place, choice));
    let run = (one, 1..40usize).prop_map(|(decision, length)| vec![decision; length]);
    prop::collection::vec(run, 0..20).prop_map(|runs| runs.concat())
}

proptest! {
    #[test]
    fn decisions_survive(decisions in any_decisions()) {
        prop_assert_eq!(unpack(&pack(&decisions)), Some(decisions));
    }

    #[test]
    fn tokens_survive(decisions in any_decisions(), test in ".{0,30}") {
        let token = token(&test, &decisions);
        prop_assert!(token.bytes().all(|byte| byte.is_ascii_graphic()), "{}", token);
        prop_assert_eq!(load(&token, &test), Ok(Replay { decisions, recording: None }));
    }

    #[test]
    fn files_survive(decisions in any_decisions(), test in ".*", place in ".*") {
        let mut recording = recording();
        let first = recording.records[0].clone();
        recording.test = test;
        recording.records = decisions.iter().map(|decision| Record { decision: *decision, place: place.clone(), ..first.clone() }).collect();
        prop_assert_eq!(read(recording.to_text().as_bytes()), Ok(recording));
    }

    #[test]
    fn noise_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = unpack(&bytes);
        prop_assert!(read(&bytes).is_err());
        prop_assert!(token::read(&String::from_utf8_lossy(&bytes)).is_err());
    }
}

#[test]
fn a_short_failure_has_a_short_token() {
    let token = token("two_increments", &lost_increment());
    assert_eq!(token, "il1:two_increments:ChAIASgCGAEYAF0BDO8");
    let long: Vec<Decision> = (0..300).map(|n| decision(n / 40 % 3, 0, 0, 0)).collect();
    assert!(super::token("t", &long).len() < 60);
}

#[test]
fn no_changed_token_is_accepted() {
    let good = token("two_increments", &lost_increment());
    for at in 0..good.len() {
        assert!(token::read(&good[..at]).is_err(), "cut at {at}");
        for byte in 0..=u8::MAX {
            let mut bad = good.clone().into_bytes();
            bad[at] = byte;
            let Ok(bad) = String::from_utf8(bad) else { continue };
            assert!(bad == good || token::read(&bad).is_err(), "{bad}");
        }
        let mut longer = good.clone();
        longer.insert(at, 'A');
        assert!(token::read(&longer).is_err(), "{longer}");
    }
}

#[test]
fn no_changed_file_is_accepted() {
    let text = recording().to_text();
    for at in 0..text.len() {
        assert!(read(&text.as_bytes()[..at]).is_err(), "cut at {at}");
        for byte in [
            0,
            b' ',
            b'\n',
            b'\r',
            b'0',
            b'1',
            b'"',
            b'x',
            b'}',
            0x80,
            0xff,
            text.as_bytes()[at] ^ 1,
            text.as_bytes()[at] ^ 32,
        ] {
            let mut bad = text.clone().into_bytes();
            bad[at] = byte;
            assert!(bad == text.as_bytes() || read(&bad).is_err(), "byte {at} as {byte}");
        }
    }
}

/// A file that the first version wrote.
const FORMAT_1: &str = include_str!("testdata/format-1.il");

#[test]
fn files_of_format_1_are_read() {
    let old = read(FORMAT_1.as_bytes()).expect("an older file is as good as a new one");
    assert_eq!(old.test, "counter::two_increments");
    assert_eq!((old.program.as_str(), old.threads.len(), old.report.as_str()), ("", 0, ""));
    let decisions = [decision(0, 0, 0, 0), decision(1, 2, 0, 0), decision(1, 0, 1, 0), decision(0, 0, 0, 1)];
    assert_eq!(old.decisions(), decisions);
    assert!(Repair::new(&old.records).is_none(), "it does not say which object is which");
    assert!(read(FORMAT_1.replacen("RC11", "SC", 1).as_bytes()).is_err());
}

#[test]
fn line_ends_of_a_checkout_do_not_matter() {
    let text = recording().to_text().replace('\n', "\r\n");
    assert_eq!(read(text.as_bytes()), Ok(recording()));
}

#[test]
fn the_file_reads_well() {
    let mut recording = recording();
    recording.provenance.commit = None;
    insta::assert_snapshot!(recording.to_text());
}

#[test]
fn every_error_is_a_sentence_with_a_cure() {
    let text = recording().to_text();
    let lines: Vec<&str> = text.lines().collect();
    let token = token("two_increments", &lost_increment());
    let errors = [
        load("target/interleave/none.il", "t").unwrap_err(),
        ReplayError::Unreadable { path: "x.il".into(), reason: "permission denied".into() },
        read(b"[package]\nname = \"x\"\n").unwrap_err(),
        read(text.replacen("\"thread\":\"0.0\"", "\"thread\":0.0", 1).as_bytes()).unwrap_err(),
        read(text.replacen("\"read\":2", "\"read\":1", 1).as_bytes()).unwrap_err(),
        read(text.replacen("RC11", "SC", 1).as_bytes()).unwrap_err(),
        read(format!("{text}{}\n", lines[1]).as_bytes()).unwrap_err(),
        read(&text.as_bytes()[..text.len() - 10]).unwrap_err(),
        read(&text.as_bytes()[..100]).unwrap_err(),
        read(text.replacen("\"version\":2", "\"version\":3", 1).as_bytes()).unwrap_err(),
        load(&token[..token.len() - 1], "two_increments").unwrap_err(),
        load(&token.replacen("il1", "il2", 1), "two_increments").unwrap_err(),
        load(&token, "other_test").unwrap_err(),
    ];
    insta::assert_snapshot!(errors.map(|error| error.to_string()).join("\n"));
}

#[test]
fn files_are_written_and_found() {
    let directory = std::env::temp_dir().join(format!("interleave-replay-{}", std::process::id()));
    let path = directory.join("a/b/t.il");
    let recording = recording();
    recording.write(&path).expect("the temporary directory can be written");
    recording.write(&path).expect("a second time, over the first");
    let loaded = load(path.to_str().expect("a plain path"), &recording.test);
    assert_eq!(std::fs::read_dir(path.parent().expect("has one")).expect("exists").count(), 1, "no temporary files");
    std::fs::remove_dir_all(&directory).expect("ours");
    assert_eq!(loaded, Ok(Replay { decisions: recording.decisions(), recording: Some(recording) }));
}

#[test]
fn changed_sources_are_named() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut provenance = recording().provenance;
    assert_eq!(provenance.sources.len(), 1);
    assert!(provenance.changed(root).is_empty());
    provenance.sources.insert("src/gone.rs".into(), "0".into());
    assert_eq!(provenance.changed(root), ["src/gone.rs"]);
}

#[test]
fn the_commit_is_read_from_the_files_of_the_repository() {
    let root = std::env::temp_dir().join(format!("interleave-git-{}", std::process::id()));
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("has one")).expect("the temporary directory can be written");
        std::fs::write(path, text).expect("the temporary directory can be written");
    };
    let (loose, packed) = ("1".repeat(40), "2".repeat(40));
    write("main/.git/HEAD", "ref: refs/heads/main\n");
    write("main/.git/packed-refs", &format!("# pack-refs with: peeled\n{packed} refs/heads/main\n"));
    write("main/src/x.rs", "");
    write("main/.git/worktrees/w/HEAD", "ref: refs/heads/topic\n");
    write("main/.git/worktrees/w/commondir", "../..\n");
    write("main/.git/refs/heads/topic", &format!("{loose}\n"));
    write("w/.git", "gitdir: ../main/.git/worktrees/w\n");
    let commit = |directory: &str| Provenance::new(std::iter::empty(), &root.join(directory)).commit;
    let found = [commit("main/src"), commit("w"), commit("")];
    std::fs::remove_dir_all(&root).expect("ours");
    assert_eq!(found[..2], [Some(packed), Some(loose)]);
}
