//! Failing executions on paper: replay files, and tokens that fit on a line.
//!
//! | file | what it decides |
//! |---|---|
//! | [`decision`] | what must be known of an operation to perform it again, and how it is packed |
//! | [`token`](mod@token) | `il1:<test>:<payload>` |
//! | [`recording`] | the replay file: JSON Lines, a header and one line a decision |
//! | [`provenance`] | which sources and which commit a recording was made from |
//! | [`location`] | where replay files are kept and looked for |
//! | [`request`] | `INTERLEAVE_REPLAY` |
//! | [`checksum`], [`error`] | damage, and everything else that can be wrong with a recording |

mod checksum;
mod decision;
mod error;
mod location;
mod provenance;
mod recording;
mod request;
mod token;

#[cfg(test)]
mod tests;

pub(crate) use decision::Decision;
pub(crate) use location::path_for;
pub(crate) use provenance::Provenance;
pub(crate) use recording::{Configuration, FailureNote, Record, Recording};
pub(crate) use request::{Replay, from_env};
pub(crate) use token::token;
