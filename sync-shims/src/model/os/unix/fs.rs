//! Stands in for `std::os::unix::fs`.

pub use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

use crate::model::fs::Metadata;

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
