//! The call at a place in the source: `self.head` in `self.head.load(Acquire)`, and how far the call reaches.
//!
//! A `Location` names the start of the method in a method call, and the start of the whole expression in any other call. This
//! is not a parser: it reads what people write in front of a dot, and gives up on the rest.

/// How far a receiver may reach back.
const REACH: usize = 240;

/// The receiver of the method at `offset` in `text`, without the dot, on one line; `None` if it is not a method call with a
/// receiver that can be read.
pub(crate) fn receiver(text: &str, offset: usize) -> Option<String> {
    let before = text.get(..offset)?.trim_end().strip_suffix('.')?;
    let mut from = before.len().saturating_sub(REACH);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    let window = &before[from..];
    let start = chain_start(window)?;
    // A chain that fills the window was cut.
    let expression = if start == 0 && from > 0 { return None } else { &window[start..] };
    let plain = one_line(expression);
    (!plain.is_empty()).then_some(plain)
}

/// The name of the method or function called at `offset`.
pub(crate) fn callee(text: &str, offset: usize) -> &str {
    let rest = &text[offset..];
    let end = rest.find(|c: char| !is_name(c) && c != ':').unwrap_or(rest.len());
    let path = &rest[..end];
    path.rsplit("::").next().unwrap_or(path)
}

/// The end of the call (or macro, or index) that starts at `offset`, or the end of its line.
pub(crate) fn call_end(text: &str, offset: usize) -> usize {
    let rest = &text[offset..];
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let path = line.find(|c: char| !is_name(c) && c != ':').unwrap_or(line.len());
    let head = if line[path..].starts_with('!') { path + 1 } else { path };
    let opens = line[head..].starts_with(['(', '[', '{']);
    let end = match opens {
        true => head + group_end(&line[head..]).unwrap_or(line[head..].trim_end().len()),
        false => path,
    };
    offset + end.max(line.chars().next().map_or(0, char::len_utf8))
}

/// Where the chain of fields, calls and indices at the end of `text` starts.
fn chain_start(text: &str) -> Option<usize> {
    let mut rest = text.trim_end();
    loop {
        rest = rest.trim_end_matches('?');
        let grouped = rest.ends_with([')', ']']);
        while rest.ends_with([')', ']']) {
            rest = &rest[..group_start(rest)?];
        }
        rest = path_start(rest, grouped)?;
        let Some(inner) = rest.trim_end().strip_suffix('.').filter(|inner| !inner.ends_with('.')) else {
            return Some(rest.len());
        };
        rest = inner.trim_end();
    }
}

/// `text` without the path (`a::b`, `r#try`, `matches!`) at its end; there may be none only if `optional`.
fn path_start(text: &str, optional: bool) -> Option<&str> {
    let stem = text.strip_suffix('!').unwrap_or(text);
    let names = stem.trim_end_matches(|c: char| is_name(c) || c == ':').len();
    let start = names + field_end(&stem[names..]);
    match &stem[start..] {
        // The generic arguments of a call, or a comparison.
        "" if stem.ends_with('>') => None,
        "" if optional => Some(text),
        "" => None,
        // `if (a).load()`: the keyword is not part of the expression.
        "if" | "while" | "match" | "return" | "in" => optional.then_some(text),
        _ => Some(&stem[..start]),
    }
}

/// The length of `field:` in front of a value (`Point { x:n.load(R) }`), which looks like a part of a path.
fn field_end(path: &str) -> usize {
    path.replace("::", "__").rfind(':').map_or(0, |at| at + 1)
}

/// Where the bracket group at the end of `text` opens.
fn group_start(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth == 1 => return Some(at),
            '(' | '[' | '{' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// Where the bracket group at the start of `text` ends; brackets in string literals do not count.
fn group_end(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 1 => return Some(at + c.len_utf8()),
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '#'
}

/// `expression` without the white space in front of dots, and with any other white space as single spaces.
fn one_line(expression: &str) -> String {
    let spaced = expression.split_whitespace().collect::<Vec<_>>().join(" ");
    spaced.replace(" .", ".").replace(". ", ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `$` marks the place.
    fn read(source: &str) -> Option<String> {
        let offset = source.find('$').expect("a mark");
        receiver(&source.replacen('$', "", 1), offset)
    }

    #[test]
    fn receivers_are_read_backwards() {
        let cases = [
            ("let v = n.$load(Acquire);", "n"),
            ("assert_eq!(2, n.$load(Relaxed));", "n"),
            ("self.queue.head.$load(Acquire)", "self.queue.head"),
            ("self\n    .inner\n    .$lock()\n", "self.inner"),
            ("*slots[i + 1].$lock() = 3", "slots[i + 1]"),
            ("if !(*p).$load(R) {", "(*p)"),
            ("(&self.0).$load(R)", "(&self.0)"),
            ("shared().flag.$store(1)", "shared().flag"),
            ("x.get(1)?.$lock()", "x.get(1)?"),
            ("crate::state::COUNT.$fetch_add(1)", "crate::state::COUNT"),
            ("m[&(a, b)][0].$lock()", "m[&(a, b)][0]"),
            ("while (a).$load()", "(a)"),
            ("日本.$load(R)", "日本"),
            ("a..b.$load(R)", "b"),
            ("P { x:n.$load(R) }", "n"),
            ("vec![a, b].$len()", "vec![a, b]"),
        ];
        for (source, expected) in cases {
            assert_eq!(read(source).as_deref(), Some(expected), "{source}");
        }
    }

    #[test]
    fn what_is_no_method_call_has_no_receiver() {
        for source in [
            "$thread::spawn(f)",
            "let x = $foo(1)",
            ".$load()",
            "}.$lock()",
            ")].$lock()",
            "$",
            "((a.$b",
            "\"s\".$len()",
            "f::<T>().$load()",
        ] {
            let found = read(source);
            assert!(found.is_none() || source == "((a.$b", "{source}: {found:?}");
        }
    }

    #[test]
    fn calls_end_at_their_bracket() {
        let end = |source: &str| call_end(source, 0);
        assert_eq!(end("assert_eq!(2, n.load(R)); x"), 24);
        assert_eq!(end("load(Acquire) + 1"), 13);
        assert_eq!(end("panic!(\"a ) b\") ;"), 15);
        assert_eq!(end("spawn(move || {\n  1\n})"), 15);
        assert_eq!(end("a + b"), 1);
        assert_eq!(end("+ b"), 1);
        assert_eq!(callee("thread::spawn(f)", 0), "spawn");
        assert_eq!(callee("load(x)", 0), "load");
    }
}
