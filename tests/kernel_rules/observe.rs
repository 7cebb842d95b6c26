//! What a script sees, as text.

use std::fmt::Display;
use std::fs::TryLockError;
use std::io::{self, ErrorKind};
use std::path::Path;

/// What a kernel does.
pub(crate) struct Rule {
    /// In a sentence.
    pub(crate) name: &'static str,
    /// What the script must give.
    pub(crate) result: &'static str,
    /// Gets an empty directory.
    pub(crate) script: fn(&Path) -> String,
}

/// `ok`, or the error.
pub(crate) fn said<T>(result: io::Result<T>) -> String {
    count(result.map(|_| "ok"))
}

/// The value, or the error.
pub(crate) fn count<T: Display>(result: io::Result<T>) -> String {
    match result {
        Ok(value) => value.to_string(),
        Err(error) => name(&error),
    }
}

/// `ok`, or why the lock was not taken.
pub(crate) fn locked(result: Result<(), TryLockError>) -> String {
    match result {
        Ok(()) => "ok".into(),
        Err(TryLockError::WouldBlock) => "WouldBlock".into(),
        Err(TryLockError::Error(error)) => name(&error),
    }
}

/// The error's number by its name, and the kind that std makes of it.
fn name(error: &io::Error) -> String {
    let (name, kind) = match error.raw_os_error() {
        Some(1) => ("EPERM", ErrorKind::PermissionDenied),
        Some(2) => ("ENOENT", ErrorKind::NotFound),
        Some(6) => ("ENXIO", error.kind()),
        Some(9) => ("EBADF", error.kind()),
        Some(11) => ("EAGAIN", ErrorKind::WouldBlock),
        Some(17) => ("EEXIST", ErrorKind::AlreadyExists),
        Some(20) => ("ENOTDIR", ErrorKind::NotADirectory),
        Some(21) => ("EISDIR", ErrorKind::IsADirectory),
        Some(22) => ("EINVAL", ErrorKind::InvalidInput),
        Some(32) => ("EPIPE", ErrorKind::BrokenPipe),
        Some(36) => ("ENAMETOOLONG", ErrorKind::InvalidFilename),
        Some(39) => ("ENOTEMPTY", ErrorKind::DirectoryNotEmpty),
        Some(40) => ("ELOOP", error.kind()),
        Some(90) => ("EMSGSIZE", error.kind()),
        Some(91) => ("EPROTOTYPE", error.kind()),
        Some(98) => ("EADDRINUSE", ErrorKind::AddrInUse),
        Some(99) => ("EADDRNOTAVAIL", ErrorKind::AddrNotAvailable),
        Some(104) => ("ECONNRESET", ErrorKind::ConnectionReset),
        Some(107) => ("ENOTCONN", ErrorKind::NotConnected),
        Some(111) => ("ECONNREFUSED", ErrorKind::ConnectionRefused),
        Some(number) => return format!("errno {number}"),
        None => return format!("{:?} {error}", error.kind()),
    };
    if error.kind() == kind { name.into() } else { format!("{name} as {:?}", error.kind()) }
}
