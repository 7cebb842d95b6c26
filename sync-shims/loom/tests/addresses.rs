//! Freed memory is not given out again in the same execution, so that pointers compare the same in every run.

use std::ptr;

use loom::sync::Arc;
use loom::sync::atomic::AtomicPtr;
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use loom::thread;

#[test]
fn a_freed_block_does_not_come_back() {
    loom::model(|| {
        let block = Box::new([0u64; 4]);
        let address = (&raw const *block).addr();
        drop(block);
        // An allocator gives out the block that was freed last, as a rule.
        assert_ne!((&raw const *Box::new([0u64; 4])).addr(), address);
        let mut grown = Vec::with_capacity(4);
        grown.extend([1u64, 2, 3, 4]);
        let address = grown.as_ptr().addr();
        grown.push(5);
        assert_ne!(grown.as_ptr().addr(), address);
        assert_eq!(grown, [1, 2, 3, 4, 5]);
    });
}

struct Node {
    next: *mut Node,
}

fn push(head: &AtomicPtr<Node>) {
    let node = Box::into_raw(Box::new(Node { next: ptr::null_mut() }));
    let mut seen = head.load(Relaxed);
    loop {
        // SAFETY: 1. Nobody else has the node yet.
        unsafe { (*node).next = seen };
        match head.compare_exchange_weak(seen, node, AcqRel, Acquire) {
            Ok(_) => return,
            Err(now) => seen = now,
        }
    }
}

fn take_all(head: &AtomicPtr<Node>) -> usize {
    let mut node = head.swap(ptr::null_mut(), AcqRel);
    let mut count = 0;
    while !node.is_null() {
        // SAFETY: 1. The list belongs to whoever has taken it.
        node = unsafe { Box::from_raw(node) }.next;
        count += 1;
    }
    count
}

#[test]
fn a_stack_that_compares_pointers_repeats_itself() {
    loom::model(|| {
        let head = Arc::new(AtomicPtr::new(ptr::null_mut()));
        let threads = [(); 2].map(|()| {
            let head = head.clone();
            thread::spawn(move || (0..2).for_each(|_| push(&head)))
        });
        let mut taken = take_all(&head) + take_all(&head);
        for thread in threads {
            thread.join().unwrap();
        }
        taken += take_all(&head);
        assert_eq!(taken, 4);
    });
}
