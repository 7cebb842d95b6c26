//! Symbolic links: who follows them, and who does not.

use std::path::Path;

use super::api::{MetadataExt, UnixDatagram, UnixListener, UnixStream, fs, symlink};
use crate::observe::{Rule, count, said};

/// What the name itself is, and what it leads to.
fn is(path: &Path) -> String {
    let kind = |metadata: std::io::Result<fs::Metadata>| match metadata {
        Ok(metadata) if metadata.is_symlink() => "link".into(),
        Ok(metadata) if metadata.is_dir() => "dir".into(),
        Ok(metadata) if metadata.is_file() => "file".into(),
        Ok(_) => "other".into(),
        Err(error) => said::<()>(Err(error)),
    };
    format!("{}:{}", kind(fs::symlink_metadata(path)), kind(fs::metadata(path)))
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "symlink: to a file, to a directory, to nothing, onto a name, onto a dangling link, of an empty path, nowhere",
        result: "ok ok ok EEXIST EEXIST ENOENT ENOENT ENOTDIR link:file link:dir link:ENOENT",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            fs::create_dir(dir.join("d")).unwrap();
            let pairs = [
                ("f", "to_f"),
                ("d", "to_d"),
                ("none", "dangling"),
                ("f", "d"),
                ("f", "dangling"),
                ("", "e"),
                ("f", "no/e"),
                ("f", "f/e"),
            ];
            let made = pairs.map(|(target, link)| said(symlink(target, dir.join(link)))).join(" ");
            format!("{made} {}", ["to_f", "to_d", "dangling"].map(|name| is(&dir.join(name))).join(" "))
        },
    },
    Rule {
        name: "read_link gives what was written: of a link, of a dangling one, of a file, of a directory, of nothing",
        result: "./f ../x/ EINVAL EINVAL ENOENT 3 5 1",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            symlink("./f", dir.join("l")).unwrap();
            symlink("../x/", dir.join("dangling")).unwrap();
            let read = |name: &str| count(fs::read_link(dir.join(name)).map(|path| path.display().to_string()));
            let len = |name: &str| fs::symlink_metadata(dir.join(name)).unwrap().len();
            let links = fs::symlink_metadata(dir.join("l")).unwrap().nlink();
            let all = ["l", "dangling", "f", ".", "none"].map(read).join(" ");
            format!("{all} {} {} {links}", len("l"), len("dangling"))
        },
    },
    Rule {
        name: "bind on a dangling symlink, on one to a socket; datagram bind",
        result: "EADDRINUSE EADDRINUSE EADDRINUSE false",
        script: |dir| {
            symlink("none", dir.join("dangling")).unwrap();
            let _listener = UnixListener::bind(dir.join("s")).unwrap();
            symlink("s", dir.join("to_s")).unwrap();
            let bind = |name: &str| said(UnixListener::bind(dir.join(name)));
            let datagram = said(UnixDatagram::bind(dir.join("dangling")));
            format!("{} {} {datagram} {}", bind("dangling"), bind("to_s"), fs::exists(dir.join("none")).unwrap())
        },
    },
    Rule {
        name: "connect through a symlink, to a socket, to nothing, to a stale one; its peer_addr",
        result: "ok ENOENT ECONNREFUSED s",
        script: |dir| {
            let listener = UnixListener::bind(dir.join("s")).unwrap();
            drop(UnixListener::bind(dir.join("stale")).unwrap());
            for target in ["s", "none", "stale"] {
                symlink(target, dir.join(format!("to_{target}"))).unwrap();
            }
            let connect = |target: &str| UnixStream::connect(dir.join(format!("to_{target}")));
            let stream = connect("s");
            let peer = stream.as_ref().unwrap().peer_addr().unwrap();
            let name = peer.as_pathname().unwrap().file_name().unwrap().to_string_lossy().into_owned();
            drop(listener.accept().unwrap());
            format!("{} {} {} {name}", said(stream), said(connect("none")), said(connect("stale")))
        },
    },
    Rule {
        name: "exists() of a dangling symlink",
        result: "false ok ENOENT",
        script: |dir| {
            symlink("none", dir.join("l")).unwrap();
            let exists = count(fs::exists(dir.join("l")));
            let of_name = said(fs::symlink_metadata(dir.join("l")));
            format!("{exists} {of_name} {}", said(fs::metadata(dir.join("l"))))
        },
    },
    Rule {
        name: "create_new on a dangling symlink; create makes the target",
        result: "EEXIST ENOENT false ok true link:file text",
        script: |dir| {
            symlink("target", dir.join("l")).unwrap();
            let new = said(fs::File::create_new(dir.join("l")));
            let open = said(fs::File::open(dir.join("l")));
            let before = fs::exists(dir.join("target")).unwrap();
            let made = said(fs::write(dir.join("l"), "text"));
            let after = fs::exists(dir.join("target")).unwrap();
            let text = fs::read_to_string(dir.join("target")).unwrap();
            format!("{new} {open} {before} {made} {after} {} {text}", is(&dir.join("l")))
        },
    },
    Rule {
        name: "create on a symlink into a missing directory; create_dir, create_dir_all on a dangling one, on one to a directory",
        result: "ENOENT EEXIST EEXIST EEXIST ok",
        script: |dir| {
            fs::create_dir(dir.join("d")).unwrap();
            symlink("none/f", dir.join("l")).unwrap();
            symlink("d", dir.join("to_d")).unwrap();
            [
                said(fs::File::create(dir.join("l"))),
                said(fs::create_dir(dir.join("l"))),
                said(fs::create_dir_all(dir.join("l"))),
                said(fs::create_dir(dir.join("to_d"))),
                said(fs::create_dir_all(dir.join("to_d"))),
            ]
            .join(" ")
        },
    },
    Rule {
        name: "hard_link onto a dangling symlink, of one",
        result: "EEXIST false ok link:ENOENT 2",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            symlink("none", dir.join("l")).unwrap();
            let onto = said(fs::hard_link(dir.join("f"), dir.join("l")));
            let made = fs::exists(dir.join("none")).unwrap();
            let of = said(fs::hard_link(dir.join("l"), dir.join("l2")));
            let links = fs::symlink_metadata(dir.join("l")).unwrap().nlink();
            format!("{onto} {made} {of} {} {links}", is(&dir.join("l2")))
        },
    },
    Rule {
        name: "remove_file and remove_dir of a symlink, remove_dir_all of one to a directory",
        result: "ENOTDIR ok ok file:file dir:dir ENOENT:ENOENT",
        script: |dir| {
            fs::create_dir(dir.join("d")).unwrap();
            fs::write(dir.join("d/f"), "").unwrap();
            symlink("d", dir.join("l")).unwrap();
            let dir_removed = said(fs::remove_dir(dir.join("l")));
            let file_removed = said(fs::remove_file(dir.join("l")));
            symlink("d", dir.join("l")).unwrap();
            let all_removed = said(fs::remove_dir_all(dir.join("l")));
            let left = ["d/f", "d", "l"].map(|name| is(&dir.join(name))).join(" ");
            format!("{dir_removed} {file_removed} {all_removed} {left}")
        },
    },
    Rule {
        name: "remove_dir_all does not follow the symlinks in the directory",
        result: "ok file:file ENOENT:ENOENT",
        script: |dir| {
            fs::create_dir_all(dir.join("d/e")).unwrap();
            fs::create_dir(dir.join("other")).unwrap();
            fs::write(dir.join("other/f"), "").unwrap();
            symlink("../other", dir.join("d/l")).unwrap();
            let removed = said(fs::remove_dir_all(dir.join("d")));
            format!("{removed} {} {}", is(&dir.join("other/f")), is(&dir.join("d")))
        },
    },
    Rule {
        name: "rename of a symlink moves the link, rename onto one replaces it",
        result: "ok ENOENT:ENOENT link:file ok file:file a b",
        script: |dir| {
            fs::write(dir.join("a"), "a").unwrap();
            fs::write(dir.join("b"), "b").unwrap();
            symlink("a", dir.join("l")).unwrap();
            let moved = said(fs::rename(dir.join("l"), dir.join("m")));
            let between = format!("{} {}", is(&dir.join("l")), is(&dir.join("m")));
            let onto = said(fs::rename(dir.join("b"), dir.join("m")));
            let text = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
            format!("{moved} {between} {onto} {} {} {}", is(&dir.join("m")), text("a"), text("m"))
        },
    },
    Rule {
        name: "symlinks on the way: relative to their directory, absolute, with two dots after them",
        result: "f f f ENOENT ENOTDIR ENOENT",
        script: |dir| {
            fs::create_dir_all(dir.join("d/e")).unwrap();
            fs::write(dir.join("d/f"), "f").unwrap();
            symlink("e", dir.join("d/to_e")).unwrap();
            symlink(dir.join("d"), dir.join("absolute")).unwrap();
            symlink("d/f", dir.join("to_f")).unwrap();
            symlink("none", dir.join("dangling")).unwrap();
            let read = |name: &str| count(fs::read_to_string(dir.join(name)));
            [
                read("d/to_e/../f"),
                read("absolute/f"),
                read("absolute/to_e/../../to_f"),
                read("to_e/../f"),
                read("to_f/x"),
                read("dangling/../to_f"),
            ]
            .join(" ")
        },
    },
    Rule {
        name: "two dots after nothing, after a file",
        result: "ENOENT ENOTDIR ok",
        script: |dir| {
            fs::write(dir.join("f"), "").unwrap();
            fs::create_dir(dir.join("d")).unwrap();
            ["none/../f", "f/../f", "d/../f"].map(|name| said(fs::metadata(dir.join(name)))).join(" ")
        },
    },
    Rule {
        name: "symlinks in a ring; 40 in a row, 41",
        result: "ELOOP ELOOP ELOOP ELOOP ok ok ELOOP",
        script: |dir| {
            symlink("b", dir.join("a")).unwrap();
            symlink("a", dir.join("b")).unwrap();
            fs::write(dir.join("0"), "").unwrap();
            for number in 1..=41 {
                symlink((number - 1).to_string(), dir.join(number.to_string())).unwrap();
            }
            [
                said(fs::metadata(dir.join("a"))),
                said(fs::exists(dir.join("a"))),
                said(fs::metadata(dir.join("a/x"))),
                said(fs::File::create(dir.join("a"))),
                said(fs::symlink_metadata(dir.join("a"))),
                said(fs::metadata(dir.join("40"))),
                said(fs::metadata(dir.join("41"))),
            ]
            .join(" ")
        },
    },
    Rule {
        name: "read_dir of a symlink to a directory, of a dangling one; what it says of symlinks in it",
        result: "f:false l:true ENOENT",
        script: |dir| {
            fs::create_dir(dir.join("d")).unwrap();
            fs::write(dir.join("d/f"), "").unwrap();
            symlink("f", dir.join("d/l")).unwrap();
            symlink("d", dir.join("to_d")).unwrap();
            symlink("none", dir.join("dangling")).unwrap();
            let shown = |entry: std::io::Result<fs::DirEntry>| {
                let entry = entry.unwrap();
                format!("{}:{}", entry.file_name().display(), entry.file_type().unwrap().is_symlink())
            };
            let mut entries: Vec<String> = fs::read_dir(dir.join("to_d")).unwrap().map(shown).collect();
            entries.sort();
            format!("{} {}", entries.join(" "), said(fs::read_dir(dir.join("dangling"))))
        },
    },
    Rule {
        name: "bind on a dangling symlink; connect and send through one",
        result: "EADDRINUSE ok EADDRINUSE 1 ENOENT ELOOP",
        script: |dir| {
            symlink("s", dir.join("to_s")).unwrap();
            symlink("g", dir.join("to_g")).unwrap();
            symlink("ring", dir.join("ring")).unwrap();
            let bound = said(UnixListener::bind(dir.join("to_s")));
            let _listener = UnixListener::bind(dir.join("s")).unwrap();
            let connected = said(UnixStream::connect(dir.join("to_s")));
            let datagram_bound = said(UnixDatagram::bind(dir.join("to_g")));
            let _receiver = UnixDatagram::bind(dir.join("g")).unwrap();
            let sent = count(UnixDatagram::unbound().unwrap().send_to(b"x", dir.join("to_g")));
            fs::remove_file(dir.join("s")).unwrap();
            let gone = said(UnixStream::connect(dir.join("to_s")));
            format!(
                "{bound} {connected} {datagram_bound} {sent} {gone} {}",
                said(UnixStream::connect(dir.join("ring")))
            )
        },
    },
    Rule {
        name: "an open file stays what the symlink led to; a lock is that of the target",
        result: "old new WouldBlock",
        script: |dir| {
            fs::write(dir.join("old"), "old").unwrap();
            fs::write(dir.join("new"), "new").unwrap();
            symlink("old", dir.join("l")).unwrap();
            let mut open = fs::File::open(dir.join("l")).unwrap();
            symlink("new", dir.join("l2")).unwrap();
            fs::rename(dir.join("l2"), dir.join("l")).unwrap();
            let mut text = String::new();
            std::io::Read::read_to_string(&mut open, &mut text).unwrap();
            let now = fs::read_to_string(dir.join("l")).unwrap();
            let holder = fs::File::open(dir.join("l")).unwrap();
            holder.lock().unwrap();
            let other = fs::File::open(dir.join("new")).unwrap();
            format!("{text} {now} {}", crate::observe::locked(other.try_lock()))
        },
    },
];
