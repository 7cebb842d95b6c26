use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use interleave::sync::Barrier;
use interleave::sync::mpsc::{TryRecvError, channel, sync_channel};
use interleave::{Builder, Kind, Strategy, Verdict, thread};

use crate::{executions, failure};

/// So many threads that send so many messages each; the main thread receives them all.
fn producers(threads: usize, messages: usize) -> impl Fn() + Send + Sync {
    move || {
        let (sender, receiver) = channel();
        for i in 0..threads {
            let sender = sender.clone();
            thread::spawn(move || (0..messages).for_each(|k| sender.send((i, k)).unwrap()));
        }
        let mut next = vec![0; threads];
        for _ in 0..threads * messages {
            let (i, k) = receiver.recv().unwrap();
            assert_eq!(k, next[i]);
            next[i] += 1;
        }
    }
}

#[test]
fn only_the_order_of_the_messages_is_explored() {
    assert_eq!(executions(producers(1, 4)), 1);
    assert_eq!(executions(producers(2, 1)), 2);
    assert_eq!(executions(producers(2, 2)), 6);
    assert_eq!(executions(producers(3, 1)), 6);
}

/// The receiver learns that there is nobody left.
#[test]
fn a_receiver_that_goes_on_to_the_end() {
    let count = executions(|| {
        let (sender, receiver) = channel();
        for i in 0..2 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(i).unwrap());
        }
        drop(sender);
        let mut all: Vec<_> = receiver.iter().collect();
        all.sort();
        assert_eq!(all, [0, 1]);
    });
    // Two orders of the messages.
    assert_eq!(count, 2);
}

/// So many threads that send so many messages each and then drop their sender; the main thread receives until nobody is left.
/// Every execution adds what it received.
fn until_the_end(threads: usize, messages: usize, seen: &Mutex<BTreeSet<Vec<usize>>>) -> impl Fn() + Send + Sync {
    move || {
        let (sender, receiver) = channel();
        for i in 0..threads {
            let sender = sender.clone();
            thread::spawn(move || (0..messages).for_each(|_| sender.send(i).unwrap()));
        }
        drop(sender);
        let all: Vec<_> = receiver.iter().collect();
        assert_eq!(all.len(), threads * messages);
        seen.lock().unwrap().insert(all);
    }
}

/// The orders of the messages, (nk)! / k!^n, and none of the drops.
#[test]
fn drops_of_senders_do_not_multiply() {
    for (threads, messages, count) in [(1, 3, 1), (2, 1, 2), (2, 2, 6), (3, 1, 6), (2, 3, 20), (4, 0, 1), (4, 1, 24)] {
        let seen = Mutex::default();
        let count_of = executions(until_the_end(threads, messages, &seen));
        assert_eq!((count_of, seen.into_inner().unwrap().len() as u64), (count, count), "{threads} x {messages}");
    }
}

#[test]
fn interleavings_receive_the_same() {
    for (threads, messages) in [(1, 2), (2, 1)] {
        let (few, all) = (Mutex::default(), Mutex::default());
        executions(until_the_end(threads, messages, &few));
        let report = Builder::new().strategy(Strategy::Interleavings).explore(until_the_end(threads, messages, &all));
        assert_eq!(report.verdict, Verdict::Complete, "{report}");
        assert_eq!(few.into_inner().unwrap(), all.into_inner().unwrap());
    }
}

/// A failure after the end of a channel is found again when it is replayed for the report, and by a random walk.
#[test]
fn the_end_of_a_channel_replays() {
    let body = || {
        let (sender, receiver) = channel();
        for i in 0..2 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(i).unwrap());
        }
        drop(sender);
        let all: Vec<_> = receiver.iter().collect();
        assert_eq!(all, [0, 1]);
    };
    for strategy in [Strategy::Exhaustive, Strategy::Interleavings, Strategy::Random] {
        let report = Builder::new().strategy(strategy).explore(body);
        let failure = report.failure.expect("one of two orders fails");
        assert_eq!(failure.kind, Kind::Panic, "{}", failure.report);
        assert!(failure.report.contains("left: [1, 0]"), "{}", failure.report);
    }
}

