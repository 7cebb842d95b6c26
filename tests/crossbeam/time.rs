//! Timeouts and timers move the clock of a model.

use interleave::crossbeam::channel::{after, at, bounded, never, select, tick, unbounded};
use interleave::crossbeam::sync::Parker;
use interleave::thread;

use crate::timed::{SECOND, comes_to, takes};

#[test]
fn a_timeout_takes_its_time() {
    comes_to(1, &["1s Err(Timeout)"], || takes(|_| never::<u8>().recv_timeout(SECOND)));
    comes_to(1, &["1s Err(Timeout)"], || {
        let (_sender, receiver) = unbounded::<u8>();
        takes(|start| receiver.recv_deadline(start + SECOND))
    });
    comes_to(1, &["3s (true, true)"], || {
        let (sender, _receiver) = bounded(0);
        takes(|start| (sender.send_timeout(1, SECOND).is_err(), sender.send_deadline(2, start + 3 * SECOND).is_err()))
    });
    comes_to(1, &["1s (true, false)"], || {
        let (sender, receiver) = bounded(1);
        takes(|_| {
            sender.send(1).unwrap();
            (sender.send_timeout(2, SECOND).is_err(), receiver.recv_timeout(SECOND).is_err())
        })
    });
    comes_to(1, &["3s ()"], || {
        let parker = Parker::new();
        takes(|start| {
            parker.park_timeout(SECOND);
            parker.park_deadline(start + 3 * SECOND);
            parker.unparker().unpark();
            parker.park_timeout(SECOND);
        })
    });
    comes_to(1, &["2s \"nothing\""], || {
        let (_sender, receiver) = unbounded::<u8>();
        takes(|_| {
            select! {
                recv(receiver) -> _ => "a message",
                default(2 * SECOND) => "nothing",
            }
        })
    });
}

#[test]
fn a_message_in_time_takes_none() {
    comes_to(2, &["0ns Ok(1)", "1s Err(Timeout)"], || {
        let (sender, receiver) = unbounded();
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        let taken = takes(|_| receiver.recv_timeout(SECOND));
        other.join().unwrap();
        taken
    });
}

#[test]
fn timers_fire_when_it_is_time() {
    comes_to(1, &["1s true"], || takes(|start| after(SECOND).recv().unwrap() == start + SECOND));
    comes_to(1, &["2s true"], || takes(|start| at(start + 2 * SECOND).recv().unwrap() == start + 2 * SECOND));
    comes_to(1, &["0ns true"], || takes(|start| at(start).recv().unwrap() == start));
    comes_to(1, &["3s (true, true, true)"], || {
        takes(|start| {
            let ticks = tick(SECOND);
            let next = || ticks.recv().unwrap() - start;
            (next() == SECOND, next() == 2 * SECOND, next() == 3 * SECOND)
        })
    });
    // Whoever is late gets one tick for all that it has missed.
    comes_to(1, &["6s (true, true)"], || {
        takes(|start| {
            let ticks = tick(SECOND);
            thread::sleep(5 * SECOND);
            let next = || ticks.recv().unwrap() - start;
            (next() == SECOND, next() == 6 * SECOND)
        })
    });
}

#[test]
fn it_is_known_that_it_is_time() {
    comes_to(2, &["0ns false", "1s true"], || {
        let timer = after(SECOND);
        takes(|_| timer.try_recv().is_ok())
    });
    comes_to(1, &["1s (true, false)"], || {
        let timer = after(SECOND);
        takes(|_| {
            thread::sleep(SECOND);
            (timer.try_recv().is_ok(), timer.try_recv().is_ok())
        })
    });
    comes_to(1, &["1s (1, true)"], || {
        let ticks = tick(SECOND);
        takes(|_| {
            thread::sleep(SECOND);
            (ticks.len(), ticks.try_recv().is_ok())
        })
    });
}

/// The message, or the timer.
#[test]
fn a_selection_with_a_timer() {
    comes_to(2, &["0ns \"message\"", "1s \"timer\""], || {
        let (sender, receiver) = unbounded();
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        let taken = takes(|_| {
            let timer = after(SECOND);
            select! {
                recv(receiver) -> _ => "message",
                recv(timer) -> _ => "timer",
            }
        });
        other.join().unwrap();
        taken
    });
}
