//! Memory models as formulas over plain relations: boolean matrices, no clocks.
//!
//! The formulas are those of Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing sequential consistency in C/C++11" (PLDI 2017),
//! with the release sequences of C++20: a release sequence goes on through read-modify-writes only.

use dpor::Ordering;

use super::enumerate::Axioms;
use super::execution::{At, Source};
use super::graph::Graph;
use super::machine::Visible;

/// A relation between at most 128 events: bit `j` of row `i` stands for the pair `(i, j)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Relation(Vec<u128>);

impl Relation {
    fn empty(n: usize) -> Relation {
        Relation(vec![0; n])
    }

    /// The pairs `(i, i)` for which the predicate holds.
    fn identity(n: usize, holds: impl Fn(usize) -> bool) -> Relation {
        Relation((0..n).map(|i| if holds(i) { 1 << i } else { 0 }).collect())
    }

    fn add(&mut self, i: usize, j: usize) {
        self.0[i] |= 1 << j;
    }

    fn has(&self, i: usize, j: usize) -> bool {
        self.0[i] & (1 << j) != 0
    }

    fn or(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// Composition: first `self`, then `other`.
    fn then(&self, other: &Relation) -> Relation {
        let row = |mut bits: u128| {
            let mut sum = 0;
            while bits != 0 {
                sum |= other.0[bits.trailing_zeros() as usize];
                bits &= bits - 1;
            }
            sum
        };
        Relation(self.0.iter().map(|&bits| row(bits)).collect())
    }

    /// The transitive closure.
    fn plus(mut self) -> Relation {
        for k in 0..self.0.len() {
            let through = self.0[k];
            for row in &mut self.0 {
                if *row & (1 << k) != 0 {
                    *row |= through;
                }
            }
        }
        self
    }

    /// With all pairs `(i, i)`.
    fn optional(&self) -> Relation {
        self.or(&Relation::identity(self.0.len(), |_| true))
    }

    fn inverse(&self) -> Relation {
        let mut inverse = Relation::empty(self.0.len());
        for (i, &row) in self.0.iter().enumerate() {
            for j in (0..self.0.len()).filter(|j| row & (1 << j) != 0) {
                inverse.add(j, i);
            }
        }
        inverse
    }

    /// The pairs for which the predicate holds.
    fn filter(&self, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let n = self.0.len();
        let keep = |i: usize| (0..n).filter(|&j| self.has(i, j) && holds(i, j)).fold(0, |row, j| row | 1 << j);
        Relation((0..n).map(keep).collect())
    }

    fn irreflexive(&self) -> bool {
        self.0.iter().enumerate().all(|(i, row)| row & (1 << i) == 0)
    }

    fn acyclic(self) -> bool {
        self.plus().irreflexive()
    }
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Read,
    Write,
    Fence,
    /// A plain access that takes part in nothing but program order.
    Watched {
        write: bool,
    },
}

#[derive(Clone, Copy, Debug)]
struct Event {
    kind: Type,
    var: Option<usize>,
    order: Ordering,
    /// Ordered by `psc`: sequentially consistent atomics and fences, and all operations on guarded objects.
    sc: bool,
    /// Of a guarded object.
    object: bool,
    plain: bool,
    thread: usize,
}

impl Event {
    fn acquires(&self) -> bool {
        matches!(self.order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst) && self.kind != Type::Write
    }

    fn releases(&self) -> bool {
        matches!(self.order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst) && self.kind != Type::Read
    }

    fn is_write(&self) -> bool {
        matches!(self.kind, Type::Write | Type::Watched { write: true })
    }
}

/// A graph as relations. The initial writes are left out: nothing is ordered before them, so they are on no cycle.
pub(crate) struct Relations {
    events: Vec<Event>,
    po: Relation,
    rf: Relation,
    co: Relation,
    fr: Relation,
    /// Read part to write part.
    rmw: Relation,
}

impl Relations {
    /// The relations between the events of the graph.
    pub(crate) fn new(graph: &Graph<'_>) -> Relations {
        Relations::build(graph, false)
    }

