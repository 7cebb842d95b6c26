//! The replay file: JSON Lines, a header and one line a decision.
//!
//! The header ends with a CRC-32 of the whole file, computed with zeros in its place and with Unix line ends.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::checksum::crc32;
use super::decision::Decision;
use super::error::ReplayError;
use super::notes::{ObjectNote, StepNote, ThreadNote};
use super::provenance::Provenance;
use super::token::{self, token};

const FORMAT: &str = "interleave-replay";
/// Format 1 has decisions and where they were taken. Format 2 has what a page shows as well: threads, objects, steps, the report.
const VERSION: u64 = 2;
/// What a replay file starts with, even if the rest of its first line is damaged.
const START: &str = "{\"format\":\"interleave-replay\"";
const CHECKSUM: &str = "\"checksum\":\"";
const BLANK: &str = "00000000";

/// A failing execution, with what a person needs to understand why it no longer replays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recording {
    /// The test.
    pub(crate) test: String,
    /// The test binary, example or program; empty if the file does not say.
    pub(crate) program: String,
    /// The command that runs the test.
    pub(crate) command: String,
    /// How it failed.
    pub(crate) failure: FailureNote,
    /// What it ran under.
    pub(crate) configuration: Configuration,
    /// What it was made from.
    pub(crate) provenance: Provenance,
    /// The threads, main first.
    pub(crate) threads: Vec<ThreadNote>,
    /// The objects that records name by number.
    pub(crate) objects: Vec<ObjectNote>,
    /// What a person reads; empty if the file does not have it.
    pub(crate) report: String,
    /// The operations, in the order in which they are performed.
    pub(crate) records: Vec<Record>,
}

/// A failure in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FailureNote {
    /// The stable code: `panic`.
    pub(crate) code: String,
    /// The message.
    pub(crate) message: String,
    /// The thread it happened to (number in the list of threads), if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thread: Option<usize>,
    /// `file:line:column`, if it has a place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
    /// Preemptions of the recorded order; none if no interleaving fails like this, or nobody has counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) preemptions: Option<u32>,
}

impl FailureNote {
    /// Whether two failures are the same for a replay: the code, and for panics the message. Places move with every edit.
    pub(crate) fn is_like(&self, code: &str, message: &str) -> bool {
        self.code == code && (code != "panic" || self.message == message)
    }
}

/// What an execution ran under.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Configuration {
    /// The memory model: `SC`, `RC11`.
    pub(crate) memory: String,
    /// Budget of spurious events.
    pub(crate) spurious: u32,
    /// Budget of crashes.
    pub(crate) crashes: u32,
    /// Budget of process ids given out again.
    pub(crate) pid_reuse: u32,
    /// Budget of moves of the clock.
    pub(crate) clock: u32,
    /// Iterations of a spinning loop that are run without a change, if that was set.
    pub(crate) spin_budget: Option<u32>,
    /// Bound on preemptions, if any.
    pub(crate) preemption_bound: Option<u32>,
    /// Steps an execution may take.
    pub(crate) max_steps: u32,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The thread by its spawn path: `0.1` is the second child of main.
    pub(crate) thread: String,
    /// The method: `load`.
    pub(crate) operation: String,
    /// The object, by its type; empty: none.
    pub(crate) object: String,
    /// The number of the object in the list of objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) on: Option<usize>,
    /// `file:line:column`.
    pub(crate) place: String,
    /// What was decided.
    pub(crate) decision: Decision,
    /// Out of how many outcomes.
    pub(crate) alternatives: u32,
    /// What a page shows of it; operations that no report shows have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<StepNote>,
}

impl Record {
    /// The file of its place.
    fn file(&self) -> &str {
        self.place.rsplitn(3, ':').last().unwrap_or(&self.place)
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u64,
    test: String,
    #[serde(default)]
    program: String,
    #[serde(default)]
    command: String,
    decisions: usize,
    failure: FailureNote,
    configuration: Configuration,
    #[serde(flatten)]
    provenance: Provenance,
    #[serde(default)]
    threads: Vec<ThreadNote>,
    #[serde(default)]
    objects: Vec<ObjectNote>,
    #[serde(default)]
    report: String,
    token: String,
    checksum: String,
}

impl Recording {
    /// Its decisions alone.
    pub(crate) fn decisions(&self) -> Vec<Decision> {
        self.records.iter().map(|record| record.decision).collect()
    }

    /// Notes the sources and the commit, looked for in `root` and above.
    pub(crate) fn stamp(&mut self, root: &Path) {
        self.provenance = Provenance::new(self.records.iter().map(Record::file), root);
    }

