//! What stands in for [`std::sync::mpsc`].
//!
//! In a model, a channel is many small objects, so that only what can be told apart is explored:
//!
//! * the *tickets*: a send takes the next one, which is the place of its message, or learns that the receiver is gone;
//! * for each message, whether it has been *filled*: the sender does that, and the receiver waits for the next one. It is done
//!   once, so waiting for it is only a read, and a receiver depends on nothing but the message it gets;
//! * for each message of a bounded channel, whether it has been *freed*: the receiver does that, and whoever has the ticket
//!   that is larger by the capacity waits for it (with capacity 0, whoever has sent it). A receiver that goes frees the place
//!   it would have come to next, and whoever finds that frees the one after it;
//! * for each *sender*, whether it is gone, if that can be seen. It can when a receiver waits for a message that never comes, or
//!   looks for one in vain. As with [`Arc`](super::Arc), the exploration starts again when that happens first, for all
//!   channels that are created at the same place. Whoever waits for all senders to go depends on each of them and not on
//!   their order, which is not explored.
//!
//! Outside a model, a channel is std's. One that was created there can be sent to from a model, unseen, but not waited for.

pub(crate) mod chan;
mod ends;
mod receiver;
mod sender;
pub(crate) mod states;

pub use receiver::{IntoIter, Iter, Receiver, TryIter};
pub use sender::{Sender, SyncSender};
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use std::panic::Location;

use crate::model::controller::current;
use chan::Chan;

/// Stands in for [`std::sync::mpsc::channel`].
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let site = Location::caller();
    current(|controller| match controller {
        None => {
            let (sender, receiver) = std::sync::mpsc::channel();
            (Sender::real(sender), Receiver::real(receiver))
        }
        Some(controller) => {
            let chan = Chan::new(controller, None, site);
            (Sender::model(chan.clone()), Receiver::model(chan))
        }
    })
}

/// Stands in for [`std::sync::mpsc::sync_channel`].
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let site = Location::caller();
    current(|controller| match controller {
        None => {
            let (sender, receiver) = std::sync::mpsc::sync_channel(bound);
            (SyncSender::real(sender), Receiver::real(receiver))
        }
        Some(controller) => {
            let chan = Chan::new(controller, Some(bound as u64), site);
            (SyncSender::model(chan.clone()), Receiver::model(chan))
        }
    })
}
