//! Simulated processes: how they end, what others see of it, and in how many executions.

mod outcomes;

use std::io::{ErrorKind, Read};

use interleave::fs::{self, File};
use interleave::os::unix::net::{UnixListener, UnixStream};
use interleave::process::{self, Builder as Process, Child};
use interleave::{Builder, Kind, Verdict, thread};

/// `program` comes to exactly these outcomes, in so many executions; all interleavings come to the same.
#[track_caller]
fn comes_to(executions: u64, expected: &[&str], builder: Builder, program: impl Fn() -> String + Send + Sync) {
    let report = outcomes::comes_to(builder, 20_000, executions, expected, program);
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
}

fn kind<T>(result: std::io::Result<T>) -> String {
    result.map_or_else(|error| format!("{:?}", error.kind()), |_| "ok".into())
}

#[test]
fn a_process_has_an_id_and_an_exit_code() {
    comes_to(1, &["1000 1001 3"], Builder::new(), || {
        let mut child = process::spawn(|| {
            assert_eq!(process::id(), 1001);
            3
        });
        let status = child.wait().unwrap();
        assert_eq!(child.wait().unwrap(), status);
        format!("{} {} {}", process::id(), child.id(), status.code().unwrap())
    });
}

#[test]
fn two_processes_on_different_files_are_one_execution() {
    let work = |name: &'static str| {
        process::spawn(move || {
            fs::write(name, "x").unwrap();
            assert_eq!(fs::read(name).unwrap(), b"x");
            fs::remove_file(name).unwrap();
        })
    };
    comes_to(1, &["ok"], Builder::new(), || {
        let (mut a, mut b) = (work("a"), work("b"));
        assert!(a.wait().unwrap().success() && b.wait().unwrap().success());
        "ok".into()
    });
}

#[test]
fn a_process_that_is_over_is_alive_until_somebody_has_waited() {
    comes_to(1, &["true false"], Builder::new(), || {
        let mut child = process::spawn(|| ());
        let alive = process::is_alive(child.id());
        child.wait().unwrap();
        format!("{alive} {}", process::is_alive(child.id()))
    });
}

#[test]
fn try_wait_sees_whether_it_is_over() {
    comes_to(2, &["None", "Some(0)"], Builder::new(), || {
        let mut child = process::spawn(|| ());
        let first = child.try_wait().unwrap();
        child.wait().unwrap();
        format!("{:?}", first.map(|status| status.code().unwrap()))
    });
}

/// The file is written in two steps: open, which makes it, and write. The process crashes before the first, before the second,
/// or before its end.
#[test]
fn a_crash_comes_before_any_operation() {
    comes_to(4, &["no file, crashed", "empty, crashed", "x, crashed", "x, ok"], Builder::new(), || {
        let mut child = Process::new().crashable(true).spawn(|| fs::write("f", "x").unwrap());
        let status = child.wait().unwrap();
        let end = if status.signal() == Some(9) { "crashed" } else { "ok" };
        let file = match fs::read_to_string("f") {
            Err(error) if error.kind() == ErrorKind::NotFound => "no file".into(),
            Ok(text) if text.is_empty() => "empty".into(),
            other => other.unwrap(),
        };
        format!("{file}, {end}")
    });
}

#[test]
fn the_budget_of_crashes_holds_for_an_execution() {
    let program = || {
        let run = || Process::new().crashable(true).spawn(|| ());
        let (mut a, mut b) = (run(), run());
        let crashed = |child: &mut Child| u8::from(child.wait().unwrap().signal().is_some());
        (crashed(&mut a) + crashed(&mut b)).to_string()
    };
    comes_to(1, &["0"], Builder::new().crashes(0), program);
    comes_to(3, &["0", "1"], Builder::new(), program);
    comes_to(4, &["0", "1", "2"], Builder::new().crashes(2), program);
    let (report, _) = outcomes::outcomes(Builder::new().crashes(2), program);
    assert_eq!((report.crashes, report.pid_reuses), (Some(2), None));
    assert!(report.to_string().starts_with("complete: 4 executions (0 blocked), RC11, spurious <= 1, crashes <= 2, "));
}

