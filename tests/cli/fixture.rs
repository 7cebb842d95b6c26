//! Packages to run the command in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A directory that goes away.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    pub(crate) fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("interleave-cli-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the temporary directory can be written");
        Directory(path.canonicalize().expect("it was made"))
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("the directory can be written");
        std::fs::write(path, text).expect("the directory can be written");
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Where the packages are built: what they depend on is built once.
pub(crate) fn builds() -> PathBuf {
    let test = std::env::current_exe().expect("this test has an executable");
    let target = test.ancestors().nth(3).expect("tests are in <target>/<profile>/deps");
    let builds = target.join("cli-packages");
    // As cargo marks a target directory that it makes itself; it makes one within this one first.
    let tag = builds.join("CACHEDIR.TAG");
    if !tag.exists() {
        std::fs::create_dir_all(&builds).expect("the target directory can be written");
        std::fs::write(tag, "Signature: 8a477f597d28d172789f06886806bc55\n")
            .expect("the target directory can be written");
    }
    builds
}

/// The manifest of a package that has models.
pub(crate) fn manifest(name: &str) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\ninterleave-shims = {{ path = \
         \"{root}/sync-shims\" }}\n\n[dev-dependencies]\ninterleave-check = {{ path = \"{root}\" }}\n\n[workspace]\n\n\
         [lints.rust]\nunexpected_cfgs = {{ level = \"warn\", check-cfg = [\"cfg(interleave)\"] }}\n"
    )
}

/// The versions of this repository, so that nothing has to be asked for.
pub(crate) fn lock_file() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock")).expect("the repository has one")
}

/// Only one cargo at a time: the others would wait for it anyway, and time out.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `program` in `directory` without what this process was started with.
pub(crate) fn clean(program: &str, directory: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let own = ["RUSTFLAGS", "RUSTDOCFLAGS", "RUST_BACKTRACE", "CARGO", "CARGO_MANIFEST_DIR", "COLUMNS"];
        if text.starts_with("INTERLEAVE_")
            || text.starts_with("CARGO_PKG_")
            || text.starts_with("CARGO_BUILD_")
            || text.starts_with("CARGO_ENCODED_")
            || own.contains(&text.as_ref())
        {
            command.env_remove(name);
        }
    }
    command.env("CARGO_NET_OFFLINE", "true").env("CARGO_TARGET_DIR", builds()).env("NO_COLOR", "1");
    command
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        .env("CARGO_TERM_COLOR", "never");
    command.current_dir(directory);
    command
}

/// What a command came to.
pub(crate) struct Came {
    pub(crate) code: Option<i32>,
    /// Standard output and standard error.
    pub(crate) text: String,
}

impl From<Output> for Came {
    fn from(output: Output) -> Came {
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        Came { code: output.status.code(), text }
    }
}

impl Came {
    /// That it ended with this code and said this.
    #[track_caller]
    pub(crate) fn with(self, code: i32, parts: &[&str]) -> Came {
        assert_eq!(self.code, Some(code), "{}", self.text);
        let flat = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(flat.contains(part), "{part:?} is not in:\n{}", self.text);
        }
        self
    }
}

/// `cargo interleave ARGUMENTS` in `directory`.
pub(crate) fn interleave(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = clean(env!("CARGO_BIN_EXE_cargo-interleave"), directory);
    command.arg("interleave").args(arguments);
    command
}

pub(crate) fn run(command: &mut Command) -> Came {
    command.output().expect("it can be run").into()
}

/// The package that most tests use.
pub(crate) fn package() -> &'static Path {
    static PACKAGE: OnceLock<Directory> = OnceLock::new();
    let directory = PACKAGE.get_or_init(|| {
        let directory = Directory::new("package");
        directory.write("Cargo.toml", &manifest("fixture"));
        directory.write("Cargo.lock", &lock_file());
        directory.write("src/lib.rs", LIBRARY);
        directory.write("tests/counter.rs", COUNTER);
        directory.write("tests/other.rs", OTHER);
        directory
    });
    &directory.0
}

