//! What a replay file has for people, from the same texts as the report.

use dpor::Role;

use super::names::Names;
use super::rows::Writer;
use super::source::{Sources, shown};
use super::style::Style;
use super::trace::{Failure, Mark, Place, Step, Thread, Trace};
use crate::record::{Chronicle, Links};
use crate::replay::{ObjectNote, StepNote, ThreadNote};

/// The threads, objects and steps of a trace.
pub(crate) struct Notes {
    /// One a thread.
    pub(crate) threads: Vec<ThreadNote>,
    /// One an object.
    pub(crate) objects: Vec<ObjectNote>,
    /// One a step.
    pub(crate) steps: Vec<StepNote>,
}

/// The notes of `trace`.
pub(crate) fn notes(trace: &Trace, chronicle: &Chronicle) -> Notes {
    let style = Style::default();
    let names = Names::new(trace, &style, &Sources::new());
    let writer = Writer::new(trace, &names, &style);
    let thread = |(index, thread): (usize, &Thread)| ThreadNote {
        path: chronicle.paths.get(index).cloned().unwrap_or_default(),
        name: names.threads.get(index).cloned().unwrap_or_default(),
        spawned: thread.spawned.as_ref().map(full),
        process: names.processes.get(index).cloned().flatten(),
    };
    let objects = trace.objects.iter().enumerate().map(|(index, object)| ObjectNote {
        name: names.object(index),
        family: object.family.to_owned(),
        created: object.created.as_ref().map(full),
    });
    let none = Links::default();
    let steps = trace.steps.iter().enumerate().map(|(index, step)| {
        let links = chronicle.links.get(index).unwrap_or(&none);
        StepNote {
            call: names.call(step),
            effect: writer.effect(&step.effect).unwrap_or_default(),
            role: role(step.role).to_owned(),
            reads: step.reads.map(|reads| reads.step.unwrap_or(0)),
            stale: step.reads.and_then(|reads| reads.stale),
            overwrites: step.overwrites,
            preempts: step.preempts,
            after: links.after.clone(),
            from: links.from.filter(|_| step.reads.is_none()),
            marks: marks(step),
        }
    });
    Notes {
        threads: trace.threads.iter().enumerate().map(thread).collect(),
        objects: objects.collect(),
        steps: steps.collect(),
    }
}

/// The thread that a failure happened to, and where, if it is one thread and one place.
pub(crate) fn culprit(failure: &Failure) -> (Option<usize>, Option<String>) {
    match failure {
        Failure::Panic { thread, site, .. } => (Some(*thread), Some(full(site))),
        Failure::DataRace { second, .. } => (Some(second.thread), Some(full(&second.site))),
        Failure::Nondeterminism { thread, now, .. } => (Some(*thread), Some(full(&now.1))),
        Failure::Other { site, .. } => (None, site.as_ref().map(full)),
        Failure::Deadlock { .. } | Failure::Livelock { .. } => (None, None),
    }
}

/// `file:line:column`, with the file as the compiler names it, so that it can be opened.
pub(crate) fn full(place: &Place) -> String {
    match place.file.contains("/registry/src/") || place.file.contains("/rustc/") {
        true => shown(place),
        false => format!("{}:{}:{}", place.file, place.line, place.column),
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Plain | Role::Elapsed => "",
        Role::Acquire => "acquire",
        Role::Share => "share",
        Role::Announce => "announce",
        Role::Release => "release",
        Role::Wait => "wait",
        Role::Signal => "signal",
    }
}

fn marks(step: &Step) -> String {
    let sign = |mark: &Mark| match mark {
        Mark::Absent => ' ',
        Mark::Steps => '*',
        Mark::CouldRun => '|',
        Mark::Blocked => 'o',
        Mark::Fails => 'x',
    };
    step.marks.iter().map(sign).collect::<String>().trim_end().to_owned()
}