#[test]
fn a_crash_runs_no_destructor_and_closes_descriptors() {
    struct Remove;
    impl Drop for Remove {
        fn drop(&mut self) {
            let _ = fs::remove_file("pid");
        }
    }
    // It crashes at the beginning, with the socket closed, or at the end.
    comes_to(4, &["ok: file gone, eof", "crashed: file there, eof", "crashed: file gone, eof"], Builder::new(), || {
        let (mut mine, theirs) = UnixStream::pair().unwrap();
        fs::write("pid", "1").unwrap();
        let mut child = Process::new().crashable(true).spawn(move || {
            let _remove = Remove;
            let _theirs = theirs;
        });
        let eof = mine.read(&mut [0]).unwrap();
        let end = if child.wait().unwrap().success() { "ok" } else { "crashed" };
        let file = if fs::exists("pid").unwrap() { "there" } else { "gone" };
        format!("{end}: file {file}, {}", if eof == 0 { "eof" } else { "data" })
    });
}

#[test]
fn a_crash_leaves_the_socket_file_and_gives_up_the_lock() {
    comes_to(6, &["ok", "ConnectionRefused", "NotFound"], Builder::new(), || {
        let mut child = Process::new().name("daemon").crashable(true).spawn(|| {
            let lock = File::create("lock").unwrap();
            lock.lock().unwrap();
            let _listener = UnixListener::bind("sock").unwrap();
            process::exit(0);
        });
        let crashed = child.wait().unwrap().signal().is_some();
        File::create("lock").unwrap().try_lock().unwrap();
        match (crashed, kind(UnixStream::connect("sock"))) {
            (false, refused) => {
                assert_eq!(refused, "ConnectionRefused");
                "ok".into()
            }
            (true, kind) => kind,
        }
    });
}

#[test]
fn a_daemon_that_waits_can_be_killed() {
    // Before it binds, listens or accepts.
    comes_to(3, &["9"], Builder::new(), || {
        let mut child = process::spawn(|| {
            let listener = UnixListener::bind("sock").unwrap();
            loop {
                drop(listener.accept().unwrap());
            }
        });
        child.kill().unwrap();
        let status = child.wait().unwrap();
        if let Err(error) = UnixListener::bind("sock") {
            assert_eq!(error.kind(), ErrorKind::AddrInUse);
        }
        status.signal().unwrap().to_string()
    });
}

#[test]
fn a_signal_ends_all_threads_wherever_they_are() {
    use interleave::sync::{Arc, Mutex as Lock};
    comes_to(4, &["9"], Builder::new(), || {
        let mut child = process::spawn(|| {
            let lock = Arc::new(Lock::new(()));
            let guard = lock.lock().unwrap();
            let same = lock.clone();
            let waits = thread::spawn(move || drop(same.lock().unwrap()));
            waits.join().unwrap();
            drop(guard);
        });
        child.kill().unwrap();
        child.wait().unwrap().signal().unwrap().to_string()
    });
}

/// The process ends with its main thread; the other one has made the file by then, or never does.
#[test]
fn the_end_of_the_main_thread_ends_the_others() {
    comes_to(2, &["false", "true"], Builder::new(), || {
        let mut child = process::spawn(|| {
            thread::spawn(|| drop(File::create("f").unwrap()));
        });
        assert_eq!(child.wait().unwrap().code(), Some(0));
        fs::exists("f").unwrap().to_string()
    });
}

#[test]
fn any_thread_can_end_the_process() {
    comes_to(2, &["4", "0"], Builder::new(), || {
        let mut child = process::spawn(|| {
            thread::spawn(|| process::exit(4));
        });
        child.wait().unwrap().code().unwrap().to_string()
    });
}

#[test]
fn abort_is_a_signal() {
    comes_to(1, &["6 None"], Builder::new(), || {
        let status = process::spawn(|| process::abort()).wait().unwrap();
        format!("{} {:?}", status.signal().unwrap(), status.code())
    });
}

#[test]
fn a_signal_for_a_process_that_is_over_changes_nothing() {
    comes_to(2, &["Some(3) None", "None Some(9)"], Builder::new(), || {
        let mut child = process::spawn(|| 3);
        process::kill(child.id()).unwrap();
        let status = child.wait().unwrap();
        child.kill().unwrap();
        assert_eq!(process::kill(child.id()).unwrap_err().raw_os_error(), Some(3));
        format!("{:?} {:?}", status.code(), status.signal())
    });
}

/// The id of a child is free when the child and its parent are over, in either order.
#[test]
fn orphans_need_nobody_to_wait_for_them() {
    comes_to(2, &["false"], Builder::new(), || {
        let (mut tell, told) = UnixStream::pair().unwrap();
        let mut parent = process::spawn(move || {
            let child = process::spawn(move || drop(told));
            fs::write("pid", child.id().to_string()).unwrap();
        });
        assert_eq!(tell.read(&mut [0]).unwrap(), 0);
        parent.wait().unwrap();
        let pid: u32 = fs::read_to_string("pid").unwrap().parse().unwrap();
        assert_eq!(pid, 1065);
        while process::is_alive(pid) {
            thread::yield_now();
        }
        process::is_alive(pid).to_string()
    });
}

