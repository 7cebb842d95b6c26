//! What a replay file has for people: threads, objects, and what each step did.

use serde::{Deserialize, Serialize};

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ThreadNote {
    /// Its spawn path: `0.1` is the second child of main.
    pub(crate) path: String,
    /// Its name, as reports have it.
    pub(crate) name: String,
    /// Where it was spawned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spawned: Option<String>,
    /// The simulated process that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) process: Option<String>,
}

/// An object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ObjectNote {
    /// Its name, as reports have it.
    pub(crate) name: String,
    /// Its type.
    pub(crate) family: String,
    /// Where it was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) created: Option<String>,
}

/// What a step did. Steps are numbered from 1 in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StepNote {
    /// As it is written in the source: `n.load(Acquire)`.
    pub(crate) call: String,
    /// What it did: `0 -> 1` with the arrow of the report.
    pub(crate) effect: String,
    /// `acquire`, `release`, `signal`, `wait`; empty for the rest.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) role: String,
    /// Reads: the step that wrote the value; 0 for the initial one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reads: Option<usize>,
    /// Reads of a value that was not the newest: the step that wrote the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stale: Option<usize>,
    /// Writes: the step of another thread whose value it replaced without having read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) overwrites: Option<usize>,
    /// The thread (number in the list of threads) that was preempted right before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) preempts: Option<usize>,
    /// Steps of other threads that happen before it and that nothing else puts before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<usize>,
    /// The step that left its object, a lock or the like, as this one found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<usize>,
    /// One sign a thread: `*` steps, `|` could run, `o` blocked, blank.
    pub(crate) marks: String,
}
