//! Stands in for `std::fs`: within a model, files of the simulated kernel.
//!
//! Every model starts with the directories `/tmp`, `/run`, `/var/run`, `/var/tmp`, `/var/lib`, `/dev/shm`, what
//! `std::env::temp_dir` says, and those above them, all empty; relative paths start in an empty directory of their own. What
//! is on the machine's disks cannot be seen from within a model.
//!
//! Not there: renaming directories with something in them, permissions, times.

mod dir;
mod file;
mod metadata;
mod options;

pub use std::fs::TryLockError;

pub use dir::{DirEntry, PathExt, ReadDir, copy, read_dir, remove_dir, remove_dir_all};
pub use file::File;
pub use metadata::{FileType, Metadata};
pub use options::OpenOptions;

use std::io::{self, Read, Write};
use std::panic::Location;
use std::path::{Path, PathBuf};

use super::world::{self, OrInert, Status, enter};

/// Stands in for [`std::fs::exists`]: whether the path, with symbolic links followed, leads to anything.
///
/// # Errors
///
/// ELOOP; ENOTDIR if something above the path is not a directory.
#[track_caller]
pub fn exists<P: AsRef<Path>>(path: P) -> io::Result<bool> {
    enter(Location::caller(), |call| match call {
        None => std::fs::exists(path),
        Some(call) => world::exists(call, path.as_ref()).or_inert(|| false),
    })
}

/// Stands in for [`std::fs::remove_file`]: takes the name away. Whoever has the file open keeps it, and a socket that listens
/// there goes on, but cannot be reached.
///
/// # Errors
///
/// ENOENT, EISDIR, ENOTDIR.
#[track_caller]
pub fn remove_file<P: AsRef<Path>>(path: P) -> io::Result<()> {
    enter(Location::caller(), |call| match call {
        None => std::fs::remove_file(path),
        Some(call) => world::remove_file(call, path.as_ref()).or_inert(|| ()),
    })
}

/// Stands in for [`std::fs::rename`]: in one step, whatever is at `to` is replaced.
///
/// # Errors
///
/// ENOENT; EISDIR if a directory is at `to` and none at `from`, ENOTDIR the other way round; ENOTEMPTY if anything is in the
/// directory at `to`; EINVAL if that is in the one at `from`. Renaming a directory with something in it fails the model.
#[track_caller]
pub fn rename<P: AsRef<Path>, Q: AsRef<Path>>(from: P, to: Q) -> io::Result<()> {
    enter(Location::caller(), |call| match call {
        None => std::fs::rename(from, to),
        Some(call) => world::rename(call, from.as_ref(), to.as_ref()).or_inert(|| ()),
    })
}

/// Stands in for [`std::fs::hard_link`].
///
/// # Errors
///
/// ENOENT, ENOTDIR; EEXIST if anything is at `link`; EPERM if `original` is a directory.
#[track_caller]
pub fn hard_link<P: AsRef<Path>, Q: AsRef<Path>>(original: P, link: Q) -> io::Result<()> {
    enter(Location::caller(), |call| match call {
        None => std::fs::hard_link(original, link),
        Some(call) => world::hard_link(call, original.as_ref(), link.as_ref()).or_inert(|| ()),
    })
}

/// Stands in for [`std::fs::create_dir`].
///
/// # Errors
///
/// EEXIST, ENOENT, ENOTDIR.
#[track_caller]
pub fn create_dir<P: AsRef<Path>>(path: P) -> io::Result<()> {
    enter(Location::caller(), |call| match call {
        None => std::fs::create_dir(path),
        Some(call) => world::create_dir(call, path.as_ref()).or_inert(|| ()),
    })
}

/// Stands in for [`std::fs::create_dir_all`].
///
/// # Errors
///
/// EEXIST if the path is something else than a directory, ENOTDIR if something above it is.
#[track_caller]
pub fn create_dir_all<P: AsRef<Path>>(path: P) -> io::Result<()> {
    enter(Location::caller(), |call| match call {
        None => std::fs::create_dir_all(path),
        Some(call) => world::create_dir_all(call, path.as_ref()).or_inert(|| ()),
    })
}

/// Stands in for [`std::fs::metadata`].
///
/// # Errors
///
/// ENOENT, ENOTDIR, ELOOP.
#[track_caller]
pub fn metadata<P: AsRef<Path>>(path: P) -> io::Result<Metadata> {
    enter(Location::caller(), |call| match call {
        None => std::fs::metadata(path).map(Metadata::real),
        Some(call) => world::status(call, path.as_ref()).or_inert(Status::of_nothing).map(Metadata::model),
    })
}

/// Stands in for [`std::fs::symlink_metadata`].
///
/// # Errors
///
/// ENOENT, ENOTDIR.
#[track_caller]
pub fn symlink_metadata<P: AsRef<Path>>(path: P) -> io::Result<Metadata> {
    enter(Location::caller(), |call| match call {
        None => std::fs::symlink_metadata(path).map(Metadata::real),
        Some(call) => world::status_of_name(call, path.as_ref()).or_inert(Status::of_nothing).map(Metadata::model),
    })
}

/// Stands in for [`std::fs::read_link`].
///
/// # Errors
///
/// ENOENT, ENOTDIR; EINVAL if it is no symbolic link.
#[track_caller]
pub fn read_link<P: AsRef<Path>>(path: P) -> io::Result<PathBuf> {
    enter(Location::caller(), |call| match call {
        None => std::fs::read_link(path),
        Some(call) => world::read_link(call, path.as_ref()).or_inert(PathBuf::new),
    })
}

/// Stands in for [`std::fs::read`].
///
/// # Errors
///
/// As [`File::open`]; EISDIR for a directory.
#[track_caller]
pub fn read<P: AsRef<Path>>(path: P) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Stands in for [`std::fs::read_to_string`].
///
/// # Errors
///
/// As [`read`]; `InvalidData` if it is not UTF-8.
#[track_caller]
pub fn read_to_string<P: AsRef<Path>>(path: P) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Stands in for [`std::fs::write`]: makes or empties the file, then writes. Others may see it empty in between.
///
/// # Errors
///
/// As [`File::create`].
#[track_caller]
pub fn write<P: AsRef<Path>, C: AsRef<[u8]>>(path: P, contents: C) -> io::Result<()> {
    File::create(path)?.write_all(contents.as_ref())
}
