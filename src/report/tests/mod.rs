//! Snapshots of everything a person sees in a report. Look at each as its reader would.

mod any;
mod build;
mod kinds;
mod shapes;

use super::measure::visible;
use super::render::render_from;
use super::source::Sources;
use super::style::Style;
use super::trace::Trace;

/// The report on `trace`, after the checks that hold for all.
fn report(trace: &Trace, style: &Style) -> String {
    let drawn = render_from(trace, style, &Sources::below(build::ROOT));
    assert_eq!(drawn, render_from(trace, style, &Sources::below(build::ROOT)), "the same trace, another text");
    assert!(drawn.lines().count() <= style.max_lines, "{} lines:\n{drawn}", drawn.lines().count());
    for line in drawn.lines() {
        // The commands are copied and pasted: they are not shortened.
        let command = line.contains("INTERLEAVE_REPLAY=") || line.contains(&trace.token) && !trace.token.is_empty();
        assert!(command || visible(line) <= style.width, "{} columns: {line}", visible(line));
        assert_eq!(line, line.trim_end(), "blanks at the end of a line");
        let controls = line.chars().filter(|c| super::escape::is_hostile(*c) && !(style.color && *c == '\x1b'));
        assert_eq!(controls.count(), 0, "control characters: {line:?}");
    }
    drawn
}

fn plain(trace: &Trace) -> String {
    report(trace, &Style::default())
}
