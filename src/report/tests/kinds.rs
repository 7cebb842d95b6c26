//! One report of each kind of failure.

use dpor::Role;

use super::build::*;
use super::{plain, report};
use crate::report::style::Style;
use crate::report::trace::{Effect, Failure, Found, MemoryNote, Trace};

pub(super) fn counter() -> Trace {
    let test = "tests/counter.rs";
    let (load, store) = (at("src/counter.rs", "n.$load(Acquire)"), at("src/counter.rs", "n.$store(v + 1"));
    let spawn = at(test, "thread::$spawn(&n");
    let steps = vec![
        step("●│ ", None, "spawn(inc-1)", Effect::None, spawn.clone()),
        step("●││", None, "spawn(inc-2)", Effect::None, spawn),
        step("○●│", Some(0), "load(Acquire)", read("0"), load.clone()).reads(0),
        step("○│●", Some(0), "load(Acquire)", read("0"), load).reads(0).preempts(1),
        step("○│●", Some(0), "store(1, Release)", write("0", "1"), store.clone()),
        step("○● ", Some(0), "store(1, Release)", write("1", "1"), store).overwrites(5),
        step("●  ", Some(0), "load(Relaxed)", read("1"), at(test, "n.$load(Relaxed)")).reads(6),
    ];
    let message = "assertion `left == right` failed\n  left: 2\n right: 1".to_owned();
    let failure = Failure::Panic { thread: 0, message, site: at(test, "$assert_eq!(2") };
    trace("two_increments", &["main", "inc-1", "inc-2"], vec![object("AtomicUsize")], steps, failure)
}

#[test]
fn panic() {
    insta::assert_snapshot!(plain(&counter()));
}

#[test]
fn panic_ascii() {
    let drawn = report(&counter(), &Style { ascii: true, ..Style::default() });
    assert!(drawn.is_ascii());
    insta::assert_snapshot!(drawn);
}

#[test]
fn panic_color() {
    let drawn = report(&counter(), &Style { color: true, ..Style::default() });
    insta::assert_snapshot!(drawn.replace('\x1b', "^"));
}

#[test]
fn panic_as_a_step() {
    let mut trace = counter();
    let panic = step("✗  ", None, "panic", text("left: 2, right: 1"), at("tests/counter.rs", "$assert_eq!(2"));
    trace.steps.push(panic);
    assert_eq!(plain(&trace), plain(&counter()));
}

pub(super) fn deadlock() -> Trace {
    let file = "tests/deadlock.rs";
    let acquired = || text("acquired");
    let steps = vec![
        step("●│", None, "spawn(back)", Effect::None, at(file, "$thread::spawn")),
        step("●│", Some(0), "lock", acquired(), at(file, "= from.$lock().unwrap();\n        let mut t"))
            .role(Role::Acquire),
        step("│●", Some(1), "lock", acquired(), at(file, "= to.$lock()")).role(Role::Acquire).preempts(0),
    ];
    let waiters = vec![
        waiter(0, "lock", Some(1), at(file, "to\n            .$lock()")).on(1, Some(3)),
        waiter(1, "lock", Some(0), at(file, "mut from = from.$lock()")).on(0, Some(2)),
    ];
    trace("transfer", &["main", "back"], vec![object("Mutex"), object("Mutex")], steps, Failure::Deadlock { waiters })
}

#[test]
fn deadlock_with_a_cycle() {
    insta::assert_snapshot!(plain(&deadlock()));
}

#[test]
fn deadlock_with_itself() {
    let file = "tests/deadlock.rs";
    let steps = vec![step("●", Some(0), "lock", text("acquired"), at(file, "first = m.$lock")).role(Role::Acquire)];
    let waiters = vec![waiter(0, "lock", Some(0), at(file, "second = m.$lock")).on(0, Some(1))];
    let mut trace = trace("again", &["main"], vec![object("Mutex")], steps, Failure::Deadlock { waiters });
    trace.found = Found { execution: 1, preemptions: Some(0), ..Found::default() };
    insta::assert_snapshot!(plain(&trace));
}

