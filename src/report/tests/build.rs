//! Hand-made traces.

use dpor::Role;

use crate::report::trace::{
    Effect, Failure, Found, Mark, MemoryNote, Object, Place, RacyAccess, ReadsFrom, Step, Thread, Trace, Waiter,
};

/// The folder that plays the root of the workspace.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/report/testdata");

/// The place of `needle` in a fixture: the column of the `$` in it. Of several, the `nth` from 1.
pub(crate) fn at_nth(file: &str, needle: &str, nth: usize) -> Place {
    let text = std::fs::read_to_string(format!("{ROOT}/{file}")).expect("the fixture exists");
    let mark = needle.find('$').expect("a mark");
    let plain = needle.replacen('$', "", 1);
    let (start, _) = text.match_indices(&plain).nth(nth - 1).unwrap_or_else(|| panic!("no {needle} in {file}"));
    let before = &text[..start + mark];
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    Place { file: file.to_owned(), line: before.matches('\n').count() as u32 + 1, column: column as u32 }
}

pub(crate) fn at(file: &str, needle: &str) -> Place {
    at_nth(file, needle, 1)
}

pub(crate) fn place(file: &str, line: u32, column: u32) -> Place {
    Place { file: file.to_owned(), line, column }
}

pub(crate) fn thread(name: &str) -> Thread {
    let spawned = (name != "main").then(|| at("tests/counter.rs", "thread::$spawn(&n, name)"));
    Thread { name: Some(name.to_owned()), spawned, process: None }
}

pub(crate) fn object(family: &'static str) -> Object {
    Object { family, name: None, created: Some(place("tests/counter.rs", 21, 22)) }
}

pub(crate) fn named(family: &'static str, name: &str) -> Object {
    Object { family, name: Some(name.to_owned()), created: None }
}

pub(crate) fn marks(text: &str) -> Vec<Mark> {
    let mark = |c| match c {
        '●' => Mark::Steps,
        '│' => Mark::CouldRun,
        '○' => Mark::Blocked,
        '✗' => Mark::Fails,
        ' ' => Mark::Absent,
        other => panic!("not a mark: {other}"),
    };
    text.chars().map(mark).collect()
}

/// A step of the thread that `shown` marks with `●` or `✗`. `call` is `method` or `method(arguments)`.
pub(crate) fn step(shown: &str, object: Option<usize>, call: &'static str, effect: Effect, site: Place) -> Step {
    let (method, arguments) = call.split_once('(').unwrap_or((call, ""));
    let marks = marks(shown);
    Step {
        thread: marks.iter().position(|mark| matches!(mark, Mark::Steps | Mark::Fails)).expect("somebody steps"),
        object,
        method,
        arguments: arguments.trim_end_matches(')').to_owned(),
        role: Role::Plain,
        effect,
        reads: None,
        overwrites: None,
        site,
        time: None,
        preempts: None,
        marks,
    }
}

impl Step {
    pub(crate) fn reads(self, step: usize) -> Step {
        let step = (step > 0).then_some(step);
        Step { reads: Some(ReadsFrom { step, stale: None }), ..self }
    }

    pub(crate) fn stale(self, newest: usize) -> Step {
        let step = self.reads.and_then(|reads| reads.step);
        Step { reads: Some(ReadsFrom { step, stale: Some(newest) }), ..self }
    }

    pub(crate) fn overwrites(self, step: usize) -> Step {
        Step { overwrites: Some(step), ..self }
    }

    pub(crate) fn preempts(self, thread: usize) -> Step {
        Step { preempts: Some(thread), ..self }
    }

    pub(crate) fn role(self, role: Role) -> Step {
        Step { role, ..self }
    }
}

pub(crate) fn read(value: &str) -> Effect {
    Effect::Read(value.to_owned())
}

pub(crate) fn write(from: &str, to: &str) -> Effect {
    Effect::Write { from: from.to_owned(), to: to.to_owned() }
}

pub(crate) fn text(text: &str) -> Effect {
    Effect::Text(text.to_owned())
}

pub(crate) fn waiter(thread: usize, method: &'static str, object: Option<usize>, site: Place) -> Waiter {
    Waiter {
        thread,
        method,
        object,
        waits_for: Vec::new(),
        role: Role::Acquire,
        last_signal: None,
        ends: Vec::new(),
        site,
    }
}

impl Waiter {
    pub(crate) fn on(mut self, thread: usize, step: Option<usize>) -> Waiter {
        self.waits_for.push((thread, step));
        self
    }

    pub(crate) fn signalled(self, role: Role, step: Option<usize>) -> Waiter {
        Waiter { role, last_signal: step, ..self }
    }
}

pub(crate) fn access(thread: usize, what: &str, site: Place, after_step: usize) -> RacyAccess {
    RacyAccess { thread, what: what.to_owned(), site, after_step }
}

pub(crate) fn trace(test: &str, threads: &[&str], objects: Vec<Object>, steps: Vec<Step>, failure: Failure) -> Trace {
    Trace {
        test: test.to_owned(),
        threads: threads.iter().map(|name| thread(name)).collect(),
        objects,
        steps,
        failure,
        found: Found { execution: 4, preemptions: Some(1), fewer: vec![2], ..Found::default() },
        memory: Some(MemoryNote::FailsUnderSc),
        verdict: "failed: 4 executions (0 blocked), RC11, spurious <= 1".to_owned(),
        replay: Some(format!("target/interleave/counter--{test}.il")),
        command: format!("cargo test {test}"),
        token: format!("il1:{test}:AQQAAgIBAQA"),
    }
}
