//! Calls that go past the simulated kernel: the lints that find them.

use std::process::Command;

use crate::text;

const REAL_CALLS: &str = include_str!("../../docs/real-calls/clippy.toml");

/// The lints name each function and type that stands in for one of std.
#[test]
fn the_lints_know_what_the_simulated_kernel_stands_in_for() {
    let sources = [
        include_str!("../../sync-shims/src/model/fs/mod.rs"),
        include_str!("../../sync-shims/src/model/fs/dir.rs"),
        include_str!("../../sync-shims/src/model/os/unix/fs.rs"),
    ];
    let names = sources.iter().flat_map(|source| source.lines()).filter_map(|line| {
        let name = |rest: &'static str| rest.split(['(', '<']).next();
        match line.strip_prefix("pub fn ") {
            Some(rest) if line.contains("symlink<") => name(rest).map(|name| format!("std::os::unix::fs::{name}")),
            Some(rest) => name(rest).map(|name| format!("std::fs::{name}")),
            None => line.strip_prefix("    fn fs_").and_then(name).map(|name| format!("std::path::Path::{name}")),
        }
    });
    let names: Vec<String> = names.collect();
    assert!(names.len() > 20, "{names:?}");
    let types =
        ["fs::File", "net::TcpStream", "os::unix::net::UnixListener", "time::Instant"].map(|t| format!("std::{t}"));
    for name in names.into_iter().chain(types) {
        assert!(REAL_CALLS.contains(&format!("{{ path = \"{name}\", reason = ")), "{name}");
    }
}

/// Where clippy is installed: it finds what the lints name.
#[test]
fn the_lints_find_real_calls() {
    let directory = std::env::temp_dir().join(format!("real-calls-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("clippy.toml"), REAL_CALLS).unwrap();
    let calls = "pub fn f(path: &std::path::Path) -> bool {
        std::fs::write(path, \"\").unwrap();
        let _ = std::os::unix::net::UnixListener::bind(path);
        std::thread::sleep(std::time::Duration::ZERO);
        path.exists()
    }";
    std::fs::write(directory.join("calls.rs"), calls).unwrap();
    let mut clippy = Command::new("clippy-driver");
    clippy.args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "calls.rs"]);
    let output = clippy.current_dir(&directory).env("CLIPPY_CONF_DIR", &directory).output();
    std::fs::remove_dir_all(&directory).unwrap();
    let Ok(output) = output else { return };
    let text = text(&output);
    if text.contains("is not installed") {
        return;
    }
    assert!(!text.contains("does not refer to"), "{text}");
    for name in ["std::fs::write", "std::os::unix::net::UnixListener", "std::thread::sleep", "std::path::Path::exists"]
    {
        assert!(text.contains(&format!("`{name}`")), "{name} is not found:\n{text}");
    }
}
