//! What stands in for [`std::alloc`]: memory, and values, that a model expects to be freed.
//!
//! What is allocated here in an execution and not freed at its end fails the model with the code `leak`, and names the place
//! that allocated it; so does an [`Arc`](super::sync::Arc) in a model that looks for their leaks. Freeing memory is a write to
//! every modelled object in it: an operation on one that is not ordered before is a data race. What was freed stays allocated
//! until the end of the execution, so that a later operation on an object in it, or another free, is recognised (code
//! `use_after_free`).
//!
//! Values that are no modelled objects are not watched: put them into an [`UnsafeCell`](super::cell::UnsafeCell). An object
//! that was moved out by copying its bytes (`ptr::read`) still counts as lying in the memory it was first used in.
//!
//! Outside a model, all of this is std's.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use dpor::{Info, Role};

use super::controller::{Controller, FREED, MEMORY, Scope, current};
use super::event::Site;

pub use std::alloc::{GlobalAlloc, Layout, LayoutError, System, handle_alloc_error};

/// Something that has to end before the execution does.
///
/// A number from the controller; 0 is none, and all that is ever there outside a model.
#[derive(Debug, Default)]
pub(crate) struct Tracked(AtomicU64);

impl Tracked {
    /// Begins now, if a model is running: `what` was made at `site`.
    pub(crate) fn new(what: &'static str, site: Site) -> Tracked {
        let number = current(|controller| controller.map_or(0, |controller| controller.track(what, site)));
        Tracked(AtomicU64::new(number))
    }

    /// Ends.
    pub(crate) fn end(&self) {
        let number = self.0.swap(0, Ordering::Relaxed);
        if number != 0 {
            current(|controller| {
                if let Some(controller) = controller {
                    controller.release(number);
                }
            });
        }
    }
}

/// A block of memory that the running execution has allocated.
struct Block {
    memory: NonNull<u8>,
    layout: Layout,
    tracked: Tracked,
    created: Site,
    freed: Option<Site>,
}

/// The memory of an execution, by address.
#[derive(Default)]
struct Heap {
    blocks: BTreeMap<usize, Block>,
}

impl Drop for Heap {
    fn drop(&mut self) {
        for block in self.blocks.values() {
            // SAFETY: 1. It was allocated with this layout, and is freed only here: at the end of the execution nobody uses it.
            unsafe { std::alloc::dealloc(block.memory.as_ptr(), block.layout) };
        }
    }
}

/// The memory of the running execution; `None` if that is over.
fn heap(controller: &dyn Controller) -> Option<NonNull<Heap>> {
    static KEY: u8 = 0;
    let key = (&raw const KEY).addr();
    let heap = controller.storage(Scope::Execution, key, &mut || Box::new(Heap::default()) as Box<dyn Any>)?;
    Some(heap.cast())
}

const fn info(family: &'static str, name: &'static str) -> Info {
    Info { name, family, role: Role::Plain }
}

static DEALLOC: Info = info("memory", "dealloc");

/// Stands in for [`std::alloc::alloc`].
///
/// # Safety
///
/// As for [`std::alloc::alloc`]: the size of the layout must not be 0.
#[must_use]
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: 1. The caller's promise.
    begun(unsafe { std::alloc::alloc(layout) }, layout, Location::caller())
}

/// Stands in for [`std::alloc::alloc_zeroed`].
///
/// # Safety
///
/// As for [`std::alloc::alloc_zeroed`]: the size of the layout must not be 0.
#[must_use]
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: 1. The caller's promise.
    begun(unsafe { std::alloc::alloc_zeroed(layout) }, layout, Location::caller())
}

fn begun(memory: *mut u8, layout: Layout, site: Site) -> *mut u8 {
    current(|controller| {
        if let Some(controller) = controller
            && let Some(place) = NonNull::new(memory)
            && let Some(mut heap) = heap(controller)
        {
            let tracked = Tracked::new(MEMORY, site);
            let block = Block { memory: place, layout, tracked, created: site, freed: None };
            // SAFETY: 1. The storage keeps the value until the end of the execution. 2. Threads of a model take turns, and
            // nothing else runs within this statement.
            unsafe { heap.as_mut() }.blocks.insert(memory.addr(), block);
        }
    });
    memory
}

