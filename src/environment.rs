//! The environment variables: one for each knob, and an error for everything that cannot be used.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use dpor::Memory;

use crate::builder::{Builder, Strategy};
use crate::explore::{Shard, Stale};
use crate::limits::{self, DEPTHS, PAUSE, SPINS, STACKS, WORKERS};

/// What starts with this is ours, and nothing of it is ignored.
const PREFIX: &str = "INTERLEAVE_";

/// All variables, with what they take.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("INTERLEAVE_MEMORY", "`sc` or `rc11`"),
    ("INTERLEAVE_PREEMPTIONS", "a number"),
    ("INTERLEAVE_STALE_READS", "a number"),
    ("INTERLEAVE_MAX_EXECUTIONS", "a number from 1"),
    ("INTERLEAVE_MAX_DURATION", "a number of seconds above 0, such as `2.5`"),
    ("INTERLEAVE_MAX_STEPS", "a number from 1"),
    ("INTERLEAVE_MAX_PAUSE", "a number of seconds from 0.1"),
    ("INTERLEAVE_SPURIOUS", "a number"),
    ("INTERLEAVE_CRASHES", "a number"),
    ("INTERLEAVE_PID_REUSES", "a number"),
    ("INTERLEAVE_CLOCK_MOVES", "a number"),
    ("INTERLEAVE_SPIN_BUDGET", "a number from 0 to 1000"),
    (
        "INTERLEAVE_STRATEGY",
        "`exhaustive`, `interleavings`, `random`, `pct:<depth from 1 to 1000>`, `pos`, `portfolio` or `auto`",
    ),
    ("INTERLEAVE_SEED", "a number"),
    ("INTERLEAVE_WORKERS", "a number from 1 to 1024"),
    ("INTERLEAVE_STACK_SIZE", "a number of bytes from 16384 to 1073741824"),
    ("INTERLEAVE_LEAKS", "`0` or `1`"),
    ("INTERLEAVE_LOG", "`off` or `summary`"),
    ("INTERLEAVE_PROGRESS", "a file to append to"),
    ("INTERLEAVE_SHARD", "two numbers such as `2/3`, the first not larger"),
    ("INTERLEAVE_CHECKPOINT", "a file that can be written"),
    ("INTERLEAVE_SHRINK", "a number (1 for the usual one)"),
    ("INTERLEAVE_FOCUS", "names of functions or labels, separated by commas"),
    ("INTERLEAVE_STALE", "`warn` or `deny`"),
    ("INTERLEAVE_REPAIR", "`0` or `1`"),
    // Looked at here, and read where they are used.
    ("INTERLEAVE_EVENTS", "a file to append to"),
    ("INTERLEAVE_ASCII", "`0` or `1` (reports in plain ASCII)"),
    // What is wrong with a recording is said where it is read.
    ("INTERLEAVE_REPLAY", "a replay file or a token"),
];

/// `builder` with the values that `get` gives; `names` are all variables there are.
pub(crate) fn apply(
    mut builder: Builder,
    get: impl Fn(&str) -> Option<OsString>,
    names: impl Iterator<Item = OsString>,
) -> Result<Builder, String> {
    for name in names.filter_map(|name| name.into_string().ok()).filter(|name| name.starts_with(PREFIX)) {
        if !KNOWN.iter().any(|(known, _)| *known == name) {
            let all: Vec<&str> = KNOWN.iter().filter_map(|(known, _)| known.strip_prefix(PREFIX)).collect();
            return Err(format!(
                "there is no variable {name}: unset it, or use {PREFIX} with one of {}",
                all.join(", ")
            ));
        }
    }
    for (name, takes) in KNOWN {
        let Some(value) = get(name).filter(|value| !value.is_empty()) else { continue };
        set(&mut builder, name, &value).map_err(|Wrong(why)| {
            let why = why.map_or_else(String::new, |why| format!(" ({why})"));
            format!("{name} is {:?}, but it takes {takes}{why}", value.to_string_lossy())
        })?;
    }
    limits::check(&builder)?;
    Ok(builder)
}

/// A value that a variable does not take, and why if that does not follow from what it takes.
struct Wrong(Option<String>);

