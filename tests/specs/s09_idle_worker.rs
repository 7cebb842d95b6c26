//! A pool of up to two workers. Two tasks are spawned while one worker is idle, and one task waits for the other: whoever
//! takes the idle worker for granted twice starts no second one.

use std::collections::VecDeque;

use interleave::sync::{Arc, Condvar, Mutex};
use interleave::thread::{self, JoinHandle};

use crate::expect::{clean, deadlocks};

/// Who takes the worker out of the number of idle ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    /// The worker, some time after it was notified.
    Worker,
    /// Whoever notifies it, in the same step.
    Spawner,
}

type Task = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    queue: VecDeque<Task>,
    idle: usize,
    notified: usize,
    closed: bool,
    workers: Vec<JoinHandle<()>>,
}

struct Pool {
    counts: Counts,
    state: Mutex<State>,
    work: Condvar,
    /// Somebody has become idle.
    idles: Condvar,
}

impl Pool {
    fn start(counts: Counts) -> Arc<Self> {
        let pool = Pool { counts, state: Mutex::default(), work: Condvar::new(), idles: Condvar::new() };
        let pool = Arc::new(pool);
        Pool::start_worker(&pool, &mut pool.state.lock().unwrap());
        pool
    }

    fn start_worker(this: &Arc<Self>, state: &mut State) {
        let pool = this.clone();
        state.workers.push(thread::spawn(move || pool.work()));
    }

    fn work(&self) {
        loop {
            while let Some(task) = self.next() {
                task();
            }
            let mut state = self.state.lock().unwrap();
            state.idle += 1;
            self.idles.notify_one();
            while state.notified == 0 && !state.closed {
                state = self.work.wait(state).unwrap();
            }
            if state.notified == 0 {
                return;
            }
            state.notified -= 1;
            drop(state);
            if self.counts == Counts::Worker {
                self.state.lock().unwrap().idle -= 1;
            }
        }
    }

    fn next(&self) -> Option<Task> {
        self.state.lock().unwrap().queue.pop_front()
    }

    fn spawn(this: &Arc<Self>, task: impl FnOnce() + Send + 'static) {
        let mut state = this.state.lock().unwrap();
        state.queue.push_back(Box::new(task));
        if state.idle == 0 {
            if state.workers.len() < 2 {
                Pool::start_worker(this, &mut state);
            }
        } else {
            state.notified += 1;
            if this.counts == Counts::Spawner {
                state.idle -= 1;
            }
            this.work.notify_one();
        }
    }

    fn wait_until_idle(&self) {
        let mut state = self.state.lock().unwrap();
        while state.idle == 0 {
            state = self.idles.wait(state).unwrap();
        }
    }

    fn close(&self) {
        let mut state = self.state.lock().unwrap();
        state.closed = true;
        self.work.notify_all();
        let workers = std::mem::take(&mut state.workers);
        drop(state);
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    }
}

/// What one task waits for and another gives.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn wait(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_one();
    }
}

fn two_tasks(counts: Counts) -> impl Fn() + Send + Sync + 'static {
    move || {
        let pool = Pool::start(counts);
        pool.wait_until_idle();
        let (fed, done) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
        Pool::spawn(&pool, {
            let (fed, done) = (fed.clone(), done.clone());
            move || {
                fed.wait();
                done.open();
            }
        });
        Pool::spawn(&pool, move || fed.open());
        done.wait();
        pool.close();
    }
}

/// The program as it was.
pub(crate) fn buggy() -> Box<dyn Fn() + Send + Sync> {
    Box::new(two_tasks(Counts::Worker))
}

#[test]
fn the_worker_is_taken_for_granted_twice() {
    deadlocks(0, two_tasks(Counts::Worker));
}

#[test]
fn the_spawner_counts() {
    clean(42_384, two_tasks(Counts::Spawner));
}
