//! Fixture for the reports: a wake-up that comes too early.

fn consumer(shared: &(Mutex<bool>, Condvar)) {
    let (ready, changed) = shared;
    if !*ready.lock().unwrap() {
        let guard = ready.lock().unwrap();
        let _guard = changed.wait(guard).unwrap();
    }
}

fn main() {
    let consumer = thread::Builder::new().spawn(consumer);
    *ready.lock().unwrap() = true;
    changed.notify_one();
    consumer.join().unwrap();
}
