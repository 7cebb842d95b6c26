//! The simulated kernel against the real one: each rule is a script that is compiled twice, runs on both, and must give what
//! the rule says on both.

#![cfg(target_os = "linux")]
#![expect(clippy::duplicate_mod, reason = "the scripts are compiled against two sets of types")]

mod coverage;
mod observe;
mod random;
mod real;
mod shim;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use observe::Rule;

/// Runs a script on the real kernel, in a directory of its own.
fn on_the_real_kernel(script: fn(&Path) -> String) -> String {
    on_the_real_kernel_with(script)
}

fn on_the_real_kernel_with<R>(script: impl FnOnce(&Path) -> R) -> R {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("rules-{}-{number}", std::process::id()));
    std::fs::create_dir(&directory).expect("a fresh directory");
    let result = script(&directory);
    std::fs::remove_dir_all(&directory).expect("the directory is still there");
    result
}

/// Runs a script under the checker; all its executions must give the same.
fn on_the_simulated_kernel(script: fn(&Path) -> String) -> String {
    explored(interleave::Builder::new(), script)
}

/// Without the budget for spurious events: reads may be shorter over TCP than they are on loopback.
fn without_spurious_events(script: fn(&Path) -> String) -> String {
    explored(interleave::Builder::new().spurious(0), script)
}

fn explored(builder: interleave::Builder, script: fn(&Path) -> String) -> String {
    let results = Arc::new(Mutex::new(Vec::new()));
    let collected = results.clone();
    let report = explored_to(builder, move |directory| {
        let result = script(directory);
        collected.lock().unwrap().push(result);
    });
    if let Some(failure) = report.failure {
        return failure.report;
    }
    let mut results = std::mem::take(&mut *results.lock().unwrap());
    results.dedup();
    results.join(" or ")
}

/// Explores a script that gets a directory.
fn explored_to(builder: interleave::Builder, script: impl Fn(&Path) + Send + Sync) -> interleave::Report {
    builder.explore(move || {
        let directory = PathBuf::from("/tmp/rules");
        interleave::fs::create_dir(&directory).expect("every execution starts with an empty directory");
        script(&directory);
    })
}

fn check(rules: &[Rule], run: fn(fn(&Path) -> String) -> String) {
    let broken: Vec<String> = rules
        .iter()
        .map(|rule| (rule, run(rule.script)))
        .filter(|(rule, result)| result != rule.result)
        .map(|(rule, result)| format!("{}: must give {:?}, gives {result:?}", rule.name, rule.result))
        .collect();
    assert!(broken.is_empty(), "{} of {} rules broken:\n{}", broken.len(), rules.len(), broken.join("\n"));
}

#[test]
fn sockets_on_the_real_kernel() {
    check(real::sockets::RULES, on_the_real_kernel);
}

#[test]
fn sockets_on_the_simulated_kernel() {
    check(shim::sockets::RULES, on_the_simulated_kernel);
}

#[test]
fn streams_on_the_real_kernel() {
    check(real::streams::RULES, on_the_real_kernel);
}

#[test]
fn streams_on_the_simulated_kernel() {
    check(shim::streams::RULES, on_the_simulated_kernel);
}

#[test]
fn files_on_the_real_kernel() {
    check(real::files::RULES, on_the_real_kernel);
}

#[test]
fn files_on_the_simulated_kernel() {
    check(shim::files::RULES, on_the_simulated_kernel);
}

#[test]
fn directories_on_the_real_kernel() {
    check(real::directories::RULES, on_the_real_kernel);
}

#[test]
fn directories_on_the_simulated_kernel() {
    check(shim::directories::RULES, on_the_simulated_kernel);
}

#[test]
fn symlinks_on_the_real_kernel() {
    check(real::symlinks::RULES, on_the_real_kernel);
}

#[test]
fn symlinks_on_the_simulated_kernel() {
    check(shim::symlinks::RULES, on_the_simulated_kernel);
}

#[test]
fn locks_on_the_real_kernel() {
    check(real::locks::RULES, on_the_real_kernel);
}

#[test]
fn locks_on_the_simulated_kernel() {
    check(shim::locks::RULES, on_the_simulated_kernel);
}

#[test]
fn abstract_names_on_the_real_kernel() {
    check(real::abstract_names::RULES, on_the_real_kernel);
}

#[test]
fn abstract_names_on_the_simulated_kernel() {
    check(shim::abstract_names::RULES, on_the_simulated_kernel);
}

#[test]
fn backlogs_on_the_real_kernel() {
    check(real::backlog::RULES, on_the_real_kernel);
}

#[test]
fn backlogs_on_the_simulated_kernel() {
    check(shim::backlog::RULES, on_the_simulated_kernel);
}

#[test]
fn bad_input_on_the_real_kernel() {
    check(real::bad_input::RULES, on_the_real_kernel);
}

#[test]
fn bad_input_on_the_simulated_kernel() {
    check(shim::bad_input::RULES, on_the_simulated_kernel);
}

#[test]
fn datagrams_on_the_real_kernel() {
    check(real::datagrams::RULES, on_the_real_kernel);
}

#[test]
fn datagrams_on_the_simulated_kernel() {
    check(shim::datagrams::RULES, on_the_simulated_kernel);
}

#[test]
fn tcp_on_the_real_kernel() {
    check(real::tcp::RULES, on_the_real_kernel);
}

#[test]
fn tcp_on_the_simulated_kernel() {
    check(shim::tcp::RULES, without_spurious_events);
}
