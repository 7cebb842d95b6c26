use std::time::Duration;

use interleave::crossbeam::channel::{
    Receiver, RecvTimeoutError, SendError, SendTimeoutError, Sender, TryRecvError, TrySendError, bounded, unbounded,
};
use interleave::thread;

use crate::{complete, distinct, failure};

const SOME_TIME: Duration = Duration::from_secs(1);

fn channel<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    capacity.map_or_else(unbounded, bounded)
}

/// So many threads that send so many messages each; the main thread receives them all.
fn producers(
    capacity: Option<usize>,
    threads: usize,
    messages: usize,
) -> impl Fn() -> Vec<(usize, usize)> + Send + Sync {
    move || {
        let (sender, receiver) = channel(capacity);
        for i in 0..threads {
            let sender = sender.clone();
            thread::spawn(move || (0..messages).for_each(|k| sender.send((i, k)).unwrap()));
        }
        (0..threads * messages).map(|_| receiver.recv().unwrap()).collect()
    }
}

/// (nm)! / m!^n orders of the messages.
#[test]
fn only_the_order_of_the_messages_is_explored() {
    let count = |threads, messages| distinct(producers(None, threads, messages));
    assert_eq!([count(1, 4), count(2, 1), count(3, 1), count(2, 2)], [1, 2, 6, 6]);
    assert_eq!(complete(producers(None, 2, 1)).0, 2);
}

/// Whoever has to wait for room may be overtaken by the other one, but places are taken one after the other all the same.
#[test]
fn room_changes_nothing_for_one_receiver() {
    for capacity in [1, 2] {
        let count = |threads, messages| distinct(producers(Some(capacity), threads, messages));
        assert_eq!([count(1, 4), count(2, 1), count(2, 2)], [1, 2, 6], "{capacity}");
        assert_eq!(complete(producers(Some(capacity), 1, 3)).0, 1);
    }
}

/// So many threads that receive so many messages each, of which the main thread sends enough.
fn consumers(capacity: Option<usize>, threads: usize, messages: usize) -> impl Fn() -> Vec<Vec<usize>> + Send + Sync {
    move || {
        let (sender, receiver) = channel(capacity);
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || (0..messages).map(|_| receiver.recv().unwrap()).collect::<Vec<usize>>())
            })
            .collect();
        (0..threads.len() * messages).for_each(|i| sender.send(i).unwrap());
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    }
}

/// Who gets which message: n consumers with m messages each have (nm)! / m!^n ways.
#[test]
fn receivers_compete() {
    for capacity in [None, Some(1), Some(2)] {
        let count = |threads, messages| distinct(consumers(capacity, threads, messages));
        assert_eq!([count(1, 2), count(2, 1), count(3, 1), count(2, 2)], [1, 2, 6, 6], "{capacity:?}");
        assert_eq!(complete(consumers(capacity, 2, 1)).0, 2);
    }
}

/// The order of the messages times who gets which.
#[test]
fn senders_and_receivers_compete() {
    let (count, results) = complete(|| {
        let (sender, receiver) = unbounded();
        let other = sender.clone();
        thread::spawn(move || other.send(1).unwrap());
        thread::spawn(move || sender.send(2).unwrap());
        let also = receiver.clone();
        let t = thread::spawn(move || also.recv().unwrap());
        (receiver.recv().unwrap(), t.join().unwrap())
    });
    assert_eq!((count, results), (4, vec![(1, 2), (2, 1)]));
}

/// Whoever comes first waits; so one sender and one receiver have 2 executions a message.
#[test]
fn without_room_both_sides_wait() {
    let handed_over = |messages: usize| {
        complete(move || {
            let (sender, receiver) = bounded(0);
            let t = thread::spawn(move || (0..messages).for_each(|i| sender.send(i).unwrap()));
            let received: Vec<_> = (0..messages).map(|_| receiver.recv().unwrap()).collect();
            t.join().unwrap();
            assert_eq!(received, (0..messages).collect::<Vec<_>>());
        })
    };
    assert_eq!([1, 2].map(|messages| handed_over(messages).0), [2, 4]);
}

