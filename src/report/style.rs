//! How a report looks: size, glyphs, colours.

use std::io::IsTerminal;

use super::escape;

/// How a report looks. The same trace in the same style is the same text, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Whether escape codes colour it.
    pub(crate) color: bool,
    /// Whether it is restricted to ASCII (the lines of source files apart).
    pub(crate) ascii: bool,
    /// Terminal columns it may use.
    pub(crate) width: usize,
    /// Lines it may use; steps are folded to get there.
    pub(crate) max_lines: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { color: false, ascii: false, width: 100, max_lines: 60 }
    }
}

/// What a piece of a report is; decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// A heading, a label.
    Strong,
    /// What the eye should skip.
    Faint,
    /// The thread that steps.
    Active,
    /// A preemption, a stale read.
    Notable,
    /// The failure.
    Bad,
}

/// The signs of a report.
#[derive(Debug)]
pub(crate) struct Glyphs {
    pub(crate) steps: &'static str,
    pub(crate) could_run: &'static str,
    pub(crate) blocked: &'static str,
    pub(crate) fails: &'static str,
    pub(crate) rule: &'static str,
    pub(crate) arrow: &'static str,
    pub(crate) folded: &'static str,
    pub(crate) again: &'static str,
    pub(crate) times: &'static str,
    pub(crate) ellipsis: &'static str,
}

const UNICODE: Glyphs = Glyphs {
    steps: "●",
    could_run: "│",
    blocked: "○",
    fails: "✗",
    rule: "─",
    arrow: "→",
    folded: "⋯",
    again: "⟳",
    times: "×",
    ellipsis: "…",
};

const ASCII: Glyphs = Glyphs {
    steps: "*",
    could_run: "|",
    blocked: "o",
    fails: "X",
    rule: "-",
    arrow: "->",
    folded: ":",
    again: "@",
    times: "x",
    ellipsis: "..",
};

impl Style {
    /// The style for a report on standard error: 100 columns (fewer if `COLUMNS` says so) and 60 lines; colour if
    /// standard error is a terminal (or `CLICOLOR_FORCE` says to take it for one) and `NO_COLOR` is not set; ASCII if `INTERLEAVE_ASCII` is `1`.
    pub(crate) fn from_env() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let columns = std::env::var("COLUMNS").ok().and_then(|value| value.parse::<usize>().ok());
        let default = Style::default();
        Style {
            color: set("NO_COLOR").is_none()
                && (std::io::stderr().is_terminal() || set("CLICOLOR_FORCE").is_some_and(|value| value != "0")),
            ascii: set("INTERLEAVE_ASCII").is_some_and(|value| value == "1"),
            width: columns.map_or(default.width, |columns| columns.clamp(40, default.width)),
            max_lines: default.max_lines,
        }
    }

    /// The signs to use.
    pub(crate) fn glyphs(&self) -> &'static Glyphs {
        if self.ascii { &ASCII } else { &UNICODE }
    }

    /// Text from the user on one line, made harmless.
    pub(crate) fn user(&self, text: &str) -> String {
        if self.ascii { escape::ascii(text) } else { escape::line(text) }
    }

    /// `text` in the colour of `tone`; pad it before, as escape codes have no width.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Active => "1;36",
            Tone::Notable => "33",
            Tone::Bad => "1;91",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
