//! An access to a cell that lasts: from a call to the drop of a guard, or as long as a closure runs.
//!
//! It is checked where it begins and, if its thread has performed operations meanwhile, where it ends. So an access of another
//! thread must be ordered before its beginning or after its end.

use std::cell::RefCell;

use dpor::{Access, Info, Role};
use interleave::cell::UnsafeCell;
use sync_shims::model::controller::{Slot, Target, current};
use sync_shims::model::event::Site;

const fn info(name: &'static str) -> Info {
    Info { name, family: "UnsafeCell", role: Role::Plain }
}

static READ: Info = info("end of read");
static WRITE: Info = info("end of write");

thread_local! {
    /// The accesses that last, of all models of this OS thread: the slot word of the cell, the thread, which kind.
    static LASTING: RefCell<Vec<(u64, u32, Access)>> = const { RefCell::new(Vec::new()) };
}

/// One access that lasts until this is dropped.
pub(super) struct Lasting {
    /// The slot word of the cell, which may be gone by then; 0 outside a model.
    word: u64,
    created: Site,
    site: Site,
    thread: u32,
    access: Access,
    /// Operations that the thread had performed.
    performed: u64,
}

impl Lasting {
    /// An access to `cell` that begins; the caller has had it checked, as an access of its own.
    ///
    /// # Panics
    ///
    /// If the thread itself is in the middle of an access that this one conflicts with.
    #[track_caller]
    pub(super) fn begin<T: ?Sized>(cell: &UnsafeCell<T>, access: Access, site: Site) -> Lasting {
        let identity = cell.identity();
        let (word, thread, performed) = current(|controller| match controller {
            Some(controller) if !controller.inert() => {
                (identity.slot().get(), controller.thread().0, controller.performed())
            }
            _ => (0, 0, 0),
        });
        if word != 0 {
            LASTING.with_borrow_mut(|lasting| {
                let other = |wanted| lasting.iter().any(|&(w, t, a)| w == word && t == thread && a == wanted);
                assert!(!other(Access::Write), "currently writing to cell");
                assert!(access == Access::Read || !other(Access::Read), "currently reading from cell");
                lasting.push((word, thread, access));
            });
        }
        Lasting { word, created: identity.created(), site, thread, access, performed }
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        if self.word == 0 {
            return;
        }
        LASTING.with_borrow_mut(|lasting| {
            let this = |entry: &(u64, u32, Access)| *entry == (self.word, self.thread, self.access);
            if let Some(place) = lasting.iter().rposition(this) {
                lasting.swap_remove(place);
            }
        });
        current(|controller| {
            let Some(controller) = controller else { return };
            // An execution that is over has no use for it, and a panic must not be followed by another.
            if controller.inert() || controller.panicking() || controller.performed() == self.performed {
                return;
            }
            let slot = Slot::new();
            slot.set(self.word);
            let what = if self.access == Access::Read { &READ } else { &WRITE };
            controller.plain(
                Target { slot: &slot, init: 0, created: self.created, name: None, group: 0 },
                self.access,
                what,
                self.site,
            );
        });
    }
}
