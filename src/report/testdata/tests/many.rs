//! Fixture for the reports: many threads, long names, several objects behind one expression.

fn work(left: &Mutex<u64>, right: &Mutex<u64>, log: &Shared) {
    let l = left.lock().unwrap();
    let r = right.lock().unwrap();
    log.shards[hash(&l) as usize % log.shards.len()].entries.fetch_add(1, AcqRel);
    COUNT.compare_exchange(0, 1, AcqRel, Acquire);
    seen.fetch_add(1, Relaxed);
    listener.accept().unwrap();
    UnixStream::connect(path).unwrap();
    panic!("{}", message);
}
