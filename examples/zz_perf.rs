use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use interleave::sync::{Arc, Mutex};
use interleave::thread;
use std::time::Instant;
fn main() {
    let t = Instant::now();
    let r = interleave::Builder::new().explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let m = n.clone();
        let t = thread::spawn(move || { for _ in 0..10 { m.fetch_add(1, Relaxed); } });
        for _ in 0..10 { n.fetch_add(1, Relaxed); }
        t.join().unwrap();
    });
    let d = t.elapsed();
    println!("{r} {} ns/exec {} ns/op", d.as_nanos() as u64 / r.executions, d.as_nanos() as u64 / r.steps);
    let t = Instant::now();
    let mut n = 0;
    for _ in 0..10000 {
      let r = interleave::Builder::new().explore(|| {
        let n = Arc::new(Mutex::new(0));
        let hs: Vec<_> = (0..3).map(|_| { let n = n.clone(); thread::spawn(move || { *n.lock().unwrap() += 1; }) }).collect();
        for h in hs { h.join().unwrap(); }
        assert_eq!(*n.lock().unwrap(), 3);
      });
      n += r.executions;
      if n > 600 { break }
    }
    let d = t.elapsed();
    println!("{n} {} ns/exec (incl. model start)", d.as_nanos() as u64 / n);
    let t = Instant::now();
    let r = interleave::Builder::new().explore(|| {
        let n = Arc::new(Mutex::new(0));
        let hs: Vec<_> = (0..3).map(|_| { let n = n.clone(); thread::spawn(move || { for _ in 0..3 {*n.lock().unwrap() += 1; }}) }).collect();
        for h in hs { h.join().unwrap(); }
        assert_eq!(*n.lock().unwrap(), 9);
    });
    let d = t.elapsed();
    println!("{r} {} ns/exec {} ns/op", d.as_nanos() as u64 / r.executions, d.as_nanos() as u64 / r.steps);
}
