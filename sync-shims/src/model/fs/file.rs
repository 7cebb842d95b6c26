//! Stands in for `std::fs::File`.

use std::fmt;
use std::fs::TryLockError;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::panic::Location;
use std::path::Path;

use super::{Metadata, OpenOptions};
use crate::model::world::{Access, Call, Fd, Halt, LockMode, OpenFile, OpenMode, OrInert, Status, Sys};

/// Stands in for [`std::fs::File`].
///
/// Dropping the last descriptor of an open file gives up its lock.
///
/// A file that outlives its execution answers EBADF.
pub struct File(Inner);

enum Inner {
    Real(std::fs::File),
    Model(Fd<OpenFile>),
    /// Opened after the end of the execution.
    Inert,
}

impl File {
    /// A file of the real kernel.
    pub(super) fn real(file: std::fs::File) -> Self {
        File(Inner::Real(file))
    }

    /// Opens a file of the simulated kernel.
    pub(super) fn open_in(call: Call<'_>, path: &Path, mode: OpenMode) -> io::Result<File> {
        OpenFile::open(call, path, mode).map(|file| File(Inner::Model(Fd::new(file)))).or_inert(|| File(Inner::Inert))
    }

    /// Stands in for [`std::fs::File::open`].
    ///
    /// # Errors
    ///
    /// As [`OpenOptions::open`].
    #[track_caller]
    pub fn open<P: AsRef<Path>>(path: P) -> io::Result<File> {
        OpenOptions::new().read(true).open(path)
    }

