//! CPU time.

use std::time::Duration;

/// User and system time of this process, all threads.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    // SAFETY: 1. All-zero bytes are a valid `timespec`. 2. The pointer is to one.
    let time = unsafe {
        let mut time = std::mem::zeroed::<libc::timespec>();
        assert_eq!(libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time), 0);
        time
    };
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).expect("less than a second"))
}

/// Where there is no such clock: the time on the clock.
#[cfg(not(unix))]
pub fn cpu_time() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
