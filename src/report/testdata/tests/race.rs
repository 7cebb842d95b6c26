//! Fixture for the reports: a flag published without release.

fn publish(slot: &UnsafeCell<u64>, ready: &AtomicBool) {
    slot.with_mut(|p| unsafe { *p = 42 });
    ready.store(true, Relaxed);
}

fn consume(slot: &UnsafeCell<u64>, ready: &AtomicBool) -> Option<u64> {
    if ready.load(Acquire) {
        return Some(slot.with(|p| unsafe { *p }));
    }
    None
}

fn spin(ready: &AtomicBool) {
    while !ready.load(Acquire) {
        hint::spin_loop();
    }
}

fn wide() {
    let 日本 = AtomicUsize::new(0); 日本.fetch_add(1, SeqCst); assert!(日本.load(SeqCst) > 1, "{}", "名前が長いメッセージ");
}
