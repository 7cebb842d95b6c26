use std::time::Duration;

use interleave::crossbeam::channel::{Select, Sender, after, bounded, never, select, select_biased, tick, unbounded};
use interleave::thread;

use crate::{complete, explored, failure};

const SOME_TIME: Duration = Duration::from_secs(1);

/// Which is selected, and nothing else: 2 executions, as both messages come for certain.
#[test]
fn either_of_two() {
    let body = |threads: usize| {
        move || {
            let (s1, r1) = unbounded();
            let (s2, r2) = unbounded();
            let send = |to: Sender<usize>, message| move || to.send(message).unwrap();
            let (one, two) = (send(s1, 1), send(s2, 2));
            let threads = match threads {
                1 => vec![thread::spawn(move || (one(), two()).0)],
                _ => vec![thread::spawn(one), thread::spawn(two)],
            };
            let selected = select! {
                recv(r1) -> msg => (msg.unwrap(), r2.recv().unwrap()),
                recv(r2) -> msg => (msg.unwrap(), r1.recv().unwrap()),
            };
            threads.into_iter().for_each(|t| t.join().unwrap());
            selected
        }
    };
    let both = || vec![(1, 2), (2, 1)];
    assert_eq!(complete(body(1)), (2, both()));
    assert_eq!(explored(body(2)), (2, both()));
}

/// Only one of them ever has a message: the other choice does not count.
#[test]
fn what_never_becomes_ready_is_not_selected() {
    let (count, results) = complete(|| {
        let (s1, r1) = unbounded();
        let (_s2, r2) = unbounded::<i32>();
        let t = thread::spawn(move || s1.send(1).unwrap());
        let selected = select! {
            recv(r1) -> msg => msg.unwrap(),
            recv(r2) -> _ => unreachable!(),
            recv(never::<i32>()) -> _ => unreachable!(),
        };
        t.join().unwrap();
        selected
    });
    assert_eq!((count, results), (1, vec![1]));
}

#[test]
fn a_select_that_nothing_ends_is_a_deadlock() {
    let report = failure(|| {
        let (_s1, r1) = unbounded::<()>();
        let (_s2, r2) = bounded::<()>(0);
        select! {
            recv(r1) -> _ => {}
            recv(r2) -> _ => {}
        }
    });
    assert!(report.starts_with("error[interleave::deadlock]"), "{report}");
    let report = failure(|| {
        let (sender, receiver) = bounded(1);
        sender.send(()).unwrap();
        select! {
            send(sender, ()) -> _ => {}
            recv(never::<()>()) -> _ => {}
        }
        drop(receiver);
    });
    assert!(report.starts_with("error[interleave::deadlock]"), "{report}");
}

/// A channel whose other side is gone is ready.
#[test]
fn disconnected_counts_as_ready() {
    let (_, results) = complete(|| {
        let (s1, r1) = unbounded::<i32>();
        let (s2, r2) = unbounded::<i32>();
        let t = thread::spawn(move || drop(s1));
        let selected = select! {
            recv(r1) -> msg => msg.is_err(),
            recv(r2) -> _ => unreachable!(),
        };
        t.join().unwrap();
        drop(s2);
        selected
    });
    assert_eq!(results, [true]);
}

#[test]
fn a_default_is_taken_if_nothing_is_ready() {
    let (_, results) = complete(|| {
        let (s1, r1) = unbounded();
        let (s2, r2) = unbounded();
        let t = thread::spawn(move || (s1.send(1).unwrap(), s2.send(2).unwrap()));
        let selected = select! {
            recv(r1) -> msg => msg.unwrap(),
            recv(r2) -> msg => msg.unwrap(),
            default => 0,
        };
        t.join().unwrap();
        selected
    });
    assert_eq!(results, [0, 1, 2]);
}

/// One message goes around: it is in one of the channels at any time, but whoever looks at one after the other may miss it.
#[test]
fn the_channels_are_not_looked_at_all_at_once() {
    let (_, results) = complete(|| {
        let (s1, r1) = unbounded();
        let (s2, r2) = unbounded();
        s1.send(()).unwrap();
        let (from, kept) = (r1.clone(), (s1.clone(), s2.clone()));
        let t = thread::spawn(move || {
            s2.send(()).unwrap();
            _ = from.try_recv();
        });
        let selected = select! {
            recv(r1) -> _ => 1,
            recv(r2) -> _ => 2,
            default => 0,
        };
        t.join().unwrap();
        drop(kept);
        selected
    });
    assert_eq!(results, [0, 1, 2]);
}

