//! Decisions for a program that has changed since they were recorded.
//!
//! The program is run with the decisions as they are. Where it does something else than recorded, the decisions are changed
//! by one step that is local to a thread, left out or put in, and it is run again. The order of operations in which
//! threads meet is never changed: a recording that would need it cannot be repaired.

use std::collections::{BTreeMap, BTreeSet};

use super::decision::Decision;
use super::recording::Record;

/// Runs before a repair is given up.
const RUNS: usize = 300;
/// How far ahead two sequences are compared.
const AHEAD: usize = 200;

/// An operation that the program performs now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Performed {
    /// The thread by its spawn path.
    pub(crate) thread: String,
    /// The number of the thread.
    pub(crate) number: u32,
    /// The method.
    pub(crate) operation: String,
    /// The type of the object; empty: none.
    pub(crate) object: String,
    /// The number of the object.
    pub(crate) on: Option<usize>,
    /// `file:line:column`.
    pub(crate) place: String,
}

impl Performed {
    /// Whether it is what was recorded, wherever it has moved to in the source.
    pub(crate) fn is(&self, record: &Record) -> bool {
        self.thread == record.thread && self.operation == record.operation && self.object == record.object
    }
}

/// What a run has taught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// Everything that was recorded and not left out has been performed.
    Follows,
    /// The decisions have changed: run again.
    Changed,
    /// It cannot be repaired: what would have to change, in words.
    Conflict(String),
}

#[derive(Clone, Copy, Debug)]
struct Planned {
    decision: Decision,
    /// What it was recorded as; `None`: put in.
    record: Option<usize>,
}

/// The repair of one recording.
pub(crate) struct Repair<'a> {
    records: &'a [Record],
    plan: Vec<Planned>,
    /// Objects that several threads use.
    shared: BTreeSet<usize>,
    runs: usize,
    /// Records that were left out.
    pub(crate) skipped: usize,
    /// Steps that were put in.
    pub(crate) inserted: usize,
}

