//! What loom has of [`std::hint`].

pub use interleave::hint::spin_loop;

/// Panics: code that cannot be reached was.
///
/// # Safety
///
/// Here, none is needed; std's function must not be reached.
///
/// # Panics
///
/// Always.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("unreachable_unchecked was reached!");
}
