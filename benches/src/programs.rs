//! The programs.

use crate::Tool;

/// A program that each tool can run.
#[derive(Clone, Copy)]
pub struct Program {
    /// For the command line and the tables.
    pub name: &'static str,
    /// Visible operations of one execution, as they are written: spawn, join, lock, unlock, accesses to atomics.
    pub operations: u64,
    interleave: fn(),
    loom: fn(),
    shuttle: fn(),
}

impl Program {
    /// The body, on the types of `tool`.
    pub fn body(&self, tool: Tool) -> fn() {
        match tool {
            Tool::Interleave => self.interleave,
            Tool::Loom => self.loom,
            Tool::ShuttleDfs | Tool::ShuttleRandom => self.shuttle,
        }
    }

    /// The program of this name.
    pub fn named(name: &str) -> Option<Program> {
        PROGRAMS.into_iter().find(|program| program.name == name)
    }
}

macro_rules! program {
    ($name:literal, $operations:expr, $function:ident $(::<$n:literal>)?) => {
        Program {
            name: $name,
            operations: $operations,
            interleave: interleave::$function$(::<$n>)?,
            loom: loom::$function$(::<$n>)?,
            shuttle: shuttle::$function$(::<$n>)?,
        }
    };
}
const MUTEX_THREADS: u64 = 3;
const MUTEX_ROUNDS: u64 = 3;

/// All programs.
pub const PROGRAMS: [Program; 4] = [
    program!("message_passing", 6, message_passing),
    program!("mutex_counter_3x3", 2 + MUTEX_THREADS * (2 + 2 * MUTEX_ROUNDS), mutex_counter),
    program!("fetch_add_2x6", 2 + 2 * 6, fetch_add::<6>),
    program!("fetch_add_2x10", 2 + 2 * 10, fetch_add::<10>),
];

/// The programs on the types of one tool, in a module of the tool's name.
macro_rules! on_types_of {
    ($tool:ident) => {
        mod $tool {
            use ::$tool::sync::atomic::{AtomicUsize, Ordering::*};
            use ::$tool::sync::{Arc, Mutex};
            use ::$tool::thread;

            use super::{MUTEX_ROUNDS, MUTEX_THREADS};

            /// Two threads, two operations each: hardly more than the fixed price of an execution. So few executions
            /// that the fixed price of a model shows, too.
            pub(super) fn message_passing() {
                let data = Arc::new(AtomicUsize::new(0));
                let ready = Arc::new(AtomicUsize::new(0));
                let (data2, ready2) = (data.clone(), ready.clone());
                let writer = thread::spawn(move || {
                    data2.store(1, Relaxed);
                    ready2.store(1, Release);
                });
                let seen = ready.load(Acquire);
                let value = data.load(Relaxed);
                assert!(seen == 0 || value == 1);
                writer.join().unwrap();
            }

            /// Three threads that each increment a counter behind a lock three times.
            pub(super) fn mutex_counter() {
                let counter = Arc::new(Mutex::new(0));
                let threads: Vec<_> = (0..MUTEX_THREADS)
                    .map(|_| {
                        let counter = counter.clone();
                        thread::spawn(move || {
                            for _ in 0..MUTEX_ROUNDS {
                                *counter.lock().unwrap() += 1;
                            }
                        })
                    })
                    .collect();
                for thread in threads {
                    thread.join().unwrap();
                }
                assert_eq!(*counter.lock().unwrap(), MUTEX_THREADS * MUTEX_ROUNDS);
            }

            /// Two threads that each increment an atomic `N` times.
            pub(super) fn fetch_add<const N: usize>() {
                let counter = Arc::new(AtomicUsize::new(0));
                let other = counter.clone();
                let thread = thread::spawn(move || {
                    for _ in 0..N {
                        other.fetch_add(1, Relaxed);
                    }
                });
                for _ in 0..N {
                    counter.fetch_add(1, Relaxed);
                }
                thread.join().unwrap();
            }
        }
    };
}

on_types_of!(interleave);
on_types_of!(loom);
on_types_of!(shuttle);
