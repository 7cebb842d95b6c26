//! Runs a test body under every thread interleaving that matters, and prints the one that breaks it.

#[allow(dead_code, unused_imports, reason = "used by the controller")]
mod fiber;
#[allow(dead_code, unused_imports, reason = "used by the controller")]
mod replay;
#[allow(dead_code, unused_imports, reason = "used by the controller")]
mod report;
