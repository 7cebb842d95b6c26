//! `AtomicCell`.

use std::fmt;
use std::mem::{ManuallyDrop, forget};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use dpor::{Action, Info, Role, Update};

use super::word::{Table, bytes_of, is_small, value_of};
use crate::model::controller::current;
use crate::model::event::{Answer, Identity, Site, exclusive, perform};
use crate::model::statics::{is_static, touch_shared};
use crate::model::sync::mpsc::chan::{info, locked};

/// Stands in for [`crossbeam_utils::atomic::AtomicCell`].
///
/// In a model every operation is one step, with the orderings that the crate documents: loads are `Acquire`, stores `Release`,
/// and the rest is both. Whether the real one has a lock is no matter. Arithmetic on 128-bit integers is a compare-exchange
/// loop. Where it differs: `into_inner` and `as_ptr` are not `const`, and in a model there is no `as_ptr`.
pub struct AtomicCell<T> {
    identity: Identity,
    table: Mutex<Table<T>>,
    /// What a model starts from. It stays the owner of its value until a model has moved that out.
    real: ManuallyDrop<crossbeam_utils::atomic::AtomicCell<T>>,
}

// SAFETY: 1. The cell owns its value.
unsafe impl<T: Send> Send for AtomicCell<T> {}
// SAFETY: 1. Values are moved or copied into and out of it as a whole, by one thread at a time, and never borrowed.
unsafe impl<T: Send> Sync for AtomicCell<T> {}

impl<T> UnwindSafe for AtomicCell<T> {}
impl<T> RefUnwindSafe for AtomicCell<T> {}

static LOAD: Info = info("AtomicCell", "load", Role::Plain);
static STORE: Info = info("AtomicCell", "store", Role::Plain);
static SWAP: Info = info("AtomicCell", "swap", Role::Plain);
static COMPARE_EXCHANGE: Info = info("AtomicCell", "compare_exchange", Role::Plain);
static INTO_INNER: Info = info("AtomicCell", "into_inner", Role::Plain);
static END: Info = info("AtomicCell", "drop", Role::Plain);

/// In the word of a large value: the one that the cell was created with.
const INITIAL: u64 = 0;

fn swap(_: u64, [new, _]: [u64; 2]) -> Option<u64> {
    Some(new)
}

fn exchange(old: u64, [expected, new]: [u64; 2]) -> Option<u64> {
    (old == expected).then_some(new)
}

fn read_modify_write(update: Update, operands: [u64; 2]) -> Action {
    Action::Update { update, operands, order: AcqRel, failure: Acquire, weak: false }
}

impl<T> AtomicCell<T> {
    /// Stands in for [`crossbeam_utils::atomic::AtomicCell::new`].
    #[track_caller]
    pub const fn new(val: T) -> AtomicCell<T> {
        AtomicCell {
            identity: Identity::new(),
            table: Mutex::new(Table::new()),
            real: ManuallyDrop::new(crossbeam_utils::atomic::AtomicCell::new(val)),
        }
    }

    /// Stands in for [`crossbeam_utils::atomic::AtomicCell::is_lock_free`].
    pub const fn is_lock_free() -> bool {
        crossbeam_utils::atomic::AtomicCell::<T>::is_lock_free()
    }

    /// The word that a model starts from.
    fn init(&self) -> u64 {
        if is_small::<T>() {
            // SAFETY: 1. The real cell is not written to while a model uses it. 2. No value is made of the bytes but by `value`.
            bytes_of(unsafe { &*self.real.as_ptr() })
        } else {
            INITIAL
        }
    }

    #[track_caller]
    fn perform(&self, action: Action, info: &'static Info, site: Site) -> Answer {
        current(|controller| {
            if let Some(controller) = controller {
                touch_shared(controller, self.identity.slot(), "`AtomicCell`", site);
            }
        });
        match perform(&self.identity, self.init(), action, info, site) {
            Answer::Inert if self.is_left_to_real(info, site) => Answer::Outside,
            answer => answer,
        }
    }

