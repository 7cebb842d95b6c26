//! flock(2).

use std::path::Path;

use super::api::{MetadataExt, fs, thread};
use crate::observe::{Rule, count, locked, said};

/// A new open file description of the lock file, which is made if need be.
fn open(dir: &Path) -> fs::File {
    fs::File::create(dir.join("lock")).unwrap()
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "two opens exclude each other in one process",
        result: "ok WouldBlock WouldBlock",
        script: |dir| {
            let (f, g) = (open(dir), open(dir));
            format!("{} {} {}", said(f.lock()), locked(g.try_lock()), locked(g.try_lock_shared()))
        },
    },
    Rule {
        name: "a dup shares the lock",
        result: "ok",
        script: |dir| {
            let f = open(dir);
            f.lock().unwrap();
            locked(f.try_clone().unwrap().try_lock())
        },
    },
    Rule {
        name: "closing one dup keeps the lock, closing the last gives it up",
        result: "WouldBlock ok",
        script: |dir| {
            let (f, other) = (open(dir), open(dir));
            let clone = f.try_clone().unwrap();
            f.lock().unwrap();
            drop(f);
            let kept = locked(other.try_lock());
            drop(clone);
            format!("{kept} {}", locked(other.try_lock()))
        },
    },
    Rule {
        name: "unlock through a dup frees it for all",
        result: "ok",
        script: |dir| {
            let (f, other) = (open(dir), open(dir));
            f.lock().unwrap();
            f.try_clone().unwrap().unlock().unwrap();
            locked(other.try_lock())
        },
    },
    Rule {
        name: "shared locks coexist",
        result: "ok ok WouldBlock",
        script: |dir| {
            let (f, g, h) = (open(dir), open(dir), open(dir));
            format!("{} {} {}", said(f.lock_shared()), locked(g.try_lock_shared()), locked(h.try_lock()))
        },
    },
    Rule {
        name: "a failed upgrade loses the shared lock",
        result: "WouldBlock ok",
        script: |dir| {
            let (f, g) = (open(dir), open(dir));
            f.lock_shared().unwrap();
            g.lock_shared().unwrap();
            format!("{} {}", locked(f.try_lock()), locked(g.try_lock()))
        },
    },
    Rule {
        name: "an exclusive lock becomes a shared one",
        result: "WouldBlock ok",
        script: |dir| {
            let (f, g) = (open(dir), open(dir));
            f.lock().unwrap();
            let before = locked(g.try_lock_shared());
            f.lock_shared().unwrap();
            format!("{before} {}", locked(g.try_lock_shared()))
        },
    },
    Rule {
        name: "a blocked upgrade has given up the shared lock",
        result: "ok ok",
        script: |dir| {
            let (f, g) = (open(dir), open(dir));
            f.lock_shared().unwrap();
            g.lock_shared().unwrap();
            let other = thread::spawn(move || said(f.lock()));
            // Waits for the shared lock of `f`, which goes while the other thread waits for this one's.
            let mine = said(g.lock());
            drop(g);
            format!("{mine} {}", other.join().unwrap())
        },
    },
    Rule { name: "unlock without a lock", result: "ok", script: |dir| said(open(dir).unlock()) },
    Rule {
        name: "works on a file opened for reading, and on a directory",
        result: "ok ok WouldBlock",
        script: |dir| {
            open(dir);
            let f = fs::File::open(dir.join("lock")).unwrap();
            let (d, e) = (fs::File::open(dir).unwrap(), fs::File::open(dir).unwrap());
            format!("{} {} {}", said(f.lock()), said(d.lock()), locked(e.try_lock()))
        },
    },
    Rule {
        name: "unlink and recreate: two holders",
        result: "ok ok",
        script: |dir| {
            let f = open(dir);
            let first = locked(f.try_lock());
            fs::remove_file(dir.join("lock")).unwrap();
            let g = open(dir);
            format!("{first} {}", locked(g.try_lock()))
        },
    },
    Rule {
        name: "unlink: who waits gets the orphan",
        result: "1 0",
        script: |dir| {
            let (f, g) = (open(dir), open(dir));
            f.lock().unwrap();
            let before = g.metadata().unwrap().nlink();
            let waiter = thread::spawn(move || {
                g.lock().unwrap();
                g.metadata().unwrap().nlink()
            });
            fs::remove_file(dir.join("lock")).unwrap();
            drop(f);
            format!("{before} {}", waiter.join().unwrap())
        },
    },
    Rule {
        name: "rename: the lock follows the inode",
        result: "WouldBlock",
        script: |dir| {
            let f = open(dir);
            f.lock().unwrap();
            fs::rename(dir.join("lock"), dir.join("moved")).unwrap();
            locked(fs::File::open(dir.join("moved")).unwrap().try_lock())
        },
    },
    Rule {
        name: "hard links: one inode, one lock",
        result: "WouldBlock",
        script: |dir| {
            let f = open(dir);
            f.lock().unwrap();
            fs::hard_link(dir.join("lock"), dir.join("link")).unwrap();
            locked(fs::File::open(dir.join("link")).unwrap().try_lock())
        },
    },
    Rule {
        name: "lock waits for the holder to close",
        result: "true",
        script: |dir| {
            let f = open(dir);
            f.lock().unwrap();
            let path = dir.join("lock");
            let other = thread::spawn(move || {
                let g = fs::File::open(&path).unwrap();
                g.lock().unwrap();
                count(fs::exists(path.with_extension("held")))
            });
            fs::write(dir.join("lock.held"), "").unwrap();
            drop(f);
            other.join().unwrap()
        },
    },
];
