//! How far an exploration is, for those who watch it.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;

/// An estimated number of executions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The mean of the samples.
    pub executions: f64,
    /// Its standard error.
    pub error: f64,
    /// How many samples.
    pub samples: u32,
}

impl From<dpor::Estimate> for Estimate {
    fn from(estimate: dpor::Estimate) -> Estimate {
        let dpor::Estimate { executions, error, samples } = estimate;
        Estimate { executions, error, samples }
    }
}

/// How far an exploration is. See [`Builder::progress`](crate::Builder::progress).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The name of the model.
    pub test: &'a str,
    /// What is running: `exhaustive`, `bounded`, `random`, `shrinking`, …
    pub phase: &'static str,
    /// Executions of the whole exploration so far, those of every bound and phase.
    pub executions: u64,
    /// Since the beginning of the exploration.
    pub elapsed: Duration,
    /// The bound on preemptions that is being explored.
    pub bound: Option<u32>,
    /// How many executions the running phase is expected to have.
    pub estimate: Option<Estimate>,
    /// Nothing comes after this one.
    pub ended: bool,
}

impl Progress<'_> {
    /// Executions per second so far.
    pub fn rate(&self) -> f64 {
        self.executions as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    fn json(&self) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            test: &'a str,
            phase: &'a str,
            executions: u64,
            seconds: f64,
            rate: f64,
            bound: Option<u32>,
            estimate: Option<Estimate>,
            ended: bool,
        }
        let line = Line {
            test: self.test,
            phase: self.phase,
            executions: self.executions,
            seconds: self.elapsed.as_secs_f64(),
            rate: self.rate(),
            bound: self.bound,
            estimate: self.estimate,
            ended: self.ended,
        };
        serde_json::to_string(&line).expect("strings and finite numbers are JSON")
    }
}

/// A function of the user that is told.
#[derive(Clone)]
pub(crate) struct Listener {
    pub(crate) every: Duration,
    pub(crate) tell: Arc<dyn Fn(&Progress<'_>) + Send + Sync>,
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("every", &self.every).finish_non_exhaustive()
    }
}

/// What is running.
#[derive(Clone, Copy, Debug)]
struct Phase {
    name: &'static str,
    bound: Option<u32>,
    estimate: Option<Estimate>,
    due: Instant,
}

/// Counts the executions of one exploration, and tells those who watch. Workers share it.
#[derive(Debug)]
pub(crate) struct Watchers {
    test: String,
    started: Instant,
    every: Duration,
    listener: Option<Listener>,
    file: Option<File>,
    executions: AtomicU64,
    phase: Mutex<Phase>,
}

/// How often a file is written, if no function is told more often.
const EVERY: Duration = Duration::from_secs(1);

impl Watchers {
    /// `Err` if the file cannot be written.
    pub(crate) fn new(
        test: &str,
        started: Instant,
        listener: Option<Listener>,
        path: Option<&PathBuf>,
    ) -> Result<Watchers, String> {
        let every = listener.as_ref().map_or(EVERY, |listener| listener.every);
        let file = path.map(|path| open(path)).transpose()?;
        let phase = Phase { name: "exhaustive", bound: None, estimate: None, due: after(started, every) };
        Ok(Watchers {
            test: test.to_owned(),
            started,
            every,
            listener,
            file,
            executions: AtomicU64::new(0),
            phase: Mutex::new(phase),
        })
    }

    /// Whether anybody watches.
    pub(crate) fn any(&self) -> bool {
        self.listener.is_some() || self.file.is_some()
    }

    /// Something else begins.
    pub(crate) fn enter(&self, name: &'static str, bound: Option<u32>, estimate: Option<Estimate>) {
        let mut phase = self.phase.lock().unwrap_or_else(|e| e.into_inner());
        *phase = Phase { name, bound, estimate, due: phase.due };
    }

    /// So many more executions; tells those who watch if it is time.
    pub(crate) fn advance(&self, executions: u64) {
        self.executions.fetch_add(executions, Ordering::Relaxed);
        if !self.any() {
            return;
        }
        let now = Instant::now();
        // Somebody else is telling them.
        let Ok(mut phase) = self.phase.try_lock() else { return };
        if now >= phase.due {
            phase.due = after(now, self.every);
            let told = *phase;
            drop(phase);
            self.tell(told, false);
        }
    }

    /// What was counted so far was only a first look.
    pub(crate) fn start_again(&self) {
        self.executions.store(0, Ordering::Relaxed);
    }

    /// The exploration is over.
    pub(crate) fn end(&self) {
        if self.any() {
            let phase = *self.phase.lock().unwrap_or_else(|e| e.into_inner());
            self.tell(phase, true);
        }
    }

    fn tell(&self, phase: Phase, ended: bool) {
        let progress = Progress {
            test: &self.test,
            phase: phase.name,
            executions: self.executions.load(Ordering::Relaxed),
            elapsed: self.started.elapsed(),
            bound: phase.bound,
            estimate: phase.estimate,
            ended,
        };
        if let Some(listener) = &self.listener {
            (listener.tell)(&progress);
        }
        if let Some(mut file) = self.file.as_ref() {
            // One call for each line, so that lines of several processes do not mix; nobody may read any more.
            let _ = file.write_all((progress.json() + "\n").as_bytes());
        }
    }
}

/// A time that no clock will ever show is a century away.
fn after(now: Instant, every: Duration) -> Instant {
    now.checked_add(every).unwrap_or_else(|| now + Duration::from_secs(3_155_760_000))
}

fn open(path: &Path) -> Result<File, String> {
    OpenOptions::new().append(true).create(true).open(path).map_err(|error| {
        format!("INTERLEAVE_PROGRESS is {:?}, but it takes a file to append to ({error})", path.display().to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gets_a_line_of_json_at_the_end() {
        let path = std::env::temp_dir().join(format!("interleave-progress-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let watchers = Watchers::new("a \"test\"", Instant::now(), None, Some(&path)).unwrap();
        watchers.enter("bounded", Some(2), Some(Estimate { executions: 10.5, error: 0.5, samples: 4 }));
        watchers.advance(7);
        watchers.end();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text.lines().count(), 1);
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["test"], "a \"test\"");
        assert_eq!(line["phase"], "bounded");
        assert_eq!((&line["executions"], &line["bound"], &line["ended"]), (&7.into(), &2.into(), &true.into()));
        assert_eq!(line["estimate"]["executions"], 10.5);
        assert!(line["seconds"].is_f64() && line["rate"].is_f64());
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error_that_names_it() {
        let path = std::env::temp_dir();
        let error = Watchers::new("t", Instant::now(), None, Some(&path)).unwrap_err();
        assert!(error.starts_with("INTERLEAVE_PROGRESS is \""), "{error}");
    }
}
