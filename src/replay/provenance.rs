//! What a recording was made from: a replay that diverges most often means that the sources have changed.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::report::read_below;

/// The sources and the commit of a recording, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Provenance {
    /// A fingerprint of each source file that the decisions name and that could be read.
    #[serde(default)]
    pub(crate) sources: BTreeMap<String, String>,
    /// The commit that was checked out.
    #[serde(default)]
    pub(crate) commit: Option<String>,
}

impl Provenance {
    /// Of `files`, looked for in `root` and above.
    pub(crate) fn new<'a>(files: impl Iterator<Item = &'a str>, root: &Path) -> Self {
        let read = |file: &str| Some((file.to_owned(), fingerprint(&read_below(root, file)?)));
        Provenance { sources: files.filter_map(read).collect(), commit: commit(root) }
    }

    /// The files that have changed since, or are gone.
    pub(crate) fn changed(&self, root: &Path) -> Vec<&str> {
        let same = |(file, known): &(&String, &String)| {
            read_below(root, file).is_some_and(|text| fingerprint(&text) == **known)
        };
        self.sources.iter().filter(|entry| !same(entry)).map(|(file, _)| file.as_str()).collect()
    }
}

/// FNV-1a of the text with Unix line ends, which a checkout may change.
fn fingerprint(text: &str) -> String {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.replace("\r\n", "\n").bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}

/// The commit that is checked out in the repository around `root`. Read from its files: a test must not start programs.
fn commit(root: &Path) -> Option<String> {
    let dot_git = root.ancestors().map(|directory| directory.join(".git")).find(|path| path.exists())?;
    let directory = match std::fs::read_to_string(&dot_git) {
        // A work tree or a submodule: a file that names the directory.
        Ok(text) => dot_git.parent()?.join(text.strip_prefix("gitdir:")?.trim()),
        Err(_) => dot_git,
    };
    let head = std::fs::read_to_string(directory.join("HEAD")).ok()?;
    let Some(reference) = head.trim().strip_prefix("ref:").map(str::trim) else {
        return valid(head.trim());
    };
    // The branches of a work tree are kept in the main repository.
    let common = std::fs::read_to_string(directory.join("commondir")).ok();
    let shared = common.map_or_else(|| directory.clone(), |path| directory.join(path.trim()));
    let loose = [&directory, &shared].into_iter().find_map(|base| std::fs::read_to_string(base.join(reference)).ok());
    let packed = || {
        let text = std::fs::read_to_string(shared.join("packed-refs")).ok()?;
        text.lines()
            .find_map(|line| line.split_once(' ').filter(|(_, name)| *name == reference))
            .map(|(hash, _)| hash.to_owned())
    };
    valid(loose.or_else(packed)?.trim())
}

fn valid(hash: &str) -> Option<String> {
    (hash.len() >= 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| hash.to_owned())
}
