//! `static`s are fresh in every execution.
//!
//! The state of a shim is: it is kept by the controller, and starts from what is in the object. But the values inside, the
//! `T` of a `Mutex<T>`, lie in the memory of the program and would be carried over to the next execution. What a `static` held
//! before is therefore put back at the end of each execution, byte by byte. That is sound for a value which still is the one
//! that the program was loaded with (such values own nothing on the heap), and for values without drop glue.
//!
//! A simulated process has `static`s of its own: see the module `images`.

mod images;

use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::controller::{Controller, current};
use super::event::Identity;
use images::Memory;

pub(crate) use images::{only_one_process, process, touch, touch_shared};
pub use images::{resumed, running};

/// Whether `address` lies in the static memory of the program; `None` if that is not known on this platform.
#[cfg(all(target_os = "linux", not(miri)))]
pub fn is_static(address: *const ()) -> Option<bool> {
    unsafe extern "C" {
        static __data_start: u8;
        static _end: u8;
    }
    // The linker defines them around the initialised and zeroed data of the executable. Only their addresses are taken.
    let (start, end) = ((&raw const __data_start).addr(), (&raw const _end).addr());
    Some((start..end).contains(&address.addr()))
}

/// Whether `address` lies in the static memory of the program; `None` if that is not known on this platform.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub fn is_static(_address: *const ()) -> Option<bool> {
    None
}

/// Lets the end of the running execution drop, with `drop_value`, what is at `place` then, and put back what is there now;
/// does nothing if that is not the memory of a `static`.
///
/// # Safety
///
/// `place` must point to allocated memory of the given value. If that is in a `static`, `drop_value` must be right for what it
/// holds at the end of the execution, and its bytes must be good for another value once the present one is gone: as those of
/// a constant are, or of a value without drop glue.
pub(crate) unsafe fn put_back_at_end<T: ?Sized>(
    controller: &dyn Controller,
    place: *mut T,
    drop_value: unsafe fn(*mut T),
) {
    if is_static(place.cast_const().cast()) != Some(true) {
        return;
    }
    if !controller.allows_static(place.cast_const().cast()) {
        return;
    }
    // SAFETY: 1. The reference is only used to learn the size.
    let size = size_of_val(unsafe { &*place });
    // SAFETY: 1. The execution is over when it runs, so nobody refers to the value. 2. It is the caller's that it is right.
    let drop_value: Box<dyn FnMut() + '_> = Box::new(move || unsafe { drop_value(place) });
    // SAFETY: 1. Only the lifetime changes: what is in a `static` refers to nothing shorter.
    let drop_value = unsafe { std::mem::transmute::<Box<dyn FnMut() + '_>, Box<dyn FnMut()>>(drop_value) };
    Memory::with(controller, |memory| memory.keep(place.cast(), size, drop_value));
}

/// To be called before a shim with the given identity lets a thread of a model change what it protects, at `data`: if that is
/// in a `static` which the running execution has not used yet, it will be put back at the end of the execution. Not if it has
/// drop glue and may have been changed outside a model: then its bytes may be good for one value only.
///
/// # Safety
///
/// `data` must point to a value, also at the end of the execution if it is in a `static`; and `used_outside` must be set
/// before that can be changed outside a model.
#[track_caller]
pub(crate) unsafe fn keep_fresh<T: ?Sized>(identity: &Identity, used_outside: &AtomicBool, data: *mut T) {
    let known = |controller: &dyn Controller| {
        touch(controller, identity.slot());
        identity.slot().get() >> 24 == controller.execution()
    };
    // SAFETY: 1. The caller's promise.
    unsafe { keep_fresh_from(known, used_outside, data) };
}

/// The same for a shim of several objects, which says whether the running execution knows it.
///
/// # Safety
///
/// As for [`keep_fresh`].
#[inline]
#[track_caller]
pub(crate) unsafe fn keep_fresh_from<T: ?Sized>(
    known: impl FnOnce(&dyn Controller) -> bool,
    used_outside: &AtomicBool,
    data: *mut T,
) {
    let site = Location::caller();
    current(|controller| {
        let Some(controller) = controller.filter(|controller| !known(*controller)) else { return };
        if !std::mem::needs_drop::<T>() || !used_outside.load(Ordering::Relaxed) {
            // SAFETY: 1. The caller's promise. 2. If it has drop glue, nobody has changed it outside a model, and earlier
            // executions have put it back: it is the constant that the `static` began with.
            unsafe { put_back_at_end(controller, data, ptr::drop_in_place) };
        } else {
            // Its bytes are good for one value only.
            let what = "value that has been changed outside of a model";
            only_one_process(controller, data.cast_const().cast(), false, what, site);
        }
    });
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::is_static;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn statics_are_told_from_heap_and_stack() {
        static ZERO: AtomicU32 = AtomicU32::new(0);
        static ONE: AtomicU32 = AtomicU32::new(1);
        let (stack, heap) = (AtomicU32::new(0), Box::new(AtomicU32::new(0)));
        assert_eq!(is_static((&raw const ZERO).cast()), Some(true));
        assert_eq!(is_static((&raw const ONE).cast()), Some(true));
        assert_eq!(is_static((&raw const stack).cast()), Some(false));
        assert_eq!(is_static((&raw const *heap).cast()), Some(false));
    }
}
