//! What is the same for all guards, as macros: they differ in the lock, in how it is held, and in whether they borrow it.
//!
//! Guards have the fields `lock`, mapped guards `raw` and `data`; all have `site`, where the lock was taken.

use std::fmt;

/// Shows a lock by its value, if that could be had.
pub(super) fn show<T: ?Sized + fmt::Debug>(f: &mut fmt::Formatter<'_>, name: &str, data: Option<&T>) -> fmt::Result {
    let mut out = f.debug_struct(name);
    match data {
        Some(data) => out.field("data", &data),
        None => out.field("data", &format_args!("<locked>")),
    };
    out.finish()
}

/// Runs its closure when it is dropped, also by a panic.
pub(super) struct Finally<F: FnMut()>(pub(super) F);

impl<F: FnMut()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// How a guard gives its lock back and takes it again, and the value it gives out.
///
/// `core` is where the raw lock is that has a core, from `raw`; `real` names the guard in the documentation.
macro_rules! holds_lock {
    (
        $real:literal: [$($generics:tt)*] [$($fair:tt)*] $guard:ty,
        core: [$($core:ident).*], $unlock:ident, $lock:ident, $unlock_fair:ident, $bump:ident
    ) => {
        impl<$($generics)*> $guard {
            #[doc = concat!("Stands in for `lock_api::", $real, "::unlocked`.")]
            #[inline]
            #[track_caller]
            pub fn unlocked<F, U>(s: &mut Self, f: F) -> U
            where
                F: FnOnce() -> U,
            {
                let site = Location::caller();
                // SAFETY: 1. The guard holds it. 2. It is borrowed exclusively until it does again.
                unsafe { s.lock.raw.$unlock() };
                let _relock = Finally(|| {
                    at(&s.lock.raw$(.$core)*, site);
                    s.lock.raw.$lock();
                });
                f()
            }
        }

        impl<$($fair)*> $guard {
            #[doc = concat!("Stands in for `lock_api::", $real, "::unlock_fair`.")]
            #[inline]
            #[track_caller]
            pub fn unlock_fair(s: Self) {
                let mut s = ManuallyDrop::new(s);
                // SAFETY: 1. The guard holds it, and is not used any more.
                unsafe { s.lock.raw.$unlock_fair() };
                // SAFETY: 1. As above. (An `Arc` is to be dropped.)
                unsafe { ptr::drop_in_place(&raw mut s.lock) };
            }

            #[doc = concat!("Stands in for `lock_api::", $real, "::unlocked_fair`.")]
            #[inline]
            #[track_caller]
            pub fn unlocked_fair<F, U>(s: &mut Self, f: F) -> U
            where
                F: FnOnce() -> U,
            {
                let site = Location::caller();
                // SAFETY: 1. The guard holds it. 2. It is borrowed exclusively until it does again.
                unsafe { s.lock.raw.$unlock_fair() };
                let _relock = Finally(|| {
                    at(&s.lock.raw$(.$core)*, site);
                    s.lock.raw.$lock();
                });
                f()
            }

            #[doc = concat!("Stands in for `lock_api::", $real, "::bump`: a fair unlock and a lock.")]
            #[inline]
            #[track_caller]
            pub fn bump(s: &mut Self) {
                // SAFETY: 1. The guard holds it. 2. It is borrowed exclusively until it does again.
                unsafe { s.lock.raw.$bump() };
            }
        }

        impl<$($generics)*> Deref for $guard {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                // SAFETY: 1. The guard exists only while its thread holds the lock; an inert one only while nobody else
                // runs, as the threads of a model that is over are unwound one after the other on one OS thread.
                unsafe { &*self.lock.data.get() }
            }
        }

        impl<$($generics)*> Drop for $guard {
            #[inline]
            fn drop(&mut self) {
                at(&self.lock.raw$(.$core)*, self.site);
                // SAFETY: 1. The guard holds it.
                unsafe { self.lock.raw.$unlock() };
            }
        }
    };
}

/// The value of a guard that has the lock alone.
macro_rules! gives_out_mut {
    ([$($generics:tt)*] $guard:ty) => {
        impl<$($generics)*> DerefMut for $guard {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: 1. As for `deref`. 2. The guard is borrowed exclusively, and it has the lock alone.
                unsafe { &mut *self.lock.data.get() }
            }
        }
    };
}

