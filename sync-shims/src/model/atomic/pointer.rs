//! The pointer atomic.

use std::fmt;
use std::panic::Location;
use std::ptr;

use dpor::Info;

use super::access::{
    After, Atomic, Exchange, Exchanged, after_the_end, compare_exchange, load, no_address, store, update,
};
use super::common::{common_methods, fetch_methods, info};
use super::orders::{check_failure, check_load, check_store, failure_of};
use super::{Ordering, updates};
use crate::model::event::{Answer, Identity, Site, exclusive, unsynchronised};

/// Stands in for [`std::sync::atomic::AtomicPtr`].
///
/// A model keeps pointers as words, so their provenance is exposed.
pub struct AtomicPtr<T> {
    identity: Identity,
    value: std::sync::atomic::AtomicPtr<T>,
}

impl<T> AtomicPtr<T> {
    #[inline]
    fn word(value: *mut T) -> u64 {
        value.expose_provenance() as u64
    }

    #[inline]
    fn value_of(word: u64) -> *mut T {
        ptr::with_exposed_provenance_mut(word as usize)
    }

    common_methods!("AtomicPtr", std::sync::atomic::AtomicPtr<T>, *mut T);

    fetch_methods! { "AtomicPtr", *mut T, usize, |bytes: usize| bytes as u64;
        fetch_byte_add => updates::add_word;
        fetch_and => updates::and;
        fetch_or => updates::or;
        fetch_xor => updates::xor;
    }

    fetch_methods! { "AtomicPtr", *mut T, usize, |bytes: usize| bytes.wrapping_neg() as u64;
        fetch_byte_sub => updates::add_word;
    }

    fetch_methods! { "AtomicPtr", *mut T, usize, |count: usize| count.wrapping_mul(size_of::<T>()) as u64;
        fetch_ptr_add => updates::add_word;
    }

    fetch_methods! {
        "AtomicPtr", *mut T, usize, |count: usize| count.wrapping_mul(size_of::<T>()).wrapping_neg() as u64;
        fetch_ptr_sub => updates::add_word;
    }
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    #[track_caller]
    fn from(value: *mut T) -> Self {
        Self::new(value)
    }
}

/// Loads the pointer, `Relaxed`.
impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.load(Ordering::Relaxed), f)
    }
}

/// Loads the pointer, `Relaxed`.
impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.load(Ordering::Relaxed), f)
    }
}
