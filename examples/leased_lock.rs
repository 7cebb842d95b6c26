//! A lock with a lease: it is given up by itself after ten seconds, in case its holder is gone. A holder that is only slow
//! does not know, and goes on.
//!
//! Two programs that rely on it, each in the way that fails and in one that does not:
//!
//! * a store that takes what the holder writes: it must not take an older holder's after a newer one's (fencing tokens);
//! * a release that looks whose lock it is before it deletes it, in two steps: the lock may be another's by then.
//!
//! Run it with `cargo run --release --example leased_lock`.

use interleave::sync::{Arc, Mutex};
use interleave::time::{Duration, Instant};
use interleave::{Builder, Report, Verdict, ghost, thread};

const LEASE: Duration = Duration::from_secs(10);

/// Who holds the lock, under which token, and how long.
#[derive(Clone, Copy, Debug)]
struct Lease {
    holder: u32,
    token: u32,
    ends: Instant,
}

/// A server of leases.
#[derive(Default)]
struct Locks {
    lease: Mutex<Option<Lease>>,
    next_token: Mutex<u32>,
}

impl Locks {
    /// Gives the lock to `client` if it is free, or its lease is over.
    fn acquire(&self, client: u32) -> Option<Lease> {
        let mut lease = self.lease.lock().unwrap();
        let now = Instant::now();
        if lease.is_some_and(|lease| now < lease.ends) {
            return None;
        }
        let mut next = self.next_token.lock().unwrap();
        *next += 1;
        *lease = Some(Lease { holder: client, token: *next, ends: now + LEASE });
        *lease
    }

    fn holder(&self) -> Option<u32> {
        self.lease.lock().unwrap().map(|lease| lease.holder)
    }

    fn delete(&self) {
        *self.lease.lock().unwrap() = None;
    }

    /// Gives up the lock if it is `client`'s.
    fn release(&self, client: u32) {
        let mut lease = self.lease.lock().unwrap();
        if lease.is_some_and(|lease| lease.holder == client) {
            *lease = None;
        }
    }
}

/// Two clients write under a lease. The store must never take an older token after a newer one.
fn store(fencing: bool) {
    let locks = Arc::new(Locks::default());
    let log = Arc::new(Mutex::new(Vec::new()));
    let taken = ghost::State::new(Vec::new()).invariant("tokens never go down", |taken: &Vec<u32>| taken.is_sorted());
    let client = |number| {
        let (locks, log, taken) = (locks.clone(), log.clone(), taken.clone());
        move || {
            let Some(lease) = locks.acquire(number) else { return };
            if Instant::now() < lease.ends {
                // The client may be slow here.
                let mut log = log.lock().unwrap();
                if !fencing || log.last().is_none_or(|last| *last <= lease.token) {
                    log.push(lease.token);
                    taken.update(|taken| taken.push(lease.token));
                }
            }
            locks.release(number);
        }
    };
    let other = thread::spawn(client(1));
    client(2)();
    other.join().unwrap();
}

/// Three clients hold the lock for a while and give it up. Two must never hold it under leases that are not over.
fn release(in_one_step: bool) {
    let locks = Arc::new(Locks::default());
    let holders = ghost::State::new(Vec::new()).invariant("one holder at a time", |holders: &Vec<Lease>| {
        let mut holders = holders.clone();
        holders.sort_by_key(|lease| lease.token);
        // When one got it, the lease of the one before was over.
        holders.windows(2).all(|pair| pair[0].ends <= pair[1].ends - LEASE)
    });
    let client = |number| {
        let (locks, holders) = (locks.clone(), holders.clone());
        move || {
            let Some(lease) = locks.acquire(number) else { return };
            holders.update(|holders| holders.push(lease));
            holders.update(|holders| holders.retain(|held| held.token != lease.token));
            if in_one_step {
                locks.release(number);
            } else if locks.holder() == Some(number) {
                locks.delete();
            }
        }
    };
    let others = [thread::spawn(client(1)), thread::spawn(client(2))];
    client(3)();
    others.into_iter().for_each(|other| other.join().unwrap());
}

fn explore(name: &str, bound: Option<u32>, model: impl Fn() + Send + Sync) -> Report {
    let builder = Builder::new().name(name);
    let report = match bound {
        Some(bound) => builder.preemption_bound(bound).explore(model),
        None => builder.explore(model),
    };
    println!("{name}: {report}");
    report
}

fn main() {
    let unfenced = explore("a store without fencing", None, || store(false));
    let failure = unfenced.failure.expect("an older holder writes last");
    assert!(failure.message.contains("tokens never go down"), "{}", failure.message);
    println!("\n{}", failure.report);
    assert_eq!(explore("a store with fencing", None, || store(true)).verdict, Verdict::Complete);

    let two_steps = explore("release in two steps", Some(2), || release(false));
    let failure = two_steps.failure.expect("it deletes another's lock");
    assert!(failure.message.contains("one holder at a time"), "{}", failure.message);
    println!("\n{}", failure.report);
    let one_step = explore("release in one step", Some(2), || release(true));
    assert!(one_step.failure.is_none(), "it deletes its own lock only");
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_finds_both() {
        super::main();
    }
}
