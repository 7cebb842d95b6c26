//! What has to be gone before an execution ends.

use super::{Failure, Site};

/// What was made in the running execution and is tracked.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    /// The number of the execution, modulo what is left beside the index.
    execution: u64,
    made: Vec<Option<(&'static str, Site)>>,
    left: usize,
}

/// Bits of a number that are an index, plus one so that it is never 0.
const INDEX: u32 = 32;

impl Tracked {
    /// Forgets what an earlier execution has left behind.
    #[inline]
    pub(super) fn start(&mut self, execution: u64) {
        self.execution = execution & (u64::MAX >> INDEX);
        self.made.clear();
        self.left = 0;
    }

    #[inline]
    pub(super) fn add(&mut self, what: &'static str, site: Site) -> u64 {
        self.made.push(Some((what, site)));
        self.left += 1;
        self.execution << INDEX | self.made.len() as u64
    }

    #[inline]
    pub(super) fn remove(&mut self, number: u64) {
        let index = (number & (u64::MAX >> INDEX)) as usize;
        if number >> INDEX == self.execution
            && let Some(entry) = index.checked_sub(1).and_then(|index| self.made.get_mut(index))
            && entry.take().is_some()
        {
            self.left -= 1;
        }
    }

    /// The failure if something is left.
    #[inline]
    pub(super) fn leak(&self) -> Option<Failure> {
        if self.left == 0 { None } else { self.first_leak() }
    }

    #[cold]
    fn first_leak(&self) -> Option<Failure> {
        let (what, site) = self.made.iter().flatten().next()?;
        let others = match self.left - 1 {
            0 => String::new(),
            1 => ", and one thing more".to_owned(),
            n => format!(", and {n} things more"),
        };
        Some(Failure::Other {
            code: "leak",
            message: format!("{what} that was made at {site} is never freed{others}"),
            help: None,
            site: Some(site),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    #[test]
    fn what_is_left_is_a_leak() {
        let mut tracked = Tracked::default();
        tracked.start(7);
        let numbers = ["one", "two", "three"].map(|what| tracked.add(what, Location::caller()));
        tracked.remove(numbers[0]);
        tracked.remove(numbers[0]);
        let Some(Failure::Other { message, .. }) = tracked.leak() else { panic!("there is a leak") };
        assert!(message.starts_with("two that was made at ") && message.ends_with("and one thing more"), "{message}");
        numbers.into_iter().for_each(|number| tracked.remove(number));
        assert!(tracked.leak().is_none());
    }

    #[test]
    fn what_another_execution_has_made_does_not_count() {
        let mut tracked = Tracked::default();
        tracked.start(7);
        let old = tracked.add("old", Location::caller());
        tracked.start(8);
        let new = tracked.add("new", Location::caller());
        tracked.remove(old);
        assert!(tracked.leak().is_some());
        tracked.remove(new);
        assert!(tracked.leak().is_none());
    }
}
