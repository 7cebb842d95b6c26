//! Where replay files are kept: `target/interleave/<program>--<test>.il`.

use std::path::{Path, PathBuf};

use super::checksum::crc32;

/// Longer names are cut: file systems allow 255 bytes.
const NAME: usize = 120;

/// The path of a replay file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReplayPath {
    /// Where to write it.
    pub(crate) path: PathBuf,
    /// What to print: it is found again from the directory of the package, and from any directory between that and the root
    /// of the workspace.
    pub(crate) shown: String,
}

/// Where the replay file of `test` in `program` (the name of the test binary) is kept.
pub(crate) fn path_for(program: &str, test: &str) -> ReplayPath {
    let here = std::env::current_dir().unwrap_or_default();
    let executable = std::env::current_exe().unwrap_or_default();
    // Cargo marks its target directory with this file, whatever it is called.
    let target = executable.ancestors().find(|directory| directory.join("CACHEDIR.TAG").exists());
    let target = target.map_or_else(|| here.join("target"), Path::to_path_buf);
    placed(&here, &target, &file_name(program, test))
}

fn placed(here: &Path, target: &Path, name: &str) -> ReplayPath {
    let path = target.join("interleave").join(name);
    let relative = here.ancestors().find_map(|directory| path.strip_prefix(directory).ok());
    // A target directory far away has a relative path only below the root of the file system.
    let short = relative.filter(|_| here.ancestors().any(|directory| target.parent() == Some(directory)));
    let shown = short.unwrap_or(&path).display().to_string();
    ReplayPath { path, shown }
}

/// A name that every file system takes; names that were changed have a checksum, so no two tests share a file.
pub(crate) fn file_name(program: &str, test: &str) -> String {
    let full = format!("{program}--{}", test.replace("::", "--"));
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let safe: String = full.chars().map(|c| if plain(c) { c } else { '-' }).take(NAME).collect();
    if safe == full { format!("{safe}.il") } else { format!("{safe}-{:08x}.il", crc32(full.as_bytes())) }
}

/// Whether the file `name` is called as [`path_for`] would call it, or so with a number: `counter--lost.il`, `counter--lost.2.il`.
pub(crate) fn is_named_after(name: &str, program: &str, test: &str) -> bool {
    let expected = file_name(program, test);
    let stem = expected.strip_suffix(".il").unwrap_or(&expected);
    let number = name.strip_prefix(stem).and_then(|rest| rest.strip_suffix(".il"));
    number.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('.').is_some_and(|n| n.parse::<u32>().is_ok()))
}

/// The file that `given` names: relative paths are looked for here and in the directories above.
pub(crate) fn find(given: &str) -> Option<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    here.ancestors().map(|directory| directory.join(given)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_distinct() {
        assert_eq!(file_name("counter", "two_increments"), "counter--two_increments.il");
        assert_eq!(file_name("unit", "queue::tests::push"), "unit--queue--tests--push.il");
        assert_eq!(file_name("a", "x/../y z"), "a--x-..-y-z-b0f273c4.il");
        assert_ne!(file_name("a", "x y"), file_name("a", "x/y"));
        assert!(file_name("a", &"é".repeat(500)).len() < 150);
    }

    #[test]
    fn files_with_a_number_belong_to_the_same_test() {
        let is_lost = |name| is_named_after(name, "counter", "lost");
        assert!(is_lost("counter--lost.il") && is_lost("counter--lost.2.il"));
        assert!(!is_lost("counter--lost2.il") && !is_lost("counter--lost.x.il") && !is_lost("other--lost.il"));
    }

    #[test]
    fn paths_are_shown_from_the_directory_above_target() {
        let shown = |here: &str, target: &str| placed(Path::new(here), Path::new(target), "t.il").shown;
        assert_eq!(shown("/w/crate", "/w/target"), "target/interleave/t.il");
        assert_eq!(shown("/w", "/w/target"), "target/interleave/t.il");
        assert_eq!(shown("/w/crate", "/elsewhere/build"), "/elsewhere/build/interleave/t.il");
    }
}
