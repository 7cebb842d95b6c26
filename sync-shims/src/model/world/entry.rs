//! What a path leads to: one object for each path that was ever looked at.
//!
//! The state is the inode that the path names, or none. While a call on two paths is in progress ([`rename`](mod@super::rename)),
//! the entry it takes away is marked; whoever finds the mark waits until that call is done and looks again. There is no step
//! that is blocked by the state of an entry, so those that only look can be pure reads and commute.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dpor::{Outcome, Outcomes, ThreadId};

use super::call::{Call, Halt, Object, Step, Sys};
use super::errno::Errno;
use super::inode::Inode;
use super::name::SocketKind;
use super::path;

/// What an inode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A socket file, whether or not somebody listens.
    Socket,
    /// A symbolic link, whether or not it leads anywhere.
    Symlink,
}

/// The state of a path: 0, or the number of an inode (or of the rename in progress) above three bits for what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u64);

const FILE: u64 = 1;
const DIRECTORY: u64 = 2;
const SOCKET: u64 = 3;
const MOVING: u64 = 4;
const SYMLINK: u64 = 5;

impl Entry {
    /// There is nothing.
    pub(crate) const ABSENT: Entry = Entry(0);

    /// A directory with this inode number.
    pub(crate) fn directory(number: u64) -> Self {
        Entry(number << 3 | DIRECTORY)
    }

    /// The inode `number`.
    pub(crate) fn new(kind: Kind, number: u64) -> Self {
        let tag = match kind {
            Kind::File => FILE,
            Kind::Directory => DIRECTORY,
            Kind::Socket => SOCKET,
            Kind::Symlink => SYMLINK,
        };
        Entry(number << 3 | tag)
    }

    /// Being taken away by the rename `number`.
    pub(crate) fn moving(number: u64) -> Self {
        Entry(number << 3 | MOVING)
    }

    /// What the state of the object says.
    pub(crate) fn from_state(state: u64) -> Self {
        Entry(state)
    }

    /// The state of the object.
    pub(crate) fn state(self) -> u64 {
        self.0
    }

    /// What is there; `None` if nothing.
    pub(crate) fn kind(self) -> Option<Kind> {
        match self.0 & 7 {
            FILE => Some(Kind::File),
            DIRECTORY => Some(Kind::Directory),
            SOCKET => Some(Kind::Socket),
            SYMLINK => Some(Kind::Symlink),
            _ => None,
        }
    }

    /// The number of the inode or rename.
    pub(crate) fn number(self) -> u64 {
        self.0 >> 3
    }

    /// Whether a rename is taking it away.
    pub(crate) fn is_moving(self) -> bool {
        self.0 & 7 == MOVING
    }
}

/// What was found, for reports.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind() {
            Some(Kind::File) => "a file",
            Some(Kind::Directory) => "a directory",
            Some(Kind::Socket) => "a socket",
            Some(Kind::Symlink) => "a symbolic link",
            None if self.is_moving() => "being renamed",
            None => "nothing",
        })
    }
}

/// What a report says of a step that looks.
pub(crate) fn found(result: u64) -> String {
    format!("→ {}", Entry(result))
}

/// What a report says of a step that makes something, or opens what is there.
pub(crate) fn made(result: u64) -> String {
    if result == Entry::ABSENT.0 { "made".into() } else { format!("there is {}", Entry(result)) }
}

/// What a report says of a step that takes something away.
fn removed(result: u64) -> String {
    match Entry(result).kind() {
        Some(Kind::File | Kind::Socket | Kind::Symlink) => format!("removed {}", Entry(result)),
        _ => found(result),
    }
}

/// Looks: the result is what is there.
pub(crate) fn look(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::read(state));
}

/// Makes `args[0]` if there is nothing: the result is what was there.
pub(crate) fn make(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == Entry::ABSENT.0 { Outcome::write(args[0], state) } else { Outcome::read(state) });
}

/// Removes what is there unless it is a directory or marked: the result is what was there.
fn remove(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let removable = matches!(Entry(state).kind(), Some(Kind::File | Kind::Socket | Kind::Symlink));
    out.push(if removable { Outcome::write(Entry::ABSENT.0, state) } else { Outcome::read(state) });
}

/// Removes `args[0]` if it is what is there.
pub(crate) fn release(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(if state == args[0] { Outcome::write(Entry::ABSENT.0, state) } else { Outcome::read(state) });
}

/// A path that a call works on, all of whose ancestors were directories.
#[derive(Debug)]
pub(crate) struct Place {
    /// The name in the namespace.
    pub(crate) path: PathBuf,
    /// The directory that it was found in, if that was looked at.
    pub(super) above: Option<Entry>,
    object: Arc<Object>,
}

