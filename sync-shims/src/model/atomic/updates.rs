//! What each read-modify-write computes, as pure functions on words. A word holds a value of the type `t` as `value as u64`,
//! so signed values are sign-extended; `word as t` gives it back.

/// `swap`.
pub(super) fn swap(_: u64, [new, _]: [u64; 2]) -> Option<u64> {
    Some(new)
}

/// `compare_exchange`: writes the second operand if the first is there.
pub(super) fn exchange(old: u64, [expected, new]: [u64; 2]) -> Option<u64> {
    (old == expected).then_some(new)
}

/// `fetch_and`, of any type: the representation of both operands agrees in the bits beyond the value.
pub(super) fn and(old: u64, [operand, _]: [u64; 2]) -> Option<u64> {
    Some(old & operand)
}

/// `fetch_or`, of any type.
pub(super) fn or(old: u64, [operand, _]: [u64; 2]) -> Option<u64> {
    Some(old | operand)
}

/// `fetch_xor`, of any type.
pub(super) fn xor(old: u64, [operand, _]: [u64; 2]) -> Option<u64> {
    Some(old ^ operand)
}

/// `AtomicBool::fetch_nand`.
pub(super) fn nand_bool(old: u64, [operand, _]: [u64; 2]) -> Option<u64> {
    Some((old & operand) ^ 1)
}

/// `AtomicPtr::fetch_byte_add`, and `fetch_byte_sub` with the operand negated.
pub(super) fn add_word(old: u64, [operand, _]: [u64; 2]) -> Option<u64> {
    Some(old.wrapping_add(operand))
}

/// The updates of one integer type whose result depends on its width or sign.
macro_rules! integer_updates {
    ($($module:ident: $t:ty;)*) => {$(
        pub(super) mod $module {
            pub(in crate::model::atomic) fn add(old: u64, [operand, _]: [u64; 2]) -> Option<u64> {
                Some((old as $t).wrapping_add(operand as $t) as u64)
            }
            pub(in crate::model::atomic) fn sub(old: u64, [operand, _]: [u64; 2]) -> Option<u64> {
                Some((old as $t).wrapping_sub(operand as $t) as u64)
            }
            pub(in crate::model::atomic) fn nand(old: u64, [operand, _]: [u64; 2]) -> Option<u64> {
                Some(!(old as $t & operand as $t) as u64)
            }
            pub(in crate::model::atomic) fn max(old: u64, [operand, _]: [u64; 2]) -> Option<u64> {
                Some((old as $t).max(operand as $t) as u64)
            }
            pub(in crate::model::atomic) fn min(old: u64, [operand, _]: [u64; 2]) -> Option<u64> {
                Some((old as $t).min(operand as $t) as u64)
            }
        }
    )*};
}

integer_updates! {
    i8: i8; i16: i16; i32: i32; i64: i64; isize: isize;
    u8: u8; u16: u16; u32: u32; u64: u64; usize: usize;
}
