//! The decisions of an execution, packed into few bytes.
//!
//! Packed, a run of equal decisions is one tag byte and what it announces:
//!
//! ```text
//! bit  0     1      2       3              4-7
//!      read  place  choice  other thread   length - 1; 15: a varint with the length - 16 follows
//! ```
//!
//! Then the values announced, in this order, as varints (7 bits a byte, the low ones first). The first thread is 0. In most
//! executions most decisions are "the same thread, the newest write, the canonical outcome".

use serde::{Deserialize, Serialize};

/// One operation, as far as it must be known to perform it again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Decision {
    /// Who performs it.
    pub(crate) thread: u32,
    /// Reads: how many newer writes there are than the one it reads from; 0 for the newest.
    pub(crate) read: u32,
    /// Blind stores: how many writes there are after the place where it is put; 0 for the last.
    pub(crate) place: u32,
    /// Which outcome; 0 for the canonical one.
    pub(crate) choice: u32,
}

const READ: u8 = 1;
const PLACE: u8 = 2;
const CHOICE: u8 = 4;
const THREAD: u8 = 8;
const LONG: u64 = 15;

/// No execution is longer: a length beyond it is damage, and must not be allocated.
const MOST: u64 = 1 << 24;

/// `decisions` in few bytes.
pub(crate) fn pack(decisions: &[Decision]) -> Vec<u8> {
    let mut out = Vec::new();
    push(&mut out, decisions.len() as u64);
    let mut thread = 0;
    for run in decisions.chunk_by(|a, b| a == b) {
        let (decision, more) = (run[0], run.len() as u64 - 1);
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let fields = flag(decision.read > 0, READ)
            | flag(decision.place > 0, PLACE)
            | flag(decision.choice > 0, CHOICE)
            | flag(decision.thread != thread, THREAD);
        out.push(fields | (more.min(LONG) as u8) << 4);
        if more >= LONG {
            push(&mut out, more - LONG);
        }
        let announced =
            [(READ, decision.read), (PLACE, decision.place), (CHOICE, decision.choice), (THREAD, decision.thread)];
        announced.iter().filter(|(bit, _)| fields & bit != 0).for_each(|(_, value)| push(&mut out, u64::from(*value)));
        thread = decision.thread;
    }
    out
}

/// The decisions packed in `bytes`; `None` if they are not what [`pack`] makes.
pub(crate) fn unpack(mut bytes: &[u8]) -> Option<Vec<Decision>> {
    let bytes = &mut bytes;
    let count = pop(bytes).filter(|count| *count <= MOST)?;
    let mut decisions = Vec::new();
    let mut thread = 0;
    while (decisions.len() as u64) < count {
        let (tag, rest) = bytes.split_first()?;
        *bytes = rest;
        let more = match u64::from(tag >> 4) {
            LONG => pop(bytes)?.checked_add(LONG)?,
            more => more,
        };
        let mut field = |bit: u8, otherwise: u32| match tag & bit {
            0 => Some(otherwise),
            _ => u32::try_from(pop(bytes)?).ok(),
        };
        let decision = Decision {
            read: field(READ, 0)?,
            place: field(PLACE, 0)?,
            choice: field(CHOICE, 0)?,
            thread: field(THREAD, thread)?,
        };
        let left = count - decisions.len() as u64;
        if more >= left {
            return None;
        }
        thread = decision.thread;
        decisions.extend(std::iter::repeat_n(decision, more as usize + 1));
    }
    bytes.is_empty().then_some(decisions)
}

fn push(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn pop(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
