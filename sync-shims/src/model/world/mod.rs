//! The simulated kernel: the only place that knows paths, sockets and files.
//!
//! It stands in for the part of Linux behind `bind(2)`, `connect(2)`, `open(2)`, `flock(2)` and their like, in one
//! namespace of paths for each execution. [`os::unix::net`](super::os::unix::net) and [`fs`](super::fs) are thin fronts.
//!
//! # How it is built
//!
//! Everything that one thread can do and another can notice is an [`Object`](call::Object): one for the entry behind each path, a few for
//! each inode (the listener, its queue, the content, the lock), one for each direction of a connection. An object has a
//! small state (one word), and system calls act on it through [`Call::act`] with pure functions of that state; so calls on
//! different paths commute, and the explorer sees exactly which calls meet. A call that needs several objects is several
//! steps, as it is in the kernel.
//!
//! Bytes, addresses and the tables that lead from a path to its objects are plain data ([`Tables`](tables::Tables)). Other
//! threads may run between a step and what its thread does next, and an execution that is repeated runs in another order,
//! except that a step comes after the step that wrote what it reads, and what comes before that. Hence the rule on which
//! everything here rests, the same as for any data behind a release and an acquire:
//!
//! **What a step leads to in the plain data must have been put there before the step that says so.** So tables are
//! append-only, with names that do not depend on the order (paths; numbers made of the thread and its own count, see
//! [`Call::fresh`]), or they are used in turns ([`Turn`](turn::Turn)), which are objects themselves.
//!
//! | file | holds |
//! |---|---|
//! | `call.rs` | a system call in progress: objects, steps, errors |
//! | `errno.rs` | the kernel's error numbers |
//! | `tables.rs` | the plain data of an execution |
//! | `path.rs` | from what the user wrote to a name in the namespace |
//! | `walk.rs` | from a path to a place, through directories and symbolic links |
//! | `entry.rs` | what a path leads to: create, look up, remove |
//! | `directory.rs` | which names are in a directory |
//! | `turn.rs` | locks of the kernel's own |
//! | `rename.rs` | rename, in several steps that look like one |
//! | `inode.rs` | files, directories, socket files and symbolic links |
//! | `descriptor.rs` | descriptors: how many an open file has, who closes the last one, which process has each |
//! | `clock.rs` | what time it is |
//! | `process.rs` | processes: who belongs to which, and how one ends |
//! | `content.rs` | what is in a file |
//! | `flock.rs` | the lock of a file |
//! | `open.rs` | open files |
//! | `listener.rs` | listening sockets: bind, listen, connect, accept |
//! | `direction.rs` | one direction of a connection: its bytes and its end |
//! | `connection.rs` | connected sockets: read, write, shutdown, close |
//! | `datagram.rs` | datagram sockets: send, receive, connect |
//! | `name.rs` | what sockets are called |
//! | `ports.rs` | TCP addresses and ports: who listens where |
//! | `options.rs` | options of TCP sockets |
//! | `timeouts.rs` | how long calls on sockets wait |

mod call;
mod clock;
mod connection;
mod content;
mod datagram;
mod descriptor;
mod direction;
mod directory;
mod entry;
mod errno;
mod flock;
mod inode;
mod listener;
mod name;
mod open;
mod options;
mod path;
mod ports;
mod process;
mod rename;
mod tables;
#[cfg(test)]
mod tests;
mod timeouts;
mod turn;
mod walk;

pub(crate) use call::{Access, Call, Halt, OrInert, Sys, enter, resume};
pub(crate) use clock::{
    Timer, came_round as clock_came_round, deadline as clock_deadline, matters as clock_matters, now as clock_now,
};
pub(crate) use connection::{Connection, Endpoint};
pub(crate) use datagram::{Datagram, To};
pub(crate) use descriptor::{Fd, hand_over};
pub(crate) use directory::{read_dir, remove_dir};
pub(crate) use entry::{Kind, create_dir, create_dir_all, exists, remove_file};
pub(crate) use errno::Errno;
pub(crate) use flock::Mode as LockMode;
pub(crate) use inode::{Status, status, status_of_name};
pub(crate) use listener::{Listener, connect, connect_tcp};
pub(crate) use name::{Name, Spot};
pub(crate) use open::{OpenFile, OpenMode};
pub(crate) use process::{
    ABORTED, ExitCode, Plan, Process, after_operation, before_operation, exit, id, inherit, is_alive, kill,
    process_number,
};
pub(crate) use rename::{hard_link, rename};
pub(crate) use timeouts::Shut;
pub(crate) use walk::{read_link, symlink};