/// Stands in for [`std::alloc::dealloc`].
///
/// In a model, freeing twice and freeing with another layout ends the model with the code `use_after_free` or `outside`.
///
/// # Safety
///
/// As for [`std::alloc::dealloc`]: the memory must have come from this module with the same layout.
#[track_caller]
pub unsafe fn dealloc(memory: *mut u8, layout: Layout) {
    let site = Location::caller();
    let quarantined = current(|controller| {
        let Some(controller) = controller else { return false };
        // After the end of the execution its memory is freed as a whole.
        let Some(mut heap) = heap(controller) else { return true };
        // SAFETY: as in `begun`; the reference ends before the controller is called.
        let known = unsafe { heap.as_ref() }.blocks.get(&memory.addr());
        let Some(block) = known else { return false };
        if block.freed.is_some() && (controller.inert() || controller.panicking()) {
            // Something else has failed already, and a second panic would abort.
            return true;
        }
        if let Some(before) = block.freed {
            let message =
                format!("memory that was allocated at {} is freed twice: at {before} and at {site}", block.created);
            controller.fail("use_after_free", message, site);
        }
        if block.layout != layout && !controller.inert() && !controller.panicking() {
            let message = format!(
                "memory that was allocated at {} with the layout {:?} is freed with {layout:?}",
                block.created, block.layout
            );
            controller.fail("outside", message, site);
        }
        block.tracked.end();
        let (size, created) = (block.layout.size(), block.created);
        controller.freed(memory.addr()..memory.addr() + size, &DEALLOC, created, site);
        // SAFETY: 1. The block is still allocated and of this size. 2. The caller gives it up.
        unsafe { memory.write_bytes(FREED, size) };
        // SAFETY: as in `begun`.
        if let Some(block) = unsafe { heap.as_mut() }.blocks.get_mut(&memory.addr()) {
            block.freed = Some(site);
        }
        true
    });
    if !quarantined {
        // SAFETY: 1. The caller's promise; it was allocated outside the running execution.
        unsafe { std::alloc::dealloc(memory, layout) };
    }
}

/// Whether the running execution has allocated the memory at this address with this module; it may have freed it since.
/// Outside a model: no.
#[must_use]
pub fn owns(memory: *const u8) -> bool {
    current(|controller| {
        let heap = controller.and_then(heap);
        // SAFETY: as in `begun`; nothing is called while the reference lives.
        heap.is_some_and(|heap| unsafe { heap.as_ref() }.blocks.contains_key(&memory.addr()))
    })
}

/// Stands in for [`std::alloc::realloc`]. In a model, the memory always moves.
///
/// # Safety
///
/// As for [`std::alloc::realloc`]: the memory must have come from this module with the same layout, and the new size must
/// not be 0 nor overflow when it is rounded up to the alignment.
#[must_use]
#[track_caller]
pub unsafe fn realloc(memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
    if current(|controller| controller.is_none()) {
        // SAFETY: 1. The caller's promise.
        return unsafe { std::alloc::realloc(memory, layout, new_size) };
    }
    // SAFETY: 1. The caller's promises.
    unsafe {
        let new = alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
        if !new.is_null() {
            std::ptr::copy_nonoverlapping(memory, new, layout.size().min(new_size));
            dealloc(memory, layout);
        }
        new
    }
}

/// A value that has to be dropped before the execution ends: else the model fails with the code `leak`.
pub struct Track<T> {
    token: Token,
    value: T,
}

/// Ends with the value, also when only that is taken out.
struct Token(Tracked);

impl Drop for Token {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<T> Track<T> {
    /// Begins to watch the value.
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        Track { token: Token(Tracked::new("a tracked value", Location::caller())), value }
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The value, which is not watched any more.
    pub fn into_inner(self) -> T {
        let Track { token, value } = self;
        drop(token);
        value
    }
}

impl<T: fmt::Debug> fmt::Debug for Track<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Track").field(&self.value).finish()
    }
}
