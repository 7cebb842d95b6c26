//! The whole report: which blocks, in which order, and how many lines for each.

use super::fold::fold;
use super::frame::draw;
use super::headline;
use super::measure::{fit, visible, wrap};
use super::names::Names;
use super::order::table;
use super::source::Sources;
use super::style::{Style, Tone};
use super::trace::Trace;
use super::why::{LABEL, why};

/// Lines the table gets at least, so that a long explanation does not squeeze it out.
const TABLE: usize = 10;

/// The report on `trace`: the error line with its source frame, how the failure was found, the breaking order, why, and last how
/// to replay it, as people look at the end. Ends with a line break.
pub(crate) fn render(trace: &Trace, style: &Style) -> String {
    render_from(trace, style, &Sources::new())
}

/// As [`render`], with source files taken from `sources`.
pub(crate) fn render_from(trace: &Trace, style: &Style, sources: &Sources) -> String {
    let style = &Style { width: style.width.max(40), ..style.clone() };
    let names = Names::new(trace, style, sources);
    let mut frame = headline::frame(trace, &names, style);
    let mut head = draw(&frame, sources, style);
    let why = why(trace, &names, style);
    let end = end(trace, style);
    let spare = |head: &[String]| style.max_lines.saturating_sub(head.len() + why.len() + end.len() + 3);
    // Two far places with their surroundings can be long; the first says where to look.
    if frame.spots.len() > 1 && spare(&head) < 2 * TABLE {
        frame.spots.truncate(1);
        head = draw(&frame, sources, style);
    }
    let order =
        if trace.steps.is_empty() { Vec::new() } else { shortest(trace, &names, style, spare(&head).max(TABLE)) };
    let blocks = [head, order, why, end];
    let shown = |block: &Vec<String>| block.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
    blocks.iter().filter(|block| !block.is_empty()).map(shown).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// The table in at most `lines` lines, if folding can do it.
fn shortest(trace: &Trace, names: &Names, style: &Style, lines: usize) -> Vec<String> {
    let mut budget = lines;
    loop {
        let drawn = table(trace, &fold(trace, budget), names, style);
        let excess = drawn.len().saturating_sub(lines);
        if excess == 0 || budget <= 3 {
            return drawn;
        }
        budget = budget.saturating_sub(excess).max(3);
    }
}

/// The verdict, and how to replay.
fn end(trace: &Trace, style: &Style) -> Vec<String> {
    let mut out = Vec::new();
    let mut add = |label: &str, lines: Vec<String>| {
        for (index, line) in lines.into_iter().enumerate() {
            let label = if index == 0 { format!("  {label}") } else { String::new() };
            out.push(format!("{}{line}", style.paint(Tone::Strong, &format!("{label:LABEL$}"))));
        }
    };
    if !trace.verdict.is_empty() {
        add("verdict", wrap(&style.user(&trace.verdict), style.width - LABEL, style.glyphs().ellipsis));
    }
    if let Some(path) = &trace.replay {
        add("replay", command(&style.user(path), &style.user(&trace.command), style));
    }
    if !trace.token.is_empty() {
        add("token", vec![token(trace, style)]);
    }
    out
}

/// The command that replays the file. It is copied and pasted: it may be broken at its blank, and is never shortened.
fn command(path: &str, command: &str, style: &Style) -> Vec<String> {
    let variable = format!("INTERLEAVE_REPLAY={}", quoted(path));
    let line = format!("{variable} {command}");
    if LABEL + visible(&line) <= style.width {
        return vec![line];
    }
    vec![format!("{variable} \\"), format!("  {command}")]
}

/// `path` as a word of the shell.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// The token, unless it is too long to be of use while there is a file that has it.
fn token(trace: &Trace, style: &Style) -> String {
    let token = style.user(&trace.token);
    if LABEL + visible(&token) <= style.width || trace.replay.is_none() {
        return token;
    }
    fit(
        &format!("{} characters: in the first line of the file", token.len()),
        style.width - LABEL,
        style.glyphs().ellipsis,
    )
}
