//! Stands in for `std::os`.

pub mod unix;