    /// After the end of an execution, the real cell goes on from the newest value. Only a `static` keeps the value that the next
    /// execution starts from.
    fn is_left_to_real(&self, info: &'static Info, site: Site) -> bool {
        if is_static(ptr::from_ref(self).cast()) != Some(false) {
            return false;
        }
        if let Some(word) = exclusive(&self.identity, self.init(), info, site) {
            // SAFETY: 1. It is the newest value, which nobody has taken out. What the real cell holds has been moved out, unless
            // it is the same.
            let value = unsafe { self.value(word) };
            forget(self.real.swap(value));
        }
        true
    }

    /// A word for a value that is about to be written.
    fn word(&self, value: T) -> u64 {
        if is_small::<T>() {
            return bytes_of(&*ManuallyDrop::new(value));
        }
        current(|controller| match controller {
            Some(controller) => locked(&self.table).add(controller, value),
            None => unreachable!("only a model has words"),
        })
    }

    /// The value of a word.
    ///
    /// # Safety
    ///
    /// The word must be one that the cell has had, and nobody else may take its value unless it is `Copy`.
    unsafe fn value(&self, word: u64) -> T {
        if is_small::<T>() {
            // SAFETY: 1. The caller's promise is the same.
            return unsafe { value_of(word) };
        }
        let value = locked(&self.table).get(word);
        match value {
            // SAFETY: 1. Whoever put it into the table put a value there.
            Some(value) => unsafe { value.assume_init() },
            // SAFETY: 1. The real cell still has the bytes of the value it was created with. 2. The caller may take it.
            None => unsafe { ptr::read(self.real.as_ptr()) },
        }
    }

    /// Stands in for [`crossbeam_utils::atomic::AtomicCell::into_inner`].
    #[track_caller]
    pub fn into_inner(self) -> T {
        let mut this = ManuallyDrop::new(self);
        let value = this.take_for_owner(&INTO_INNER, Location::caller());
        // SAFETY: 1. `this` is not used any more, and not dropped.
        drop(unsafe { ptr::read(&raw const this.table) });
        value
    }

    /// The value, for an owner that does not use the cell any more.
    fn take_for_owner(&mut self, info: &'static Info, site: Site) -> T {
        match exclusive(&self.identity, self.init(), info, site) {
            // SAFETY: 1. It is the newest value, which nobody has taken out, and the cell is not used again.
            Some(word) => unsafe { self.value(word) },
            // SAFETY: 1. The cell is not used again.
            None => unsafe { ManuallyDrop::take(&mut self.real) }.into_inner(),
        }
    }

    /// Stands in for [`crossbeam_utils::atomic::AtomicCell::as_ptr`], outside a model.
    ///
    /// In a model, accesses through the pointer could not be seen: there the call ends it with the code `outside`.
    #[track_caller]
    pub fn as_ptr(&self) -> *mut T {
        let site = Location::caller();
        current(|controller| {
            if let Some(controller) = controller
                && !controller.inert()
            {
                let message = format!(
                    "AtomicCell::as_ptr gives out the address of the value, and a model does not see what is done through it \
                     (created at {})",
                    self.identity.created()
                );
                controller.fail("outside", message, site);
            }
        });
        self.real.as_ptr()
    }

    /// Stands in for [`crossbeam_utils::atomic::AtomicCell::store`].
    #[track_caller]
    pub fn store(&self, val: T) {
        let site = Location::caller();
        if std::mem::needs_drop::<T>() {
            return drop(self.swap_at(val, &STORE, site));
        }
        let Some(word) = self.word_in_model(&val) else {
            self.identity.outside(&STORE);
            return self.real.store(val);
        };
        let action = Action::Store { order: Release, value: word };
        if self.perform(action, &STORE, site) == Answer::Outside {
            self.real.store(val);
        }
    }

    /// In a model, a word for a copy of the bytes of a value that has no drop glue, or that is forgotten if it is written.
    fn word_in_model(&self, value: &T) -> Option<u64> {
        current(|controller| controller.is_some()).then(|| {
            // SAFETY: 1. One of the two is never made a value of, as the caller sees to.
            self.word(unsafe { ptr::read(value) })
        })
    }

