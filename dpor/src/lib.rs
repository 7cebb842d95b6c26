#![doc = include_str!("README.md")]
#![forbid(unsafe_code)]

mod event;
mod explorer;
mod graph;
mod linearize;
mod memory;
mod op;
mod schedule;
mod strategy;

pub use event::{Event, EventId, Kind, Order, Part};
pub use explorer::{
    Config, Ending, Estimate, Explorer, Mismatch, PlainAccess, Race, Replayed, Stats, Step, Strategy, ThreadOrder,
    WorkItem, spin_choice,
};
pub use graph::{Graph, MAX_THREADS};
pub use memory::Memory;
pub use op::*;
pub use schedule::{Decision, Schedule};
pub use strategy::{Draws, Focus, Leg, Plan, Sampling, Until, Who};
