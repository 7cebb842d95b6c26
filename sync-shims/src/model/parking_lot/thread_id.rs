//! What tells threads apart for a `ReentrantMutex`.

use std::num::NonZeroUsize;

use ::parking_lot as real;
use real::lock_api::GetThreadId;

use super::core::holder;
use crate::model::controller::current;

/// Stands in for `parking_lot::RawThreadId`.
#[derive(Debug)]
pub struct RawThreadId;

// SAFETY: 1. The threads of a model have different numbers, and keep them. 2. So have executions: no thread of another one is
// taken for it. 3. Outside, the real one tells.
unsafe impl GetThreadId for RawThreadId {
    const INIT: RawThreadId = RawThreadId;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        current(|controller| match controller {
            None => <real::RawThreadId as GetThreadId>::INIT.nonzero_thread_id(),
            Some(controller) => {
                let number = controller.execution() << 24 | holder(controller.thread());
                NonZeroUsize::new(number as usize).expect("a thread is not nobody")
            }
        })
    }
}
