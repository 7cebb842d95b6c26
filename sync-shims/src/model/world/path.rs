//! From what the user wrote to a name in the namespace.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

/// Relative paths start here.
pub(crate) const WORKING_DIRECTORY: &str = "/cwd";

/// Directories that are there from the start, and stay: the usual places for sockets and temporary files, whatever
/// `std::env::temp_dir` says, and their ancestors. They are not read from the machine, so that a model is the same on all.
static INITIAL: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    let places = [WORKING_DIRECTORY, "/tmp", "/run", "/var/run", "/var/tmp", "/var/lib", "/dev/shm"];
    let mut all: Vec<PathBuf> = Vec::new();
    for place in places.iter().map(PathBuf::from).chain([resolve(&std::env::temp_dir())]) {
        for directory in place.ancestors() {
            if !all.iter().any(|known| known == directory) {
                all.push(directory.to_path_buf());
            }
        }
    }
    all
});

/// If `path` is a directory that is there from the start: its inode number, from 1.
pub(crate) fn initial_directory(path: &Path) -> Option<u64> {
    INITIAL.iter().position(|known| known == path).map(|index| index as u64 + 1)
}

/// The directories that are there from the start, and are in `directory`.
pub(crate) fn initial_directories_in(directory: &Path) -> impl Iterator<Item = PathBuf> {
    INITIAL.iter().filter(move |known| known.parent() == Some(directory)).cloned()
}

/// The absolute name without `.` and `..`, if there are no symbolic links on the way.
fn resolve(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::from(if path.is_absolute() { "/" } else { WORKING_DIRECTORY });
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            Component::ParentDir => {
                resolved.pop();
            }
            Component::Normal(name) => resolved.push(name),
        }
    }
    resolved
}

/// What the user wrote last, which [`Path::components`] does not tell if it is `.`.
pub(crate) fn last_component(path: &Path) -> &[u8] {
    let mut components = path.as_os_str().as_bytes().rsplit(|&byte| byte == b'/');
    components.find(|component| !component.is_empty()).unwrap_or_default()
}

/// The name as a report shows it: relative, if the user's was.
pub(crate) fn shown(path: &Path) -> &Path {
    match path.strip_prefix(WORKING_DIRECTORY) {
        Ok(relative) if !relative.as_os_str().is_empty() => relative,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_absolute_and_plain() {
        assert_eq!(resolve(Path::new("/a/./b/../c")), Path::new("/a/c"));
        assert_eq!(resolve(Path::new("sock")), Path::new("/cwd/sock"));
        assert_eq!(resolve(Path::new("/../x")), Path::new("/x"));
        assert_eq!(shown(Path::new("/cwd/sock")), Path::new("sock"));
        assert_eq!(shown(Path::new("/tmp/sock")), Path::new("/tmp/sock"));
        assert_eq!(shown(Path::new("/cwd")), Path::new("/cwd"));
    }

    #[test]
    fn the_last_component_is_what_was_written() {
        for (path, last) in [("a/b", "b"), ("a/b//", "b"), ("a/.", "."), ("a/../", ".."), ("/", ""), ("", "")] {
            assert_eq!(last_component(Path::new(path)), last.as_bytes());
        }
    }

    #[test]
    fn some_directories_are_there_from_the_start() {
        assert_eq!(initial_directory(Path::new("/tmp/a")), None);
        assert_ne!(initial_directory(Path::new("/tmp")), initial_directory(Path::new("/run")));
    }
}