    /// The text of the file.
    pub(crate) fn to_text(&self) -> String {
        let header = Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            test: self.test.clone(),
            program: self.program.clone(),
            command: self.command.clone(),
            decisions: self.records.len(),
            failure: self.failure.clone(),
            configuration: self.configuration.clone(),
            provenance: self.provenance.clone(),
            threads: self.threads.clone(),
            objects: self.objects.clone(),
            report: self.report.clone(),
            token: token(&self.test, &self.decisions()),
            checksum: BLANK.to_owned(),
        };
        let line =
            |result: serde_json::Result<String>| result.expect("strings, numbers and maps of strings are JSON") + "\n";
        let first = line(serde_json::to_string(&header));
        let rest: String = self.records.iter().map(|record| line(serde_json::to_string(record))).collect();
        let sum = crc32((first.clone() + &rest).as_bytes());
        let blank = first.rfind(BLANK).expect("the header ends with the blank checksum");
        format!("{}{sum:08x}{}{rest}", &first[..blank], &first[blank + BLANK.len()..])
    }

    /// Writes the file whole or not at all, and the directories above it.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&temporary, self.to_text())?;
        std::fs::rename(&temporary, path).inspect_err(|_| drop(std::fs::remove_file(&temporary)))
    }

    /// Reads the text of the file `path`.
    pub(crate) fn from_bytes(path: &str, bytes: &[u8]) -> Result<Recording, ReplayError> {
        Reader { path }.recording(bytes)
    }
}

/// Reads one file.
struct Reader<'a> {
    path: &'a str,
}

impl Reader<'_> {
    fn recording(&self, bytes: &[u8]) -> Result<Recording, ReplayError> {
        let text = std::str::from_utf8(bytes).map_err(|error| match bytes.starts_with(START.as_bytes()) {
            true => self
                .damaged(bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1, "not UTF-8"),
            false => self.foreign(),
        })?;
        let text = text.replace("\r\n", "\n");
        let header = self.header(&text)?;
        let records = self.records(&text, header.decisions)?;
        self.verify(&text, &header, &records)?;
        let Header { test, program, command, failure, configuration, provenance, threads, objects, report, .. } =
            header;
        Ok(Recording { test, program, command, failure, configuration, provenance, threads, objects, report, records })
    }

    fn header(&self, text: &str) -> Result<Header, ReplayError> {
        let first = text.split('\n').next().unwrap_or("");
        let path = self.path.to_owned();
        let value: serde_json::Value = serde_json::from_str(first).map_err(|error| match text.starts_with(START) {
            true if !text.contains('\n') => ReplayError::Truncated { path: path.clone(), expected: None, found: 0 },
            true => self.damaged(1, &json(&error)),
            false => self.foreign(),
        })?;
        if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
            return Err(self.foreign());
        }
        match value.get("version").and_then(serde_json::Value::as_u64) {
            Some(version) if version > VERSION => Err(ReplayError::Newer { path, version }),
            _ => serde_json::from_value(value).map_err(|error| self.damaged(1, &json(&error))),
        }
    }

    fn records(&self, text: &str, expected: usize) -> Result<Vec<Record>, ReplayError> {
        let mut records = Vec::new();
        let lines: Vec<&str> = text.split_terminator('\n').skip(1).collect();
        for (index, line) in lines.iter().enumerate() {
            match serde_json::from_str(line) {
                Ok(record) => records.push(record),
                // The last line, and its end is missing.
                Err(_) if index + 1 == lines.len() && !text.ends_with('\n') => break,
                Err(error) => return Err(self.damaged(index + 2, &json(&error))),
            }
        }
        match records.len() {
            found if found < expected => {
                Err(ReplayError::Truncated { path: self.path.to_owned(), expected: Some(expected), found })
            }
            found if found > expected => Err(self.damaged(expected + 2, "more decisions than its header announces")),
            _ => Ok(records),
        }
    }

    /// Finds changes that are still JSON.
    fn verify(&self, text: &str, header: &Header, records: &[Record]) -> Result<(), ReplayError> {
        let first = text.find('\n').unwrap_or(text.len());
        let digits = text[..first].rfind(CHECKSUM).map(|at| at + CHECKSUM.len());
        let sum = digits.filter(|at| text.get(*at..at + BLANK.len()) == Some(&header.checksum)).map(|at| {
            format!("{:08x}", crc32(format!("{}{BLANK}{}", &text[..at], &text[at + BLANK.len()..]).as_bytes()))
        });
        if (1..=VERSION).contains(&header.version) && sum.as_ref() == Some(&header.checksum) {
            return Ok(());
        }
        // The token has the decisions once more: it tells which line was changed.
        let changed = token::read(&header.token).ok().and_then(|(_, decisions)| {
            records.iter().zip(decisions).position(|(record, decision)| record.decision != decision)
        });
        Err(match changed {
            Some(index) => self.damaged(index + 2, "not the decision that was recorded"),
            None => self.damaged(1, "the checksum of the file does not match"),
        })
    }

    fn damaged(&self, line: usize, what: &str) -> ReplayError {
        ReplayError::Damaged { path: self.path.to_owned(), line, what: what.to_owned() }
    }

    fn foreign(&self) -> ReplayError {
        ReplayError::Foreign { path: self.path.to_owned() }
    }
}

/// What is wrong, with the column only: each line is parsed alone.
fn json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.replace(
        &format!(" at line {} column {}", error.line(), error.column()),
        &format!(", column {}", error.column()),
    )
}
