//! `cargo interleave test` and `list`.

use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use clap::Args;

use super::Done;
use super::cargo::{Caller, Selection, Workspace, has_nextest};
use super::exit::Exit;
use super::watch::{self, Show, Watched};
use crate::events::{Event, Outcome};
use crate::replay::{Committed, kept_in};
use crate::report::{count, escaped_line};

/// How models are explored: the environment variables of the same names.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Exploration")]
pub(super) struct Search {
    /// The memory model
    #[arg(long, value_name = "rc11|sc")]
    memory: Option<String>,
    /// The strategy
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<String>,
    /// Most preemptions of an execution
    #[arg(long, value_name = "NUMBER")]
    preemptions: Option<String>,
    /// Explore only executions with at most so many stale reads
    #[arg(long, value_name = "NUMBER")]
    stale_reads: Option<String>,
    /// Stop each model after so many executions
    #[arg(long, value_name = "NUMBER")]
    max_executions: Option<String>,
    /// Stop each model after so many seconds
    #[arg(long, value_name = "SECONDS")]
    max_duration: Option<String>,
    /// The seed of random executions
    #[arg(long, value_name = "NUMBER")]
    seed: Option<String>,
    /// OS threads that explore one model
    #[arg(long, value_name = "NUMBER")]
    workers: Option<String>,
}

impl Search {
    /// The variables.
    fn variables(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let all = [
            ("INTERLEAVE_MEMORY", &self.memory),
            ("INTERLEAVE_STRATEGY", &self.strategy),
            ("INTERLEAVE_PREEMPTIONS", &self.preemptions),
            ("INTERLEAVE_STALE_READS", &self.stale_reads),
            ("INTERLEAVE_MAX_EXECUTIONS", &self.max_executions),
            ("INTERLEAVE_MAX_DURATION", &self.max_duration),
            ("INTERLEAVE_SEED", &self.seed),
            ("INTERLEAVE_WORKERS", &self.workers),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)))
    }
}

/// The arguments of `test`.
pub(super) struct Asked {
    pub(super) filter: Option<String>,
    pub(super) selection: Selection,
    pub(super) search: Search,
    pub(super) stale: Option<String>,
    pub(super) no_nextest: bool,
    pub(super) progress_every: f64,
    pub(super) harness: Vec<OsString>,
}

/// Runs tests.
pub(super) fn run(asked: &Asked) -> Done {
    let every =
        Duration::try_from_secs_f64(asked.progress_every).map_err(|_| "--progress-every takes seconds".to_owned())?;
    let workspace = Workspace::read(&asked.selection)?;
    let caller = Caller::new(&workspace, &asked.selection)?;
    let mut all = Watched { status: Default::default(), events: Vec::new(), printed: String::new() };
    for mut command in commands(asked, &workspace, &caller) {
        command.envs(asked.search.variables());
        command.envs(asked.stale.iter().map(|stale| ("INTERLEAVE_STALE", stale)));
        let watched = watch::run(&mut command, Show::All, Some(every))?;
        all.events.extend(watched.events);
        if !watched.status.success() {
            all.status = watched.status;
        }
    }
    let exit = summary(&all, &workspace, asked.filter.as_deref());
    // A kept file whose test is gone is seen by no test.
    let whole = asked.filter.is_none() && !asked.selection.names_targets() && asked.harness.is_empty();
    let orphans = if whole && exit != Exit::Cargo { orphans(&workspace, &all.events) } else { Vec::new() };
    for orphan in &orphans {
        eprintln!("stale: {orphan} belongs to no model that ran: delete it, or record the failure again");
    }
    let denied = asked.stale.as_deref() == Some("deny") && !orphans.is_empty();
    Ok(if denied && exit == Exit::Ok { Exit::Fails } else { exit })
}

fn commands(asked: &Asked, workspace: &Workspace, caller: &Caller) -> Vec<Command> {
    let build = asked.selection.build_arguments();
    let add = |command: &mut Command, targets: &[OsString]| {
        command.args(&build).args(targets).args(&asked.filter);
        if !asked.harness.is_empty() {
            command.arg("--").args(&asked.harness);
        }
    };
    let targets = asked.selection.target_arguments();
    if asked.no_nextest || !has_nextest() {
        let mut command = caller.command(&["test", "--no-fail-fast"]);
        add(&mut command, &targets);
        return vec![command];
    }
    let mut nextest = caller.command(&["nextest", "run", "--no-fail-fast", "--no-tests=pass"]);
    add(&mut nextest, &targets);
    let mut commands = vec![nextest];
    // Nextest runs no doctests.
    if !asked.selection.names_targets() && workspace.has_library() {
        let mut doctests = caller.command(&["test", "--doc"]);
        add(&mut doctests, &[]);
        commands.push(doctests);
    }
    commands
}

