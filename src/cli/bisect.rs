//! `cargo interleave bisect`: the commit that made a test fail.
//!
//! `git bisect run` does the search, in a work tree of its own. Each commit is judged by the recorded execution: it fails
//! there as well, or the program has changed and the recording is repaired, or all executions with few preemptions are
//! explored. What cannot be built, or not be judged in time, is skipped.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::Done;
use super::cargo::{Caller, Selection, Workspace};
use super::exit::Exit;
use super::git::{Git, Worktree};
use super::replay::{Asked, Came, came};
use super::watch::{self, Scratch, Show, Watched};
use crate::events::{Event, Outcome};
use crate::report::{count, escaped_line};

/// Preemptions beyond those of the recording that are explored where it cannot be followed.
const MORE: u32 = 1;

/// The arguments of `bisect`.
#[derive(Args, Debug)]
pub(super) struct Bisect {
    /// A commit that does not fail
    #[arg(long, value_name = "COMMIT")]
    good: String,
    /// A later commit that fails
    #[arg(long, value_name = "COMMIT")]
    bad: String,
    /// The recorded failure [default: explored at the bad commit]
    #[arg(long, value_name = "FILE")]
    replay: Option<String>,
    /// Files of the current tree that every commit is tested with, such as a test that was written later
    #[arg(long, value_name = "PATH")]
    with: Vec<PathBuf>,
    /// Seconds that the exploration of one commit may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    seconds: u32,
    #[command(flatten)]
    selection: Selection,
    /// The full name of the test
    #[arg(last = true, required = true, value_name = "TEST")]
    name: String,
}

/// The arguments of the hidden command that judges one commit.
#[derive(Args, Debug)]
pub(super) struct Step {
    #[arg(long)]
    replay: String,
    #[arg(long)]
    preemptions: u32,
    #[arg(long)]
    seconds: u32,
    #[arg(long)]
    overlay: Vec<String>,
    #[command(flatten)]
    selection: Selection,
    #[arg(last = true, required = true)]
    name: String,
}

/// What a commit is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Judged {
    Good(String),
    Bad(String),
    Unknown(String),
}

impl Judged {
    fn exit(&self) -> Exit {
        match self {
            Judged::Good(_) => Exit::Ok,
            Judged::Bad(_) => Exit::Fails,
            Judged::Unknown(_) => Exit::Undecided,
        }
    }

    fn shown(&self) -> String {
        match self {
            Judged::Good(why) => format!("good: {why}"),
            Judged::Bad(why) => format!("bad: {why}"),
            Judged::Unknown(why) => format!("skipped: {why}"),
        }
    }
}

/// Finds the commit.
pub(super) fn run(asked: &Bisect) -> Done {
    let here = std::env::current_dir().map_err(|error| format!("there is no current directory: {error}"))?;
    if asked.selection.manifest_path.is_some() {
        return Err("--manifest-path names a file of this tree, and a bisection has a tree of its own: run it in the directory \
                    of the package"
            .to_owned());
    }
    let git = Git::around(&here)?;
    let (good, bad) = ends(&git, &asked.good, &asked.bad)?;
    if !git.text(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
        eprintln!("bisect: what is not committed here has no part in this (`--with FILE` takes a file along)");
    }
    let scratch = Scratch::new().map_err(|error| format!("the temporary directory cannot be written: {error}"))?;
    let overlay = overlay(&git, &here, &asked.with, &scratch.0)?;
    let tree = Worktree::add(&git, scratch.0.join("tree"), &bad)?;
    // The builds of all commits share what does not change between them.
    let mut selection = asked.selection.clone();
    if selection.target_dir.is_none() {
        selection.target_dir = Some(target_directory(&here, &selection)?);
    }
    let inside = here.strip_prefix(git.directory()).map_or_else(|_| PathBuf::new(), Path::to_path_buf);
    let directory = scratch.0.join("tree").join(&inside);
    let judge = Judge { test: &asked.name, seconds: asked.seconds, selection: &selection, overlay: &overlay };

    let replay = match &asked.replay {
        Some(file) => Asked::read(file)?,
        None => judge.record(&directory, &scratch.0)?,
    };
    if replay.test != asked.name && asked.replay.is_some() {
        return Err(format!(
            "the replay file is of the test `{}`, not of `{}`",
            escaped_line(&replay.test),
            asked.name
        ));
    }
    let preemptions = replay.recording.as_ref().and_then(|recording| recording.failure.preemptions).unwrap_or(1) + MORE;
    let inside_tree = tree.git();
    let at = |commit: &str| {
        inside_tree.text(&["checkout", "--quiet", "--force", "--detach", commit])?;
        let judged = judge.judge(&directory, &replay, preemptions)?;
        eprintln!("bisect: {}: {}", git.shown(commit), judged.shown());
        inside_tree.text(&["checkout", "--quiet", "--force", "--detach", commit])?;
        Ok::<_, String>(judged)
    };
    match at(&bad)? {
        Judged::Bad(_) => {}
        other => return Err(format!("the bad commit {} does not fail ({})", git.shown(&bad), other.shown())),
    }
    match at(&good)? {
        Judged::Good(_) => {}
        other => {
            return Err(format!(
                "the good commit {} is not good ({}): take an earlier one",
                git.shown(&good),
                other.shown()
            ));
        }
    }
    inside_tree.text(&["bisect", "start", &bad, &good])?;
    let steps = judge.command(&directory, &replay, preemptions)?;
    let mut bisect = Command::new("git");
    bisect.arg("-C").arg(inside_tree.directory()).args(["bisect", "run"]).args(steps);
    let output = bisect
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    // Skipped commits may lie between the last good one and the first bad one.
    let result = conclusion(&git, &inside_tree, &String::from_utf8_lossy(&output.stdout));
    let _ = inside_tree.text(&["bisect", "reset"]);
    result
}