impl Place {
    /// The place of a name in the namespace whose ancestors need no check.
    pub(crate) fn named(call: Call<'_>, path: &Path) -> Sys<Place> {
        let object = call.tables(|tables| tables.entry(path, call.site()))?;
        Ok(Place { path: path.to_path_buf(), above: None, object })
    }

    /// The place of an abstract socket name, which no path leads to: a path has no NUL.
    pub(crate) fn of_abstract_name(call: Call<'_>, name: &[u8], kind: SocketKind) -> Sys<Place> {
        let path = PathBuf::from(OsStr::from_bytes(&[&[0, kind as u8], name].concat()));
        let shown = || format!("@{}", name.escape_ascii());
        let object = call.tables(|tables| tables.abstract_entry(&path, shown(), call.site()))?;
        Ok(Place { path, above: None, object })
    }

    /// What reports call it.
    pub(crate) fn shown(&self) -> String {
        match self.path.as_os_str().as_bytes() {
            [0, _, name @ ..] => format!("@{}", name.escape_ascii()),
            _ => path::shown(&self.path).display().to_string(),
        }
    }

    /// Takes a step at the entry and returns what was there: never a mark, as it waits and takes the step again.
    pub(crate) fn act(&self, call: Call<'_>, step: &'static Step, argument: Entry) -> Sys<Entry> {
        loop {
            let found = self.act_once(call, step, argument)?;
            if !found.is_moving() {
                return Ok(found);
            }
            super::rename::wait(call, found)?;
        }
    }

    /// As [`Place::act`], when it is the caller's turn to rename: there is no mark but its own.
    pub(crate) fn act_once(&self, call: Call<'_>, step: &'static Step, argument: Entry) -> Sys<Entry> {
        Ok(Entry(call.act(&self.object, step, [argument.state(), 0])?))
    }
}

/// The inode that `entry`, found by a step, names.
pub(crate) fn inode(call: Call<'_>, entry: Entry) -> Sys<Arc<Inode>> {
    Ok(call.tables(|tables| tables.inode(entry.number(), call.site()))?)
}

/// Stands in for `std::fs::exists`: stat(2) that takes ENOENT for no.
pub(crate) fn exists(call: Call<'_>, path: &Path) -> Sys<bool> {
    static EXISTS: Step = Step::new("fs", "exists", look).shows(found);
    match Place::follow(call, path, |place| place.act(call, &EXISTS, Entry::ABSENT)) {
        Ok((_, found)) => Ok(found != Entry::ABSENT),
        Err(Halt::Errno(Errno::NOENT)) => Ok(false),
        Err(halt) => Err(halt),
    }
}

/// Stands in for unlink(2). What the path led to lives on for those who have it open.
pub(crate) fn remove_file(call: Call<'_>, path: &Path) -> Sys<()> {
    static REMOVE_FILE: Step = Step::new("fs", "remove_file", remove).shows(removed);
    match Place::find(call, path)?.act(call, &REMOVE_FILE, Entry::ABSENT)?.kind() {
        None => Err(Errno::NOENT.into()),
        Some(Kind::Directory) => Err(Errno::ISDIR.into()),
        Some(Kind::File | Kind::Socket | Kind::Symlink) => Ok(()),
    }
}

/// Stands in for mkdir(2).
pub(crate) fn create_dir(call: Call<'_>, path: &Path) -> Sys<()> {
    static CREATE_DIR: Step = Step::new("fs", "create_dir", make).shows(made);
    let place = Place::find(call, path)?;
    let number = call.fresh()?;
    call.tables(|tables| tables.add_inode(Arc::new(Inode::directory(number, call.site()))))?;
    match place.create(call, &CREATE_DIR, Entry::directory(number))? {
        Entry::ABSENT => Ok(()),
        _ => Err(Errno::EXIST.into()),
    }
}

/// Stands in for `std::fs::create_dir_all`: mkdir(2), after that of the directory above if it is missing.
pub(crate) fn create_dir_all(call: Call<'_>, path: &Path) -> Sys<()> {
    let result = match (create_dir(call, path), path.parent()) {
        (Err(Halt::Errno(Errno::NOENT)), Some(above)) => {
            create_dir_all(call, above)?;
            create_dir(call, path)
        }
        (result, _) => result,
    };
    match result {
        Err(Halt::Errno(_)) if is_directory(call, path)? => Ok(()),
        result => result,
    }
}

/// Whether a directory is there.
fn is_directory(call: Call<'_>, path: &Path) -> Sys<bool> {
    static LOOKUP: Step = Step::new("fs", "create_dir_all", look).shows(found);
    match Place::follow(call, path, |place| place.act(call, &LOOKUP, Entry::ABSENT)) {
        Ok((_, found)) => Ok(found.kind() == Some(Kind::Directory)),
        Err(Halt::Errno(_)) => Ok(false),
        Err(Halt::Inert) => Err(Halt::Inert),
    }
}
