//! Objects and threads that are none of the execution's.

use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::sync::{Arc, Mutex};
use interleave::{Builder, Kind, Verdict, thread};

use super::{failing, says, two_adds};

#[test]
fn an_object_of_an_earlier_execution_is_refused() {
    let kept: std::sync::Mutex<Option<Arc<AtomicUsize>>> = std::sync::Mutex::new(None);
    let report = Builder::new().explore(|| {
        let mut kept = kept.lock().unwrap();
        let n = kept.get_or_insert_with(|| Arc::new(AtomicUsize::new(0))).clone();
        drop(kept);
        let m = n.clone();
        let t = thread::spawn(move || m.fetch_add(1, Relaxed));
        n.fetch_add(1, Relaxed);
        t.join().unwrap();
    });
    says(
        failing(&report, Kind::Outside),
        &[
            "error[interleave::outside]",
            "that an earlier execution has used",
            "create the object in the body of the model",
        ],
    );
}

#[test]
fn statics_are_fresh_in_every_execution() {
    static N: AtomicUsize = AtomicUsize::new(5);
    let report = Builder::new().explore(|| {
        let t = thread::spawn(|| N.fetch_add(1, Relaxed));
        N.fetch_add(1, Relaxed);
        t.join().unwrap();
        assert_eq!(N.load(Relaxed), 7);
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 2));
    assert_eq!(N.load(Relaxed), 5);
}

#[test]
fn another_os_thread_must_not_touch_the_model() {
    let report = Builder::new().explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        n.store(1, Relaxed);
        let outside = std::thread::scope(|scope| {
            let n = &n;
            scope.spawn(move || n.load(Relaxed)).join()
        });
        std::panic::resume_unwind(outside.unwrap_err());
    });
    says(
        failing(&report, Kind::Outside),
        &[
            "error[interleave::outside]: `AtomicUsize::load` by an OS thread that is not one of the model's",
            "start threads with `interleave::thread`",
        ],
    );
}

/// Also if the model does not look at what comes of the thread.
#[test]
fn a_thread_of_std_that_touches_the_model_is_noticed() {
    let message = "by an OS thread that is not one of the model's, on an object of it that was created at \
                   tests/bad_input/outside.rs:";
    let uses_it_later = || {
        let n = Arc::new(AtomicUsize::new(0));
        let theirs = n.clone();
        // Nobody in the model has used it yet.
        std::thread::spawn(move || theirs.fetch_add(1, Relaxed)).join().unwrap();
        let theirs = n.clone();
        let t = thread::spawn(move || theirs.fetch_add(1, Relaxed));
        n.fetch_add(1, Relaxed);
        t.join().unwrap();
    };
    let used_it_before = || {
        let n = Arc::new(AtomicUsize::new(0));
        n.fetch_add(1, Relaxed);
        let theirs = n.clone();
        let t = std::thread::spawn(move || theirs.fetch_add(1, Relaxed));
        assert!(t.join().is_err());
    };
    let takes_it_back = || {
        let n = AtomicUsize::new(0);
        std::thread::scope(|scope| _ = scope.spawn(|| n.fetch_add(1, Relaxed)));
        assert_eq!(n.into_inner(), 1);
    };
    let locks = || {
        let m = Arc::new(Mutex::new(0));
        let theirs = m.clone();
        std::thread::spawn(move || *theirs.lock().unwrap() += 1).join().unwrap();
        *m.lock().unwrap() += 1;
    };
    let programs: [&(dyn Fn() + Send + Sync); 4] = [&uses_it_later, &used_it_before, &takes_it_back, &locks];
    let report = Builder::new().explore(|| {
        let pair = interleave::os::unix::net::UnixStream::pair().unwrap();
        let t = std::thread::spawn(move || pair.0.set_nonblocking(true).is_ok());
        assert!(t.join().is_err());
    });
    let kernel = "use of a file or socket of the model by an OS thread that is not one of the model's";
    says(failing(&report, Kind::Outside), &[kernel]);
    for (program, report) in programs.map(|program| Builder::new().explore(program)).iter().enumerate() {
        says(failing(report, Kind::Outside), &["error[interleave::outside]", message]);
        assert_eq!(report.executions, 1, "{program}: {report}");
    }
    // Afterwards, and with threads of std that keep to themselves, all is well.
    let report = Builder::new().explore(|| {
        let own = std::thread::spawn(|| {
            let n = std::sync::atomic::AtomicUsize::new(0);
            n.fetch_add(1, Relaxed)
        });
        two_adds();
        own.join().unwrap();
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Complete, 2), "{report}");
}

/// What was used outside while a model ran can be used in the next one.
#[test]
fn an_object_of_a_normal_test_can_go_into_a_model_later() {
    let n = Arc::new(AtomicUsize::new(0));
    let report = Builder::new().explore(two_adds);
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
    n.fetch_add(1, Relaxed);
    let once = std::sync::atomic::AtomicBool::new(false);
    let report = Builder::new().max_executions(1).explore(|| {
        let theirs = n.clone();
        assert!(!once.swap(true, Relaxed));
        let t = thread::spawn(move || theirs.fetch_add(1, Relaxed));
        n.fetch_add(1, Relaxed);
        t.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Bounded, "{report}\n{:?}", report.failure);
}

#[test]
fn a_model_inside_a_model_is_refused() {
    let report = Builder::new().explore(|| interleave::model(two_adds));
    says(failing(&report, Kind::Outside), &["error[interleave::outside]", "a model inside a model"]);
}
