//! `Select`.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr;
use std::time::Duration;

use dpor::{Action, Budget, Info, Role};

use super::arm::{Arm, Ask, Begin};
use super::receiver::no_waiting;
use super::{
    Attempt, Chan, Patience, ReadyTimeoutError, Receiver, RecvError, SelectTimeoutError, SendError, Sender,
    TryReadyError, TrySelectError, receiver, sender,
};
use crate::model::controller::current;
use crate::model::event::{Answer, Site, inert, perform_alone};
use crate::model::sync::mpsc::chan::info;
use crate::model::time::{Instant, within};

static CHOICE: Info = info("Select", "select: choice", Role::Plain);
static ORDER: Info = info("Select", "select: order of looking", Role::Plain);
static WAIT: Info = info("Select", "select", Role::Wait);
static DROP: Info = info("Select", "select: another operation is ready", Role::Plain);

/// Stands in for [`crossbeam_channel::Select`].
///
/// In a model, any operation that is ready may be selected: see the module's documentation. One that is biased takes the first
/// one that is ready; if none is, the first one that becomes so.
pub struct Select<'a> {
    arms: Vec<Entry<'a>>,
    next_index: usize,
    biased: bool,
}

#[derive(Clone, Copy)]
struct Entry<'a> {
    arm: &'a dyn Arm,
    index: usize,
    address: *const (),
}

// SAFETY: 1. It never touches a message: whoever completes an operation has a handle of its own.
unsafe impl Send for Select<'_> {}
// SAFETY: 1. As above.
unsafe impl Sync for Select<'_> {}

/// What a selection is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// The operation is begun.
    Begin,
    /// It is only found to be ready.
    Ready,
}

/// The outcome of a selection in a model.
type Found = Option<(usize, Attempt)>;

