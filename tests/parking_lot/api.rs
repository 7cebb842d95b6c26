//! `surface.rs` names every public item of the crates parking_lot and lock_api, as their sources have them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the sources of a package are that this test is built with.
fn sources(package: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--offline", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let of_that_name: Vec<_> = packages.iter().filter(|p| p["name"] == package).collect();
    assert_eq!(of_that_name.len(), 1, "versions of {package}");
    Path::new(of_that_name[0]["manifest_path"].as_str().expect("a path")).with_file_name("src")
}

/// The name that `text` begins with.
fn name(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())]
}

/// The type of an inherent `impl`, from its first line or, if that is only generics, the second.
fn implemented(lines: &[&str]) -> Option<String> {
    let header = lines.iter().take(2).copied().collect::<Vec<_>>().join(" ");
    let header = header.split('{').next().expect("there is a first part").trim();
    let mut rest = header.strip_prefix("impl")?;
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.find(|c| {
            depth += match c {
                '<' => 1,
                '>' => -1,
                _ => 0,
            };
            depth == 0
        })?;
        rest = &rest[end + 1..];
    }
    (!rest.contains(" for ")).then(|| name(rest.trim()).to_owned())
}

/// The public functions, methods, types and traits in a file, as `name` or `Type::name`.
fn public_items(source: &str, items: &mut BTreeSet<String>) {
    let source = source.split("#[cfg(test)]").next().expect("there is a first part");
    let lines: Vec<&str> = source.lines().collect();
    let mut of_type = None;
    for (index, line) in lines.iter().enumerate() {
        if line.starts_with("impl") {
            of_type = implemented(&lines[index..]);
        }
        if line.starts_with('}') {
            of_type = None;
        }
        let Some(mut item) = line.trim_start().strip_prefix("pub ") else { continue };
        let mut kind = "";
        for word in ["const ", "unsafe ", "fn ", "struct ", "trait ", "enum ", "type "] {
            if let Some(rest) = item.strip_prefix(word) {
                (item, kind) = (rest, word);
            }
        }
        if kind.is_empty() {
            continue;
        }
        match (&of_type, line.starts_with(' ')) {
            (Some(of_type), true) => items.insert(format!("{of_type}::{}", name(item))),
            (None, false) => items.insert(name(item).to_owned()),
            _ => true,
        };
    }
}

/// Whether `text` has `item`, not as a part of a longer path or name.
fn mentions(text: &str, item: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(item).any(|(at, _)| !text[..at].ends_with(part) && !text[at + item.len()..].starts_with(part))
}

#[test]
fn whole_surface() {
    let mut items = BTreeSet::new();
    for (package, files) in [
        ("lock_api", &["lib", "mutex", "remutex", "rwlock"][..]),
        (
            "parking_lot",
            &[
                "condvar",
                "fair_mutex",
                "mutex",
                "once",
                "raw_fair_mutex",
                "raw_mutex",
                "raw_rwlock",
                "remutex",
                "rwlock",
            ],
        ),
    ] {
        let sources = sources(package);
        for file in files {
            let path = sources.join(file).with_extension("rs");
            let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            public_items(&source, &mut items);
        }
    }
    // Some of each kind, so that the test cannot pass because it finds nothing.
    for known in
        ["RawMutexTimed", "MutexGuard", "OnceState", "const_rwlock", "Mutex::new", "MutexGuard::try_map_or_err"]
    {
        assert!(items.contains(known), "{known} is not found in {items:?}");
    }
    assert!(items.len() > 250, "only {}: {items:?}", items.len());
    let surface = include_str!("surface.rs");
    let missing: Vec<_> = items.iter().filter(|item| !mentions(surface, item)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
