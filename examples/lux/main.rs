//! The life cycle of a display: servers that start at the same time, after one that has ended or crashed anywhere, of which
//! one is to win. Two rules are invariants of a ghost state, see `display::rules`.
//!
//! * With a pid file, a process that is over and that nobody has waited for yet passes for a display.
//! * With a probe of the socket and no lock: one binds, another looks before it listens, and removes its socket.
//! * With the probe under a lock, both rules hold.
//!
//! Run it with `cargo run --release --example lux`; with `-- --all`, also for three servers after one that may have crashed, which
//! takes longer.

mod display;

use std::io::Read;

use display::{Life, Liveness, rules, run};
use interleave::os::unix::net::UnixStream;
use interleave::process;
use interleave::{Builder, Report, Verdict};

/// Explores `servers` that start at the same time; with `crashes`, after one that has come to its end, or has crashed
/// somewhere on the way.
fn explore(builder: Builder, liveness: Liveness, servers: usize, crashes: bool) -> Report {
    let report = builder.name(format!("{liveness:?} {servers}")).explore(move || {
        let life = rules();
        let first = crashes.then(|| {
            let (mut gone, here) = UnixStream::pair().unwrap();
            let theirs = life.clone();
            let first = process::Builder::new().name("display 0").crashable(true).spawn(move || {
                let _here = here;
                run(liveness, &theirs);
            });
            // Its end closes its sockets, this one first. It is a zombie then, until somebody waits for it.
            assert_eq!(gone.read(&mut [0]).unwrap(), 0);
            let mut first = first;
            if liveness != Liveness::PidFile {
                // Its listener is closed when it is over, and not before.
                first.wait().unwrap();
            }
            life.update(|life| *life = Life::default());
            first
        });
        let servers: Vec<_> = (1..=servers)
            .map(|number| {
                let life = life.clone();
                let name = format!("display {number}");
                process::Builder::new().name(name).spawn(move || run(liveness, &life))
            })
            .collect();
        for mut server in servers.into_iter().chain(first) {
            server.wait().unwrap();
        }
    });
    let crashes = if crashes { "after one that may have crashed" } else { "alone" };
    println!("{liveness:?}, {servers} at the same time, {crashes}: {report}");
    report
}

fn fails(report: Report, rule: &str) {
    let failure = report.failure.expect("a rule is broken");
    assert!(failure.message.contains(rule), "{}", failure.message);
    println!("\n{}", failure.report);
}

fn holds(report: &Report, executions: u64) {
    assert_eq!(report.verdict, Verdict::Complete, "{}", report.failure.as_ref().map_or("", |failure| &failure.report));
    assert_eq!(report.executions, executions);
}

fn main() {
    let new = Builder::new;
    fails(explore(new(), Liveness::PidFile, 1, true), "nobody gives up if there is no display");
    fails(explore(new(), Liveness::PidFile, 2, false), "at most one display");
    fails(explore(new(), Liveness::Probe, 2, false), "at most one display");
    for (servers, crashes, executions) in
        [(1, false, 1), (1, true, 13), (2, false, 140), (2, true, 980), (3, false, 12_996)]
    {
        holds(&explore(new(), Liveness::GuardedProbe, servers, crashes), executions);
    }
    if std::env::args().any(|argument| argument == "--all") {
        let report = explore(new(), Liveness::GuardedProbe, 3, true);
        assert_eq!(report.verdict, Verdict::Complete, "{report}");
    }
}