#[test]
fn deadlock_lost_wake_up() {
    let file = "tests/lost.rs";
    let steps = vec![
        step("●│", None, "spawn(consumer)", Effect::None, at(file, "$spawn(consumer)")),
        step("│●", Some(0), "lock", text("acquired"), at(file, "!*ready.$lock")).preempts(0),
        step("│●", Some(0), "unlock", Effect::None, at(file, "!*ready.$lock")),
        step("●│", Some(0), "lock", text("acquired"), at_nth(file, "*ready.$lock", 2)).preempts(1),
        step("●│", Some(0), "unlock", Effect::None, at_nth(file, "*ready.$lock", 2)),
        step("●│", Some(1), "notify_one", text("nobody waits"), at(file, "changed.$notify_one")).role(Role::Signal),
        step("○●", Some(0), "lock", text("acquired"), at(file, "guard = ready.$lock")),
        step("○●", Some(1), "wait", Effect::None, at(file, "changed.$wait")).role(Role::Wait),
        step("○●", Some(0), "unlock", Effect::None, at(file, "changed.$wait")),
    ];
    let waiters = vec![
        waiter(0, "join", None, at(file, "consumer.$join")).on(1, None),
        waiter(1, "wait", Some(1), at(file, "changed.$wait")).signalled(Role::Wait, Some(6)),
    ];
    let objects = vec![object("Mutex"), object("Condvar")];
    insta::assert_snapshot!(plain(&trace(
        "consumer",
        &["main", "consumer"],
        objects,
        steps,
        Failure::Deadlock { waiters }
    )));
}

#[test]
fn deadlock_never_signalled() {
    let file = "tests/lost.rs";
    let steps = vec![step("●│", None, "spawn(parker)", Effect::None, at(file, "$spawn(consumer)"))];
    let waiters = vec![
        waiter(0, "join", None, at(file, "consumer.$join")).on(1, None),
        waiter(1, "park", None, place("src/gone.rs", 7, 9)).signalled(Role::Wait, None),
    ];
    insta::assert_snapshot!(plain(&trace(
        "parks",
        &["main", "parker"],
        Vec::new(),
        steps,
        Failure::Deadlock { waiters }
    )));
}

#[test]
fn livelock() {
    let file = "tests/race.rs";
    let (load, spin) = (at_nth(file, "ready.$load(Acquire)", 2), at(file, "hint::$spin_loop"));
    let steps = vec![
        step("●│", None, "spawn(spinner)", Effect::None, at("tests/counter.rs", "thread::$spawn(&n")),
        step("○●", Some(0), "load(Acquire)", read("false"), load.clone()).reads(0),
        step("○●", None, "spin_loop", Effect::None, spin),
    ];
    let waiters = vec![
        waiter(0, "join", None, at("tests/counter.rs", "$drop(t)")).on(1, None),
        waiter(1, "load", Some(0), load).signalled(Role::Plain, None),
    ];
    insta::assert_snapshot!(plain(&trace(
        "spins",
        &["main", "spinner"],
        vec![object("AtomicBool")],
        steps,
        Failure::Livelock { waiters }
    )));
}

pub(super) fn race() -> Trace {
    let file = "tests/race.rs";
    let steps = vec![
        step("●│", None, "spawn(publisher)", Effect::None, at("tests/counter.rs", "thread::$spawn(&n")),
        step("│●", Some(0), "store(true, Relaxed)", write("false", "true"), at(file, "ready.$store")),
        step("● ", Some(0), "load(Acquire)", read("true"), at(file, "ready.$load")).reads(2),
    ];
    let failure = Failure::DataRace {
        object: 1,
        first: access(1, "write", at(file, "slot.$with_mut"), 0),
        second: access(0, "read", at(file, "slot.$with("), 3),
        missing: Some(
            "step 3 reads what step 2 stored, but step 2 is `Relaxed`; with `Release` it would order them".to_owned(),
        ),
    };
    let objects = vec![object("AtomicBool"), named("UnsafeCell", "slot")];
    let trace = trace("publish", &["main", "publisher"], objects, steps, failure);
    Trace { memory: Some(MemoryNote::OrderingCures), ..trace }
}

