//! The exploration of a model from beginning to end.
//!
//! | file | decides |
//! |---|---|
//! | `mod` | what a call of `explore` is, and what the model is called |
//! | `search` | which executions are run, and when to stop |
//! | `auto` | what fits into a budget |
//! | `workers` | several OS threads explore together |
//! | `frontier` | a search in pieces: shards, checkpoints |
//! | `shrink` | the search for a failure that is easier to understand |
//! | `tell` | the recorded repetition of a failing execution, the report, the replay file |
//! | `replaying` | `INTERLEAVE_REPLAY`, and the replay files that are kept with the package |
//! | `lost` | workers that were given up |
//! | `written` | from an execution to its replay file, and back |
//! | `unusable` | reports on what cannot be explored |

mod auto;
mod frontier;
mod lost;
mod replaying;
mod search;
mod shrink;
mod tell;
mod unusable;
mod workers;
mod written;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sync_shims::model::controller;

use crate::builder::Builder;
use crate::engine::{Site, exit};
use crate::events::{Event, emit};
use crate::fiber::{Abandoned, Cause};
use crate::progress::Watchers;
use crate::replay as recordings;
use crate::verdict::{Kind, Report};
pub(crate) use frontier::Shard;
pub(crate) use replaying::Stale;

/// What the main thread of every execution runs.
type Body<'a> = &'a (dyn Fn() + Sync);
/// Explores the model `body`.
pub(crate) fn explore(builder: Builder, body: Body<'_>, site: Site) -> Report {
    let builder = Builder { watch: builder.watch.anew(), ..builder };
    let started = Instant::now();
    if controller::current(|controller| controller.is_some()) {
        controller::current(|controller| {
            let message = "a model inside a model".to_owned();
            controller.expect("there is one").fail("outside", message, site)
        });
    }
    exit::watch();
    let test = test_name(&builder);
    let usable = builder.clone().with_environment().and_then(|builder| {
        let watchers = Watchers::new(&test, started, builder.listener.clone(), builder.progress.as_ref())?;
        Ok((builder, watchers))
    });
    emit(&Event::Started { test: test.clone(), program: program(), place: site.to_string() });
    let help = "see the documentation of `interleave::Builder`";
    let mut report = match usable {
        Ok((builder, watchers)) => {
            let abandons = AtomicBool::new(false);
            let run = Run { site, body, started, test: test.clone(), watchers: &watchers, abandons };
            let report = run.explore(&builder);
            watchers.end();
            report
        }
        Err(message) => unusable::unusable(&test, &builder, Kind::Config, message, help),
    };
    report.duration = started.elapsed();
    emit(&Event::Ended {
        test,
        program: program(),
        verdict: report.to_string(),
        executions: report.executions,
        failure: report.failure.as_ref().map(|failure| failure.kind.code().to_owned()),
        message: report.failure.as_ref().map(|failure| failure.message.clone()),
    });
    report
}

/// The name of the model: the test's, which is the OS thread's, or the program's.
fn test_name(builder: &Builder) -> String {
    let thread = std::thread::current().name().filter(|name| *name != "main").map(str::to_owned);
    // The name becomes an OS thread's, which takes no null bytes.
    builder.name.clone().or(thread).unwrap_or_else(program).replace('\0', "\\0")
}

fn program() -> String {
    let executable = std::env::current_exe().unwrap_or_default();
    let stem = executable.file_stem().map_or_else(|| "model".to_owned(), |stem| stem.to_string_lossy().into_owned());
    // Cargo adds a hash to the names of test binaries.
    match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => name.to_owned(),
        _ => stem,
    }
}

/// One call of `explore`.
struct Run<'a> {
    site: Site,
    body: Body<'a>,
    started: Instant,
    test: String,
    watchers: &'a Watchers,
    /// The program aborts the process when it is unwound, so threads are left as they are at the end of an execution.
    abandons: AtomicBool,
}

impl Run<'_> {
    fn explore(&self, builder: &Builder) -> Report {
        if let Some(asked) = recordings::from_env(&self.test) {
            return match asked {
                Ok(asked) => self.replay(builder, asked),
                Err(error) => self.unusable(builder, Kind::Replay, error.to_string(), ""),
            };
        }
        if let Some(report) = self.kept(builder) {
            return report;
        }
        match self.search(builder) {
            Ok(searched) => self.report(builder, searched),
            Err(abandoned) => self.abandoned(builder, &abandoned),
        }
    }

    /// Whether threads will no longer be unwound, since it has just been found that this aborts the process.
    fn abandons_from_now_on(&self, abandoned: &Abandoned) -> bool {
        abandoned.cause == Cause::Unwinding && !self.abandons.swap(true, Ordering::Relaxed)
    }
}
