//! Why nothing could go on, or why two accesses race: the block below the table.

use super::headline::spins;
use super::measure::{pad, width, wrap};
use super::names::Names;
use super::source::shown;
use super::style::{Style, Tone};
use super::trace::{End, Failure, Place, RacyAccess, Trace, Waiter, initialises};
use super::wait_for;

/// Where the texts of the blocks at the end of a report start.
pub(crate) const LABEL: usize = 11;
/// Ends of a channel that are named.
const ENDS: usize = 3;
/// Threads that are explained one by one.
const EXPLAINED: usize = 6;

/// The lines of the block; none if the table says it all.
pub(crate) fn why(trace: &Trace, names: &Names, style: &Style) -> Vec<String> {
    let story = Story { trace, names, style };
    let entries = match &trace.failure {
        Failure::Deadlock { waiters } => story.deadlock(waiters),
        Failure::Livelock { waiters } => story.livelock(waiters),
        Failure::DataRace { object, first, second, missing } => story.race(*object, first, second, missing.as_deref()),
        Failure::Nondeterminism { thread, .. } => vec![Entry::Sentence(format!(
            "the same decisions made {} do something else: an execution depends on something besides the order of steps",
            names.threads[*thread]
        ))],
        Failure::Panic { .. } | Failure::Other { .. } => Vec::new(),
    };
    layout(entries, style)
}

/// A part of an explanation.
enum Entry {
    Sentence(String),
    /// What is to be said about one thread.
    Thread(String, Vec<String>),
}

fn layout(entries: Vec<Entry>, style: &Style) -> Vec<String> {
    let ellipsis = style.glyphs().ellipsis;
    let head = |entry: &Entry| if let Entry::Thread(name, _) = entry { width(name) } else { 0 };
    let names = entries.iter().map(head).max().unwrap_or(0).min(style.width / 5);
    let mut out = Vec::new();
    for entry in entries {
        let (name, texts, at) = match entry {
            Entry::Sentence(text) => (String::new(), vec![text], LABEL),
            Entry::Thread(name, texts) => {
                (super::measure::fit_middle(&name, names, ellipsis), texts, LABEL + names + 3)
            }
        };
        let lines = texts.iter().flat_map(|text| wrap(text, style.width - at, ellipsis));
        for (index, line) in lines.enumerate() {
            let label = if out.is_empty() { "why" } else { "" };
            let name = if index == 0 { name.as_str() } else { "" };
            let label = style.paint(Tone::Strong, &pad(&format!("  {label}"), LABEL));
            let text = format!("{label}{}{line}", pad(name, at - LABEL));
            out.push(text.trim_end().to_owned());
        }
    }
    out
}

struct Story<'a> {
    trace: &'a Trace,
    names: &'a Names,
    style: &'a Style,
}

