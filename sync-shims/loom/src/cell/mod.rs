//! Cells whose accesses are checked for data races.
//!
//! | file | holds |
//! |---|---|
//! | `unsafe_cell` | `UnsafeCell`, `ConstPtr`, `MutPtr` |
//! | `access` | an access that lasts |
//! | `safe` | `Cell` |

mod access;
mod safe;
mod unsafe_cell;

pub use safe::Cell;
pub use unsafe_cell::{ConstPtr, MutPtr, UnsafeCell};
