//! Stands in for `std::fs::Metadata` and `FileType`.

use std::os::unix::fs::{FileTypeExt, MetadataExt};

use crate::model::world::{Kind, Status};

/// Stands in for [`std::fs::Metadata`]. What Unix adds is in [`MetadataExt`](crate::model::os::unix::fs::MetadataExt).
#[derive(Clone, Debug)]
pub struct Metadata(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Real(std::fs::Metadata),
    Model(Status),
}

impl Metadata {
    pub(super) fn real(metadata: std::fs::Metadata) -> Self {
        Metadata(Inner::Real(metadata))
    }

    pub(super) fn model(status: Status) -> Self {
        Metadata(Inner::Model(status))
    }

    /// Stands in for [`std::fs::Metadata::file_type`].
    pub fn file_type(&self) -> FileType {
        match &self.0 {
            Inner::Real(metadata) => FileType(TypeInner::Real(metadata.file_type())),
            Inner::Model(status) => FileType(TypeInner::Model(status.kind)),
        }
    }

    /// Stands in for [`std::fs::Metadata::is_dir`].
    pub fn is_dir(&self) -> bool {
        self.file_type().is_dir()
    }

    /// Stands in for [`std::fs::Metadata::is_file`].
    pub fn is_file(&self) -> bool {
        self.file_type().is_file()
    }

    /// Stands in for [`std::fs::Metadata::is_symlink`].
    pub fn is_symlink(&self) -> bool {
        self.file_type().is_symlink()
    }

    /// Stands in for [`std::fs::Metadata::len`]. In a model 0 for directories and sockets.
    #[expect(clippy::len_without_is_empty, reason = "std has none")]
    pub fn len(&self) -> u64 {
        match &self.0 {
            Inner::Real(metadata) => metadata.len(),
            Inner::Model(status) => status.len,
        }
    }

    /// The inode number.
    pub(crate) fn inode_number(&self) -> u64 {
        match &self.0 {
            Inner::Real(metadata) => metadata.ino(),
            Inner::Model(status) => status.number,
        }
    }

    /// The number of names.
    pub(crate) fn links(&self) -> u64 {
        match &self.0 {
            Inner::Real(metadata) => metadata.nlink(),
            Inner::Model(status) => status.links,
        }
    }

    /// The device.
    pub(crate) fn device(&self) -> u64 {
        match &self.0 {
            Inner::Real(metadata) => metadata.dev(),
            Inner::Model(_) => 0,
        }
    }
}

/// Stands in for [`std::fs::FileType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileType(TypeInner);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum TypeInner {
    Real(std::fs::FileType),
    Model(Kind),
}

impl FileType {
    /// Stands in for [`std::fs::FileType::is_dir`].
    pub fn is_dir(&self) -> bool {
        match self.0 {
            TypeInner::Real(real) => real.is_dir(),
            TypeInner::Model(kind) => kind == Kind::Directory,
        }
    }

    /// Stands in for [`std::fs::FileType::is_file`].
    pub fn is_file(&self) -> bool {
        match self.0 {
            TypeInner::Real(real) => real.is_file(),
            TypeInner::Model(kind) => kind == Kind::File,
        }
    }

    /// Stands in for [`std::fs::FileType::is_symlink`].
    pub fn is_symlink(&self) -> bool {
        match self.0 {
            TypeInner::Real(real) => real.is_symlink(),
            TypeInner::Model(kind) => kind == Kind::Symlink,
        }
    }
}

impl FileTypeExt for FileType {
    fn is_block_device(&self) -> bool {
        matches!(self.0, TypeInner::Real(real) if real.is_block_device())
    }

    fn is_char_device(&self) -> bool {
        matches!(self.0, TypeInner::Real(real) if real.is_char_device())
    }

    fn is_fifo(&self) -> bool {
        matches!(self.0, TypeInner::Real(real) if real.is_fifo())
    }

    fn is_socket(&self) -> bool {
        match self.0 {
            TypeInner::Real(real) => real.is_socket(),
            TypeInner::Model(kind) => kind == Kind::Socket,
        }
    }
}
