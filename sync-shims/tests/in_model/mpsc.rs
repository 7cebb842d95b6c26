use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use sync_shims::model::sync::mpsc::{
    RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, channel, sync_channel,
};
use sync_shims::model::sync::{Arc, Barrier};
use sync_shims::model::thread;

use crate::controller::{CountFromNowOn, Failed, Fake};

#[test]
fn a_message_is_a_ticket_and_a_place() {
    let model = Fake::new();
    model.run(|| {
        let (sender, receiver) = channel();
        let other = sender.clone();
        sender.send("a").unwrap();
        other.send("b").unwrap();
        drop((sender, other));
        assert_eq!((receiver.recv(), receiver.try_recv()), (Ok("a"), Ok("b")));
    });
    assert_eq!(
        model.log(),
        [
            "t0 Sender::send of 0",
            "t0 Sender::send: message of 1",
            "t0 Sender::send of 0",
            "t0 Sender::send: message of 2",
            "t0 Receiver::recv of 1",
            "t0 Receiver::try_recv of 2",
            "t0 Receiver::drop of 0",
        ]
    );
}

/// Whether `body` makes the exploration start again with the senders counted.
fn needs_a_count(body: fn()) -> bool {
    let result = catch_unwind(AssertUnwindSafe(|| Fake::new().run(body)));
    result.is_err_and(|payload| payload.is::<CountFromNowOn>())
}

#[test]
fn senders_are_counted_when_a_message_is_missed() {
    assert!(needs_a_count(|| {
        let (sender, receiver) = channel::<()>();
        drop(sender);
        let _ = receiver.recv();
    }));
    assert!(needs_a_count(|| {
        let (sender, receiver) = channel();
        drop(sender);
        let _: Result<(), _> = receiver.try_recv();
    }));
    assert!(needs_a_count(|| {
        let (_sender, receiver) = channel::<()>();
        let _ = receiver.recv_timeout(Duration::ZERO);
    }));
    assert!(!needs_a_count(|| {
        let (sender, receiver) = channel();
        sender.send(()).unwrap();
        drop(sender);
        receiver.recv().unwrap();
    }));
}

#[test]
fn senders_go_one_by_one() {
    let model = Fake::counting();
    model.run(|| {
        let (sender, receiver) = channel();
        let other = sender.clone();
        sender.send(1).unwrap();
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
        assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
        drop((sender, other));
        assert_eq!((receiver.recv(), receiver.try_recv()), (Err(RecvError), Err(TryRecvError::Disconnected)));
        assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Disconnected));
        assert_eq!(receiver.iter().count(), 0);
    });
    let log = model.log();
    let ours: Vec<_> = log.iter().filter(|line| !line.contains("Arc") && !line.contains("clock")).take(13).collect();
    assert_eq!(
        ours,
        [
            "t0 Sender::send of 1",
            "t0 Sender::send: message of 2",
            "t0 Receiver::try_recv of 2",
            // No message, and the first sender is there.
            "t0 Receiver::try_recv of 3",
            "t0 Receiver::try_recv of 4",
            "t0 Receiver::recv_timeout of 3",
            "t0 Receiver::recv_timeout of 4",
            "t0 Sender::drop of 4",
            "t0 Sender::drop of 6",
            // Which of the two it is to be, and then each sender.
            "t0 Receiver::recv",
            "t0 Receiver::recv: no sender is left of 4",
            "t0 Receiver::recv: no sender is left of 6",
            "t0 Receiver::try_recv of 3",
        ]
    );
}

/// A receiver that finds no message but knows that a later one was sent waits for the one that is missing.
#[test]
fn a_message_on_its_way_is_waited_for() {
    let model = Fake::counting();
    model.facts.set(1);
    model.run(|| {
        let (sender, receiver) = channel();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        sender.send(1).unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
    });
    let log = model.log();
    let receiver: Vec<_> = log.iter().filter(|line| line.contains("try_recv")).collect();
    assert_eq!(
        receiver,
        [
            "t0 Receiver::try_recv of 1",
            "t0 Receiver::try_recv of 2",
            "t0 Receiver::try_recv of 3",
            "t0 Receiver::try_recv of 1",
        ]
    );
}

#[test]
fn whoever_goes_frees_what_others_wait_for() {
    let blocked = |body: fn()| {
        let result = catch_unwind(AssertUnwindSafe(|| Fake::counting().run(body)));
        result.is_err_and(|payload| payload.downcast_ref::<Failed>().is_some_and(|failed| failed.0 == "blocked"))
    };
    assert!(blocked(|| {
        let (sender, _receiver) = sync_channel(1);
        sender.send(1).unwrap();
        let _ = sender.send(2);
    }));
    assert!(blocked(|| {
        let (sender, _receiver) = sync_channel(0);
        let _ = sender.send(1);
    }));
    Fake::counting().run(|| {
        let (sender, receiver) = sync_channel(1);
        sender.send(1).unwrap();
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(sender.try_send(2), Ok(()));
        drop(receiver);
        assert_eq!(sender.send(3), Err(SendError(3)));
        assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
    });
}

#[test]
fn what_was_not_received_is_dropped_with_the_receiver() {
    let counted = std::rc::Rc::new(());
    Fake::counting().run(|| {
        let (sender, receiver) = channel();
        (0..3).for_each(|_| sender.send(counted.clone()).unwrap());
        drop(receiver.recv());
        drop(receiver);
        assert_eq!(std::rc::Rc::strong_count(&counted), 1);
        assert!(sender.send(counted.clone()).is_err());
    });
    assert_eq!(std::rc::Rc::strong_count(&counted), 1);
}

#[test]
fn real_channels_are_not_waited_for_in_a_model() {
    let (sender, receiver) = channel();
    let result = catch_unwind(AssertUnwindSafe(|| {
        Fake::new().run(|| {
            sender.send(1).unwrap();
            assert_eq!(receiver.recv(), Ok(1));
            _ = receiver.recv();
        });
    }));
    assert_eq!(result.unwrap_err().downcast_ref::<Failed>().unwrap().0, "outside");
}

#[test]
fn the_last_to_come_to_a_barrier_leads() {
    let model = Fake::new();
    model.run(|| {
        assert!(Barrier::new(1).wait().is_leader());
        let barrier = Arc::new(Barrier::new(2));
        let other = barrier.clone();
        // The controller cannot wait, so the first one to come is blocked.
        let result = thread::spawn(move || other.wait().is_leader()).join();
        assert!(result.is_err());
        assert!(barrier.wait().is_leader());
    });
}
