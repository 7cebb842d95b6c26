//! Fixture for the reports: two locks in two orders.

#[test]
fn transfer() {
    interleave::model(|| {
        let from = Arc::new(Mutex::new(10));
        let to = Arc::new(Mutex::new(0));
        let back = thread::spawn({
            let (from, to) = (from.clone(), to.clone());
            move || {
                let mut to = to.lock().unwrap();
                let mut from = from.lock().unwrap();
                (*from, *to) = (*from + 1, *to - 1);
            }
        });
        let mut source = from.lock().unwrap();
        let mut target = to
            .lock()
            .unwrap();
        (*source, *target) = (*source - 1, *target + 1);
        drop((source, target));
        back.join().unwrap();
    });
}

fn dine(left: &Mutex<()>, right: &Mutex<()>) {
    let _left = left.lock().unwrap();
    let _right = right.lock().unwrap();
}

fn again(m: &Mutex<u32>) {
    let first = m.lock().unwrap();
    let second = m.lock().unwrap();
}
