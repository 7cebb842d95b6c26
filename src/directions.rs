//! A schedule that a person writes down.

use dpor::{Leg, Until, Who};

/// Which thread runs how far, in turn: for [`Builder::directed`](crate::Builder::directed).
///
/// ```
/// use interleave::sync::Arc;
/// use interleave::sync::atomic::{AtomicUsize, Ordering::Relaxed};
/// use interleave::{Builder, Directions, Kind, Verdict, label, thread};
///
/// // The reader is held up between its two steps, and the writer runs to its end.
/// let order = Directions::new().run("reader").until("has read").run("writer");
/// let report = Builder::new().directed(order).explore(|| {
///     let n = Arc::new(AtomicUsize::new(0));
///     let m = n.clone();
///     let reader = thread::Builder::new().name("reader".to_owned()).spawn(move || {
///         let seen = m.load(Relaxed);
///         label!("has read");
///         m.store(seen + 1, Relaxed);
///     });
///     let m = n.clone();
///     let writer = thread::Builder::new().name("writer".to_owned()).spawn(move || m.fetch_add(1, Relaxed));
///     reader.unwrap().join().unwrap();
///     writer.unwrap().join().unwrap();
///     assert_eq!(n.load(Relaxed), 2);
/// });
/// assert_eq!(report.verdict, Verdict::Failed(Kind::Panic));
/// ```
///
/// Reads see the newest value, and nothing is spurious. A thread that has not been spawned yet is waited for: until then, each
/// thread runs as long as it can, the oldest first. So it goes on after the last part. A part that cannot be followed to its
/// end fails the model with `interleave::config`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Directions {
    legs: Vec<Leg>,
}

impl Directions {
    /// No directions: each thread runs as long as it can, the oldest first.
    pub fn new() -> Directions {
        Directions::default()
    }

    /// Then `thread` runs, as long as it can if nothing else is said. It is the name of a thread, `main`, or a spawn path as
    /// replay files have it: `0` is the first thread that the main thread spawns, `0.1` the second one that this spawns.
    pub fn run(mut self, thread: &str) -> Directions {
        let path: Option<Vec<u32>> = thread.split('.').map(|part| part.parse().ok()).collect();
        let thread = match path {
            Some(path) => Who::Path(path),
            None if thread == "main" => Who::Path(Vec::new()),
            None => Who::Name(thread.to_owned()),
        };
        self.legs.push(Leg { thread, until: Until::Stuck });
        self
    }

    /// The thread runs until it comes to this [`label!`](crate::label), and is held up there.
    ///
    /// # Panics
    ///
    /// If no thread was named before.
    #[track_caller]
    pub fn until(self, label: &str) -> Directions {
        self.end(Until::Label(label.to_owned()))
    }

    /// The thread performs so many operations: everything that a report would show as a step.
    ///
    /// # Panics
    ///
    /// If no thread was named before.
    #[track_caller]
    pub fn steps(self, steps: u32) -> Directions {
        self.end(Until::Steps(steps))
    }

    #[track_caller]
    fn end(mut self, until: Until) -> Directions {
        let last = self.legs.last_mut().expect("directions begin with `run`, which names a thread");
        last.until = until;
        self
    }

    pub(crate) fn legs(&self) -> Vec<Leg> {
        self.legs.clone()
    }

    /// What a person calls the part with this number.
    pub(crate) fn describe(&self, part: usize) -> String {
        let Some(leg) = self.legs.get(part) else { return String::new() };
        let who = match &leg.thread {
            Who::Name(name) => name.clone(),
            Who::Path(path) if path.is_empty() => "main".to_owned(),
            Who::Path(path) => path.iter().map(u32::to_string).collect::<Vec<_>>().join("."),
        };
        match &leg.until {
            Until::Label(label) => format!("part {}, run {who:?} until {label:?}", part + 1),
            Until::Steps(steps) => {
                format!("part {}, run {who:?} for {}", part + 1, crate::report::count(u64::from(*steps), "step"))
            }
            Until::Stuck => format!("part {}, run {who:?}", part + 1),
        }
    }
}