/// Both senders first, in either order, and either may be met: 4, and then the other one: 1. Or the receiver between them, met by
/// the later one or meeting the earlier one before the next: see the brute force.
#[test]
fn without_room_any_of_those_who_wait_is_met() {
    let (_, results) = complete(|| {
        let (sender, receiver) = bounded(0);
        let other = sender.clone();
        let threads = [thread::spawn(move || other.send(1).unwrap()), thread::spawn(move || sender.send(2).unwrap())];
        let received = [(); 2].map(|()| receiver.recv().unwrap());
        threads.into_iter().for_each(|t| t.join().unwrap());
        received
    });
    assert_eq!(results, [[1, 2], [2, 1]]);
}

#[test]
fn without_room_a_try_needs_somebody_who_waits() {
    let (_, results) = complete(|| {
        let (sender, receiver) = bounded(0);
        let t = thread::spawn(move || receiver.recv_timeout(SOME_TIME));
        let sent = sender.try_send(1);
        drop(sender);
        format!("{sent:?} {:?}", t.join().unwrap())
    });
    assert_eq!(
        results,
        [
            "Err(\"Disconnected(..)\") Err(Timeout)",
            "Err(\"Full(..)\") Err(Disconnected)",
            "Err(\"Full(..)\") Err(Timeout)",
            "Ok(()) Ok(1)"
        ]
    );
    let (_, results) = complete(|| {
        let (sender, receiver) = bounded(0);
        let t = thread::spawn(move || sender.send_timeout(1, SOME_TIME));
        let received = receiver.try_recv();
        drop(receiver);
        let sent = t.join().unwrap().map_err(|error| error.is_timeout());
        format!("{received:?} {sent:?}")
    });
    assert_eq!(
        results,
        ["Err(Disconnected) Err(true)", "Err(Empty) Err(false)", "Err(Empty) Err(true)", "Ok(1) Ok(())"]
    );
}

/// The first thread's drop comes before the second clone: 2 orders of the other drops. Or after it: 6 orders of all drops. The
/// receiver notices the last one; each times 2 orders of the messages, if both are sent before the last drop.
#[test]
fn a_receiver_that_goes_on_to_the_end() {
    let (count, results) = complete(|| {
        let (sender, receiver) = unbounded();
        for i in 0..2 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(i).unwrap());
        }
        drop(sender);
        receiver.iter().collect::<Vec<_>>()
    });
    assert_eq!((count, results), (14, vec![vec![0, 1], vec![1, 0]]));
}

#[test]
fn a_sender_that_is_kept_is_a_deadlock_that_names_the_channel() {
    let report = failure(|| {
        let (sender, receiver) = unbounded();
        let other = sender.clone();
        thread::spawn(move || other.send(1).unwrap());
        assert_eq!(receiver.iter().count(), 1);
    });
    assert!(report.starts_with("error[interleave::deadlock]"), "{report}");
    let created = format!("tests/crossbeam/channel.rs:{}:", line!() - 6);
    assert!(report.contains(&created), "{report}");
}

#[test]
fn a_full_channel_without_receiver_calls_is_a_deadlock() {
    for capacity in [0, 1] {
        let report = failure(move || {
            let (sender, _receiver) = bounded(capacity);
            (0..=capacity).for_each(|i| sender.send(i).unwrap());
        });
        assert!(report.starts_with("error[interleave::deadlock]"), "{report}");
    }
}

#[test]
fn a_try_that_comes_too_early_finds_nothing() {
    let (_, results) = complete(|| {
        let (sender, receiver) = unbounded();
        let t = thread::spawn(move || _ = sender.send(1));
        let seen = format!("{:?} {:?}", receiver.try_recv(), receiver.recv_timeout(SOME_TIME));
        t.join().unwrap();
        seen
    });
    assert_eq!(
        results,
        ["Err(Empty) Err(Timeout)", "Err(Empty) Ok(1)", "Ok(1) Err(Disconnected)", "Ok(1) Err(Timeout)"]
    );
}

