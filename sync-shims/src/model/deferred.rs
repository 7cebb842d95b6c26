//! What has to be settled before the next visible operation of a thread.
//!
//! Two things happen in a thread that its shims cannot judge when they begin, and one is decided before each operation:
//!
//! * [`UnsafeCell::get`](super::cell::UnsafeCell::get) hands out a raw pointer. Whether it is written through only shows
//!   afterwards: the bytes before are kept, and compared when the thread comes to its next visible operation.
//! * The last handle of an [`Arc`](super::sync::Arc) with a real count drops the value. Whether that does anything visible
//!   (so that it matters *who* is last) only shows when it does.
//! * A thread of a simulated process may have to end here: see [`process`](super::process).
//!
//! Model threads take turns on an OS thread, and only at visible operations; so whatever is pending belongs to the thread
//! that runs, and one list for the OS thread is enough as long as every operation calls [`settle`] first.

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;

use dpor::{Access, Info};

use super::controller::{Controller, Slot, Target};
use super::event::Site;

/// Cells up to this size are kept as they are, larger ones as a hash.
const KEPT: usize = 64;

/// What the memory of a cell looked like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Snapshot {
    Bytes([u8; KEPT]),
    Hash(u64),
}

/// A pointer that was handed out and may have been written through.
#[derive(Clone, Copy)]
struct HandedOut {
    /// The cell's slot word, copied: the cell itself may have moved since.
    slot: u64,
    created: Site,
    memory: *const u8,
    len: usize,
    before: Snapshot,
    info: &'static Info,
    site: Site,
}

thread_local! {
    /// What there is to settle: all that an operation has to look at as a rule.
    static PENDING: Cell<Pending> = const { Cell::new(Pending::NOTHING) };
    static HANDED_OUT: RefCell<Vec<HandedOut>> = const { RefCell::new(Vec::new()) };
}

/// What there is to settle.
#[derive(Clone, Copy)]
struct Pending {
    /// There may be something in `HANDED_OUT`.
    accesses: bool,
    /// Creation site of the innermost shared value that is being dropped without a modelled count.
    drop: Option<Site>,
    /// There are simulated processes that may end at any operation.
    processes: bool,
}

impl Pending {
    const NOTHING: Pending = Pending { accesses: false, drop: None, processes: false };
}

/// From now on, until the end of the execution, threads may have to end at their operations: [`settle`] says so.
pub(crate) fn watch_processes() {
    PENDING.set(Pending { processes: true, ..PENDING.get() });
}

/// Whether [`watch_processes`] was called.
#[inline]
pub(crate) fn watches_processes() -> bool {
    PENDING.get().processes
}

fn set_accesses(accesses: bool) {
    PENDING.set(Pending { accesses, ..PENDING.get() });
}

/// Settles what is pending; every visible operation calls this first, and so must the end of a thread. Returns whether the
/// operation has to look first whether its process goes on.
///
/// Unwinds if the execution ends here: a race was found, or the exploration has to start again with a modelled count.
#[inline]
pub fn settle(controller: &dyn Controller) -> bool {
    let pending = PENDING.get();
    if pending.accesses {
        settle_accesses(controller);
    }
    if let Some(site) = pending.drop {
        settle_drop(controller, site);
    }
    pending.processes
}

/// Forgets everything: for the end of an execution that was cut short.
pub fn clear() {
    if PENDING.get().accesses {
        HANDED_OUT.with_borrow_mut(Vec::clear);
    }
    PENDING.set(Pending::NOTHING);
}

/// Reports every pointer that has been written through meanwhile as a write, and forgets them all (as reads they are known
/// already).
#[cold]
fn settle_accesses(controller: &dyn Controller) {
    // One at a time, since a race unwinds out of `report`.
    while let Some(entry) = HANDED_OUT.with_borrow_mut(Vec::pop) {
        report(controller, &entry);
    }
    set_accesses(false);
}

/// The same for the cell with the slot word `slot` alone: its memory is about to go, or to be given away.
#[inline]
pub(crate) fn settle_cell(controller: &dyn Controller, slot: u64) {
    if PENDING.get().accesses {
        let known = |list: &mut Vec<HandedOut>| {
            let place = list.iter().position(|entry| entry.slot == slot)?;
            Some(list.swap_remove(place))
        };
        while let Some(entry) = HANDED_OUT.with_borrow_mut(known) {
            report(controller, &entry);
        }
    }
}

