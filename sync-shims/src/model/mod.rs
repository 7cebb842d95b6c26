//! The model types, and the interface to the controller that drives them.
//!
//! | module | holds |
//! |---|---|
//! | [`controller`] | what shims ask of the controller of the running model |
//! | [`event`] | how a shim asks: one visible operation, the identity of its object |
//! | [`deferred`] | what has to be settled before the next visible operation of a thread |
//! | [`statics`] | how `static`s are kept fresh in every execution |
//! | [`label`] | places that have a name |
//! | [`quarantine`] | an allocator that does not give out freed memory again in the same execution |
//! | [`live`] | which executions are running, so that use from outside is noticed |
//! | [`atomic`], [`cell`], [`hint`], [`sync`], [`thread`] | the types, at the paths std has them |
//! | [`future`] | `block_on` and a place for wakers |
//! | `parking_lot` | the types of that crate, with the feature of that name |
//! | [`ghost`] | what a model says about itself |
//! | [`fs`], [`net`], [`os`], [`process`], [`time`] | files, sockets, processes, the clock, of the simulated kernel in `world` |

pub mod alloc;
pub mod atomic;
pub mod cell;
pub mod controller;
#[cfg(feature = "crossbeam")]
pub mod crossbeam;
pub mod deferred;
pub mod event;
pub mod fs;
pub mod future;
pub mod ghost;
pub mod hint;
pub mod label;
pub mod live;
pub mod net;
pub mod os;
#[cfg(feature = "parking_lot")]
pub mod parking_lot;
pub mod process;
pub mod quarantine;
pub mod statics;
pub mod sync;
pub mod thread;
pub mod time;
mod vectored;
mod world;

#[doc(inline)]
pub use crate::__model_thread_local as thread_local;
