//! The wait-for relation at the end of a deadlock.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use super::trace::Waiter;

/// The shortest cycle of threads that wait for each other, each for the next and the last for the first; empty if there is
/// none. Of several, the one whose first thread comes first.
pub(crate) fn cycle(waiters: &[Waiter]) -> Vec<usize> {
    let next: BTreeMap<usize, Vec<usize>> = waiters
        .iter()
        .map(|waiter| (waiter.thread, waiter.waits_for.iter().map(|(thread, _)| *thread).collect()))
        .collect();
    let cycles = next.keys().filter_map(|start| path_back(&next, *start));
    cycles.min_by_key(Vec::len).unwrap_or_default()
}

/// The shortest way from `start` back to it.
fn path_back(next: &BTreeMap<usize, Vec<usize>>, start: usize) -> Option<Vec<usize>> {
    let mut before: BTreeMap<usize, usize> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for to in next.get(&at).into_iter().flatten().copied() {
            if to == start {
                let mut path = vec![at];
                while let Some(last) = path.last().filter(|last| **last != start) {
                    path.push(before[last]);
                }
                path.reverse();
                return Some(path);
            }
            if let Entry::Vacant(unseen) = before.entry(to) {
                unseen.insert(at);
                queue.push_back(to);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::trace::Place;
    use dpor::Role;

    fn waiters(edges: &[(usize, &[usize])]) -> Vec<Waiter> {
        let waiter = |(thread, on): &(usize, &[usize])| Waiter {
            thread: *thread,
            method: "lock",
            object: None,
            waits_for: on.iter().map(|thread| (*thread, None)).collect(),
            role: Role::Acquire,
            last_signal: None,
            ends: Vec::new(),
            site: Place { file: String::new(), line: 1, column: 1 },
        };
        edges.iter().map(waiter).collect()
    }

    #[test]
    fn the_shortest_cycle_is_found() {
        assert_eq!(cycle(&waiters(&[(0, &[1]), (1, &[2]), (2, &[1])])), [1, 2]);
        assert_eq!(cycle(&waiters(&[(0, &[1, 2]), (1, &[3]), (2, &[0]), (3, &[0])])), [0, 2]);
        assert_eq!(cycle(&waiters(&[(4, &[4])])), [4]);
        assert_eq!(cycle(&waiters(&[(0, &[1]), (1, &[2]), (2, &[3]), (3, &[1])])), [1, 2, 3]);
        assert!(cycle(&waiters(&[(0, &[1]), (1, &[])])).is_empty());
    }
}
