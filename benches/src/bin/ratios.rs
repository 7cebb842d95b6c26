//! Runs each tool once, for the same number of executions of each program, and prints what they cost in CPU time.
//!
//! `cargo run --release -p interleave-benches --bin ratios [EXECUTIONS [PROGRAM..]]`, 20,000 executions by default.
//!
//! A program with fewer executions is checked again and again. What a whole check costs is then worth comparing, too: the
//! tools do not need the same number of executions for it.

use interleave_benches::{PROGRAMS, Program, Tool, cpu_time};

const DEFAULT_EXECUTIONS: u64 = 20_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let executions = arguments.next().map_or(DEFAULT_EXECUTIONS, |n| n.parse().expect("a number of executions"));
    let names: Vec<String> = arguments.collect();
    println!("{executions} executions each; CPU time of the process; x = times the first tool's");
    println!();
    println!(
        "{:<18} {:<15} {:>7} {:>8} {:>10} {:>12} {:>8} {:>7}",
        "program", "tool", "checks", "CPU s", "us/check", "ns/execution", "ns/op", "x"
    );
    for program in PROGRAMS.iter().filter(|program| names.is_empty() || names.iter().any(|name| name == program.name)) {
        compare(program, executions);
    }
}

fn compare(program: &Program, executions: u64) {
    let mut first = None;
    for tool in Tool::ALL {
        // Once to settle: code pages, allocator, signal handlers.
        tool.run(program, executions.div_ceil(100));
        let before = cpu_time();
        let checks = tool.run(program, executions);
        let cpu = cpu_time() - before;
        let per_execution = cpu.as_secs_f64() * 1e9 / executions as f64;
        let first = *first.get_or_insert(per_execution);
        println!(
            "{:<18} {:<15} {checks:>7} {:>8.3} {:>10.0} {per_execution:>12.0} {:>8.1} {:>7.1}",
            program.name,
            tool.name(),
            cpu.as_secs_f64(),
            cpu.as_secs_f64() * 1e6 / checks as f64,
            per_execution / program.operations as f64,
            per_execution / first,
        );
    }
}
