//! An allocator for programs with models: memory that is freed in an execution is not given out again before its end.
//!
//! A model repeats the beginning of an execution with its operations in another order, so the allocator is called in another
//! order too. If it gave out freed memory at once, a new block could have the address of an old one in one run and not in the
//! other; and programs that compare pointers (every lock-free stack does) would not repeat themselves.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

use super::controller::current;

/// A global allocator, to be installed by programs whose models free memory and compare addresses:
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: sync_shims::model::quarantine::Quarantine = sync_shims::model::quarantine::Quarantine;
/// ```
///
/// It is std's [`System`], but what a thread of a model frees is kept until the execution is over. The price: what depends on
/// an address being given out again (an ABA) is not found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quarantine;

/// What is written into a block that is kept.
struct Kept {
    next: *mut Kept,
    layout: Layout,
}

/// The blocks that this OS thread keeps, and for which execution.
#[derive(Clone, Copy)]
struct Blocks {
    execution: u64,
    first: *mut Kept,
}

thread_local! {
    static BLOCKS: Cell<Blocks> = const { Cell::new(Blocks { execution: 0, first: ptr::null_mut() }) };
}

/// The layout with room for [`Kept`].
fn padded(layout: Layout) -> Layout {
    let own = Layout::new::<Kept>();
    // SAFETY: 1. The alignment is one of two powers of two. 2. The size is one of two sizes, each below the limit; a larger
    // alignment than its own only goes with a size that is far below.
    unsafe { Layout::from_size_align_unchecked(layout.size().max(own.size()), layout.align().max(own.align())) }
}

/// The number of the execution that runs on this OS thread; 0 outside a model.
fn execution() -> u64 {
    current(|controller| controller.map_or(0, |controller| controller.execution()))
}

/// Frees what is kept for other executions than `now`.
#[inline]
fn release(now: u64) {
    let blocks = BLOCKS.get();
    if blocks.execution != now {
        BLOCKS.set(Blocks { execution: now, first: ptr::null_mut() });
        let mut next = blocks.first;
        while !next.is_null() {
            // SAFETY: 1. `dealloc` has written it there. 2. Nobody has used the block since.
            let kept = unsafe { next.read() };
            // SAFETY: 1. It was allocated with this layout, and given up.
            unsafe { System.dealloc(next.cast(), kept.layout) };
            next = kept.next;
        }
    }
}

// SAFETY: 1. All memory comes from `System`, with room for more than was asked for, and goes back with the same layout, once.
unsafe impl GlobalAlloc for Quarantine {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: 1. The caller's promise; a padded layout has a size.
        unsafe { System.alloc(padded(layout)) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: 1. As `alloc`.
        unsafe { System.alloc_zeroed(padded(layout)) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let now = execution();
        release(now);
        let layout = padded(layout);
        if now == 0 {
            // SAFETY: 1. It was allocated with this layout.
            return unsafe { System.dealloc(block, layout) };
        }
        let first = BLOCKS.get().first;
        // SAFETY: 1. The block is the allocator's now. 2. It is large enough and aligned, as its layout is padded.
        unsafe { block.cast::<Kept>().write(Kept { next: first, layout }) };
        BLOCKS.set(Blocks { execution: now, first: block.cast() });
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if execution() == 0 {
            let size = size.max(size_of::<Kept>());
            // SAFETY: 1. It was allocated with this layout. 2. The size is that of a padded layout.
            return unsafe { System.realloc(block, padded(layout), size) };
        }
        // SAFETY: 1. The caller promises that the new size is good for a layout.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: 1. The caller's promise.
        let to = unsafe { self.alloc(new) };
        if !to.is_null() {
            // SAFETY: 1. Both blocks are that large, and they are two.
            unsafe { ptr::copy_nonoverlapping(block, to, layout.size().min(size)) };
            // SAFETY: 1. The caller's promise.
            unsafe { self.dealloc(block, layout) };
        }
        to
    }
}
