//! The protocol of a reader-writer lock, without the value it protects.
//!
//! The order of readers cannot be seen, so it must not be explored. Hence a lock is several objects: the *whole*, which writers
//! take, so that they come in an order; and a *place* for each thread that reads. A reader takes its own place. A writer takes
//! the whole and then all places, in a fixed order, and so waits for the readers one by one. Two readers have no object in
//! common, and a reader and a writer have one: with r threads that read once and w that write once there are w! (w+1)^r
//! executions.
//!
//! A writer that waits for a reader has some of the places already, and those threads cannot read until it is done. This is
//! what a lock may do that does not let readers in while a writer waits; std leaves open which locks do. A thread that reads
//! already and reads again is let in or not as well: writers *announce* themselves at every place then, before they take
//! them, and a reader is let in if it comes before the announcement.
//!
//! Nothing of this is known in advance. What threads read, whether they do so recursively, and whether the lock is used in a
//! way that needs one object (`try_write`, which must not be seen to take some of the places), an exploration learns when it
//! happens, and starts again: [`Controller::learn`](crate::model::controller::Controller::learn).
//!
//! | file | holds |
//! |---|---|
//! | `states` | what the operations do to the state of an object |
//! | `places` | the objects of a lock in one execution |
//! | `lock` | the operations of a lock |

mod lock;
pub(crate) mod places;
pub(crate) mod states;

pub(crate) use lock::{RawRwLock, Reading, Writing};
