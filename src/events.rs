//! What happens to models, one JSON object a line, appended to the file that `INTERLEAVE_EVENTS` names: so that a program that
//! has started the tests knows which models ran and what came of them. (How far they are: `INTERLEAVE_PROGRESS`.)
//!
//! Several processes append to one file. Each event is one `write` of a short line to a file opened for appending, which no
//! other comes between.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// The variable.
pub(crate) const VARIABLE: &str = "INTERLEAVE_EVENTS";

/// How a replay came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// It fails as it was recorded.
    Same,
    /// It fails, but in another way.
    Other,
    /// It does not fail.
    Passes,
    /// It is not the execution that was recorded.
    Diverged,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub(crate) enum Event {
    /// A model begins.
    Started {
        /// Its name.
        test: String,
        /// The test binary or program.
        program: String,
        /// Where the model is.
        place: String,
    },
    /// A recorded execution was run.
    Replayed {
        /// The model.
        test: String,
        /// The test binary or program.
        program: String,
        /// What came of it.
        outcome: Outcome,
        /// The file, if it is one of those that are committed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// Why it diverged, or what was repaired.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A replay file was written.
    Recorded {
        /// The model.
        test: String,
        /// The test binary or program.
        program: String,
        /// The file.
        file: PathBuf,
    },
    /// A model has come to its verdict.
    Ended {
        /// Its name.
        test: String,
        /// The test binary or program.
        program: String,
        /// The verdict line.
        verdict: String,
        /// Executions that were explored.
        executions: u64,
        /// The code of the failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
        /// Its message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
}

fn path() -> Option<&'static PathBuf> {
    static PATH: OnceLock<Option<PathBuf>> = OnceLock::new();
    PATH.get_or_init(|| std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)).as_ref()
}

/// Appends the event. That this fails is no reason for a test to fail.
pub(crate) fn emit(event: &Event) {
    let Some(path) = path() else { return };
    let Ok(line) = serde_json::to_string(event) else { return };
    let file = OpenOptions::new().create(true).append(true).open(path);
    let _ = file.and_then(|mut file| file.write_all((line + "\n").as_bytes()));
}
