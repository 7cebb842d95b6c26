//! What the documents show is what the checker prints: every console block of `README.md` and every report of
//! `docs/reports.md` is produced anew here and compared.
//!
//! `UPDATE_DOCS=1 cargo test --test readme` writes what is printed now into the documents.

mod blocks;
mod kinds;
mod output;

// The test that the README begins with, in this crate's root so that it has the name the README gives it.
include!("counter.rs");

/// The text of the file above, as the README has it.
const TWO_INCREMENTS: &str = include_str!("counter.rs");

mod documents {
    use super::blocks::{Document, Fence};
    use super::{TWO_INCREMENTS, kinds, output};

    #[test]
    fn the_readme_shows_what_is_printed() {
        let mut document = Document::open("README.md");
        assert!(document.count("console") >= 2, "the README has lost its console blocks");
        document.check(|fence| match fence.info.as_str() {
            "console" => Some(console(fence)),
            _ => None,
        });
    }

    #[test]
    fn the_readme_shows_the_test_that_is_run() {
        let shown = Document::open("README.md").first("rust");
        // That it fails is not part of what a user writes.
        let run: String =
            TWO_INCREMENTS.split_inclusive('\n').filter(|line| !line.starts_with("#[should_panic")).collect();
        assert_eq!(shown, run, "README.md and tests/readme/counter.rs differ");
    }

    #[test]
    fn the_page_about_reports_shows_what_is_printed() {
        let mut document = Document::open("docs/reports.md");
        document.check(|fence| match fence.info.split_once(' ') {
            Some(("text", name)) => Some(output::normalised(&kinds::report(name))),
            _ if fence.info == "console" => Some(console(fence)),
            _ => None,
        });
    }

    #[test]
    fn the_page_about_reports_shows_the_models_that_are_run() {
        let source = include_str!("kinds.rs");
        for code in Document::open("docs/reports.md").all("rust") {
            assert!(source.contains(&code), "this is not in tests/readme/kinds.rs:\n{code}");
        }
    }

    /// What the block's command prints, after the command.
    fn console(fence: &Fence) -> String {
        let command = fence.text.lines().next().and_then(|line| line.strip_prefix("$ ")).expect("a command");
        format!("$ {command}\n{}", output::of(command))
    }
}
