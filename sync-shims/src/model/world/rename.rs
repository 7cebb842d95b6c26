//! Calls on two paths: rename(2) and link(2), which the kernel makes look like one step.
//!
//! An object is one path, and a step acts on one object, so that calls on different paths commute. A call on two paths takes
//! several steps: it *marks* the entry that it starts from, does its work at the other one, and then settles the first. A
//! thread that finds a mark waits for the end of that call and looks again, so it never sees the time between. The step at
//! the second path is the moment at which the call happens: before it nobody has seen anything but the state before; after
//! it, nobody sees the first path until that is in its state after, too.
//!
//! Such calls take turns: two that met each other's marks would wait for each other.

use std::path::Path;
use std::sync::Arc;

use dpor::{Outcome, Outcomes, Role, ThreadId};

use super::call::{Call, Halt, Object, Step, Sys};
use super::entry::{Entry, Kind, Place, found, inode, look, made, make};
use super::errno::Errno;

/// Marks what is there with `args[0]` unless it is a directory: the result is what was there.
fn mark(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let movable = matches!(Entry::from_state(state).kind(), Some(Kind::File | Kind::Socket | Kind::Symlink));
    out.push(if movable { Outcome::write(args[0], state) } else { Outcome::read(state) });
}

/// Puts `args[0]` in place of what is there unless that is a directory or the same: the result is what was there.
fn put(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let kept = state == args[0] || Entry::from_state(state).kind() == Some(Kind::Directory);
    out.push(if kept { Outcome::read(state) } else { Outcome::write(args[0], state) });
}

/// Puts `args[0]` in place of a mark.
fn settle(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if Entry::from_state(state).is_moving() {
        out.push(Outcome::write(args[0], 0));
    }
}

/// Waits until the state is not 0, which it stays.
fn wait_set(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    if state != 0 {
        out.push(Outcome::read(0));
    }
}

/// Makes the state 1.
fn set(_: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(1, 0));
}

/// What a report says of the step at the first path.
fn taken(result: u64) -> String {
    format!("takes {}", Entry::from_state(result))
}

/// What a report says of the step at the second path.
fn replaced(result: u64) -> String {
    format!("replaces {}", Entry::from_state(result))
}

/// Waits until the call that left `mark` is done.
pub(crate) fn wait(call: Call<'_>, mark: Entry) -> Sys<()> {
    static WAIT: Step = Step::new("fs", "lookup", wait_set).role(Role::Wait);
    let done = call.tables(|tables| tables.rename(mark.number()))?;
    call.act(&done, &WAIT, [0, 0])?;
    Ok(())
}

/// Waits for the turn to rename, marks what is at `from` meanwhile, and calls `work` with what it is: that says what to leave
/// there, and how the call ends. If it is a directory, it calls `directory` instead, with the turn.
fn with_mark(
    call: Call<'_>,
    from: &Place,
    step: &'static Step,
    work: impl FnOnce(Entry) -> Sys<(Entry, Sys<()>)>,
    directory: impl FnOnce() -> Sys<()>,
) -> Sys<()> {
    let turn = call.tables(|tables| tables.turn_of_renames(call.site()))?;
    turn.hold(call, || match marked(call, from, step, work)? {
        There::Moved(result) => result,
        There::Other(Some(Kind::Directory)) => directory(),
        There::Other(_) => Err(Errno::NOENT.into()),
    })
}

/// What came of an attempt to mark something.
pub(super) enum There {
    /// It was marked, and the call has ended so.
    Moved(Sys<()>),
    /// This was there, which the step does not mark.
    Other(Option<Kind>),
}

