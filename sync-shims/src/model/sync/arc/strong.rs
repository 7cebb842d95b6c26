//! `Arc`.

use std::any::Any;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::Deref;
use std::pin::Pin;
use std::ptr::{self, NonNull};

use super::count::{Announced, Counts, Share, Unique, here};
use super::memory::{Shared, allocate_like, allocate_slice, around, free, value_of};
use super::weak::Weak;
use crate::model::event::Site;

/// Stands in for [`std::sync::Arc`].
///
/// Most programs never learn anything from a reference count, so a model does not treat one as an object as long as it cannot
/// matter: then the count is a real one, and what cloning and dropping orders costs no execution. It does matter
///
/// * if the program asks: `strong_count`, `weak_count`, `get_mut`, `make_mut`, `try_unwrap`, `into_inner`,
///   `unwrap_or_clone`, [`Weak::upgrade`];
/// * if dropping the value does something that other threads can notice, since then it matters which thread is last.
///
/// When that happens with an `Arc` that is not counted in the model, the exploration starts again with all of those counted
/// that are created at the same place in the source. A counted `Arc` is two objects, one for each count; every clone, drop,
/// downgrade and upgrade is an operation on one of them, with the orderings of std.
///
/// # Differences from std
///
/// Only the compiler's own types can be coerced to unsized ones or be the type of `self`. So where std takes
/// `Arc::new(x) as Arc<dyn Trait>`, write `Arc::<dyn Trait>::from(Box::new(x) as Box<_>)`, which is the same with std; and
/// methods with `self: Arc<Self>` need std's `Arc`, which may be used inside of a model, too, if its count does not matter
/// and no [`UnsafeCell`](crate::model::cell::UnsafeCell) is dropped with it.
pub struct Arc<T: ?Sized> {
    pub(super) shared: NonNull<Shared<T>>,
    owns: PhantomData<Shared<T>>,
}

// SAFETY: 1. As for std: handles share the value, hence `Sync`, and the last one drops it on its thread, hence `Send`.
unsafe impl<T: ?Sized + Sync + Send> Send for Arc<T> {}
// SAFETY: 1. A shared handle can be cloned, so the same is needed.
unsafe impl<T: ?Sized + Sync + Send> Sync for Arc<T> {}

impl<T> Arc<T> {
    /// Stands in for [`std::sync::Arc::new`].
    #[inline]
    #[track_caller]
    pub fn new(value: T) -> Self {
        Arc::new_at(value, here())
    }

    /// An `Arc` that counts as created at `site`.
    pub(crate) fn new_at(value: T, site: Site) -> Self {
        let shared = Box::leak(Box::new(Shared { counts: Counts::one(site), value }));
        // SAFETY: 1. The memory is new, with one strong handle: this one.
        unsafe { Arc::from_shared(shared.into()) }
    }

    /// Stands in for [`std::sync::Arc::new_cyclic`].
    #[track_caller]
    pub fn new_cyclic<F>(make: F) -> Self
    where
        F: FnOnce(&Weak<T>) -> T,
    {
        let site = here();
        let shared = Box::leak(Box::new(Shared { counts: Counts::none_yet(site), value: MaybeUninit::<T>::uninit() }));
        let shared: NonNull<Shared<T>> = NonNull::from(shared).cast();
        // The share of the strong handle to come; if `make` panics, it frees the memory.
        let handle = Handle { shared };
        // Only lent: it has no share of the weak count, of which the strong handles hold one together already.
        let weak = ManuallyDrop::new(Weak { shared });
        let value = make(&weak);
        // SAFETY: 1. The memory is allocated and holds no value yet. 2. Nobody can read it, as no weak handle could be upgraded
        // so far.
        unsafe { value_of(shared).write(value) };
        handle.counts().begin(site);
        std::mem::forget(handle);
        // SAFETY: 1. `begin` has counted this handle, which has the share from above.
        unsafe { Arc::from_shared(shared) }
    }

    /// Stands in for [`std::sync::Arc::new_uninit`].
    #[must_use]
    #[track_caller]
    pub fn new_uninit() -> Arc<MaybeUninit<T>> {
        Arc::new(MaybeUninit::uninit())
    }

    /// Stands in for [`std::sync::Arc::new_zeroed`].
    #[must_use]
    #[track_caller]
    pub fn new_zeroed() -> Arc<MaybeUninit<T>> {
        Arc::new(MaybeUninit::zeroed())
    }

