//! Which names are in a directory: for those who list it, or want to remove it.
//!
//! A path is an object of its own, so that calls on different paths commute; nothing says which paths a directory has. As
//! soon as a model lists or removes directories, whoever makes a name puts the path on the directory's list before, in turns,
//! and only while the directory is there. Names that have gone stay on the list: what is there *now* is found by looking.
//! Models that do neither pay nothing for it: the first one to list starts the exploration again
//! ([`Controller::counts`](crate::model::controller::Controller::counts)).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dpor::{Outcome, Outcomes, ThreadId};

use super::call::{Call, Halt, Object, Step, Sys};
use super::entry::{Entry, Kind, Place, found, look};
use super::errno::Errno;
use super::path;
use super::rename::{There, marked};
use super::turn::Turn;
use crate::model::event::Site;

/// The names that a directory ever had.
#[derive(Debug)]
pub(crate) struct Listing {
    /// How many are on the list.
    count: Object,
    list: Mutex<Vec<PathBuf>>,
    turn: Turn,
}

/// One more name; the result is how many there were.
fn one_more(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    out.push(Outcome::write(state + 1, state));
}

/// Removes a directory: the result is what was there.
fn remove(state: u64, _: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let is_directory = Entry::from_state(state).kind() == Some(Kind::Directory);
    out.push(if is_directory { Outcome::write(Entry::ABSENT.state(), state) } else { Outcome::read(state) });
}

/// Marks a directory with `args[0]`: the result is what was there.
fn mark(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let is_directory = Entry::from_state(state).kind() == Some(Kind::Directory);
    out.push(if is_directory { Outcome::write(args[0], state) } else { Outcome::read(state) });
}

/// Puts the directory `args[0]` in place of a directory or nothing: the result is what was there.
fn put(state: u64, args: [u64; 2], _: ThreadId, out: &mut Outcomes) {
    let free = state == Entry::ABSENT.state() || Entry::from_state(state).kind() == Some(Kind::Directory);
    out.push(if free { Outcome::write(args[0], state) } else { Outcome::read(state) });
}

/// The place that stands for "somebody lists or removes directories".
fn somebody_lists() -> Site {
    std::panic::Location::caller()
}

/// From now on directories have lists.
fn want_lists(call: Call<'_>) -> Sys<()> {
    if call.controller().counts(somebody_lists()) {
        return Ok(());
    }
    call.controller().count_from_now_on(somebody_lists());
    Err(Halt::Inert)
}

/// The list of the directory at `path`, which is a name in the namespace.
fn listing(call: Call<'_>, path: &Path) -> Sys<Arc<Listing>> {
    let site = call.site();
    Ok(call.tables(|tables| {
        let name = path::shown(path).display();
        let new = || {
            Arc::new(Listing {
                count: Object::new(0, site).named(format_args!("names in {name}")),
                list: Mutex::default(),
                turn: Turn::new(format_args!("naming in {name}"), site),
            })
        };
        tables.listings.entry(path.to_path_buf()).or_insert_with(new).clone()
    })?)
}

impl Listing {
    /// What is there now, by name. Others may come and go meanwhile.
    fn entries(&self, call: Call<'_>) -> Sys<Vec<(PathBuf, Entry)>> {
        static COUNT: Step = Step::new("fs", "read_dir", look);
        static LOOK: Step = Step::new("fs", "read_dir", look).shows(found);
        let count = call.act(&self.count, &COUNT, [0, 0])? as usize;
        let names: BTreeSet<PathBuf> = {
            let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
            list[..count].iter().cloned().collect()
        };
        let look_at =
            |name: PathBuf| Ok((name.clone(), Place::named(call, &name)?.act_once(call, &LOOK, Entry::ABSENT)?));
        let entries: Vec<(PathBuf, Entry)> = names.into_iter().map(look_at).collect::<Sys<_>>()?;
        Ok(entries.into_iter().filter(|(_, entry)| *entry != Entry::ABSENT).collect())
    }
}

impl Place {
    /// As [`Place::act`], for a step that may make a name here.
    pub(crate) fn create(&self, call: Call<'_>, step: &'static Step, argument: Entry) -> Sys<Entry> {
        loop {
            let found = self.create_once(call, step, argument)?;
            if !found.is_moving() {
                return Ok(found);
            }
            super::rename::wait(call, found)?;
        }
    }

    /// As [`Place::act_once`], for a step that may make a name here.
    pub(crate) fn create_once(&self, call: Call<'_>, step: &'static Step, argument: Entry) -> Sys<Entry> {
        static ADD: Step = Step::new("fs", "add a name", one_more);
        static LOOKUP: Step = Step::new("fs", "lookup", look).shows(found);
        let directory = self.path.parent().filter(|_| self.path.is_absolute());
        let (true, Some(directory)) = (call.controller().counts(somebody_lists()), directory) else {
            return self.act_once(call, step, argument);
        };
        let listing = listing(call, directory)?;
        listing.turn.hold(call, || {
            // It may have been removed since it was found, and another one made, or moved there.
            if path::initial_directory(directory).is_none() {
                let now = Place::named(call, directory)?.act_once(call, &LOOKUP, Entry::ABSENT)?;
                if now.kind() != Some(Kind::Directory) || self.above.is_some_and(|above| above != now) {
                    return Err(Errno::NOENT.into());
                }
            }
            listing.list.lock().unwrap_or_else(PoisonError::into_inner).push(self.path.clone());
            call.act(&listing.count, &ADD, [0, 0])?;
            self.act_once(call, step, argument)
        })
    }
}

