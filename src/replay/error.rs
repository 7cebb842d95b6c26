//! What can be wrong with a recording.

use std::fmt;

/// Why an execution cannot be replayed. Each is one sentence that names the thing, and the cure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplayError {
    /// No such file.
    NotFound {
        /// As it was given.
        path: String,
    },
    /// The file is there and cannot be read.
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// A file of another kind.
    Foreign {
        /// The file.
        path: String,
    },
    /// A replay file that was changed.
    Damaged {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// A replay file that ends too early.
    Truncated {
        /// The file.
        path: String,
        /// The number of decisions according to the header, if that is still there.
        expected: Option<usize>,
        /// The number of whole decisions in the file.
        found: usize,
    },
    /// A replay file of a later format.
    Newer {
        /// The file.
        path: String,
        /// Its format.
        version: u64,
    },
    /// A token that was changed.
    DamagedToken {
        /// What is wrong.
        what: &'static str,
    },
    /// A token of a later format.
    NewerToken {
        /// Its format.
        version: u32,
    },
    /// The recording is of another test than the one that runs.
    OtherTest {
        /// The test of the recording.
        recorded: String,
        /// The test that runs.
        running: String,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::NotFound { path } => write!(
                f,
                "there is no replay file `{path}` here or in a directory above: run the test without INTERLEAVE_REPLAY to \
                 write it again, or give its full path"
            ),
            ReplayError::Unreadable { path, reason } => {
                write!(f, "the replay file `{path}` cannot be read ({reason}): check its permissions")
            }
            ReplayError::Foreign { path } => write!(
                f,
                "`{path}` is not a replay file: INTERLEAVE_REPLAY takes a file that a failing run wrote (`*.il`) or a token \
                 (`il1:…`)"
            ),
            ReplayError::Damaged { path, line, what } => write!(
                f,
                "the replay file `{path}` is damaged in line {line} ({what}): restore it, or run the test without \
                 INTERLEAVE_REPLAY to write it again"
            ),
            ReplayError::Truncated { path, expected: Some(expected), found } => write!(
                f,
                "the replay file `{path}` is cut short ({found} of {expected} decisions are left): restore it, or run the test \
                 without INTERLEAVE_REPLAY to write it again"
            ),
            ReplayError::Truncated { path, expected: None, .. } => write!(
                f,
                "the replay file `{path}` is cut short in its first line: restore it, or run the test without \
                 INTERLEAVE_REPLAY to write it again"
            ),
            ReplayError::Newer { path, version } => write!(
                f,
                "the replay file `{path}` has format {version} and this version of interleave reads up to format 2: update \
                 interleave, or record the failure again"
            ),
            ReplayError::DamagedToken { what } => {
                write!(f, "the replay token is damaged ({what}): copy all of it, from `il1:` to the end of the line")
            }
            ReplayError::NewerToken { version } => write!(
                f,
                "the replay token has format {version} and this version of interleave reads up to format 1: update \
                 interleave, or record the failure again"
            ),
            ReplayError::OtherTest { recorded, running } => write!(
                f,
                "INTERLEAVE_REPLAY has an execution of the test `{recorded}`, but `{running}` is running: run only \
                 `{recorded}`, or unset INTERLEAVE_REPLAY"
            ),
        }
    }
}

impl std::error::Error for ReplayError {}
