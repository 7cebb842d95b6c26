//! What an execution makes and does not give up: sockets whose closing is not to be measured.

use std::any::Any;
use std::cell::RefCell;

thread_local! {
    static KEPT: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps `value` beyond the end of the execution, when dropping it does nothing in a model any more. To forget it instead
/// would leak memory, and new memory is what would be measured.
pub fn keep<T: 'static>(value: T) {
    KEPT.with_borrow_mut(|kept| kept.push(Box::new(value)));
}

/// Drops what earlier executions have kept.
pub fn forget_kept() {
    let kept = KEPT.take();
    drop(kept);
}
