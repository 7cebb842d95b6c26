//! `Receiver` and its iterators.

use std::cell::Cell;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use super::chan::{Chan, Missing, Patience};
use super::{RecvError, RecvTimeoutError, TryRecvError};
use crate::model::controller::current;
use crate::model::event::Site;
use crate::model::sync::Arc;
use crate::model::time::Wait;

/// Stands in for [`std::sync::mpsc::Receiver`].
pub struct Receiver<T>(Flavor<T>);

enum Flavor<T> {
    Real(std::sync::mpsc::Receiver<T>),
    Model {
        chan: Arc<Chan<T>>,
        /// The message to be received next.
        next: Cell<u64>,
    },
}

// SAFETY: 1. It gives out messages that were sent, to one thread at a time.
unsafe impl<T: Send> Send for Receiver<T> {}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

/// Ends a model that is about to wait for a real channel: it would wait for ever, as its threads share one OS thread.
pub(super) fn no_waiting(what: &str, site: Site) {
    current(|controller| {
        if let Some(controller) = controller
            && !controller.inert()
        {
            let message = format!("{what} would wait for a channel that was created outside of the model");
            controller.fail("outside", message, site);
        }
    });
}

impl<T> Receiver<T> {
    pub(super) fn real(receiver: std::sync::mpsc::Receiver<T>) -> Self {
        Receiver(Flavor::Real(receiver))
    }

    pub(super) fn model(chan: Arc<Chan<T>>) -> Self {
        Receiver(Flavor::Model { chan, next: Cell::new(0) })
    }

    /// Stands in for [`std::sync::mpsc::Receiver::try_recv`].
    ///
    /// # Errors
    ///
    /// If there is no message, or there is none and no sender.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.0 {
            Flavor::Real(receiver) => receiver.try_recv(),
            Flavor::Model { chan, next } => {
                receive(chan, next, Patience::None, Location::caller()).map_err(|missing| match missing {
                    Missing::Empty => TryRecvError::Empty,
                    Missing::Disconnected => TryRecvError::Disconnected,
                })
            }
        }
    }

    /// Stands in for [`std::sync::mpsc::Receiver::recv`].
    ///
    /// # Errors
    ///
    /// If there is no message and no sender.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let site = Location::caller();
        match &self.0 {
            Flavor::Model { chan, next } => receive(chan, next, Patience::Forever, site).map_err(|_| RecvError),
            Flavor::Real(receiver) => match receiver.try_recv() {
                Ok(value) => Ok(value),
                Err(TryRecvError::Disconnected) => Err(RecvError),
                Err(TryRecvError::Empty) => {
                    no_waiting("Receiver::recv", site);
                    receiver.recv()
                }
            },
        }
    }

    /// Stands in for [`std::sync::mpsc::Receiver::recv_timeout`]. In a model it may give up whenever there is no message,
    /// however long the timeout.
    ///
    /// # Errors
    ///
    /// If no message comes in time, or there is none and no sender.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            Flavor::Real(receiver) => receiver.recv_timeout(timeout),
            Flavor::Model { chan, next } => {
                let site = Location::caller();
                let wait = Wait::start(timeout, site);
                receive(chan, next, Patience::SomeTime, site).map_err(|missing| match missing {
                    Missing::Empty => {
                        wait.give_up(site);
                        RecvTimeoutError::Timeout
                    }
                    Missing::Disconnected => RecvTimeoutError::Disconnected,
                })
            }
        }
    }

    /// Stands in for [`std::sync::mpsc::Receiver::iter`].
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// Stands in for [`std::sync::mpsc::Receiver::try_iter`].
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

fn receive<T>(chan: &Chan<T>, next: &Cell<u64>, patience: Patience, site: Site) -> Result<T, Missing> {
    let value = chan.receive(next.get(), patience, site)?;
    next.set(next.get() + 1);
    Ok(value)
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Flavor::Model { chan, next } = &self.0 {
            // One that has left its model has nobody to tell.
            current(|controller| {
                if controller.is_some() {
                    chan.leave(next.get());
                }
            });
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// Stands in for [`std::sync::mpsc::Iter`].
#[derive(Debug)]
pub struct Iter<'a, T: 'a> {
    receiver: &'a Receiver<T>,
}

/// Stands in for [`std::sync::mpsc::TryIter`].
#[derive(Debug)]
pub struct TryIter<'a, T: 'a> {
    receiver: &'a Receiver<T>,
}

/// Stands in for [`std::sync::mpsc::IntoIter`].
#[derive(Debug)]
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

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
