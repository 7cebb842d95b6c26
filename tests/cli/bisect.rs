//! `cargo interleave bisect` on a repository of 20 commits. Commit 13 loses updates; commit 11 does not build; commit 6 renames
//! functions; others add and remove steps that no other thread sees.

use std::path::Path;

use crate::fixture::{Came, Directory, alone, builds, clean, interleave, lock_file, manifest, run};

const BROUGHT_IN: u32 = 13;

/// The library of a commit.
fn library(commit: u32) -> String {
    let add = if commit < 6 { "add" } else { "increment" };
    let body = match commit {
        11 => "this does not build",
        BROUGHT_IN.. => "let now = self.n.load(Relaxed);\n        self.n.store(now + 1, Relaxed);",
        _ => "self.n.fetch_add(1, Relaxed);",
    };
    let local = "let seen = AtomicUsize::new(0);\n        seen.fetch_add(1, Relaxed);\n        ";
    let local = if commit.is_multiple_of(3) || commit > 15 { local } else { "" };
    format!(
        "//! A counter, version {commit}.\n\nuse sync_shims::sync::atomic::{{AtomicUsize, Ordering::Relaxed}};\n\n/// Counts.\n\
         #[derive(Default)]\npub struct Counter {{\n    n: AtomicUsize,\n}}\n\nimpl Counter {{\n    /// Adds one.\n    pub fn \
         {add}(&self) {{\n        {local}{body}\n    }}\n\n    /// The sum.\n    pub fn sum(&self) -> usize {{\n        \
         self.n.load(Relaxed)\n    }}\n}}\n"
    )
}

fn test(commit: u32) -> String {
    let add = if commit < 6 { "add" } else { "increment" };
    format!(
        "use counted::Counter;\nuse interleave::sync::Arc;\n\n#[test]\nfn nothing_is_lost() {{\n    interleave::model(|| {{\n        \
         let counter = Arc::new(Counter::default());\n        let other = counter.clone();\n        let t = \
         interleave::thread::spawn(move || other.{add}());\n        counter.{add}();\n        t.join().unwrap();\n        \
         assert_eq!(counter.sum(), 2);\n    }});\n}}\n"
    )
}

