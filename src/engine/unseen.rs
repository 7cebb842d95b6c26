//! Order that the checker does not see.

use std::backtrace::Backtrace;

use dpor::Race;

use super::{Engine, Site};

impl Engine {
    /// Whether the end of something that was created there, which seems to race with earlier accesses, does not: a std `Arc`
    /// drops its value after all that others have done to it, which shows nowhere but on the stack. To look there takes long,
    /// so what was excused once, at these two places, is excused again.
    #[cold]
    pub(super) fn is_ordered_unseen(&self, race: &Race, created: Site) -> bool {
        let places = (created, race.second.site);
        if self.unseen.with(|unseen| unseen.contains(&places)) {
            return true;
        }
        let ordered = drops_std_arc();
        if ordered {
            self.unseen.with(|unseen| unseen.push(places));
        }
        ordered
    }
}

/// Whether the running code is called, through however many functions, by the destructor of a std `Arc` that was the last one.
fn drops_std_arc() -> bool {
    let stack = Backtrace::force_capture().to_string();
    let lines: Vec<&str> = stack.lines().collect();
    // With line tables alone, the name comes without its type, but with its file in the next line.
    let in_arc = |index: usize| {
        lines[index].contains("sync::Arc") || lines.get(index + 1).is_some_and(|place| place.contains("/sync.rs:"))
    };
    (0..lines.len()).any(|index| lines[index].contains("drop_slow") && in_arc(index))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;
    use std::sync::Arc;

    #[test]
    fn the_drop_of_a_std_arc_is_known() {
        struct Value<'a>(&'a mut Option<bool>);
        impl Drop for Value<'_> {
            fn drop(&mut self) {
                *self.0 = Some(drops_std_arc());
            }
        }
        let (mut by_arc, mut by_box, mut by_rc) = (None, None, None);
        drop(Arc::new(Box::new(Value(&mut by_arc))));
        drop(Box::new(Value(&mut by_box)));
        drop(Rc::new(Value(&mut by_rc)));
        assert_eq!((by_arc, by_box, by_rc), (Some(true), Some(false), Some(false)));
    }
}
