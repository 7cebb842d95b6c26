//! `Receiver`, its iterators, and the receivers that have no sender.

use std::fmt;
use std::iter::FusedIterator;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use dpor::{Info, Outcomes, Role, ThreadId};

use super::ends::Side;
use super::timer::Timer;
use super::{Attempt, Chan, Patience, RecvError, RecvTimeoutError, TryRecvError};
use crate::model::controller::current;
use crate::model::event::{Answer, Identity, Site, perform};
use crate::model::sync::Arc;
use crate::model::sync::mpsc::chan::{info, object};
use crate::model::time::{Instant, Limit, Wait};

/// Stands in for [`crossbeam_channel::Receiver`].
pub struct Receiver<T>(pub(super) Flavor<T>);

pub(super) enum Flavor<T> {
    Real(crossbeam_channel::Receiver<T>),
    Model(Chan<T>),
    /// What receives from a timer has an `Instant` for `T`.
    Timer(Arc<Timer>, fn(Instant) -> T),
    RealTimer(crossbeam_channel::Receiver<std::time::Instant>, fn(Instant) -> T),
    Never(Identity),
}

// SAFETY: 1. It gives out messages that were sent, to one thread each; the channel is never used by two threads at once, as the
// threads of a model take turns.
unsafe impl<T: Send> Send for Receiver<T> {}
// SAFETY: 1. As above.
unsafe impl<T: Send> Sync for Receiver<T> {}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

/// Ends a model that is about to wait for a real channel.
pub(super) fn no_waiting(what: &str, site: Site) {
    crate::model::crossbeam::no_waiting(what, "a channel", site);
}

fn never_outs(_: u64, _: [u64; 2], _: ThreadId, _: &mut Outcomes) {}

static NEVER: Info = info("Receiver", "recv: never", Role::Wait);

/// Why there is no message.
enum Missing {
    NotYet,
    Disconnected,
}

impl<T> Receiver<T> {
    pub(super) fn real(receiver: crossbeam_channel::Receiver<T>) -> Self {
        Receiver(Flavor::Real(receiver))
    }

    pub(super) fn model(chan: Chan<T>) -> Self {
        Receiver(Flavor::Model(chan))
    }

    /// As `recv` and its like, in a model or after it.
    fn receive(&self, patience: Patience, site: Site) -> Result<T, Missing> {
        let missing = |gone: bool| if gone { Missing::Disconnected } else { Missing::NotYet };
        match &self.0 {
            Flavor::Model(Chan::Meeting(meeting)) => meeting.recv(patience, site).map_err(missing),
            Flavor::Model(Chan::Slots(slots)) => match (slots.begin_recv(patience, site), patience) {
                (Attempt::Done(number), Patience::Forever) => slots.value(number),
                (Attempt::Done(number), _) => slots.finish_recv(number, site),
                (Attempt::Over, _) => slots.left_message(),
                (Attempt::NotYet, _) => return Err(Missing::NotYet),
                (Attempt::Gone | Attempt::Waiting, _) => None,
            }
            .ok_or(Missing::Disconnected),
            Flavor::Timer(timer, message) => match timer.recv(patience, site) {
                Attempt::Done(at) => Ok(message(timer.message(at))),
                _ => Err(Missing::NotYet),
            },
            Flavor::Never(identity) => {
                if patience == Patience::Forever
                    && perform(identity, 0, object(never_outs, 0, false), &NEVER, site) == Answer::Outside
                {
                    _ = crossbeam_channel::never::<T>().recv();
                }
                Err(Missing::NotYet)
            }
            Flavor::Real(receiver) => receive_for_real(receiver, patience, site),
            Flavor::RealTimer(receiver, message) => {
                receive_for_real(receiver, patience, site).map(|at| message(Instant::of_std(at)))
            }
        }
    }