/// A sender that is dropped while the receiver looks: nothing yet, or nobody left. Clones are looked for behind the sender
/// that they were made from.
#[test]
fn a_receiver_that_looks_sees_the_last_sender_go() {
    let seen = Mutex::new(BTreeSet::new());
    let count = executions(|| {
        let (sender, receiver) = channel::<()>();
        thread::spawn(move || {
            let clones = (sender.clone(), sender.clone());
            drop(sender);
            drop(clones);
        });
        let looks = [receiver.try_recv(), receiver.try_recv()].map(|r| r.unwrap_err() == TryRecvError::Disconnected);
        seen.lock().unwrap().insert(looks);
    });
    // The first look finds the first, second or third sender, or none; the second one the same or a later one. Four that find
    // somebody both times are told apart by whom they find: 4 + 3 + 2 + 1.
    assert_eq!(count, 10);
    assert_eq!(
        seen.into_inner().unwrap().into_iter().collect::<Vec<_>>(),
        [[false, false], [false, true], [true, true]]
    );
}

/// As std does: once a message has been sent, one that was begun before it is waited for, and not reported as missing.
#[test]
fn what_others_have_sent_is_not_missed() {
    let count = executions(|| {
        let (sender, receiver) = channel();
        let other = sender.clone();
        thread::spawn(move || other.send(1));
        sender.send(2).unwrap();
        assert!(receiver.try_recv().is_ok());
    });
    assert!(count >= 2);
}

#[test]
fn a_deadlock_names_the_channel_and_its_other_end() {
    let report = Builder::new().explore(|| {
        let (sender, receiver) = channel();
        let other = sender.clone();
        let worker = thread::Builder::new().name("worker".to_owned());
        worker.spawn(move || other.send(1).unwrap()).unwrap();
        assert_eq!(receiver.iter().count(), 1);
    });
    let failure = report.failure.expect("a deadlock");
    let text = failure.report.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, channel) = text.split_once("the sender of `other` made at tests/shims/channels.rs:").expect("the channel");
    assert!(channel.contains("is still there; nobody has used it"), "{}", failure.report);
    assert!(!text.contains("worker was the last to use it"), "{}", failure.report);
}

#[test]
fn a_sender_that_is_kept_is_a_deadlock() {
    let kind = failure(|| {
        let (sender, receiver) = channel();
        let other = sender.clone();
        thread::spawn(move || other.send(1).unwrap());
        assert_eq!(receiver.iter().count(), 1);
    });
    assert_eq!(kind, Kind::Deadlock);
}

#[test]
fn a_try_that_comes_too_early_finds_nothing() {
    let seen = Mutex::new(BTreeSet::new());
    executions(|| {
        let (sender, receiver) = channel();
        thread::spawn(move || sender.send(1));
        let received = receiver.try_recv();
        seen.lock().unwrap().insert(format!("{received:?}"));
        let received = receiver.recv_timeout(Duration::from_secs(1));
        seen.lock().unwrap().insert(format!("{received:?}"));
    });
    let seen: Vec<_> = seen.into_inner().unwrap().into_iter().collect();
    assert_eq!(seen, ["Err(Disconnected)", "Err(Empty)", "Err(Timeout)", "Ok(1)"]);
}

