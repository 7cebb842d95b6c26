//! What an `Arc` can be made from.

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use super::Arc;
use super::count::here;
use super::memory::Shared;

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Arc::new(value)
    }
}

impl<T: ?Sized> From<Box<T>> for Arc<T> {
    #[track_caller]
    fn from(value: Box<T>) -> Self {
        Arc::from_box(value, here())
    }
}

impl<T> From<Vec<T>> for Arc<[T]> {
    #[track_caller]
    fn from(values: Vec<T>) -> Self {
        Arc::from_box(values.into_boxed_slice(), here())
    }
}

impl<T, const N: usize> From<[T; N]> for Arc<[T]> {
    #[track_caller]
    fn from(values: [T; N]) -> Self {
        let values: Box<[T]> = Box::new(values);
        Arc::from_box(values, here())
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Arc::from_box(values.into_iter().collect(), here())
    }
}

impl<T: Clone> From<&[T]> for Arc<[T]> {
    #[track_caller]
    fn from(values: &[T]) -> Self {
        Arc::from_box(values.into(), here())
    }
}

impl<T: Clone> From<&mut [T]> for Arc<[T]> {
    #[track_caller]
    fn from(values: &mut [T]) -> Self {
        Arc::from(&*values)
    }
}

/// From borrowed and owned unsized values, which all have a boxed form.
macro_rules! from_unsized {
    ($($borrowed:ty, $owned:ty;)*) => {$(
        impl From<&$borrowed> for Arc<$borrowed> {
            #[track_caller]
            fn from(value: &$borrowed) -> Self {
                Arc::from_box(value.into(), here())
            }
        }

        impl From<&mut $borrowed> for Arc<$borrowed> {
            #[track_caller]
            fn from(value: &mut $borrowed) -> Self {
                Arc::from(&*value)
            }
        }

        impl From<$owned> for Arc<$borrowed> {
            #[track_caller]
            fn from(value: $owned) -> Self {
                Arc::from_box(value.into(), here())
            }
        }
    )*};
}

from_unsized! {
    str, String;
    CStr, CString;
    OsStr, OsString;
    Path, PathBuf;
}

impl<'a, B> From<Cow<'a, B>> for Arc<B>
where
    B: ToOwned + ?Sized,
    Arc<B>: From<&'a B> + From<B::Owned>,
{
    #[track_caller]
    fn from(value: Cow<'a, B>) -> Self {
        match value {
            Cow::Borrowed(value) => Arc::from(value),
            Cow::Owned(value) => Arc::from(value),
        }
    }
}

impl From<Arc<str>> for Arc<[u8]> {
    fn from(text: Arc<str>) -> Self {
        let shared = ManuallyDrop::new(text).shared.as_ptr() as *mut Shared<[u8]>;
        // SAFETY: 1. A string has the layout of its bytes. 2. The handle goes on. 3. The pointer is not null.
        unsafe { Arc::from_shared(NonNull::new_unchecked(shared)) }
    }
}

impl<T, const N: usize> TryFrom<Arc<[T]>> for Arc<[T; N]> {
    type Error = Arc<[T]>;

    fn try_from(slice: Arc<[T]>) -> Result<Self, Self::Error> {
        if slice.len() != N {
            return Err(slice);
        }
        // SAFETY: 1. An array has the layout of a slice of its length. 2. The handle goes on.
        Ok(unsafe { Arc::from_shared(ManuallyDrop::new(slice).shared.cast()) })
    }
}
