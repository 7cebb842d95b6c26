//! `AtomicConsume`, the trait of the crate itself, for the atomics of a model. To load with "consume" is to load with `Acquire`:
//! what depends on data is not told apart from what does not.

use crossbeam_utils::atomic::AtomicConsume;

use crate::model::atomic::Ordering::Acquire;
use crate::model::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize,
};

macro_rules! consume {
    ($($atomic:ident: $t:ty;)*) => {$(
        impl AtomicConsume for $atomic {
            type Val = $t;

            #[track_caller]
            fn load_consume(&self) -> $t {
                self.load(Acquire)
            }
        }
    )*};
}

consume! {
    AtomicBool: bool;
    AtomicI8: i8; AtomicI16: i16; AtomicI32: i32; AtomicI64: i64; AtomicIsize: isize;
    AtomicU8: u8; AtomicU16: u16; AtomicU32: u32; AtomicU64: u64; AtomicUsize: usize;
}

impl<T> AtomicConsume for AtomicPtr<T> {
    type Val = *mut T;

    #[track_caller]
    fn load_consume(&self) -> *mut T {
        self.load(Acquire)
    }
}
