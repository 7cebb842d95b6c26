//! `Sender`.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use super::ends::Side;
use super::receiver::no_waiting;
use super::{Attempt, Chan, Patience, SendError, SendTimeoutError, TrySendError};
use crate::model::event::Site;
use crate::model::time::{Instant, Limit, Wait};

/// Stands in for [`crossbeam_channel::Sender`].
pub struct Sender<T>(pub(super) Flavor<T>);

pub(super) enum Flavor<T> {
    Real(crossbeam_channel::Sender<T>),
    Model(Chan<T>),
}

// SAFETY: 1. Messages are sent to the thread of a receiver, or back to whoever failed to send them; the channel is never used
// by two threads at once, as the threads of a model take turns.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: 1. As above.
unsafe impl<T: Send> Sync for Sender<T> {}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}

impl<T> Sender<T> {
    pub(super) fn real(sender: crossbeam_channel::Sender<T>) -> Self {
        Sender(Flavor::Real(sender))
    }

    pub(super) fn model(chan: Chan<T>) -> Self {
        Sender(Flavor::Model(chan))
    }

    /// Stands in for [`crossbeam_channel::Sender::try_send`].
    ///
    /// # Errors
    ///
    /// The message, if it would have to wait or the receivers are gone.
    #[track_caller]
    pub fn try_send(&self, msg: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            Flavor::Real(sender) => sender.try_send(msg),
            Flavor::Model(chan) => match send(chan, msg, Patience::None, Location::caller()) {
                Ok(()) => Ok(()),
                Err((true, msg)) => Err(TrySendError::Disconnected(msg)),
                Err((false, msg)) => Err(TrySendError::Full(msg)),
            },
        }
    }

    /// Stands in for [`crossbeam_channel::Sender::send`].
    ///
    /// # Errors
    ///
    /// The message, if the receivers are gone.
    #[track_caller]
    pub fn send(&self, msg: T) -> Result<(), SendError<T>> {
        let site = Location::caller();
        match &self.0 {
            Flavor::Model(chan) => send(chan, msg, Patience::Forever, site).map_err(|(_, msg)| SendError(msg)),
            Flavor::Real(sender) => match sender.try_send(msg) {
                Ok(()) => Ok(()),
                Err(TrySendError::Disconnected(msg)) => Err(SendError(msg)),
                Err(TrySendError::Full(msg)) => {
                    no_waiting("Sender::send", site);
                    sender.send(msg)
                }
            },
        }
    }

    /// Stands in for [`crossbeam_channel::Sender::send_timeout`]. In a model it may give up whenever it would have to wait,
    /// however long the timeout.
    ///
    /// # Errors
    ///
    /// The message, if the time is over or the receivers are gone.
    #[track_caller]
    pub fn send_timeout(&self, msg: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match &self.0 {
            Flavor::Real(sender) => sender.send_timeout(msg, timeout),
            Flavor::Model(chan) => send_within(chan, msg, timeout, Location::caller()),
        }
    }

    /// Stands in for [`crossbeam_channel::Sender::send_deadline`]. In a model it may give up whenever it would have to wait,
    /// however late the deadline.
    ///
    /// # Errors
    ///
    /// The message, if the time is over or the receivers are gone.
    #[track_caller]
    pub fn send_deadline(&self, msg: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        match &self.0 {
            Flavor::Real(sender) => sender.send_deadline(msg, deadline.into()),
            Flavor::Model(chan) => send_within(chan, msg, deadline, Location::caller()),
        }
    }

    /// Stands in for [`crossbeam_channel::Sender::is_empty`].
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Flavor::Real(sender) => sender.is_empty(),
            Flavor::Model(chan) => chan.is_empty(Location::caller()),
        }
    }

    /// Stands in for [`crossbeam_channel::Sender::is_full`].
    #[track_caller]
    pub fn is_full(&self) -> bool {
        match &self.0 {
            Flavor::Real(sender) => sender.is_full(),
            Flavor::Model(chan) => chan.is_full(Location::caller()),
        }
    }

    /// Stands in for [`crossbeam_channel::Sender::len`].
    #[track_caller]
    pub fn len(&self) -> usize {
        match &self.0 {
            Flavor::Real(sender) => sender.len(),
            Flavor::Model(chan) => chan.len(Location::caller()),
        }
    }

    /// Stands in for [`crossbeam_channel::Sender::capacity`].
    pub fn capacity(&self) -> Option<usize> {
        match &self.0 {
            Flavor::Real(sender) => sender.capacity(),
            Flavor::Model(chan) => chan.capacity(),
        }
    }

    /// Stands in for [`crossbeam_channel::Sender::same_channel`].
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        match (&self.0, &other.0) {
            (Flavor::Real(one), Flavor::Real(two)) => one.same_channel(two),
            (Flavor::Model(one), Flavor::Model(two)) => one.is_same(two),
            _ => false,
        }
    }
}

/// Sends; gives the message back if that fails, and whether it is because the receivers are gone.
fn send<T>(chan: &Chan<T>, msg: T, patience: Patience, site: Site) -> Result<(), (bool, T)> {
    match chan {
        Chan::Meeting(meeting) => meeting.send(msg, patience, site),
        Chan::Slots(slots) => match slots.begin_send(patience, site) {
            Attempt::Done(number) => {
                slots.finish_send(number, msg, site);
                Ok(())
            }
            Attempt::Over => {
                slots.leave_message(msg);
                Ok(())
            }
            Attempt::Gone => Err((true, msg)),
            Attempt::NotYet | Attempt::Waiting => Err((false, msg)),
        },
    }
}

fn send_within<T>(chan: &Chan<T>, msg: T, limit: impl Limit, site: Site) -> Result<(), SendTimeoutError<T>> {
    let wait = Wait::start(limit, site);
    match send(chan, msg, Patience::SomeTime, site) {
        Ok(()) => Ok(()),
        Err((true, msg)) => Err(SendTimeoutError::Disconnected(msg)),
        Err((false, msg)) => {
            wait.give_up(site);
            Err(SendTimeoutError::Timeout(msg))
        }
    }
}

impl<T> Chan<T> {
    pub(super) fn is_empty(&self, site: Site) -> bool {
        match self {
            Chan::Slots(slots) => slots.is_empty(site),
            Chan::Meeting(_) => true,
        }
    }

    pub(super) fn is_full(&self, site: Site) -> bool {
        match self {
            Chan::Slots(slots) => slots.is_full(site),
            Chan::Meeting(_) => true,
        }
    }

    pub(super) fn len(&self, site: Site) -> usize {
        match self {
            Chan::Slots(slots) => slots.len(site),
            Chan::Meeting(_) => 0,
        }
    }

    pub(super) fn capacity(&self) -> Option<usize> {
        match self {
            Chan::Slots(slots) => slots.capacity(),
            Chan::Meeting(_) => Some(0),
        }
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        match &self.0 {
            Flavor::Real(sender) => Sender::real(sender.clone()),
            Flavor::Model(chan) => {
                chan.ends().add(Side::Send, Location::caller());
                Sender::model(chan.clone())
            }
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Flavor::Model(chan) = &self.0 {
            chan.remove(Side::Send);
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Sender { .. }")
    }
}
