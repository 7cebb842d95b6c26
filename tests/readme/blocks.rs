//! The fenced blocks of a document.

use std::path::{Path, PathBuf};

/// A block between two lines of backticks.
#[derive(Debug)]
pub(crate) struct Fence {
    /// What follows the opening backticks.
    pub(crate) info: String,
    /// The lines between, each with its end.
    pub(crate) text: String,
    /// The number of the first line, from 1.
    line: usize,
}

/// A Markdown file.
pub(crate) struct Document {
    name: &'static str,
    path: PathBuf,
    fences: Vec<Fence>,
}

impl Document {
    /// Reads a document of this package.
    pub(crate) fn open(name: &'static str) -> Document {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut fences = Vec::new();
        let mut open: Option<Fence> = None;
        for (index, line) in text.lines().enumerate() {
            match (line.strip_prefix("```"), &mut open) {
                (Some(_), Some(_)) => fences.extend(open.take()),
                (Some(info), None) => {
                    open = Some(Fence { info: info.to_owned(), text: String::new(), line: index + 2 })
                }
                (None, Some(fence)) => fence.text.extend([line, "\n"]),
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{name}: a block is not closed");
        Document { name, path, fences }
    }

    /// How many blocks are of this kind.
    pub(crate) fn count(&self, info: &str) -> usize {
        self.fences.iter().filter(|fence| fence.info == info).count()
    }

    /// The first block of this kind.
    pub(crate) fn first(&self, info: &str) -> String {
        self.all(info).next().expect("a block of this kind")
    }

    /// All blocks of this kind.
    pub(crate) fn all(&self, info: &str) -> impl Iterator<Item = String> {
        self.fences.iter().filter(move |fence| fence.info == info).map(|fence| fence.text.clone())
    }

    /// Compares each block with what it should be, where `f` knows that; or writes that into the file if asked to.
    pub(crate) fn check(&mut self, mut f: impl FnMut(&Fence) -> Option<String>) {
        let update = std::env::var_os("UPDATE_DOCS").is_some();
        let (mut wrong, mut changed) = (Vec::new(), false);
        for fence in &mut self.fences {
            let Some(now) = f(fence) else { continue };
            if super::output::normalised(&fence.text) == super::output::normalised(&now) {
                continue;
            }
            if update {
                changed = true;
                fence.text = now;
            } else {
                wrong.push(format!(
                    "{}:{} shows\n\n{}\nbut what is printed is\n\n{now}",
                    self.name, fence.line, fence.text
                ));
            }
        }
        if changed {
            self.write();
        }
        assert!(wrong.is_empty(), "{}\n(UPDATE_DOCS=1 writes what is printed into the document)", wrong.join("\n\n"));
    }

    fn write(&self) {
        let old = std::fs::read_to_string(&self.path).expect("it has been read before");
        let mut new = String::new();
        let mut fences = self.fences.iter();
        let mut inside = false;
        for line in old.lines() {
            if line.starts_with("```") {
                inside = !inside;
                new.extend([line, "\n"]);
                if inside {
                    new.push_str(&fences.next().expect("the same blocks as before").text);
                }
            } else if !inside {
                new.extend([line, "\n"]);
            }
        }
        std::fs::write(&self.path, new).expect("the document can be written");
    }
}
