//! A waiter says that it waits, then looks at the flag; a waker sets the flag, then looks whether somebody waits. With release
//! and acquire both may see the old value: store buffering, which no interleaving shows.

use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use interleave::{Builder, Memory, thread};

use crate::expect::{clean, deadlocks_in_weak_memory_only, exhausted};

/// What keeps each side from looking too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remedy {
    None,
    FenceOfTheWaiter,
    FenceOfTheWaker,
    BothFences,
    SeqCst,
    /// Each side reads with a read-modify-write that changes nothing, but writes with a plain store.
    ReadByUpdate,
    /// Each side writes with a read-modify-write, too.
    Update,
}

impl Remedy {
    fn fence_of_the_waiter(self) -> bool {
        matches!(self, Remedy::FenceOfTheWaiter | Remedy::BothFences)
    }

    fn fence_of_the_waker(self) -> bool {
        matches!(self, Remedy::FenceOfTheWaker | Remedy::BothFences)
    }

    fn set(self, flag: &AtomicU32) {
        match self {
            Remedy::SeqCst => flag.store(1, Ordering::SeqCst),
            Remedy::Update => _ = flag.swap(1, Ordering::AcqRel),
            _ => flag.store(1, Ordering::Release),
        }
    }

    fn is_set(self, flag: &AtomicU32) -> bool {
        let value = match self {
            Remedy::SeqCst => flag.load(Ordering::SeqCst),
            Remedy::ReadByUpdate | Remedy::Update => flag.fetch_add(0, Ordering::AcqRel),
            _ => flag.load(Ordering::Acquire),
        };
        value != 0
    }
}

fn handshake(remedy: Remedy) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0), AtomicBool::new(false)));
        let waiter = thread::spawn({
            let shared = shared.clone();
            move || {
                let (flag, waiting, _) = &*shared;
                remedy.set(waiting);
                if remedy.fence_of_the_waiter() {
                    fence(Ordering::SeqCst);
                }
                if !remedy.is_set(flag) {
                    thread::park();
                }
            }
        });
        let (flag, waiting, _) = &*shared;
        remedy.set(flag);
        if remedy.fence_of_the_waker() {
            fence(Ordering::SeqCst);
        }
        if remedy.is_set(waiting) {
            waiter.thread().unpark();
        }
        waiter.join().unwrap();
    }
}

#[test]
fn release_and_acquire() {
    deadlocks_in_weak_memory_only(handshake(Remedy::None));
}

#[test]
fn a_fence_on_one_side_only() {
    deadlocks_in_weak_memory_only(handshake(Remedy::FenceOfTheWaiter));
    deadlocks_in_weak_memory_only(handshake(Remedy::FenceOfTheWaker));
}

#[test]
fn release_and_acquire_under_sequential_consistency() {
    exhausted(4, Builder::new().memory(Memory::Sc).explore(handshake(Remedy::None)));
}

#[test]
fn a_fence_on_both_sides() {
    clean(4, handshake(Remedy::BothFences));
}

#[test]
fn sequentially_consistent_accesses() {
    clean(4, handshake(Remedy::SeqCst));
}

/// A read-modify-write reads the newest value, but the store that comes after it does not read from it: nothing orders what
/// comes before the one before what comes after the other.
#[test]
fn reading_by_updating_what_is_stored() {
    deadlocks_in_weak_memory_only(handshake(Remedy::ReadByUpdate));
}

#[test]
fn reading_and_writing_by_updating() {
    clean(4, handshake(Remedy::Update));
}
