//! The integer atomics.

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

macro_rules! integer {
    ($name:ident, $family:literal, $t:ident) => {
        #[doc = concat!("Stands in for [`std::sync::atomic::", $family, "`].")]
        pub struct $name {
            identity: Identity,
            value: std::sync::atomic::$name,
        }

        impl $name {
            #[inline]
            fn word(value: $t) -> u64 {
                value as u64
            }

            #[inline]
            fn value_of(word: u64) -> $t {
                word as $t
            }

            common_methods!($family, std::sync::atomic::$name, $t);

            fetch_methods! { $family, $t, $t, Self::word;
                fetch_add => updates::$t::add;
                fetch_sub => updates::$t::sub;
                fetch_and => updates::and;
                fetch_nand => updates::$t::nand;
                fetch_or => updates::or;
                fetch_xor => updates::xor;
                fetch_max => updates::$t::max;
                fetch_min => updates::$t::min;
            }
        }

        impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                Self::new(0)
            }
        }

        impl From<$t> for $name {
            #[track_caller]
            fn from(value: $t) -> Self {
                Self::new(value)
            }
        }

        /// Loads the value, `Relaxed`.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.load(Ordering::Relaxed), f)
            }
        }
    };
}

integer!(AtomicI8, "AtomicI8", i8);
integer!(AtomicI16, "AtomicI16", i16);
integer!(AtomicI32, "AtomicI32", i32);
integer!(AtomicI64, "AtomicI64", i64);
integer!(AtomicIsize, "AtomicIsize", isize);
integer!(AtomicU8, "AtomicU8", u8);
integer!(AtomicU16, "AtomicU16", u16);
integer!(AtomicU32, "AtomicU32", u32);
integer!(AtomicU64, "AtomicU64", u64);
integer!(AtomicUsize, "AtomicUsize", usize);

/// Stands in for `std::sync::atomic::ATOMIC_ISIZE_INIT`.
#[deprecated(note = "the `new` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std's is one too")]
pub const ATOMIC_ISIZE_INIT: AtomicIsize = AtomicIsize::new(0);

/// Stands in for `std::sync::atomic::ATOMIC_USIZE_INIT`.
#[deprecated(note = "the `new` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std's is one too")]
pub const ATOMIC_USIZE_INIT: AtomicUsize = AtomicUsize::new(0);
