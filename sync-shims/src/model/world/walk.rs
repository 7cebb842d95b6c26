//! From a path to the place that it leads to, through directories and symbolic links: see path_resolution(7).

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::call::{Call, Step, Sys};
use super::entry::{Entry, Kind, Place, found, inode, look, made, make};
use super::errno::Errno;
use super::inode::Inode;
use super::path;

/// So many symbolic links are followed on the way; the next one is ELOOP.
const LINKS: u32 = 40;

/// The longest name, in bytes.
const NAME_MAX: usize = 255;

/// The longest path, in bytes, with a NUL at its end.
const PATH_MAX: usize = 4096;

/// What is wrong with a path, wherever it leads.
fn check(path: &Path) -> Result<(), Errno> {
    let bytes = path.as_os_str().as_bytes();
    match bytes.len() {
        _ if bytes.contains(&0) => Err(Errno::NUL),
        0 => Err(Errno::NOENT),
        PATH_MAX.. => Err(Errno::NAMETOOLONG),
        _ => Ok(()),
    }
}

/// A path on the way to where it leads.
struct Walk {
    /// Where it has come to.
    at: PathBuf,
    /// The directory above, if that was looked at.
    above: Option<Entry>,
    /// How many symbolic links it has followed.
    links: u32,
}

impl Walk {
    fn new() -> Self {
        let mut at = PathBuf::with_capacity(64);
        at.push(path::WORKING_DIRECTORY);
        Walk { at, above: None, links: 0 }
    }

    /// Walks along `path`: ENOENT if a directory on the way is missing, ENOTDIR if it is something else. What the last name
    /// leads to is not looked at.
    fn along(&mut self, call: Call<'_>, path: &Path) -> Sys<Place> {
        static LOOKUP: Step = Step::new("fs", "lookup", look).shows(found);
        check(path)?;
        let mut ahead = Vec::new();
        let mut components = path.components();
        match (components.next(), components.next()) {
            // Most paths: there is nothing on the way.
            (Some(Component::Normal(name)), None) if name.len() <= NAME_MAX => self.at.push(name),
            _ => self.turn_to(path, &mut ahead),
        }
        while let Some(name) = ahead.pop() {
            let Some(name) = name else {
                self.at.pop();
                self.above = None;
                continue;
            };
            if name.len() > NAME_MAX {
                return Err(Errno::NAMETOOLONG.into());
            }
            self.at.push(name);
            if ahead.is_empty() {
                break;
            }
            if path::initial_directory(&self.at).is_some() {
                self.above = None;
                continue;
            }
            let found = Place::named(call, &self.at)?.act(call, &LOOKUP, Entry::ABSENT)?;
            match found.kind() {
                Some(Kind::Directory) => self.above = Some(found),
                Some(Kind::File | Kind::Socket) => return Err(Errno::NOTDIR.into()),
                Some(Kind::Symlink) => {
                    let target = self.leave(call, found)?;
                    self.turn_to(&target, &mut ahead);
                }
                None => return Err(Errno::NOENT.into()),
            }
        }
        let mut place = Place::named(call, &self.at)?;
        place.above = self.above;
        Ok(place)
    }

    /// The names of `path` come next, `None` for the directory above; the last one of `ahead` is the first.
    fn turn_to(&mut self, path: &Path, ahead: &mut Vec<Option<OsString>>) {
        if path.is_absolute() {
            self.at = "/".into();
            self.above = None;
        }
        ahead.extend(path.components().rev().filter_map(|component| match component {
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
            Component::ParentDir => Some(None),
            Component::Normal(name) => Some(Some(name.to_owned())),
        }));
    }

    /// It has come to the symbolic link `link`, and goes on from its directory to what that says.
    fn leave(&mut self, call: Call<'_>, link: Entry) -> Sys<PathBuf> {
        self.links += 1;
        if self.links > LINKS {
            return Err(Errno::LOOP.into());
        }
        self.at.pop();
        target(call, link)
    }
}

/// What the symbolic link `link`, found by a step, says.
fn target(call: Call<'_>, link: Entry) -> Sys<PathBuf> {
    Ok(inode(call, link)?.target().ok_or(Errno::INVAL)?.to_path_buf())
}

impl Place {
    /// Walks to `user_path`, all of whose ancestors must be directories, or lead to some. If a symbolic link is at the end,
    /// its place is meant.
    pub(crate) fn find(call: Call<'_>, user_path: &Path) -> Sys<Place> {
        Walk::new().along(call, user_path)
    }

    /// Walks to `user_path`, and takes `step` there; if that finds a symbolic link, it goes on from there, and takes it again.
    /// The step must not change symbolic links.
    pub(crate) fn follow(
        call: Call<'_>,
        user_path: &Path,
        mut step: impl FnMut(&Place) -> Sys<Entry>,
    ) -> Sys<(Place, Entry)> {
        let mut walk = Walk::new();
        let mut place = walk.along(call, user_path)?;
        loop {
            let found = step(&place)?;
            if found.kind() != Some(Kind::Symlink) {
                return Ok((place, found));
            }
            let target = walk.leave(call, found)?;
            place = walk.along(call, &target)?;
        }
    }
}

/// Stands in for symlink(2).
pub(crate) fn symlink(call: Call<'_>, target: &Path, link: &Path) -> Sys<()> {
    static SYMLINK: Step = Step::new("fs", "symlink", make).shows(made);
    check(target)?;
    let place = Place::find(call, link)?;
    let inode = Arc::new(Inode::symlink(call.fresh()?, &place.path, target, call.site()));
    let entry = Entry::new(Kind::Symlink, inode.number());
    call.tables(|tables| tables.add_inode(inode))?;
    match place.create(call, &SYMLINK, entry)? {
        Entry::ABSENT => Ok(()),
        _ => Err(Errno::EXIST.into()),
    }
}

/// Stands in for readlink(2).
pub(crate) fn read_link(call: Call<'_>, path: &Path) -> Sys<PathBuf> {
    static READ_LINK: Step = Step::new("fs", "read_link", look).shows(found);
    match Place::find(call, path)?.act(call, &READ_LINK, Entry::ABSENT)? {
        Entry::ABSENT => Err(Errno::NOENT.into()),
        link => target(call, link),
    }
}
