//! Programs that broke an earlier or simpler algorithm, and programs whose number of executions is known in closed form.
//!
//! Every number is demanded of the explorer and, where brute force can compute it in time, of brute force too.

mod engine;
mod toy;

use dpor::{BUDGETS, Budget, Config, Memory, Ordering};
use engine::Explored;
use toy::enumerate::{self, Axioms};
use toy::execution::{At, Execution, Facts, Kind, Source};
use toy::graph::Plain;
use toy::interleavings;
use toy::language::parse;
use toy::objects::ObjectOp;
use toy::program::{Expr, Instr, Place, Program, REGISTERS, UpdateKind, Var};

const BOTH: [Memory; 2] = [Memory::Sc, Memory::Rc11];

fn axioms(memory: Memory) -> Axioms {
    if memory == Memory::Sc { Axioms::Sc } else { Axioms::Rc11 }
}

fn explore(program: &Program, memory: Memory) -> Explored {
    let explored = engine::explore(program, engine::config(memory));
    assert_eq!(explored.twice, [], "each class once\n{program}");
    assert_eq!(explored.executions, explored.classes.len() as u64);
    explored
}

fn of_kind(classes: &std::collections::HashMap<Execution, Facts>, kind: Kind) -> u64 {
    classes.keys().filter(|e| e.kind == kind).count() as u64
}

/// Demands a number of complete executions and deadlocks of the explorer, under several thread orders.
fn demand(program: &Program, memory: Memory, complete: u64, deadlocks: u64) {
    for seed in 0..4 {
        let config = if seed == 0 { engine::config(memory) } else { engine::shuffled(memory, seed) };
        let explored = engine::explore(program, config);
        let found = (of_kind(&explored.classes, Kind::Complete), of_kind(&explored.classes, Kind::Deadlock));
        assert_eq!(found, (complete, deadlocks), "{memory:?}, order {seed}\n{program}");
        assert_eq!(explored.executions, complete + deadlocks, "each class once, order {seed}\n{program}");
    }
}

/// As [`demand`], of brute force too.
fn confirm(program: &Program, memory: Memory, complete: u64, deadlocks: u64) {
    let classes = enumerate::all(program, Plain::Accesses, axioms(memory), 200_000).expect("small enough");
    let found = (of_kind(&classes, Kind::Complete), of_kind(&classes, Kind::Deadlock));
    assert_eq!(found, (complete, deadlocks), "brute force, {memory:?}\n{program}");
    demand(program, memory, complete, deadlocks);
}

fn in_parallel(threads: usize, body: impl Fn(usize) -> String) -> Program {
    parse(&(0..threads).map(body).collect::<Vec<_>>().join(" || "))
}

/// An operation on a variable whose result nobody needs.
fn object(on: usize, op: ObjectOp) -> Instr {
    argument(on, op, 0)
}

fn argument(on: usize, op: ObjectOp, argument: u64) -> Instr {
    Instr::Object { on: Place::var(on), op, argument, to: REGISTERS - 1 }
}

