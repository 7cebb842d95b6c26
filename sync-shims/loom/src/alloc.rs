//! Memory whose owner is watched.

use interleave::alloc::owns;
use sync_shims::model::controller::current;

#[doc(inline)]
pub use interleave::alloc::{Layout, Track, alloc, alloc_zeroed};

/// Stands in for [`std::alloc::dealloc`]: [`interleave::alloc::dealloc`], for memory of this module alone.
///
/// # Safety
///
/// As there: the memory must come from a function of this module, with this layout, and not be used any more.
///
/// # Panics
///
/// In a model, if the running execution has not allocated the memory. If it has freed it already, the model fails.
#[track_caller]
pub unsafe fn dealloc(ptr: *mut u8, layout: Layout) {
    let watched = current(|controller| controller.is_some_and(|controller| !controller.inert()));
    assert!(!watched || owns(ptr), "pointer not tracked: not allocated by `loom::alloc` in this execution");
    // SAFETY: 1. The caller's promise.
    unsafe { interleave::alloc::dealloc(ptr, layout) }
}
