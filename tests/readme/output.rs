//! What commands print.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

/// What `command`, as a reader would type it, prints; as it is in the documents.
///
/// * `cargo run --release --example <name>`: everything. The example is run as built for this test, whatever the profile.
/// * `cargo test <name>`, with `INTERLEAVE_...=...` before: the report or the verdict line alone, without what the test
///   harness says. The test must be in this crate.
pub(crate) fn of(command: &str) -> String {
    let mut words = command.split(' ').peekable();
    let mut variables = Vec::new();
    while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
        variables.push((name, value));
        words.next();
    }
    match *words.collect::<Vec<_>>() {
        ["cargo", "run", "--release", "--example", example] => {
            let output = run(Command::new(example_named(example)), &variables);
            assert!(output.status.success(), "{command}: {}\n{}", output.status, lossy(&output.stderr));
            normalised(&lossy(&output.stdout)).replace("cargo run --example", "cargo run --release --example")
        }
        ["cargo", "test", test] => {
            let mut command = Command::new(std::env::current_exe().expect("this test has an executable"));
            command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
            report_in(&normalised(&lossy(&run(command, &variables).stderr)))
        }
        _ => panic!("`{command}` cannot be checked: see tests/readme/output.rs"),
    }
}

/// The text without what differs from machine to machine and from run to run: the time that something took, the place of the
/// target directory, the profile.
pub(crate) fn normalised(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = match line.strip_suffix(" \\") {
            Some(start) if start.contains(VARIABLE) => format!("{start} {}", lines.next().unwrap_or_default().trim()),
            _ => line.to_owned(),
        };
        let line = line.replace("cargo run --release", "cargo run").replace("cargo test --release", "cargo test");
        out.push_str(&without_target(&without_time(&line)));
        out.push('\n');
    }
    out
}

/// `..., 1.5 ms` becomes `..., 1 ms`.
fn without_time(line: &str) -> String {
    match line.strip_suffix(" ms").and_then(|rest| rest.rsplit_once(", ")) {
        Some((rest, time)) if time.parse::<f64>().is_ok() => format!("{rest}, 1 ms"),
        _ => line.to_owned(),
    }
}

/// The variable in the last lines of a report.
const VARIABLE: &str = "INTERLEAVE_REPLAY=";

/// `INTERLEAVE_REPLAY=/any/where/interleave/<file>` becomes `INTERLEAVE_REPLAY=target/interleave/<file>`, in one line or two as
/// the report has it.
fn without_target(line: &str) -> String {
    let Some((before, rest)) = line.split_once(VARIABLE) else { return line.to_owned() };
    let Some((_, file)) = rest.split_once("/interleave/") else { return line.to_owned() };
    let line = format!("{before}{VARIABLE}target/interleave/{file}");
    match line.split_once(".il ") {
        Some((path, command)) if line.len() > 100 => format!("{path}.il \\\n{:13}{command}", ""),
        _ => line,
    }
}

/// From the line that says what is wrong to the last one of the report; or the verdict line.
fn report_in(text: &str) -> String {
    let is_verdict = |line: &str| [": complete: ", ": bounded: ", ": vacuous: "].iter().any(|word| line.contains(word));
    let report = text.lines().skip_while(|line| !line.starts_with("error[interleave::"));
    let report: Vec<&str> = report.take_while(|line| !line.starts_with("note: run with `RUST_BACKTRACE")).collect();
    let lines = if report.is_empty() { text.lines().filter(|line| is_verdict(line)).collect() } else { report };
    lines.join("\n").trim_end().to_owned() + "\n"
}

fn run(mut command: Command, variables: &[(&str, &str)]) -> Output {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("INTERLEAVE_") {
            command.env_remove(name);
        }
    }
    command.env("NO_COLOR", "1").env_remove("RUST_BACKTRACE").envs(variables.iter().copied());
    command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("the program can be run")
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The example, in the directory beside this test's. Cargo builds examples when it runs all tests, but not when it runs one:
/// then it may be missing, or older than what it is made from.
fn example_named(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test has an executable");
    let profile = test.parent().and_then(Path::parent).expect("tests are in <target>/<profile>/deps");
    let example = profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    let sources = ["src", "sync-shims/src", "dpor/src", "examples"].map(|directory| newest_in(Path::new(directory)));
    if changed(&example) < sources.into_iter().flatten().max() {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--quiet", "--example", name, "--target-dir"]);
        cargo.arg(profile.parent().expect("<target>/<profile>"));
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        let built = run(cargo, &[]);
        assert!(built.status.success(), "the example `{name}` cannot be built:\n{}", lossy(&built.stderr));
    }
    example
}

/// When the file was changed; `None` if it is not there.
fn changed(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|metadata| metadata.modified()).ok()
}

/// When the file in the directory was changed that was changed last.
fn newest_in(directory: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(directory).ok()?.flatten();
    entries.filter_map(|e| if e.path().is_dir() { newest_in(&e.path()) } else { changed(&e.path()) }).max()
}
