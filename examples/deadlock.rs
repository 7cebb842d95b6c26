//! Two accounts, two locks: transfers in opposite directions take them in opposite order.
//!
//! `cargo run --release --example deadlock` finds the deadlock, prints who waits for whom, and shows that one order for all
//! is right.

use std::process::ExitCode;

use interleave::sync::{Arc, Mutex, MutexGuard};
use interleave::{Builder, Verdict, thread};

/// The order in which a transfer locks the accounts.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// First the one that pays.
    PayerFirst,
    /// First the one with the lower number.
    LowerFirst,
}

struct Bank {
    accounts: [Mutex<i64>; 2],
}

impl Bank {
    fn transfer(&self, from: usize, to: usize, amount: i64, order: Order) {
        let (mut payer, mut payee) = self.lock(from, to, order);
        *payer -= amount;
        *payee += amount;
    }

    fn lock(&self, from: usize, to: usize, order: Order) -> (MutexGuard<'_, i64>, MutexGuard<'_, i64>) {
        let lock = |account: usize| self.accounts[account].lock().expect("nobody panics");
        match order {
            Order::LowerFirst if to < from => {
                let payee = lock(to);
                (lock(from), payee)
            }
            _ => {
                let payer = lock(from);
                (payer, lock(to))
            }
        }
    }
}

fn two_transfers(order: Order) {
    let bank = Arc::new(Bank { accounts: [Mutex::new(10), Mutex::new(10)] });
    let other = bank.clone();
    let there =
        thread::Builder::new().name("there".into()).spawn(move || other.transfer(0, 1, 3, order)).expect("spawn");
    bank.transfer(1, 0, 5, order);
    there.join().expect("no thread panics");
    let balances = [0, 1].map(|account| *bank.accounts[account].lock().expect("nobody panics"));
    assert_eq!(balances, [12, 8]);
}

fn main() -> ExitCode {
    let bug = Builder::new().explore(|| two_transfers(Order::PayerFirst));
    println!("{}\n", bug.failure.as_ref().map_or("no failure", |failure| &failure.report));
    let fixed = Builder::new().explore(|| two_transfers(Order::LowerFirst));
    println!("with one order for all: {fixed}");
    let as_expected = bug.failure.is_some() && fixed.verdict == Verdict::Complete;
    println!(
        "{}",
        if as_expected { "as expected: the bug was found, and the fix is clean" } else { "NOT as expected" }
    );
    if as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