fn program(vars: &[i64], threads: Vec<Vec<Instr>>) -> Program {
    let var = |(i, &init): (usize, &i64)| Var { name: format!("v{i}"), init };
    Program { vars: vars.iter().enumerate().map(var).collect(), threads, finals: Vec::new() }
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

// Named counterexamples.

/// With both parts of a read-modify-write in one event, two of the executions are lost.
#[test]
fn merged_parts_of_a_read_modify_write() {
    let program =
        parse("W(a,1,rlx) || r0=CAS(a,1,1,rlx,rlx) || r0=FAA(a,1,rlx); W(a,2,rlx) || r0=R(a,rlx); r1=FAA(a,1,rlx)");
    for memory in BOTH {
        confirm(&program, memory, 162, 0);
    }
}

/// If storing to a semaphore were blind, an execution would be lost. As an operation that reads what it overwrites it is
/// ordered with the others: the waiter may come before or after the second store, but after the first.
#[test]
fn stores_to_a_guarded_object_read_it() {
    let set = |value| vec![argument(0, ObjectOp::Set, value)];
    let program = program(&[0], vec![set(1), vec![object(0, ObjectOp::Acquire)], set(0)]);
    for memory in BOTH {
        // 1 wait 0, 0 1 wait; blocked for ever: 1 0.
        confirm(&program, memory, 2, 1);
    }
}

/// A wait whose guard may become false again is a write, or two resets would be ordered against it in too few ways.
#[test]
fn waiting_for_zero_writes() {
    let reset = || vec![argument(0, ObjectOp::Set, 0)];
    let program = program(&[1], vec![vec![object(0, ObjectOp::WaitForZero)], reset(), reset()]);
    for memory in BOTH {
        // Two orders of the resets, and the wait after the first or after the second.
        confirm(&program, memory, 4, 0);
    }
}

/// Without marks on what was displaced, two lockers would displace each other for ever.
#[test]
fn two_lockers() {
    let program = in_parallel(2, |_| "L(m); U(m)".to_string());
    for memory in BOTH {
        confirm(&program, memory, 2, 0);
    }
}

#[test]
fn opposite_lock_orders_deadlock_in_one_way() {
    let program = parse("L(a); L(b); U(b); U(a) || L(b); L(a); U(a); U(b)");
    for memory in BOTH {
        confirm(&program, memory, 2, 1);
    }
}

/// A waiter that cannot be woken stays in the graph's past: nothing it did may be lost with it.
#[test]
fn lost_wake_up() {
    let waiter = vec![object(0, ObjectOp::Enqueue), object(0, ObjectOp::Wake)];
    let program = program(&[0], vec![waiter, vec![object(0, ObjectOp::NotifyOne)]]);
    for memory in BOTH {
        confirm(&program, memory, 1, 1);
    }
}

/// `notify_one` wakes any waiter: both orders of the waiters, times which of them wakes; the other waits for ever. If it
/// comes between them or first, there is no choice.
#[test]
fn notification_of_any_waiter() {
    let waiter = || vec![object(0, ObjectOp::Enqueue), object(0, ObjectOp::Wake)];
    let program = program(&[0], vec![waiter(), waiter(), vec![object(0, ObjectOp::NotifyOne)]]);
    for memory in BOTH {
        // Both enqueued: 2 x 2. Between: 2, and the woken one may dequeue before or after the other enqueues: 4.
        // First: 2. All of these leave somebody waiting.
        confirm(&program, memory, 0, 10);
    }
}

/// A timed wait always ends.
#[test]
fn timed_wait() {
    let waiter = vec![object(0, ObjectOp::Enqueue), object(0, ObjectOp::TimedWake)];
    let program = program(&[0], vec![waiter, vec![object(0, ObjectOp::NotifyOne)]]);
    for memory in BOTH {
        // Notified first, or after the timeout: nobody there. In between: woken, or timed out all the same.
        confirm(&program, memory, 4, 0);
    }
}

/// One outcome for each alternative, whatever is asked later.
#[test]
fn data_choices_multiply() {
    let choose = |alternatives, to| Instr::Choose { alternatives, to };
    let program = program(&[], vec![vec![choose(2, 0), choose(3, 1)], vec![choose(4, 0)]]);
    for memory in BOTH {
        confirm(&program, memory, 24, 0);
    }
}

fn weak_attempts(n: usize) -> Program {
    let attempt = Instr::Update {
        at: Place::var(0),
        kind: UpdateKind::CompareExchange,
        operands: [Expr::Const(0), Expr::Const(1)],
        order: Ordering::AcqRel,
        failure: Ordering::Acquire,
        weak: true,
        to: 0,
    };
    program(&[0], vec![vec![attempt; n]])
}

/// `n` attempts of one thread, of which at most so many fail spuriously before the first that works; all later ones fail
/// for good.
#[test]
fn spurious_failures_draw_on_a_budget() {
    confirm(&weak_attempts(3), Memory::Sc, 2, 0);
    for (budget, executions) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 4)] {
        let mut config: Config = engine::config(Memory::Rc11);
        assert_eq!(config.budgets.len(), BUDGETS);
        config.budgets[Budget::Spurious as usize] = budget;
        let explored = engine::explore(&weak_attempts(3), config);
        assert_eq!((explored.complete(), explored.executions), (executions, executions), "budget {budget}");
    }
}

/// A wait in a loop that nobody ends is a livelock, found once; the reads that were too early are dropped.
#[test]
fn waiting_for_a_store_that_never_comes() {
    let program = parse("W(x,2,rlx) || AWAIT(r0=R(x,rlx),r0==1)");
    for memory in BOTH {
        let explored = explore(&program, memory);
        assert_eq!(of_kind(&explored.classes, Kind::Livelock), 1);
        assert_eq!(explored.classes.len(), 1);
    }
}

