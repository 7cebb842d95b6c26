//! Memory whose owner is watched.

use std::alloc as real;
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use sync_shims::model::controller::{Scope, current};

pub use std::alloc::Layout;

/// The blocks that the running execution has allocated and not freed. In the storage of the execution.
#[derive(Default)]
struct Blocks(RefCell<BTreeSet<usize>>);

/// Its address is the key of the above.
static KEY: u8 = 0;

/// Looks at the blocks of the running execution, if there is one that goes on.
fn blocks<R>(f: impl FnOnce(&mut BTreeSet<usize>) -> R) -> Option<R> {
    current(|controller| {
        let controller = controller.filter(|controller| !controller.inert())?;
        let new = &mut || Box::new(Blocks::default()) as Box<dyn Any>;
        let value = controller.storage(Scope::Execution, (&raw const KEY).addr(), new)?;
        // SAFETY: 1. The storage keeps the value until the end of the execution. 2. It is only used through `&`, on this OS
        // thread.
        let value = unsafe { value.as_ref() };
        let blocks = value.downcast_ref::<Blocks>().expect("the key is that of this type");
        Some(f(&mut blocks.0.borrow_mut()))
    })
}

fn allocated(pointer: *mut u8) -> *mut u8 {
    if !pointer.is_null() {
        blocks(|blocks| blocks.insert(pointer.addr()));
    }
    pointer
}

/// Stands in for [`std::alloc::alloc`].
///
/// # Safety
///
/// As there: the layout must not be of size 0.
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: 1. The caller's promise.
    allocated(unsafe { real::alloc(layout) })
}

/// Stands in for [`std::alloc::alloc_zeroed`].
///
/// # Safety
///
/// As there: the layout must not be of size 0.
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: 1. The caller's promise.
    allocated(unsafe { real::alloc_zeroed(layout) })
}

/// Stands in for [`std::alloc::dealloc`].
///
/// # Safety
///
/// As there: the memory must come from a function of this module, with this layout, and not be used any more.
///
/// # Panics
///
/// In a model, if the running execution has not allocated the memory, or has freed it.
#[track_caller]
pub unsafe fn dealloc(ptr: *mut u8, layout: Layout) {
    if let Some(known) = blocks(|blocks| blocks.remove(&ptr.addr())) {
        assert!(known, "pointer not tracked: freed twice, or not allocated by `loom::alloc` in this execution");
    }
    // SAFETY: 1. The caller's promise.
    unsafe { real::dealloc(ptr, layout) }
}

/// A value that is to be dropped.
pub struct Track<T>(T);

impl<T> Track<T> {
    /// Holds `value`.
    pub const fn new(value: T) -> Track<T> {
        Track(value)
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.0
    }

    /// The value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Track<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Track").field(&self.0).finish()
    }
}
