//! Stands in for `std::os`.

#[cfg(any(target_os = "linux", target_os = "android"))]
pub mod linux;
pub mod unix;