/// Whether the sender is gone already makes no difference if its message is there: it is as if that had been found at once.
#[test]
fn a_message_of_a_sender_that_is_gone_is_received_in_one_way() {
    let seen = Mutex::new(BTreeSet::new());
    let one = executions(|| {
        let (sender, receiver) = channel();
        let other = thread::spawn(move || sender.send(1).unwrap());
        let received = receiver.recv_timeout(Duration::from_secs(1));
        seen.lock().unwrap().insert(format!("{received:?}"));
        other.join().unwrap();
    });
    assert_eq!((one, seen.lock().unwrap().len()), (2, 2));
    let two = executions(|| {
        let (sender, receiver) = channel();
        let other = thread::spawn(move || (0..2).for_each(|k| sender.send(k).unwrap()));
        let received = [receiver.try_recv(), receiver.try_recv(), receiver.recv().map_err(|_| TryRecvError::Empty)];
        seen.lock().unwrap().insert(format!("{received:?}"));
        other.join().unwrap();
    });
    // Nothing twice; nothing, and then the first message; the first, and then nothing or the second.
    assert_eq!((two, seen.into_inner().unwrap().len()), (4, 2 + 4));
}

#[test]
fn a_receiver_that_goes_is_noticed_or_not() {
    let seen = Mutex::new(BTreeSet::new());
    let count = executions(|| {
        let (sender, receiver) = channel();
        let t = thread::spawn(move || drop(receiver));
        let sent = sender.send(1).is_ok();
        seen.lock().unwrap().insert(sent);
        t.join().unwrap();
    });
    assert_eq!((count, seen.into_inner().unwrap().len()), (2, 2));
}

#[test]
fn bounded_channels_wait_for_room() {
    for bound in 0..3 {
        let count = executions(move || {
            let (sender, receiver) = sync_channel(bound);
            let t = thread::spawn(move || (0..3).for_each(|i| sender.send(i).unwrap()));
            for i in 0..3 {
                assert_eq!(receiver.recv(), Ok(i));
            }
            t.join().unwrap();
        });
        assert_eq!(count, 1, "{bound}");
    }
    executions(|| {
        let (sender, receiver) = sync_channel(1);
        let handles = [0, 1].map(|i| {
            let sender = sender.clone();
            thread::spawn(move || _ = (sender.send(i), sender.send(i)))
        });
        receiver.recv().unwrap();
        drop(receiver);
        for handle in handles {
            handle.join().unwrap();
        }
    });
}

#[test]
fn a_barrier_lets_all_through_together() {
    let count = executions(|| {
        let barrier = Barrier::new(2);
        let leaders: u32 = thread::scope(|scope| {
            let one = scope.spawn(|| u32::from(barrier.wait().is_leader()));
            let two = u32::from(barrier.wait().is_leader());
            one.join().unwrap() + two
        });
        assert_eq!(leaders, 1);
    });
    assert_eq!(count, 2);
}

/// A sender that does not wait is only paired with a receiver that has not given up: its message is not lost, and it is in
/// nobody's way.
#[test]
fn a_receiver_that_gives_up_is_not_sent_to() {
    let seen = Mutex::new(BTreeSet::new());
    let report = Builder::new().explore(|| {
        let (sender, receiver) = sync_channel(0);
        let other = thread::spawn(move || (sender.try_send(1).is_ok(), sender.send(2).is_ok()));
        let received = receiver.recv_timeout(Duration::from_millis(1)).ok();
        drop(receiver);
        let (first, second) = other.join().unwrap();
        assert_eq!((first, second), (received == Some(1), received == Some(2)));
        seen.lock().unwrap().insert(received);
    });
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
    assert_eq!(seen.into_inner().unwrap(), [None, Some(1), Some(2)].into());

    // Two who send.
    let report = Builder::new().explore(|| {
        let (sender, receiver) = sync_channel(0);
        let sender2 = sender.clone();
        let one = thread::spawn(move || sender2.try_send(1).is_ok());
        let two = thread::spawn(move || sender.send(2).is_ok());
        let received = receiver.recv_timeout(Duration::from_millis(1)).ok();
        drop(receiver);
        let sent = (one.join().unwrap(), two.join().unwrap());
        assert_eq!(sent, (received == Some(1), received == Some(2)));
    });
    assert_eq!(report.verdict, Verdict::Complete, "{report}");
}