/// What the end of `git bisect run` says.
fn conclusion(git: &Git, tree: &Git, printed: &str) -> Done {
    let first = printed.lines().find_map(|line| line.strip_suffix(" is the first bad commit"));
    if let Some(commit) = first {
        println!("{} is the first bad commit", git.shown(commit));
        return Ok(Exit::Ok);
    }
    let log = tree.text(&["bisect", "log"]).unwrap_or_default();
    let possible: Vec<&str> =
        log.lines().filter_map(|line| line.strip_prefix("# possible first bad commit: [")).collect();
    if possible.is_empty() {
        return Err(format!("git bisect has come to no end: {}", printed.lines().last().unwrap_or("no message")));
    }
    println!("undecided: one of these is the first bad commit, and none of those in between can be judged");
    for commit in possible {
        println!("  {}", git.shown(commit.split(']').next().unwrap_or(commit)));
    }
    Ok(Exit::Undecided)
}

/// The two commits, which a bisection must be possible between.
fn ends(git: &Git, good: &str, bad: &str) -> Result<(String, String), String> {
    let shallow = git.text(&["rev-parse", "--is-shallow-repository"])? == "true";
    let full = || {
        "this is a shallow clone, which may lack the commits in between: run `git fetch --unshallow` first".to_owned()
    };
    let find =
        |name: &str| git.commit(name).map_err(|error| if shallow { format!("{error}; {}", full()) } else { error });
    let (good, bad) = (find(good)?, find(bad)?);
    if good == bad {
        return Err(format!("--good and --bad are the same commit, {}", git.shown(&good)));
    }
    if git.holds(&["merge-base", "--is-ancestor", &good, &bad])? {
        return if shallow { Err(full()) } else { Ok((good, bad)) };
    }
    if git.holds(&["merge-base", "--is-ancestor", &bad, &good])? {
        return Err(format!(
            "the good commit {} comes after the bad one: --good and --bad are swapped, unless you look for the commit that \
             repaired it",
            git.shown(&good)
        ));
    }
    if shallow {
        return Err(full());
    }
    Err(format!(
        "the good commit {} is no ancestor of the bad one: take one that is, such as {}",
        git.shown(&good),
        git.text(&["merge-base", &good, &bad])
            .map_or_else(|_| "none: they have no history in common".to_owned(), |base| git.shown(&base))
    ))
}

/// Copies of the files that go along: where from, and where to below the top of the tree.
fn overlay(git: &Git, here: &Path, with: &[PathBuf], scratch: &Path) -> Result<Vec<(PathBuf, PathBuf)>, String> {
    let mut copies = Vec::new();
    for (number, path) in with.iter().enumerate() {
        let unusable = |error: std::io::Error| format!("`{}` cannot be taken along: {error}", path.display());
        let full = here.join(path).canonicalize().map_err(unusable)?;
        let top = git.directory().canonicalize().map_err(unusable)?;
        let inside = full.strip_prefix(&top).map_err(|_| format!("`{}` is not in this repository", path.display()))?;
        let copy = scratch.join(format!("with-{number}"));
        std::fs::copy(&full, &copy).map_err(unusable)?;
        copies.push((copy, inside.to_owned()));
    }
    Ok(copies)
}