// Message passing: the objects behind a channel decide how many executions there are.

/// One producer and one consumer conflict only through the slots: nothing to explore.
fn ticket_channel(producers: usize, messages: usize) -> Program {
    let total = producers * messages;
    let mut vars = vec![0; total + 1];
    vars[0] = 0;
    let take_ticket = Instr::Object { on: Place::var(0), op: ObjectOp::Arrive, argument: 0, to: 0 };
    let fill = Instr::Object {
        on: Place { base: 1, index: Some(Expr::Reg(0)) },
        op: ObjectOp::Arrive,
        argument: 0,
        to: REGISTERS - 1,
    };
    let send = [take_ticket, fill];
    let producer: Vec<Instr> = (0..messages).flat_map(|_| send.clone()).collect();
    let consumer = (1..=total).map(|slot| argument(slot, ObjectOp::WaitFor, 1)).collect();
    let mut threads = vec![producer; producers];
    threads.push(consumer);
    program(&vars, threads)
}

fn queue_channel(producers: usize, messages: usize) -> Program {
    let producer = vec![argument(0, ObjectOp::Send, 1); messages];
    let consumer = vec![object(0, ObjectOp::Receive); producers * messages];
    let mut threads = vec![producer; producers];
    threads.push(consumer);
    program(&[0], threads)
}

#[test]
fn channel_of_tickets_and_slots() {
    for memory in BOTH {
        confirm(&ticket_channel(1, 4), memory, 1, 0);
        confirm(&ticket_channel(2, 2), memory, 6, 0);
    }
}

/// The Catalan number C(4) of ways to never receive from an empty queue, times the orders of the senders.
#[test]
fn channel_of_one_queue() {
    for memory in BOTH {
        confirm(&queue_channel(1, 4), memory, 14, 0);
        confirm(&queue_channel(2, 2), memory, 84, 0);
    }
}

// Closed forms.

/// One writer, N readers of one variable: each reads old or new.
#[test]
fn readers() {
    for n in 1..=10 {
        let program = in_parallel(n + 1, |t| if t == 0 { "W(x,1,rlx)".into() } else { "r0=R(x,rlx)".into() });
        for memory in BOTH {
            if n <= 6 { confirm(&program, memory, 1 << n, 0) } else { demand(&program, memory, 1 << n, 0) }
        }
    }
}

/// Thread i copies element i-1 plus one to element i, while thread 0 looks for the last zero from the end.
fn last_zero(n: usize) -> Program {
    let search: Vec<String> = (0..=n).rev().map(|i| format!("r0=R(a[{i}],sc); if(r0==0){{exit}}")).collect();
    let copy = |i: usize| format!("r0=R(a[{}],sc); W(a[{i}],r0+1,sc)", i - 1);
    let mut threads = vec![search.join("; ")];
    threads.extend((1..=n).map(copy));
    parse(&format!("{{a[{}]}} {}", n + 1, threads.join(" || ")))
}

#[test]
fn last_zero_of_an_array() {
    for n in 2..=8u32 {
        let expected = u64::from(n + 3) << (n - 2);
        for memory in BOTH {
            let program = last_zero(n as usize);
            if n <= 4 { confirm(&program, memory, expected, 0) } else { demand(&program, memory, expected, 0) }
        }
    }
}

/// The main thread moves an index on and starts thread i after that; thread i marks the element at the index it sees. The
/// start is a flag here, as all threads of a toy program exist from the beginning.
fn sigma(n: usize) -> Program {
    let (index, array, start) = (0, 1, n + 1);
    let mut vars = vec![0; 2 * n + 1];
    vars[index] = -1;
    let constant = |value: usize| Expr::Const(value as i64);
    let store = |value| Instr::Store { at: Place::var(index), value, order: Ordering::Relaxed };
    let launch = |i: usize| [store(constant(i)), object(start + i, ObjectOp::Arrive)];
    let worker = |i: usize| {
        vec![
            argument(start + i, ObjectOp::WaitFor, 1),
            Instr::Load { at: Place::var(index), order: Ordering::Relaxed, to: 0 },
            Instr::Store {
                at: Place { base: array, index: Some(Expr::Reg(0)) },
                value: constant(1),
                order: Ordering::Relaxed,
            },
        ]
    };
    let mut threads = vec![(0..n).flat_map(launch).collect()];
    threads.extend((0..n).map(worker));
    program(&vars, threads)
}