    /// Stands in for [`std::sync::Arc::pin`].
    #[must_use]
    #[track_caller]
    pub fn pin(value: T) -> Pin<Arc<T>> {
        // SAFETY: 1. The value does not move until it is dropped: a pinned handle gives no `&mut T`.
        unsafe { Pin::new_unchecked(Arc::new(value)) }
    }

    /// Stands in for [`std::sync::Arc::try_unwrap`].
    ///
    /// # Errors
    ///
    /// The handle, if it is not the only strong one.
    #[track_caller]
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        let Some(share) = this.counts().take_if_only(here()) else { return Err(this) };
        // SAFETY: 1. The value has been claimed for this handle, which is not used any more.
        Ok(unsafe { take_value(ManuallyDrop::new(this).shared, share) })
    }

    /// Stands in for [`std::sync::Arc::into_inner`].
    #[must_use]
    #[track_caller]
    pub fn into_inner(this: Self) -> Option<T> {
        let announced = this.counts().announce_into_inner(here());
        let mut value = None;
        // SAFETY: 1. This is the only handle that it is asked for, and it is not used any more.
        unsafe {
            let this = ManuallyDrop::new(this);
            give_up(this.shared, announced, |place| value = Some(place.read()));
        }
        value
    }

    /// Stands in for [`std::sync::Arc::unwrap_or_clone`].
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|shared| (*shared).clone())
    }

    /// Stands in for [`std::sync::Arc::make_mut`].
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T
    where
        T: Clone,
    {
        let site = here();
        match this.counts().make_unique(site) {
            Unique::Yes => {}
            Unique::No => *this = Arc::new_at((**this).clone(), this.created()),
            Unique::ExceptWeak(share) => {
                let created = this.created();
                // SAFETY: 1. The value has been claimed for this handle. 2. It is overwritten without being dropped.
                let value = unsafe { take_value(this.shared, share) };
                // SAFETY: 1. The place is valid for writes.
                unsafe { ptr::write(this, Arc::new_at(value, created)) };
            }
        }
        // SAFETY: 1. No other handle of either kind exists now.
        unsafe { &mut *value_of(this.shared) }
    }
}

impl<T> Arc<[T]> {
    /// Stands in for [`std::sync::Arc::new_uninit_slice`].
    #[must_use]
    #[track_caller]
    pub fn new_uninit_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        let shared = allocate_slice(Counts::one(here()), len);
        // SAFETY: 1. The memory is new, with one strong handle. 2. The values need not be initialised.
        unsafe { Arc::from_shared(shared) }
    }

    /// Stands in for [`std::sync::Arc::new_zeroed_slice`].
    #[must_use]
    #[track_caller]
    pub fn new_zeroed_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        let slice = Arc::<[T]>::new_uninit_slice(len);
        // SAFETY: 1. The handle is new, so nobody else has the values. 2. They are `len` values of this size.
        unsafe { value_of(slice.shared).cast::<MaybeUninit<T>>().write_bytes(0, len) };
        slice
    }
}

impl<T> Arc<MaybeUninit<T>> {
    /// Stands in for [`std::sync::Arc::assume_init`].
    ///
    /// # Safety
    ///
    /// The value must be initialised.
    #[must_use]
    pub unsafe fn assume_init(self) -> Arc<T> {
        // SAFETY: 1. `MaybeUninit` has the layout of its value, and the caller says that there is one. 2. The handle goes on.
        unsafe { Arc::from_shared(ManuallyDrop::new(self).shared.cast()) }
    }
}

impl<T> Arc<[MaybeUninit<T>]> {
    /// Stands in for [`std::sync::Arc::assume_init`] of a slice.
    ///
    /// # Safety
    ///
    /// All values must be initialised.
    #[must_use]
    pub unsafe fn assume_init(self) -> Arc<[T]> {
        let shared = ManuallyDrop::new(self).shared;
        // SAFETY: 1. As above. 2. The pointer is not null.
        unsafe { Arc::from_shared(NonNull::new_unchecked(shared.as_ptr() as *mut Shared<[T]>)) }
    }
}

impl<T: ?Sized> Arc<T> {
    /// A handle of `shared`.
    ///
    /// # Safety
    ///
    /// The strong count must include it, and nobody else give it up.
    pub(super) unsafe fn from_shared(shared: NonNull<Shared<T>>) -> Self {
        Arc { shared, owns: PhantomData }
    }

    pub(super) fn counts(&self) -> &Counts {
        // SAFETY: 1. The memory is allocated as long as there is a handle.
        unsafe { &(*self.shared.as_ptr()).counts }
    }

    fn created(&self) -> Site {
        self.counts().created()
    }

