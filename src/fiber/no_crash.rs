//! Faults on targets without Unix signals, and under Miri, which reports them better than anybody: nothing is done.

/// What `crash::prepare_thread` gives on Unix.
pub(super) struct Prepared;

pub(super) fn prepare_thread() -> Prepared {
    Prepared
}

/// An OS thread that cannot be interrupted.
pub(super) struct Thread;

impl Thread {
    pub(super) fn of<T>(_: &std::thread::JoinHandle<T>) -> Thread {
        Thread
    }

    pub(super) fn interrupt(&self) -> bool {
        false
    }
}