/// As [`with_mark`], when it is the caller's turn.
pub(super) fn marked(
    call: Call<'_>,
    from: &Place,
    step: &'static Step,
    work: impl FnOnce(Entry) -> Sys<(Entry, Sys<()>)>,
) -> Sys<There> {
    static SETTLE: Step = Step::new("fs", "settle", settle);
    static DONE: Step = Step::new("fs", "settle", set).role(Role::Signal);
    let number = call.fresh()?;
    let done = Arc::new(Object::new(0, call.site()).named(format_args!("the end of a rename")));
    call.tables(|tables| tables.add_rename(number, done.clone()))?;
    let there = from.act_once(call, step, Entry::moving(number))?;
    if !call.controller().wrote() {
        return Ok(There::Other(there.kind()));
    }
    let (leave, result) = work(there)?;
    from.act_once(call, &SETTLE, leave)?;
    call.act(&done, &DONE, [0, 0])?;
    Ok(There::Moved(result))
}

/// Stands in for rename(2): what was at `to` is replaced in one step.
pub(crate) fn rename(call: Call<'_>, from: &Path, to: &Path) -> Sys<()> {
    static RENAME: Step = Step::new("fs", "rename", mark).shows(taken);
    static REPLACE: Step = Step::new("fs", "rename", put).shows(replaced);
    static SAME: Step = Step::new("fs", "rename", look).shows(found);
    let (from, to) = (Place::find(call, from)?, Place::find(call, to)?);
    if from.path == to.path {
        return match from.act(call, &SAME, Entry::ABSENT)? {
            Entry::ABSENT => Err(Errno::NOENT.into()),
            _ => Ok(()),
        };
    }
    if from.path.starts_with(&to.path) || to.path.starts_with(&from.path) {
        // One is in the other.
        return Err(match from.act(call, &SAME, Entry::ABSENT)?.kind() {
            None => Errno::NOENT,
            Some(_) if from.path.starts_with(&to.path) => Errno::NOTEMPTY,
            Some(Kind::Directory) => Errno::INVAL,
            Some(_) => Errno::NOTDIR,
        }
        .into());
    }
    let directory = || super::directory::rename(call, &from, &to);
    let file = |moved| {
        inode(call, moved)?.add_place(call, &to.path)?;
        let replaced = match to.create_once(call, &REPLACE, moved) {
            Err(Halt::Errno(errno)) => return Ok((moved, Err(errno.into()))),
            replaced => replaced?,
        };
        Ok(match replaced.kind() {
            Some(Kind::Directory) => (moved, Err(Errno::ISDIR.into())),
            // Two names of one inode: rename(2) does nothing.
            _ if replaced == moved => (moved, Ok(())),
            _ => (Entry::ABSENT, Ok(())),
        })
    };
    with_mark(call, &from, &RENAME, file, directory)
}

/// Stands in for link(2).
pub(crate) fn hard_link(call: Call<'_>, original: &Path, link: &Path) -> Sys<()> {
    static LOOKUP: Step = Step::new("fs", "hard_link", look).shows(found);
    static HOLD: Step = Step::new("fs", "hard_link", mark).shows(taken);
    static LINK: Step = Step::new("fs", "hard_link", make).shows(made);
    let from = Place::find(call, original)?;
    let there = from.act(call, &LOOKUP, Entry::ABSENT)?;
    if there == Entry::ABSENT {
        return Err(Errno::NOENT.into());
    }
    let to = Place::find(call, link)?;
    if there.kind() == Some(Kind::Directory) {
        let taken = to.act(call, &LOOKUP, Entry::ABSENT)? != Entry::ABSENT;
        return Err(if taken { Errno::EXIST } else { Errno::PERM }.into());
    }
    if from.path == to.path {
        return Err(Errno::EXIST.into());
    }
    // The original is held so that it cannot lose its last name before it has the new one: link(2) refuses to bring back an
    // inode without a name.
    let work = |linked| {
        inode(call, linked)?.add_place(call, &to.path)?;
        let result = match to.create_once(call, &LINK, linked) {
            Ok(Entry::ABSENT) => Ok(()),
            Ok(_) => Err(Errno::EXIST.into()),
            Err(Halt::Errno(errno)) => Err(errno.into()),
            Err(Halt::Inert) => return Err(Halt::Inert),
        };
        Ok((linked, result))
    };
    with_mark(call, &from, &HOLD, work, || Err(Errno::PERM.into()))
}
