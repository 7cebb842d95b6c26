//! Terminal columns: how wide a text is, and how to make it fit.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns `text` takes (it has no escape codes).
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// `text` and spaces up to `columns`.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{:missing$}", "")
}

/// At most `columns` columns of `text`, cut at the end.
pub(crate) fn fit(text: &str, columns: usize, ellipsis: &str) -> String {
    shorten(text, columns, ellipsis, |room| (room, 0))
}

/// At most `columns` columns of `text`, cut at the start: the end of a path says more than its start.
pub(crate) fn fit_start(text: &str, columns: usize, ellipsis: &str) -> String {
    shorten(text, columns, ellipsis, |room| (0, room))
}

/// At most `columns` columns of `text`, cut in the middle: numbered names differ at their ends.
pub(crate) fn fit_middle(text: &str, columns: usize, ellipsis: &str) -> String {
    shorten(text, columns, ellipsis, |room| (room.div_ceil(2), room / 2))
}

fn shorten(text: &str, columns: usize, ellipsis: &str, split: impl Fn(usize) -> (usize, usize)) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    if columns <= width(ellipsis) {
        return take(text.chars(), columns).into_iter().collect();
    }
    let (front, back) = split(columns - width(ellipsis));
    let head: String = take(text.chars(), front).into_iter().collect();
    let tail: String = take(text.chars().rev(), back).into_iter().rev().collect();
    format!("{head}{ellipsis}{tail}")
}

fn take(chars: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

/// `text` in lines of at most `columns` columns, broken between words; a word that is longer is cut.
pub(crate) fn wrap(text: &str, columns: usize, ellipsis: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let word = fit_middle(word, columns, ellipsis);
        let line = lines.last_mut().expect("starts with one line");
        if line.is_empty() {
            line.push_str(&word);
        } else if width(line) + 1 + width(&word) <= columns {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

/// A list in lines of at most `columns` columns, broken between items.
pub(crate) fn wrap_items(items: &[String], columns: usize, ellipsis: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let comma = if index + 1 < items.len() { "," } else { "" };
        let item = format!("{}{comma}", fit_middle(item, columns.saturating_sub(1), ellipsis));
        match lines.last_mut() {
            Some(line) if width(line) + 2 + width(&item) <= columns => {
                line.push_str("  ");
                line.push_str(&item);
            }
            _ => lines.push(item),
        }
    }
    lines
}

/// `line` cut to `columns` columns; escape codes in it are kept whole and do not count.
pub(crate) fn clip(line: &str, columns: usize, ellipsis: &str) -> String {
    if visible(line) <= columns {
        return line.to_owned();
    }
    let limit = columns.saturating_sub(width(ellipsis));
    let (mut out, mut used, mut code, mut cut) = (String::new(), 0, false, false);
    for c in line.chars() {
        if code || c == '\x1b' {
            code = code && !c.is_ascii_alphabetic() || c == '\x1b';
            out.push(c);
            continue;
        }
        used += c.width().unwrap_or(0);
        if used <= limit && !cut {
            out.push(c);
        } else if !cut {
            out.push_str(ellipsis);
            cut = true;
        }
    }
    out
}

/// The columns `line` takes, escape codes not counted.
pub(crate) fn visible(line: &str) -> usize {
    let mut code = false;
    line.chars()
        .map(|c| match (code, c) {
            (_, '\x1b') => {
                code = true;
                0
            }
            (true, c) => {
                code = !c.is_ascii_alphabetic();
                0
            }
            (false, c) => c.width().unwrap_or(0),
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_counts_columns_not_characters() {
        assert_eq!(fit("worker", 4, "…"), "wor…");
        assert_eq!(fit_start("src/counter.rs", 7, "…"), "…ter.rs");
        assert_eq!(fit_middle("worker-12", 5, "…"), "wo…12");
        assert_eq!(fit("日本語", 4, "…"), "日…");
        assert_eq!(pad("日本", 5), "日本 ");
        assert_eq!(fit("abc", 1, ".."), "a");
    }

    #[test]
    fn clipping_keeps_escape_codes() {
        assert_eq!(clip("\x1b[1mabcdef\x1b[0m", 4, "…"), "\x1b[1mabc…\x1b[0m");
        assert_eq!(visible("\x1b[1mabc\x1b[0m"), 3);
    }

    #[test]
    fn words_wrap() {
        assert_eq!(wrap("one two three", 7, "…"), ["one two", "three"]);
        assert_eq!(wrap("extraordinary", 5, "…"), ["ex…ry"]);
    }
}
