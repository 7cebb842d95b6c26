//! Paths and files.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::api::{MetadataExt, UnixListener, fs};
use crate::observe::{Rule, count, said};

fn links(file: &fs::File) -> u64 {
    file.metadata().unwrap().nlink()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "open() of a socket file",
        result: "ENXIO ENXIO",
        script: |dir| {
            let _listener = UnixListener::bind(dir.join("s")).unwrap();
            format!("{} {}", said(fs::File::open(dir.join("s"))), said(fs::File::create(dir.join("s"))))
        },
    },
    Rule {
        name: "exists: of nothing, of a file, below a file, in a missing directory",
        result: "false true ENOTDIR false",
        script: |dir| {
            fs::write(dir.join("f"), "x").unwrap();
            ["none", "f", "f/x", "none/x"].map(|name| count(fs::exists(dir.join(name)))).join(" ")
        },
    },
    Rule {
        name: "rename over an open file: the old descriptor keeps the old content and has no name",
        result: "old 0 new",
        script: |dir| {
            fs::write(dir.join("a"), "old").unwrap();
            fs::write(dir.join("b"), "new").unwrap();
            let mut file = fs::File::open(dir.join("a")).unwrap();
            fs::rename(dir.join("b"), dir.join("a")).unwrap();
            let mut old = String::new();
            file.read_to_string(&mut old).unwrap();
            format!("{old} {} {}", links(&file), text(&dir.join("a")))
        },
    },
    Rule {
        name: "rename of a missing file, into a missing directory, to itself",
        result: "ENOENT ENOENT ok",
        script: |dir| {
            fs::write(dir.join("a"), "").unwrap();
            let missing = said(fs::rename(dir.join("none"), dir.join("b")));
            let nowhere = said(fs::rename(dir.join("a"), dir.join("none/b")));
            format!("{missing} {nowhere} {}", said(fs::rename(dir.join("a"), dir.join("a"))))
        },
    },
    Rule {
        name: "rename between two links of one inode does nothing",
        result: "ok true true",
        script: |dir| {
            fs::write(dir.join("a"), "").unwrap();
            fs::hard_link(dir.join("a"), dir.join("b")).unwrap();
            let result = said(fs::rename(dir.join("a"), dir.join("b")));
            format!("{result} {} {}", count(fs::exists(dir.join("a"))), count(fs::exists(dir.join("b"))))
        },
    },
    Rule {
        name: "rename of a file onto a directory leaves both",
        result: "EISDIR true",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            fs::create_dir(dir.join("d")).unwrap();
            let result = said(fs::rename(dir.join("f"), dir.join("d")));
            format!(
                "{result} {}",
                fs::metadata(dir.join("f")).unwrap().is_file() && fs::metadata(dir.join("d")).unwrap().is_dir()
            )
        },
    },
    Rule {
        name: "hard_link onto an existing name, of a missing file, of a directory",
        result: "EEXIST ENOENT EPERM EEXIST",
        script: |dir| {
            fs::write(dir.join("a"), "").unwrap();
            fs::write(dir.join("b"), "").unwrap();
            let existing = said(fs::hard_link(dir.join("a"), dir.join("b")));
            let missing = said(fs::hard_link(dir.join("none"), dir.join("c")));
            let directory = said(fs::hard_link(dir, dir.join("c")));
            format!("{existing} {missing} {directory} {}", said(fs::hard_link(dir, dir.join("b"))))
        },
    },
    Rule {
        name: "hard_link counts",
        result: "1 2 1 1 0",
        script: |dir| {
            let file = fs::File::create(dir.join("a")).unwrap();
            let mut counts = vec![links(&file)];
            fs::hard_link(dir.join("a"), dir.join("b")).unwrap();
            counts.push(links(&file));
            fs::remove_file(dir.join("a")).unwrap();
            counts.push(links(&file));
            fs::rename(dir.join("b"), dir.join("c")).unwrap();
            counts.push(links(&file));
            fs::remove_file(dir.join("c")).unwrap();
            counts.push(links(&file));
            counts.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
        },
    },
    Rule {
        name: "two names of one inode",
        result: "same same text",
        script: |dir| {
            fs::write(dir.join("a"), "before").unwrap();
            fs::hard_link(dir.join("a"), dir.join("b")).unwrap();
            fs::write(dir.join("a"), "text").unwrap();
            let ino = |name| fs::metadata(dir.join(name)).unwrap().ino();
            let same = |a, b| if a == b { "same" } else { "different" };
            let by_descriptor = fs::File::open(dir.join("b")).unwrap().metadata().unwrap().ino();
            format!("{} {} {}", same(ino("a"), ino("b")), same(ino("a"), by_descriptor), text(&dir.join("b")))
        },
    },
    Rule {
        name: "create_new on an existing file, on a directory; create on a directory; open of a missing file",
        result: "EEXIST EEXIST EISDIR ENOENT",
        script: |dir| {
            fs::write(dir.join("a"), "").unwrap();
            fs::create_dir(dir.join("d")).unwrap();
            [
                said(fs::File::create_new(dir.join("a"))),
                said(fs::File::create_new(dir.join("d"))),
                said(fs::File::create(dir.join("d"))),
                said(fs::File::open(dir.join("none"))),
            ]
            .join(" ")
        },
    },
    Rule {
        name: "open below a regular file, in a missing directory",
        result: "ENOTDIR ENOENT",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            format!("{} {}", said(fs::File::create(dir.join("f/x"))), said(fs::File::create(dir.join("none/x"))))
        },
    },
    Rule {
        name: "an unlinked open file can be read and written",
        result: "ok x 0 1",
        script: |dir| {
            let mut file = fs::File::create_new(dir.join("a")).unwrap();
            fs::remove_file(dir.join("a")).unwrap();
            let wrote = said(file.write_all(b"x"));
            file.seek(SeekFrom::Start(0)).unwrap();
            let mut back = String::new();
            file.read_to_string(&mut back).unwrap();
            format!("{wrote} {back} {} {}", links(&file), file.metadata().unwrap().len())
        },
    },
    Rule {
        name: "remove_file twice, of a directory",
        result: "ok ENOENT EISDIR",
        script: |dir| {
            fs::write(dir.join("a"), "").unwrap();
            let (once, twice) = (said(fs::remove_file(dir.join("a"))), said(fs::remove_file(dir.join("a"))));
            format!("{once} {twice} {}", said(fs::remove_file(dir)))
        },
    },
    Rule {
        name: "mkdir on a file, on a directory, in a missing one, below a file",
        result: "EEXIST EEXIST ENOENT ENOTDIR",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            fs::create_dir(dir.join("d")).unwrap();
            ["f", "d", "none/x", "f/x"].map(|name| said(fs::create_dir(dir.join(name)))).join(" ")
        },
    },
    Rule {
        name: "create_dir_all: of several, again, on a file, below a file",
        result: "ok ok EEXIST ENOTDIR",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            ["a/b/c", "a/b/c", "f", "f/x"].map(|name| said(fs::create_dir_all(dir.join(name)))).join(" ")
        },
    },
    Rule {
        name: "append goes to the end at each write",
        result: "abc",
        script: |dir| {
            let open = || fs::File::options().append(true).create(true).open(dir.join("a")).unwrap();
            let (mut f, mut g) = (open(), open());
            f.write_all(b"a").unwrap();
            g.write_all(b"b").unwrap();
            f.write_all(b"c").unwrap();
            text(&dir.join("a"))
        },
    },
    Rule {
        name: "without append two descriptors overwrite; a dup shares the offset",
        result: "b ab",
        script: |dir| {
            let mut f = fs::File::create(dir.join("a")).unwrap();
            let mut g = fs::File::options().write(true).open(dir.join("a")).unwrap();
            f.write_all(b"a").unwrap();
            g.write_all(b"b").unwrap();
            let mut f = fs::File::create(dir.join("b")).unwrap();
            let mut g = f.try_clone().unwrap();
            f.write_all(b"a").unwrap();
            g.write_all(b"b").unwrap();
            format!("{} {}", text(&dir.join("a")), text(&dir.join("b")))
        },
    },
    Rule {
        name: "truncate under a writer at an offset leaves a hole of zeros",
        result: "4 [0, 0, 0, 120]",
        script: |dir| {
            let mut file = fs::File::create(dir.join("a")).unwrap();
            file.write_all(b"abc").unwrap();
            file.set_len(0).unwrap();
            file.write_all(b"x").unwrap();
            format!("{} {:?}", file.metadata().unwrap().len(), fs::read(dir.join("a")).unwrap())
        },
    },
    Rule {
        name: "File::create empties what is there, also under an open descriptor",
        result: "3 0 3",
        script: |dir| {
            fs::write(dir.join("a"), "abc").unwrap();
            let file = fs::File::open(dir.join("a")).unwrap();
            let before = file.metadata().unwrap().len();
            let new = fs::File::create(dir.join("a")).unwrap();
            let emptied = file.metadata().unwrap().len();
            new.set_len(3).unwrap();
            format!("{before} {emptied} {}", file.metadata().unwrap().len())
        },
    },
    Rule {
        name: "reading what is open for writing only, the other way round, reading a directory",
        result: "EBADF EBADF EINVAL EISDIR",
        script: |dir| {
            let mut writer = fs::File::create(dir.join("a")).unwrap();
            let mut reader = fs::File::open(dir.join("a")).unwrap();
            [
                count(writer.read(&mut [0; 8])),
                count(reader.write(b"x")),
                said(reader.set_len(0)),
                count(fs::File::open(dir).unwrap().read(&mut [0; 8])),
            ]
            .join(" ")
        },
    },
    Rule {
        name: "options that do not go together",
        result: "same as std",
        script: |dir| {
            let all = 0..1 << 6;
            let path = dir.join("a");
            let result = |set: u32| {
                let on = |bit: u32| set >> bit & 1 == 1;
                let mut real = std::fs::OpenOptions::new();
                real.read(on(0)).write(on(1)).append(on(2)).truncate(on(3)).create(on(4)).create_new(on(5));
                let mut this = fs::OpenOptions::new();
                this.read(on(0)).write(on(1)).append(on(2)).truncate(on(3)).create(on(4)).create_new(on(5));
                // There is nothing at either path.
                let ours = this.open(&path).map(|_| fs::remove_file(&path).unwrap());
                let theirs = real.open("/proc/none");
                match (ours, theirs.map(drop)) {
                    (Ok(()), _) => on(4) || on(5),
                    (Err(ours), Err(theirs)) => ours.to_string() == theirs.to_string(),
                    (Err(_), Ok(())) => false,
                }
            };
            let different: Vec<u32> = all.filter(|&set| !result(set)).collect();
            if different.is_empty() { "same as std".into() } else { format!("{different:?}") }
        },
    },
    Rule {
        name: "seek: to the end, from here, before the start",
        result: "3 1 EINVAL bc",
        script: |dir| {
            fs::write(dir.join("a"), "abc").unwrap();
            let mut file = fs::File::open(dir.join("a")).unwrap();
            let end = count(file.seek(SeekFrom::End(0)));
            let here = count(file.seek(SeekFrom::Current(-2)));
            let before = count(file.seek(SeekFrom::Current(-2)));
            let mut rest = String::new();
            (&file).read_to_string(&mut rest).unwrap();
            format!("{end} {here} {before} {rest}")
        },
    },
    Rule {
        name: "what is not UTF-8",
        result: "InvalidData stream did not contain valid UTF-8",
        script: |dir| {
            fs::write(dir.join("a"), [0xff]).unwrap();
            count(fs::read_to_string(dir.join("a")))
        },
    },
];