impl<'a> Select<'a> {
    /// Stands in for [`crossbeam_channel::Select::new`].
    pub fn new() -> Select<'a> {
        Select { arms: Vec::new(), next_index: 0, biased: false }
    }

    /// Stands in for [`crossbeam_channel::Select::new_biased`].
    pub fn new_biased() -> Self {
        Select { biased: true, ..Select::new() }
    }

    fn add(&mut self, arm: &'a dyn Arm) -> usize {
        let index = self.next_index;
        self.arms.push(Entry { arm, index, address: ptr::from_ref(arm).cast() });
        self.next_index += 1;
        index
    }

    /// Stands in for [`crossbeam_channel::Select::send`].
    pub fn send<T>(&mut self, s: &'a Sender<T>) -> usize {
        self.add(s)
    }

    /// Stands in for [`crossbeam_channel::Select::recv`].
    pub fn recv<T>(&mut self, r: &'a Receiver<T>) -> usize {
        self.add(r)
    }

    /// Stands in for [`crossbeam_channel::Select::remove`].
    ///
    /// # Panics
    ///
    /// If there is no operation with this index.
    pub fn remove(&mut self, index: usize) {
        assert!(index < self.next_index, "index out of bounds; {index} >= {}", self.next_index);
        let at = self.arms.iter().position(|entry| entry.index == index).expect("no operation with this index");
        self.arms.swap_remove(at);
    }

    /// Stands in for [`crossbeam_channel::Select::try_select`].
    ///
    /// # Errors
    ///
    /// If all operations would have to wait.
    #[track_caller]
    pub fn try_select(&mut self) -> Result<SelectedOperation<'a>, TrySelectError> {
        self.selected(Patience::None, Location::caller(), |real| real.try_select().ok()).ok_or(TrySelectError)
    }

    /// Stands in for [`crossbeam_channel::Select::select`].
    ///
    /// # Panics
    ///
    /// If there are no operations.
    #[track_caller]
    pub fn select(&mut self) -> SelectedOperation<'a> {
        self.check_not_empty();
        self.selected(Patience::Forever, Location::caller(), |real| Some(real.select())).expect("it waits until then")
    }

    /// Stands in for [`crossbeam_channel::Select::select_timeout`]. In a model it may give up whenever all operations would
    /// have to wait, however long the timeout.
    ///
    /// # Errors
    ///
    /// If the time is over.
    #[track_caller]
    pub fn select_timeout(&mut self, timeout: Duration) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        let real = |real: &mut crossbeam_channel::Select<'a>| real.select_timeout(timeout).ok();
        let site = Location::caller();
        within(timeout, site, || self.selected(Patience::SomeTime, site, real)).ok_or(SelectTimeoutError)
    }

    /// Stands in for [`crossbeam_channel::Select::select_deadline`]. In a model it may give up whenever all operations would
    /// have to wait, however late the deadline.
    ///
    /// # Errors
    ///
    /// If the time is over.
    #[track_caller]
    pub fn select_deadline(&mut self, deadline: Instant) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        let real = |real: &mut crossbeam_channel::Select<'a>| real.select_deadline(deadline.into()).ok();
        let site = Location::caller();
        within(deadline, site, || self.selected(Patience::SomeTime, site, real)).ok_or(SelectTimeoutError)
    }

    /// Stands in for [`crossbeam_channel::Select::try_ready`].
    ///
    /// # Errors
    ///
    /// If all operations would have to wait.
    #[track_caller]
    pub fn try_ready(&mut self) -> Result<usize, TryReadyError> {
        self.ready_one(Patience::None, Location::caller(), |real| real.try_ready().ok()).ok_or(TryReadyError)
    }

    /// Stands in for [`crossbeam_channel::Select::ready`].
    ///
    /// # Panics
    ///
    /// If there are no operations.
    #[track_caller]
    pub fn ready(&mut self) -> usize {
        self.check_not_empty();
        self.ready_one(Patience::Forever, Location::caller(), |real| Some(real.ready())).expect("it waits until then")
    }

    /// Stands in for [`crossbeam_channel::Select::ready_timeout`]. In a model it may give up whenever all operations would
    /// have to wait, however long the timeout.
    ///
    /// # Errors
    ///
    /// If the time is over.
    #[track_caller]
    pub fn ready_timeout(&mut self, timeout: Duration) -> Result<usize, ReadyTimeoutError> {
        let real = |real: &mut crossbeam_channel::Select<'a>| real.ready_timeout(timeout).ok();
        let site = Location::caller();
        within(timeout, site, || self.ready_one(Patience::SomeTime, site, real)).ok_or(ReadyTimeoutError)
    }

    /// Stands in for [`crossbeam_channel::Select::ready_deadline`]. In a model it may give up whenever all operations would
    /// have to wait, however late the deadline.
    ///
    /// # Errors
    ///
    /// If the time is over.
    #[track_caller]
    pub fn ready_deadline(&mut self, deadline: Instant) -> Result<usize, ReadyTimeoutError> {
        let real = |real: &mut crossbeam_channel::Select<'a>| real.ready_deadline(deadline.into()).ok();
        let site = Location::caller();
        within(deadline, site, || self.ready_one(Patience::SomeTime, site, real)).ok_or(ReadyTimeoutError)
    }

    fn check_not_empty(&self) {
        assert!(!self.arms.is_empty(), "no operations have been added to `Select`");
    }

    /// Selects with `real` outside a model.
    fn selected(
        &self,
        patience: Patience,
        site: Site,
        real: impl FnOnce(&mut crossbeam_channel::Select<'a>) -> Option<crossbeam_channel::SelectedOperation<'a>>,
    ) -> Option<SelectedOperation<'a>> {
        if current(|controller| controller.is_some()) {
            let (at, attempt) = self.find(Purpose::Begin, patience, site)?;
            return Some(SelectedOperation::new(&self.arms[at], Inner::Model(attempt)));
        }
        match self.real() {
            Err(at) => Some(SelectedOperation::new(&self.arms[at], Inner::Model(Attempt::Gone))),
            Ok((mut select, places)) => {
                let selected = real(&mut select)?;
                let at = places.iter().position(|&index| index == selected.index()).expect("it was added");
                Some(SelectedOperation::new(&self.arms[at], Inner::Real(selected)))
            }
        }
    }

    /// Looks with `real` outside a model.
    fn ready_one(
        &self,
        patience: Patience,
        site: Site,
        real: impl FnOnce(&mut crossbeam_channel::Select<'a>) -> Option<usize>,
    ) -> Option<usize> {
        let at = if current(|controller| controller.is_some()) {
            self.find(Purpose::Ready, patience, site)?.0
        } else {
            match self.real() {
                Err(at) => at,
                Ok((mut select, places)) => {
                    let ready = real(&mut select)?;
                    places.iter().position(|&index| index == ready).expect("it was added")
                }
            }
        };
        Some(self.arms[at].index)
    }

    /// A real selection, with the index that each operation has in it; or an operation that has left its model, and so finds
    /// the other side gone.
    fn real(&self) -> Result<(crossbeam_channel::Select<'a>, Vec<usize>), usize> {
        let mut select = match self.biased {
            true => crossbeam_channel::Select::new_biased(),
            false => crossbeam_channel::Select::new(),
        };
        let mut places = Vec::new();
        for (at, entry) in self.arms.iter().enumerate() {
            places.push(entry.arm.add_to(&mut select).ok_or(at)?);
        }
        Ok((select, places))
    }
}

