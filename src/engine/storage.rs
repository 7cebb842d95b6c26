//! Values that live as long as a thread or an execution: `thread_local!`s, and the tables of the simulated kernel.

use std::any::Any;
use std::cell::Cell;
use std::ptr::NonNull;

use super::Shared;

/// Values by key. They are boxed, so they stay where they are.
pub(super) struct Storage {
    values: Shared<Vec<(usize, Box<dyn Any>)>>,
    /// Being destroyed: nothing is made any more.
    closing: Cell<bool>,
}

impl Storage {
    pub(super) fn new() -> Self {
        Storage { values: Shared::new(Vec::new()), closing: Cell::new(false) }
    }

    /// The value of `key`, made by `init` (which may use other keys) if it is not there.
    pub(super) fn get(&self, key: usize, init: &mut dyn FnMut() -> Box<dyn Any>) -> Option<NonNull<dyn Any>> {
        if let Some(found) = self.find(key) {
            return Some(found);
        }
        if self.closing.get() {
            return None;
        }
        let value = init();
        // Making the value may have made it already; then that one counts, as the program has seen it.
        if self.find(key).is_none() {
            self.values.with(|values| values.push((key, value)));
        }
        self.find(key)
    }

    fn find(&self, key: usize) -> Option<NonNull<dyn Any>> {
        self.values
            .with(|values| values.iter_mut().find(|(k, _)| *k == key).map(|(_, value)| NonNull::from(value.as_mut())))
    }

    /// Whether there is nothing to destroy.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.values.with(|values| values.is_empty())
    }

    /// Destroys the values, the newest first; a value may still use the older ones. If a destructor unwinds, the values that
    /// are left are for another call.
    pub(super) fn clear(&self) {
        struct Closing<'a>(&'a Cell<bool>);
        impl Drop for Closing<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        self.closing.set(true);
        let _closing = Closing(&self.closing);
        while let Some(value) = self.values.with(Vec::pop) {
            drop(value);
        }
    }
}