    /// An `Arc` of what is in the box, that counts as created at `site`.
    pub(super) fn from_box(value: Box<T>, site: Site) -> Self {
        let value = Box::into_raw(value);
        // SAFETY: 1. The box owned a value. 2. Its bytes are moved to new memory of the same layout. 3. The box is freed
        // without dropping the value: as a box of `ManuallyDrop`, which has the same layout.
        unsafe {
            let shared = allocate_like(Counts::one(site), value);
            let size = size_of_val(&*value);
            ptr::copy_nonoverlapping(value.cast::<u8>().cast_const(), value_of(shared).cast::<u8>(), size);
            drop(Box::from_raw(value as *mut ManuallyDrop<T>));
            Arc::from_shared(shared)
        }
    }

    /// Makes one of a handle of std's `Arc`, which can be coerced to an unsized type before. Std does not have this.
    ///
    /// # Panics
    ///
    /// If the handle is not the only one.
    #[must_use]
    #[track_caller]
    pub fn from_std(mut value: std::sync::Arc<T>) -> Self {
        assert!(std::sync::Arc::get_mut(&mut value).is_some(), "there are other handles of the std::sync::Arc");
        let value = std::sync::Arc::into_raw(value);
        // SAFETY: 1. to 3. as in `from_box`: the only handle owned the value, and frees its memory as a handle of
        // `ManuallyDrop`.
        unsafe {
            let shared = allocate_like(Counts::one(here()), value);
            ptr::copy_nonoverlapping(value.cast::<u8>(), value_of(shared).cast::<u8>(), size_of_val(&*value));
            drop(std::sync::Arc::from_raw(value as *const ManuallyDrop<T>));
            Arc::from_shared(shared)
        }
    }

    /// Stands in for [`std::sync::Arc::from_raw`].
    ///
    /// # Safety
    ///
    /// The pointer must come from `into_raw`, and stand for a strong handle that is given up.
    #[must_use]
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        // SAFETY: 1. The caller's promise.
        unsafe { Arc::from_shared(around(pointer)) }
    }

    /// Stands in for [`std::sync::Arc::into_raw`].
    #[must_use = "losing the pointer will leak memory"]
    pub fn into_raw(this: Self) -> *const T {
        Arc::as_ptr(&ManuallyDrop::new(this))
    }

    /// Stands in for [`std::sync::Arc::as_ptr`].
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        value_of(this.shared)
    }

    /// Stands in for [`std::sync::Arc::increment_strong_count`].
    ///
    /// # Safety
    ///
    /// The pointer must come from `into_raw`, and a strong handle exist.
    #[track_caller]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: 1. The caller's promise.
        let this = ManuallyDrop::new(unsafe { Arc::from_raw(pointer) });
        this.counts().add_strong(here());
    }

    /// Stands in for [`std::sync::Arc::decrement_strong_count`].
    ///
    /// # Safety
    ///
    /// The pointer must come from `into_raw`, and stand for a strong handle that is given up.
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: 1. The caller's promise.
        drop(unsafe { Arc::from_raw(pointer) });
    }

    /// Stands in for [`std::sync::Arc::downgrade`].
    #[must_use = "this returns a new `Weak` pointer, without modifying the original `Arc`"]
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T> {
        this.counts().downgrade(here());
        Weak { shared: this.shared }
    }

    /// Stands in for [`std::sync::Arc::weak_count`].
    #[must_use]
    #[track_caller]
    pub fn weak_count(this: &Self) -> usize {
        this.counts().weak_count(here())
    }

    /// Stands in for [`std::sync::Arc::strong_count`].
    #[must_use]
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        this.counts().strong_count(here())
    }

    /// Stands in for [`std::sync::Arc::ptr_eq`].
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        ptr::addr_eq(this.shared.as_ptr(), other.shared.as_ptr())
    }

    /// Stands in for [`std::sync::Arc::get_mut`].
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        // SAFETY: 1. No other handle of either kind exists, and none can come as long as this one is borrowed.
        this.counts().is_unique(here()).then(|| unsafe { &mut *value_of(this.shared) })
    }
}

impl Arc<dyn Any + Send + Sync> {
    /// Stands in for [`std::sync::Arc::downcast`].
    ///
    /// # Errors
    ///
    /// The handle, if the value is not a `T`.
    pub fn downcast<T: Any + Send + Sync>(self) -> Result<Arc<T>, Self> {
        if !(*self).is::<T>() {
            return Err(self);
        }
        // SAFETY: 1. The value is a `T`. 2. The handle goes on.
        Ok(unsafe { Arc::from_shared(ManuallyDrop::new(self).shared.cast()) })
    }
}

