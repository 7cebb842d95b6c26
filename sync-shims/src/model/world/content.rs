//! What is in a file.
//!
//! The state of the object is the number of a version; each version's bytes are kept, so that those who only read can be
//! shown an older one than the newest that has been written in this run. Those who write take turns, as in the kernel: the
//! new version has to be there before the step that lets others find it, and it is made of the one before.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dpor::{Outcome, Outcomes, ThreadId};

use super::call::{Call, Object, Step, Sys};
use super::entry::look;
use super::turn::Turn;
use crate::model::event::Site;

/// The content of a file.
#[derive(Debug)]
pub(crate) struct Content {
    version: Object,
    turn: Turn,
    versions: Mutex<Versions>,
}

#[derive(Debug, Default)]
struct Versions {
    bytes: HashMap<u64, Arc<Vec<u8>>>,
    /// The newest, as whoever's turn it is sees it.
    newest: u64,
}

/// The version of every empty file, so that emptying one again changes nothing.
const EMPTY: u64 = 0;

/// The version becomes `args[0]`.
fn write(_: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(args[0], 0));
}

impl Content {
    /// An empty file that is going to be at `path`.
    pub(crate) fn new(path: &Path, site: Site) -> Self {
        let path = super::path::shown(path).display();
        Content {
            turn: Turn::new(format_args!("writing the content of {path}"), site),
            version: Object::new(EMPTY, site).named(format_args!("content of {path}")),
            versions: Mutex::default(),
        }
    }

    /// All of it, in one step.
    pub(crate) fn read(&self, call: Call<'_>) -> Sys<Arc<Vec<u8>>> {
        static READ: Step = Step::new("File", "read", look);
        let version = call.act(&self.version, &READ, [0, 0])?;
        Ok(self.versions().bytes.get(&version).cloned().unwrap_or_default())
    }

    /// Changes it: `change` gets the bytes before.
    pub(crate) fn write<R>(&self, call: Call<'_>, change: impl FnOnce(&mut Vec<u8>) -> R) -> Sys<R> {
        static WRITE: Step = Step::new("File", "write", write);
        let version = call.fresh()?;
        self.turn.hold(call, || {
            let result = self.prepare(version, change);
            call.act(&self.version, &WRITE, [version, 0])?;
            Ok(result)
        })
    }

    /// Empties it.
    pub(crate) fn truncate(&self, call: Call<'_>) -> Sys<()> {
        static LOOK: Step = Step::new("File", "truncate", look);
        static TRUNCATE: Step = Step::new("File", "truncate", write);
        if call.act(&self.version, &LOOK, [0, 0])? == EMPTY {
            return Ok(());
        }
        self.turn.hold(call, || {
            self.versions().newest = EMPTY;
            call.act(&self.version, &TRUNCATE, [EMPTY, 0])?;
            Ok(())
        })
    }

    /// Makes the bytes of `version`, which is going to be the newest.
    fn prepare<R>(&self, version: u64, change: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let mut versions = self.versions();
        let mut bytes = versions.bytes.get(&versions.newest).map_or_else(Vec::new, |newest| newest.to_vec());
        let result = change(&mut bytes);
        versions.bytes.insert(version, Arc::new(bytes));
        versions.newest = version;
        result
    }

    fn versions(&self) -> MutexGuard<'_, Versions> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
