//! Directories that are listed and removed, alone and while others make names in them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

use interleave::fs::{self, PathExt};
use interleave::os::unix::fs::symlink;
use interleave::{Builder, Strategy, Verdict, thread};

/// Explores `program`, which says what it has come to; all interleavings come to the same.
#[track_caller]
fn comes_to(executions: u64, expected: &[&str], program: impl Fn() -> String + Send + Sync) {
    let expected: BTreeSet<String> = expected.iter().map(|&outcome| outcome.to_owned()).collect();
    for strategy in [Strategy::Exhaustive, Strategy::Interleavings] {
        let seen = Mutex::new(BTreeSet::new());
        let report = Builder::new().strategy(strategy).explore(|| {
            let outcome = program();
            seen.lock().unwrap().insert(outcome);
        });
        if let Some(failure) = report.failure {
            panic!("{}", failure.report);
        }
        assert_ne!(report.verdict, Verdict::Bounded);
        assert_eq!(seen.into_inner().unwrap(), expected);
        if strategy == Strategy::Exhaustive {
            assert_eq!(report.executions, executions);
        }
    }
}

fn kind<T>(result: std::io::Result<T>) -> String {
    result.map_or_else(|error| format!("{:?}", error.kind()), |_| "ok".into())
}

fn names(directory: &str) -> String {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_directory_is_listed_and_removed() {
    comes_to(1, &["done"], || {
        fs::create_dir_all("d/e").unwrap();
        fs::write("d/b", "b").unwrap();
        fs::hard_link("d/b", "d/a").unwrap();
        fs::rename("d/b", "d/c").unwrap();
        assert_eq!(names("d"), "a c e");
        let kinds: Vec<bool> = fs::read_dir("d").unwrap().map(|e| e.unwrap().file_type().unwrap().is_dir()).collect();
        assert_eq!(kinds, [false, false, true]);
        assert_eq!(fs::remove_dir("d").unwrap_err().kind(), std::io::ErrorKind::DirectoryNotEmpty);
        assert_eq!(kind(fs::remove_dir("d/a")), "NotADirectory");
        assert_eq!(kind(fs::remove_dir("none")), "NotFound");
        assert_eq!(kind(fs::read_dir("none")), "NotFound");
        assert_eq!(kind(fs::read_dir("d/a")), "NotADirectory");
        assert_eq!(fs::copy("d/a", "copy").unwrap(), 1);
        assert_eq!(fs::read("copy").unwrap(), b"b");
        assert_eq!(kind(fs::copy("d", "copy")), "InvalidInput");
        assert!(Path::new("d").fs_is_dir() && Path::new("copy").fs_is_file() && !Path::new("x").fs_exists());
        fs::remove_dir_all("d").unwrap();
        assert!(!fs::exists("d").unwrap());
        assert_eq!(kind(fs::write("d/new", "")), "NotFound");
        assert_eq!(names("/var"), "lib run tmp");
        "done".into()
    });
}

/// The directory is removed before the file is looked for, between that and its making, or not at all.
#[test]
fn a_name_is_not_made_in_a_directory_that_is_gone() {
    comes_to(3, &["ok NotFound false", "DirectoryNotEmpty ok true"], || {
        fs::create_dir("d").unwrap();
        let other = thread::spawn(|| kind(fs::File::create_new("d/f")));
        let removed = kind(fs::remove_dir("d"));
        let made = other.join().unwrap();
        format!("{removed} {made} {}", fs::exists("d/f").unwrap())
    });
}

/// Whoever comes second finds that it is gone when it asks what it is, when it opens the directory, when it has seen that nothing is in it, or when it is
/// its turn to remove it. Only the first two of these are errors.
#[test]
fn two_remove_a_directory_with_all_that_is_in_it() {
    comes_to(8, &["NotFound ok", "ok NotFound", "ok ok"], || {
        fs::create_dir("d").unwrap();
        let other = thread::spawn(|| kind(fs::remove_dir_all("d")));
        let mine = kind(fs::remove_dir_all("d"));
        format!("{mine} {}", other.join().unwrap())
    });
}

/// A link that is replaced by rename leads to the one or the other; between removing and making it, nowhere.
#[test]
fn a_symbolic_link_is_switched() {
    let prepare = || {
        fs::write("a", "a").unwrap();
        fs::write("b", "b").unwrap();
        symlink("a", "current").unwrap();
    };
    let seen = || fs::read_to_string("current").unwrap_or_else(|error| format!("{:?}", error.kind()));
    comes_to(2, &["a", "b"], || {
        prepare();
        let reader = thread::spawn(seen);
        symlink("b", "next").unwrap();
        fs::rename("next", "current").unwrap();
        reader.join().unwrap()
    });
    comes_to(3, &["NotFound", "a", "b"], || {
        prepare();
        let reader = thread::spawn(seen);
        fs::remove_file("current").unwrap();
        symlink("b", "current").unwrap();
        reader.join().unwrap()
    });
}

/// The check and the use of a path are two walks. The first finds the link, nothing, or the new link; if it finds the link, the
/// second finds any of the three.
#[test]
fn a_link_on_the_way_is_switched_between_check_and_use() {
    comes_to(5, &["none", "other", "own"], || {
        fs::create_dir("own").unwrap();
        fs::create_dir("other").unwrap();
        fs::write("own/f", "own").unwrap();
        fs::write("other/f", "other").unwrap();
        symlink("own", "d").unwrap();
        let user = thread::spawn(|| {
            if fs::read_link("d").is_ok_and(|target| target == Path::new("own")) {
                fs::read_to_string("d/f").unwrap_or_else(|_| "none".into())
            } else {
                "none".into()
            }
        });
        fs::remove_file("d").unwrap();
        symlink("other", "d").unwrap();
        user.join().unwrap()
    });
}

/// Renames take turns: who comes second finds nothing.
#[test]
fn two_rename_a_directory() {
    let (first, second) = ("NotFound ok false true", "ok NotFound true false");
    comes_to(2, &[first, second], || {
        fs::create_dir("d").unwrap();
        let other = thread::spawn(|| kind(fs::rename("d", "theirs")));
        let mine = kind(fs::rename("d", "mine"));
        let theirs = other.join().unwrap();
        format!("{mine} {theirs} {} {}", fs::exists("mine").unwrap(), fs::exists("theirs").unwrap())
    });
}

/// Whoever has found the old directory cannot make anything in it when it has been replaced, though there is one at any time:
/// the file is made before, after, or not at all.
#[test]
fn a_directory_is_replaced_while_a_file_is_made_in_it() {
    comes_to(3, &["DirectoryNotEmpty ok true", "ok NotFound false", "ok ok true"], || {
        fs::create_dir("old").unwrap();
        fs::create_dir("new").unwrap();
        let other = thread::spawn(|| kind(fs::File::create_new("old/f")));
        let renamed = kind(fs::rename("new", "old"));
        let made = other.join().unwrap();
        format!("{renamed} {made} {}", fs::exists("old/f").unwrap())
    });
}

#[test]
fn what_is_not_modelled_says_so() {
    let says = |what: &str, program: fn()| {
        let report = Builder::new().explore(program).failure.unwrap().report;
        let headline = format!("error[interleave::outside]: {what} is not part of the ");
        assert!(report.starts_with(&headline), "{report}");
    };
    says("renaming a directory with something in it", || {
        fs::create_dir_all("d/e").unwrap();
        let _ = fs::rename("d", "moved");
    });
    says("renaming a directory that is there from the start", || {
        let _ = fs::rename("/tmp", "moved");
    });
    says("removing a directory that is there from the start", || {
        let _ = fs::remove_dir("/tmp");
    });
}

#[test]
fn outside_a_model_directories_are_real() {
    let directory = std::env::temp_dir().join(format!("directories-{}", std::process::id()));
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("f"), "x").unwrap();
    fs::copy(directory.join("f"), directory.join("g")).unwrap();
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 2);
    assert!(directory.join("g").fs_is_file());
    symlink("g", directory.join("l")).unwrap();
    assert!(directory.join("l").fs_is_symlink() && directory.join("l").fs_is_file());
    assert_eq!(fs::read_link(directory.join("l")).unwrap(), Path::new("g"));
    fs::remove_dir_all(&directory).unwrap();
    assert!(!directory.fs_exists());
}