    /// Stands in for [`crossbeam_channel::Receiver::try_recv`].
    ///
    /// # Errors
    ///
    /// If there is no message, or there is none and no sender.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.receive(Patience::None, Location::caller()).map_err(|missing| match missing {
            Missing::NotYet => TryRecvError::Empty,
            Missing::Disconnected => TryRecvError::Disconnected,
        })
    }

    /// Stands in for [`crossbeam_channel::Receiver::recv`].
    ///
    /// # Errors
    ///
    /// If there is no message and no sender.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.receive(Patience::Forever, Location::caller()).map_err(|_| RecvError)
    }

    /// Stands in for [`crossbeam_channel::Receiver::recv_timeout`]. In a model it may give up whenever there is no message,
    /// however long the timeout.
    ///
    /// # Errors
    ///
    /// If no message comes in time, or there is none and no sender.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            Flavor::Real(receiver) => receiver.recv_timeout(timeout),
            Flavor::RealTimer(receiver, message) => {
                receiver.recv_timeout(timeout).map(|at| message(Instant::of_std(at)))
            }
            Flavor::Never(_) if current(|controller| controller.is_none()) => {
                crossbeam_channel::never().recv_timeout(timeout)
            }
            _ => self.receive_within(timeout, Location::caller()),
        }
    }

    /// Stands in for [`crossbeam_channel::Receiver::recv_deadline`]. In a model it may give up whenever there is no message,
    /// however late the deadline.
    ///
    /// # Errors
    ///
    /// If no message comes in time, or there is none and no sender.
    #[track_caller]
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            Flavor::Real(receiver) => receiver.recv_deadline(deadline.into()),
            Flavor::RealTimer(receiver, message) => {
                receiver.recv_deadline(deadline.into()).map(|at| message(Instant::of_std(at)))
            }
            Flavor::Never(_) if current(|controller| controller.is_none()) => {
                crossbeam_channel::never().recv_deadline(deadline.into())
            }
            _ => self.receive_within(deadline, Location::caller()),
        }
    }

    fn receive_within(&self, limit: impl Limit, site: Site) -> Result<T, RecvTimeoutError> {
        let wait = Wait::start(limit, site);
        self.receive(Patience::SomeTime, site).map_err(|missing| match missing {
            Missing::NotYet => {
                wait.give_up(site);
                RecvTimeoutError::Timeout
            }
            Missing::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// Stands in for [`crossbeam_channel::Receiver::is_empty`].
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Flavor::Real(receiver) => receiver.is_empty(),
            Flavor::RealTimer(receiver, _) => receiver.is_empty(),
            Flavor::Model(chan) => chan.is_empty(Location::caller()),
            Flavor::Timer(timer, _) => !timer.has_fired(Location::caller()),
            Flavor::Never(_) => true,
        }
    }

    /// Stands in for [`crossbeam_channel::Receiver::is_full`].
    #[track_caller]
    pub fn is_full(&self) -> bool {
        match &self.0 {
            Flavor::Real(receiver) => receiver.is_full(),
            Flavor::RealTimer(receiver, _) => receiver.is_full(),
            Flavor::Model(chan) => chan.is_full(Location::caller()),
            Flavor::Timer(timer, _) => timer.has_fired(Location::caller()),
            Flavor::Never(_) => true,
        }
    }

    /// Stands in for [`crossbeam_channel::Receiver::len`].
    #[track_caller]
    pub fn len(&self) -> usize {
        match &self.0 {
            Flavor::Real(receiver) => receiver.len(),
            Flavor::RealTimer(receiver, _) => receiver.len(),
            Flavor::Model(chan) => chan.len(Location::caller()),
            Flavor::Timer(timer, _) => usize::from(timer.has_fired(Location::caller())),
            Flavor::Never(_) => 0,
        }
    }

    /// Stands in for [`crossbeam_channel::Receiver::capacity`].
    pub fn capacity(&self) -> Option<usize> {
        match &self.0 {
            Flavor::Real(receiver) => receiver.capacity(),
            Flavor::Model(chan) => chan.capacity(),
            Flavor::Timer(..) | Flavor::RealTimer(..) => Some(1),
            Flavor::Never(_) => Some(0),
        }
    }

    /// Stands in for [`crossbeam_channel::Receiver::iter`].
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// Stands in for [`crossbeam_channel::Receiver::try_iter`].
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }

    /// Stands in for [`crossbeam_channel::Receiver::same_channel`].
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        match (&self.0, &other.0) {
            (Flavor::Real(one), Flavor::Real(two)) => one.same_channel(two),
            (Flavor::RealTimer(one, _), Flavor::RealTimer(two, _)) => one.same_channel(two),
            (Flavor::Model(one), Flavor::Model(two)) => one.is_same(two),
            (Flavor::Timer(one, _), Flavor::Timer(two, _)) => Arc::ptr_eq(one, two),
            (Flavor::Never(_), Flavor::Never(_)) => true,
            _ => false,
        }
    }
}

