// `std::sync::mpsc` and `std::sync::Barrier`.

use std::cell::Cell;
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::time::Duration;

use lib::sync::mpsc::{
    IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, Sender, SyncSender, TryIter, TryRecvError,
    TrySendError, channel, sync_channel,
};
use lib::sync::{Barrier, BarrierWaitResult};

const SHORT: Duration = Duration::from_millis(1);

#[test]
fn traits() {
    assert_impl!(Sender<Cell<u8>>: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Clone);
    assert_impl!(SyncSender<Cell<u8>>: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Clone);
    assert_impl!(Receiver<Cell<u8>>: Send + Unpin + UnwindSafe + RefUnwindSafe + Debug + IntoIterator<Item = Cell<u8>>);
    assert_not_impl!(Sender<Rc<u8>>: Send);
    assert_not_impl!(SyncSender<Rc<u8>>: Sync);
    assert_not_impl!(Receiver<Rc<u8>>: Send);
    assert_not_impl!(Receiver<u8>: Sync);
    assert_impl!(Iter<'_, u8>: Iterator<Item = u8> + Debug);
    assert_impl!(TryIter<'_, u8>: Iterator<Item = u8> + Debug);
    assert_impl!(IntoIter<u8>: Iterator<Item = u8> + Debug + Send);
    assert_impl!(Barrier: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug);
    assert_impl!(BarrierWaitResult: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug);
}

#[test]
fn messages_arrive_in_order() {
    let (sender, receiver) = channel();
    assert_eq!(format!("{sender:?} {receiver:?}"), "Sender { .. } Receiver { .. }");
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    let threads: Vec<_> = (0..3)
        .map(|i| {
            let sender = sender.clone();
            std::thread::spawn(move || (0..10).for_each(|k| sender.send((i, k)).unwrap()))
        })
        .collect();
    drop(sender);
    let mut next = [0; 3];
    for (i, k) in &receiver {
        assert_eq!(k, next[i]);
        next[i] += 1;
    }
    assert_eq!(next, [10; 3]);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(receiver.recv(), Err(RecvError));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn iterators() {
    let (sender, receiver) = channel();
    (0..4).for_each(|i| sender.send(i).unwrap());
    assert_eq!(receiver.iter().take(2).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2, 3]);
    sender.send(4).unwrap();
    drop(sender);
    assert_eq!(receiver.into_iter().collect::<Vec<_>>(), [4]);
}

#[test]
fn a_receiver_that_is_gone() {
    let counted = Rc::new(());
    let (sender, receiver) = channel();
    sender.send(counted.clone()).unwrap();
    drop(receiver);
    assert_eq!(Rc::strong_count(&counted), 1);
    let error: SendError<Rc<()>> = sender.send(counted.clone()).unwrap_err();
    assert_eq!(Rc::strong_count(&error.0), 2);
    drop((sender, error));
    assert_eq!(Rc::strong_count(&counted), 1);
}

#[test]
fn bounded_channels_have_room() {
    let (sender, receiver) = sync_channel(2);
    assert_eq!(format!("{sender:?}"), "SyncSender { .. }");
    sender.send(1).unwrap();
    sender.try_send(2).unwrap();
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    let other = sender.clone();
    let thread = std::thread::spawn(move || other.send(3));
    assert_eq!((receiver.recv(), receiver.recv(), receiver.recv()), (Ok(1), Ok(2), Ok(3)));
    thread.join().unwrap().unwrap();
    drop(receiver);
    assert_eq!(sender.send(4), Err(SendError(4)));
    assert_eq!(sender.try_send(4), Err(TrySendError::Disconnected(4)));
}

#[test]
fn a_channel_without_room_hands_over() {
    let (sender, receiver) = sync_channel(0);
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    let thread = std::thread::spawn(move || (sender.send(2), sender.send(3)));
    assert_eq!(receiver.recv(), Ok(2));
    drop(receiver);
    assert_eq!(thread.join().unwrap(), (Ok(()), Err(SendError(3))));
}

#[test]
fn barriers() {
    static BARRIER: Barrier = Barrier::new(3);
    assert_eq!(format!("{BARRIER:?}"), "Barrier { .. }");
    let leaders: usize = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..3).map(|_| scope.spawn(|| (0..5).filter(|_| BARRIER.wait().is_leader()).count())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(leaders, 5);
    let result = Barrier::new(1).wait();
    assert!(result.is_leader() && Barrier::new(0).wait().is_leader());
    assert_eq!(format!("{result:?}"), "BarrierWaitResult { is_leader: true }");
}
