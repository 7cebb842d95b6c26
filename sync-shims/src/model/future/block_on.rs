//! Running one future on the current thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use super::Notify;

/// The waker of a `block_on`. The count of this `Arc` is a real one: who drops the last waker makes no difference.
struct Blocked(Notify);

impl Wake for Blocked {
    #[track_caller]
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }

    #[track_caller]
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify();
    }
}

/// Polls `future` on the current thread until it is ready; in between, the thread waits for the waker that the future was
/// polled with. In a model, a future that nobody wakes is a deadlock, and the future may be polled spuriously, as often as the
/// budget for spurious events allows.
///
/// Std has nothing like it: it stands in for the `block_on` of a small executor. All polls get the same waker
/// ([`Waker::will_wake`] holds between them).
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    block_on_with(Notify::new(), future)
}

/// `block_on` that waits with `notify`.
#[doc(hidden)]
#[track_caller]
pub fn block_on_with<F: Future>(notify: Notify, future: F) -> F::Output {
    let blocked = Arc::new(Blocked(notify));
    let waker = Waker::from(blocked.clone());
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        blocked.0.wait();
    }
}
