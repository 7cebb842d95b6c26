//! Source frames, drawn by `annotate-snippets`.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::measure::{clip, fit, width};
use super::receiver::call_end;
use super::source::{Sources, fitted, shown_file};
use super::style::Style;
use super::trace::Place;

/// A place to show, the most important one first.
pub(crate) struct Spot<'a> {
    /// Where.
    pub(crate) place: &'a Place,
    /// What happens there.
    pub(crate) label: String,
}

/// The head of a report.
pub(crate) struct Frame<'a> {
    /// The stable code.
    pub(crate) code: String,
    /// The error line.
    pub(crate) title: String,
    /// What to point at.
    pub(crate) spots: Vec<Spot<'a>>,
    /// `= found: …`.
    pub(crate) notes: Vec<(&'static str, String)>,
}

/// Draws the frame, one string a line, none wider than the style allows.
pub(crate) fn draw(frame: &Frame<'_>, sources: &Sources, style: &Style) -> Vec<String> {
    // What was looked for is no error.
    let level = if frame.code.ends_with("::found") { Level::INFO.with_name("found") } else { Level::ERROR };
    let title = level.primary_title(frame.title.as_str()).id(frame.code.as_str());
    let mut group = Group::with_title(title);
    for file in files(&frame.spots) {
        group = file_frames(group, &file, sources, style);
    }
    for (name, text) in &frame.notes {
        group = group.element(Level::NOTE.with_name(*name).message(text.as_str()));
    }
    let renderer = if style.color { Renderer::styled() } else { Renderer::plain() };
    let drawn = renderer.term_width(style.width).render(&[group]);
    drawn.lines().map(|line| clip(line.trim_end(), style.width, style.glyphs().ellipsis)).collect()
}

/// The spots by file, in the order of their first spot; the number tells which is the most important.
fn files<'a, 'b>(spots: &'b [Spot<'a>]) -> Vec<Vec<(usize, &'b Spot<'a>)>> {
    let mut files: Vec<Vec<(usize, &Spot<'a>)>> = Vec::new();
    for (index, spot) in spots.iter().enumerate() {
        match files.iter_mut().find(|file| file[0].1.place.file == spot.place.file) {
            Some(file) => file.push((index, spot)),
            None => files.push(vec![(index, spot)]),
        }
    }
    files
}

fn file_frames<'a>(mut group: Group<'a>, spots: &[(usize, &Spot<'_>)], sources: &Sources, style: &Style) -> Group<'a> {
    let located: Vec<_> =
        spots.iter().filter_map(|(index, spot)| Some((*index, *spot, sources.locate(spot.place)?))).collect();
    if let Some((.., (text, _))) = located.first() {
        let room = style.width.saturating_sub(10);
        let path = super::measure::fit_start(
            &style.user(shown_file(&spots[0].1.place.file)),
            room.saturating_sub(12),
            style.glyphs().ellipsis,
        );
        let mut snippet = Snippet::source(text.to_string()).line_start(1).path(path);
        for (index, spot, (text, offset)) in &located {
            let kind = if *index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let (end, label) = reach(text, *offset, spot, style);
            snippet = snippet.annotation(kind.span(*offset..end).label(label));
        }
        group = group.element(snippet);
    }
    for (_, spot) in spots.iter().filter(|(_, spot)| sources.locate(spot.place).is_none()) {
        // The file is not at hand or has changed: say at least where.
        let place = fitted(spot.place, style.width.saturating_sub(8), style.glyphs().ellipsis);
        group = group.element(Origin::path(style.user(&place)));
        group = group.element(Level::NOTE.with_name(Some("here")).message(fit(
            &spot.label,
            style.width.saturating_sub(12),
            style.glyphs().ellipsis,
        )));
    }
    group
}

/// Where the underline ends and what stands behind it, so that both fit on the line.
fn reach(text: &str, offset: usize, spot: &Spot<'_>, style: &Style) -> (usize, String) {
    let line_start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let gutter = spot.place.line.to_string().len() + 3;
    // A tab is drawn as four columns.
    let column = |end: usize| width(&text[line_start..end].replace('\t', "    "));
    let room = style.width.saturating_sub(gutter + 1);
    let mut end = call_end(text, offset);
    let least = offset + text[offset..].chars().next().map_or(0, char::len_utf8);
    while end > least && column(end) + 1 + width(&spot.label) > room {
        end = text[..end].char_indices().next_back().map_or(least, |(at, _)| at);
    }
    let label = fit(&spot.label, room.saturating_sub(column(end) + 1).max(12), style.glyphs().ellipsis);
    (end.max(least), label)
}