/// From a channel that was created outside of a model.
fn receive_for_real<T>(
    receiver: &crossbeam_channel::Receiver<T>,
    patience: Patience,
    site: Site,
) -> Result<T, Missing> {
    match receiver.try_recv() {
        Ok(value) => Ok(value),
        Err(TryRecvError::Disconnected) => Err(Missing::Disconnected),
        Err(TryRecvError::Empty) if patience == Patience::None => Err(Missing::NotYet),
        Err(TryRecvError::Empty) => {
            no_waiting("Receiver::recv", site);
            receiver.recv().map_err(|_| Missing::Disconnected)
        }
    }
}

/// A receiver from a timer, or outside a model what `real` makes.
#[track_caller]
fn timer(
    first: impl Limit,
    period: Option<Duration>,
    real: impl FnOnce() -> crossbeam_channel::Receiver<std::time::Instant>,
) -> Receiver<Instant> {
    let site = Location::caller();
    Receiver(match current(|controller| controller.is_some()) {
        true => Flavor::Timer(Arc::new(Timer::new(first, period, site)), |at| at),
        false => Flavor::RealTimer(real(), |at| at),
    })
}

/// Stands in for [`crossbeam_channel::after`]. In a model the message may come at any moment, however long the duration; the
/// clock has come that far then.
#[track_caller]
pub fn after(duration: Duration) -> Receiver<Instant> {
    match std::time::Instant::now().checked_add(duration) {
        Some(_) => timer(duration, None, || crossbeam_channel::after(duration)),
        None => never(),
    }
}

/// Stands in for [`crossbeam_channel::at`]. In a model the message may come at any moment; the clock has come that far then.
#[track_caller]
pub fn at(when: Instant) -> Receiver<Instant> {
    timer(when, None, || crossbeam_channel::at(when.into()))
}

/// Stands in for [`crossbeam_channel::tick`]. In a model, messages may come at any moment; the clock has come to the time of
/// each then.
#[track_caller]
pub fn tick(duration: Duration) -> Receiver<Instant> {
    timer(duration, Some(duration), || crossbeam_channel::tick(duration))
}

/// Stands in for [`crossbeam_channel::never`].
#[track_caller]
pub const fn never<T>() -> Receiver<T> {
    Receiver(Flavor::Never(Identity::new()))
}

impl<T> Clone for Receiver<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        match &self.0 {
            Flavor::Real(receiver) => Receiver::real(receiver.clone()),
            Flavor::RealTimer(receiver, message) => Receiver(Flavor::RealTimer(receiver.clone(), *message)),
            Flavor::Model(chan) => {
                chan.ends().add(Side::Recv, Location::caller());
                Receiver::model(chan.clone())
            }
            Flavor::Timer(timer, message) => Receiver(Flavor::Timer(timer.clone(), *message)),
            Flavor::Never(_) => never(),
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Flavor::Model(chan) = &self.0 {
            chan.remove(Side::Recv);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Receiver { .. }")
    }
}

/// Stands in for [`crossbeam_channel::Iter`].
pub struct Iter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// Stands in for [`crossbeam_channel::TryIter`].
pub struct TryIter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// Stands in for [`crossbeam_channel::IntoIter`].
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

macro_rules! iterators {
    ($($name:literal $type:ty => $next:ident;)*) => {$(
        impl<T> Iterator for $type {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.receiver.$next().ok()
            }
        }

        impl<T> fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad($name)
            }
        }
    )*};
}

iterators! {
    "Iter { .. }" Iter<'_, T> => recv;
    "TryIter { .. }" TryIter<'_, T> => try_recv;
    "IntoIter { .. }" IntoIter<T> => recv;
}

impl<T> FusedIterator for Iter<'_, T> {}
impl<T> FusedIterator for IntoIter<T> {}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}