/// Takes the value out and gives up the handle.
///
/// # Safety
///
/// The value must have been claimed for the handle, which still has `share` and must not be used any more.
unsafe fn take_value<T>(shared: NonNull<Shared<T>>, share: Share) -> T {
    // SAFETY: 1. The caller's promise.
    let value = unsafe { value_of(shared).read() };
    match share {
        // SAFETY: 1. The value has been taken.
        Share::Memory => unsafe { release_memory(shared) },
        Share::Strong => drop(Handle { shared }),
    }
    value
}

/// Gives up a strong handle that a model has `announced`; `end` drops or takes the value if it was the last.
///
/// # Safety
///
/// The handle must not be used any more, and `end` must leave no value.
unsafe fn give_up<T: ?Sized>(shared: NonNull<Shared<T>>, announced: Announced, end: impl FnOnce(*mut T)) {
    // SAFETY: 1. The memory is allocated as long as the handle has its share of the count.
    let counts = unsafe { &(*shared.as_ptr()).counts };
    match announced {
        Announced::Last | Announced::Shared => {
            // Until its fence has been performed, even if it was the last.
            let _handle = Handle { shared };
            if announced == Announced::Last {
                let claimed = counts.claim_value();
                counts.in_counted_order(|| {
                    if claimed {
                        end(value_of(shared));
                    }
                });
            }
        }
        Announced::NotCounted => {
            if counts.release_strong() {
                let _memory = Memory(shared);
                if counts.claim_value() {
                    counts.in_real_order(|| end(value_of(shared)));
                }
            }
        }
    }
}

/// What a strong handle has of the real count, when its end is known to the model already or its beginning is not yet. It is
/// given up even if the drop of the value panics.
pub(super) struct Handle<T: ?Sized> {
    pub(super) shared: NonNull<Shared<T>>,
}

impl<T: ?Sized> Handle<T> {
    fn counts(&self) -> &Counts {
        // SAFETY: 1. The memory is allocated as long as there is a handle.
        unsafe { &(*self.shared.as_ptr()).counts }
    }
}

impl<T: ?Sized> Drop for Handle<T> {
    fn drop(&mut self) {
        if self.counts().release_strong() {
            let _memory = Memory(self.shared);
            // Not by the modelled count: the execution was cut short.
            if self.counts().claim_value() {
                // SAFETY: 1. The value has been claimed, and the last handle is gone.
                unsafe { ptr::drop_in_place(value_of(self.shared)) };
            }
        }
    }
}

/// Gives up what the strong handles hold together.
///
/// # Safety
///
/// The value must be gone, and no strong handle be left.
unsafe fn release_memory<T: ?Sized>(shared: NonNull<Shared<T>>) {
    // SAFETY: 1. The memory is allocated until then. 2. If this was the last share of it, it is nobody's any more.
    unsafe {
        if (*shared.as_ptr()).counts.release_memory() {
            free(shared);
        }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: 1. The value lives as long as there is a strong handle.
        unsafe { &(*self.shared.as_ptr()).value }
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.counts().add_strong(here());
        // SAFETY: 1. The count includes it now.
        unsafe { Arc::from_shared(self.shared) }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        /// Gives up the handle even if the execution ends at the operation.
        struct End<T: ?Sized>(NonNull<Shared<T>>, Announced);
        impl<T: ?Sized> Drop for End<T> {
            fn drop(&mut self) {
                // SAFETY: 1. The handle is being dropped. 2. There is no value after its drop.
                unsafe { give_up(self.0, self.1, |value| ptr::drop_in_place(value)) };
            }
        }
        let mut end = End(self.shared, Announced::NotCounted);
        end.1 = self.counts().announce_release(None);
    }
}

/// Gives up what the strong handles hold together when it is dropped, even if the drop of the value panics.
struct Memory<T: ?Sized>(NonNull<Shared<T>>);

impl<T: ?Sized> Drop for Memory<T> {
    fn drop(&mut self) {
        // SAFETY: 1. The value has been dropped, by the last strong handle.
        unsafe { release_memory(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_leads_back_to_its_handle_whatever_the_alignment() {
        #[repr(align(128))]
        #[derive(Debug, PartialEq)]
        struct Wide(u8);
        let raw = Arc::into_raw(Arc::new(Wide(7)));
        assert_eq!(raw.addr() % 128, 0);
        // SAFETY: 1. The pointer comes from `into_raw`.
        assert_eq!(*unsafe { Arc::from_raw(raw) }, Wide(7));
    }
}
