//! `cargo interleave replay` and `shrink`: one recorded execution.

use std::process::Command;

use super::Done;
use super::cargo::{Caller, Selection, Workspace};
use super::exit::Exit;
use super::watch::{self, Show, Watched};
use crate::events::{Event, Outcome};
use crate::replay::{self, Recording};
use crate::report::escaped_line;

/// A recorded execution, and how to run its test.
pub(super) struct Asked {
    /// What `INTERLEAVE_REPLAY` is set to.
    value: String,
    /// The model.
    pub(super) test: String,
    /// What a file knows beyond a token.
    pub(super) recording: Option<Recording>,
}

impl Asked {
    /// Reads a file or a token. The tests run in other directories: a file is named by its full path from then on.
    pub(super) fn read(recording: &str) -> Result<Asked, String> {
        let (test, replay) = replay::read(recording).map_err(|error| error.to_string())?;
        let value = match &replay.recording {
            None => recording.trim().to_owned(),
            Some(_) => {
                let path = replay::find(recording.trim()).unwrap_or_else(|| recording.trim().into());
                let full = path.canonicalize().unwrap_or(path);
                full.to_str()
                    .ok_or_else(|| format!("`{}` has a name that is not UTF-8: rename it", full.display()))?
                    .to_owned()
            }
        };
        Ok(Asked { value, test, recording: replay.recording })
    }

    /// What `INTERLEAVE_REPLAY` is set to.
    pub(super) fn value(&self) -> &str {
        &self.value
    }

    /// The command that runs the test alone.
    pub(super) fn command(&self, workspace: &Workspace, caller: &Caller, selection: &Selection) -> Command {
        let recorded = self.recording.as_ref().map_or("", |recording| recording.command.as_str());
        let program = self.recording.as_ref().and_then(|recording| workspace.program(&recording.program));
        let runs = recorded.starts_with("cargo run");
        let mut command = caller.command(if runs { &["run"] } else { &["test", "--no-fail-fast"] });
        command.args(selection.build_arguments());
        let release = recorded.split(' ').any(|word| word == "--release");
        if release && !selection.build_arguments().iter().any(|argument| argument == "--release") {
            command.arg("--release");
        }
        let targets = selection.target_arguments();
        match program {
            Some((_, arguments)) if targets.is_empty() => command.args(arguments),
            _ => command.args(targets),
        };
        if !runs {
            command.args(["--", "--exact", "--include-ignored", self.harness_name(recorded)]);
        }
        command.env("INTERLEAVE_REPLAY", &self.value);
        command
    }

    /// What the test harness calls the test: a model may have a name of its own.
    fn harness_name<'a>(&'a self, recorded: &'a str) -> &'a str {
        let last = recorded.strip_prefix("cargo test").and_then(|rest| rest.rsplit(' ').next());
        last.filter(|name| !name.is_empty() && !name.starts_with('-')).unwrap_or(&self.test)
    }
}

/// What a run with `INTERLEAVE_REPLAY` came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// It was run.
    To(Outcome, Option<String>),
    /// The model refused, for this reason.
    Refused(String),
    /// No model ran.
    Nothing,
    /// The test is in several programs.
    Several(Vec<String>),
    /// Cargo failed.
    Cargo,
}

/// Looks at the events.
pub(super) fn came(watched: &Watched) -> Came {
    let mut programs: Vec<String> = Vec::new();
    let mut replayed = Vec::new();
    let mut refused = None;
    for event in &watched.events {
        match event {
            Event::Replayed { program, outcome, note, file: None, .. } => {
                programs.push(program.clone());
                replayed.push((*outcome, note.clone()));
            }
            Event::Ended { failure: Some(code), message, .. } if code == "replay" || code == "config" => {
                refused = message.clone();
            }
            _ => {}
        }
    }
    programs.sort();
    programs.dedup();
    match (replayed.pop(), refused) {
        (Some(_), _) if programs.len() > 1 => Came::Several(programs),
        (Some((outcome, note)), _) => Came::To(outcome, note),
        (None, Some(message)) => Came::Refused(message),
        (None, None) if watched.status.success() => Came::Nothing,
        (None, None) => Came::Cargo,
    }
}

/// Runs a recorded execution again.
pub(super) fn run(recording: &str, selection: &Selection, no_repair: bool) -> Done {
    let asked = Asked::read(recording)?;
    let workspace = Workspace::read(selection)?;
    let caller = Caller::new(&workspace, selection)?;
    let mut command = asked.command(&workspace, &caller, selection);
    if no_repair {
        command.env("INTERLEAVE_REPAIR", "0");
    }
    tell(&asked, &watch::run(&mut command, Show::All, None)?)
}

fn tell(asked: &Asked, watched: &Watched) -> Done {
    let test = escaped_line(&asked.test);
    let (exit, text) = match came(watched) {
        Came::To(outcome, note) => {
            let note = note.map_or_else(String::new, |note| format!(" ({})", escaped_line(&note)));
            match outcome {
                Outcome::Same => (Exit::Fails, format!("`{test}` fails as recorded{note}")),
                Outcome::Other => (Exit::OtherFailure, format!("`{test}` fails in another way{note}")),
                Outcome::Passes => {
                    (Exit::Ok, format!("`{test}` passes now: the recorded execution does not fail{note}"))
                }
                Outcome::Diverged => (Exit::Diverged, format!("`{test}` diverged{note}")),
            }
        }
        Came::Refused(message) => return Err(escaped_line(&message)),
        Came::Nothing => (
            Exit::NoModel,
            format!(
                "no model `{test}` ran: it has been renamed or deleted, or is in a package or feature that is not selected"
            ),
        ),
        Came::Several(programs) => {
            let all = programs.join("`, `");
            return Err(format!(
                "`{test}` is in `{all}`: choose one with --package, --lib, --test, --bin or --example"
            ));
        }
        Came::Cargo => (Exit::Cargo, "cargo failed before the model ran".to_owned()),
    };
    eprintln!("replay: {text}");
    Ok(exit)
}

/// Looks for a simpler failure.
pub(super) fn shrink(recording: &str, executions: u64, selection: &Selection) -> Done {
    let asked = Asked::read(recording)?;
    let workspace = Workspace::read(selection)?;
    let caller = Caller::new(&workspace, selection)?;
    let mut command = asked.command(&workspace, &caller, selection);
    command.env("INTERLEAVE_SHRINK", executions.to_string());
    let watched = watch::run(&mut command, Show::All, None)?;
    let written = watched.events.iter().find_map(|event| match event {
        Event::Recorded { file, .. } => Some(file),
        _ => None,
    });
    let exit = tell(&asked, &watched)?;
    if let (Some(file), Exit::Fails) = (written, exit) {
        let shrunk = Asked::read(&file.to_string_lossy())?.recording;
        let size = |recording: &Recording| {
            let steps = recording.records.iter().filter(|record| record.step.is_some()).count();
            let threads = recording.threads.len();
            let preemptions = recording.failure.preemptions.map_or_else(|| "?".to_owned(), |n| n.to_string());
            format!("{preemptions} preemptions, {steps} steps, {threads} threads")
        };
        let from = asked.recording.as_ref().map_or_else(String::new, |recording| format!("{} -> ", size(recording)));
        let to = shrunk.as_ref().map_or_else(String::new, size);
        eprintln!("shrink: {from}{to}: {}", file.display());
        return Ok(Exit::Ok);
    }
    Ok(exit)
}
