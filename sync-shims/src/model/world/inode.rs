//! Files, directories, socket files and symbolic links, whatever their names are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dpor::{Outcome, Outcomes, ThreadId};

use super::call::{Call, Object, Step, Sys};
use super::content::Content;
use super::datagram::Inbox;
use super::entry::{Entry, Kind, Place, found, inode, look};
use super::errno::Errno;
use super::flock::Lock;
use super::listener::Socket;
use crate::model::event::Site;

/// An inode.
#[derive(Debug)]
pub(crate) struct Inode {
    number: u64,
    body: Body,
    /// What flock(2) locks.
    pub(crate) lock: Lock,
    places: Places,
}

/// What it is.
#[derive(Debug)]
enum Body {
    File(Content),
    Directory,
    Socket(Bound),
    /// What the symbolic link says.
    Symlink(PathBuf),
}

/// The socket that was bound to a socket file. The file outlives it.
#[derive(Clone, Debug)]
pub(crate) enum Bound {
    /// A stream socket that listens, or is going to.
    Listener(Arc<Socket>),
    /// A datagram socket.
    Datagram(Arc<Inbox>),
}

/// All the places where the inode ever had a name. How many names it has *now* is found by looking there, so that giving and
/// taking names costs no step at the inode, and those who never ask do not pay.
#[derive(Debug)]
struct Places {
    /// How many are in the list.
    count: Object,
    list: Mutex<Vec<PathBuf>>,
}

/// What stat(2) tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    /// What it is.
    pub(crate) kind: Kind,
    /// The inode number.
    pub(crate) number: u64,
    /// Length of a file, or of what a symbolic link says, in bytes, else 0.
    pub(crate) len: u64,
    /// Number of names; 2 for a directory.
    pub(crate) links: u64,
}

impl Status {
    /// What those who ask after the end of the execution are told.
    pub(crate) fn of_nothing() -> Self {
        Status { kind: Kind::File, number: 0, len: 0, links: 0 }
    }
}

/// One more place; the result is how many there were.
fn one_more(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state + 1, state));
}

impl Inode {
    /// A file, empty and not yet in the namespace, that is going to be at `path`.
    pub(crate) fn file(number: u64, path: &Path, site: Site) -> Self {
        Inode::new(number, Body::File(Content::new(path, site)), path, site)
    }

    /// A directory.
    pub(crate) fn directory(number: u64, site: Site) -> Self {
        Inode::new(number, Body::Directory, Path::new("directory"), site)
    }

    /// A socket file that is going to be at `path`.
    pub(crate) fn socket(number: u64, path: &Path, socket: Bound, site: Site) -> Self {
        Inode::new(number, Body::Socket(socket), path, site)
    }

    /// A symbolic link to `target` that is going to be at `path`.
    pub(crate) fn symlink(number: u64, path: &Path, target: &Path, site: Site) -> Self {
        Inode::new(number, Body::Symlink(target.to_path_buf()), path, site)
    }

    fn new(number: u64, body: Body, path: &Path, site: Site) -> Self {
        let count = Object::new(1, site).named(format_args!("the names of an inode"));
        let places = Places { count, list: Mutex::new(vec![path.to_path_buf()]) };
        Inode { number, body, lock: Lock::new(path, site), places }
    }

    /// The inode number.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// What it is.
    pub(crate) fn kind(&self) -> Kind {
        match self.body {
            Body::File(_) => Kind::File,
            Body::Directory => Kind::Directory,
            Body::Socket(_) => Kind::Socket,
            Body::Symlink(_) => Kind::Symlink,
        }
    }

    /// What is in it, if it is a file.
    pub(crate) fn content(&self) -> Option<&Content> {
        match &self.body {
            Body::File(content) => Some(content),
            Body::Directory | Body::Socket(_) | Body::Symlink(_) => None,
        }
    }

    /// The socket that was bound here, if it is a socket file.
    pub(crate) fn socket_bound(&self) -> Option<&Bound> {
        match &self.body {
            Body::Socket(socket) => Some(socket),
            Body::File(_) | Body::Directory | Body::Symlink(_) => None,
        }
    }

    /// What it says, if it is a symbolic link.
    pub(crate) fn target(&self) -> Option<&Path> {
        match &self.body {
            Body::Symlink(target) => Some(target),
            Body::File(_) | Body::Directory | Body::Socket(_) => None,
        }
    }

    /// It is going to have a name at `path`, too. The caller has the turn of calls on two paths: nobody else does this now.
    pub(crate) fn add_place(&self, call: Call<'_>, path: &Path) -> Sys<()> {
        static ADD: Step = Step::new("fs", "link", one_more);
        self.places.list.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
        call.act(&self.places.count, &ADD, [0, 0])?;
        Ok(())
    }

    /// Its status, whatever its names are (fstat(2)).
    pub(crate) fn status(&self, call: Call<'_>) -> Sys<Status> {
        let len = match self.content() {
            Some(content) => content.read(call)?.len() as u64,
            None => self.target().map_or(0, |target| target.as_os_str().len() as u64),
        };
        Ok(Status { kind: self.kind(), number: self.number, len, links: self.links(call)? })
    }

    /// The number of its names.
    fn links(&self, call: Call<'_>) -> Sys<u64> {
        if self.kind() == Kind::Directory {
            return Ok(2);
        }
        let mine = Entry::new(self.kind(), self.number);
        let (mut added, mut there) = self.look_at_places(call)?;
        // The places cannot be looked at in one step, and there may be more by now. A name can only go away unless a place is
        // added; so twice the same means that they were so all at once in between, and the only place's name was there when
        // places were counted if it is there afterwards.
        while there != [mine] {
            let again = self.look_at_places(call)?;
            let same = again == (added, there);
            (added, there) = again;
            if same {
                break;
            }
        }
        Ok(there.iter().filter(|&&entry| entry == mine).count() as u64)
    }

    /// How many places were added so far, and what is at each of them.
    fn look_at_places(&self, call: Call<'_>) -> Sys<(usize, Vec<Entry>)> {
        static COUNT: Step = Step::new("fs", "metadata", look);
        static LOOK: Step = Step::new("fs", "metadata", look).shows(found);
        let count = call.act(&self.places.count, &COUNT, [0, 0])? as usize;
        let places: Vec<PathBuf> = {
            let list = self.places.list.lock().unwrap_or_else(PoisonError::into_inner);
            list[..count].iter().collect::<BTreeSet<_>>().into_iter().cloned().collect()
        };
        let look_at = |place: &PathBuf| Place::named(call, place)?.act(call, &LOOK, Entry::ABSENT);
        Ok((count, places.iter().map(look_at).collect::<Sys<_>>()?))
    }
}

/// Stands in for stat(2).
pub(crate) fn status(call: Call<'_>, path: &Path) -> Sys<Status> {
    static METADATA: Step = Step::new("fs", "metadata", look).shows(found);
    match Place::follow(call, path, |place| place.act(call, &METADATA, Entry::ABSENT))?.1 {
        Entry::ABSENT => Err(Errno::NOENT.into()),
        entry => inode(call, entry)?.status(call),
    }
}

/// Stands in for lstat(2).
pub(crate) fn status_of_name(call: Call<'_>, path: &Path) -> Sys<Status> {
    static METADATA: Step = Step::new("fs", "symlink_metadata", look).shows(found);
    match Place::find(call, path)?.act(call, &METADATA, Entry::ABSENT)? {
        Entry::ABSENT => Err(Errno::NOENT.into()),
        entry => inode(call, entry)?.status(call),
    }
}
