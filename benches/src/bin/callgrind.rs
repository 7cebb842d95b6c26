//! A target for callgrind: runs 1,000 executions of a program with one tool, and nothing else.
//!
//! ```text
//! cargo build --release -p interleave-benches --bin callgrind --config 'profile.release.debug="line-tables-only"'
//! for tool in interleave loom shuttle-dfs; do
//!     valgrind --tool=callgrind --callgrind-out-file=$tool.out target/release/callgrind $tool fetch_add_2x6
//! done
//! callgrind_annotate interleave.out | head -40
//! ```
//!
//! Valgrind's "client switching stacks?" is expected: that is what model threads do. `callgrind TOOL PROGRAM N` runs `N`
//! executions; the difference between two `N` leaves the start-up of the process out.

use std::process::ExitCode;

use interleave_benches::{PROGRAMS, Program, Tool};

const DEFAULT_EXECUTIONS: u64 = 1_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let tool = arguments.first().and_then(|name| Tool::named(name));
    let program = arguments.get(1).and_then(|name| Program::named(name));
    let executions = arguments.get(2).map_or(Ok(DEFAULT_EXECUTIONS), |n| n.parse());
    let (Some(tool), Some(program), Ok(executions)) = (tool, program, executions) else {
        eprintln!("usage: callgrind TOOL PROGRAM [EXECUTIONS]");
        eprintln!("tools: {}", Tool::ALL.map(Tool::name).join(" "));
        eprintln!("programs: {}", PROGRAMS.map(|program| program.name).join(" "));
        return ExitCode::FAILURE;
    };
    tool.run(&program, executions);
    ExitCode::SUCCESS
}
