//! Listing and removing directories, copying files, and what `Path` asks by itself.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::{fmt, vec};

use super::{File, FileType, Metadata, exists, metadata, read_link, remove_file, symlink_metadata};
use crate::model::world::{self, OrInert, enter};

/// Stands in for [`std::fs::read_dir`]. In a model the names come in order, those that were there when it was called, or have
/// come since.
///
/// # Errors
///
/// ENOENT, ENOTDIR.
#[track_caller]
pub fn read_dir<P: AsRef<Path>>(path: P) -> io::Result<ReadDir> {
    let path = path.as_ref();
    enter(Location::caller(), |call| match call {
        None => std::fs::read_dir(path).map(|entries| ReadDir(Entries::Real(entries))),
        Some(call) => Ok(ReadDir(Entries::Model(
            world::read_dir(call, path, true).or_inert(Vec::new).map(|names| within(path, names))?,
        ))),
    })
}

/// The names of what is in the directory at `path`, as the user gets to see them.
fn within(path: &Path, names: Vec<PathBuf>) -> vec::IntoIter<PathBuf> {
    let shown = |name: PathBuf| name.file_name().map(|name| path.join(name));
    names.into_iter().filter_map(shown).collect::<Vec<_>>().into_iter()
}

/// Stands in for [`std::fs::remove_dir`].
///
/// # Errors
///
/// ENOENT, ENOTDIR; ENOTEMPTY if anything is in it. A directory that is there from the start cannot be removed: that fails
/// the model.
#[track_caller]
pub fn remove_dir<P: AsRef<Path>>(path: P) -> io::Result<()> {
    enter(Location::caller(), |call| match call {
        None => std::fs::remove_dir(path),
        Some(call) => world::remove_dir(call, path.as_ref()).or_inert(|| ()),
    })
}

/// Stands in for [`std::fs::remove_dir_all`]: removes what is in the directory, one after the other, and then the directory.
/// Symbolic links are removed, not followed.
///
/// # Errors
///
/// As [`read_dir`], [`remove_file`] and [`remove_dir`], but for what others have removed meanwhile, the directory too.
#[track_caller]
pub fn remove_dir_all<P: AsRef<Path>>(path: P) -> io::Result<()> {
    if enter(Location::caller(), |call| call.is_none()) {
        return std::fs::remove_dir_all(path);
    }
    if symlink_metadata(&path)?.is_symlink() {
        return remove_file(path);
    }
    remove_recursively(path.as_ref())
}

#[track_caller]
fn remove_recursively(path: &Path) -> io::Result<()> {
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    };
    let names = enter(Location::caller(), |call| match call {
        None => Ok(Vec::new()),
        Some(call) => world::read_dir(call, path, false).or_inert(Vec::new),
    })?;
    for path in within(path, names) {
        match symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => gone(remove_recursively(&path))?,
            Ok(_) => gone(remove_file(&path))?,
            Err(error) => gone(Err(error))?,
        }
    }
    gone(remove_dir(path))
}

/// Stands in for [`std::fs::copy`]: opens both, and writes what is in the first into the second.
///
/// # Errors
///
/// As [`File::open`] and [`File::create`]; `InvalidInput` if `from` is a directory.
#[track_caller]
pub fn copy<P: AsRef<Path>, Q: AsRef<Path>>(from: P, to: Q) -> io::Result<u64> {
    if enter(Location::caller(), |call| call.is_none()) {
        return std::fs::copy(from, to);
    }
    let mut reader = File::open(from)?;
    if !reader.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the source path is neither a regular file nor a symlink to a regular file",
        ));
    }
    let mut writer = File::create(to)?;
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    writer.write_all(&bytes)?;
    Ok(bytes.len() as u64)
}

/// Stands in for [`std::fs::ReadDir`].
pub struct ReadDir(Entries);

enum Entries {
    Real(std::fs::ReadDir),
    Model(vec::IntoIter<PathBuf>),
}

impl Iterator for ReadDir {
    type Item = io::Result<DirEntry>;

    fn next(&mut self) -> Option<io::Result<DirEntry>> {
        match &mut self.0 {
            Entries::Real(entries) => Some(entries.next()?.map(|entry| DirEntry(Named::Real(entry)))),
            Entries::Model(names) => names.next().map(|path| Ok(DirEntry(Named::Model(path)))),
        }
    }
}