/// In a model.
impl Select<'_> {
    fn find(&self, purpose: Purpose, patience: Patience, site: Site) -> Found {
        if self.arms.iter().any(|entry| entry.arm.is_real()) {
            no_waiting("Select", site);
        }
        if self.arms.is_empty() {
            return None;
        }
        let found = match self.biased || (patience == Patience::None && self.arms.len() == 1) {
            true => self.first_ready(purpose, site),
            false => None,
        };
        match patience {
            _ if found.is_some() => found,
            Patience::None if self.biased || self.arms.len() == 1 => None,
            Patience::Forever => Some(self.wait(purpose, site)),
            Patience::None | Patience::SomeTime => self.one_or_none(purpose, patience, site),
        }
    }

    /// Begins an operation, or finds out whether it is ready.
    fn attempt(&self, at: usize, purpose: Purpose, begin: Begin, site: Site) -> Attempt {
        let arm = self.arms[at].arm;
        if purpose == Purpose::Begin {
            return arm.begin(begin, site);
        }
        let ask = if begin == Begin::IfReady { Ask::Whether } else { Ask::Chosen };
        if arm.is_ready(ask, site) { Attempt::Done(0) } else { Attempt::NotYet }
    }

    /// The first operation that is ready now.
    fn first_ready(&self, purpose: Purpose, site: Site) -> Found {
        let attempts = (0..self.arms.len()).map(|at| (at, self.attempt(at, purpose, Begin::IfReady, site)));
        attempts.into_iter().find(|(_, attempt)| *attempt != Attempt::NotYet)
    }

    /// Chooses an operation and waits until it is ready. If another one is, somebody else has made the right choice.
    fn wait(&self, purpose: Purpose, site: Site) -> (usize, Attempt) {
        if self.arms.len() == 1 && purpose == Purpose::Begin {
            return (0, self.attempt(0, purpose, Begin::WhenReady, site));
        }
        let Some(chosen) = choose(self.arms.len(), &CHOICE, site) else { return (0, Attempt::Over) };
        let mut begin = Begin::Waiting;
        loop {
            let attempt = self.attempt(chosen, purpose, begin, site);
            if attempt != Attempt::NotYet {
                return (chosen, attempt);
            }
            begin = Begin::WaitingAlready;
            let mut others = self.arms.iter().enumerate().filter(|(at, _)| *at != chosen);
            let over = match others.any(|(_, entry)| entry.arm.is_ready(Ask::Instead, site)) {
                true => drop_execution(site),
                false => self.arms[chosen].arm.park(&WAIT, site),
            };
            if over == Answer::Inert {
                return (chosen, Attempt::Over);
            }
        }
    }

    /// Chooses an operation that must become ready (with a timeout) or be so, or none if all are looked at in vain.
    fn one_or_none(&self, purpose: Purpose, patience: Patience, site: Site) -> Found {
        let chosen = choose(self.arms.len() + 1, &CHOICE, site)?;
        if chosen == self.arms.len() {
            return self.none(patience == Patience::SomeTime, site);
        }
        let mut begin = if patience == Patience::None { Begin::Chosen } else { Begin::Waiting };
        loop {
            let attempt = self.attempt(chosen, purpose, begin, site);
            if attempt != Attempt::NotYet {
                return Some((chosen, attempt));
            }
            if patience == Patience::SomeTime {
                begin = Begin::WaitingAlready;
            }
            if drop_execution(site) == Answer::Inert {
                return None;
            }
        }
    }

    /// Looks at all operations, in any order: they are not looked at all at once.
    fn none(&self, timed: bool, site: Site) -> Found {
        let mut left: Vec<usize> = (0..self.arms.len()).collect();
        while !left.is_empty() {
            let at = left.remove(choose(left.len(), &ORDER, site)?);
            if self.arms[at].arm.is_ready(Ask::InVain { timed }, site) && drop_execution(site) == Answer::Inert {
                break;
            }
        }
        None
    }
}

/// One of so many; none if the execution is over.
fn choose(alternatives: usize, info: &'static Info, site: Site) -> Option<usize> {
    if alternatives == 1 && ptr::eq(info, &raw const ORDER) {
        return Some(0);
    }
    let action = Action::Choose { alternatives: alternatives as u32, budget: Budget::Free };
    match perform_alone(action, info, site) {
        Answer::Done(chosen) => Some(chosen as usize),
        Answer::Outside | Answer::Inert => None,
    }
}

/// The choice was wrong: the execution does not count, unless something changes that the thread has looked at.
fn drop_execution(site: Site) -> Answer {
    perform_alone(Action::Assume, &DROP, site)
}

impl Clone for Select<'_> {
    fn clone(&self) -> Self {
        Select { arms: self.arms.clone(), next_index: self.next_index, biased: self.biased }
    }
}

