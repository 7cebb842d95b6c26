//! What is in the `static`s of each simulated process.
//!
//! As the memory of a program is when it runs in several processes, so is that of its shims here: one address, and for each
//! process another content. Threads of a model take turns; when the turn goes from one process to another, what the first has in
//! the `static`s is set aside, and what the second had there comes back, or what the program was loaded with. So a process starts
//! as after execve(2), whatever the one that started it has done.
//!
//! That is known of memory that goes back at the end of the execution anyway (see [`put_back_at_end`]), and of the words by which
//! the controller knows an object again ([`Slot`]), whose first content is 0. A word is known from its first use on while there
//! are simulated processes. If it has been used before in this execution, that was by the body, as there were no others.
//!
//! What cannot be set aside byte by byte must not be used by two processes: [`only_one_process`].
//!
//! [`put_back_at_end`]: super::put_back_at_end

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use super::is_static;
use crate::model::controller::{Controller, Scope, Slot};
use crate::model::event::Site;
use crate::model::{deferred, world};

/// The body of the model.
const BODY: u64 = 0;

type Bytes = Box<[MaybeUninit<u8>]>;

/// Memory in a `static`.
struct Region {
    place: *mut MaybeUninit<u8>,
    /// What was there before the execution.
    fresh: Bytes,
    /// Drops what is there; `None` if that is nothing but a word.
    drop_value: Option<Box<dyn FnMut()>>,
    /// What processes had there that are not running now.
    images: Vec<(u64, Bytes)>,
}

impl Region {
    fn contains(&self, start: usize, size: usize) -> bool {
        let end = self.place.addr() + self.fresh.len();
        self.place.addr() <= start && start + size <= end
    }

    /// Sets aside what is there, which is that of `process`.
    fn save(&mut self, process: u64) {
        let size = self.fresh.len();
        let place = self.images.iter().position(|(of, _)| *of == process).unwrap_or_else(|| {
            self.images.push((process, Box::new_uninit_slice(size)));
            self.images.len() - 1
        });
        // SAFETY: 1. Both are of this size. 2. Bytes that may be uninitialised can be copied.
        unsafe { ptr::copy_nonoverlapping(self.place.cast_const(), self.images[place].1.as_mut_ptr(), size) };
    }

    /// Brings back what `process` had there.
    fn load(&mut self, process: u64) {
        let image = self.images.iter().find(|(of, _)| *of == process).map_or(&self.fresh, |(_, image)| image);
        // SAFETY: 1. Both are of this size. 2. What was there has been set aside, or was dropped. 3. No thread of another process
        // runs before its bytes are back.
        unsafe { ptr::copy_nonoverlapping(image.as_ptr(), self.place, image.len()) };
    }
}

/// The `static`s of an execution that its shims have come to.
pub(super) struct Memory {
    regions: Vec<Region>,
    /// The process whose content is there.
    now: u64,
    /// Places that must not be used by two processes, with the one that has.
    users: Vec<(usize, u64)>,
}

/// The number of the process that the running thread belongs to; 0: the body's.
pub fn running(controller: &dyn Controller) -> u64 {
    world::process_number(controller).unwrap_or(BODY)
}

/// The same, when it is not known whether there are processes at all.
fn current_process(controller: &dyn Controller) -> u64 {
    if deferred::watches_processes() { running(controller) } else { BODY }
}

impl Memory {
    /// That of the running execution; `None` if it is being put back already.
    pub(super) fn with<R>(controller: &dyn Controller, f: impl FnOnce(&mut Memory) -> R) -> Option<R> {
        static KEY: u8 = 0;
        let key = (&raw const KEY).addr();
        let mut new = || {
            let memory = Memory { regions: Vec::new(), now: current_process(controller), users: Vec::new() };
            Box::new(RefCell::new(memory)) as Box<dyn Any>
        };
        let memory = controller.storage(Scope::Execution, key, &mut new)?;
        // SAFETY: 1. The storage keeps the value where it is until the end of the execution. 2. It is only used through `&`.
        let memory = unsafe { memory.as_ref() }.downcast_ref::<RefCell<Memory>>()?;
        Some(f(&mut memory.borrow_mut()))
    }

    fn is_kept(&self, place: *mut MaybeUninit<u8>, size: usize) -> bool {
        self.regions.iter().any(|region| region.contains(place.addr(), size))
    }

    /// Keeps what is at `place` for the end of the execution, unless that is known, or lies in something that is kept: a `Mutex`
    /// in a `LazyLock` is made anew with it; its value must be dropped once, and what it held before is no constant.
    pub(super) fn keep(&mut self, place: *mut MaybeUninit<u8>, size: usize, drop_value: Box<dyn FnMut()>) {
        if self.is_kept(place, size) {
            return;
        }
        let mut fresh = Box::new_uninit_slice(size);
        // SAFETY: 1. Both are of this size. 2. Bytes that may be uninitialised can be copied.
        unsafe { ptr::copy_nonoverlapping(place.cast_const(), fresh.as_mut_ptr(), size) };
        self.regions.push(Region { place, fresh, drop_value: Some(drop_value), images: Vec::new() });
    }

