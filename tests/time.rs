//! The clock of a model: when it moves, and who sees it, in exact numbers of executions.

mod outcomes;

use std::io::Read;

use interleave::os::unix::net::UnixStream;
use interleave::sync::{Arc, Condvar, Mutex, mpsc};
use interleave::time::{Duration, Instant, SystemTime};
use interleave::{Builder, thread};

const SECOND: Duration = Duration::from_secs(1);

/// `program` comes to exactly these outcomes, in so many executions; all interleavings come to the same.
#[track_caller]
fn comes_to(executions: u64, expected: &[&str], builder: Builder, program: impl Fn() -> String + Send + Sync) {
    outcomes::comes_to(builder, 20_000, executions, expected, program);
}

#[test]
fn a_lone_sleeper_does_not_branch() {
    comes_to(1, &["10s"], Builder::new(), || {
        let start = Instant::now();
        thread::sleep(3 * SECOND);
        thread::sleep(7 * SECOND);
        format!("{:?}", start.elapsed())
    });
}

#[test]
fn no_time_passes_while_nobody_waits() {
    comes_to(1, &["0ns, 1700000000"], Builder::new(), || {
        let start = Instant::now();
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        format!("{:?}, {}", start.elapsed(), wall.as_secs())
    });
}

#[test]
fn a_thread_may_be_slow_as_often_as_the_budget_says() {
    let program = || {
        let start = Instant::now();
        let deadlines = [start + SECOND, start + 2 * SECOND];
        let over = |now: Instant| deadlines.iter().filter(|&&deadline| now >= deadline).count();
        format!("{} {}", over(Instant::now()), over(Instant::now()))
    };
    comes_to(1, &["0 0"], Builder::new().clock_moves(0), program);
    comes_to(5, &["0 0", "0 1", "0 2", "1 1", "2 2"], Builder::new(), program);
    comes_to(6, &["0 0", "0 1", "0 2", "1 1", "1 2", "2 2"], Builder::new().clock_moves(2), program);
    let (report, _) = outcomes::outcomes(Builder::new(), program);
    assert_eq!(report.clock_moves, Some(1));
    assert!(report.to_string().contains(", at most 1 early move of the clock, "), "{report}");
}

#[test]
fn a_deadline_is_known_to_those_who_could_have_got_it() {
    comes_to(3, &["none", "valid", "expired"], Builder::new(), || {
        let lease = Arc::new(Mutex::new(None));
        let same = lease.clone();
        let holder = thread::spawn(move || *same.lock().unwrap() = Some(Instant::now() + SECOND));
        let seen = *lease.lock().unwrap();
        let outcome = match seen {
            None => "none",
            Some(deadline) if Instant::now() < deadline => "valid",
            Some(_) => "expired",
        };
        holder.join().unwrap();
        outcome.into()
    });
}

#[test]
fn deadlines_of_strangers_move_no_clock() {
    comes_to(1, &["0ns"], Builder::new(), || {
        let stranger = thread::spawn(|| Instant::now() + SECOND);
        let start = Instant::now();
        let passed = start.elapsed();
        stranger.join().unwrap();
        format!("{passed:?}")
    });
}

/// Both start at 0, and one wakes up first; or one is through before the other begins.
#[test]
fn two_sleepers() {
    comes_to(4, &["20s", "30s"], Builder::new(), || {
        let start = Instant::now();
        let other = thread::spawn(|| thread::sleep(10 * SECOND));
        thread::sleep(20 * SECOND);
        other.join().unwrap();
        format!("{:?}", start.elapsed())
    });
}

#[test]
fn a_loop_that_looks_at_the_clock_ends() {
    comes_to(1, &["1s"], Builder::new().clock_moves(0), || {
        let start = Instant::now();
        let deadline = start + SECOND;
        while Instant::now() < deadline {
            thread::yield_now();
        }
        format!("{:?}", start.elapsed())
    });
    // Without a yield, and without a deadline.
    comes_to(1, &["true"], Builder::new().clock_moves(0), || {
        let start = Instant::now();
        while start.elapsed() < SECOND {}
        (start.elapsed() >= SECOND).to_string()
    });
}

#[test]
fn a_wait_that_times_out_takes_its_time() {
    // The message is there, or it is not. That it is not, but the sender is gone when the receiver asks for that, so that the
    // message has come meanwhile, does not count.
    comes_to(2, &["0ns", "1s"], Builder::new(), || {
        let start = Instant::now();
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || sender.send(()).unwrap());
        let result = receiver.recv_timeout(SECOND);
        let passed = start.elapsed();
        assert_eq!(result.is_err(), passed == SECOND);
        other.join().unwrap();
        format!("{passed:?}")
    });
    comes_to(1, &["1s"], Builder::new(), || {
        let start = Instant::now();
        thread::park_timeout(SECOND);
        format!("{:?}", start.elapsed())
    });
    comes_to(1, &["1s"], Builder::new().spurious(0), || {
        let start = Instant::now();
        let lock = Mutex::new(());
        let (guard, result) = Condvar::new().wait_timeout(lock.lock().unwrap(), SECOND).unwrap();
        drop(guard);
        assert!(result.timed_out());
        format!("{:?}", start.elapsed())
    });
    comes_to(1, &["1s"], Builder::new(), || {
        let start = Instant::now();
        let (mut a, _b) = UnixStream::pair().unwrap();
        a.set_read_timeout(Some(SECOND)).unwrap();
        a.read(&mut [0]).unwrap_err();
        format!("{:?}", start.elapsed())
    });
}

#[test]
fn without_a_look_at_the_clock_there_is_none() {
    comes_to(1, &["done"], Builder::new(), || {
        let other = thread::spawn(|| thread::sleep(10 * SECOND));
        thread::sleep(20 * SECOND);
        other.join().unwrap();
        "done".into()
    });
}

#[test]
fn a_report_has_the_time() {
    let report = Builder::new().name("late").explore(|| {
        let deadline = Instant::now() + 10 * SECOND;
        let lock = Arc::new(Mutex::new(0));
        let same = lock.clone();
        let other = thread::spawn(move || *same.lock().unwrap() += 1);
        *lock.lock().unwrap() += 1;
        assert!(Instant::now() < deadline, "too late");
        other.join().unwrap();
    });
    let report = report.failure.unwrap().report;
    assert!(report.contains("  step  time  "), "{report}");
    assert!(report.lines().any(|line| line.contains(" +10s ") && line.contains("now(the clock)")), "{report}");
}

#[test]
fn outside_a_model_it_is_the_real_clock() {
    let start = Instant::now();
    thread::sleep(Duration::from_millis(2));
    assert!(start.elapsed() >= Duration::from_millis(2));
    let later = start + SECOND;
    assert_eq!(
        (later - start, later.duration_since(start), start.duration_since(later)),
        (SECOND, SECOND, Duration::ZERO)
    );
    assert!(SystemTime::now() > SystemTime::UNIX_EPOCH + SECOND);
}
