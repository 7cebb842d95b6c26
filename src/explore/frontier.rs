//! A search in pieces: work is set apart until there is enough of it, always in the same way, and then explored piece by piece.
//!
//! Every process that runs the same program under the same configuration sets the same pieces apart. So one of several can
//! explore those whose fingerprints fall to it ([`Builder::shard`]), without a word to the others; and a file can say which
//! pieces are done ([`Builder::checkpoint`]).

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use dpor::{Ending, Stats, WorkItem};
use serde::{Deserialize, Serialize};

use super::Run;
use super::auto::sum;
use super::search::{Came, Explored, Hit, Job, judge};
use super::workers::{Ended, Start};
use crate::builder::Builder;
use crate::engine::{Engine, Learnt, Outcome, hook};
use crate::fiber::{self, Abandoned};
use crate::replay::crc32;

/// How many pieces there are at least, unless the model has fewer executions.
const PIECES: usize = 256;

/// How often a checkpoint is written.
const EVERY: Duration = Duration::from_secs(1);

/// What setting work apart has come to. The executions that it ran are none of the pieces'.
struct Frontier {
    explored: Explored,
    pieces: Vec<WorkItem>,
    /// Something was learnt that everything had to begin anew for.
    restarted: bool,
}

/// One process of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// From 1.
    pub(crate) number: u64,
    pub(crate) of: u64,
}

impl Shard {
    /// Reads `2/3`.
    pub(crate) fn parse(text: &str) -> Option<Shard> {
        let (number, of) = text.split_once('/')?;
        let (number, of) = (number.trim().parse().ok()?, of.trim().parse().ok()?);
        (1 <= number && number <= of).then_some(Shard { number, of })
    }

    fn has(self, fingerprint: u64) -> bool {
        fingerprint % self.of == self.number - 1
    }
}

impl Run<'_> {
    /// Refuses a checkpoint that cannot be used, before anything is run. `Err` is a sentence.
    pub(super) fn look_at_checkpoint(&self, builder: &Builder) -> Result<(), String> {
        let Some(path) = &builder.checkpoint else { return Ok(()) };
        Pages::read(path, &self.test, &builder.config(dpor::Strategy::Exhaustive, None)).map(drop)
    }

    /// Explores piece by piece.
    pub(super) fn run_pieces(&self, builder: &Builder, job: &Job, learnt: &[Learnt]) -> Result<Explored, Abandoned> {
        let Frontier { explored, pieces, restarted } = self.set_apart(builder, job, learnt)?;
        if explored.hit.is_some() || !explored.cut.is_empty() {
            return Ok(explored);
        }
        let shard = builder.shard.unwrap_or(Shard { number: 1, of: 1 });
        let mine: Vec<(u64, WorkItem)> =
            pieces.into_iter().map(|item| (item.fingerprint(), item)).filter(|(name, _)| shard.has(*name)).collect();
        let names: Vec<u64> = mine.iter().map(|(name, _)| *name).collect();
        let mut checkpoint = match &builder.checkpoint {
            Some(path) => Some(Checkpoint::open(path, &self.test, job, &names).map_err(Abandoned::because)?),
            None => None,
        };
        let done = checkpoint.as_ref().map_or_else(BTreeMap::new, |checkpoint| checkpoint.done.clone());
        // What setting apart has run is counted by the first shard.
        let mut stats = if shard.number == 1 { explored.stats } else { Stats::default() };
        stats = done.values().fold(stats, |total, tally| sum(total, tally.stats()));
        let (names, starts): (Vec<u64>, Vec<Start>) = mine
            .into_iter()
            .filter(|(name, _)| !done.contains_key(name))
            .map(|(name, item)| (name, Start::Item(Box::new(item))))
            .unzip();
        let writer = Mutex::new(checkpoint.take());
        let finished = |piece: usize, stats: Stats| {
            if let Some(checkpoint) = &mut *writer.lock().unwrap_or_else(|e| e.into_inner()) {
                checkpoint.add(names[piece], stats);
            }
        };
        let learnt = if restarted { &explored.learnt } else { learnt };
        let ended = self.run_by_workers(builder, job, learnt, starts, &finished)?;
        if let Some(checkpoint) = &mut *writer.lock().unwrap_or_else(|e| e.into_inner()) {
            checkpoint.write();
        }
        let share = builder.shard.map(|shard| format!("share {} of {}", shard.number, shard.of));
        match ended {
            Ended::Explored(mut rest) if rest.hit.is_none() && share.is_some() && shard.of > 1 => {
                rest.cut.extend(share);
                Ok(Explored {
                    stats: sum(stats, rest.stats),
                    met: explored.met || rest.met,
                    offered: explored.offered | rest.offered,
                    ..*rest
                })
            }
            Ended::Explored(rest) => Ok(Explored {
                stats: sum(stats, rest.stats),
                met: explored.met || rest.met,
                cut: rest.cut,
                hit: rest.hit,
                learnt: rest.learnt,
                offered: explored.offered | rest.offered,
                ..explored
            }),
            Ended::Restart(learnt) => self.run_pieces(builder, job, &learnt),
            Ended::Alone if builder.workers > 1 => {
                self.run_pieces(&Builder { workers: 1, ..builder.clone() }, job, learnt)
            }
            Ended::Alone => unreachable!("one worker shares nothing"),
        }
    }

    /// Runs executions, and sets apart what they have met, until there are enough pieces.
    fn set_apart(&self, builder: &Builder, job: &Job, learnt: &[Learnt]) -> Result<Frontier, Abandoned> {
        let work = || {
            let _hook = hook::install();
            let engine = self.engine(builder, job.config.clone(), learnt, None);
            engine.run(|| self.set_apart_with(&engine, job))
        };
        // SAFETY: as in `run_alone`.
        unsafe { fiber::run_on_worker(Some(&self.test), builder.max_pause, work) }
    }

    fn set_apart_with(&self, engine: &Engine, job: &Job) -> Frontier {
        let mut pieces: VecDeque<WorkItem> = VecDeque::new();
        let mut restarted = false;
        let mut hit: Option<Hit> = None;
        loop {
            match engine.next(self.body, self.site) {
                // It was inconsistent.
                None => {}
                Some(Outcome::Ended(Ending::Probe)) => continue,
                Some(outcome) => match judge(engine, outcome) {
                    Came::Hit(found) => {
                        hit = Some(*found);
                        break;
                    }
                    Came::Restart => {
                        engine.restart(job.config.clone());
                        pieces.clear();
                        restarted = true;
                        continue;
                    }
                    Came::Counted | Came::Nothing => {}
                },
            }
            pieces.extend(engine.explorer(|explorer| std::iter::from_fn(|| explorer.split()).collect::<Vec<_>>()));
            if pieces.len() >= PIECES {
                break;
            }
            let Some(next) = pieces.pop_front() else { break };
            engine.explorer(|explorer| explorer.adopt(next));
        }
        let explored = engine.explorer(|e| Explored {
            stats: *e.stats(),
            hit,
            learnt: engine.learnt(),
            offered: engine.offered(),
            met: e.threads_met(),
            ..Explored::default()
        });
        self.watchers.advance(explored.stats.executions);
        Frontier { explored, pieces: pieces.into(), restarted }
    }
}