    /// The word of `slot` is one for each process. `process` is about to use it.
    fn add_word(&mut self, slot: &Slot, process: u64) {
        let size = size_of::<Slot>();
        let place = ptr::from_ref(slot).cast_mut().cast::<MaybeUninit<u8>>();
        if self.is_kept(place, size) {
            return;
        }
        let fresh = vec![MaybeUninit::new(0); size].into();
        let mut region = Region { place, fresh, drop_value: None, images: Vec::new() };
        if process != BODY {
            region.save(BODY);
            region.load(process);
        }
        self.regions.push(region);
    }

    /// From now on `process` runs.
    fn switch_to(&mut self, process: u64) {
        if self.now == process {
            return;
        }
        for region in &mut self.regions {
            region.save(self.now);
            region.load(process);
        }
        self.now = process;
    }

    /// Drops what there is, the newest first.
    fn drop_values(&mut self) {
        for region in self.regions.iter_mut().rev() {
            if let Some(drop_value) = &mut region.drop_value {
                // A panic here would keep others from being put back.
                if let Err(payload) = catch_unwind(AssertUnwindSafe(drop_value)) {
                    std::mem::forget(payload);
                }
            }
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let images = self.regions.iter().flat_map(|region| region.images.iter().map(|(process, _)| *process));
        let processes: BTreeSet<u64> = images.filter(|process| *process != self.now).collect();
        self.drop_values();
        for process in processes {
            self.regions.iter_mut().for_each(|region| region.load(process));
            self.drop_values();
        }
        // What is there has been dropped, and what goes there may be put back, as `put_back_at_end` demands.
        for region in &mut self.regions {
            region.images.clear();
            region.load(BODY);
        }
    }
}

/// The process that an object at `address` belongs to, if it is used now: the running one if it is in a `static`. What is
/// elsewhere is known by its address alone: 0.
pub(crate) fn process(controller: &dyn Controller, address: *const ()) -> u64 {
    if deferred::watches_processes() && is_static(address) == Some(true) { running(controller) } else { BODY }
}

/// To be called before the object with this slot is used: if it is in a `static`, it is another object for each process.
#[inline]
pub(crate) fn touch(controller: &dyn Controller, slot: &Slot) {
    if deferred::watches_processes() && is_static(ptr::from_ref(slot).cast()) == Some(true) {
        touch_static(controller, slot);
    }
}

#[cold]
fn touch_static(controller: &dyn Controller, slot: &Slot) {
    if !controller.inert() && controller.allows_static(ptr::from_ref(slot).cast()) {
        let process = running(controller);
        Memory::with(controller, |memory| memory.add_word(slot, process));
    }
}

/// To be called before the object with this slot is used, if it cannot be one for each process when it is in a `static`.
#[inline]
pub(crate) fn touch_shared(controller: &dyn Controller, slot: &Slot, what: &str, site: Site) {
    let address = ptr::from_ref(slot).cast();
    if deferred::watches_processes() && is_static(address) == Some(true) {
        let used = slot.get() >> 24 == controller.execution();
        only_one_process(controller, address, used, what, site);
    }
}

/// To be called before something in a `static` is used that cannot be one for each process: `what` is at `address`. It has been
/// `used` in this execution: by the body, unless another process is known. The second process to use it fails the model.
#[cold]
pub(crate) fn only_one_process(controller: &dyn Controller, address: *const (), used: bool, what: &str, site: Site) {
    if controller.inert() || is_static(address) != Some(true) {
        return;
    }
    let process = current_process(controller);
    let user = Memory::with(controller, |memory| {
        let known = memory.users.iter().find(|(place, _)| *place == address.addr()).map(|(_, user)| *user);
        known.unwrap_or_else(|| {
            let user = if used { BODY } else { process };
            memory.users.push((address.addr(), user));
            user
        })
    });
    if user.is_some_and(|user| user != process) {
        let message = format!(
            "two processes use one `static`: it holds a {what}, which is not one for each process. Make it in each process, or \
             use a type that is: atomics and what `interleave::sync` has"
        );
        controller.fail("outside", message, site);
    }
}

/// To be called by a controller whose model has simulated processes, before it lets a thread run: that finds the `static`s as its
/// process has left them.
pub fn resumed(controller: &dyn Controller) {
    let process = running(controller);
    Memory::with(controller, |memory| memory.switch_to(process));
}
