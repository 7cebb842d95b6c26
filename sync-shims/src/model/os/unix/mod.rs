//! Stands in for `std::os::unix`.

pub mod fs;
pub mod net;