/// What came of a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tally {
    executions: u64,
    deadlocks: u64,
    livelocks: u64,
    bounded: u64,
    pruned: u64,
    #[serde(default)]
    weak: u64,
    #[serde(default)]
    refused: u64,
    spin_cut: u64,
    steps: u64,
}

impl Tally {
    fn of(stats: Stats) -> Tally {
        let Stats { executions, deadlocks, livelocks, bounded, pruned, weak, refused, spin_cut, steps, .. } = stats;
        Tally { executions, deadlocks, livelocks, bounded, pruned, weak, refused, spin_cut, steps }
    }

    fn stats(self) -> Stats {
        let Tally { executions, deadlocks, livelocks, bounded, pruned, weak, refused, spin_cut, steps } = self;
        Stats { executions, deadlocks, livelocks, bounded, pruned, weak, refused, spin_cut, steps, ..Stats::default() }
    }
}

const FORMAT: &str = "interleave-checkpoint";
const VERSION: u32 = 2;

/// The file: for each bound (`none` if there is none), which pieces are done.
#[derive(Debug, Serialize, Deserialize)]
struct Pages {
    format: String,
    version: u32,
    test: String,
    configuration: String,
    bounds: BTreeMap<String, BTreeMap<String, Tally>>,
    /// Of `bounds` as JSON without blanks.
    checksum: String,
}

/// What every version of the format has.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

impl Pages {
    fn new(test: &str, configuration: &str) -> Pages {
        Pages {
            format: FORMAT.to_owned(),
            version: VERSION,
            test: test.to_owned(),
            configuration: configuration.to_owned(),
            bounds: BTreeMap::new(),
            checksum: String::new(),
        }
    }