/// What has been sent is there, also when another sender is in the middle of sending.
#[test]
fn a_try_finds_what_has_been_sent() {
    complete(|| {
        let (sender, receiver) = unbounded();
        let (other, _kept) = (sender.clone(), sender.clone());
        thread::spawn(move || other.send(1));
        sender.send(2).unwrap();
        assert!(!receiver.is_empty() && matches!(receiver.len(), 1..=2));
        receiver.try_recv().unwrap()
    });
}

#[test]
fn receivers_that_go_are_noticed_or_not() {
    let gone = |capacity: usize| {
        complete(move || {
            let (sender, receiver) = bounded(capacity);
            let also = receiver.clone();
            let threads = [thread::spawn(move || drop(receiver)), thread::spawn(move || drop(also))];
            let sent = (sender.try_send(1), sender.try_send(2));
            threads.into_iter().for_each(|t| t.join().unwrap());
            format!("{sent:?} {:?}", sender.send(3))
        })
        .1
    };
    let gone_then = |first: &str| format!("({first}, Err(\"Disconnected(..)\")) Err(\"SendError(..)\")");
    assert_eq!(
        gone(0),
        [
            "(Err(\"Disconnected(..)\"), Err(\"Disconnected(..)\")) Err(\"SendError(..)\")",
            "(Err(\"Full(..)\"), Err(\"Disconnected(..)\")) Err(\"SendError(..)\")",
            "(Err(\"Full(..)\"), Err(\"Full(..)\")) Err(\"SendError(..)\")",
        ]
    );
    assert_eq!(
        gone(1),
        [
            gone_then("Err(\"Disconnected(..)\")"),
            gone_then("Ok(())"),
            "(Ok(()), Err(\"Full(..)\")) Err(\"SendError(..)\")".to_owned(),
        ]
    );
}

/// A sender that waits for room learns that there will be none.
#[test]
fn whoever_waits_for_room_is_told() {
    for capacity in [0, 1] {
        let (_, results) = complete(move || {
            let (sender, receiver) = bounded(capacity);
            let t = thread::spawn(move || drop(receiver));
            let sent = (sender.send(1), sender.send(2));
            t.join().unwrap();
            assert_eq!(sent.1, Err(SendError(2)));
            sent.0.is_ok()
        });
        assert_eq!(results, if capacity == 0 { vec![false] } else { vec![false, true] });
    }
}

#[test]
fn messages_that_nobody_receives_are_dropped_with_the_last_receiver() {
    let (_, results) = complete(|| {
        let (sender, receiver) = unbounded();
        let (probe, seen) = unbounded();
        struct Tell(Sender<()>);
        impl Drop for Tell {
            fn drop(&mut self) {
                _ = self.0.send(());
            }
        }
        let t = thread::spawn(move || drop(receiver));
        let error = sender.send(Tell(probe)).is_err();
        t.join().unwrap();
        assert_eq!(seen.try_recv(), Ok(()));
        assert_eq!(seen.try_recv(), Err(TryRecvError::Disconnected));
        error
    });
    assert_eq!(results, [false, true]);
}

#[test]
fn errors_give_the_message_back() {
    complete(|| {
        let (sender, receiver) = bounded(1);
        sender.send(1).unwrap();
        assert!(sender.is_full() && receiver.is_full());
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        assert_eq!(sender.send_timeout(2, SOME_TIME), Err(SendTimeoutError::Timeout(2)));
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(receiver.recv_timeout(SOME_TIME), Err(RecvTimeoutError::Timeout));
        drop(receiver);
        assert_eq!(sender.send_timeout(2, SOME_TIME), Err(SendTimeoutError::Disconnected(2)));
    });
}

/// The exploration starts again with the handles counted while the thread is panicking; then the panic is found again.
#[test]
fn a_panic_with_a_message_left_is_the_failure() {
    let report = failure(|| {
        let (sender, _receiver) = unbounded();
        sender.send(1).unwrap();
        panic!("after sending");
    });
    assert!(report.starts_with("error[interleave::panic]: after sending"), "{report}");
}
