//! What the facade costs in a normal build: one crate, and no types of its own.

use std::process::Command;

/// The packages that a normal build of this one compiles.
#[test]
fn one_more_crate() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "--no-dedupe", "--format", "{lib}"])
        .args(["--package", "facade-user"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        // This test also runs in a build with the flag.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let (tree, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{errors}");
    assert_eq!(tree.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(), ["facade_user", "sync_shims"]);
}

/// Compiles only if they are the same types, not merely alike.
#[cfg(not(interleave))]
#[test]
fn the_types_are_those_of_std() {
    use std::any::TypeId;

    let _: std::sync::Mutex<()> = sync_shims::sync::Mutex::new(());
    let _: std::sync::RwLock<()> = sync_shims::sync::RwLock::new(());
    let _: std::sync::Condvar = sync_shims::sync::Condvar::new();
    let _: std::sync::Barrier = sync_shims::sync::Barrier::new(1);
    let _: std::sync::Once = sync_shims::sync::Once::new();
    let _: std::sync::OnceLock<()> = sync_shims::sync::OnceLock::new();
    let _: std::sync::LazyLock<()> = sync_shims::sync::LazyLock::new(|| ());
    let arc: std::sync::Arc<()> = sync_shims::sync::Arc::new(());
    let _: std::sync::Weak<()> = sync_shims::sync::Arc::downgrade(&arc);
    let _: std::sync::atomic::AtomicBool = sync_shims::sync::atomic::AtomicBool::new(false);
    let _: std::sync::atomic::AtomicUsize = sync_shims::sync::atomic::AtomicUsize::new(0);
    let _: std::sync::atomic::AtomicPtr<()> = sync_shims::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
    let _: (std::sync::mpsc::Sender<()>, std::sync::mpsc::Receiver<()>) = sync_shims::sync::mpsc::channel();
    let _: std::cell::UnsafeCell<()> = sync_shims::cell::UnsafeCell::new(());
    let _: std::thread::Thread = sync_shims::thread::current();
    let _: std::thread::JoinHandle<()> = sync_shims::thread::spawn(|| ());
    let _: std::thread::Builder = sync_shims::thread::Builder::new();
    sync_shims::thread_local!(static LOCAL: u8 = const { 0 });
    let _: &std::thread::LocalKey<u8> = &LOCAL;
    #[cfg(unix)]
    let _: Option<std::os::unix::net::UnixStream> = None::<sync_shims::os::unix::net::UnixStream>;
    let _: Option<std::fs::File> = None::<sync_shims::fs::File>;
    let _: std::time::Instant = sync_shims::time::Instant::now();
    assert_eq!(TypeId::of::<sync_shims::sync::Mutex<u8>>(), TypeId::of::<std::sync::Mutex<u8>>());
    assert_eq!(size_of::<facade_user::Latch>(), size_of::<(std::sync::Mutex<usize>, std::sync::Condvar)>());
}

/// With the flag they are other types, of the same names.
#[cfg(interleave)]
#[test]
fn the_types_are_those_of_the_model() {
    let _: interleave::sync::Mutex<()> = sync_shims::sync::Mutex::new(());
    let _: interleave::sync::Condvar = sync_shims::sync::Condvar::new();
    let _: interleave::sync::atomic::AtomicUsize = sync_shims::sync::atomic::AtomicUsize::new(0);
    let _: interleave::thread::Builder = sync_shims::thread::Builder::new();
}
