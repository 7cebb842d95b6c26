//! What is in a file.
//!
//! The state of the object is the number of a version; each version's bytes are kept, so that those who only read can be
//! shown an older one than the newest that has been written in this run.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dpor::{Outcome, Outcomes, ThreadId};

use super::call::{Call, Object, Step, Sys};
use super::entry::look;
use crate::model::event::Site;

/// The content of a file.
#[derive(Debug)]
pub(crate) struct Content {
    version: Object,
    versions: Mutex<HashMap<u64, Arc<Vec<u8>>>>,
}

/// The version of every empty file, so that emptying one again changes nothing.
const EMPTY: u64 = 0;

/// The version becomes `args[0]`: the result is the one before.
fn write(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(args[0], state));
}

/// The file becomes empty.
fn truncate(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == EMPTY { Outcome::read(state) } else { Outcome::write(EMPTY, state) });
}

impl Content {
    /// An empty file that is going to be at `path`.
    pub(crate) fn new(path: &Path, site: Site) -> Self {
        let version = Object::new(EMPTY, site).named(format!("content of {}", super::path::shown(path).display()));
        Content { version, versions: Mutex::default() }
    }

    /// All of it, in one step.
    pub(crate) fn read(&self, call: Call<'_>) -> Sys<Arc<Vec<u8>>> {
        static READ: Step = Step::new("File", "read", look);
        let version = call.act(&self.version, &READ, [0, 0])?;
        Ok(self.bytes(version))
    }

    /// Changes it in one step: `change` gets the bytes before.
    pub(crate) fn write<R>(&self, call: Call<'_>, change: impl FnOnce(&mut Vec<u8>) -> R) -> Sys<R> {
        static WRITE: Step = Step::new("File", "write", write);
        let new = call.fresh()?;
        let old = call.act(&self.version, &WRITE, [new, 0])?;
        let mut bytes = self.bytes(old).to_vec();
        let result = change(&mut bytes);
        self.versions.lock().unwrap_or_else(PoisonError::into_inner).insert(new, Arc::new(bytes));
        Ok(result)
    }

    /// Empties it.
    pub(crate) fn truncate(&self, call: Call<'_>) -> Sys<()> {
        static TRUNCATE: Step = Step::new("File", "truncate", truncate);
        call.act(&self.version, &TRUNCATE, [0, 0])?;
        Ok(())
    }

    fn bytes(&self, version: u64) -> Arc<Vec<u8>> {
        let versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        match versions.get(&version) {
            Some(bytes) => bytes.clone(),
            None => Arc::default(),
        }
    }
}