const LIBRARY: &str = r#"//! A counter.

use sync_shims::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Adds one, which takes two steps.
///
/// ```
/// assert!(cfg!(interleave), "doctests get the flag as well");
/// interleave::model(|| {
///     let n = sync_shims::sync::Arc::new(sync_shims::sync::atomic::AtomicUsize::new(0));
///     let m = n.clone();
///     interleave::thread::spawn(move || fixture::add(&m)).join().unwrap();
///     fixture::add(&n);
/// });
/// ```
pub fn add(n: &AtomicUsize) {
    n.store(n.load(Relaxed) + 1, Relaxed);
}
"#;

const COUNTER: &str = r#"use interleave::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use interleave::sync::{Arc, Mutex};
use interleave::{Builder, thread};

#[test]
fn loses_update() {
    Builder::new().check(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = thread::spawn(move || fixture::add(&m));
        fixture::add(&n);
        t.join().unwrap();
        assert!(n.load(SeqCst) == 2 || std::env::var_os("EXPECT_LESS").is_some(), "an update is lost");
    });
}

#[test]
fn adds_under_a_lock() {
    let report = Builder::new().explore(|| {
        let n = Arc::new(Mutex::new(0));
        let m = n.clone();
        let t = thread::spawn(move || *m.lock().unwrap() += 1);
        *n.lock().unwrap() += 1;
        t.join().unwrap();
    });
    if std::env::var("INTERLEAVE_MAX_EXECUTIONS").is_err() {
        assert_eq!(report.executions, 2, "{report}");
    }
}

#[test]
fn is_in_two_programs() {
    fails_always();
}

#[test]
#[ignore = "takes long"]
fn takes_long() {
    Builder::new().max_duration(std::time::Duration::from_secs(4)).check(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let each = |n: Arc<AtomicUsize>| thread::spawn(move || (0..9).for_each(|_| _ = n.fetch_add(1, SeqCst)));
        (0..4).map(|_| each(n.clone())).collect::<Vec<_>>().into_iter().for_each(|t| t.join().unwrap());
    });
}

#[test]
fn has_no_model() {}

#[test]
#[ignore = "fails, and is no model"]
fn fails_without_a_model() {
    panic!("as it says");
}

#[test]
#[ignore = "its names are not nice"]
fn has_hostile_names() {
    Builder::new().check(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = lock.clone();
        let name = "</script><script>document.title='owned'</script>\u{1b}[31m<b>red";
        let t = thread::Builder::new().name(name.into()).spawn(move || *other.lock().unwrap() += 1).unwrap();
        *lock.lock().unwrap() += 1;
        t.join().unwrap();
        panic!("<img src=x onerror=document.title='owned'> \u{1b}[2J");
    });
}

#[test]
#[ignore = "fails after 3,000 steps"]
fn has_many_steps() {
    Builder::new().check(|| {
        let (send, receive) = interleave::sync::mpsc::sync_channel(1);
        let t = thread::spawn(move || (0..600).for_each(|n| send.send(n).unwrap()));
        assert_eq!(receive.iter().count(), 600);
        t.join().unwrap();
        panic!("after many steps");
    });
}

fn fails_always() {
    interleave::model(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        thread::spawn(move || m.store(1, SeqCst)).join().unwrap();
        assert!(n.load(SeqCst) == 1 && std::env::var_os("FAIL_BOTH").is_none());
    });
}
"#;

const OTHER: &str = r#"use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use interleave::thread;

#[test]
fn is_in_two_programs() {
    interleave::model(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        thread::spawn(move || m.store(1, SeqCst)).join().unwrap();
        assert!(n.load(SeqCst) == 1 && std::env::var_os("FAIL_BOTH").is_none());
    });
}
"#;