/// The functions of a guard that has an `Arc` of its lock.
macro_rules! has_arc {
    (
        $real:literal: [$($generics:tt)*] [$($fair:tt)*] $guard:ty, $lock_type:ty,
        $name:ident, $unlock:ident, $unlock_fair:ident
    ) => {
        impl<$($generics)*> $guard {
            #[doc = concat!("Stands in for `lock_api::", $real, "::", stringify!($name), "`.")]
            #[inline]
            pub fn $name(s: &Self) -> &Arc<$lock_type> {
                &s.lock
            }

            #[doc = concat!("Stands in for `lock_api::", $real, "::into_arc`.")]
            #[inline]
            #[track_caller]
            pub fn into_arc(s: Self) -> Arc<$lock_type> {
                let s = ManuallyDrop::new(s);
                // SAFETY: 1. The guard holds it, and is not used any more.
                unsafe {
                    s.lock.raw.$unlock();
                    ptr::read(&s.lock)
                }
            }
        }

        impl<$($fair)*> $guard {
            #[doc = concat!("Stands in for `lock_api::", $real, "::into_arc_fair`.")]
            #[inline]
            #[track_caller]
            pub fn into_arc_fair(s: Self) -> Arc<$lock_type> {
                let s = ManuallyDrop::new(s);
                // SAFETY: 1. The guard holds it, and is not used any more.
                unsafe {
                    s.lock.raw.$unlock_fair();
                    ptr::read(&s.lock)
                }
            }
        }
    };
}

/// `map`, `try_map` and `try_map_or_err` (by the name `$or_err`) of a guard or a mapped guard: `$parts` takes it apart.
macro_rules! maps {
    (
        $real:literal: [$($generics:tt)*] $guard:ty => $mapped:ident<[$($args:tt)*]>, [$($reference:tt)*],
        $or_err:ident, $data:expr, $raw:expr
    ) => {
        impl<$($generics)*> $guard {
            #[doc = concat!("Stands in for `lock_api::", $real, "::map`.")]
            #[inline]
            pub fn map<U: ?Sized, F>(s: Self, f: F) -> $mapped<$($args)*, U>
            where
                F: FnOnce($($reference)* T) -> $($reference)* U,
            {
                // SAFETY: 1. The guard holds the lock, and nobody uses it meanwhile.
                let data = f(unsafe { $($reference)* *$data(&s) });
                let s = ManuallyDrop::new(s);
                $mapped { raw: $raw(&s), data, site: s.site, marker: PhantomData }
            }

            #[doc = concat!("Stands in for `lock_api::", $real, "::try_map`.")]
            ///
            /// # Errors
            ///
            /// The guard, if the closure returns `None`.
            #[inline]
            pub fn try_map<U: ?Sized, F>(s: Self, f: F) -> Result<$mapped<$($args)*, U>, Self>
            where
                F: FnOnce($($reference)* T) -> Option<$($reference)* U>,
            {
                // SAFETY: 1. The guard holds the lock, and nobody uses it meanwhile.
                let Some(data) = f(unsafe { $($reference)* *$data(&s) }) else { return Err(s) };
                let s = ManuallyDrop::new(s);
                Ok($mapped { raw: $raw(&s), data, site: s.site, marker: PhantomData })
            }

            #[doc = concat!("Stands in for `lock_api::", $real, "::", stringify!($or_err), "`.")]
            ///
            /// # Errors
            ///
            /// The guard and the error of the closure, if that returns one.
            #[inline]
            pub fn $or_err<U: ?Sized, F, E>(s: Self, f: F) -> Result<$mapped<$($args)*, U>, (Self, E)>
            where
                F: FnOnce($($reference)* T) -> Result<$($reference)* U, E>,
            {
                // SAFETY: 1. The guard holds the lock, and nobody uses it meanwhile.
                let data = match f(unsafe { $($reference)* *$data(&s) }) {
                    Ok(data) => data,
                    Err(error) => return Err((s, error)),
                };
                let s = ManuallyDrop::new(s);
                Ok($mapped { raw: $raw(&s), data, site: s.site, marker: PhantomData })
            }
        }
    };
}