/// Reports every pointer that has been written through so far; they may be again.
fn check_accesses(controller: &dyn Controller) {
    if !PENDING.get().accesses {
        return;
    }
    for i in 0..HANDED_OUT.with_borrow(Vec::len) {
        let Some(entry) = HANDED_OUT.with_borrow(|list| list.get(i).copied()) else { break };
        report(controller, &entry);
        let before = snapshot(entry.memory, entry.len);
        HANDED_OUT.with_borrow_mut(|list| list[i].before = before);
    }
}

fn report(controller: &dyn Controller, entry: &HandedOut) {
    if controller.inert() || snapshot(entry.memory, entry.len) == entry.before {
        return;
    }
    let slot = Slot::new();
    slot.set(entry.slot);
    let target = Target { slot: &slot, init: 0, created: entry.created, name: None, group: 0 };
    controller.plain(target, Access::Write, entry.info, entry.site);
}

/// Notes that a pointer to `len` bytes at `memory`, the cell behind `target`, has been handed out. The caller has reported
/// a read, so that the slot is in use.
pub(crate) fn handed_out(
    controller: &dyn Controller,
    target: Target<'_>,
    memory: *const u8,
    len: usize,
    info: &'static Info,
    site: Site,
) {
    // Miri would refuse to look at bytes that may be uninitialised: there `get` stays a read.
    if cfg!(miri) || len == 0 {
        return;
    }
    let slot = target.slot.get();
    let known = HANDED_OUT.with_borrow_mut(|list| {
        let place = list.iter().position(|e| e.memory == memory && e.slot == slot)?;
        Some(list.swap_remove(place))
    });
    if let Some(entry) = known {
        report(controller, &entry);
    }
    let before = snapshot(memory, len);
    let entry = HandedOut { slot, created: target.created, memory, len, before, info, site };
    HANDED_OUT.with_borrow_mut(|list| list.push(entry));
    set_accesses(true);
}

fn snapshot(memory: *const u8, len: usize) -> Snapshot {
    if len <= KEPT {
        let mut bytes = [0; KEPT];
        for (i, byte) in bytes.iter_mut().enumerate().take(len) {
            *byte = peek(memory, i);
        }
        Snapshot::Bytes(bytes)
    } else {
        // FNV-1a: a collision costs a write that is taken for a read.
        let hash = (0..len).fold(0xcbf2_9ce4_8422_2325, |hash: u64, i| {
            (hash ^ u64::from(peek(memory, i))).wrapping_mul(0x0100_0000_01b3)
        });
        Snapshot::Hash(hash)
    }
}

/// One byte of a cell, whatever it means.
fn peek(memory: *const u8, offset: usize) -> u8 {
    // SAFETY: 1. `memory` was the address of a live cell of more than `offset` bytes when it was handed out; the cell's own
    // drop, `into_inner` and `get_mut` settle first, so it can only have gone without notice if it was moved out of a box
    // that was freed since, and then its bytes are still mapped as long as the allocator keeps the page (see the
    // documentation of `UnsafeCell::get`). 2. No other OS thread touches it: model threads share this one. 3. The byte may
    // be padding, hence `MaybeUninit`, and the volatile read makes the compiler take what is there.
    unsafe { memory.add(offset).cast::<MaybeUninit<u8>>().read_volatile().assume_init() }
}

/// Runs `drop_value`, which drops what a shared pointer created at `site` points to, in a thread that happens to be the last
/// one to let go of it. If it does anything visible, the pointer needs a modelled count and the exploration starts again.
pub(crate) fn drop_uncounted(controller: &dyn Controller, site: Site, drop_value: impl FnOnce()) {
    // These nest properly: whatever does something visible in between, and so could be left by its thread, unwinds.
    struct Leave<'a>(&'a dyn Controller, Option<Site>);
    impl Drop for Leave<'_> {
        fn drop(&mut self) {
            PENDING.set(Pending { drop: self.1, ..PENDING.get() });
            self.0.ordered_drop(false);
        }
    }
    // What was done before is not covered by the order of the drop.
    check_accesses(controller);
    controller.ordered_drop(true);
    let outer = PENDING.get();
    PENDING.set(Pending { drop: Some(site), ..outer });
    let _leave = Leave(controller, outer.drop);
    drop_value();
    // What the drop glue did through raw pointers is covered by the order of the drop as well.
    check_accesses(controller);
}

#[cold]
fn settle_drop(controller: &dyn Controller, site: Site) {
    if !controller.inert() {
        controller.count_from_now_on(site);
    }
}