    /// Reads the file, or begins a new one. `Err` is a sentence.
    fn read(path: &Path, test: &str, config: &dpor::Config) -> Result<Pages, String> {
        let shown = path.display().to_string();
        let refused = |what: String| format!("the checkpoint {shown:?} {what}; delete it to begin anew");
        let broken = |error: serde_json::Error| refused(format!("is damaged or no checkpoint: {error}"));
        let differs =
            |what: &str, there: &str, here: &str| refused(format!("is of another {what}, {there:?} and not {here:?}"));
        let configuration = format!(
            "{:?}, budgets {:?}, spins {} and {}",
            config.memory, config.budgets, config.spin_budget, config.await_budget
        );
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Pages::new(test, &configuration)),
            Err(error) => return Err(format!("the checkpoint {shown:?} cannot be read: {error}")),
        };
        let text =
            String::from_utf8(bytes).map_err(|_| refused("is damaged or no checkpoint: it is not UTF-8".to_owned()))?;
        let head: Head = serde_json::from_str(&text).map_err(broken)?;
        if head.format != FORMAT || head.version != VERSION {
            let (there, here) = (format!("{} {}", head.format, head.version), format!("{FORMAT} {VERSION}"));
            return Err(differs("format", &there, &here));
        }
        let pages: Pages = serde_json::from_str(&text).map_err(broken)?;
        if pages.test != test {
            return Err(differs("test", &pages.test, test));
        }
        if pages.configuration != configuration {
            return Err(differs("configuration", &pages.configuration, &configuration));
        }
        if pages.checksum != pages.sum() {
            return Err(refused("is damaged: its checksum is not that of its content".to_owned()));
        }
        Ok(pages)
    }

    fn sum(&self) -> String {
        let content = serde_json::to_string(&self.bounds).expect("maps of strings and numbers are JSON");
        format!("{:08x}", crc32(content.as_bytes()))
    }
}

/// The pieces of one exploration that are done.
#[derive(Debug)]
struct Checkpoint {
    path: std::path::PathBuf,
    pages: Pages,
    bound: String,
    done: BTreeMap<u64, Tally>,
    written: Instant,
}

impl Checkpoint {
    /// Reads the file, or begins a new one. `Err` is a sentence.
    fn open(path: &Path, test: &str, job: &Job, pieces: &[u64]) -> Result<Checkpoint, String> {
        let pages = Pages::read(path, test, &job.config)?;
        let shown = path.display().to_string();
        let named = |bound: Option<u32>| bound.map_or_else(|| "none".to_owned(), |bound| bound.to_string());
        let bound = match job.config.stale {
            None => named(job.config.preemptions),
            stale => format!("{}, {} stale", named(job.config.preemptions), named(stale)),
        };
        let mut done = BTreeMap::new();
        for (name, tally) in pages.bounds.get(&bound).into_iter().flatten() {
            let known = u64::from_str_radix(name, 16).ok().filter(|name| pieces.contains(name));
            let name = known.ok_or_else(|| {
                format!(
                    "the checkpoint {shown:?} has work that this program does not have: the program or the shard has \
                     changed; delete it to begin anew"
                )
            })?;
            done.insert(name, *tally);
        }
        let mut checkpoint = Checkpoint { path: path.to_path_buf(), pages, bound, done, written: Instant::now() };
        checkpoint.try_write().map_err(|error| format!("the checkpoint {shown:?} cannot be written: {error}"))?;
        Ok(checkpoint)
    }

    fn add(&mut self, piece: u64, stats: Stats) {
        let page = self.pages.bounds.entry(self.bound.clone()).or_default();
        page.insert(format!("{piece:016x}"), Tally::of(stats));
        if self.written.elapsed() >= EVERY {
            self.write();
        }
    }

    fn write(&mut self) {
        self.written = Instant::now();
        // It could be written before; if it cannot be any more, work is lost and nothing else.
        if let Err(error) = self.try_write() {
            eprintln!("the checkpoint {:?} cannot be written: {error}", self.path.display());
        }
    }

    fn try_write(&mut self) -> std::io::Result<()> {
        self.pages.checksum = self.pages.sum();
        let temporary = self.path.with_extension(format!("{}.tmp", std::process::id()));
        let text = serde_json::to_string_pretty(&self.pages).expect("maps of strings and numbers are JSON");
        std::fs::write(&temporary, text + "\n")?;
        std::fs::rename(&temporary, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_fractions() {
        assert_eq!(Shard::parse("2/3"), Some(Shard { number: 2, of: 3 }));
        for wrong in ["0/3", "4/3", "1", "1/0", "a/b", "-1/2", ""] {
            assert_eq!(Shard::parse(wrong), None, "{wrong}");
        }
    }
}