#[test]
fn a_timeout_may_come_before_everything() {
    let (_, results) = explored(|| {
        let (s1, r1) = unbounded();
        let (s2, r2) = bounded(0);
        let threads = [thread::spawn(move || _ = s1.send(1)), thread::spawn(move || _ = s2.send(2))];
        let selected = select! {
            recv(r1) -> msg => msg.unwrap(),
            recv(r2) -> msg => msg.unwrap(),
            default(SOME_TIME) => 0,
        };
        drop((r1, r2));
        threads.into_iter().for_each(|t| t.join().unwrap());
        selected
    });
    assert_eq!(results, [0, 1, 2]);
}

#[test]
fn a_biased_select_prefers_what_comes_first() {
    let (_, results) = complete(|| {
        let (s1, r1) = unbounded();
        let (s2, r2) = unbounded();
        s2.send(2).unwrap();
        let t = thread::spawn(move || s1.send(1).unwrap());
        let mut ready = 0;
        let selected = select_biased! {
            recv(r1) -> msg => msg.unwrap(),
            recv(r2) -> msg => msg.unwrap(),
        };
        t.join().unwrap();
        select_biased! {
            recv(r1) -> msg => ready += msg.unwrap_or(0),
            recv(r2) -> msg => ready += msg.unwrap_or(0),
            default => {}
        }
        (selected, ready)
    });
    // The first one is ready again as it is disconnected, so the message of the second one is left.
    assert_eq!(results, [(1, 0), (2, 1)]);
}

/// Both sides select; what each has chosen only counts if they meet.
#[test]
fn selects_meet() {
    let (_, results) = complete(|| {
        let (s1, r1) = bounded(0);
        let (s2, r2) = bounded(0);
        let t = thread::spawn(move || {
            select! {
                send(s1, 1) -> res => res.map(|()| 1).unwrap(),
                send(s2, 2) -> res => res.map(|()| 2).unwrap(),
            }
        });
        let received = select! {
            recv(r1) -> msg => msg.unwrap(),
            recv(r2) -> msg => msg.unwrap(),
        };
        (received, t.join().unwrap())
    });
    assert_eq!(results, [(1, 1), (2, 2)]);
}

/// A thread that sends to itself would wait for ever, but the other operation goes on.
#[test]
fn a_select_does_not_meet_itself() {
    let report = failure(|| {
        let (sender, receiver) = bounded(0);
        select! {
            send(sender, ()) -> _ => {}
            recv(receiver) -> _ => {}
        }
    });
    assert!(report.starts_with("error[interleave::deadlock]"), "{report}");
}

#[test]
fn timers_fire_at_any_moment() {
    let (_, results) = complete(|| {
        let (sender, receiver) = unbounded();
        let t = thread::spawn(move || _ = sender.send(1));
        let timer = after(SOME_TIME);
        let selected = select! {
            recv(receiver) -> msg => msg.unwrap(),
            recv(timer) -> _ => {
                assert!(timer.try_recv().is_err());
                0
            }
        };
        t.join().unwrap();
        selected
    });
    assert_eq!(results, [0, 1]);
    let (_, results) = complete(|| {
        let ticks = tick(SOME_TIME);
        (ticks.recv().is_ok(), ticks.try_recv().is_ok())
    });
    assert_eq!(results, [(true, false), (true, true)]);
    assert!(failure(|| _ = never::<()>().recv()).starts_with("error[interleave::deadlock]"));
    let twice = failure(|| {
        let timer = after(SOME_TIME);
        timer.recv().unwrap();
        _ = timer.recv();
    });
    assert!(twice.starts_with("error[interleave::deadlock]"));
}

#[test]
fn ready_says_which_without_doing_it() {
    let (_, results) = explored(|| {
        let (s1, r1) = unbounded();
        let (s2, r2) = unbounded();
        let threads = [thread::spawn(move || s1.send(1).unwrap()), thread::spawn(move || s2.send(2).unwrap())];
        let mut select = Select::new();
        let (one, two) = (select.recv(&r1), select.recv(&r2));
        let ready = select.ready();
        let early = select.try_ready().is_ok();
        let message = if ready == one { r1.try_recv() } else { r2.try_recv() };
        assert!(ready == one || ready == two);
        threads.into_iter().for_each(|t| t.join().unwrap());
        (early, message.unwrap())
    });
    assert_eq!(results, [(true, 1), (true, 2)]);
}

#[test]
fn what_was_selected_must_be_done() {
    let report = failure(|| {
        let (sender, receiver) = unbounded();
        sender.send(1).unwrap();
        let mut select = Select::new();
        select.recv(&receiver);
        drop(select.try_select());
    });
    assert!(report.contains("dropped `SelectedOperation` without completing the operation"), "{report}");
}
