//! The boolean atomic.

use std::fmt;
use std::panic::Location;

use dpor::Info;

use super::access::{
    After, Atomic, Exchange, Exchanged, after_the_end, compare_exchange, load, no_address, store, update,
};
use super::common::{common_methods, fetch_methods, info};
use super::orders::{check_failure, check_load, check_store, failure_of};
use super::{Ordering, updates};
use crate::model::event::{Answer, Identity, Site, exclusive, unsynchronised};

/// Stands in for [`std::sync::atomic::AtomicBool`].
pub struct AtomicBool {
    identity: Identity,
    value: std::sync::atomic::AtomicBool,
}

impl AtomicBool {
    #[inline]
    fn word(value: bool) -> u64 {
        u64::from(value)
    }

    #[inline]
    fn value_of(word: u64) -> bool {
        word != 0
    }

    common_methods!("AtomicBool", std::sync::atomic::AtomicBool, bool);

    fetch_methods! { "AtomicBool", bool, bool, Self::word;
        fetch_and => updates::and;
        fetch_nand => updates::nand_bool;
        fetch_or => updates::or;
        fetch_xor => updates::xor;
    }

    /// Stands in for [`std::sync::atomic::AtomicBool::fetch_not`].
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        let (info, site) = (info!("AtomicBool", "fetch_not"), Location::caller());
        match update(self.atomic(), updates::xor, 1, order, info, site) {
            Answer::Done(old) => Self::value_of(old),
            not if self.is_real(not, info, site) => self.value.fetch_not(order),
            _ => self.value.load(Ordering::Relaxed),
        }
    }
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> Self {
        Self::new(false)
    }
}

impl From<bool> for AtomicBool {
    #[track_caller]
    fn from(value: bool) -> Self {
        Self::new(value)
    }
}

/// Loads the value, `Relaxed`.
impl fmt::Debug for AtomicBool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.load(Ordering::Relaxed), f)
    }
}

/// Stands in for `std::sync::atomic::ATOMIC_BOOL_INIT`.
#[deprecated(note = "the `new` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std's is one too")]
pub const ATOMIC_BOOL_INIT: AtomicBool = AtomicBool::new(false);
