//! How a process ended.

use std::fmt;
use std::process::ExitCode;

use crate::model::world;

/// Stands in for [`std::process::ExitStatus`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ExitStatus(world::ExitCode);

impl ExitStatus {
    pub(super) fn new(code: world::ExitCode) -> Self {
        ExitStatus(code)
    }

    /// Stands in for [`std::process::ExitStatus::success`]: whether it exited with code 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.code() == Some(0)
    }

    /// Stands in for [`std::process::ExitStatus::code`]: `None` if a signal ended it.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.0.code()
    }

    /// Stands in for the method of `std::os::unix::process::ExitStatusExt`: the signal that ended it. A crash is told as
    /// SIGKILL, 9; `abort` as SIGABRT, 6.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        self.0.signal()
    }
}

impl fmt::Debug for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExitStatus").field("code", &self.code()).field("signal", &self.signal()).finish()
    }
}

/// As std prints it.
impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code(), self.signal()) {
            (Some(code), _) => write!(f, "exit status: {code}"),
            (None, Some(signal)) => write!(f, "signal: {signal}"),
            (None, None) => f.write_str("unknown"),
        }
    }
}

/// What the closure of a process can return, as `main` can: the exit code.
///
/// Std's own trait gives an [`ExitCode`], which cannot be looked into; so this is another one.
pub trait Termination {
    /// The exit code.
    fn report(self) -> i32;
}

impl Termination for () {
    fn report(self) -> i32 {
        0
    }
}

impl Termination for i32 {
    fn report(self) -> i32 {
        self
    }
}

/// What a function returns: the only way to name the type of those that do not, which is not to be written yet.
#[doc(hidden)]
pub trait Returns {
    /// What.
    type Value;
}

impl<T> Returns for fn() -> T {
    type Value = T;
}

/// For closures that never return.
impl Termination for <fn() -> ! as Returns>::Value {
    fn report(self) -> i32 {
        self
    }
}

/// Two codes are known.
impl Termination for ExitCode {
    fn report(self) -> i32 {
        if self == ExitCode::SUCCESS { 0 } else { 1 }
    }
}

/// An error is code 1, and is printed nowhere.
impl<T: Termination, E: fmt::Debug> Termination for Result<T, E> {
    fn report(self) -> i32 {
        self.map_or(1, Termination::report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_main_can_return() {
        assert_eq!(().report(), 0);
        assert_eq!(3.report(), 3);
        assert_eq!(Ok::<i32, ()>(4).report(), 4);
        assert_eq!(Err::<(), &str>("no").report(), 1);
        assert_eq!((ExitCode::SUCCESS.report(), ExitCode::FAILURE.report()), (0, 1));
    }

    #[test]
    fn a_status_is_told_as_std_does() {
        let exited = ExitStatus(world::ExitCode::exited(259));
        assert_eq!((exited.code(), exited.signal(), exited.to_string()), (Some(3), None, "exit status: 3".into()));
        let killed = ExitStatus(world::ExitCode::signalled(9));
        assert_eq!((killed.code(), killed.signal(), killed.to_string()), (None, Some(9), "signal: 9".into()));
        assert!(!killed.success() && ExitStatus(world::ExitCode::exited(0)).success());
    }
}