/// The last thread has one element to mark, the one before it two or one that is taken, before or after, and so on.
#[test]
fn sigma_is_a_double_factorial() {
    for n in 1..=5u64 {
        let expected = (1..=n).map(|i| 2 * i - 1).product();
        for memory in BOTH {
            let program = sigma(n as usize);
            if n <= 3 { confirm(&program, memory, expected, 0) } else { demand(&program, memory, expected, 0) }
        }
    }
}

/// N critical sections of a sender and N of a receiver.
#[test]
fn circular_buffer() {
    let section = |from: u8, to: u8| format!("L(m); r0=RN(s); if(r0=={from}){{WN(s,{to})}}; U(m)");
    for (n, expected) in [(1, 2), (2, 6), (3, 20), (4, 70), (5, 252)] {
        let program = in_parallel(2, |t| vec![section(t as u8, 1 - t as u8); n].join("; "));
        for memory in BOTH {
            if n <= 3 { confirm(&program, memory, expected, 0) } else { demand(&program, memory, expected, 0) }
        }
    }
}

#[test]
fn increments() {
    for n in 1..=7 {
        let program = in_parallel(n as usize, |_| "r0=FAA(x,1,rlx)".to_string());
        for memory in BOTH {
            let expected = factorial(n);
            if n <= 5 { confirm(&program, memory, expected, 0) } else { demand(&program, memory, expected, 0) }
        }
    }
}

#[test]
fn two_threads_of_four_increments() {
    let program = in_parallel(2, |_| ["r0=FAA(x,1,rlx)"; 4].join("; "));
    for memory in BOTH {
        confirm(&program, memory, 70, 0);
    }
}

