//! What programs that wait come to, and how long that takes.

use interleave::Builder;
use interleave::time::{Duration, Instant};

use crate::outcomes;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// As [`outcomes::comes_to`], with nothing configured.
#[track_caller]
pub(crate) fn comes_to(executions: u64, expected: &[&str], program: impl Fn() -> String + Send + Sync) {
    outcomes::comes_to(Builder::new(), 20_000, executions, expected, program);
}

/// How long `wait` takes, and what it returns.
pub(crate) fn takes<T: std::fmt::Debug>(wait: impl FnOnce(Instant) -> T) -> String {
    let start = Instant::now();
    let result = wait(start);
    format!("{:?} {result:?}", start.elapsed())
}
