//! The kernel's error numbers.

use std::{fmt, io};

/// An error number, see errno(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

impl Errno {
    /// No number of the kernel's: std does not pass a path with a NUL on to it.
    pub(crate) const NUL: Errno = Errno(0);
    /// Operation not permitted.
    pub(crate) const PERM: Errno = Errno(1);
    /// No such file or directory.
    pub(crate) const NOENT: Errno = Errno(2);
    /// No such process.
    pub(crate) const SRCH: Errno = Errno(3);
    /// No such device or address: `open` of a socket file.
    pub(crate) const NXIO: Errno = Errno(6);
    /// The descriptor is not open, or not open for this.
    pub(crate) const BADF: Errno = Errno(9);
    /// No such child.
    pub(crate) const CHILD: Errno = Errno(10);
    /// The path exists.
    pub(crate) const EXIST: Errno = Errno(17);
    /// A component of the path is not a directory.
    pub(crate) const NOTDIR: Errno = Errno(20);
    /// The path is a directory.
    pub(crate) const ISDIR: Errno = Errno(21);
    /// Invalid argument.
    pub(crate) const INVAL: Errno = Errno(22);
    /// The other end is closed for reading.
    pub(crate) const PIPE: Errno = Errno(32);
}

/// The numbers that are not the same everywhere, as Linux on most architectures has them.
#[cfg(any(target_os = "linux", target_os = "android"))]
impl Errno {
    /// A name, or the path, is too long.
    pub(crate) const NAMETOOLONG: Errno = Errno(36);
    /// The directory is not empty.
    pub(crate) const NOTEMPTY: Errno = Errno(39);
    /// Too many symbolic links are on the way.
    pub(crate) const LOOP: Errno = Errno(40);
    /// It would block.
    pub(crate) const AGAIN: Errno = Errno(11);
    /// The message does not fit.
    pub(crate) const MSGSIZE: Errno = Errno(90);
    /// The socket there is of another type.
    pub(crate) const PROTOTYPE: Errno = Errno(91);
    /// The machine has no such address.
    pub(crate) const ADDRNOTAVAIL: Errno = Errno(99);
    /// There is no way to the address.
    pub(crate) const NETUNREACH: Errno = Errno(101);
    /// The socket is not connected.
    pub(crate) const NOTCONN: Errno = Errno(107);
    /// The path is taken.
    pub(crate) const ADDRINUSE: Errno = Errno(98);
    /// The other end was closed with data unread.
    pub(crate) const CONNRESET: Errno = Errno(104);
    /// Nobody listens.
    pub(crate) const CONNREFUSED: Errno = Errno(111);
}

/// The numbers that are not the same everywhere, as the BSDs and Apple's systems have them: the simulated kernel behaves as
/// Linux, but `io::Error` translates numbers the way of the system it is compiled for.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl Errno {
    /// A name, or the path, is too long.
    pub(crate) const NAMETOOLONG: Errno = Errno(63);
    /// The directory is not empty.
    pub(crate) const NOTEMPTY: Errno = Errno(66);
    /// Too many symbolic links are on the way.
    pub(crate) const LOOP: Errno = Errno(62);
    /// It would block.
    pub(crate) const AGAIN: Errno = Errno(35);
    /// The message does not fit.
    pub(crate) const MSGSIZE: Errno = Errno(40);
    /// The socket there is of another type.
    pub(crate) const PROTOTYPE: Errno = Errno(41);
    /// The machine has no such address.
    pub(crate) const ADDRNOTAVAIL: Errno = Errno(49);
    /// There is no way to the address.
    pub(crate) const NETUNREACH: Errno = Errno(51);
    /// The socket is not connected.
    pub(crate) const NOTCONN: Errno = Errno(57);
    /// The path is taken.
    pub(crate) const ADDRINUSE: Errno = Errno(48);
    /// The other end was closed with data unread.
    pub(crate) const CONNRESET: Errno = Errno(54);
    /// Nobody listens.
    pub(crate) const CONNREFUSED: Errno = Errno(61);
}

/// Set in the result of a step that failed; the rest is the error number.
const FAILED: u64 = 1 << 63;

impl Errno {
    /// The error as the result of a step.
    pub(crate) const fn result(self) -> u64 {
        FAILED | self.0 as u64
    }

    /// The result of a step that either gives a number or fails.
    pub(crate) fn check(result: u64) -> Result<u64, Errno> {
        if result & FAILED == 0 { Ok(result) } else { Err(Errno((result & !FAILED) as i32)) }
    }
}

/// The kind that std makes of it, for reports.
impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", io::Error::from(*self).kind())
    }
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NUL => io::Error::new(io::ErrorKind::InvalidInput, "file name contained an unexpected NUL byte"),
            Errno(number) => io::Error::from_raw_os_error(number),
        }
    }
}
