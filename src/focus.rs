//! Operations in a function, or at a label, that a search is to look at first.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use dpor::{Focus, Op};

use crate::report::read_below;

/// The operations in functions with these names, and the labels that have them.
pub(crate) fn on(names: &[String]) -> Focus {
    let names = names.to_vec();
    let root = std::env::current_dir().unwrap_or_default();
    let functions = Mutex::new(Functions { root, texts: HashMap::new(), known: HashMap::new() });
    Focus::on(move |op: &Op| {
        if op.info.family == "label" {
            return names.iter().any(|name| name == op.info.name);
        }
        let mut functions = functions.lock().unwrap_or_else(|e| e.into_inner());
        functions.of(op.site.file(), op.site.line()).is_some_and(|function| names.iter().any(|name| name == function))
    })
}

/// Which function a place is in.
struct Functions {
    root: PathBuf,
    texts: HashMap<&'static str, Option<String>>,
    known: HashMap<(&'static str, u32), Option<String>>,
}

impl Functions {
    fn of(&mut self, file: &'static str, line: u32) -> Option<&str> {
        let Functions { root, texts, known } = self;
        let text = texts.entry(file).or_insert_with(|| read_below(Path::new(root), file));
        let function = || function_at(text.as_deref()?, line).map(str::to_owned);
        known.entry((file, line)).or_insert_with(function).as_deref()
    }
}

/// The name of the innermost function that has this line, from 1, in it: the next one above that is indented less. That is how
/// rustfmt writes it.
fn function_at(text: &str, line: u32) -> Option<&str> {
    let lines: Vec<&str> = text.lines().take(line as usize).collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let (last, above) = lines.split_last()?;
    if let Some(name) = function_name(last) {
        // All on one line.
        return Some(name);
    }
    let mut depth = indent(last);
    for line in above.iter().rev().filter(|line| !line.trim().is_empty()) {
        if indent(line) < depth {
            depth = indent(line);
            if let Some(name) = function_name(line) {
                return Some(name);
            }
        }
    }
    None
}

/// The name of the function that a line begins.
fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let qualifier = |word: &str| {
        matches!(word, "const" | "async" | "unsafe" | "extern" | "pub" | "in")
            || word.starts_with("pub(")
            || word.starts_with('"')
    };
    let head = before.split_whitespace().all(|word| qualifier(word) || word.ends_with(')'));
    let name = &after[..after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len())];
    (head && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
impl Queue {
    pub(crate) fn push(&self, value: u32) {
        let slot = self.tail.fetch_add(1, Relaxed);

        if slot < 4 {
            self.slots[slot].store(value, Release);
        }
    }

    fn len(&self) -> usize { self.tail.load(Relaxed) }
}

fn main() {
    let f = |x: fn(u32)| {
        x(1);
    };
}
";

    #[test]
    fn places_are_in_functions() {
        let at = |line| function_at(TEXT, line);
        assert_eq!((at(3), at(6), at(7)), (Some("push"), Some("push"), Some("push")));
        assert_eq!(at(10), Some("len"));
        assert_eq!(at(15), Some("main"));
        assert_eq!((at(1), at(11)), (None, None));
    }

    #[test]
    fn function_pointers_are_not_functions() {
        assert_eq!(function_name("    let f: fn (u32) = g;"), None);
        assert_eq!(function_name("pub(in crate::a) const unsafe extern \"C\" fn f(x: u8) {"), Some("f"));
    }
}
