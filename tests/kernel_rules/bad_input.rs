//! Paths that lead nowhere, to something else, or are none; and what a descriptor is not open for.

use std::io::{Read, Result, Write};
use std::path::{Path, PathBuf};

use super::api::{UnixDatagram, UnixListener, UnixStream, fs, symlink};
use crate::observe::{Rule, said};

/// A call on a path.
type Call = fn(&Path) -> Result<()>;

/// What takes one path. Those that make something come first.
const CALLS: [Call; 19] = [
    |path| fs::File::create(path).map(drop),
    |path| fs::File::create_new(path).map(drop),
    |path| fs::write(path, "x"),
    |path| fs::create_dir(path),
    |path| fs::create_dir_all(path),
    |path| symlink("target", path),
    |path| UnixListener::bind(path).map(drop),
    |path| UnixDatagram::bind(path).map(drop),
    |path| fs::File::open(path).map(drop),
    |path| fs::read(path).map(drop),
    |path| fs::read_to_string(path).map(drop),
    |path| fs::metadata(path).map(drop),
    |path| fs::symlink_metadata(path).map(drop),
    |path| fs::read_link(path).map(drop),
    |path| fs::remove_file(path),
    |path| fs::remove_dir(path),
    |path| fs::read_dir(path).map(drop),
    |path| UnixStream::connect(path).map(drop),
    |path| UnixDatagram::unbound()?.send_to(b"x", path).map(drop),
];

/// What the calls say about a path, those that say the same together.
fn all_say(path: &Path) -> String {
    let mut said_so: Vec<(String, usize)> = Vec::new();
    for call in CALLS {
        let says = said(call(path));
        match said_so.last_mut() {
            Some((before, count)) if *before == says => *count += 1,
            _ => said_so.push((says, 1)),
        }
    }
    said_so.into_iter().map(|(says, count)| format!("{says}x{count}")).collect::<Vec<_>>().join(" ")
}

/// A directory with a file.
fn make(dir: &Path) -> &Path {
    fs::write(dir.join("there"), "").unwrap();
    dir
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "every call, on a path that does not exist",
        result: "ENOENTx4 okx1 EEXISTx1 EADDRINUSEx2 okx1 EISDIRx2 okx2 EINVALx1 EISDIRx1 okx1 ENOENTx3",
        script: |dir| all_say(&make(dir).join("none/below")),
    },
    Rule {
        name: "every call, below a file",
        result: "ENOTDIRx19",
        script: |dir| all_say(&make(dir).join("there/below")),
    },
    Rule {
        name: "every call, on a directory",
        result: "EISDIRx1 EEXISTx1 EISDIRx1 EEXISTx1 okx1 EEXISTx1 EADDRINUSEx2 okx1 EISDIRx2 okx2 EINVALx1 EISDIRx1 \
                 ENOTEMPTYx1 okx1 ECONNREFUSEDx2",
        script: |dir| {
            fs::create_dir(make(dir).join("d")).unwrap();
            fs::write(dir.join("d/there"), "").unwrap();
            all_say(&dir.join("d"))
        },
    },
    Rule {
        name: "every call, on a name of 256 bytes",
        result: "ENAMETOOLONGx6 InvalidInput path must be shorter than SUN_LENx2 ENAMETOOLONGx9 InvalidInput path \
                 must be shorter than SUN_LENx2",
        script: |dir| all_say(&make(dir).join("x".repeat(256))),
    },
    Rule {
        name: "a name of 255 bytes is none too long; nor is one of 256 in a missing directory",
        result: "ok ENOENT",
        script: |dir| {
            let longest = said(fs::write(dir.join("x".repeat(255)), ""));
            format!("{longest} {}", said(fs::write(dir.join("none").join("x".repeat(256)), "")))
        },
    },
    Rule {
        name: "every call, on a path of 4096 bytes; one of 4095",
        result: "ENAMETOOLONGx6 InvalidInput path must be shorter than SUN_LENx2 ENAMETOOLONGx9 InvalidInput path \
                 must be shorter than SUN_LENx2; ok",
        script: |dir| {
            let path = |length: usize| {
                let mut path = make(dir).to_path_buf();
                while path.as_os_str().len() + 2 < length {
                    path.push(".");
                }
                let left = length - path.as_os_str().len();
                PathBuf::from(format!("{}{}", path.display(), "/".repeat(left)))
            };
            format!("{}; {}", all_say(&path(4096)), said(fs::metadata(path(4095))))
        },
    },
    Rule {
        name: "every call, on a path with a NUL",
        result: "InvalidInput file name contained an unexpected NUL bytex6 InvalidInput paths must not contain \
                 interior null bytesx2 InvalidInput file name contained an unexpected NUL bytex9 InvalidInput paths \
                 must not contain interior null bytesx2",
        script: |dir| all_say(&make(dir).join("a\0b")),
    },
    Rule {
        name: "every call, on an empty path",
        result: "ENOENT ENOENT ENOENT ENOENT ENOENT ENOENT ENOENT ENOENT ENOENT",
        script: |_| CALLS[8..17].iter().map(|call| said(call(Path::new("")))).collect::<Vec<_>>().join(" "),
    },
    Rule {
        name: "a symbolic link to a path of 4096 bytes, of 4095, with a NUL, to a name of 256 bytes",
        result: "ENAMETOOLONG InvalidInput file name contained an unexpected NUL byte ok ENAMETOOLONG ok",
        script: |dir| {
            let to = |target: &str| said(symlink(target, dir.join("l")));
            let made = [to(&"x/".repeat(2048)), to("a\0b"), to(&"x".repeat(256))].join(" ");
            let through = said(fs::metadata(dir.join("l")));
            fs::remove_file(dir.join("l")).unwrap();
            format!("{made} {through} {}", to(&("x".to_owned() + &"/x".repeat(2047))))
        },
    },
    Rule {
        name: "what a descriptor is not open for",
        result: "EBADF EINVAL EBADF EISDIR EBADF EINVAL",
        script: |dir| {
            fs::write(dir.join("f"), "text").unwrap();
            fs::create_dir(dir.join("d")).unwrap();
            let mut read_only = fs::File::open(dir.join("f")).unwrap();
            let mut write_only = fs::File::create(dir.join("g")).unwrap();
            let mut directory = fs::File::open(dir.join("d")).unwrap();
            let buffer = &mut [0];
            [
                said(read_only.write(b"x")),
                said(read_only.set_len(0)),
                said(write_only.read(buffer)),
                said(directory.read(buffer)),
                said(directory.write(b"x")),
                said(directory.set_len(0)),
            ]
            .join(" ")
        },
    },
    Rule {
        name: "options that make no sense: nothing, truncate or create for a reader, truncate for an appender",
        result: "InvalidInput must specify at least one of read, write, or append access InvalidInput creating or \
                 truncating a file requires write or append access InvalidInput creating or truncating a file \
                 requires write or append access InvalidInput creating or truncating a file requires write or append \
                 access",
        script: |dir| {
            let open = |options: &fs::OpenOptions| said(options.open(dir.join("f")));
            [
                open(&fs::OpenOptions::new()),
                open(fs::OpenOptions::new().read(true).truncate(true)),
                open(fs::OpenOptions::new().read(true).create(true)),
                open(fs::OpenOptions::new().append(true).truncate(true)),
            ]
            .join(" ")
        },
    },
];
