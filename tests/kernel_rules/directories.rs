//! Directories: what is in them, and how they go.

use std::path::Path;

use super::api::{MetadataExt, UnixListener, fs, symlink};
use crate::observe::{Rule, count, said};

/// What is in a directory, sorted.
fn names(directory: &Path) -> String {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(directory).unwrap().map(name).collect();
    names.sort();
    names.join(" ")
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "remove_file of a directory, remove_dir of a file",
        result: "EISDIR ENOTDIR ENOTDIR",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            fs::create_dir(dir.join("d")).unwrap();
            let _listener = UnixListener::bind(dir.join("s")).unwrap();
            let (file, socket) = (said(fs::remove_dir(dir.join("f"))), said(fs::remove_dir(dir.join("s"))));
            format!("{} {file} {socket}", said(fs::remove_file(dir.join("d"))))
        },
    },
    Rule {
        name: "mkdir on a file, on a directory; remove_dir of a full one, of an emptied one, of a missing one",
        result: "EEXIST EEXIST ENOTEMPTY ok ENOENT",
        script: |dir| {
            fs::create_dir(dir.join("d")).unwrap();
            fs::write(dir.join("d/f"), "").unwrap();
            let made = ["d/f", "d"].map(|name| said(fs::create_dir(dir.join(name)))).join(" ");
            let full = said(fs::remove_dir(dir.join("d")));
            fs::remove_file(dir.join("d/f")).unwrap();
            let emptied = said(fs::remove_dir(dir.join("d")));
            format!("{made} {full} {emptied} {}", said(fs::remove_dir(dir.join("d"))))
        },
    },
    Rule {
        name: "remove_dir below a file, by a dot, by two dots, with a slash",
        result: "ENOTDIR ENOENT EINVAL ENOTEMPTY ok",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            fs::create_dir_all(dir.join("d/e")).unwrap();
            ["f/x", "none/.", "d/.", "d/e/..", "d/e/"].map(|name| said(fs::remove_dir(dir.join(name)))).join(" ")
        },
    },
    Rule {
        name: "a directory can be emptied by rename and made again with another inode",
        result: "ENOTEMPTY ok ok true",
        script: |dir| {
            fs::create_dir(dir.join("d")).unwrap();
            let before = fs::metadata(dir.join("d")).unwrap();
            fs::write(dir.join("d/f"), "").unwrap();
            let full = said(fs::remove_dir(dir.join("d")));
            fs::rename(dir.join("d/f"), dir.join("f")).unwrap();
            // Kept open, so that its number is not free.
            let open = fs::File::open(dir.join("d")).unwrap();
            let emptied = said(fs::remove_dir(dir.join("d")));
            let again = said(fs::create_dir(dir.join("d")));
            let other = fs::metadata(dir.join("d")).unwrap().ino() != before.ino();
            drop(open);
            format!("{full} {emptied} {again} {other}")
        },
    },
    Rule {
        name: "nothing can be made in a directory that was removed",
        result: "ENOENT ENOENT ENOENT ENOENT ENOENT",
        script: |dir| {
            fs::create_dir(dir.join("d")).unwrap();
            fs::write(dir.join("f"), "").unwrap();
            fs::remove_dir(dir.join("d")).unwrap();
            [
                said(fs::write(dir.join("d/x"), "")),
                said(fs::create_dir(dir.join("d/x"))),
                said(fs::rename(dir.join("f"), dir.join("d/x"))),
                said(fs::hard_link(dir.join("f"), dir.join("d/x"))),
                said(UnixListener::bind(dir.join("d/x"))),
            ]
            .join(" ")
        },
    },
    Rule {
        name: "read_dir: what was made, linked, bound and renamed, not what was removed",
        result: "b c d s; ",
        script: |dir| {
            fs::write(dir.join("a"), "").unwrap();
            fs::hard_link(dir.join("a"), dir.join("b")).unwrap();
            fs::rename(dir.join("a"), dir.join("c")).unwrap();
            fs::create_dir(dir.join("d")).unwrap();
            let _listener = UnixListener::bind(dir.join("s")).unwrap();
            format!("{}; {}", names(dir), names(&dir.join("d")))
        },
    },
    Rule {
        name: "read_dir of a missing directory, of a file, below a file",
        result: "ENOENT ENOTDIR ENOTDIR",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            ["none", "f", "f/x"].map(|name| said(fs::read_dir(dir.join(name)))).join(" ")
        },
    },
    Rule {
        name: "remove_dir_all: of several, of a missing one, of a file",
        result: "ok false ENOENT ENOTDIR",
        script: |dir| {
            fs::create_dir_all(dir.join("d/e")).unwrap();
            fs::write(dir.join("d/e/f"), "").unwrap();
            fs::write(dir.join("d/f"), "").unwrap();
            fs::write(dir.join("f"), "").unwrap();
            let all = said(fs::remove_dir_all(dir.join("d")));
            let left = count(fs::exists(dir.join("d")));
            let again = said(fs::remove_dir_all(dir.join("d")));
            format!("{all} {left} {again} {}", said(fs::remove_dir_all(dir.join("f"))))
        },
    },
    Rule {
        name: "rename of a file onto a directory, of a directory onto a file, a socket and a symbolic link",
        result: "EISDIR ENOTDIR ENOTDIR ENOTDIR true",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            fs::create_dir(dir.join("d")).unwrap();
            fs::create_dir(dir.join("e")).unwrap();
            let _listener = UnixListener::bind(dir.join("s")).unwrap();
            symlink("e", dir.join("l")).unwrap();
            let onto = |from, to| said(fs::rename(dir.join(from), dir.join(to)));
            let results = [onto("f", "d"), onto("d", "f"), onto("d", "s"), onto("d", "l")].join(" ");
            format!("{results} {}", names(dir) == "d e f l s")
        },
    },
    Rule {
        name: "rename of a directory onto nothing, an empty directory, a full one, into a missing one",
        result: "ok ok true ENOTEMPTY ENOENT b c full; new",
        script: |dir| {
            for name in ["a", "c", "full"] {
                fs::create_dir(dir.join(name)).unwrap();
            }
            fs::write(dir.join("full/f"), "").unwrap();
            let number = |name: &str| fs::metadata(dir.join(name)).unwrap().ino();
            let onto = |from, to| said(fs::rename(dir.join(from), dir.join(to)));
            let before = number("a");
            let results = [onto("a", "b"), onto("b", "c")].join(" ");
            let same = number("c") == before;
            fs::create_dir(dir.join("b")).unwrap();
            let errors = [onto("b", "full"), onto("b", "none/b")].join(" ");
            fs::write(dir.join("c/new"), "").unwrap();
            format!("{results} {same} {errors} {}; {}", names(dir), names(&dir.join("c")))
        },
    },
    Rule {
        name: "rename of a directory onto itself, into itself, of what is in it onto it",
        result: "ok EINVAL ENOTEMPTY ENOTEMPTY ENOENT",
        script: |dir| {
            fs::create_dir_all(dir.join("d/e")).unwrap();
            fs::write(dir.join("d/f"), "").unwrap();
            let onto = |from, to| said(fs::rename(dir.join(from), dir.join(to)));
            [onto("d", "d"), onto("d", "d/x"), onto("d/e", "d"), onto("d/f", "d"), onto("d/none", "d")].join(" ")
        },
    },
    Rule {
        name: "copy: to a new file, over one, of a missing one, of a directory, into a missing directory",
        result: "3 3 abc ENOENT InvalidInput ENOENT",
        script: |dir| {
            fs::write(dir.join("a"), "abc").unwrap();
            fs::write(dir.join("c"), "longer").unwrap();
            let [new, over] = ["b", "c"].map(|to| count(fs::copy(dir.join("a"), dir.join(to))));
            let text = fs::read_to_string(dir.join("c")).unwrap();
            let missing = said(fs::copy(dir.join("none"), dir.join("d")));
            let directory = fs::copy(dir, dir.join("d")).unwrap_err().kind();
            format!("{new} {over} {text} {missing} {directory:?} {}", said(fs::copy(dir.join("a"), dir.join("none/a"))))
        },
    },
];