impl<'a> Repair<'a> {
    /// Of `records`; `None` if these do not know enough (files of format 1).
    pub(crate) fn new(records: &'a [Record]) -> Option<Repair<'a>> {
        let knows = |record: &Record| record.object.is_empty() || record.on.is_some();
        if !records.iter().all(knows) {
            return None;
        }
        let uses = records.iter().filter_map(|record| Some((record.on?, record.thread.as_str())));
        let plan = records.iter().enumerate();
        let plan = plan.map(|(index, record)| Planned { decision: record.decision, record: Some(index) });
        Some(Repair { records, plan: plan.collect(), shared: shared(uses), runs: 0, skipped: 0, inserted: 0 })
    }

    /// The decisions to run next.
    pub(crate) fn decisions(&self) -> Vec<Decision> {
        self.plan.iter().map(|planned| planned.decision).collect()
    }

    /// Whether a run that performed this did all that is planned.
    pub(crate) fn is_followed(&self, performed: &[Performed]) -> bool {
        performed.len() >= self.plan.len() && self.first_difference(performed).is_none()
    }

    /// Where a run did something else than is planned.
    fn first_difference(&self, performed: &[Performed]) -> Option<usize> {
        let differs = |(planned, performed): (&Planned, &Performed)| match planned.record {
            Some(record) => !performed.is(&self.records[record]),
            None => performed.number != planned.decision.thread,
        };
        self.plan.iter().zip(performed).position(differs)
    }

    /// Learns from what a run with [`Repair::decisions`] has performed, up to its end.
    pub(crate) fn learn(&mut self, performed: &[Performed]) -> Lesson {
        self.runs += 1;
        let numbers: BTreeMap<&str, u32> = performed.iter().map(|p| (p.thread.as_str(), p.number)).collect();
        for planned in &mut self.plan {
            if let Some(number) = planned.record.and_then(|r| numbers.get(self.records[r].thread.as_str())) {
                planned.decision.thread = *number;
            }
        }
        let at = match self.first_difference(performed) {
            Some(at) => at,
            None if performed.len() >= self.plan.len() => return Lesson::Follows,
            None => performed.len(),
        };
        if self.runs > RUNS {
            return Lesson::Conflict(format!("more than {RUNS} steps would have to change"));
        }
        self.change(at, performed)
    }

    /// Changes what is planned at `at`, where the program does something else.
    fn change(&mut self, at: usize, performed: &[Performed]) -> Lesson {
        let Some(wanted) = self.plan[at].record.map(|record| &self.records[record]) else {
            return Lesson::Conflict("a step that was put in cannot be performed".to_owned());
        };
        let Some(now) = performed.get(at) else { return self.skip(at) };
        if now.thread == wanted.thread {
            return match self.first_is_new(&wanted.thread, at, performed) {
                true => self.insert(at, now, performed),
                false => self.skip(at),
            };
        }
        // The thread cannot go on here.
        if !performed[at..].iter().any(|later| later.thread == wanted.thread) {
            return self.skip(at);
        }
        let next = (at..self.plan.len()).find(|&index| self.thread_of(index) == Some(&now.thread));
        match next {
            Some(next) if self.plan[next].record.is_some_and(|record| now.is(&self.records[record])) => {
                self.bring_forward(at, next)
            }
            _ => self.insert(at, now, performed),
        }
    }

    fn thread_of(&self, planned: usize) -> Option<&str> {
        self.plan[planned].record.map(|record| self.records[record].thread.as_str())
    }

    /// Whether the next operation of `thread` is one that was not recorded: it has no partner in the longest common
    /// subsequence of what was recorded and what is performed.
    fn first_is_new(&self, thread: &str, at: usize, performed: &[Performed]) -> bool {
        let recorded = self.plan[at..].iter().filter_map(|planned| planned.record.map(|record| &self.records[record]));
        let recorded: Vec<&Record> = recorded.filter(|record| record.thread == thread).take(AHEAD).collect();
        let now: Vec<&Performed> = performed[at..].iter().filter(|p| p.thread == thread).take(AHEAD).collect();
        // common[i][j]: the length of the longest one of recorded[i..] and now[j..].
        let mut common = vec![vec![0usize; now.len() + 1]; recorded.len() + 1];
        for i in (0..recorded.len()).rev() {
            for j in (0..now.len()).rev() {
                common[i][j] = match now[j].is(recorded[i]) {
                    true => common[i + 1][j + 1] + 1,
                    false => common[i + 1][j].max(common[i][j + 1]),
                };
            }
        }
        common[0][1.min(now.len())] >= common[1.min(recorded.len())][0]
    }

    fn skip(&mut self, at: usize) -> Lesson {
        let record = &self.records[self.plan[at].record.expect("only records are left out")];
        if record.on.is_some_and(|object| self.shared.contains(&object)) {
            return Lesson::Conflict(format!(
                "`{}` of {} by thread {} at {} is not performed any more, and other threads use that {}",
                record.operation, record.object, record.thread, record.place, record.object
            ));
        }
        self.plan.remove(at);
        self.skipped += 1;
        Lesson::Changed
    }

    fn insert(&mut self, at: usize, now: &Performed, performed: &[Performed]) -> Lesson {
        let shared = shared(performed.iter().filter_map(|p| Some((p.on?, p.thread.as_str()))));
        if now.on.is_some_and(|object| shared.contains(&object)) {
            return Lesson::Conflict(format!(
                "`{}` of {} by thread {} at {} is new, and other threads use that {}",
                now.operation, now.object, now.thread, now.place, now.object
            ));
        }
        let decision = Decision { thread: now.number, ..Decision::default() };
        self.plan.insert(at, Planned { decision, record: None });
        self.inserted += 1;
        Lesson::Changed
    }

    /// Performs what is planned at `from` already at `to`, which must not change the order of operations on one object.
    fn bring_forward(&mut self, to: usize, from: usize) -> Lesson {
        let object = self.plan[from].record.and_then(|record| self.records[record].on);
        let meets = |planned: &Planned| planned.record.and_then(|record| self.records[record].on) == object;
        if object.is_some() && self.plan[to..from].iter().any(meets) {
            let record = &self.records[self.plan[from].record.expect("it has an object")];
            return Lesson::Conflict(format!(
                "`{}` of {} by thread {} at {} would have to come before an operation that it came after",
                record.operation, record.object, record.thread, record.place
            ));
        }
        let planned = self.plan.remove(from);
        self.plan.insert(to, planned);
        Lesson::Changed
    }
}

/// The objects that more than one thread uses.
fn shared<'a>(uses: impl Iterator<Item = (usize, &'a str)>) -> BTreeSet<usize> {
    let mut first: BTreeMap<usize, &str> = BTreeMap::new();
    uses.filter_map(|(object, thread)| (*first.entry(object).or_insert(thread) != thread).then_some(object)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `0 load n#0` as it was recorded: thread, operation, object and its number.
    fn recorded(text: &str) -> Vec<Record> {
        lines(text)
            .into_iter()
            .map(|(thread, operation, object, on)| Record {
                decision: Decision { thread: number(&thread), ..Decision::default() },
                place: "src/lib.rs:1:1".into(),
                alternatives: 1,
                step: None,
                thread,
                operation,
                object,
                on,
            })
            .collect()
    }

    fn performed(text: &str) -> Vec<Performed> {
        lines(text)
            .into_iter()
            .map(|(thread, operation, object, on)| Performed {
                number: number(&thread),
                place: "src/lib.rs:2:1".into(),
                thread,
                operation,
                object,
                on,
            })
            .collect()
    }

    fn number(thread: &str) -> u32 {
        match thread {
            "0" => 0,
            "0.0" => 1,
            _ => 2,
        }
    }

    fn lines(text: &str) -> Vec<(String, String, String, Option<usize>)> {
        let line = |line: &str| {
            let mut words = line.split_whitespace().map(str::to_owned);
            let (thread, operation) = (words.next().expect("a thread"), words.next().expect("an operation"));
            match words.next().and_then(|word| word.split_once('#').map(|(a, b)| (a.to_owned(), b.to_owned()))) {
                Some((object, on)) => (thread, operation, object, Some(on.parse().expect("a number"))),
                None => (thread, operation, String::new(), None),
            }
        };
        text.split(';').map(line).collect()
    }

    const RECORDED: &str = "0 spawn; 0 load n#0; 0.0 load n#0; 0.0 load local#1; 0.0 store n#0; 0 store n#0";

    /// Repairs against a program whose threads each do the operations of `program` in their order, and run in the order of
    /// the plan: what is not ready is passed over. Says what came of it.
    fn repair(program: &str) -> (Lesson, usize, usize) {
        let (records, program) = (recorded(RECORDED), performed(program));
        let mut repair = Repair::new(&records).expect("it has numbers");
        for _ in 0..50 {
            let mut left = program.clone();
            let mut run = Vec::new();
            for decision in repair.decisions() {
                let wanted = left.iter().position(|p| p.number == decision.thread).or((!left.is_empty()).then_some(0));
                run.extend(wanted.map(|index| left.remove(index)));
            }
            run.append(&mut left);
            match repair.learn(&run) {
                Lesson::Changed => {}
                lesson => return (lesson, repair.skipped, repair.inserted),
            }
        }
        panic!("it does not come to an end");
    }

    #[test]
    fn the_same_program_needs_no_repair() {
        assert_eq!(repair(RECORDED), (Lesson::Follows, 0, 0));
    }

    #[test]
    fn local_steps_are_left_out_and_put_in() {
        let without = "0 spawn; 0 load n#0; 0 store n#0; 0.0 load n#0; 0.0 store n#0";
        assert_eq!(repair(without), (Lesson::Follows, 1, 0));
        let with =
            "0 spawn; 0 load mine#7; 0 load n#0; 0 store n#0; 0.0 load n#0; 0.0 load local#1; 0.0 fence; 0.0 store n#0";
        assert_eq!(repair(with), (Lesson::Follows, 0, 2));
        let other = "0 spawn; 0 load n#0; 0 store n#0; 0.0 load n#0; 0.0 swap local#1; 0.0 store n#0";
        assert_eq!(repair(other), (Lesson::Follows, 1, 1));
    }

    #[test]
    fn what_other_threads_see_is_not_touched() {
        let (gone, ..) = repair("0 spawn; 0 load n#0; 0 store n#0; 0.0 load local#1; 0.0 store n#0");
        let Lesson::Conflict(gone) = gone else { panic!("{gone:?}") };
        assert_eq!(
            gone,
            "`load` of n by thread 0.0 at src/lib.rs:1:1 is not performed any more, and other threads use that n"
        );
        let (new, ..) =
            repair("0 spawn; 0 swap n#0; 0 load n#0; 0 store n#0; 0.0 load n#0; 0.0 load local#1; 0.0 store n#0");
        let Lesson::Conflict(new) = new else { panic!("{new:?}") };
        assert_eq!(new, "`swap` of n by thread 0 at src/lib.rs:2:1 is new, and other threads use that n");
    }

    #[test]
    fn a_recording_without_numbers_of_objects_is_not_repaired() {
        let mut records = recorded(RECORDED);
        records[1].on = None;
        assert!(Repair::new(&records).is_none());
    }
}
