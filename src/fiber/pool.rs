//! The fibers of one worker: which are idle, armed, suspended or running.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr;

use super::{Backend, Body, Fiber, State};

/// The end of the list of idle fibers.
const NONE: u32 = u32::MAX;

/// The fibers of one OS thread. Finished ones keep their stacks and run the next body.
///
/// All methods take `&self`, and no reference into the pool is held across a switch except to the one fiber that runs.
/// So a fiber may itself start others.
pub(crate) struct Pool<F: Fiber = Backend> {
    stack_bytes: usize,
    /// Boxed: a fiber stays where it is while it runs, even if this list grows.
    entries: UnsafeCell<Vec<Box<Entry<F>>>>,
    /// The most recently finished fiber, whose stack is likely to be in the cache; the others hang on
    /// `Entry::next_idle`.
    idle: Cell<u32>,
    /// Fibers, and what they run, stay on one OS thread.
    not_send: PhantomData<*mut ()>,
}

/// A fiber that [`Pool::start`] armed, until it finishes or is abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(u32);

struct Entry<F> {
    fiber: F,
    phase: Cell<Phase>,
    next_idle: Cell<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    /// Armed or suspended.
    Resumable,
    Running,
    #[allow(dead_code, reason = "see `Pool::abandon`")]
    Abandoned,
}

impl<F: Fiber> Pool<F> {
    /// A pool whose fibers have stacks of at least `stack_bytes` bytes. Memory for a stack is only used once it is
    /// touched.
    pub(crate) fn new(stack_bytes: usize) -> Self {
        Pool { stack_bytes, entries: UnsafeCell::new(Vec::new()), idle: Cell::new(NONE), not_send: PhantomData }
    }

    /// Arms an idle fiber, or a new one, with `body`, which begins at the first `resume` and must not unwind.
    pub(crate) fn start(&self, body: Box<dyn FnOnce()>) -> Handle {
        self.start_body(Body::Closure(body))
    }

    /// As [`start`](Self::start) with the body `run(on, number)`, and without an allocation.
    #[inline]
    pub(crate) fn start_call(&self, run: fn(*const (), u32), on: *const (), number: u32) -> Handle {
        self.start_body(Body::Call { run, on, number })
    }

    #[inline]
    fn start_body(&self, body: Body) -> Handle {
        let index = match self.idle.get() {
            NONE => self.grow(),
            index => {
                self.idle.set(self.entry(index).next_idle.get());
                index
            }
        };
        let entry = self.entry(index);
        entry.fiber.arm(body);
        entry.phase.set(Phase::Resumable);
        Handle(index)
    }

    /// Runs the fiber until it suspends or its body returns. Not to be called on a fiber.
    #[inline(always)]
    pub(crate) fn resume(&self, handle: Handle) -> State {
        let entry = self.entry(handle.0);
        assert!(entry.phase.get() == Phase::Resumable, "fiber {} cannot be resumed: {:?}", handle.0, entry.phase.get());
        entry.phase.set(Phase::Running);
        // SAFETY: 1. The phase was `Resumable`, so the fiber is armed or suspended, and not running.
        // 2. The pool is neither `Send` nor `Sync`, so this is the thread that made the fiber.
        // 3. The backends panic when they are called on a fiber.
        let state = unsafe { entry.fiber.resume() };
        match state {
            State::Suspended => entry.phase.set(Phase::Resumable),
            State::Finished => {
                entry.phase.set(Phase::Idle);
                entry.next_idle.set(self.idle.replace(handle.0));
            }
        }
        state
    }

    /// Gives up a fiber that will never be resumed. Nothing on its stack is dropped or unwound, and the stack is never
    /// reused: others may still borrow from it.
    #[allow(dead_code, reason = "a controller may unwind all its fibers instead")]
    pub(crate) fn abandon(&self, handle: Handle) {
        let entry = self.entry(handle.0);
        assert!(
            entry.phase.get() == Phase::Resumable,
            "fiber {} cannot be abandoned: {:?}",
            handle.0,
            entry.phase.get()
        );
        entry.phase.set(Phase::Abandoned);
    }