fn git(repository: &Path, arguments: &[&str]) -> String {
    let mut command = clean("git", repository);
    command.args(["-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "init.defaultBranch=main"]);
    let came = run(command.args(arguments)).with(0, &[]);
    came.text.trim().to_owned()
}

fn repository(name: &str, commits: u32) -> Directory {
    let repository = Directory::new(name);
    git(&repository.0, &["init", "--quiet"]);
    repository.write("Cargo.toml", &manifest("counted"));
    repository.write("Cargo.lock", &lock_file());
    repository.write(".gitignore", "/target\n");
    for commit in 1..=commits {
        repository.write("src/lib.rs", &library(commit));
        repository.write("tests/counts.rs", &test(commit));
        git(&repository.0, &["add", "--all"]);
        git(&repository.0, &["commit", "--quiet", "--message", &format!("commit {commit}")]);
        git(&repository.0, &["tag", &format!("c{commit}")]);
    }
    repository
}

fn bisect(repository: &Directory, arguments: &[&str]) -> Came {
    let mut command = interleave(&repository.0, &["bisect", "--target-dir"]);
    command.arg(builds().join("cfg-interleave")).args(arguments);
    run(command.args(["--", "nothing_is_lost"]))
}

#[test]
fn the_commit_that_brought_the_failure_in_is_found() {
    let _alone = alone();
    let repository = repository("bisect", 20);
    // What is not committed has no part in it.
    repository.write("src/lib.rs", "this does not build either");
    let came = bisect(&repository, &["--good", "c1", "--bad", "c20"]);
    let came = came.with(0, &["what is not committed here has no part in this", " commit 13 is the first bad commit"]);
    let judged = |commit: u32| {
        let line = came
            .text
            .lines()
            .find(|line| line.starts_with("bisect: ") && line.contains(&format!(" commit {commit}: ")));
        line.map(|line| line.split(&format!(" commit {commit}: ")).nth(1).expect("what it is").to_owned())
    };
    assert_eq!(judged(20).as_deref(), Some("bad: the recorded execution fails"));
    let good = judged(1).expect("the good commit is looked at");
    assert!(good.starts_with("good: ") && good.ends_with(" explored, none fails"), "{good}");
    // Without the steps that no other thread sees.
    assert_eq!(judged(13).as_deref(), Some("bad: the recorded execution, repaired, fails"), "{}", came.text);
    assert!(judged(12).is_some_and(|judged| judged.starts_with("good: ")), "{}", came.text);
    assert_eq!(git(&repository.0, &["worktree", "list"]).lines().count(), 1, "the work tree is gone");
    assert_eq!(git(&repository.0, &["status", "--porcelain"]), "M src/lib.rs", "what was here is still here");
}

#[test]
fn only_commits_that_cannot_be_judged_are_no_answer() {
    let _alone = alone();
    let repository = repository("undecided", 10);
    repository.write("src/lib.rs", "this does not build");
    git(&repository.0, &["commit", "--quiet", "--all", "--message", "broken"]);
    repository.write("src/lib.rs", &library(14));
    git(&repository.0, &["commit", "--quiet", "--all", "--message", "lost"]);
    let came = bisect(&repository, &["--good", "c10", "--bad", "HEAD"]);
    came.with(
        125,
        &["broken: skipped: it does not build", "undecided: one of these is the first bad commit", " broken", " lost"],
    );
}

#[test]
fn a_test_that_was_written_later_goes_along() {
    let _alone = alone();
    let repository = repository("later", 1);
    let rest = ["rm", "--quiet", "tests/counts.rs"];
    git(&repository.0, &rest);
    git(&repository.0, &["commit", "--quiet", "--message", "no test"]);
    repository.write("src/lib.rs", &library(14).replace("increment", "add"));
    git(&repository.0, &["commit", "--quiet", "--all", "--message", "lost"]);
    repository.write("tests/counts.rs", &test(1));
    let ends = ["--good", "HEAD^", "--bad", "HEAD"];
    bisect(&repository, &ends).with(2, &["error: no model `nothing_is_lost` ran at the bad commit"]);
    let came = bisect(&repository, &[&ends[..], &["--with", "tests/counts.rs"]].concat());
    came.with(0, &[" lost is the first bad commit"]);
    bisect(&repository, &[&ends[..], &["--with", "/etc/hostname"]].concat()).with(2, &["is not in this repository"]);
}

#[test]
fn ends_that_cannot_be_used_are_named() {
    let _alone = alone();
    let repository = repository("ends", 3);
    let refused = |arguments: &[&str], part: &str| {
        let came = bisect(&repository, arguments).with(2, &[part]);
        assert_eq!(came.text.lines().count(), 1, "one clear message: {}", came.text);
    };
    refused(&["--good", "c3", "--bad", "c1"], "commit 3 comes after the bad one: --good and --bad are swapped");
    refused(&["--good", "c1", "--bad", "c1"], "--good and --bad are the same commit");
    refused(&["--good", "c1", "--bad", "nowhere"], "`nowhere` is no commit of this repository");
    refused(&["--good", "c1", "--bad", "c3"], "`nothing_is_lost` does not fail at the bad commit");
    git(&repository.0, &["checkout", "--quiet", "-b", "side", "c1"]);
    git(&repository.0, &["commit", "--quiet", "--allow-empty", "--message", "beside"]);
    refused(&["--good", "side", "--bad", "c3"], "is no ancestor of the bad one: take one that is, such as");

    let clone = Directory::new("shallow");
    let from = format!("file://{}", repository.0.display());
    git(&clone.0, &["clone", "--quiet", "--depth", "1", "--branch", "main", &from, "clone"]);
    let shallow = Directory(clone.0.join("clone"));
    let came = bisect(&shallow, &["--good", "HEAD^", "--bad", "HEAD"]);
    came.with(
        2,
        &["`HEAD^` is no commit of this repository; this is a shallow clone", "run `git fetch --unshallow` first"],
    );
    let outside = Directory::new("no-repository");
    bisect(&outside, &["--good", "a", "--bad", "b"]).with(2, &["error: this is no git repository"]);
}
