//! Reports of unusual shape: narrow, many threads, long, hostile.

use dpor::Role;

use super::build::*;
use super::kinds::{counter, deadlock, race};
use super::{plain, report};
use crate::report::style::Style;
use crate::report::trace::{Effect, Failure, Object, Place, Step, Trace};

const FILE: &str = "tests/many.rs";

fn panics(thread: usize, message: &str) -> Failure {
    Failure::Panic { thread, message: message.to_owned(), site: at(FILE, "$panic!") }
}

#[test]
fn narrow_terminal() {
    let narrow = Style { width: 60, ..Style::default() };
    let all = [counter(), deadlock(), race()].map(|trace| report(&trace, &narrow));
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn any_width_holds() {
    for width in 40..=120 {
        for ascii in [false, true] {
            let style = Style { width, ascii, ..Style::default() };
            // The commands are copied and pasted: they are not shortened.
            for trace in [counter(), deadlock(), race(), crowd(8), long(300), names()] {
                let quiet = Trace { replay: None, command: String::new(), token: String::new(), ..trace };
                report(&quiet, &style);
            }
        }
    }
}

/// `threads` threads that add to one counter.
fn crowd(threads: usize) -> Trace {
    let names: Vec<String> = (0..threads).map(|n| if n == 0 { "main".into() } else { format!("worker-{n}") }).collect();
    let shown = |active: usize| -> String { (0..threads).map(|n| if n == active { '●' } else { '│' }).collect() };
    let add = |n: usize| {
        step(
            &shown(n),
            Some(0),
            "fetch_add(1, Relaxed)",
            write(&n.to_string(), &(n + 1).to_string()),
            at(FILE, "seen.$fetch_add"),
        )
    };
    let steps: Vec<Step> =
        (0..threads).map(|n| if n > 2 { add(n).preempts(n - 1).reads(n) } else { add(n).reads(n) }).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    trace("crowd", &names, vec![object("AtomicU64")], steps, panics(threads - 1, "too many"))
}

#[test]
fn eight_threads() {
    insta::assert_snapshot!(plain(&crowd(8)));
}

#[test]
fn fourteen_threads() {
    insta::assert_snapshot!(plain(&crowd(14)));
}

#[test]
fn forty_threads() {
    insta::assert_snapshot!(plain(&crowd(40)));
}

/// Two threads take turns on a counter and a socket, `steps` times in all, never twice in the same way.
fn long(steps: usize) -> Trace {
    let one = |n: usize| {
        let shown = ["●│", "│●"][n / 3 % 2];
        let effect = write(&n.to_string(), &(n + 1).to_string());
        let step = match n * n % 7 {
            0 | 1 => step(shown, Some(1), "accept", text("WouldBlock"), at(FILE, "listener.$accept")),
            2 => step(shown, Some(0), "compare_exchange(0, 1)", cas(false), at(FILE, "COUNT.$compare")).reads(n),
            _ => step(shown, Some(0), "fetch_add(1, Relaxed)", effect, at(FILE, "seen.$fetch_add")).reads(n),
        };
        if n % 9 == 3 { step.preempts(0) } else { step }
    };
    let mut steps: Vec<Step> = (0..steps).map(one).collect();
    steps[41] =
        step("●│", Some(2), "load(Relaxed)", read("false"), at("tests/race.rs", "ready.$load")).reads(12).stale(33);
    steps[32] =
        step("│●", Some(2), "store(true, Relaxed)", write("false", "true"), at("tests/race.rs", "ready.$store"));
    steps[11] = steps[32].clone();
    let objects = vec![named("AtomicU64", "seen"), named("UnixListener", "/run/hub.sock"), object("AtomicBool")];
    trace("long", &["main", "worker"], objects, steps, panics(1, "too many"))
}

#[test]
fn three_hundred_steps() {
    insta::assert_snapshot!(plain(&long(300)));
}

#[test]
fn local_steps_and_iterations() {
    let seen = |n: usize| at_nth(FILE, "seen.$fetch_add", n);
    let spin = |value: &str| {
        let load =
            step("│●", Some(0), "load(Acquire)", read(value), at("tests/race.rs", "while !ready.$load")).reads(1);
        [load, step("│●", None, "spin_loop", Effect::None, at("tests/race.rs", "hint::$spin_loop"))]
    };
    let mut steps =
        vec![step("●│", Some(0), "store(0, Relaxed)", write("9", "0"), at("tests/race.rs", "ready.$store"))];
    steps.extend((0..38).flat_map(|_| spin("0")));
    for n in 0..14 {
        let site = Place { line: 3 + n % 5, ..seen(1) };
        steps.push(step("●│", Some(1), "fetch_add(1, Relaxed)", write("1", "2"), site));
    }
    steps.push(step("●│", Some(0), "store(1, Release)", write("0", "1"), at("tests/race.rs", "ready.$store")));
    steps.extend(spin("1").into_iter().take(1));
    for n in 0..9 {
        steps.push(step(
            "│●",
            Some(0),
            "fetch_add(1, Relaxed)",
            write(&n.to_string(), &(n + 1).to_string()),
            at(FILE, "COUNT.$compare"),
        ));
    }
    let objects = vec![named("AtomicU64", "ready"), object("AtomicU64")];
    insta::assert_snapshot!(plain(&trace("folds", &["main", "spinner"], objects, steps, panics(1, "woken too late"))));
}

/// Names of every kind: none, wide, long, the same twice; one expression for two objects and two for one.
fn names() -> Trace {
    let (left, right) = (at(FILE, "left.$lock"), at(FILE, "right.$lock"));
    let steps = vec![
        step("●││││", Some(0), "lock", text("acquired"), left.clone()),
        step("○●│││", Some(1), "lock", text("acquired"), left.clone()),
        step("○○●││", Some(1), "try_lock", text("would block"), Place { line: 5, ..left }),
        step("│││●│", Some(2), "fetch_add(1, AcqRel)", write("0", "1"), at(FILE, ".entries.$fetch_add")),
        step("││││●", Some(3), "compare_exchange(0, 1)", cas(false), at(FILE, "COUNT.$compare_exchange")).reads(0),
        step(
            "●││││",
            Some(3),
            "compare_exchange_weak(0, 1)",
            cas(true),
            place("src/deleted/file/with/a/long/path/name.rs", 1234, 56),
        )
        .reads(0),
        step("●││││", Some(4), "connect", text("ConnectionRefused"), at(FILE, "$UnixStream::connect")),
    ];
    let waiters = vec![
        waiter(0, "lock", Some(1), right.clone()).on(1, Some(2)),
        waiter(1, "lock", Some(0), right).on(0, Some(1)),
        waiter(2, "recv", Some(3), at(FILE, "listener.$accept")).signalled(Role::Wait, None),
    ];
    let objects = vec![
        object("Mutex"),
        Object { created: Some(place("tests/many.rs", 4, 9)), ..object("Mutex") },
        object("AtomicUsize"),
        Object { created: Some(place("src/deleted/file/with/a/long/path/name.rs", 17, 1)), ..object("AtomicUsize") },
        named("UnixStream", "/run/hub.sock"),
    ];
    let mut trace = trace(
        "names",
        &["main", "", "工作线程二号", "the-longest-name-of-all-threads", "w"],
        objects,
        steps,
        Failure::Deadlock { waiters },
    );
    trace.threads[1].name = None;
    trace.threads[4].name = None;
    trace
}

fn cas(spurious: bool) -> Effect {
    Effect::CasFailed { expected: "0".into(), new: "1".into(), was: "2".into(), spurious }
}

#[test]
fn names_of_every_kind() {
    insta::assert_snapshot!(plain(&names()));
}

#[test]
fn two_processes() {
    let mut trace = counter();
    for (thread, process) in trace.threads.iter_mut().zip(["supervisor", "worker[2]", "worker[2]"]) {
        thread.process = Some(process.to_owned());
    }
    trace.threads[1].name = Some("main".to_owned());
    insta::assert_snapshot!(plain(&trace));
}

#[test]
fn hostile_text() {
    let mut trace = counter();
    let evil = "\x1b[2J\x1b]0;title\x07\u{202e}gnp.exe\r\n";
    trace.threads[1].name = Some(evil.to_owned());
    trace.objects[0].name = Some(format!("n{evil}"));
    trace.steps[3].arguments = evil.to_owned();
    trace.steps[4].effect = text(evil);
    trace.steps[5].site.file = format!("src/{evil}.rs");
    trace.verdict = evil.to_owned();
    trace.command = format!("cargo test {evil}");
    trace.replay = Some(format!("target/it's {evil}.il"));
    if let Failure::Panic { message, .. } = &mut trace.failure {
        *message = format!("{evil}{evil} left: 1\n right: {evil}");
    }
    let style = Style { width: 120, ..Style::default() };
    insta::assert_snapshot!(report(&trace, &style));
}

#[test]
fn long_panic_message() {
    let mut trace = counter();
    if let Failure::Panic { message, .. } = &mut trace.failure {
        *message = format!("the log is not what it should be\n{}", "  expected: [\n    Entry { key: 17, value: \"a value that is long enough to be broken into two lines of the report\" },\n  ]\n".repeat(4));
    }
    insta::assert_snapshot!(plain(&trace));
}

#[test]
fn long_commands_are_not_shortened() {
    let mut trace = counter();
    trace.replay = Some(format!("target/interleave/{}.il", "a".repeat(60)));
    trace.token = format!("il1:{}:{}", "a".repeat(60), "B".repeat(80));
    insta::assert_snapshot!(plain(&trace));
}

#[test]
fn function_calls_have_no_receiver() {
    let mut trace = names();
    let site = at(FILE, "$UnixStream::connect");
    trace.objects[4].name = None;
    trace.steps = vec![step("●││││", Some(4), "connect(7)", Effect::None, site.clone())];
    // The place of a call whose callee has another name says nothing about its object.
    trace.steps.push(step("●││││", Some(4), "close", Effect::None, site));
    let drawn = plain(&trace);
    assert!(drawn.contains("  connect(7)") && drawn.contains("  UnixStream.close()"), "{drawn}");
}
