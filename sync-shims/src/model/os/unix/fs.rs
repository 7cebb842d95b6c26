//! Stands in for `std::os::unix::fs`.

pub use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

use std::io;
use std::panic::Location;
use std::path::Path;

use crate::model::fs::Metadata;
use crate::model::world::{self, OrInert, enter};

/// Stands in for [`std::os::unix::fs::symlink`].
///
/// # Errors
///
/// ENOENT, ENOTDIR; EEXIST if anything is at `link`, a symbolic link that leads nowhere too.
#[track_caller]
pub fn symlink<P: AsRef<Path>, Q: AsRef<Path>>(original: P, link: Q) -> io::Result<()> {
    enter(Location::caller(), |call| match call {
        None => std::os::unix::fs::symlink(original, link),
        Some(call) => world::symlink(call, original.as_ref(), link.as_ref()).or_inert(|| ()),
    })
}

/// Stands in for [`std::os::unix::fs::MetadataExt`], which nobody but std can implement: what stat(2) tells on Unix.
pub trait MetadataExt {
    /// The inode number.
    fn ino(&self) -> u64;

    /// How many names the file has. For a directory of the simulated kernel always 2.
    fn nlink(&self) -> u64;

    /// The length in bytes.
    fn size(&self) -> u64;

    /// The device that holds the file; 0 in the simulated kernel, which has one.
    fn dev(&self) -> u64;
}

impl MetadataExt for Metadata {
    fn ino(&self) -> u64 {
        self.inode_number()
    }

    fn nlink(&self) -> u64 {
        self.links()
    }

    fn size(&self) -> u64 {
        self.len()
    }

    fn dev(&self) -> u64 {
        self.device()
    }
}