impl fmt::Debug for ReadDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Entries::Real(entries) => entries.fmt(f),
            Entries::Model(names) => f.debug_tuple("ReadDir").field(&names.as_slice()).finish(),
        }
    }
}

/// Stands in for [`std::fs::DirEntry`].
pub struct DirEntry(Named);

enum Named {
    Real(std::fs::DirEntry),
    Model(PathBuf),
}

impl DirEntry {
    /// Stands in for [`std::fs::DirEntry::path`].
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match &self.0 {
            Named::Real(entry) => entry.path(),
            Named::Model(path) => path.clone(),
        }
    }

    /// Stands in for [`std::fs::DirEntry::file_name`].
    #[must_use]
    pub fn file_name(&self) -> OsString {
        match &self.0 {
            Named::Real(entry) => entry.file_name(),
            Named::Model(path) => path.file_name().unwrap_or_default().to_owned(),
        }
    }

    /// Stands in for [`std::fs::DirEntry::metadata`].
    ///
    /// # Errors
    ///
    /// ENOENT if it has gone.
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        match &self.0 {
            Named::Real(entry) => entry.metadata().map(Metadata::real),
            Named::Model(path) => symlink_metadata(path),
        }
    }

    /// Stands in for [`std::fs::DirEntry::file_type`].
    ///
    /// # Errors
    ///
    /// As [`DirEntry::metadata`].
    #[track_caller]
    pub fn file_type(&self) -> io::Result<FileType> {
        self.metadata().map(|metadata| metadata.file_type())
    }
}

impl fmt::Debug for DirEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DirEntry").field(&self.path()).finish()
    }
}

/// What [`Path`] asks the file system by itself, under other names: std's own methods ask the machine's, also in a model.
pub trait PathExt {
    /// Stands in for [`Path::exists`].
    fn fs_exists(&self) -> bool;

    /// Stands in for [`Path::try_exists`].
    ///
    /// # Errors
    ///
    /// As [`exists`].
    fn fs_try_exists(&self) -> io::Result<bool>;

    /// Stands in for [`Path::is_file`].
    fn fs_is_file(&self) -> bool;

    /// Stands in for [`Path::is_dir`].
    fn fs_is_dir(&self) -> bool;

    /// Stands in for [`Path::is_symlink`].
    fn fs_is_symlink(&self) -> bool;

    /// Stands in for [`Path::metadata`].
    ///
    /// # Errors
    ///
    /// As [`metadata`].
    fn fs_metadata(&self) -> io::Result<Metadata>;

    /// Stands in for [`Path::symlink_metadata`].
    ///
    /// # Errors
    ///
    /// As [`symlink_metadata`].
    fn fs_symlink_metadata(&self) -> io::Result<Metadata>;

    /// Stands in for [`Path::read_link`].
    ///
    /// # Errors
    ///
    /// As [`read_link`].
    fn fs_read_link(&self) -> io::Result<PathBuf>;

    /// Stands in for [`Path::read_dir`].
    ///
    /// # Errors
    ///
    /// As [`read_dir`].
    fn fs_read_dir(&self) -> io::Result<ReadDir>;
}

impl PathExt for Path {
    #[track_caller]
    fn fs_exists(&self) -> bool {
        metadata(self).is_ok()
    }

    #[track_caller]
    fn fs_try_exists(&self) -> io::Result<bool> {
        exists(self)
    }

    #[track_caller]
    fn fs_is_file(&self) -> bool {
        metadata(self).is_ok_and(|metadata| metadata.is_file())
    }

    #[track_caller]
    fn fs_is_dir(&self) -> bool {
        metadata(self).is_ok_and(|metadata| metadata.is_dir())
    }

    #[track_caller]
    fn fs_is_symlink(&self) -> bool {
        symlink_metadata(self).is_ok_and(|metadata| metadata.is_symlink())
    }

    #[track_caller]
    fn fs_metadata(&self) -> io::Result<Metadata> {
        metadata(self)
    }

    #[track_caller]
    fn fs_symlink_metadata(&self) -> io::Result<Metadata> {
        symlink_metadata(self)
    }

    #[track_caller]
    fn fs_read_link(&self) -> io::Result<PathBuf> {
        read_link(self)
    }

    #[track_caller]
    fn fs_read_dir(&self) -> io::Result<ReadDir> {
        read_dir(self)
    }
}