    /// The same, with the plain accesses that are no events of the graph, and with all orderings as strong as the memory
    /// model makes them: under sequential consistency every access synchronises.
    pub(crate) fn with_accesses(graph: &Graph<'_>, axioms: Axioms) -> Relations {
        let mut relations = Relations::build(graph, true);
        if axioms == Axioms::Sc {
            relations.events.iter_mut().filter(|e| !e.plain).for_each(|e| e.order = Ordering::SeqCst);
        }
        relations
    }

    fn build(graph: &Graph<'_>, accesses: bool) -> Relations {
        let mut events: Vec<Event> = Vec::new();
        let mut parts = Vec::new();
        for (thread, (entries, ops)) in graph.entries.iter().zip(&graph.ops).enumerate() {
            let mut places = Vec::new();
            #[allow(clippy::needless_range_loop, reason = "one round more than there are entries")]
            for index in 0..=entries.len() {
                if accesses {
                    let here = graph.accesses.iter().filter(|a| a.thread == thread && a.after == index);
                    events.extend(here.map(|a| Event {
                        kind: Type::Watched { write: a.write },
                        var: Some(a.var),
                        order: Ordering::Relaxed,
                        sc: false,
                        object: false,
                        plain: true,
                        thread,
                    }));
                }
                let Some(entry) = entries.get(index) else { break };
                let first = events.len();
                events.extend(events_of(ops[index], entry.written.is_some(), thread));
                places.push((first, events.len()));
            }
            parts.push(places);
        }
        let n = events.len();
        assert!(n <= 128, "too many events for a row");
        let mut relations = Relations {
            po: Relation::empty(n),
            rf: Relation::empty(n),
            co: Relation::empty(n),
            fr: Relation::empty(n),
            rmw: Relation::empty(n),
            events,
        };
        relations.fill(graph, &parts);
        relations
    }

    fn fill(&mut self, graph: &Graph<'_>, parts: &[Vec<(usize, usize)>]) {
        for (i, a) in self.events.iter().enumerate() {
            for (j, b) in self.events.iter().enumerate().skip(i + 1) {
                if a.thread == b.thread {
                    self.po.add(i, j);
                }
            }
        }
        let write = |at: At| parts[at.thread as usize][at.index as usize].1 - 1;
        for (entries, places) in graph.entries.iter().zip(parts) {
            for (entry, &(first, end)) in entries.iter().zip(places) {
                if let Source::Write(at) = entry.source {
                    self.rf.add(write(at), first);
                }
                if end - first == 2 {
                    self.rmw.add(first, first + 1);
                }
            }
        }
        for order in &graph.order {
            for (i, &a) in order.iter().enumerate() {
                for &b in &order[i + 1..] {
                    self.co.add(write(a), write(b));
                }
            }
        }
        self.fr = self.rf.inverse().then(&self.co);
        for (entries, places) in graph.entries.iter().zip(parts) {
            for (entry, &(first, _)) in entries.iter().zip(places) {
                if entry.source == Source::Init {
                    let var = self.events[first].var.expect("a read has a variable");
                    for &at in &graph.order[var] {
                        self.fr.add(first, write(at));
                    }
                }
            }
        }
    }

    fn set(&self, holds: impl Fn(&Event) -> bool) -> Relation {
        Relation::identity(self.events.len(), |i| holds(&self.events[i]))
    }

    /// No write comes between what a read-modify-write reads and what it writes.
    fn atomicity(&self) -> bool {
        let between = self.fr.then(&self.co);
        (0..self.events.len()).all(|i| self.rmw.0[i] & between.0[i] == 0)
    }

    /// Sequential consistency.
    pub(crate) fn sc(&self) -> bool {
        self.atomicity() && self.po.or(&self.rf).or(&self.co).or(&self.fr).acyclic()
    }

