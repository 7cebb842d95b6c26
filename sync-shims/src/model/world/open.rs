//! Open files: open(2) and what can be done with the descriptor.

use std::io::SeekFrom;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::call::{Access, Call, Step, Sys};
use super::content::Content;
use super::descriptor::Descriptors;
use super::entry::{Entry, Kind, Place, found, inode, look, made, make};
use super::errno::Errno;
use super::flock::{Mode, Owner};
use super::inode::{Inode, Status};
use super::turn::Turn;
use crate::model::event::Site;

/// How a file is opened: the flags of open(2), after std has checked that they go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenMode {
    /// It can be read.
    pub(crate) read: bool,
    /// It can be written.
    pub(crate) write: bool,
    /// Each write goes to the end.
    pub(crate) append: bool,
    /// It is emptied.
    pub(crate) truncate: bool,
    /// It is made if it is not there.
    pub(crate) create: bool,
    /// It must not be there.
    pub(crate) create_new: bool,
}

/// An open file description: what open(2) makes, and all `try_clone`s share.
#[derive(Debug)]
pub(crate) struct OpenFile {
    execution: u64,
    site: Site,
    /// The name it was opened by.
    path: PathBuf,
    inode: Arc<Inode>,
    mode: OpenMode,
    descriptors: Descriptors,
    owner: Owner,
    /// Whether a lock was ever asked for: otherwise closing does not give one up.
    locks: AtomicBool,
    /// Where the next read or write is; used by whoever's turn it is, or who has the only descriptor to himself.
    position: AtomicU64,
    turn: Turn,
}

/// Finds or makes the inode that open(2) opens, and whether it was made.
fn find_or_make(call: Call<'_>, path: &Path, mode: OpenMode) -> Sys<(Arc<Inode>, bool)> {
    static OPEN: Step = Step::new("File", "open", look).shows(found);
    static CREATE: Step = Step::new("File", "create", make).shows(made);
    if !mode.create && !mode.create_new {
        return match Place::follow(call, path, |place| place.act(call, &OPEN, Entry::ABSENT))?.1 {
            Entry::ABSENT => Err(Errno::NOENT.into()),
            there => Ok((inode(call, there)?, false)),
        };
    }
    let mut made = None;
    let mut create = |place: &Place| {
        let new = Arc::new(Inode::file(call.fresh()?, &place.path, call.site()));
        let entry = Entry::new(Kind::File, new.number());
        call.tables(|tables| tables.add_inode(new.clone()))?;
        made = Some(new);
        place.create(call, &CREATE, entry)
    };
    // With O_EXCL a symbolic link is something that is there.
    let there = if mode.create_new { create(&Place::find(call, path)?)? } else { Place::follow(call, path, create)?.1 };
    match (there, made) {
        (Entry::ABSENT, Some(made)) => Ok((made, true)),
        _ if mode.create_new => Err(Errno::EXIST.into()),
        _ => Ok((inode(call, there)?, false)),
    }
}

impl OpenFile {
    /// Stands in for open(2).
    pub(crate) fn open(call: Call<'_>, path: &Path, mode: OpenMode) -> Sys<Arc<Self>> {
        let (inode, made) = find_or_make(call, path, mode)?;
        match inode.kind() {
            Kind::Socket => return Err(Errno::NXIO.into()),
            Kind::Directory if mode.write || mode.append || mode.create => return Err(Errno::ISDIR.into()),
            Kind::Directory => {}
            // It was followed.
            Kind::Symlink => return Err(Errno::LOOP.into()),
            Kind::File => {
                if let (true, false, Some(content)) = (mode.truncate, made, inode.content()) {
                    content.truncate(call)?;
                }
            }
        }
        Ok(Arc::new(OpenFile {
            execution: call.execution(),
            site: call.site(),
            path: path.to_path_buf(),
            inode,
            mode,
            descriptors: Descriptors::new(call.site()),
            owner: Owner::new(call)?,
            locks: AtomicBool::new(false),
            position: AtomicU64::new(0),
            turn: Turn::new(format_args!("file position"), call.site()),
        }))
    }

    /// The execution it belongs to.
    pub(crate) fn execution(&self) -> u64 {
        self.execution
    }

    /// Where it was made.
    pub(crate) fn site(&self) -> Site {
        self.site
    }

    /// Stands in for dup(2).
    pub(crate) fn dup(&self, call: Call<'_>) -> Sys<()> {
        self.descriptors.add(call)
    }

    /// Stands in for close(2).
    pub(crate) fn close(&self, call: Call<'_>) -> Sys<()> {
        if self.descriptors.close(call)? && self.locks.load(Ordering::Relaxed) {
            self.inode.lock.release(call, self.owner)?;
        }
        Ok(())
    }

