//! Where the counts of an `Arc` lie: next to its value.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};

use super::count::Counts;

/// What all handles point to. The value comes last so that it may be unsized.
#[repr(C)]
pub(super) struct Shared<T: ?Sized> {
    pub(super) counts: Counts,
    pub(super) value: T,
}

/// The layout of `Shared` around a value of layout `value`, and where the value begins in it.
fn layout_around(value: Layout) -> (Layout, usize) {
    let (layout, offset) = Layout::new::<Counts>().extend(value).expect("the value is larger than memory");
    (layout.pad_to_align(), offset)
}

/// The shared memory around the value that `value` points to.
///
/// # Safety
///
/// `value` must point into a `Shared<T>` (whose value may be gone), as [`value_of`] does.
pub(super) unsafe fn around<T: ?Sized>(value: *const T) -> NonNull<Shared<T>> {
    // SAFETY: 1. The memory is allocated. 2. The reference is only used for the layout, which does not depend on the value
    // itself.
    let (_, offset) = layout_around(Layout::for_value(unsafe { &*value }));
    // SAFETY: 1. The value lies at this offset in the allocation. 2. It is not null.
    unsafe { NonNull::new_unchecked(value.byte_sub(offset) as *mut Shared<T>) }
}

/// A pointer to the value in `shared`, good for all of the allocation.
pub(super) fn value_of<T: ?Sized>(shared: NonNull<Shared<T>>) -> *mut T {
    // SAFETY: 1. Handles only have pointers to memory that is allocated. 2. No reference is made.
    unsafe { &raw mut (*shared.as_ptr()).value }
}

/// Memory for a value of layout `value`, which is not written yet, with `counts`; `aim` makes the pointer from its address.
pub(super) fn allocate<T: ?Sized>(
    counts: Counts,
    value: Layout,
    aim: impl FnOnce(*mut u8) -> *mut Shared<T>,
) -> NonNull<Shared<T>> {
    let (layout, _) = layout_around(value);
    // SAFETY: 1. The counts have a size.
    let memory = unsafe { alloc(layout) };
    let Some(shared) = NonNull::new(aim(memory)) else { handle_alloc_error(layout) };
    // SAFETY: 1. The memory is allocated, fits and is aligned.
    unsafe { (&raw mut (*shared.as_ptr()).counts).write(counts) };
    shared
}

/// Memory for a slice of `len` values.
pub(super) fn allocate_slice<T>(counts: Counts, len: usize) -> NonNull<Shared<[T]>> {
    let value = Layout::array::<T>(len).expect("the slice is larger than memory");
    allocate(counts, value, |memory| ptr::slice_from_raw_parts_mut(memory.cast::<T>(), len) as *mut Shared<[T]>)
}

/// Memory for a value like the one `like` points to.
///
/// # Safety
///
/// `like` must point to a value.
pub(super) unsafe fn allocate_like<T: ?Sized>(counts: Counts, like: *const T) -> NonNull<Shared<T>> {
    // SAFETY: 1. The caller's promise.
    let value = Layout::for_value(unsafe { &*like });
    allocate(counts, value, |memory| with_address(like as *mut Shared<T>, memory))
}

/// `pointer` with its address (and provenance) replaced, and its length or table kept.
fn with_address<T: ?Sized>(mut pointer: *mut T, address: *mut u8) -> *mut T {
    // SAFETY: 1. Every pointer begins with its address, or else the assertion fails. 2. Nothing is followed.
    unsafe { (&raw mut pointer).cast::<*mut u8>().write(address) };
    assert!(ptr::addr_eq(pointer, address), "a pointer does not begin with its address");
    pointer
}

/// Frees the memory.
///
/// # Safety
///
/// It must have come from this module or from a box; the value must be gone and no handle be left.
pub(super) unsafe fn free<T: ?Sized>(shared: NonNull<Shared<T>>) {
    // SAFETY: 1. The memory is still allocated, and the counts are never gone before it.
    let layout = unsafe {
        shared.as_ref().counts.freed();
        Layout::for_value(shared.as_ref())
    };
    // SAFETY: 1. The caller's promise. 2. The layout is the one it was allocated with, as `Shared` is `repr(C)`.
    unsafe { dealloc(shared.as_ptr().cast(), layout) };
}