/// How a mapped guard gives its lock back, and the value it gives out.
macro_rules! mapped {
    (
        $real:literal: [$($generics:tt)*] [$($fair:tt)*] $guard:ty,
        core: [$($core:ident).*], $unlock:ident, $unlock_fair:ident
    ) => {
        impl<$($fair)*> $guard {
            #[doc = concat!("Stands in for `lock_api::", $real, "::unlock_fair`.")]
            #[inline]
            #[track_caller]
            pub fn unlock_fair(s: Self) {
                let s = ManuallyDrop::new(s);
                // SAFETY: 1. The guard holds it, and is not used any more.
                unsafe { s.raw.$unlock_fair() };
            }
        }

        impl<$($generics)*> Deref for $guard {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                // SAFETY: 1. As for the guard that this one was made of. 2. The pointer was made of a reference that was good
                // for as long as that.
                unsafe { &*self.data }
            }
        }

        impl<$($generics)*> Drop for $guard {
            #[inline]
            fn drop(&mut self) {
                at(&self.raw$(.$core)*, self.site);
                // SAFETY: 1. The guard holds it.
                unsafe { self.raw.$unlock() };
            }
        }
    };
}

/// The value of a mapped guard that has the lock alone.
macro_rules! mapped_mut {
    ([$($generics:tt)*] $guard:ty) => {
        impl<$($generics)*> DerefMut for $guard {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: 1. As for `deref`. 2. The guard is borrowed exclusively, and it has the lock alone.
                unsafe { &mut *self.data }
            }
        }
    };
}

/// A guard is shown as its value.
macro_rules! shown_as_value {
    ($([$($generics:tt)*] $guard:ty,)*) => {$(
        impl<$($generics)*> fmt::Debug for $guard
        where
            T: fmt::Debug,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&**self, f)
            }
        }

        impl<$($generics)*> fmt::Display for $guard
        where
            T: fmt::Display,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}

/// Methods of an `Arc` of a lock. As functions of the lock, for whoever calls them by its name; and as methods of this crate's
/// `Arc`, which cannot be the receiver of a method of another type.
macro_rules! arc_methods {
    (
        $real:literal: [$($generics:tt)*] $lock:ident<$($arg:ident),*>;
        $(fn $method:ident($this:ident $(, $param:ident: $type:ty)?) -> $result:ty $body:block)*
    ) => {
        impl<$($generics)*> $lock<$($arg),*> {$(
            #[doc = concat!("Stands in for `lock_api::", $real, "::", stringify!($method), "`.")]
            #[inline]
            #[track_caller]
            pub fn $method($this: &Arc<Self> $(, $param: $type)?) -> $result $body
        )*}

        impl<$($generics)*> Arc<$lock<$($arg),*>> {$(
            #[doc = concat!("Stands in for `lock_api::", $real, "::", stringify!($method), "`.")]
            #[inline]
            #[track_caller]
            pub fn $method(&self $(, $param: $type)?) -> $result {
                $lock::$method(self $(, $param)?)
            }
        )*}
    };
    (
        $real:literal: [$($generics:tt)*] $lock:ident<$($arg:ident),*>;
        $(unsafe fn $method:ident($this:ident) -> $result:ty $body:block)*
    ) => {
        impl<$($generics)*> $lock<$($arg),*> {$(
            #[doc = concat!("Stands in for `lock_api::", $real, "::", stringify!($method), "`.")]
            ///
            /// # Safety
            ///
            /// The lock must be held in this way, by somebody without a guard.
            #[inline]
            #[track_caller]
            pub unsafe fn $method($this: &Arc<Self>) -> $result $body
        )*}

        impl<$($generics)*> Arc<$lock<$($arg),*>> {$(
            #[doc = concat!("Stands in for `lock_api::", $real, "::", stringify!($method), "`.")]
            ///
            /// # Safety
            ///
            /// The lock must be held in this way, by somebody without a guard.
            #[inline]
            #[track_caller]
            pub unsafe fn $method(&self) -> $result {
                // SAFETY: 1. The caller's.
                unsafe { $lock::$method(self) }
            }
        )*}
    };
}