    /// Stands in for [`crossbeam_utils::atomic::AtomicCell::swap`].
    #[track_caller]
    pub fn swap(&self, val: T) -> T {
        self.swap_at(val, &SWAP, Location::caller())
    }

    #[track_caller]
    fn swap_at(&self, val: T, info: &'static Info, site: Site) -> T {
        let Some(word) = self.word_in_model(&val) else {
            self.identity.outside(info);
            return self.real.swap(val);
        };
        match self.perform(read_modify_write(swap, [word, 0]), info, site) {
            Answer::Done(old) => {
                forget(val);
                // SAFETY: 1. Of all read-modify-writes, exactly one reads a word, and those that read it without writing are of
                // types that are `Copy`.
                unsafe { self.value(old) }
            }
            Answer::Outside => self.real.swap(val),
            Answer::Inert => val,
        }
    }
}

impl<T: Default> AtomicCell<T> {
    /// Stands in for [`crossbeam_utils::atomic::AtomicCell::take`].
    #[track_caller]
    pub fn take(&self) -> T {
        self.swap(T::default())
    }
}

impl<T: Copy> AtomicCell<T> {
    /// Stands in for [`crossbeam_utils::atomic::AtomicCell::load`].
    #[track_caller]
    pub fn load(&self) -> T {
        match self.perform(Action::Load { order: Acquire }, &LOAD, Location::caller()) {
            // SAFETY: 1. It is a word of the cell. 2. `T` is `Copy`.
            Answer::Done(word) => unsafe { self.value(word) },
            Answer::Outside | Answer::Inert => self.real.load(),
        }
    }
}

impl<T: Copy + Eq> AtomicCell<T> {
    /// Stands in for [`crossbeam_utils::atomic::AtomicCell::compare_and_swap`].
    #[deprecated(note = "Use `compare_exchange` instead")]
    #[track_caller]
    pub fn compare_and_swap(&self, current: T, new: T) -> T {
        match self.compare_exchange(current, new) {
            Ok(old) | Err(old) => old,
        }
    }

    /// Stands in for [`crossbeam_utils::atomic::AtomicCell::compare_exchange`].
    ///
    /// # Errors
    ///
    /// The value that was there, if it was not `current`.
    #[track_caller]
    pub fn compare_exchange(&self, mut current: T, new: T) -> Result<T, T> {
        let site = Location::caller();
        let Some(to) = self.word_in_model(&new) else {
            self.identity.outside(&COMPARE_EXCHANGE);
            return self.real.compare_exchange(current, new);
        };
        loop {
            let expected = if is_small::<T>() {
                bytes_of(&current)
            } else {
                // Which of the equal values it is must be seen first.
                let word = match self.perform(Action::Load { order: Acquire }, &COMPARE_EXCHANGE, site) {
                    Answer::Done(word) => word,
                    Answer::Outside => return self.real.compare_exchange(current, new),
                    Answer::Inert => return Ok(current),
                };
                // SAFETY: 1. It is a word of the cell. 2. `T` is `Copy`.
                let value = unsafe { self.value(word) };
                if value != current {
                    return Err(value);
                }
                word
            };
            match self.perform(read_modify_write(exchange, [expected, to]), &COMPARE_EXCHANGE, site) {
                // SAFETY: 1. It is a word of the cell. 2. `T` is `Copy`.
                Answer::Done(old) if old == expected => return Ok(unsafe { self.value(old) }),
                Answer::Done(old) => {
                    // SAFETY: 1. As above.
                    let value = unsafe { self.value(old) };
                    if value != current {
                        return Err(value);
                    }
                    // Equal, but not of the same bytes.
                    current = value;
                }
                Answer::Outside => return self.real.compare_exchange(current, new),
                // Whoever repeats it until it succeeds must come to an end.
                Answer::Inert => return Ok(current),
            }
        }
    }

    /// Stands in for [`crossbeam_utils::atomic::AtomicCell::fetch_update`]: a load, and compare-exchanges until one succeeds,
    /// each a step of its own.
    ///
    /// # Errors
    ///
    /// The value that was there, if `f` gives `None` for it.
    #[track_caller]
    pub fn fetch_update<F>(&self, mut f: F) -> Result<T, T>
    where
        F: FnMut(T) -> Option<T>,
    {
        let mut current = self.load();
        while let Some(next) = f(current) {
            match self.compare_exchange(current, next) {
                Ok(old) => return Ok(old),
                Err(old) => current = old,
            }
        }
        Err(current)
    }
}

