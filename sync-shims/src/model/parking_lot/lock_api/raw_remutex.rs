//! A raw mutex that a thread can lock again while it holds it.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use real::{GetThreadId, RawMutex, RawMutexFair, RawMutexTimed};

use super::real;

/// Stands in for `lock_api::RawReentrantMutex`.
///
/// Only the first lock of a thread, and the last unlock, are operations on the lock inside. The owner is not shared state
/// that a model has to see: a thread only asks whether it is the owner itself, which nobody else can change.
#[derive(Debug)]
pub struct RawReentrantMutex<R, G> {
    owner: AtomicUsize,
    lock_count: Cell<usize>,
    pub(super) mutex: R,
    get_thread_id: G,
}

// SAFETY: 1. The count is only touched by the owner, which is one thread at a time.
unsafe impl<R: RawMutex + Send, G: GetThreadId + Send> Send for RawReentrantMutex<R, G> {}
// SAFETY: 1. As above.
unsafe impl<R: RawMutex + Sync, G: GetThreadId + Sync> Sync for RawReentrantMutex<R, G> {}

impl<R, G> RawReentrantMutex<R, G> {
    pub(super) const fn around(mutex: R, get_thread_id: G) -> Self {
        RawReentrantMutex { owner: AtomicUsize::new(0), lock_count: Cell::new(0), mutex, get_thread_id }
    }
}

impl<R: RawMutex, G: GetThreadId> RawReentrantMutex<R, G> {
    /// Stands in for `lock_api::RawReentrantMutex::INIT`.
    #[expect(clippy::declare_interior_mutable_const, reason = "lock_api's is one too")]
    pub const INIT: Self = RawReentrantMutex::around(R::INIT, G::INIT);

    fn thread(&self) -> usize {
        self.get_thread_id.nonzero_thread_id().get()
    }

    /// Locks once more if the thread is the owner.
    fn lock_again(&self) -> bool {
        let owned = self.is_owned_by_current_thread();
        if owned {
            self.lock_count.set(self.lock_count.get().checked_add(1).expect("ReentrantMutex lock count overflow"));
        }
        owned
    }

    fn locked_first(&self) -> bool {
        self.owner.store(self.thread(), Ordering::Relaxed);
        self.lock_count.set(1);
        true
    }

    /// Whether the lock inside is to be given back.
    fn unlocked_last(&self) -> bool {
        // None are left when a model that is over is unwound: then locks are had without waiting.
        let Some(left) = self.lock_count.get().checked_sub(1) else { return false };
        self.lock_count.set(left);
        if left == 0 {
            self.owner.store(0, Ordering::Relaxed);
        }
        left == 0
    }

    /// Stands in for `lock_api::RawReentrantMutex::lock`.
    #[inline]
    #[track_caller]
    pub fn lock(&self) {
        if !self.lock_again() {
            self.mutex.lock();
            self.locked_first();
        }
    }

    /// Stands in for `lock_api::RawReentrantMutex::try_lock`.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> bool {
        self.lock_again() || (self.mutex.try_lock() && self.locked_first())
    }

    /// Stands in for `lock_api::RawReentrantMutex::unlock`.
    ///
    /// # Safety
    ///
    /// The running thread must hold the lock.
    #[inline]
    #[track_caller]
    pub unsafe fn unlock(&self) {
        if self.unlocked_last() {
            // SAFETY: 1. The thread holds it.
            unsafe { self.mutex.unlock() };
        }
    }

    /// Stands in for `lock_api::RawReentrantMutex::is_locked`.
    #[inline]
    #[track_caller]
    pub fn is_locked(&self) -> bool {
        self.mutex.is_locked()
    }

    /// Stands in for `lock_api::RawReentrantMutex::is_owned_by_current_thread`.
    #[inline]
    pub fn is_owned_by_current_thread(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == self.thread()
    }
}

impl<R: RawMutexFair, G: GetThreadId> RawReentrantMutex<R, G> {
    /// Stands in for `lock_api::RawReentrantMutex::unlock_fair`.
    ///
    /// # Safety
    ///
    /// The running thread must hold the lock.
    #[inline]
    #[track_caller]
    pub unsafe fn unlock_fair(&self) {
        if self.unlocked_last() {
            // SAFETY: 1. The thread holds it.
            unsafe { self.mutex.unlock_fair() };
        }
    }

    /// Stands in for `lock_api::RawReentrantMutex::bump`: does nothing if the thread has locked it more than once.
    ///
    /// # Safety
    ///
    /// The running thread must hold the lock.
    #[inline]
    #[track_caller]
    pub unsafe fn bump(&self) {
        if self.lock_count.get() == 1 {
            self.owner.store(0, Ordering::Relaxed);
            self.lock_count.set(0);
            // SAFETY: 1. The thread holds it.
            unsafe { self.mutex.bump() };
            self.locked_first();
        }
    }
}

impl<R: RawMutexTimed, G: GetThreadId> RawReentrantMutex<R, G> {
    /// Stands in for `lock_api::RawReentrantMutex::try_lock_until`.
    #[inline]
    #[track_caller]
    pub fn try_lock_until(&self, timeout: R::Instant) -> bool {
        self.lock_again() || (self.mutex.try_lock_until(timeout) && self.locked_first())
    }

    /// Stands in for `lock_api::RawReentrantMutex::try_lock_for`.
    #[inline]
    #[track_caller]
    pub fn try_lock_for(&self, timeout: R::Duration) -> bool {
        self.lock_again() || (self.mutex.try_lock_for(timeout) && self.locked_first())
    }
}
