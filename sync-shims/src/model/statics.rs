//! `static`s are fresh in every execution.
//!
//! The state of a shim is: it is kept by the controller, and starts from what is in the object. But the values inside, the
//! `T` of a `Mutex<T>`, lie in the memory of the program and would be carried over to the next execution. What a `static` held
//! before is therefore put back at the end of each execution, byte by byte. That is sound for a value which still is the one
//! that the program was loaded with (such values own nothing on the heap), and for values without drop glue.

use std::any::Any;
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::controller::{Controller, Scope, current};
use super::event::Identity;

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

/// What a `static` held before the execution, to be put back when this is dropped.
struct Before {
    place: *mut MaybeUninit<u8>,
    bytes: Box<[MaybeUninit<u8>]>,
    drop_value: Box<dyn FnMut()>,
}

impl Drop for Before {
    fn drop(&mut self) {
        // A panic here would keep others from being put back.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(&mut self.drop_value)) {
            std::mem::forget(payload);
        }
        // SAFETY: 1. The place is as large as the bytes. 2. What it held has been dropped. 3. The bytes are those of a value
        // that may be put back, as `put_back_at_end` demands.
        unsafe { ptr::copy_nonoverlapping(self.bytes.as_ptr(), self.place, self.bytes.len()) };
    }
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
    if !is_outermost(controller, place.cast_const().cast::<()>().addr(), size) {
        return;
    }
    // SAFETY: 1. The execution is over when it runs, so nobody refers to the value. 2. It is the caller's that it is right.
    let drop_value: Box<dyn FnMut() + '_> = Box::new(move || unsafe { drop_value(place) });
    // SAFETY: 1. Only the lifetime changes: what is in a `static` refers to nothing shorter.
    let drop_value = unsafe { std::mem::transmute::<Box<dyn FnMut() + '_>, Box<dyn FnMut()>>(drop_value) };
    let mut drop_value = Some(drop_value);
    let place = place.cast::<MaybeUninit<u8>>();
    controller.storage(Scope::Execution, place.addr(), &mut || {
        let mut bytes = Box::new_uninit_slice(size);
        // SAFETY: 1. Both are of this size. 2. Bytes that may be uninitialised can be copied, and be in a box.
        let bytes: Box<[MaybeUninit<u8>]> = unsafe {
            ptr::copy_nonoverlapping(place.cast_const(), bytes.as_mut_ptr().cast(), size);
            bytes.assume_init()
        };
        let drop_value = drop_value.take().expect("it is made once");
        Box::new(Before { place, bytes, drop_value }) as Box<dyn Any>
    });
}

/// Places that are put back at the end of an execution.
type Places = RefCell<Vec<Range<usize>>>;

/// Whether nothing that contains this place is put back at the end of the execution; from now on, the place is. A `Mutex` in a
/// `LazyLock` is made anew with it: its value must be dropped once, and what it held before is no constant.
fn is_outermost(controller: &dyn Controller, start: usize, size: usize) -> bool {
    static KEY: u8 = 0;
    let key = (&raw const KEY).addr();
    let places = controller.storage(Scope::Execution, key, &mut || Box::new(Places::default()) as Box<dyn Any>);
    let Some(places) = places else { return false };
    // SAFETY: 1. The storage keeps the value where it is until the end of the execution. 2. It is only used through `&`.
    let Some(places) = (unsafe { places.as_ref() }).downcast_ref::<Places>() else { return false };
    let mut places = places.borrow_mut();
    let end = start + size;
    let nested = places.iter().any(|place| place.start <= start && end <= place.end && *place != (start..end));
    if !nested && !places.contains(&(start..end)) {
        places.push(start..end);
    }
    !nested
}

/// To be called before a shim with the given identity lets a thread of a model change what it protects, at `data`: if that is
/// in a `static` which the running execution has not used yet, it will be put back at the end of the execution. Not if it has
/// drop glue and may have been changed outside a model: then its bytes may be good for one value only.
///
/// # Safety
///
/// `data` must point to a value, also at the end of the execution if it is in a `static`; and `used_outside` must be set
/// before that can be changed outside a model.
pub(crate) unsafe fn keep_fresh<T: ?Sized>(identity: &Identity, used_outside: &AtomicBool, data: *mut T) {
    let known = |controller: &dyn Controller| identity.slot().get() >> 24 == controller.execution();
    // SAFETY: 1. The caller's promise.
    unsafe { keep_fresh_from(known, used_outside, data) };
}

/// The same for a shim of several objects, which says whether the running execution knows it.
///
/// # Safety
///
/// As for [`keep_fresh`].
#[inline]
pub(crate) unsafe fn keep_fresh_from<T: ?Sized>(
    known: impl FnOnce(&dyn Controller) -> bool,
    used_outside: &AtomicBool,
    data: *mut T,
) {
    current(|controller| {
        if let Some(controller) = controller
            && !known(controller)
            && (!std::mem::needs_drop::<T>() || !used_outside.load(Ordering::Relaxed))
        {
            // SAFETY: 1. The caller's promise. 2. If it has drop glue, nobody has changed it outside a model, and earlier
            // executions have put it back: it is the constant that the `static` began with.
            unsafe { put_back_at_end(controller, data, ptr::drop_in_place) };
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