/// N threads with K critical sections each, in all orders.
#[test]
fn critical_sections() {
    for (n, k) in [(2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (3, 2), (4, 1), (5, 1)] {
        let program = in_parallel(n as usize, |_| vec!["L(m); U(m)"; k as usize].join("; "));
        let expected = factorial(n * k) / factorial(k).pow(n as u32);
        for memory in BOTH {
            if n * k <= 6 { confirm(&program, memory, expected, 0) } else { demand(&program, memory, expected, 0) }
        }
    }
}

/// Two threads that have nothing to do with each other: C(20, 10) interleavings, one execution. Starting, joining and ending
/// threads has no alternatives.
#[test]
fn independent_threads() {
    let program = in_parallel(2, |t| vec![format!("W(x{t},1,rlx)"); 10].join("; "));
    for memory in BOTH {
        demand(&program, memory, 1, 0);
    }
    assert_eq!(interleavings::count(&program), 184_756);
    let explored = engine::explore(&program, engine::interleavings(Memory::Sc));
    assert_eq!((explored.executions, explored.classes.len()), (184_756, 1));
}

// Litmus tests.

#[test]
fn independent_reads_of_independent_writes() {
    let iriw = |w: &str, r: &str| {
        parse(&format!("W(x,1,{w}) || r0=R(x,{r}); r1=R(y,{r}) || r0=R(y,{r}); r1=R(x,{r}) || W(y,1,{w})"))
    };
    confirm(&iriw("rlx", "rlx"), Memory::Rc11, 16, 0);
    confirm(&iriw("rel", "acq"), Memory::Rc11, 16, 0);
    confirm(&iriw("sc", "sc"), Memory::Rc11, 15, 0);
    confirm(&iriw("rlx", "rlx"), Memory::Sc, 15, 0);
}

/// Whether some execution ends with both threads having read 0.
fn both_read_zero(explored: &Explored) -> bool {
    explored.classes.keys().any(|e| e.threads.iter().all(|(entries, _)| entries.last().is_some_and(|e| e.result == 0)))
}

#[test]
fn store_buffering() {
    let sb = |order: &str| parse(&format!("W(x,1,{order}); r0=R(y,{order}) || W(y,1,{order}); r0=R(x,{order})"));
    assert!(both_read_zero(&explore(&sb("rlx"), Memory::Rc11)));
    assert!(!both_read_zero(&explore(&sb("sc"), Memory::Rc11)));
    assert!(!both_read_zero(&explore(&sb("rlx"), Memory::Sc)));
    confirm(&sb("rlx"), Memory::Rc11, 4, 0);
    confirm(&sb("sc"), Memory::Rc11, 3, 0);
}

/// Three threads that increment two variables without atomicity: 36 ways for each variable, in any combination.
#[test]
fn unsynchronised_increments_of_two_variables() {
    let program = in_parallel(3, |_| "r0=R(x,rlx); W(x,r0+1,rlx); r1=R(y,rlx); W(y,r1+1,rlx)".to_string());
    for memory in BOTH {
        confirm(&program, memory, 1_296, 0);
    }
}

// Preemptions.

/// Three threads that take one lock need no preemption, in whatever order they take it.
#[test]
fn waiting_for_a_lock_is_no_preemption() {
    let program = in_parallel(3, |_| "L(m); U(m)".to_string());
    for bound in 0..=2 {
        assert_eq!(engine::explore(&program, engine::bounded(bound)).executions, 6, "bound {bound}");
    }
}

/// Without atomicity 36 executions, of which only 6 need no preemption. Graphs on the way to one need more than it does.
#[test]
fn preemption_bounds_of_three_threads() {
    let program = parse("r0=R(x,rlx); W(x,1,rlx) || r0=R(x,rlx); W(x,2,rlx) || r0=R(x,rlx); W(x,3,rlx)");
    let counts: Vec<u64> = (0..=3).map(|k| engine::explore(&program, engine::bounded(k)).executions).collect();
    assert_eq!(counts, [6, 24, 36, 36]);
}

// Livelocks.

/// The only livelock is the one in which the waiting thread sees the newest store, even if an older one looks the same.
#[test]
fn waiting_reads_the_newest_store_in_a_livelock() {
    let program = parse("W(x,2,rlx); W(x,2,rlx) || AWAIT(r0=R(x,rlx),r0==1)");
    for memory in BOTH {
        let explored = explore(&program, memory);
        let read: Vec<_> = explored.classes.keys().map(|e| (e.kind, e.threads[1].0[0].source)).collect();
        assert_eq!(read, [(Kind::Livelock, Source::Write(At { thread: 0, index: 1 }))]);
    }
}

/// What a thread read before it began to wait need not be what it would read now.
#[test]
fn reads_before_a_waiting_loop_may_be_stale() {
    let program = parse("W(y,1,rlx) || r0=R(y,rlx); if(r0==0){AWAIT(r1=R(x,rlx),r1==1)}");
    for memory in BOTH {
        let explored = explore(&program, memory);
        assert_eq!(of_kind(&explored.classes, Kind::Livelock), 1, "{memory:?}");
        assert_eq!(of_kind(&explored.classes, Kind::Complete), 1, "{memory:?}");
    }
}

/// Interleavings look at a variable in vain any number of times, which makes no other execution.
#[test]
fn interleavings_of_a_waiting_loop() {
    let program = parse("W(x,1,rlx); W(x,2,rlx) || AWAIT(r0=R(x,rlx),r0==2)");
    for memory in BOTH {
        confirm(&program, memory, 1, 0);
        let explored = engine::explore(&program, engine::interleavings(memory));
        assert_eq!(explored.classes.len(), 1, "{memory:?}");
    }
}

/// While a thread holds a lock, another that wants it can be left for free: it may pay to leave the holder just before it
/// unlocks, although nothing orders the other thread's next operation before that.
#[test]
fn leaving_a_lock_holder_makes_others_block() {
    let program = parse("L(m); W(x,1,rlx); U(m); L(n); W(x,1,rlx); U(n) || r0=R(x,rlx); L(m); r0=R(x,rlx); U(m)");
    let classes = interleavings::all(&program, Plain::Accesses);
    for (bound, expected) in [(0, 2), (1, 5), (2, 6)] {
        let within = classes.values().filter(|f| f.preemptions <= Some(bound)).count() as u64;
        let found = engine::explore(&program, engine::bounded(bound)).executions;
        assert_eq!((within, found), (expected, expected), "bound {bound}");
    }
}

/// The same with a wait that times out: leaving it is free, so the other thread may stop anywhere.
#[test]
fn leaving_a_timed_wait_is_no_preemption() {
    let waiter = || vec![object(0, ObjectOp::Enqueue), object(0, ObjectOp::TimedWake)];
    let program = program(&[0], vec![waiter(), waiter()]);
    let classes = interleavings::all(&program, Plain::Accesses);
    for (bound, expected) in [(0, 6), (1, 6)] {
        let within = classes.values().filter(|f| f.preemptions <= Some(bound)).count() as u64;
        let found = engine::explore(&program, engine::bounded(bound)).executions;
        assert_eq!((within, found), (expected, expected), "bound {bound}");
    }
}