#[test]
fn an_id_may_be_given_out_again_when_its_process_was_waited_for() {
    let program = |may: bool| {
        move || {
            let mut first = process::spawn(|| ());
            let mut second = process::spawn(|| ());
            first.wait().unwrap();
            let mut third = Process::new().may_reuse_pid(may).spawn(|| ());
            let same = third.id() == first.id();
            assert_eq!(process::is_alive(first.id()), same);
            second.wait().unwrap();
            third.wait().unwrap();
            assert!(!process::is_alive(first.id()));
            same.to_string()
        }
    };
    comes_to(1, &["false"], Builder::new(), program(false));
    comes_to(2, &["false", "true"], Builder::new(), program(true));
    comes_to(1, &["false"], Builder::new().pid_reuses(0), program(true));
    let (report, _) = outcomes::outcomes(Builder::new(), program(true));
    assert_eq!((report.crashes, report.pid_reuses), (None, Some(1)));
}

#[test]
fn a_process_gets_the_descriptors_in_its_closure() {
    let left = |on_heap: bool, used: bool| {
        move || {
            let (mut mine, theirs) = UnixStream::pair().unwrap();
            let held = if on_heap { (None, Some(Box::new(theirs))) } else { (Some(theirs), None) };
            let mut child = process::spawn(move || {
                if used && let Some(stream) = &held.1 {
                    stream.set_nonblocking(true).unwrap();
                }
                std::mem::forget(held);
                process::exit(0);
            });
            child.wait().unwrap();
            mine.set_nonblocking(true).unwrap();
            kind(mine.read(&mut [0]))
        }
    };
    comes_to(1, &["ok"], Builder::new(), left(false, false));
    // Those that it has by way of the heap are its own from its first use of them on.
    comes_to(1, &["ok"], Builder::new(), left(true, true));
    comes_to(1, &["WouldBlock"], Builder::new(), left(true, false));
}

#[test]
fn a_descriptor_belongs_to_one_process() {
    let report = Builder::new().explore(|| {
        let file = std::sync::Arc::new(File::create("f").unwrap());
        let same = file.clone();
        let mut child = process::spawn(move || same.lock().unwrap());
        child.wait().unwrap();
        file.unlock().unwrap();
    });
    let failure = report.failure.unwrap();
    assert_eq!(report.verdict, Verdict::Failed(Kind::Outside));
    assert!(failure.message.starts_with("a descriptor of another process is used (opened at tests/processes.rs:"));
}

#[test]
fn only_the_parent_waits() {
    comes_to(1, &["Some(10)"], Builder::new(), || {
        let mut child = process::spawn(|| ());
        let mut other = process::spawn(move || {
            let error = child.wait().unwrap_err().raw_os_error();
            error.unwrap()
        });
        format!("{:?}", other.wait().unwrap().code())
    });
}

#[test]
fn the_body_of_a_model_is_no_simulated_process() {
    let report = Builder::new().explore(|| process::exit(1));
    assert_eq!(report.verdict, Verdict::Failed(Kind::Outside));
    let report = Builder::new().explore(|| process::kill(process::id()).unwrap());
    assert_eq!(report.verdict, Verdict::Failed(Kind::Outside));
}

#[test]
fn a_panic_is_exit_code_101_if_the_model_delivers_panics() {
    let report = Builder::new().panics(interleave::Panics::Deliver).explore(|| {
        let status = process::spawn(|| panic!("no")).wait().unwrap();
        assert_eq!(status.code(), Some(101));
    });
    assert_eq!(report.verdict, Verdict::Complete);
    let report = Builder::new().explore(|| drop(process::spawn(|| panic!("no")).wait()));
    assert_eq!(report.verdict, Verdict::Failed(Kind::Panic));
}

/// The report names processes, and the crash is a step.
#[test]
fn a_report_with_a_crash() {
    let report = Builder::new().name("crash").explore(|| {
        let mut daemon = Process::new().name("daemon").crashable(true).spawn(|| fs::write("state", "all").unwrap());
        daemon.wait().unwrap();
        assert_ne!(fs::read("state").unwrap_or_default(), b"", "the state is lost");
    });
    let failure = report.failure.unwrap();
    assert!(failure.report.contains("daemon"), "{}", failure.report);
    assert!(failure.report.contains("○     ●      crash  "), "{}", failure.report);
}
