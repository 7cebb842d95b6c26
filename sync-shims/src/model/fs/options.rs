//! Stands in for `std::fs::OpenOptions`.

use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::Location;
use std::path::Path;

use super::File;
use crate::model::world::{OpenMode, enter};

/// Stands in for [`std::fs::OpenOptions`].
#[derive(Clone, Debug)]
pub struct OpenOptions {
    real: std::fs::OpenOptions,
    mode: OpenMode,
}

impl Default for OpenOptions {
    /// No option is set.
    fn default() -> Self {
        OpenOptions::new()
    }
}

impl OpenOptions {
    /// Stands in for [`std::fs::OpenOptions::new`]: no option is set.
    pub fn new() -> Self {
        OpenOptions { real: std::fs::OpenOptions::new(), mode: OpenMode::default() }
    }

    /// Stands in for [`std::fs::OpenOptions::read`].
    pub fn read(&mut self, read: bool) -> &mut Self {
        self.real.read(read);
        self.mode.read = read;
        self
    }

    /// Stands in for [`std::fs::OpenOptions::write`].
    pub fn write(&mut self, write: bool) -> &mut Self {
        self.real.write(write);
        self.mode.write = write;
        self
    }

    /// Stands in for [`std::fs::OpenOptions::append`].
    pub fn append(&mut self, append: bool) -> &mut Self {
        self.real.append(append);
        self.mode.append = append;
        self
    }

    /// Stands in for [`std::fs::OpenOptions::truncate`].
    pub fn truncate(&mut self, truncate: bool) -> &mut Self {
        self.real.truncate(truncate);
        self.mode.truncate = truncate;
        self
    }

    /// Stands in for [`std::fs::OpenOptions::create`].
    pub fn create(&mut self, create: bool) -> &mut Self {
        self.real.create(create);
        self.mode.create = create;
        self
    }

    /// Stands in for [`std::fs::OpenOptions::create_new`].
    pub fn create_new(&mut self, create_new: bool) -> &mut Self {
        self.real.create_new(create_new);
        self.mode.create_new = create_new;
        self
    }

    /// Stands in for [`std::fs::OpenOptions::open`].
    ///
    /// # Errors
    ///
    /// ENOENT, ENOTDIR; EEXIST with `create_new` if anything is there; EISDIR if a directory is to be written; ENXIO for a
    /// socket file; std's error if the options do not go together.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(&self, path: P) -> io::Result<File> {
        enter(Location::caller(), |call| match call {
            None => self.real.open(path).map(File::real),
            Some(_) if !self.go_together() => {
                // std finds that before it calls the kernel.
                Err(self.real.open("").err().unwrap_or_else(|| io::ErrorKind::InvalidInput.into()))
            }
            Some(call) => File::open_in(call, path.as_ref(), self.mode),
        })
    }

    /// Whether std would call open(2) with these options.
    fn go_together(&self) -> bool {
        let OpenMode { read, write, append, truncate, create, create_new } = self.mode;
        let some_access = read || write || append;
        let can_create = write || append || !(truncate || create || create_new);
        let can_truncate = !append || !truncate || create_new;
        some_access && can_create && can_truncate
    }
}

/// What Unix adds: permissions and further flags, which the simulated kernel does not know and leaves aside.
impl OpenOptionsExt for OpenOptions {
    fn mode(&mut self, mode: u32) -> &mut Self {
        self.real.mode(mode);
        self
    }

    fn custom_flags(&mut self, flags: i32) -> &mut Self {
        self.real.custom_flags(flags);
        self
    }
}
