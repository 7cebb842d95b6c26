//! The replay files of `tests/interleave` in the package under test: kept, so that a failure that was found once is looked for
//! first.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::error::ReplayError;
use super::location::is_named_after;
use super::recording::Recording;

/// Where they are, from the directory of the package.
pub(crate) const DIRECTORY: &str = "tests/interleave";

/// A replay file of that directory.
#[derive(Clone, Debug)]
pub(crate) struct Committed {
    /// Its path from the directory of the package.
    pub(crate) shown: String,
    /// What is in it.
    pub(crate) recording: Result<Recording, ReplayError>,
}

/// Those of `test` in `program`. The directory is read once in a process.
pub(crate) fn committed(program: &str, test: &str) -> Vec<&'static Committed> {
    static ALL: OnceLock<Vec<Committed>> = OnceLock::new();
    let package = || std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    ALL.get_or_init(|| read(&package())).iter().filter(|file| file.belongs_to(program, test)).collect()
}

/// The replay files that are committed in `package`, by name.
pub(crate) fn read(package: &Path) -> Vec<Committed> {
    let entries = std::fs::read_dir(package.join(DIRECTORY)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.ends_with(".il"));
    names.sort_unstable();
    let file = |name: String| {
        let shown = format!("{DIRECTORY}/{name}");
        let bytes = std::fs::read(package.join(&shown));
        let unreadable =
            |error: std::io::Error| ReplayError::Unreadable { path: shown.clone(), reason: error.to_string() };
        let recording = bytes.map_err(unreadable).and_then(|bytes| Recording::from_bytes(&shown, &bytes));
        Committed { shown, recording }
    };
    names.into_iter().map(file).collect()
}

impl Committed {
    /// Whether it is a failure of this test. A file that cannot be read goes by its name.
    pub(crate) fn belongs_to(&self, program: &str, test: &str) -> bool {
        let named = || is_named_after(self.shown.rsplit('/').next().unwrap_or_default(), program, test);
        match &self.recording {
            Ok(recording) if recording.program.is_empty() => recording.test == test && named(),
            Ok(recording) => recording.test == test && recording.program == program,
            Err(_) => named(),
        }
    }
}
