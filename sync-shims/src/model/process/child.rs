//! The handle of a process, for the one that has started it.

use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::Arc;

use super::ExitStatus;
use crate::model::event::Site;
use crate::model::world::{Call, ExitCode, OrInert, Process, Sys, resume};

/// Stands in for [`std::process::Child`]. Dropping it neither waits nor kills.
pub struct Child {
    /// `None` if the execution was over already.
    process: Option<(u64, Arc<Process>)>,
    status: Option<ExitStatus>,
}

impl Child {
    pub(super) fn new(execution: u64, process: Arc<Process>) -> Self {
        Child { process: Some((execution, process)), status: None }
    }

    pub(super) fn inert() -> Self {
        Child { process: None, status: None }
    }

    /// Stands in for [`std::process::Child::id`].
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.as_ref().map_or(0, |(_, process)| process.pid())
    }

    /// Stands in for [`std::process::Child::wait`]: waits for the end, and gives up the process id. Told again, it says the
    /// same again.
    ///
    /// # Errors
    ///
    /// ECHILD in another process than the one that has started it.
    #[track_caller]
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        let code = self.call(Location::caller(), |call, process| process.wait(call).map(Some))?;
        self.ended(code).ok_or_else(|| io::ErrorKind::Other.into())
    }

    /// Stands in for [`std::process::Child::try_wait`]: as [`Child::wait`] if the process is over, else `None`.
    ///
    /// # Errors
    ///
    /// As [`Child::wait`].
    #[track_caller]
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_some() {
            return Ok(self.status);
        }
        let code = self.call(Location::caller(), |call, process| process.try_wait(call))?;
        Ok(self.ended(code))
    }

    /// Stands in for [`std::process::Child::kill`]: sends SIGKILL. The process ends at one of its next operations. Nothing
    /// happens to one that is over.
    ///
    /// # Errors
    ///
    /// None in a model.
    #[track_caller]
    pub fn kill(&mut self) -> io::Result<()> {
        if self.status.is_some() {
            return Ok(());
        }
        self.call(Location::caller(), |call, process| process.kill(call).map(Some)).map(|_| ())
    }

    fn ended(&mut self, code: Option<ExitCode>) -> Option<ExitStatus> {
        self.status = code.map(ExitStatus::new);
        self.status
    }

    /// A call about the process; `None` after the end of the execution.
    fn call<T>(&self, site: Site, f: impl FnOnce(Call<'_>, &Process) -> Sys<Option<T>>) -> io::Result<Option<T>> {
        match &self.process {
            Some((execution, process)) => resume(*execution, site, |call| f(call, process)).or_inert(|| None),
            None => Ok(None),
        }
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("id", &self.id()).field("status", &self.status).finish_non_exhaustive()
    }
}