/// Says what came of the models, and how it ends.
fn summary(watched: &Watched, workspace: &Workspace, filter: Option<&str>) -> Exit {
    let (mut passed, mut failed) = (0, 0);
    for event in &watched.events {
        match event {
            Event::Ended { test, program, verdict, failure, message, .. } => {
                let sign = if failure.is_some() { "FAIL" } else { "ok" };
                println!("{sign:>5}  {}  {}", escaped_line(&format!("{program}::{test}")), escaped_line(verdict));
                // A test that looks at the verdict itself may not have shown it.
                let first = message.as_deref().and_then(|message| message.lines().find(|line| !line.trim().is_empty()));
                first.iter().for_each(|first| println!("       {}", escaped_line(first)));
                *if failure.is_some() { &mut failed } else { &mut passed } += 1;
            }
            Event::Replayed { test, file: Some(file), outcome, .. } => {
                println!("{:>5}  {}  kept {}", told(*outcome), escaped_line(test), escaped_line(file));
            }
            _ => {}
        }
    }
    let started = watched.started();
    let lost = started.saturating_sub(passed + failed);
    if started > 0 {
        let ended = if lost > 0 { format!(", {lost} ended their process") } else { String::new() };
        println!("{}: {passed} passed, {failed} failed{ended}", count(started as u64, "model"));
    }
    match (started, failed + lost, watched.status.success()) {
        (_, 1.., _) => Exit::Fails,
        (_, _, false) => Exit::Cargo,
        (0, ..) => {
            eprintln!("error: {}", no_model(workspace, filter));
            Exit::NoModel
        }
        _ => Exit::Ok,
    }
}

/// What a kept file came to, in a word.
fn told(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Same | Outcome::Other => "FAIL",
        Outcome::Passes => "ok",
        Outcome::Diverged => "stale",
    }
}

fn no_model(workspace: &Workspace, filter: Option<&str>) -> String {
    let packages: Vec<&str> = workspace.packages.iter().map(|package| package.name.as_str()).collect();
    let which = match filter {
        Some(filter) => format!("no model ran: no test with a model has a name that contains `{filter}`"),
        None => "no model ran".to_owned(),
    };
    format!(
        "{which} (packages: {}): wrap the body of a test in `interleave::model`, or check the selection; `cargo interleave \
         list` shows the models there are",
        packages.join(", ")
    )
}

/// Kept files that no test has asked for.
fn orphans(workspace: &Workspace, events: &[Event]) -> Vec<String> {
    let ran = |file: &Committed| {
        events.iter().any(|event| match event {
            Event::Started { test, program, .. } => file.belongs_to(program, test),
            _ => false,
        })
    };
    let of = |directory| kept_in(directory).into_iter().filter(|file| !ran(file)).map(|file| file.shown);
    workspace.packages.iter().flat_map(|package| of(package.directory())).collect()
}

/// Runs one execution of each model, and says which there are.
pub(super) fn list(filter: Option<&str>, selection: &Selection) -> Done {
    let workspace = Workspace::read(selection)?;
    let caller = Caller::new(&workspace, selection)?;
    let mut command = caller.command(&["test", "--no-fail-fast"]);
    command.args(selection.build_arguments()).args(selection.target_arguments()).args(filter);
    command.env("INTERLEAVE_MAX_EXECUTIONS", "1");
    let watched = watch::run(&mut command, Show::Nothing, None)?;
    let mut models: Vec<(String, String, String)> = Vec::new();
    for event in &watched.events {
        if let Event::Started { test, program, place } = event {
            models.push((program.clone(), test.clone(), place.clone()));
        }
    }
    models.sort();
    models.dedup();
    if models.is_empty() {
        // Tests that count executions fail when there is only one; that it does not build is another matter.
        if watched.printed.contains("error: could not compile") || watched.printed.contains("\nerror[E") {
            eprint!("{}", watched.printed);
            return Ok(Exit::Cargo);
        }
        eprintln!("error: {}", no_model(&workspace, filter));
        return Ok(Exit::NoModel);
    }
    let kept: Vec<Committed> = workspace.packages.iter().flat_map(|package| kept_in(package.directory())).collect();
    for (program, test, place) in &models {
        println!("{}  {}", escaped_line(&format!("{program}::{test}")), escaped_line(place));
        for file in kept.iter().filter(|file| file.belongs_to(program, test)) {
            println!("  kept {}", escaped_line(&file.shown));
        }
    }
    println!("{}", count(models.len() as u64, "model"));
    Ok(Exit::Ok)
}
