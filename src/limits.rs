//! Values that a knob does not take, whether the program or the environment has set it.

use std::io;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use crate::builder::{Builder, Strategy};

/// The smallest stack that std's own panic machinery fits on with room to spare, and the largest that makes sense.
pub(crate) const STACKS: RangeInclusive<usize> = 16 << 10..=1 << 30;

/// OS threads that explore.
pub(crate) const WORKERS: RangeInclusive<usize> = 1..=1024;

/// Each look in vain of each loop multiplies the executions: beyond this, nothing would ever come to its end.
pub(crate) const SPINS: RangeInclusive<u32> = 0..=1000;

/// Depths of `Pct`. Its guarantee falls with the power of it.
pub(crate) const DEPTHS: RangeInclusive<u32> = 1..=1000;

/// The shortest time after which a thread passes for one that is stuck.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// `Err` is a sentence that names the knob and what it takes.
pub(crate) fn check(builder: &Builder) -> Result<(), String> {
    let nothing = "so nothing would be explored: it takes";
    if builder.max_executions == Some(0) {
        return Err(format!("`max_executions` is 0, {nothing} a number from 1"));
    }
    if builder.max_duration.is_some_and(|duration| duration.is_zero()) {
        return Err(format!("`max_duration` is 0, {nothing} more than that"));
    }
    if builder.max_steps == 0 {
        return Err("`max_steps` is 0, so nothing could be run: it takes a number from 1".to_owned());
    }
    if builder.max_pause < PAUSE {
        return Err(format!("`max_pause` is {:?}, but it takes {PAUSE:?} or more", builder.max_pause));
    }
    if let Some(budget) = builder.spin_budget {
        within("`spin_budget`", budget, &SPINS)?;
    }
    if let Strategy::Pct { depth } = builder.strategy {
        within("the `depth` of `Pct`", depth, &DEPTHS)?;
    }
    within("`workers`", builder.workers, &WORKERS)?;
    within("`stack_size`", builder.stack_size, &STACKS)?;
    if builder.focus.iter().any(|name| name.trim().is_empty()) {
        return Err("`focus` is \"\", but it takes the name of a function or a label".to_owned());
    }
    if builder.name.as_ref().is_some_and(String::is_empty) {
        return Err("`name` is \"\", but a model needs a name: leave it out for the test's".to_owned());
    }
    if let Some(path) = &builder.checkpoint {
        let wrong = |error| {
            format!(
                "`checkpoint` is {:?}, but it takes a file that can be written ({error})",
                path.display().to_string()
            )
        };
        writable(path).map_err(wrong)?;
    }
    Ok(())
}

fn within<T: PartialOrd + std::fmt::Display>(what: &str, value: T, range: &RangeInclusive<T>) -> Result<(), String> {
    match range.contains(&value) {
        true => Ok(()),
        false => Err(format!("{what} is {value}, but it takes {} to {}", range.start(), range.end())),
    }
}

/// Whether a file can be written, which is left as it is.
pub(crate) fn writable(path: &Path) -> io::Result<()> {
    let there = path.exists();
    std::fs::OpenOptions::new().append(true).create(true).open(path)?;
    if !there {
        std::fs::remove_file(path)?;
    }
    Ok(())
}
