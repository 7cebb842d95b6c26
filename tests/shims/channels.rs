use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use interleave::sync::Barrier;
use interleave::sync::mpsc::{channel, sync_channel};
use interleave::{Kind, thread};

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
    // The first thread's drop comes before the second clone: 2 orders of the other drops. Or after it: 6 orders of all drops,
    // times 2 of the messages.
    assert_eq!(count, 14);
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
