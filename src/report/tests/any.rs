//! Any trace has a report: it never panics, and it keeps within its lines and columns.

use dpor::Role;
use proptest::prelude::*;
use proptest::sample::select;

use super::build::{access, at, object, place, trace, waiter};
use super::report;
use crate::report::style::Style;
use crate::report::trace::*;

const THREADS: usize = 12;
const OBJECTS: usize = 4;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-z]{0,8}", 1 => "[a-z \\-/]{0,60}", 1 => "\\PC{0,12}", 1 => ".{0,12}", 1 => select(vec!["\u{1b}[31m", "a\nb", ""]).prop_map(str::to_owned)]
}

fn site() -> impl Strategy<Value = Place> {
    let real = select(vec![
        at("src/counter.rs", "n.$load"),
        at("tests/many.rs", ".entries.$fetch_add"),
        at("tests/many.rs", "left.$lock"),
    ]);
    prop_oneof![3 => real, 1 => (text(), 0..40u32, 0..90u32).prop_map(|(file, line, column)| place(&file, line, column)),
        1 => (0..40u32, 0..90u32).prop_map(|(line, column)| place("tests/race.rs", line, column))]
}

fn effect() -> impl Strategy<Value = Effect> {
    prop_oneof![
        Just(Effect::None),
        text().prop_map(Effect::Read),
        (text(), text()).prop_map(|(from, to)| Effect::Write { from, to }),
        (text(), text(), any::<bool>()).prop_map(|(new, was, spurious)| Effect::CasFailed {
            expected: "0".into(),
            new,
            was,
            spurious
        }),
        text().prop_map(Effect::Text),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let method = select(vec!["load", "fetch_add", "lock", "spawn", "join", "end", "fence"]);
    let read = prop::option::of((prop::option::of(0..200usize), prop::option::of(0..200usize)));
    let mark = select(vec![Mark::Absent, Mark::CouldRun, Mark::Blocked]);
    let numbers =
        (0..THREADS, prop::option::of(0..OBJECTS), prop::option::of(0..THREADS), prop::option::of(0..200usize));
    (numbers, method, text(), effect(), read, site(), prop::collection::vec(mark, THREADS)).prop_map(
        |((thread, object, preempts, overwrites), method, arguments, effect, reads, site, mut marks)| {
            marks[thread] = Mark::Steps;
            let reads = reads.map(|(step, stale)| ReadsFrom { step, stale });
            Step {
                time: None,
                thread,
                object,
                method,
                arguments,
                role: Role::Plain,
                effect,
                reads,
                overwrites,
                site,
                preempts,
                marks,
            }
        },
    )
}

fn waits() -> impl Strategy<Value = Vec<Waiter>> {
    let edges = prop::collection::vec((0..THREADS, prop::option::of(0..200usize)), 0..3);
    let role = select(vec![Role::Plain, Role::Wait, Role::Acquire]);
    let one = (prop::option::of(0..OBJECTS), edges, role, prop::option::of(0..200usize), site());
    prop::collection::vec(one, 1..THREADS).prop_map(|all| {
        let build = |(thread, (object, waits_for, role, last_signal, site))| Waiter {
            waits_for,
            role,
            last_signal,
            ends: Vec::new(),
            ..waiter(thread, "lock", object, site)
        };
        all.into_iter().enumerate().map(build).collect()
    })
}

fn failure() -> impl Strategy<Value = Failure> {
    prop_oneof![
        (0..THREADS, "(?s).{0,300}", site()).prop_map(|(thread, message, site)| Failure::Panic {
            thread,
            message,
            site
        }),
        waits().prop_map(|waiters| Failure::Deadlock { waiters }),
        waits().prop_map(|waiters| Failure::Livelock { waiters }),
        (text(), site(), site(), 0..300usize, prop::option::of(text())).prop_map(|(what, one, two, after, missing)| {
            Failure::DataRace {
                object: 0,
                first: access(1, &what, one, after),
                second: access(0, "read", two, 0),
                missing,
            }
        }),
        (text(), site(), site()).prop_map(|(what, one, two)| Failure::Nondeterminism {
            thread: 3,
            recorded: (what.clone(), one),
            now: (what, two)
        }),
        (text(), prop::option::of(text()), prop::option::of(site())).prop_map(|(message, help, site)| Failure::Other {
            code: "internal",
            message,
            help,
            site
        }),
    ]
}

prop_compose! {
    fn traces()(
        names in prop::collection::vec(prop::option::of(text()), THREADS),
        processes in prop::collection::vec(prop::option::weighted(0.2, text()), THREADS),
        objects in prop::collection::vec(prop::option::weighted(0.3, text()), OBJECTS),
        steps in prop::collection::vec(step(), 0..120),
        failure in failure(),
        verdict in text(),
    ) -> Trace {
        let objects = objects.into_iter().map(|name| Object { name, ..object("Mutex") }).collect();
        let mut trace = trace("any", &["main"; THREADS], objects, steps, failure);
        for (thread, (name, process)) in trace.threads.iter_mut().zip(names.into_iter().zip(processes)) {
            (thread.name, thread.process) = (name, process);
        }
        Trace { verdict, replay: None, token: String::new(), memory: Some(MemoryNote::NeedsWeakMemory), ..trace }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_trace_has_a_report(trace in traces(), width in 40..140usize, ascii: bool, color: bool) {
        report(&trace, &Style { width, ascii, color, max_lines: 90 });
        report(&trace, &Style { ascii, color, ..Style::default() });
    }
}