    /// The name it was opened by.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Stands in for fstat(2).
    pub(crate) fn status(&self, call: Call<'_>) -> Sys<Status> {
        self.inode.status(call)
    }

    /// Stands in for flock(2) with LOCK_EX or LOCK_SH.
    pub(crate) fn lock(&self, call: Call<'_>, mode: Mode) -> Sys<()> {
        self.locks.store(true, Ordering::Relaxed);
        self.inode.lock.acquire(call, self.owner, mode)
    }

    /// The same with LOCK_NB: whether the lock was taken.
    pub(crate) fn try_lock(&self, call: Call<'_>, mode: Mode) -> Sys<bool> {
        self.locks.store(true, Ordering::Relaxed);
        self.inode.lock.try_acquire(call, self.owner, mode)
    }

    /// Stands in for flock(2) with LOCK_UN.
    pub(crate) fn unlock(&self, call: Call<'_>) -> Sys<()> {
        self.inode.lock.release(call, self.owner)
    }

    /// Stands in for read(2).
    pub(crate) fn read(&self, call: Call<'_>, access: Access, buffer: &mut [u8]) -> Sys<usize> {
        let content = self.readable()?;
        self.at_position(call, access, |position| {
            let bytes = content.read(call)?;
            let rest = bytes.get(position as usize..).unwrap_or_default();
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            Ok((count, position + count as u64))
        })
    }

    /// Reads all that is left, until read(2) gives nothing.
    pub(crate) fn read_to_end(&self, call: Call<'_>, access: Access, buffer: &mut Vec<u8>) -> Sys<usize> {
        let content = self.readable()?;
        let start = buffer.len();
        loop {
            let count = self.at_position(call, access, |position| {
                let bytes = content.read(call)?;
                let rest = bytes.get(position as usize..).unwrap_or_default();
                buffer.extend_from_slice(rest);
                Ok((rest.len(), position + rest.len() as u64))
            })?;
            if count == 0 {
                return Ok(buffer.len() - start);
            }
        }
    }

    /// Stands in for write(2).
    pub(crate) fn write(&self, call: Call<'_>, access: Access, data: &[u8]) -> Sys<usize> {
        let content = self.writable()?;
        if data.is_empty() {
            return Ok(0);
        }
        let append = self.mode.append;
        self.at_position(call, access, |position| {
            let end = content.write(call, |bytes| {
                let start = if append { bytes.len() } else { position as usize };
                let end = start + data.len();
                // A write beyond the end leaves a hole of zeros.
                bytes.resize(bytes.len().max(end), 0);
                bytes[start..end].copy_from_slice(data);
                end
            })?;
            Ok((data.len(), end as u64))
        })
    }

    /// Stands in for ftruncate(2).
    pub(crate) fn set_len(&self, call: Call<'_>, len: u64) -> Sys<()> {
        // Without the right it is EINVAL here, not EBADF.
        let content = self.writable().map_err(|_| Errno::INVAL)?;
        if len == 0 { content.truncate(call) } else { content.write(call, |bytes| bytes.resize(len as usize, 0)) }
    }

    /// Stands in for lseek(2).
    pub(crate) fn seek(&self, call: Call<'_>, access: Access, to: SeekFrom) -> Sys<u64> {
        self.at_position(call, access, |position| {
            let target = match to {
                SeekFrom::Start(offset) => i64::try_from(offset).ok(),
                SeekFrom::Current(offset) => (position as i64).checked_add(offset),
                SeekFrom::End(offset) => {
                    let len =
                        self.inode.content().map_or(Ok(0), |content| content.read(call).map(|bytes| bytes.len()))?;
                    (len as i64).checked_add(offset)
                }
            };
            match target {
                Some(target) if target >= 0 => Ok((target as u64, target as u64)),
                _ => Err(Errno::INVAL.into()),
            }
        })
    }

    fn readable(&self) -> Sys<&Content> {
        if !self.mode.read {
            return Err(Errno::BADF.into());
        }
        Ok(self.inode.content().ok_or(Errno::ISDIR)?)
    }

    fn writable(&self) -> Sys<&Content> {
        if !self.mode.write && !self.mode.append {
            return Err(Errno::BADF.into());
        }
        Ok(self.inode.content().ok_or(Errno::ISDIR)?)
    }

    /// Calls `f` with the position, which nobody else uses meanwhile; it returns the new one. POSIX wants reads and writes
    /// through the same open file not to mix (Linux: `f_pos_lock`).
    fn at_position<R>(&self, call: Call<'_>, access: Access, f: impl FnOnce(u64) -> Sys<(R, u64)>) -> Sys<R> {
        let here = || {
            let (result, position) = f(self.position.load(Ordering::Relaxed))?;
            self.position.store(position, Ordering::Relaxed);
            Ok(result)
        };
        if access == Access::Shared || self.descriptors.cloned() { self.turn.hold(call, here) } else { here() }
    }
}