/// Sets one knob.
fn set(builder: &mut Builder, name: &str, value: &OsStr) -> Result<(), Wrong> {
    let path = Path::new(value);
    let usable = |came: std::io::Result<()>| came.map_err(|error| Wrong(Some(error.to_string())));
    // Some are written a line at a time, and by nobody who could say that it does not work.
    let appendable = || std::fs::OpenOptions::new().append(true).create(true).open(path).map(drop);
    match name {
        "INTERLEAVE_PROGRESS" => {
            usable(appendable())?;
            builder.progress = Some(path.to_owned());
        }
        "INTERLEAVE_EVENTS" => usable(appendable())?,
        "INTERLEAVE_CHECKPOINT" => {
            usable(limits::writable(path))?;
            builder.checkpoint = Some(path.to_owned());
        }
        "INTERLEAVE_REPLAY" => {}
        _ => {
            let text = value.to_str().ok_or(Wrong(None))?;
            return set_text(builder, name, text.trim()).ok_or(Wrong(None));
        }
    }
    Ok(())
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// Sets a knob that is no path; `None` if the value does not parse.
fn set_text(builder: &mut Builder, name: &str, value: &str) -> Option<()> {
    match name {
        "INTERLEAVE_MEMORY" => {
            builder.memory = match value.to_ascii_lowercase().as_str() {
                "sc" => Memory::Sc,
                "rc11" => Memory::Rc11,
                _ => return None,
            }
        }
        "INTERLEAVE_PREEMPTIONS" => builder.preemption_bound = Some(value.parse().ok()?),
        "INTERLEAVE_STALE_READS" => builder.stale_reads = Some(value.parse().ok()?),
        "INTERLEAVE_MAX_EXECUTIONS" => builder.max_executions = Some(value.parse().ok().filter(|n| *n > 0)?),
        "INTERLEAVE_MAX_DURATION" => {
            let seconds: f64 = value.parse().ok()?;
            builder.max_duration = Some(Duration::try_from_secs_f64(seconds).ok().filter(|d| !d.is_zero())?);
        }
        "INTERLEAVE_MAX_PAUSE" => {
            let seconds: f64 = value.parse().ok()?;
            builder.max_pause = Duration::try_from_secs_f64(seconds).ok().filter(|pause| *pause >= PAUSE)?;
        }
        "INTERLEAVE_MAX_STEPS" => builder.max_steps = value.parse().ok().filter(|n| *n > 0)?,
        "INTERLEAVE_SPURIOUS" => builder.spurious = value.parse().ok()?,
        "INTERLEAVE_CRASHES" => builder.budgets.crashes = value.parse().ok()?,
        "INTERLEAVE_PID_REUSES" => builder.budgets.pid_reuses = value.parse().ok()?,
        "INTERLEAVE_CLOCK_MOVES" => builder.budgets.clock_moves = value.parse().ok()?,
        "INTERLEAVE_SPIN_BUDGET" => builder.spin_budget = Some(value.parse().ok().filter(|n| SPINS.contains(n))?),
        "INTERLEAVE_STRATEGY" => {
            builder.strategy = match value {
                "exhaustive" => Strategy::Exhaustive,
                "interleavings" => Strategy::Interleavings,
                "random" => Strategy::Random,
                "pos" => Strategy::Pos,
                "portfolio" => Strategy::Portfolio,
                "auto" => Strategy::Auto,
                other => {
                    Strategy::Pct { depth: other.strip_prefix("pct:")?.parse().ok().filter(|n| DEPTHS.contains(n))? }
                }
            }
        }
        "INTERLEAVE_SEED" => builder.seed = value.parse().ok()?,
        "INTERLEAVE_WORKERS" => builder.workers = value.parse().ok().filter(|n| WORKERS.contains(n))?,
        "INTERLEAVE_STACK_SIZE" => builder.stack_size = value.parse().ok().filter(|bytes| STACKS.contains(bytes))?,
        "INTERLEAVE_LOG" => {
            builder.summary = match value {
                "off" => false,
                "summary" => true,
                _ => return None,
            }
        }
        "INTERLEAVE_SHARD" => builder.shard = Some(Shard::parse(value)?),
        "INTERLEAVE_SHRINK" => {
            builder.shrink = match value.parse().ok()? {
                // Just to switch it on.
                1 => builder.shrink,
                executions => executions,
            };
            builder.shrink_replays = builder.shrink > 0;
        }
        "INTERLEAVE_FOCUS" => {
            builder.focus = value.split(',').map(|name| name.trim().to_owned()).collect();
            if builder.focus.iter().any(String::is_empty) {
                return None;
            }
        }
        "INTERLEAVE_STALE" => {
            builder.stale = match value {
                "warn" => Stale::Warn,
                "deny" => Stale::Deny,
                _ => return None,
            }
        }
        "INTERLEAVE_LEAKS" => builder.leaks = flag(value)?,
        "INTERLEAVE_REPAIR" => builder.repair = flag(value)?,
        // The report reads it itself.
        "INTERLEAVE_ASCII" => _ = flag(value)?,
        _ => {}
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<Builder, String> {
        let get =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        apply(Builder::new(), get, variables.iter().map(|(name, _)| OsString::from(name)))
    }

    fn file(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("interleave-environment-{}-{name}", std::process::id()))
    }

    #[test]
    fn every_knob_has_a_variable() {
        let builder = with(&[
            ("INTERLEAVE_MEMORY", "SC"),
            ("INTERLEAVE_PREEMPTIONS", "2"),
            ("INTERLEAVE_STALE_READS", "3"),
            ("INTERLEAVE_MAX_EXECUTIONS", "30"),
            ("INTERLEAVE_MAX_DURATION", "1.5"),
            ("INTERLEAVE_MAX_STEPS", "40"),
            ("INTERLEAVE_SPURIOUS", "0"),
            ("INTERLEAVE_SPIN_BUDGET", "7"),
            ("INTERLEAVE_CRASHES", "2"),
            ("INTERLEAVE_PID_REUSES", "3"),
            ("INTERLEAVE_CLOCK_MOVES", "4"),
            ("INTERLEAVE_STRATEGY", "random"),
            ("INTERLEAVE_SEED", "9"),
            ("INTERLEAVE_STACK_SIZE", "65536"),
            ("INTERLEAVE_LOG", "summary"),
            ("INTERLEAVE_FOCUS", "push, pop"),
            ("INTERLEAVE_SHRINK", "500"),
            ("INTERLEAVE_SHARD", "2/3"),
            ("INTERLEAVE_PROGRESS", file("progress").to_str().unwrap()),
            ("INTERLEAVE_CHECKPOINT", file("checkpoint").to_str().unwrap()),
            ("INTERLEAVE_WORKERS", "2"),
        ])
        .unwrap();
        std::fs::remove_file(file("progress")).unwrap();
        assert_eq!(builder.memory, Memory::Sc);
        assert_eq!(builder.preemption_bound, Some(2));
        assert_eq!(builder.stale_reads, Some(3));
        assert_eq!(builder.max_executions, Some(30));
        assert_eq!(builder.max_duration, Some(Duration::from_millis(1500)));
        assert_eq!((builder.max_steps, builder.spurious, builder.spin_budget), (40, 0, Some(7)));
        assert_eq!((builder.strategy, builder.seed), (Strategy::Random, 9));
        let budgets = builder.budgets;
        assert_eq!((budgets.crashes, budgets.pid_reuses, budgets.clock_moves), (2, 3, 4));
        assert_eq!((builder.stack_size, builder.summary), (65_536, true));
        assert_eq!((builder.shard, builder.workers), (Some(Shard { number: 2, of: 3 }), 2));
        assert_eq!(builder.checkpoint, Some(file("checkpoint")));
        assert_eq!((builder.shrink, builder.shrink_replays), (500, true));
        assert_eq!(builder.focus, ["push", "pop"]);
        assert_eq!(builder.progress, Some(file("progress")));
    }

    #[test]
    fn strategies_have_names() {
        let named = |name| with(&[("INTERLEAVE_STRATEGY", name)]).unwrap().strategy;
        assert_eq!(named("pct:3"), Strategy::Pct { depth: 3 });
        assert_eq!(
            (named("pos"), named("portfolio"), named("auto")),
            (Strategy::Pos, Strategy::Portfolio, Strategy::Auto)
        );
    }
}
