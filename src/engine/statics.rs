//! Whether an object is a `static`: those are fresh in every execution, while any other object that an earlier execution has
//! used was carried over.

/// Whether `address` lies in the static memory of the program.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn is_static(address: *const ()) -> bool {
    unsafe extern "C" {
        static __data_start: u8;
        static _end: u8;
    }
    // The linker defines them around the initialised and zeroed data of the executable. Only their addresses are taken.
    let (start, end) = ((&raw const __data_start).addr(), (&raw const _end).addr());
    (start..end).contains(&address.addr())
}

/// Elsewhere nothing is known about addresses: every object passes for a `static`, and what is carried over is not noticed.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn is_static(_address: *const ()) -> bool {
    true
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
        assert!(is_static((&raw const ZERO).cast()));
        assert!(is_static((&raw const ONE).cast()));
        assert!(!is_static((&raw const stack).cast()));
        assert!(!is_static((&raw const *heap).cast()));
    }
}
