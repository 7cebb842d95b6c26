//! Text from the user, made harmless: a thread name or a panic message must not move the cursor, change colours or reorder
//! the line it is printed on.

/// Whether a terminal does something else with `c` than to print it where it stands.
pub(crate) fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// `text` on one line: what is hostile is written as Rust writes it in a string literal (`\n`, `\u{1b}`).
pub(crate) fn line(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        push(&mut out, c, is_hostile(c));
        out
    })
}

/// As [`line`](fn@line), and everything that is not ASCII is escaped as well.
pub(crate) fn ascii(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        push(&mut out, c, is_hostile(c) || !c.is_ascii());
        out
    })
}

fn push(out: &mut String, c: char, escaped: bool) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if escaped => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_codes_and_bidi_overrides_are_written_out() {
        assert_eq!(line("a\x1b[31mb\u{7}\r\nc\td"), "a\\u{1b}[31mb\\u{7}\\r\\nc\\td");
        assert_eq!(line("x\u{202e}y\u{200b}\u{9b}"), "x\\u{202e}y\\u{200b}\\u{9b}");
        assert_eq!(line("日本 → é"), "日本 → é");
        assert_eq!(ascii("→ é"), "\\u{2192} \\u{e9}");
    }
}
