//! Values of any type as the words that a model works with.
//!
//! A value of at most 8 bytes is its bytes. Of a larger one, the word is the number of an entry in a table, which the thread
//! that writes it makes before it writes; what the word 0 means is up to the owner.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::ptr;

use crate::model::controller::Controller;

/// Whether values of a type are their own words.
pub(super) const fn is_small<T>() -> bool {
    size_of::<T>() <= size_of::<u64>()
}

/// The bytes of a small value, the rest of the word being 0.
pub(super) fn bytes_of<T>(value: &T) -> u64 {
    debug_assert!(is_small::<T>());
    let mut word = 0u64;
    // SAFETY: 1. The word is at least as large as the value, and any bytes make a word. 2. It is read and written as volatile
    // memory, which holds some bytes in any case: also where the value has padding, whose bytes are never looked at by
    // themselves.
    unsafe {
        ptr::copy_nonoverlapping(
            ptr::from_ref(value).cast::<MaybeUninit<u8>>(),
            (&raw mut word).cast::<MaybeUninit<u8>>(),
            size_of::<T>(),
        );
        ptr::read_volatile(&raw const word)
    }
}

/// The value with these bytes.
///
/// # Safety
///
/// They must be those of a value, and nobody else may take it out of them unless it is `Copy`.
pub(super) unsafe fn value_of<T>(word: u64) -> T {
    debug_assert!(is_small::<T>());
    // SAFETY: 1. The word is at least as large as the value. 2. It is the caller's that there is a value in it.
    unsafe { ptr::read_unaligned((&raw const word).cast()) }
}

/// The values that are not their own words, of one execution.
pub(super) struct Table<T> {
    execution: u64,
    values: BTreeMap<u64, MaybeUninit<T>>,
    /// How many each thread has made.
    made: BTreeMap<u32, u64>,
}

impl<T> Table<T> {
    pub(super) const fn new() -> Self {
        Table { execution: 0, values: BTreeMap::new(), made: BTreeMap::new() }
    }

    /// A word for a value: a number of the running thread, which depends on nothing but what it has done before.
    pub(super) fn add(&mut self, controller: &dyn Controller, value: T) -> u64 {
        if self.execution != controller.execution() {
            *self = Table { execution: controller.execution(), ..Table::new() };
        }
        let thread = controller.thread().0;
        let made = self.made.entry(thread).or_default();
        *made += 1;
        let word = u64::from(thread) << 40 | *made;
        self.values.insert(word, MaybeUninit::new(value));
        word
    }

    /// A copy of the bytes of the value that a word stands for.
    pub(super) fn get(&self, word: u64) -> Option<MaybeUninit<T>> {
        // SAFETY: 1. What may be uninitialised may be copied: no value comes of it before somebody claims that there is one.
        self.values.get(&word).map(|value| unsafe { ptr::read(value) })
    }
}
