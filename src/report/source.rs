//! The source files that places name.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::escape::is_hostile;
use super::measure::{fit_start, width};
use super::trace::Place;

/// Reads each source file once.
#[derive(Debug)]
pub(crate) struct Sources {
    root: PathBuf,
    read: RefCell<HashMap<String, Option<Rc<str>>>>,
}

impl Sources {
    /// Files relative to the current directory, or to a directory above it: the compiler names a file from the root of the
    /// workspace, while a test runs in the directory of its package.
    pub(crate) fn new() -> Self {
        Sources::below(std::env::current_dir().unwrap_or_default())
    }

    /// Files relative to `root`, or to a directory above it.
    pub(crate) fn below(root: impl Into<PathBuf>) -> Self {
        Sources { root: root.into(), read: RefCell::default() }
    }

    /// The text of `file`, if it can be read. Hostile characters are replaced one for one, so columns stay right.
    pub(crate) fn text(&self, file: &str) -> Option<Rc<str>> {
        let mut read = self.read.borrow_mut();
        read.entry(file.to_owned()).or_insert_with(|| read_below(&self.root, file).map(|text| harmless(&text))).clone()
    }

    /// The text of the file of `place` and the offset of the place in it, if the file has such a place.
    pub(crate) fn locate(&self, place: &Place) -> Option<(Rc<str>, usize)> {
        let text = self.text(&place.file)?;
        let number = usize::try_from(place.line).ok()?.checked_sub(1)?;
        let start = match number {
            0 => 0,
            n => text.match_indices('\n').nth(n - 1)?.0 + 1,
        };
        let line = text[start..].lines().next()?;
        let column = usize::try_from(place.column).ok()?.checked_sub(1)?;
        let (offset, _) = line.char_indices().nth(column)?;
        Some((text.clone(), start + offset))
    }
}

/// The contents of `file`, taken from `root` or the nearest directory above it that has it.
pub(crate) fn read_below(root: &Path, file: &str) -> Option<String> {
    root.ancestors().find_map(|directory| std::fs::read_to_string(directory.join(file)).ok())
}

fn harmless(text: &str) -> Rc<str> {
    let kept = |c: char| c == '\n' || c == '\t' || !is_hostile(c);
    text.replace("\r\n", "\n").chars().map(|c| if kept(c) { c } else { '\u{fffd}' }).collect::<String>().into()
}

/// The file as it is shown: crates from a registry by name and version, the standard library from `library/`.
pub(crate) fn shown_file(file: &str) -> &str {
    let below = |marker: &str| file.find(marker).map(|at| &file[at + marker.len()..]);
    if let Some(registry) = below("/registry/src/") {
        return registry.split_once('/').map_or(registry, |(_, rest)| rest);
    }
    match below("/rustc/") {
        Some(compiler) => compiler.split_once('/').map_or(compiler, |(_, rest)| rest),
        None => file,
    }
}

/// `file:line:column`.
pub(crate) fn shown(place: &Place) -> String {
    format!("{}:{}:{}", shown_file(&place.file), place.line, place.column)
}

/// `file:line` with the bare name of the file.
pub(crate) fn brief(place: &Place) -> String {
    format!("{}:{}", bare(&place.file), place.line)
}

fn bare(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

/// The place in at most `columns` columns: directories go first, then the column, then the start of the name.
pub(crate) fn fitted(place: &Place, columns: usize, ellipsis: &str) -> String {
    let full = shown(place);
    if width(&full) <= columns {
        return full;
    }
    let position = format!(":{}:{}", place.line, place.column);
    let file = shown_file(&place.file);
    let shorter = file.match_indices('/').map(|(at, _)| format!("{ellipsis}{}{position}", &file[at..]));
    let bare = [format!("{}{position}", bare(file)), brief(place)];
    shorter
        .chain(bare)
        .find(|text| width(text) <= columns)
        .unwrap_or_else(|| fit_start(&brief(place), columns, ellipsis))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str) -> Place {
        Place { file: file.to_owned(), line: 9, column: 24 }
    }

    #[test]
    fn places_lose_directories_first() {
        let long = place("crates/engine/src/counter.rs");
        let fits = |columns| fitted(&long, columns, "…");
        assert_eq!(fits(40), "crates/engine/src/counter.rs:9:24");
        assert_eq!(fits(30), "…/engine/src/counter.rs:9:24");
        assert_eq!(fits(20), "…/counter.rs:9:24");
        assert_eq!(fits(15), "counter.rs:9:24");
        assert_eq!(fits(12), "counter.rs:9");
        assert_eq!(fits(6), "….rs:9");
    }

    #[test]
    fn registry_and_compiler_paths_are_cut() {
        assert_eq!(shown_file("/h/.cargo/registry/src/some-registry-19/foo-1.0.0/src/lib.rs"), "foo-1.0.0/src/lib.rs");
        assert_eq!(shown_file("/rustc/0123abcd/library/core/src/option.rs"), "library/core/src/option.rs");
    }

    #[test]
    fn a_place_outside_the_file_is_no_place() {
        let sources = Sources::below(env!("CARGO_MANIFEST_DIR"));
        let at =
            |line, column| sources.locate(&Place { file: "src/report/testdata/tests/counter.rs".into(), line, column });
        assert!(at(1, 1).is_some());
        assert!(at(0, 1).is_none() && at(1, 0).is_none() && at(1, 500).is_none() && at(9000, 1).is_none());
    }
}
