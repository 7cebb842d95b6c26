//! A receiver finds the queue empty, then that all senders are gone. In between the last sender may have sent.

use std::collections::VecDeque;

use interleave::sync::atomic::{AtomicUsize, Ordering};
use interleave::sync::{Arc, Mutex};
use interleave::thread;

use crate::expect::{clean, panics};

/// What the receiver does when the senders are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gone {
    GivesUp,
    LooksAgain,
}

struct Channel {
    queue: Mutex<VecDeque<u32>>,
    senders: AtomicUsize,
}

impl Channel {
    fn pop(&self) -> Option<u32> {
        self.queue.lock().unwrap().pop_front()
    }

    /// The next message, or `None` if there will not be one.
    fn receive(&self, gone: Gone) -> Option<u32> {
        loop {
            if let Some(message) = self.pop() {
                return Some(message);
            }
            if self.senders.load(Ordering::Acquire) == 0 {
                return match gone {
                    Gone::GivesUp => None,
                    Gone::LooksAgain => self.pop(),
                };
            }
            thread::park();
        }
    }
}

fn the_last_message(gone: Gone) -> impl Fn() + Send + Sync + 'static {
    move || {
        let channel = Arc::new(Channel { queue: Mutex::default(), senders: AtomicUsize::new(1) });
        let receiver = thread::current();
        let sender = thread::spawn({
            let channel = channel.clone();
            move || {
                channel.queue.lock().unwrap().push_back(7);
                channel.senders.store(0, Ordering::Release);
                receiver.unpark();
            }
        });
        assert_eq!(channel.receive(gone), Some(7), "the message was accepted");
        sender.join().unwrap();
    }
}

#[test]
fn a_message_between_the_two_looks_is_lost() {
    panics("the message was accepted", 1, the_last_message(Gone::GivesUp));
}

#[test]
fn the_receiver_looks_again() {
    clean(6, the_last_message(Gone::LooksAgain));
}