impl Default for Select<'_> {
    fn default() -> Self {
        Select::new()
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Select { .. }")
    }
}

/// Stands in for [`crossbeam_channel::SelectedOperation`].
#[must_use]
pub struct SelectedOperation<'a> {
    inner: Inner<'a>,
    index: usize,
    address: *const (),
    handles: PhantomData<&'a ()>,
}

enum Inner<'a> {
    Real(crossbeam_channel::SelectedOperation<'a>),
    Model(Attempt),
    Completed,
}

impl<'a> SelectedOperation<'a> {
    fn new(entry: &Entry<'a>, inner: Inner<'a>) -> Self {
        SelectedOperation { inner, index: entry.index, address: entry.address, handles: PhantomData }
    }

    /// The same, without the lifetime of the handles: for the macros.
    ///
    /// # Safety
    ///
    /// It must be completed or dropped while the handles are there.
    #[doc(hidden)]
    pub unsafe fn __unbound<'b>(self) -> SelectedOperation<'b> {
        // SAFETY: 1. Only the lifetime changes, and the caller sees to it that it is kept.
        unsafe { std::mem::transmute(self) }
    }

    fn complete(&mut self) -> Inner<'a> {
        std::mem::replace(&mut self.inner, Inner::Completed)
    }

    /// Stands in for [`crossbeam_channel::SelectedOperation::index`].
    pub fn index(&self) -> usize {
        self.index
    }

    /// Stands in for [`crossbeam_channel::SelectedOperation::send`].
    ///
    /// # Errors
    ///
    /// The message, if the receivers are gone.
    ///
    /// # Panics
    ///
    /// If another operation was selected.
    #[track_caller]
    pub fn send<T>(mut self, s: &Sender<T>, msg: T) -> Result<(), SendError<T>> {
        assert!(ptr::from_ref(s).cast() == self.address, "passed a sender that wasn't selected");
        let site = Location::caller();
        match (self.complete(), &s.0) {
            (Inner::Real(selected), sender::Flavor::Real(sender)) => selected.send(sender, msg),
            (Inner::Model(Attempt::Over), sender::Flavor::Model(Chan::Slots(slots))) => {
                slots.leave_message(msg);
                Ok(())
            }
            (Inner::Model(Attempt::Done(number)), sender::Flavor::Model(Chan::Slots(slots))) => {
                slots.finish_send(number, msg, site);
                Ok(())
            }
            (
                Inner::Model(met @ (Attempt::Done(_) | Attempt::Waiting)),
                sender::Flavor::Model(Chan::Meeting(meeting)),
            ) => {
                meeting.finish_send(met, msg, site);
                Ok(())
            }
            _ => Err(SendError(msg)),
        }
    }

    /// Stands in for [`crossbeam_channel::SelectedOperation::recv`].
    ///
    /// # Errors
    ///
    /// If there is no message and no sender.
    ///
    /// # Panics
    ///
    /// If another operation was selected.
    #[track_caller]
    pub fn recv<T>(mut self, r: &Receiver<T>) -> Result<T, RecvError> {
        assert!(ptr::from_ref(r).cast() == self.address, "passed a receiver that wasn't selected");
        let site = Location::caller();
        match (self.complete(), &r.0) {
            (Inner::Real(selected), receiver::Flavor::Real(receiver)) => selected.recv(receiver),
            (Inner::Real(selected), receiver::Flavor::RealTimer(receiver, message)) => {
                selected.recv(receiver).map(|at| message(Instant::of_std(at)))
            }
            (Inner::Model(Attempt::Done(number)), receiver::Flavor::Model(Chan::Slots(slots))) => {
                slots.finish_recv(number, site).ok_or(RecvError)
            }
            (Inner::Model(Attempt::Over), receiver::Flavor::Model(Chan::Slots(slots))) => {
                slots.left_message().ok_or(RecvError)
            }
            (Inner::Model(met), receiver::Flavor::Model(Chan::Meeting(meeting))) => {
                meeting.finish_recv(met, site).ok_or(RecvError)
            }
            (Inner::Model(Attempt::Done(at)), receiver::Flavor::Timer(timer, message)) => {
                Ok(message(timer.message(at)))
            }
            _ => Err(RecvError),
        }
    }
}

impl fmt::Debug for SelectedOperation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SelectedOperation { .. }")
    }
}

impl Drop for SelectedOperation<'_> {
    fn drop(&mut self) {
        // A real one has its own panic; one in a model that ends, or in a thread that panics, must not add a second.
        if matches!(self.inner, Inner::Model(_)) && !inert() && !std::thread::panicking() {
            panic!("dropped `SelectedOperation` without completing the operation");
        }
    }
}
