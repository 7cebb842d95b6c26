//! The bound on stale accesses.

use interleave::cell::UnsafeCell;
use interleave::sync::Arc;
use interleave::sync::atomic::AtomicU32;
use interleave::sync::atomic::Ordering::{self, Relaxed, SeqCst};
use interleave::{Builder, Kind, Memory, Report, Verdict, thread};

fn atomics<const N: usize>() -> Arc<[AtomicU32; N]> {
    Arc::new(std::array::from_fn(|_| AtomicU32::new(0)))
}

/// Each thread stores to its own atomic, and reads the other's.
fn store_buffering(order: Ordering) -> impl Fn() + Send + Sync {
    move || {
        let vars = atomics::<2>();
        let other = Arc::clone(&vars);
        let t = thread::spawn(move || {
            other[0].store(1, order);
            other[1].load(order)
        });
        vars[1].store(1, order);
        vars[0].load(order);
        t.join().unwrap();
    }
}

/// Two values are published without synchronisation.
fn message_passing() {
    let vars = atomics::<3>();
    let other = Arc::clone(&vars);
    let t = thread::spawn(move || other.iter().for_each(|var| var.store(1, Relaxed)));
    if vars[2].load(Relaxed) == 1 {
        vars[0].load(Relaxed);
        vars[1].load(Relaxed);
    }
    t.join().unwrap();
}

fn executions(builder: Builder, program: impl Fn() + Send + Sync) -> (Verdict, u64) {
    let report = builder.explore(program);
    (report.verdict, report.executions)
}

/// Before the flag is set: 1. After: each value is stale or not.
#[test]
fn as_many_as_allowed() {
    let found = [0, 1, 2, 9].map(|stale| executions(Builder::new().stale_reads(stale), message_passing));
    assert_eq!(found, [(Verdict::Bounded, 2), (Verdict::Bounded, 4), (Verdict::Complete, 5), (Verdict::Complete, 5)]);
    assert_eq!(executions(Builder::new(), message_passing), (Verdict::Complete, 5));
}

/// The main thread first: nothing. The other first, or both stores first: a preemption. Both read 0: a stale read.
#[test]
fn one_order_meets_both_bounds() {
    let bounds = |preemptions, stale| Builder::new().preemption_bound(preemptions).stale_reads(stale);
    let found = |preemptions, stale| executions(bounds(preemptions, stale), store_buffering(Relaxed));
    assert_eq!(found(0, 0), (Verdict::Bounded, 1));
    assert_eq!(found(0, 1), (Verdict::Bounded, 2));
    assert_eq!(found(1, 0), (Verdict::Bounded, 3));
    assert_eq!(found(1, 1), (Verdict::Complete, 4));
}

#[test]
fn one_is_what_a_bound_on_preemptions_brings() {
    let report = Builder::new().preemption_bound(3).explore(message_passing);
    let line = report.to_string();
    let expected = "bounded: 4 executions, RC11, at most 3 preemptions, at most 1 stale read, spurious <= 1, \
                    there are executions with more preemptions or stale reads, ";
    assert!(line.starts_with(expected), "{line}");
}

/// Where nothing can be stale, the bound says nothing, and is not mentioned.
#[test]
fn sequential_consistency_has_none() {
    let told = |report: Report| (report.verdict, report.executions, report.stale_bound);
    for builder in [Builder::new().stale_reads(0), Builder::new().preemption_bound(2)] {
        assert_eq!(told(builder.clone().explore(store_buffering(SeqCst))), (Verdict::Complete, 3, None));
        assert_eq!(told(builder.memory(Memory::Sc).explore(store_buffering(Relaxed))), (Verdict::Complete, 3, None));
    }
}

/// Without stale reads, orderings still say what synchronises.
#[test]
fn interleavings_race_as_their_orderings_say() {
    struct Shared(AtomicU32, UnsafeCell<u32>);
    // SAFETY: that the cell is not shared well is what the test is about.
    unsafe impl Sync for Shared {}
    let program = || {
        let shared = Arc::new(Shared(AtomicU32::new(0), UnsafeCell::new(0)));
        let other = Arc::clone(&shared);
        let t = thread::spawn(move || {
            // SAFETY: threads of a model take turns, and the model ends at the race.
            other.1.with_mut(|value| unsafe { *value = 1 });
            other.0.store(1, Relaxed);
        });
        if shared.0.load(Relaxed) == 1 {
            // SAFETY: as above.
            shared.1.with(|value| unsafe { *value });
        }
        t.join().unwrap();
    };
    let report = Builder::new().stale_reads(0).explore(program);
    assert_eq!(report.verdict, Verdict::Failed(Kind::DataRace), "{report}");
    assert_eq!(report.failure.unwrap().preemptions, Some(1));
    let strong = Builder::new().memory(Memory::Sc).explore(program);
    assert_eq!((strong.verdict, strong.executions), (Verdict::Complete, 2));
}

/// Shares of the work and checkpoints keep what belongs to the one bound and the other apart.
#[test]
fn workers_find_the_same() {
    let found = [1, 2, 3].map(|workers| {
        let builder = Builder::new().preemption_bound(2).stale_reads(1).workers(workers);
        executions(builder, message_passing)
    });
    assert_eq!(found, [(Verdict::Bounded, 4); 3]);
}
