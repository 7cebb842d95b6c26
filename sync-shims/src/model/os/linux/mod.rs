//! Stands in for `std::os::linux`.

pub mod net;