    /// Happens-before.
    fn hb(&self) -> Relation {
        let fences = self.set(|e| e.kind == Type::Fence);
        let from = self.set(Event::releases).then(&fences.then(&self.po).optional());
        let release_sequence = self.set(|e| e.kind == Type::Write).then(&self.rf.then(&self.rmw).plus().optional());
        let to = self.po.then(&fences).optional().then(&self.set(Event::acquires));
        let reads = self.set(|e| e.kind == Type::Read);
        let sw = from.then(&release_sequence).then(&self.rf).then(&reads).then(&to);
        self.po.or(&sw).plus()
    }

    /// Repaired C11.
    pub(crate) fn rc11(&self) -> bool {
        if !self.atomicity() || !self.po.or(&self.rf).acyclic() {
            return false;
        }
        let hb = self.hb();
        let eco = self.rf.or(&self.co).or(&self.fr).plus();
        hb.irreflexive() && hb.then(&eco).irreflexive() && self.psc(&hb, &eco).acyclic()
    }

    /// The partial order of sequentially consistent events.
    fn psc(&self, hb: &Relation, eco: &Relation) -> Relation {
        let var = |i: usize| self.events[i].var;
        let same = |i: usize, j: usize| var(i).is_some() && var(i) == var(j);
        let po_other = self.po.filter(|i, j| !same(i, j));
        // Guarded objects are sequentially consistent: a read of one comes after what it reads, even if it does not synchronise.
        let objects = self.rf.filter(|_, read| self.events[read].object);
        let scb =
            self.po.or(&objects).or(&po_other.then(hb).then(&po_other)).or(&hb.filter(same)).or(&self.co).or(&self.fr);
        let sc = self.set(|e| e.sc);
        let fences = self.set(|e| e.sc && e.kind == Type::Fence);
        let base = sc.or(&fences.then(&hb.optional())).then(&scb).then(&sc.or(&hb.optional().then(&fences)));
        let between_fences = fences.then(&hb.or(&hb.then(eco).then(hb))).then(&fences);
        base.or(&between_fences)
    }

    /// Whether two conflicting accesses, one of them plain, are not ordered by happens-before.
    pub(crate) fn racy(&self) -> bool {
        let hb = self.hb();
        let n = self.events.len();
        (0..n).any(|i| {
            (i + 1..n).any(|j| {
                let (a, b) = (&self.events[i], &self.events[j]);
                let conflict = a.var.is_some()
                    && a.var == b.var
                    && a.thread != b.thread
                    && (a.plain || b.plain)
                    && (a.is_write() || b.is_write());
                conflict && !hb.has(i, j) && !hb.has(j, i)
            })
        })
    }
}

/// The events of an operation: none for a choice, two for a read-modify-write that writes.
fn events_of(op: Visible, writes: bool, thread: usize) -> Vec<Event> {
    let object = matches!(op, Visible::Object { .. });
    let event = |kind, order| Event {
        kind,
        var: op.var(),
        order,
        sc: object || order == Ordering::SeqCst,
        object,
        plain: op.is_plain(),
        thread,
    };
    let both = |acquire, release| vec![event(Type::Read, acquire), event(Type::Write, release)];
    match op {
        Visible::Load { order, .. } => vec![event(Type::Read, order)],
        Visible::Store { order, .. } => vec![event(Type::Write, order)],
        Visible::Update { order, .. } if writes => both(order, order),
        Visible::Update { failure, .. } => vec![event(Type::Read, failure)],
        Visible::Object { .. } if writes => both(Ordering::Acquire, Ordering::Release),
        Visible::Object { op, .. } => vec![event(Type::Read, op.failure())],
        Visible::Fence { order } => vec![event(Type::Fence, order)],
        Visible::Choose { .. } => vec![],
        Visible::PlainRead { .. } => vec![event(Type::Read, Ordering::Relaxed)],
        Visible::PlainWrite { .. } => vec![event(Type::Write, Ordering::Relaxed)],
    }
}
