//! `cargo interleave`.
//!
//! | file | decides |
//! |---|---|
//! | `mod` | the commands and their arguments |
//! | `exit` | exit codes |
//! | `flags` | `--cfg interleave` beside the flags that are in force |
//! | `cargo` | packages, targets, command lines |
//! | `watch` | running cargo, progress, events |
//! | `test`, `replay`, `files`, `bisect`, `git`, `explain` | the commands |
//! | `page` | the HTML page and the JSON of a replay file |

mod bisect;
mod cargo;
mod exit;
mod explain;
mod files;
mod flags;
mod git;
mod page;
mod replay;
mod test;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use cargo::Selection;
use exit::Exit;
use test::Search;

/// Runs models of concurrent code under every interleaving that matters, and replays and shows what they found
#[derive(Parser)]
#[command(name = "cargo interleave", bin_name = "cargo interleave", version, max_term_width = 100, after_help = codes())]
struct Arguments {
    #[command(subcommand)]
    command: Cmd,
}

#[derive(Subcommand)]
enum Cmd {
    /// Run tests with `--cfg interleave`; it is an error if no model runs
    Test {
        /// Only tests whose name contains this
        filter: Option<String>,
        #[command(flatten)]
        selection: Selection,
        #[command(flatten)]
        search: Search,
        /// What kept replay files that cannot be followed any more mean
        #[arg(long, value_name = "warn|deny", value_parser = ["warn", "deny"])]
        stale: Option<String>,
        /// With `cargo test`, even if nextest is there
        #[arg(long)]
        no_nextest: bool,
        /// Seconds between two lines of progress where there is no terminal
        #[arg(long, value_name = "SECONDS", default_value_t = 30.0, hide = true)]
        progress_every: f64,
        /// For the test harness
        #[arg(last = true)]
        harness: Vec<OsString>,
    },
    /// List the models, each with its verdict after one execution and its replay files
    List {
        /// Only tests whose name contains this
        filter: Option<String>,
        #[command(flatten)]
        selection: Selection,
    },
    /// Run a recorded execution again
    Replay {
        /// A replay file or a token
        recording: String,
        #[command(flatten)]
        selection: Selection,
        /// Do not try to repair a recording that cannot be followed
        #[arg(long)]
        no_repair: bool,
    },
    /// Look for a failure that is easier to understand than a recorded one, and write it over its file
    Shrink {
        /// A replay file or a token
        recording: String,
        /// How many executions each question may take: are fewer preemptions enough, fewer steps, fewer threads
        #[arg(long, value_name = "NUMBER", default_value_t = 20_000)]
        executions: u64,
        #[command(flatten)]
        selection: Selection,
    },
    /// Show a replay file: the report it was printed with, or a page, or JSON
    Report {
        /// The replay file
        file: String,
        /// Write a page beside the file, or to this path
        #[arg(long, value_name = "PATH", num_args = 0..=1)]
        html: Option<Option<PathBuf>>,
        /// Print JSON
        #[arg(long, conflicts_with = "html")]
        json: bool,
    },
    /// Keep a replay file in `tests/interleave` of its package, to be run first from then on
    Keep {
        /// The replay file
        file: String,
        #[command(flatten)]
        selection: Selection,
    },
    /// Find the commit that made a test fail
    Bisect(bisect::Bisect),
    /// Judge the commit that is checked out (run by `git bisect run`)
    #[command(hide = true)]
    BisectStep(bisect::Step),
    /// Explain the code of a failure, such as `deadlock`
    Explain {
        /// The code, with or without `interleave::`; all of them if it is left out
        code: Option<String>,
    },
    /// List the environment variables, what they take and what they are
    Env,
}

fn codes() -> String {
    let row = |(exit, meaning): &(Exit, &str)| format!("  {:>3}  {meaning}\n", exit.code());
    format!("Exit codes:\n{}", exit::TABLE.iter().map(row).collect::<String>())
}

/// Runs the command that the arguments of the process name.
pub fn main() -> ExitCode {
    // Cargo calls `cargo-interleave interleave ...`.
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == "interleave") {
        arguments.remove(1);
    }
    // With its own exit codes: 0 for help, 2 for what it does not understand.
    let Arguments { command } = Arguments::parse_from(arguments);
    let done = match command {
        Cmd::Test { filter, selection, search, stale, no_nextest, progress_every, harness } => {
            test::run(&test::Asked { filter, selection, search, stale, no_nextest, progress_every, harness })
        }
        Cmd::List { filter, selection } => test::list(filter.as_deref(), &selection),
        Cmd::Replay { recording, selection, no_repair } => replay::run(&recording, &selection, no_repair),
        Cmd::Shrink { recording, executions, selection } => replay::shrink(&recording, executions, &selection),
        Cmd::Report { file, html, json } => files::report(&file, html, json),
        Cmd::Keep { file, selection } => files::keep(&file, &selection),
        Cmd::Bisect(asked) => bisect::run(&asked),
        Cmd::BisectStep(step) => bisect::step(&step),
        Cmd::Explain { code } => explain::code(code.as_deref()),
        Cmd::Env => explain::environment(),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(message) => {
            eprintln!("error: {message}");
            Exit::Usage.into()
        }
    }
}

/// What a command comes to: how it ends, or why what it was asked for cannot be used.
type Done = Result<Exit, String>;
