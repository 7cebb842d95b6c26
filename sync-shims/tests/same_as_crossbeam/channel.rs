// `crossbeam::channel` without `select`.

use std::cell::Cell;
use std::fmt::Debug;
use std::iter::FusedIterator;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use time::{Duration, Instant};

use lib::channel::{
    IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, SendTimeoutError, Sender, TryIter, TryRecvError,
    TrySendError, after, at, bounded, never, tick, unbounded,
};

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn traits() {
    assert_impl!(Sender<Cell<u8>>: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Clone);
    assert_impl!(Receiver<Cell<u8>>: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + Clone);
    assert_impl!(Receiver<u8>: IntoIterator<Item = u8, IntoIter = IntoIter<u8>>);
    assert_not_impl!(Sender<Rc<u8>>: Send);
    assert_not_impl!(Receiver<Rc<u8>>: Sync);
    assert_impl!(Iter<'_, u8>: FusedIterator<Item = u8> + Debug + Send);
    assert_impl!(TryIter<'_, u8>: Iterator<Item = u8> + Debug + Send);
    assert_impl!(IntoIter<u8>: FusedIterator<Item = u8> + Debug + Send);
    assert_not_impl!(TryIter<'_, u8>: FusedIterator);
    assert_impl!(SendError<u8>: std::error::Error + Clone + Copy + Eq);
    assert_impl!(RecvError: std::error::Error + Clone + Copy + Eq);
}

#[test]
fn messages_arrive_in_order() {
    for (sender, receiver) in [unbounded(), bounded(2), bounded(0)] {
        assert_eq!(format!("{sender:?} {receiver:?}"), "Sender { .. } Receiver { .. }");
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvTimeoutError::Timeout));
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
}

#[test]
fn receivers_share_the_messages() {
    let (sender, receiver) = unbounded();
    let also = receiver.clone();
    assert!(also.same_channel(&receiver) && sender.same_channel(&sender.clone()));
    assert!(!receiver.same_channel(&unbounded::<i32>().1));
    let t = std::thread::spawn(move || also.iter().sum::<i32>());
    (1..=100).for_each(|i| sender.send(i).unwrap());
    drop(sender);
    let sum: i32 = receiver.iter().sum();
    assert_eq!(sum + t.join().unwrap(), 5050);
}

#[test]
fn sizes() {
    let (sender, receiver) = bounded(2);
    assert_eq!((sender.capacity(), sender.len(), sender.is_empty(), sender.is_full()), (Some(2), 0, true, false));
    sender.try_send(1).unwrap();
    sender.send_timeout(2, SHORT).unwrap();
    assert_eq!(
        (receiver.capacity(), receiver.len(), receiver.is_empty(), receiver.is_full()),
        (Some(2), 2, false, true)
    );
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!(sender.send_timeout(3, SHORT), Err(SendTimeoutError::Timeout(3)));
    assert_eq!(sender.send_deadline(3, Instant::now()), Err(SendTimeoutError::Timeout(3)));
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2]);
    let (sender, receiver) = bounded::<()>(0);
    assert_eq!((sender.capacity(), sender.len(), sender.is_empty(), sender.is_full()), (Some(0), 0, true, true));
    assert_eq!((receiver.len(), receiver.is_empty(), receiver.is_full()), (0, true, true));
    assert_eq!(unbounded::<()>().0.capacity(), None);
}

#[test]
fn receivers_that_are_gone() {
    let counted = Rc::new(());
    let (sender, receiver) = unbounded();
    sender.send(counted.clone()).unwrap();
    drop(receiver);
    assert_eq!(Rc::strong_count(&counted), 1);
    let error = sender.send(counted.clone()).unwrap_err();
    assert_eq!(error.to_string(), "sending on a disconnected channel");
    assert_eq!(format!("{error:?}"), format!("{:?}", "SendError(..)"));
    drop((sender, error.into_inner()));
    assert_eq!(Rc::strong_count(&counted), 1);
    let (sender, _) = bounded(0);
    assert!(sender.try_send(1).unwrap_err().is_disconnected());
    assert!(sender.send_timeout(1, SHORT).unwrap_err().is_disconnected());
}

#[test]
fn iterators() {
    let (sender, receiver) = unbounded();
    (0..3).for_each(|i| sender.send(i).unwrap());
    drop(sender);
    assert_eq!(format!("{:?} {:?}", receiver.iter(), receiver.try_iter()), "Iter { .. } TryIter { .. }");
    let iter = receiver.into_iter();
    assert_eq!(format!("{iter:?}"), "IntoIter { .. }");
    assert_eq!(iter.collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn timers() {
    let start = Instant::now();
    let timer = after(SHORT);
    assert_eq!((timer.capacity(), timer.is_full(), at(start).is_empty()), (Some(1), false, false));
    assert!(timer.recv().unwrap() >= start + SHORT && start.elapsed() >= SHORT);
    assert_eq!(timer.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(at(start).recv(), Ok(start));
    let ticks = tick(SHORT);
    assert!(ticks.recv().unwrap() < ticks.recv().unwrap());
    static NEVER: Receiver<u8> = never();
    assert_eq!(NEVER.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(NEVER.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
    assert_eq!((NEVER.capacity(), NEVER.len(), NEVER.is_empty(), NEVER.is_full()), (Some(0), 0, true, true));
    assert!(NEVER.same_channel(&NEVER.clone()));
}
