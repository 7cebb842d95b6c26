//! `INTERLEAVE_REPLAY`: a token, or the path of a replay file.

use super::decision::Decision;
use super::error::ReplayError;
use super::recording::Recording;
use super::{location, token};

/// The variable.
const VARIABLE: &str = "INTERLEAVE_REPLAY";

/// An execution to run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replay {
    /// Its decisions.
    pub(crate) decisions: Vec<Decision>,
    /// What the file knows beyond them; a token knows nothing more.
    pub(crate) recording: Option<Recording>,
}

/// The execution that the environment asks for while `running` runs; `None` if it asks for none.
pub(crate) fn from_env(running: &str) -> Option<Result<Replay, ReplayError>> {
    let value = std::env::var_os(VARIABLE).filter(|value| !value.is_empty())?;
    Some(load(&value.to_string_lossy(), running))
}

/// The execution that `value` names, which must be one of the test `running`.
pub(crate) fn load(value: &str, running: &str) -> Result<Replay, ReplayError> {
    let (recorded, replay) = read(value)?;
    match recorded == running {
        true => Ok(replay),
        false => Err(ReplayError::OtherTest { recorded, running: running.to_owned() }),
    }
}

/// The execution that `value` names, and its test.
pub(crate) fn read(value: &str) -> Result<(String, Replay), ReplayError> {
    let value = value.trim();
    if token::is_token(value) {
        let (test, decisions) = token::read(value)?;
        return Ok((test, Replay { decisions, recording: None }));
    }
    let recording = read_file(value)?;
    Ok((recording.test.clone(), Replay { decisions: recording.decisions(), recording: Some(recording) }))
}

fn read_file(given: &str) -> Result<Recording, ReplayError> {
    let path = location::find(given).ok_or_else(|| ReplayError::NotFound { path: given.to_owned() })?;
    let unreadable =
        |error: std::io::Error| ReplayError::Unreadable { path: given.to_owned(), reason: error.to_string() };
    Recording::from_bytes(given, &std::fs::read(path).map_err(unreadable)?)
}