/// Stands in for opendir(3) and readdir(3) until there is no more: the names, in order, and what they are.
/// That a symbolic link leads to the directory is ENOTDIR unless `follow`.
pub(crate) fn read_dir(call: Call<'_>, user_path: &Path, follow: bool) -> Sys<Vec<PathBuf>> {
    static OPEN: Step = Step::new("fs", "read_dir", look).shows(found);
    want_lists(call)?;
    let open = |place: &Place| place.act(call, &OPEN, Entry::ABSENT);
    let (place, found) = if follow {
        Place::follow(call, user_path, open)?
    } else {
        let place = Place::find(call, user_path)?;
        let found = open(&place)?;
        (place, found)
    };
    match found.kind() {
        None => return Err(Errno::NOENT.into()),
        Some(Kind::File | Kind::Socket | Kind::Symlink) => return Err(Errno::NOTDIR.into()),
        Some(Kind::Directory) => {}
    }
    let mut names: Vec<PathBuf> =
        listing(call, &place.path)?.entries(call)?.into_iter().map(|(name, _)| name).collect();
    names.extend(path::initial_directories_in(&place.path));
    names.sort();
    Ok(names)
}

/// Stands in for rmdir(2).
pub(crate) fn remove_dir(call: Call<'_>, user_path: &Path) -> Sys<()> {
    static LOOKUP: Step = Step::new("fs", "remove_dir", look).shows(found);
    static REMOVE: Step = Step::new("fs", "remove_dir", remove).shows(found);
    want_lists(call)?;
    let place = Place::find(call, user_path)?;
    loop {
        match (place.act(call, &LOOKUP, Entry::ABSENT)?.kind(), path::last_component(user_path)) {
            (None, _) => return Err(Errno::NOENT.into()),
            (Some(Kind::File | Kind::Socket | Kind::Symlink), _) => return Err(Errno::NOTDIR.into()),
            (Some(Kind::Directory), b".") => return Err(Errno::INVAL.into()),
            (Some(Kind::Directory), b"..") => return Err(Errno::NOTEMPTY.into()),
            (Some(Kind::Directory), _) => {}
        }
        if path::initial_directory(&place.path).is_some() {
            call.unsupported("removing a directory that is there from the start");
        }
        let listing = listing(call, &place.path)?;
        let moving = listing.turn.hold(call, || {
            let entries = listing.entries(call)?;
            if let Some((_, moving)) = entries.iter().find(|(_, entry)| entry.is_moving()) {
                return Ok(Some(*moving));
            }
            if !entries.is_empty() {
                return Err(Errno::NOTEMPTY.into());
            }
            match place.act_once(call, &REMOVE, Entry::ABSENT)?.kind() {
                None => Err(Errno::NOENT.into()),
                Some(_) => Ok(None),
            }
        })?;
        match moving {
            None => return Ok(()),
            Some(mark) => super::rename::wait(call, mark)?,
        }
    }
}

/// Stands in for rename(2) of a directory, when it is the caller's turn to rename. As paths lead to places, what is in it would
/// have to move, too: there must be nothing.
pub(super) fn rename(call: Call<'_>, from: &Place, to: &Place) -> Sys<()> {
    static LOOKUP: Step = Step::new("fs", "rename", look).shows(found);
    static TAKE: Step = Step::new("fs", "rename", mark).shows(found);
    static REPLACE: Step = Step::new("fs", "rename", put).shows(found);
    want_lists(call)?;
    if [from, to].iter().any(|place| path::initial_directory(&place.path).is_some()) {
        call.unsupported("renaming a directory that is there from the start");
    }
    let (source, target) = (listing(call, &from.path)?, listing(call, &to.path)?);
    let work = |moved| {
        // As long as it is nobody else's turn, nothing is made in the two.
        let replaced = match to.act_once(call, &LOOKUP, Entry::ABSENT)?.kind() {
            Some(Kind::Directory) if !target.entries(call)?.is_empty() => Err(Errno::NOTEMPTY.into()),
            None | Some(Kind::Directory) => to.create_once(call, &REPLACE, moved),
            Some(_) => Err(Errno::NOTDIR.into()),
        };
        match replaced.map(Entry::kind) {
            Ok(None | Some(Kind::Directory)) => {
                if !source.entries(call)?.is_empty() {
                    call.unsupported("renaming a directory with something in it");
                }
                Ok((Entry::ABSENT, Ok(())))
            }
            Ok(Some(_)) => Ok((moved, Err(Errno::NOTDIR.into()))),
            Err(Halt::Errno(errno)) => Ok((moved, Err(errno.into()))),
            Err(Halt::Inert) => Err(Halt::Inert),
        }
    };
    let in_turn = || target.turn.hold(call, || marked(call, from, &TAKE, work));
    match source.turn.hold(call, in_turn)? {
        There::Moved(result) => result,
        // It was removed a moment ago, and what may be there now was not when the call began.
        There::Other(_) => Err(Errno::NOENT.into()),
    }
}
