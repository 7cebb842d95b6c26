//! `Sender` and `SyncSender`.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use super::chan::{Chan, Refused};
use super::ends::Handle;
use super::{SendError, TrySendError};
use crate::model::controller::current;
use crate::model::sync::Arc;

/// Stands in for [`std::sync::mpsc::Sender`].
pub struct Sender<T>(Flavor<std::sync::mpsc::Sender<T>, T>);

/// Stands in for [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T>(Flavor<std::sync::mpsc::SyncSender<T>, T>);

enum Flavor<S, T> {
    Real(S),
    Model(Arc<Chan<T>>, std::sync::Arc<Handle>),
}

// SAFETY: 1. Messages are sent to the thread of the receiver, or back to whoever failed to send them; the channel is never
// used by two threads at once, as the threads of a model take turns.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: 1. As above.
unsafe impl<T: Send> Sync for Sender<T> {}
// SAFETY: 1. As above.
unsafe impl<T: Send> Send for SyncSender<T> {}
// SAFETY: 1. As above.
unsafe impl<T: Send> Sync for SyncSender<T> {}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}
impl<T> UnwindSafe for SyncSender<T> {}
impl<T> RefUnwindSafe for SyncSender<T> {}

impl<T> Sender<T> {
    pub(super) fn real(sender: std::sync::mpsc::Sender<T>) -> Self {
        Sender(Flavor::Real(sender))
    }

    pub(super) fn model(chan: Arc<Chan<T>>) -> Self {
        let handle = chan.first_sender();
        Sender(Flavor::Model(chan, handle))
    }

    /// Stands in for [`std::sync::mpsc::Sender::send`].
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Flavor::Real(sender) => sender.send(value),
            Flavor::Model(chan, handle) => {
                handle.use_now();
                chan.send(value, Location::caller()).map_err(SendError)
            }
        }
    }
}

impl<T> SyncSender<T> {
    pub(super) fn real(sender: std::sync::mpsc::SyncSender<T>) -> Self {
        SyncSender(Flavor::Real(sender))
    }

    pub(super) fn model(chan: Arc<Chan<T>>) -> Self {
        let handle = chan.first_sender();
        SyncSender(Flavor::Model(chan, handle))
    }

    /// Stands in for [`std::sync::mpsc::SyncSender::send`].
    ///
    /// # Errors
    ///
    /// The message, if the receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let site = Location::caller();
        match &self.0 {
            Flavor::Model(chan, handle) => {
                handle.use_now();
                chan.send(value, site).map_err(SendError)
            }
            Flavor::Real(sender) => match sender.try_send(value) {
                Ok(()) => Ok(()),
                Err(TrySendError::Disconnected(value)) => Err(SendError(value)),
                Err(TrySendError::Full(value)) => {
                    super::receiver::no_waiting("SyncSender::send", site);
                    sender.send(value)
                }
            },
        }
    }

    /// Stands in for [`std::sync::mpsc::SyncSender::try_send`].
    ///
    /// # Errors
    ///
    /// The message, if there is no room for it or the receiver is gone.
    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            Flavor::Real(sender) => sender.try_send(value),
            Flavor::Model(chan, handle) => {
                handle.use_now();
                chan.try_send(value, Location::caller()).map_err(|(why, value)| match why {
                    Refused::Full => TrySendError::Full(value),
                    Refused::Disconnected => TrySendError::Disconnected(value),
                })
            }
        }
    }
}

macro_rules! handles {
    ($($name:ident)*) => {$(
        impl<T> Clone for $name<T> {
            #[track_caller]
            fn clone(&self) -> Self {
                match &self.0 {
                    Flavor::Real(sender) => $name::real(sender.clone()),
                    Flavor::Model(chan, handle) => {
                        let handle = chan.add_sender(handle, Location::caller());
                        $name(Flavor::Model(chan.clone(), handle))
                    }
                }
            }
        }

        impl<T> Drop for $name<T> {
            fn drop(&mut self) {
                if let Flavor::Model(chan, handle) = &self.0 {
                    // One that has left its model has nobody to tell.
                    current(|controller| {
                        if controller.is_some() {
                            chan.remove_sender(handle);
                        }
                    });
                }
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

handles!(Sender SyncSender);