impl Story<'_> {
    fn deadlock(&self, waiters: &[Waiter]) -> Vec<Entry> {
        let cycle = wait_for::cycle(waiters);
        let head = match cycle.is_empty() {
            true => self.nobody_comes(waiters),
            false => self.circle(&cycle),
        };
        // The threads of the cycle in its order, then those that merely wait for one of them.
        let mut told: Vec<&Waiter> =
            cycle.iter().filter_map(|thread| waiters.iter().find(|waiter| waiter.thread == *thread)).collect();
        told.extend(waiters.iter().filter(|waiter| !cycle.contains(&waiter.thread)));
        let mut entries = vec![Entry::Sentence(head)];
        entries.extend(
            told.iter().take(EXPLAINED).map(|waiter| Entry::Thread(self.thread(waiter.thread), self.waits(waiter))),
        );
        entries.extend(self.rest(&told));
        entries
    }

    fn rest(&self, told: &[&Waiter]) -> Option<Entry> {
        let more: Vec<String> = told.iter().skip(EXPLAINED).map(|waiter| self.thread(waiter.thread)).collect();
        (!more.is_empty()).then(|| Entry::Sentence(format!("also waiting: {}", more.join(", "))))
    }

    /// `main waits for inc-1, inc-1 for inc-2, inc-2 for main`.
    fn circle(&self, cycle: &[usize]) -> String {
        let [only] = cycle else {
            let next = cycle.iter().cycle().skip(1);
            let links = cycle.iter().zip(next).map(|(from, to)| (self.thread(*from), self.thread(*to)));
            let text = |(index, (from, to)): (usize, (String, String))| {
                if index == 0 { format!("{from} waits for {to}") } else { format!("{from} for {to}") }
            };
            return links.enumerate().map(text).collect::<Vec<_>>().join(", ");
        };
        format!("{} waits for itself", self.thread(*only))
    }

    fn nobody_comes(&self, waiters: &[Waiter]) -> String {
        let roots: Vec<String> = waiters
            .iter()
            .filter(|waiter| waiter.waits_for.is_empty())
            .map(|waiter| self.thread(waiter.thread))
            .collect();
        let whom = if roots.is_empty() { "them".to_owned() } else { roots.join(" or ") };
        match waiters.len() == self.trace.threads.len() {
            true => format!("nobody is left who could wake {whom}: all threads wait"),
            false => format!("nobody is left who could wake {whom}: the threads that do not wait have ended"),
        }
    }

    fn waits(&self, waiter: &Waiter) -> Vec<String> {
        let at = self.place(&waiter.site);
        let operation = self.names.operation(waiter.method, waiter.object, &waiter.site);
        if waiter.method == "join" {
            let whom: Vec<String> = waiter.waits_for.iter().map(|(thread, _)| self.thread(*thread)).collect();
            return vec![format!("waits for the end of {} at {at}", whom.join(", "))];
        }
        let mut texts = vec![format!("waits in `{operation}` at {at}")];
        let object = waiter.object.map_or_else(|| "it".to_owned(), |object| format!("`{}`", self.names.object(object)));
        let held = |(thread, step): &(usize, Option<usize>)| self.held(&object, waiter.thread, *thread, *step);
        texts.extend(waiter.waits_for.iter().map(held));
        if waiter.waits_for.is_empty() {
            texts.push(self.no_signal(waiter, &object));
        }
        texts.extend(waiter.ends.iter().take(ENDS).map(|end| self.end(end, &object)));
        if waiter.ends.len() > ENDS {
            texts.push(format!("and {} more", waiter.ends.len() - ENDS));
        }
        texts
    }

    /// Who has the other end of a channel.
    fn end(&self, end: &End, object: &str) -> String {
        let user = match end.user {
            Some(user) => format!("{} was the last to use it", self.thread(user)),
            None => "nobody has used it".to_owned(),
        };
        format!("the {} of {object} made at {} is still there; {user}", end.what, self.place(&end.created))
    }

    fn held(&self, object: &str, waiter: usize, owner: usize, step: Option<usize>) -> String {
        let who = if waiter == owner { "this thread itself".to_owned() } else { self.thread(owner) };
        match step.and_then(|step| Some((step, self.trace.steps.get(step.checked_sub(1)?)?))) {
            Some((number, step)) => {
                let family = step.object.map_or("", |object| self.trace.objects[object].family);
                let verb = if initialises(family) { "initialised" } else { "held" };
                format!("{object} is {verb} by {who} since step {number} at {}", self.place(&step.site))
            }
            None => format!("only {who} could let it go on"),
        }
    }

    /// Why the signal that the thread waits for does not come.
    fn no_signal(&self, waiter: &Waiter, object: &str) -> String {
        let signal =
            waiter.last_signal.and_then(|number| Some((number, self.trace.steps.get(number.checked_sub(1)?)?)));
        let Some((number, signal)) = signal else {
            if waiter.method.starts_with("park") {
                return "nothing unparks it in this execution".to_owned();
            }
            return format!("nothing signals {object} in this execution");
        };
        let (method, who) = (signal.method, self.thread(signal.thread));
        let own = |step: &super::trace::Step| step.thread == waiter.thread && step.object == waiter.object;
        let begun = self.trace.steps.iter().rposition(own).map(|index| index + 1).filter(|step| *step > number);
        let condvar = waiter.object.is_some_and(|object| self.trace.objects[object].family == "Condvar");
        match begun {
            Some(step) if condvar => {
                format!("the last `{method}` was step {number} by {who}, before the wait at step {step}: lost wake-up")
            }
            Some(step) => format!("the last `{method}` was step {number} by {who}, and step {step} has used it up"),
            None => format!("the last `{method}` was step {number} by {who}, and it did not wake this thread"),
        }
    }

    fn livelock(&self, waiters: &[Waiter]) -> Vec<Entry> {
        let told: Vec<&Waiter> = waiters.iter().collect();
        let head =
            "the threads that spin read the newest values, and no thread is left that could change them".to_owned();
        let mut entries = vec![Entry::Sentence(head)];
        entries.extend(
            told.iter().take(EXPLAINED).map(|waiter| Entry::Thread(self.thread(waiter.thread), self.spins(waiter))),
        );
        entries.extend(self.rest(&told));
        entries
    }

    fn spins(&self, waiter: &Waiter) -> Vec<String> {
        if !spins(waiter) {
            return self.waits(waiter);
        }
        // What it spins on is what it read last; `spin_loop` itself has no object.
        let object = waiter.object.filter(|_| !["spin_loop", "yield_now", "spin", "snooze"].contains(&waiter.method));
        let operation = self.names.operation(waiter.method, object, &waiter.site);
        let mut texts = vec![format!("spins in `{operation}` at {}", self.place(&waiter.site))];
        let read = self.trace.steps.iter().rposition(|step| step.thread == waiter.thread && step.reads.is_some());
        texts.extend(read.map(|index| {
            let step = &self.trace.steps[index];
            let source = step
                .reads
                .and_then(|reads| reads.step)
                .map_or("the initial value".to_owned(), |step| format!("what step {step} wrote"));
            format!("it last read {source}: step {}, `{}`", index + 1, self.names.call(step))
        }));
        texts
    }

    fn race(&self, object: usize, first: &RacyAccess, second: &RacyAccess, missing: Option<&str>) -> Vec<Entry> {
        let position = |access: &RacyAccess| match access.after_step {
            0 => "before its first step".to_owned(),
            step => format!("after step {step}"),
        };
        let describe = |access: &RacyAccess| {
            format!("the {} by {} ({})", self.style.user(&access.what), self.thread(access.thread), position(access))
        };
        let head = format!(
            "{} and {} touch `{}`, and nothing orders one before the other",
            describe(first),
            describe(second),
            self.names.object(object)
        );
        let mut entries = vec![Entry::Sentence(head)];
        entries.extend(missing.map(|text| Entry::Sentence(format!("the missing edge: {}", self.style.user(text)))));
        entries
    }

    fn thread(&self, thread: usize) -> String {
        self.names.threads[thread].clone()
    }

    fn place(&self, place: &Place) -> String {
        self.style.user(&shown(place))
    }
}