    /// Stands in for [`std::fs::File::create`].
    ///
    /// # Errors
    ///
    /// As [`OpenOptions::open`].
    #[track_caller]
    pub fn create<P: AsRef<Path>>(path: P) -> io::Result<File> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path)
    }

    /// Stands in for [`std::fs::File::create_new`].
    ///
    /// # Errors
    ///
    /// As [`OpenOptions::open`].
    #[track_caller]
    pub fn create_new<P: AsRef<Path>>(path: P) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(path)
    }

    /// Stands in for [`std::fs::File::options`].
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Stands in for [`std::fs::File::lock`]: flock(2). The lock belongs to the open file, whatever its name is now.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn lock(&self) -> io::Result<()> {
        match &self.0 {
            Inner::Real(file) => file.lock(),
            _ => self.call(Location::caller(), |call, file| file.lock(call, LockMode::Exclusive)).or_inert(|| ()),
        }
    }

    /// Stands in for [`std::fs::File::lock_shared`].
    ///
    /// # Errors
    ///
    /// None in a model. The fifth owner of a shared lock at a time fails the model.
    #[track_caller]
    pub fn lock_shared(&self) -> io::Result<()> {
        match &self.0 {
            Inner::Real(file) => file.lock_shared(),
            _ => self.call(Location::caller(), |call, file| file.lock(call, LockMode::Shared)).or_inert(|| ()),
        }
    }

    /// Stands in for [`std::fs::File::try_lock`]. An open file that shares the lock gives it up even if it fails to get the
    /// exclusive one.
    ///
    /// # Errors
    ///
    /// `TryLockError::WouldBlock`.
    #[track_caller]
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        match &self.0 {
            Inner::Real(file) => file.try_lock(),
            _ => self.try_lock_in(LockMode::Exclusive, Location::caller()),
        }
    }

    /// Stands in for [`std::fs::File::try_lock_shared`].
    ///
    /// # Errors
    ///
    /// `TryLockError::WouldBlock`.
    #[track_caller]
    pub fn try_lock_shared(&self) -> Result<(), TryLockError> {
        match &self.0 {
            Inner::Real(file) => file.try_lock_shared(),
            _ => self.try_lock_in(LockMode::Shared, Location::caller()),
        }
    }

    /// Stands in for [`std::fs::File::unlock`].
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn unlock(&self) -> io::Result<()> {
        match &self.0 {
            Inner::Real(file) => file.unlock(),
            _ => self.call(Location::caller(), |call, file| file.unlock(call)).or_inert(|| ()),
        }
    }

    /// Stands in for [`std::fs::File::metadata`]: fstat(2).
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        match &self.0 {
            Inner::Real(file) => file.metadata().map(Metadata::real),
            _ => self
                .call(Location::caller(), |call, file| file.status(call))
                .or_inert(Status::of_nothing)
                .map(Metadata::model),
        }
    }

    /// Stands in for [`std::fs::File::set_len`]: ftruncate(2).
    ///
    /// # Errors
    ///
    /// EINVAL if the file is not open for writing.
    #[track_caller]
    pub fn set_len(&self, size: u64) -> io::Result<()> {
        match &self.0 {
            Inner::Real(file) => file.set_len(size),
            _ => self.call(Location::caller(), |call, file| file.set_len(call, size)).or_inert(|| ()),
        }
    }

    /// Stands in for [`std::fs::File::sync_all`]. Nothing to see in a model: the machine does not crash.
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn sync_all(&self) -> io::Result<()> {
        match &self.0 {
            Inner::Real(file) => file.sync_all(),
            Inner::Model(_) | Inner::Inert => Ok(()),
        }
    }

    /// Stands in for [`std::fs::File::sync_data`]; see [`File::sync_all`].
    ///
    /// # Errors
    ///
    /// None in a model.
    pub fn sync_data(&self) -> io::Result<()> {
        match &self.0 {
            Inner::Real(file) => file.sync_data(),
            Inner::Model(_) | Inner::Inert => Ok(()),
        }
    }

    /// Stands in for [`std::fs::File::try_clone`]: one more descriptor of the same open file, with the same position and lock.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn try_clone(&self) -> io::Result<File> {
        match &self.0 {
            Inner::Real(file) => file.try_clone().map(File::real),
            Inner::Model(file) => {
                file.try_clone(Location::caller()).map(|file| File(Inner::Model(file))).or_inert(|| File(Inner::Inert))
            }
            Inner::Inert => Ok(File(Inner::Inert)),
        }
    }

    /// A call on a file that is not a real one.
    fn call<T>(&self, site: &'static Location<'static>, f: impl FnOnce(Call<'_>, &OpenFile) -> Sys<T>) -> Sys<T> {
        match &self.0 {
            Inner::Model(file) => file.call(site, f),
            Inner::Real(_) | Inner::Inert => Err(Halt::Inert),
        }
    }

    fn try_lock_in(&self, mode: LockMode, site: &'static Location<'static>) -> Result<(), TryLockError> {
        match self.call(site, |call, file| file.try_lock(call, mode)).or_inert(|| true) {
            Ok(true) => Ok(()),
            Ok(false) => Err(TryLockError::WouldBlock),
            Err(error) => Err(TryLockError::Error(error)),
        }
    }

    #[track_caller]
    fn read_as(&self, access: Access, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.0 {
            Inner::Real(file) => (&mut { file }).read(buffer),
            _ => self.call(Location::caller(), |call, file| file.read(call, access, buffer)).or_inert(|| 0),
        }
    }

    #[track_caller]
    fn read_to_end_as(&self, access: Access, buffer: &mut Vec<u8>) -> io::Result<usize> {
        match &self.0 {
            Inner::Real(file) => (&mut { file }).read_to_end(buffer),
            _ => self.call(Location::caller(), |call, file| file.read_to_end(call, access, buffer)).or_inert(|| 0),
        }
    }

    #[track_caller]
    fn read_to_string_as(&self, access: Access, text: &mut String) -> io::Result<usize> {
        if let Inner::Real(file) = &self.0 {
            return (&mut { file }).read_to_string(text);
        }
        let mut bytes = Vec::new();
        let count = self.read_to_end_as(access, &mut bytes)?;
        let more = String::from_utf8(bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))?;
        text.push_str(&more);
        Ok(count)
    }

    #[track_caller]
    fn write_as(&self, access: Access, data: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Inner::Real(file) => (&mut { file }).write(data),
            _ => self.call(Location::caller(), |call, file| file.write(call, access, data)).or_inert(|| data.len()),
        }
    }

    #[track_caller]
    fn write_all_as(&self, access: Access, mut data: &[u8]) -> io::Result<()> {
        while !data.is_empty() {
            match self.write_as(access, data) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => data = &data[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    #[track_caller]
    fn seek_as(&self, access: Access, to: SeekFrom) -> io::Result<u64> {
        match &self.0 {
            Inner::Real(file) => (&mut { file }).seek(to),
            _ => self.call(Location::caller(), |call, file| file.seek(call, access, to)).or_inert(|| 0),
        }
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Real(file) => file.fmt(f),
            Inner::Model(file) => f.debug_struct("File").field("path", &file.path()).finish(),
            Inner::Inert => f.write_str("File"),
        }
    }
}

/// The traits of std's type, through `&mut File` and through `&File`.
macro_rules! io_traits {
    ($type:ty, $access:expr) => {
        impl Read for $type {
            #[track_caller]
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.read_as($access, buffer)
            }

            #[track_caller]
            fn read_to_end(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
                self.read_to_end_as($access, buffer)
            }

            #[track_caller]
            fn read_to_string(&mut self, text: &mut String) -> io::Result<usize> {
                self.read_to_string_as($access, text)
            }
        }

        impl Write for $type {
            #[track_caller]
            fn write(&mut self, data: &[u8]) -> io::Result<usize> {
                self.write_as($access, data)
            }

            #[track_caller]
            fn write_all(&mut self, data: &[u8]) -> io::Result<()> {
                self.write_all_as($access, data)
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        impl Seek for $type {
            #[track_caller]
            fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
                self.seek_as($access, to)
            }
        }
    };
}

io_traits!(File, Access::Exclusive);
io_traits!(&File, Access::Shared);
