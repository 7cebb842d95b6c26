//! Failing executions on paper: replay files, and tokens that fit on a line.
//!
//! | file | what it decides |
//! |---|---|
//! | [`decision`] | what must be known of an operation to perform it again, and how it is packed |
//! | [`token`](mod@token) | `il1:<test>:<payload>` |
//! | [`recording`], [`notes`] | the replay file: JSON Lines, a header and one line a decision |
//! | [`repair`] | the decisions of a recording for a program that has changed since |
//! | [`committed`] | the files of `tests/interleave`, which run first |
//! | [`provenance`] | which sources and which commit a recording was made from |
//! | [`location`] | where replay files are kept and looked for |
//! | [`request`] | `INTERLEAVE_REPLAY` |
//! | [`checksum`], [`error`] | damage, and everything else that can be wrong with a recording |

mod checksum;
mod committed;
mod decision;
mod error;
mod location;
mod notes;
mod provenance;
mod recording;
mod repair;
mod request;
mod token;

#[cfg(test)]
mod tests;

pub(crate) use checksum::crc32;
pub(crate) use committed::committed;
#[cfg(feature = "cli")]
pub(crate) use committed::{Committed, DIRECTORY, read as kept_in};
pub(crate) use decision::Decision;
pub(crate) use location::path_for;
#[cfg(feature = "cli")]
pub(crate) use location::{file_name, find};
pub(crate) use notes::{ObjectNote, StepNote, ThreadNote};
pub(crate) use provenance::Provenance;
pub(crate) use recording::{Configuration, FailureNote, Record, Recording};
pub(crate) use repair::{Lesson, Performed, Repair};
#[cfg(feature = "cli")]
pub(crate) use request::read;
pub(crate) use request::{Replay, from_env};
pub(crate) use token::token;