impl<T> Drop for AtomicCell<T> {
    fn drop(&mut self) {
        // Outside a model nobody else could look.
        let site = self.identity.created();
        drop(self.take_for_owner(&END, site));
    }
}

impl<T: Default> Default for AtomicCell<T> {
    #[track_caller]
    fn default() -> Self {
        AtomicCell::new(T::default())
    }
}

impl<T> From<T> for AtomicCell<T> {
    #[track_caller]
    fn from(val: T) -> Self {
        AtomicCell::new(val)
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for AtomicCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicCell").field("value", &self.load()).finish()
    }
}

/// The arithmetic of a type of at most 8 bytes: one step each. The type has to be told how it becomes a word and back.
macro_rules! arithmetic {
    ($t:ty, $word:expr, $value:expr; $($name:ident => $compute:expr;)*) => {
        impl AtomicCell<$t> {$(
            #[doc = concat!("Stands in for `", stringify!($name), "` of [`crossbeam_utils::atomic::AtomicCell`].")]
            #[track_caller]
            pub fn $name(&self, val: $t) -> $t {
                static INFO: Info = info("AtomicCell", stringify!($name), Role::Plain);
                const WORD: fn($t) -> u64 = $word;
                const VALUE: fn(u64) -> $t = $value;
                const COMPUTE: fn($t, $t) -> $t = $compute;
                fn update(old: u64, [operand, _]: [u64; 2]) -> Option<u64> {
                    Some(WORD(COMPUTE(VALUE(old), VALUE(operand))))
                }
                match self.perform(read_modify_write(update, [WORD(val), 0]), &INFO, Location::caller()) {
                    Answer::Done(old) => VALUE(old),
                    Answer::Outside => self.real.$name(val),
                    Answer::Inert => self.real.load(),
                }
            }
        )*}
    };
}

/// The arithmetic of a larger type, by compare-exchange.
macro_rules! large_arithmetic {
    ($t:ty; $($name:ident => $compute:expr;)*) => {
        impl AtomicCell<$t> {$(
            #[doc = concat!("Stands in for `", stringify!($name), "` of [`crossbeam_utils::atomic::AtomicCell`].")]
            #[track_caller]
            pub fn $name(&self, val: $t) -> $t {
                const COMPUTE: fn($t, $t) -> $t = $compute;
                match self.fetch_update(|old| Some(COMPUTE(old, val))) {
                    Ok(old) | Err(old) => old,
                }
            }
        )*}
    };
}

/// What all integers have.
macro_rules! integer {
    ($arithmetic:ident, $t:ident $(, $unsigned:ty)?) => {
        $arithmetic! { $t $(, |value| value as $unsigned as u64, |word| word as $t)?;
            fetch_add => $t::wrapping_add;
            fetch_sub => $t::wrapping_sub;
            fetch_and => |a, b| a & b;
            fetch_nand => |a, b| !(a & b);
            fetch_or => |a, b| a | b;
            fetch_xor => |a, b| a ^ b;
            fetch_max => |a, b| a.max(b);
            fetch_min => |a, b| a.min(b);
        }
    };
}

integer!(arithmetic, u8, u8);
integer!(arithmetic, i8, u8);
integer!(arithmetic, u16, u16);
integer!(arithmetic, i16, u16);
integer!(arithmetic, u32, u32);
integer!(arithmetic, i32, u32);
integer!(arithmetic, u64, u64);
integer!(arithmetic, i64, u64);
integer!(arithmetic, usize, usize);
integer!(arithmetic, isize, usize);
integer!(large_arithmetic, u128);
integer!(large_arithmetic, i128);

arithmetic! { bool, u64::from, |word| word & 1 == 1;
    fetch_and => |a, b| a & b;
    fetch_nand => |a, b| !(a & b);
    fetch_or => |a, b| a | b;
    fetch_xor => |a, b| a ^ b;
}
