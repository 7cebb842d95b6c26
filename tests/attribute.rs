//! `#[interleave::test]`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed as Really};

use interleave::sync::Arc;
use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::{Memory, Panics, thread};

fn two_adds() {
    let n = Arc::new(AtomicUsize::new(0));
    let m = n.clone();
    let t = thread::spawn(move || m.fetch_add(1, Relaxed));
    n.fetch_add(1, Relaxed);
    t.join().unwrap();
}

fn lost_update() {
    let n = Arc::new(AtomicUsize::new(0));
    let m = n.clone();
    let t = thread::spawn(move || m.store(m.load(Relaxed) + 1, Relaxed));
    n.store(n.load(Relaxed) + 1, Relaxed);
    t.join().unwrap();
    assert_eq!(n.load(Relaxed), 2);
}

#[interleave::test]
fn the_body_is_a_model() {
    two_adds();
}

#[interleave::test]
#[should_panic(expected = "= found: execution 2; 1 preemption")]
fn other_attributes_stay() {
    lost_update();
}

// Without preemptions and stale reads nothing is lost.
#[interleave::test(preemptions = 0, stale_reads = 0)]
fn preemptions_are_bounded() {
    lost_update();
}

#[interleave::test(
    memory = "sc",
    strategy = "random",
    seed = 3,
    max_executions = 20,
    max_duration = 2.5,
    max_steps = 100 + 1,
    spurious = 0,
    spin_budget = 2,
    workers = 1,
    stack_size = 128 << 10,
    panics = "deliver",
    name = "all of them",
)]
fn every_knob_has_an_argument() {
    two_adds();
}

#[interleave::test(memory = Memory::Sc, panics = Panics::Deliver, max_duration = std::time::Duration::from_secs(9), crate = ::interleave)]
fn values_are_expressions() {
    two_adds();
}

static RUNS: AtomicU64 = AtomicU64::new(0);

/// Executions of the body: either thread may be first.
#[interleave::test]
fn returns_are_those_of_the_body() {
    two_adds();
    if RUNS.fetch_add(1, Really) < 100 {
        return;
    }
    unreachable!("it has two executions");
}

#[interleave::test(needs_cfg)]
fn runs_only_with_the_flag() {
    if !cfg!(interleave) {
        panic!("without the flag it is ignored");
    }
    two_adds();
}

/// What the harness says of the tests in this file.
#[test]
fn a_test_that_needs_the_flag_is_ignored_visibly() {
    let own = std::env::current_exe().expect("this test has an executable");
    let output = std::process::Command::new(own).args(["--exact", "runs_only_with_the_flag"]).output();
    let text = String::from_utf8_lossy(&output.expect("it can be run again").stdout).into_owned();
    let expected = match cfg!(interleave) {
        true => "test runs_only_with_the_flag ... ok",
        false => {
            "test runs_only_with_the_flag ... ignored, needs `--cfg interleave`: run it with `cargo interleave test`"
        }
    };
    assert!(text.contains(expected), "{text}");
}