/// A target directory for the builds of all commits.
fn target_directory(here: &Path, selection: &Selection) -> Result<PathBuf, String> {
    let workspace = Workspace::read(selection).map_err(|error| {
        format!("{error} (in {}): run the bisection in the directory of the package", here.display())
    })?;
    Ok(workspace.bisection_directory())
}

/// Judges commits.
struct Judge<'a> {
    test: &'a str,
    seconds: u32,
    selection: &'a Selection,
    overlay: &'a [(PathBuf, PathBuf)],
}

impl Judge<'_> {
    /// The command that `git bisect run` runs.
    fn command(&self, directory: &Path, replay: &Asked, preemptions: u32) -> Result<Vec<std::ffi::OsString>, String> {
        let own = std::env::current_exe().map_err(|error| format!("this program cannot find itself: {error}"))?;
        // `git bisect run` starts its command at the top of the tree.
        let script = "cd \"$0\" && exec \"$@\"";
        let mut all: Vec<std::ffi::OsString> =
            vec!["sh".into(), "-c".into(), script.into(), directory.into(), own.into()];
        all.push("bisect-step".into());
        all.extend(["--replay".into(), replay.value().into()]);
        all.extend(["--preemptions".into(), preemptions.to_string().into()]);
        all.extend(["--seconds".into(), self.seconds.to_string().into()]);
        for (copy, inside) in self.overlay {
            all.push("--overlay".into());
            all.push(format!("{}={}", copy.display(), inside.display()).into());
        }
        all.extend(self.selection.build_arguments());
        all.extend(self.selection.target_arguments());
        if let Some(directory) = &self.selection.target_dir {
            all.extend(["--target-dir".into(), directory.into()]);
        }
        if self.selection.no_cfg {
            all.push("--no-cfg".into());
        }
        all.extend(["--".into(), self.test.into()]);
        Ok(all)
    }

    /// Puts the files that go along into the tree.
    fn lay(&self, directory: &Path) -> Result<(), String> {
        let git = Git::around(directory)?;
        for (copy, inside) in self.overlay {
            let to = git.directory().join(inside);
            let unusable = |error: std::io::Error| format!("`{}` cannot be written: {error}", inside.display());
            std::fs::create_dir_all(to.parent().unwrap_or(git.directory())).map_err(unusable)?;
            std::fs::copy(copy, &to).map_err(unusable)?;
        }
        Ok(())
    }

    /// Runs the test in `directory` with these variables.
    fn test(&self, directory: &Path, variables: &[(&str, &str)]) -> Result<Watched, String> {
        let mut there = self.selection.clone();
        there.manifest_path = Some(directory.join("Cargo.toml"));
        let workspace = Workspace::read(&there)?;
        let caller = Caller::below(directory, &workspace, self.selection)?;
        let mut command = caller.command(&["test"]);
        command.args(self.selection.build_arguments()).args(self.selection.target_arguments());
        command.args(["--", "--exact", "--include-ignored", self.test]);
        command.current_dir(directory).envs(variables.iter().copied());
        watch::run(&mut command, Show::Nothing, None)
    }

    /// The failure at the bad commit.
    fn record(&self, directory: &Path, scratch: &Path) -> Result<Asked, String> {
        self.lay(directory)?;
        let watched = self.test(directory, &[])?;
        let recorded = watched.events.iter().find_map(|event| match event {
            Event::Recorded { file, test, .. } if test == self.test => Some(file),
            _ => None,
        });
        let Some(file) = recorded else {
            let last = watched.printed.lines().rev().find(|line| line.contains("error")).unwrap_or_default();
            return Err(match (watched.started(), watched.status.success()) {
                (0, true) => {
                    format!("no model `{}` ran at the bad commit: give the full name of a test with a model", self.test)
                }
                (0, false) => format!("the bad commit does not build: {last}"),
                _ => format!("`{}` does not fail at the bad commit", self.test),
            });
        };
        let copy = scratch.join("recorded.il");
        std::fs::copy(file, &copy).map_err(|error| format!("the replay file cannot be copied: {error}"))?;
        Asked::read(&copy.to_string_lossy())
    }

    /// What the commit in `directory` is.
    fn judge(&self, directory: &Path, replay: &Asked, preemptions: u32) -> Result<Judged, String> {
        if !directory.join("Cargo.toml").exists() {
            return Ok(Judged::Unknown("there is no package here".to_owned()));
        }
        self.lay(directory)?;
        let watched = match self.test(directory, &[("INTERLEAVE_REPLAY", replay.value())]) {
            Ok(watched) => watched,
            Err(message) => return Ok(Judged::Unknown(message)),
        };
        match came(&watched) {
            Came::Cargo => return Ok(Judged::Unknown("it does not build".to_owned())),
            Came::Nothing => return Ok(Judged::Unknown(format!("it has no model `{}`", self.test))),
            Came::Several(programs) => {
                return Err(format!("`{}` is in {}: choose one", self.test, programs.join(", ")));
            }
            Came::Refused(message) => return Err(message),
            Came::To(Outcome::Same, None) => return Ok(Judged::Bad("the recorded execution fails".to_owned())),
            Came::To(Outcome::Same, Some(_)) => {
                return Ok(Judged::Bad("the recorded execution, repaired, fails".to_owned()));
            }
            Came::To(Outcome::Passes, None) => return Ok(Judged::Good("the recorded execution passes".to_owned())),
            Came::To(Outcome::Passes | Outcome::Other | Outcome::Diverged, _) => {}
        }
        self.explore(directory, replay, preemptions)
    }

    /// Where the recording says nothing: all executions with few preemptions.
    fn explore(&self, directory: &Path, replay: &Asked, preemptions: u32) -> Result<Judged, String> {
        let (preemptions, seconds) = (preemptions.to_string(), self.seconds.to_string());
        let variables =
            [("INTERLEAVE_PREEMPTIONS", preemptions.as_str()), ("INTERLEAVE_MAX_DURATION", seconds.as_str())];
        let watched = self.test(directory, &variables)?;
        let ended = watched.events.iter().find_map(|event| match event {
            Event::Ended { test, failure, message, verdict, executions, .. } if test == self.test => {
                Some((failure.clone(), message.clone().unwrap_or_default(), verdict, *executions))
            }
            _ => None,
        });
        let Some((failure, message, verdict, executions)) = ended else {
            return Ok(Judged::Unknown("the model ended its process".to_owned()));
        };
        let explored = format!("{} with at most {preemptions} preemptions explored", count(executions, "execution"));
        Ok(match failure {
            Some(code) => {
                let like = replay.recording.as_ref().is_none_or(|recording| recording.failure.is_like(&code, &message));
                match like {
                    true => Judged::Bad(format!("fails in the same way, in another execution ({explored})")),
                    false => Judged::Unknown(format!("fails in another way: {code}")),
                }
            }
            None if verdict.contains("stopped ") => {
                Judged::Unknown(format!("no failure found in {seconds} s ({explored})"))
            }
            None => Judged::Good(format!("{explored}, none fails")),
        })
    }
}

/// Judges the commit that is checked out in the current directory.
pub(super) fn step(step: &Step) -> Done {
    let here = std::env::current_dir().map_err(|error| format!("there is no current directory: {error}"))?;
    let parse = |pair: &String| pair.split_once('=').map(|(from, to)| (PathBuf::from(from), PathBuf::from(to)));
    let overlay: Vec<_> = step.overlay.iter().filter_map(parse).collect();
    let replay = Asked::read(&step.replay)?;
    let judge = Judge { test: &step.name, seconds: step.seconds, selection: &step.selection, overlay: &overlay };
    let judged = judge.judge(&here, &replay, step.preemptions);
    let git = Git::around(&here)?;
    let judged = judged.unwrap_or_else(Judged::Unknown);
    eprintln!("bisect: {}: {}", git.shown("HEAD"), judged.shown());
    // What went along must not be in the way of the next checkout.
    if !overlay.is_empty() {
        git.text(&["checkout", "--quiet", "--force", "HEAD"])?;
        for (_, inside) in &overlay {
            if !git.holds(&["cat-file", "-e", &format!("HEAD:{}", inside.display())])? {
                let _ = std::fs::remove_file(git.directory().join(inside));
            }
        }
    }
    Ok(judged.exit())
}
