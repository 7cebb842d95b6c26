//! What std has and the shims lack: the list in `same_as_std/surface.rs`, all of which the shims have, against the
//! documentation of the std that this is built with. That is part of a toolchain (`rustup component add rust-docs`); where it
//! is not installed there is nothing to compare with.

#![allow(missing_docs)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Stable, and not in the shims: why, their documentation says.
const MISSING: [(&str, &str); 2] = [("Atomic", "from_ptr"), ("UnsafeCell", "from_mut")];

/// The modules whose items and methods are compared, with the items that are traits or come from elsewhere.
const MODULES: [&str; 5] = ["sync", "sync/atomic", "sync/mpsc", "thread", "cell"];

fn is_missing(family: &str, method: &str) -> bool {
    MISSING.iter().any(|(prefix, name)| family.starts_with(prefix) && *name == method)
}

fn documentation() -> Option<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8(output.stdout).ok()?;
    let std = Path::new(sysroot.trim()).join("share/doc/rust/html/std");
    std.join("index.html").is_file().then_some(std)
}

/// What is between `start` and the next `end`, for every `start`.
fn between<'a>(text: &'a str, start: &str, end: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(start).skip(1).map(move |rest| rest.split(end).next().unwrap_or_default())
}

/// The stable items of a module: their kinds and names.
fn items(std: &Path, module: &str) -> Vec<(String, String)> {
    let page = std::fs::read_to_string(std.join(module).join("index.html")).expect("the page of a module");
    let item = |entry: &str| {
        let link = between(entry, "<a class=\"", "</a>").next()?;
        let kind = link.split('"').next()?;
        let title = between(link, "title=\"", "\"").next()?;
        Some((kind.to_owned(), title.rsplit([':', ' ']).next()?.to_owned()))
    };
    between(&page, "<dt>", "</dt>").filter(|entry| !entry.contains("stab unstable")).filter_map(item).collect()
}

/// The stable methods that a struct has by itself.
fn methods(std: &Path, module: &str, name: &str) -> BTreeSet<String> {
    let page =
        std::fs::read_to_string(std.join(module).join(format!("struct.{name}.html"))).expect("the page of a type");
    let ends = ["id=\"deref-methods", "id=\"trait-implementations\"", "id=\"synthetic-implementations\""];
    let end = ends.iter().filter_map(|end| page.find(end)).min().unwrap_or(page.len());
    let methods = page[..end].split("<section id=\"method.").skip(1);
    let stable = methods.filter(|method| {
        let head = method.split("docblock").next().unwrap_or_default();
        !head.split("<section id=").next().unwrap_or_default().contains("stab unstable")
    });
    // A second one of the same name has a number.
    stable.filter_map(|method| Some(method.split(['"', '-']).next()?.to_owned())).collect()
}

fn without_type_arguments(path: &str) -> String {
    let (mut plain, mut depth) = (String::new(), 0usize);
    for c in path.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
}

/// The methods and items that are named in the list.
fn listed() -> (BTreeSet<(String, String)>, BTreeSet<String>) {
    let source = include_str!("same_as_std/surface.rs");
    let (mut methods, mut items) = (BTreeSet::new(), BTreeSet::new());
    for list in between(source, "methods![", "];") {
        for line in list.lines().map(str::trim).filter(|line| !line.is_empty()) {
            // `|a| AtomicU8::update(a, …)` where the types of a value are not known by its name.
            let plain = line.trim_end_matches(',').trim_start_matches("|a| ");
            let plain = plain.split('(').next().unwrap_or_default();
            let family: String = plain.chars().take_while(|c| c.is_alphanumeric()).collect();
            let path = without_type_arguments(plain);
            let name = path.split("::").filter(|part| !part.is_empty()).nth(1).expect("a method").to_owned();
            methods.insert((family, name));
        }
    }
    for list in between(source, "    items!(", ");") {
        let (module, names) = list.split_once(":\n").expect("a module and its items");
        items.extend(names.split_whitespace().map(|name| format!("{}::{name}", module.trim())));
    }
    (methods, items)
}

#[test]
fn the_shims_have_what_std_has() {
    let Some(std) = documentation() else {
        eprintln!("not compared: the documentation of std is not installed");
        return;
    };
    let (listed_methods, listed_items) = listed();
    let mut lacking = Vec::new();
    for module in MODULES {
        for (kind, name) in items(&std, module) {
            if !listed_items.contains(&format!("{}::{name}", module.replace('/', "::"))) {
                lacking.push(format!("{module}: {kind} {name}"));
            }
            if kind != "struct" {
                continue;
            }
            for method in methods(&std, module, &name) {
                if !listed_methods.contains(&(name.clone(), method.clone())) && !is_missing(&name, &method) {
                    lacking.push(format!("{module}: {name}::{method}"));
                }
            }
        }
    }
    assert_eq!(lacking, Vec::<String>::new(), "not in `same_as_std/surface.rs`");
}

/// The list is read as it is meant.
#[test]
fn the_list_is_understood() {
    let (methods, items) = listed();
    for (family, name) in
        [("Mutex", "lock"), ("Arc", "new_cyclic"), ("LocalKey", "with_borrow"), ("AtomicU8", "fetch_max")]
    {
        assert!(methods.contains(&(family.to_owned(), name.to_owned())), "{family}::{name}");
    }
    assert!(!methods.iter().any(|(family, name)| is_missing(family, name)));
    assert!(items.contains("sync::mpsc::channel") && items.contains("cell::UnsafeCell"));
    assert!(methods.len() > 400, "{}", methods.len());
}
