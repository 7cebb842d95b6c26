//! What stands in for the crate [`crossbeam_channel`].
//!
//! The error types are that crate's own. Outside a model, so are the channels.
//!
//! In a model, threads depend on each other only where the program can tell: two producers with two messages each and one
//! consumer have 6 executions, as many as there are orders of the messages.
//!
//! | file | holds |
//! |---|---|
//! | `slots` | channels with room for messages: for each message, who sends it, whether it is there, who takes it |
//! | `meeting` | channels without room |
//! | `timer` | `after`, `at`, `tick` |
//! | `ends` | who holds the two ends, counted if it matters who goes last |
//! | `sender`, `receiver` | the handles |
//! | `select`, `arm`, `select_macro` | waiting for several operations at once |
//!
//! # Select
//!
//! Of the operations that are ready (or fail, as the other side is gone), any may be selected: a choice. An operation is chosen
//! first, and the executions in which it never becomes ready while another one does are dropped; so that what the others were
//! like is not told apart. If none ever becomes ready, that is a deadlock.
//!
//! # Time
//!
//! A timeout, and the message of `after`, may come at any moment, however long the `Duration`, that of `tick` again and again. If
//! the model looks at the clock ([`time`](crate::model::time)), that has come so far then, and who sees that a timer is due
//! gets its message. A loop that can go on with timeouts or ticks for ever has no last execution: it runs into `max_steps`.

mod arm;
mod ends;
mod meeting;
mod receiver;
mod select;
mod select_macro;
mod sender;
mod slots;
mod timer;

pub use crossbeam_channel::{
    ReadyTimeoutError, RecvError, RecvTimeoutError, SelectTimeoutError, SendError, SendTimeoutError, TryReadyError,
    TryRecvError, TrySelectError, TrySendError,
};
pub use receiver::{IntoIter, Iter, Receiver, TryIter, after, at, never, tick};
pub use select::{Select, SelectedOperation};
pub use sender::Sender;

#[doc(inline)]
pub use crate::{__model_crossbeam_select as select, __model_crossbeam_select_biased as select_biased};

use std::panic::Location;
use std::sync::atomic::Ordering;

use dpor::{Action, Outs};

use crate::model::controller::current;
use crate::model::sync::Arc;
use meeting::Meeting;
use slots::Slots;

/// How a thread waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    Forever,
    /// For a time that may be over at any moment.
    SomeTime,
    None,
}

/// What came of the attempt to begin an operation, up to where the message is needed or wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    /// It has begun: the number of the message, or of the thread that was met.
    Done(u64),
    /// In a channel without room: the thread waits, or somebody has come to where it waits.
    Waiting,
    /// The other side is gone.
    Gone,
    /// It would have to wait.
    NotYet,
    /// The execution is over.
    Over,
}

/// Looks at an object: what it finds tells nothing about what others have done before.
fn look(outs: Outs, yields: bool) -> Action {
    Action::Object { outs, args: [0; 2], failure: Ordering::Relaxed, yields }
}

/// A channel in a model.
enum Chan<T> {
    Slots(Arc<Slots<T>>),
    Meeting(Arc<Meeting<T>>),
}

impl<T> Clone for Chan<T> {
    fn clone(&self) -> Self {
        match self {
            Chan::Slots(slots) => Chan::Slots(slots.clone()),
            Chan::Meeting(meeting) => Chan::Meeting(meeting.clone()),
        }
    }
}

impl<T> Chan<T> {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Chan::Slots(one), Chan::Slots(two)) => Arc::ptr_eq(one, two),
            (Chan::Meeting(one), Chan::Meeting(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }

    fn ends(&self) -> &ends::Ends {
        match self {
            Chan::Slots(slots) => &slots.ends,
            Chan::Meeting(meeting) => &meeting.ends,
        }
    }

    /// A handle is dropped. One that has left its model has nobody to tell.
    fn remove(&self, side: ends::Side) {
        if current(|controller| controller.is_some()) {
            match self {
                Chan::Slots(slots) => slots.remove(side),
                Chan::Meeting(meeting) => meeting.remove(side),
            }
        }
    }
}

#[track_caller]
fn new<T>(capacity: Option<usize>, real: fn(Option<usize>) -> Real<T>) -> (Sender<T>, Receiver<T>) {
    let site = Location::caller();
    current(|controller| match controller {
        None => {
            let (sender, receiver) = real(capacity);
            (Sender::real(sender), Receiver::real(receiver))
        }
        Some(controller) => {
            // Created here and not at `site`: that the ends are counted is no reason to count the handles.
            let chan = match capacity {
                Some(0) => Chan::Meeting(Arc::new(Meeting::new(controller, site))),
                _ => Chan::Slots(Arc::new(Slots::new(controller, capacity.map(|room| room as u64), site))),
            };
            (Sender::model(chan.clone()), Receiver::model(chan))
        }
    })
}

type Real<T> = (crossbeam_channel::Sender<T>, crossbeam_channel::Receiver<T>);

/// Stands in for [`crossbeam_channel::unbounded`].
#[track_caller]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    new(None, |_| crossbeam_channel::unbounded())
}

/// Stands in for [`crossbeam_channel::bounded`]. With a capacity of 0, every send waits for a receiver.
#[track_caller]
pub fn bounded<T>(cap: usize) -> (Sender<T>, Receiver<T>) {
    new(Some(cap), |cap| crossbeam_channel::bounded(cap.unwrap_or(0)))
}