    /// Gives up a suspended fiber that will never be resumed, and frees its stack. Nothing on it is dropped or unwound.
    ///
    /// # Safety
    ///
    /// Nothing uses what is on the stack any more.
    pub(crate) unsafe fn discard(&self, handle: Handle) {
        let entry = self.entry(handle.0);
        assert!(entry.phase.get() == Phase::Resumable, "fiber {} cannot be discarded", handle.0);
        let next_idle = Cell::new(self.idle.replace(handle.0));
        let new = Box::new(Entry { fiber: F::new(self.stack_bytes), phase: Cell::new(Phase::Idle), next_idle });
        // SAFETY: 1. The fiber is not running, and no method keeps a reference to its entry. 2. As in `grow`.
        let old = unsafe { std::mem::replace(&mut (&mut *self.entries.get())[handle.0 as usize], new) };
        // SAFETY: the caller's promise.
        unsafe { old.fiber.discard() };
    }

    /// Whether no fiber is in the middle of anything.
    fn is_idle(&self) -> bool {
        // SAFETY: as in `entry`.
        unsafe { &*self.entries.get() }.iter().all(|entry| entry.phase.get() == Phase::Idle)
    }

    /// How many fibers there are, in whatever phase.
    #[cfg(test)]
    pub(super) fn fibers(&self) -> usize {
        // SAFETY: as in `entry`.
        unsafe { (*self.entries.get()).len() }
    }

    #[inline]
    fn entry(&self, index: u32) -> &Entry<F> {
        // SAFETY: 1. The only `&mut` to the list is in `grow`, for one push, which runs no code that could come back
        // here.
        // 2. Boxes are never removed before the pool is dropped, so the entry outlives the returned borrow of `self`,
        // and a push moves the boxes but not the entries.
        unsafe {
            let entries = &*self.entries.get();
            &*ptr::from_ref::<Entry<F>>(&entries[index as usize])
        }
    }

    #[cold]
    fn grow(&self) -> u32 {
        let fiber = F::new(self.stack_bytes);
        let entry = Box::new(Entry { fiber, phase: Cell::new(Phase::Idle), next_idle: Cell::new(NONE) });
        // SAFETY: `push` calls nothing but the allocator, so no other reference to the list (see `entry`) is in use.
        let entries = unsafe { &mut *self.entries.get() };
        entries.push(entry);
        u32::try_from(entries.len() - 1).expect("fewer than 2^32 fibers")
    }
}

thread_local! {
    /// The pool of the last model on this OS thread: making stacks is what takes longest at the start of a model.
    static LAST: Cell<Option<Pool>> = const { Cell::new(None) };
}

/// A pool that is kept for the next model on this OS thread when it is dropped.
pub(crate) struct Lease(ManuallyDrop<Pool>);

impl Lease {
    /// A pool whose fibers have stacks of at least `stack_bytes` bytes.
    pub(crate) fn new(stack_bytes: usize) -> Lease {
        let last = LAST.try_with(Cell::take).ok().flatten().filter(|pool| pool.stack_bytes == stack_bytes);
        Lease(ManuallyDrop::new(last.unwrap_or_else(|| Pool::new(stack_bytes))))
    }
}

impl Deref for Lease {
    type Target = Pool;

    #[inline]
    fn deref(&self) -> &Pool {
        &self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // SAFETY: nobody uses the field after its owner's drop.
        let pool = unsafe { ManuallyDrop::take(&mut self.0) };
        // A fiber that is an OS thread belongs to the model that it was made for, see `worker::inherit`.
        if Backend::IS_REUSABLE && pool.is_idle() {
            let _ = LAST.try_with(|last| last.set(Some(pool)));
        }
    }
}

impl<F: Fiber> Drop for Pool<F> {
    fn drop(&mut self) {
        for entry in self.entries.get_mut().drain(..) {
            match entry.phase.get() {
                Phase::Idle => entry.fiber.retire(),
                // Dropping it would make a coroutine crate unwind its frames, by a panic that nobody expects.
                Phase::Resumable | Phase::Running | Phase::Abandoned => drop(Box::leak(entry)),
            }
        }
    }
}
