//! From an execution to its replay file, and back.

use std::path::Path;

use dpor::{Decision, EventId, Memory, Schedule, ThreadId};

use crate::budgets::Budgets;
use crate::builder::Builder;
use crate::record::{Chronicle, Operation};
use crate::replay::{self, Configuration, FailureNote, Provenance, Record, Recording};
use crate::report::trace::{self, Object, Place, Trace};
use crate::report::{culprit, full, notes};

/// The schedule of everything that the current execution has performed, in its order.
pub(super) fn performed(explorer: &dpor::Explorer) -> Schedule {
    let graph = explorer.graph();
    let order: Vec<EventId> = (0..graph.len() as u32).map(EventId).collect();
    Schedule::of(graph, &order)
}

pub(super) fn decisions(schedule: &Schedule) -> Vec<replay::Decision> {
    let convert =
        |d: &Decision| replay::Decision { thread: d.thread.0, read: d.read, place: d.place, choice: d.choice };
    schedule.decisions.iter().map(convert).collect()
}

pub(super) fn schedule(decisions: &[replay::Decision]) -> Schedule {
    let convert =
        |d: &replay::Decision| Decision { thread: ThreadId(d.thread), read: d.read, place: d.place, choice: d.choice };
    Schedule { decisions: decisions.iter().map(convert).collect() }
}

fn configuration(builder: &Builder) -> Configuration {
    Configuration {
        memory: match builder.memory {
            Memory::Sc => "SC".to_owned(),
            Memory::Rc11 => "RC11".to_owned(),
        },
        spurious: builder.spurious,
        crashes: builder.budgets.crashes,
        pid_reuse: builder.budgets.pid_reuses,
        clock: builder.budgets.clock_moves,
        spin_budget: builder.spin_budget,
        preemption_bound: builder.preemption_bound,
        max_steps: builder.max_steps,
    }
}

/// `builder` with what the recording ran under.
pub(super) fn configured(builder: &Builder, recording: &Recording) -> Builder {
    let c = &recording.configuration;
    Builder {
        memory: if c.memory == "SC" { Memory::Sc } else { Memory::Rc11 },
        spurious: c.spurious,
        budgets: Budgets { crashes: c.crashes, pid_reuses: c.pid_reuse, clock_moves: c.clock },
        spin_budget: c.spin_budget,
        max_steps: c.max_steps,
        ..builder.clone()
    }
}

/// What the replay file of `trace` has.
pub(super) fn recording(
    builder: &Builder,
    program: &str,
    schedule: &Schedule,
    trace: &Trace,
    chronicle: &Chronicle,
    code: &str,
    report: &str,
) -> Recording {
    let notes = notes(trace, chronicle);
    let (thread, place) = culprit(&trace.failure);
    let record = |(index, decision): (usize, replay::Decision)| {
        let operation = chronicle.operations.get(index);
        let path = chronicle.paths.get(decision.thread as usize);
        let text = |f: &dyn Fn(&Operation) -> String| operation.map_or_else(String::new, f);
        Record {
            thread: path.cloned().unwrap_or_default(),
            operation: operation.map_or("unknown", |o| o.method).to_owned(),
            object: text(&|o| o.object.map_or_else(String::new, |object| trace.objects[object].family.to_owned())),
            on: operation.and_then(|o| o.object),
            place: text(&|o| full(&o.site)),
            decision,
            alternatives: operation.map_or(1, |o| o.alternatives),
            step: operation.and_then(|o| o.step).and_then(|step| notes.steps.get(step - 1)).cloned(),
        }
    };
    let mut recording = Recording {
        test: trace.test.clone(),
        program: program.to_owned(),
        command: trace.command.clone(),
        failure: FailureNote {
            code: code.to_owned(),
            message: message_of(&trace.failure),
            thread,
            place,
            preemptions: trace.found.preemptions,
        },
        configuration: configuration(builder),
        provenance: Provenance::default(),
        records: decisions(schedule).into_iter().enumerate().map(record).collect(),
        threads: notes.threads,
        objects: notes.objects,
        report: report.to_owned(),
    };
    recording.stamp(&std::env::current_dir().unwrap_or_else(|_| Path::new("").to_owned()));
    recording
}

/// What a run has performed, for the comparison with a recording.
pub(super) fn comparable(chronicle: (&[Operation], &[Object]), paths: &[String]) -> Vec<replay::Performed> {
    let (operations, objects) = chronicle;
    let place = |place: &Place| full(place);
    let one = |o: &Operation| replay::Performed {
        thread: paths.get(o.thread).cloned().unwrap_or_default(),
        number: o.thread as u32,
        operation: o.method.to_owned(),
        object: o.object.map_or_else(String::new, |object| objects[object].family.to_owned()),
        on: o.object,
        place: place(&o.site),
    };
    operations.iter().map(one).collect()
}

pub(super) fn message_of(failure: &trace::Failure) -> String {
    match failure {
        trace::Failure::Panic { message, .. } | trace::Failure::Other { message, .. } => message.clone(),
        trace::Failure::Deadlock { .. } => "deadlock".to_owned(),
        trace::Failure::Livelock { .. } => "livelock".to_owned(),
        trace::Failure::DataRace { .. } => "data race".to_owned(),
        trace::Failure::Nondeterminism { .. } => "the program does not repeat itself".to_owned(),
    }
}