#[test]
fn data_race() {
    insta::assert_snapshot!(plain(&race()));
}

#[test]
fn data_race_that_no_ordering_cures() {
    let trace = Trace { memory: Some(MemoryNote::RacesWithEveryOrdering), ..race() };
    let report = plain(&trace);
    let line = report.lines().find(|line| line.contains("= memory: ")).map(str::trim_start);
    assert_eq!(line, Some("= memory: races with every ordering `SeqCst` too: the accesses need a lock or a wait"));
}

#[test]
fn data_race_in_two_files() {
    let mut trace = race();
    if let Failure::DataRace { first, missing, .. } = &mut trace.failure {
        *missing = None;
        *first = access(1, "drop", at("src/counter.rs", "n.$store"), 2);
    }
    insta::assert_snapshot!(plain(&trace));
}

#[test]
fn nondeterminism() {
    let mut trace = counter();
    trace.steps.truncate(4);
    trace.failure = Failure::Nondeterminism {
        thread: 1,
        recorded: ("n.store(1, Release)".to_owned(), at("src/counter.rs", "n.$store")),
        now: ("n.load(Acquire)".to_owned(), at("src/counter.rs", "n.$load")),
    };
    trace.memory = None;
    trace.verdict = String::new();
    insta::assert_snapshot!(plain(&trace));
}

#[test]
fn other_with_help() {
    let mut trace = counter();
    trace.steps.truncate(2);
    trace.failure = Failure::Other {
        code: "limit",
        message: "an execution took more than 10,000 steps".to_owned(),
        help: Some(
            "a loop that waits needs `hint::spin_loop()` in it; raise the limit with INTERLEAVE_MAX_STEPS".to_owned(),
        ),
        site: Some(at("src/counter.rs", "n.$load")),
    };
    trace.memory = None;
    trace.replay = None;
    insta::assert_snapshot!(plain(&trace));
}

#[test]
fn other_without_steps() {
    let mut trace = counter();
    trace.steps.clear();
    trace.failure = Failure::Other {
        code: "vacuous",
        message: "no two threads touched the same object".to_owned(),
        help: None,
        site: None,
    };
    trace.memory = None;
    trace.replay = None;
    trace.token = String::new();
    insta::assert_snapshot!(plain(&trace));
}

#[test]
fn weak_memory() {
    let file = "tests/race.rs";
    let steps = vec![
        step("●│", None, "spawn(publisher)", Effect::None, at("tests/counter.rs", "thread::$spawn(&n")),
        step("│●", Some(1), "store(42, Relaxed)", write("0", "42"), at(file, "*$p = 42")),
        step("│●", Some(0), "store(true, Relaxed)", write("false", "true"), at(file, "ready.$store")),
        step("● ", Some(0), "load(Acquire)", read("true"), at(file, "ready.$load")).reads(3),
        step("● ", Some(1), "load(Relaxed)", read("0"), at_nth(file, "slot.$with", 2)).reads(0).stale(2),
        step("● ", None, "fence(SeqCst)", Effect::None, at_nth(file, "slot.$with", 2)),
    ];
    let failure = Failure::Panic { thread: 0, message: "published, but 0".to_owned(), site: at(file, "$assert!") };
    let objects = vec![object("AtomicBool"), named("AtomicU64", "data")];
    let mut trace = trace("message", &["main", "publisher"], objects, steps, failure);
    trace.memory = Some(MemoryNote::NeedsWeakMemory);
    trace.found = Found { execution: 41_208, seed: Some(77), ..Found::default() };
    insta::assert_snapshot!(plain(&trace));
}
