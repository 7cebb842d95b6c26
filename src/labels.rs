//! Labels: what an exploration should come by, and what it is asked to find.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::builder::Builder;
use crate::explore;
use crate::report::count;
use crate::verdict::{Kind, Report, Verdict};

/// What is demanded of an exploration, and what it has come by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    /// Labels that must be reached.
    pub(crate) expected: Vec<String>,
    /// The label that is looked for.
    pub(crate) goal: Option<String>,
    /// Whether each label that was come by ever held, for all that explore.
    seen: Arc<Mutex<BTreeMap<&'static str, bool>>>,
}

impl Watch {
    /// The same demands of another exploration.
    pub(crate) fn anew(&self) -> Watch {
        Watch { seen: Arc::default(), ..self.clone() }
    }

    /// What `label` stands for holds, or does not.
    pub(crate) fn note(&self, label: &'static str, holds: bool) {
        *self.seen().entry(label).or_insert(false) |= holds;
    }

    /// Labels that never held.
    fn unreached(&self) -> Vec<String> {
        let seen = self.seen();
        let never = seen.iter().filter(|(_, held)| !**held).map(|(label, _)| (*label).to_owned());
        let unknown = self.expected.iter().filter(|label| !seen.contains_key(label.as_str())).cloned();
        never.chain(unknown).collect()
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<&'static str, bool>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What came of looking for a label ([`Builder::find`]).
#[derive(Clone, Debug)]
pub enum Finding {
    /// There is an execution that comes by it: the order is in the failure of the report.
    Found(Report),
    /// None of the executions that were explored does. If the verdict is [`Verdict::Complete`], none does at all; if an
    /// execution failed before, nobody knows.
    NotFound(Report),
}

impl Finding {
    /// Whether the label was found.
    pub fn is_found(&self) -> bool {
        matches!(self, Finding::Found(_))
    }

    /// The report.
    pub fn report(&self) -> &Report {
        match self {
            Finding::Found(report) | Finding::NotFound(report) => report,
        }
    }

    /// The order in which the label is reached, as a person reads it.
    pub fn order(&self) -> Option<&str> {
        match self {
            Finding::Found(report) => report.failure.as_ref().map(|failure| failure.report.as_str()),
            Finding::NotFound(_) => None,
        }
    }
}

/// "found, here is the order", or "not found" with how much was explored.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Found(_) => write!(f, "found, here is the order\n\n{}", self.order().unwrap_or("")),
            Finding::NotFound(report) => write!(f, "not found, {report}"),
        }
    }
}

impl Builder {
    /// Demands that an execution comes by `reachable!(label)`, or by `sometimes!(…, label)` when it holds: else the model is
    /// vacuous. Those that are come by at all need not be named, so this is for places that no execution may reach.
    pub fn reaches(mut self, label: impl Into<String>) -> Self {
        self.watch.expected.push(label.into());
        self
    }

    /// Looks for an execution that comes by `reachable!(label)`, or by `sometimes!(…, label)` when it holds, and stops there.
    #[track_caller]
    pub fn find<F>(mut self, label: &str, f: F) -> Finding
    where
        F: Fn() + Send + Sync,
    {
        self.watch.goal = Some(label.to_owned());
        let report = explore::explore(self, &f, Location::caller());
        match report.verdict {
            Verdict::Failed(Kind::Found) => Finding::Found(report),
            _ => Finding::NotFound(report),
        }
    }
}

impl Report {
    /// Notes which labels never held. A model with such labels is vacuous, if it was explored to the end.
    pub(crate) fn note_labels(&mut self, watch: &Watch) {
        if watch.goal.is_some() || matches!(self.verdict, Verdict::Failed(_)) {
            return;
        }
        self.unreached = watch.unreached();
        if self.unreached.is_empty() {
            return;
        }
        if self.verdict == Verdict::Bounded {
            self.cut.extend(self.unreached.iter().map(|label| format!("`{label}` was not reached so far")));
        } else {
            self.verdict = Verdict::Vacuous;
        }
    }

    /// The message of a model that does not come by what it should.
    pub(crate) fn unreached_message(&self) -> Option<String> {
        let labels: Vec<String> = self.unreached.iter().map(|label| format!("`{label}`")).collect();
        (self.verdict == Verdict::Vacuous && !labels.is_empty()).then(|| {
            let executions = count(self.executions, "execution");
            format!(
                "error[interleave::vacuous]: {} was never true in {executions}\n\n  verdict  {self}",
                labels.join(", ")
            )
        })
    }
}
