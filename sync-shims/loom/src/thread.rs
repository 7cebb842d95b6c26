//! What loom has of [`std::thread`], and the rest of [`interleave::thread`].

pub use interleave::thread::*;
use sync_shims::model::controller::current as controller;

/// Starts a thread of the model. Unlike std's function it takes what is not `Send`, as loom's does: the threads of a model
/// never run at the same time.
///
/// # Panics
///
/// Outside a model.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    assert!(
        controller(|controller| controller.is_some()),
        "cannot access Loom execution state from outside a Loom model: `loom::thread::spawn` takes closures that are not \
         `Send`, which only a model can run (`loom::thread::Builder::spawn` works anywhere)"
    );
    Builder::new().spawn_not_send(f)
}
