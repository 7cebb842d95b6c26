//! What a person reads: the failure report.
//!
//! | file | what it decides |
//! |---|---|
//! | [`trace`] | the events of a recorded execution, the input of every sink |
//! | [`render`](mod@render) | which blocks a report has, in which order, and how many lines each may use |
//! | [`headline`] | the error line, where it points, how it was found |
//! | [`frame`] | source frames |
//! | [`source`], [`receiver`] | source files, and the expression a method was called on |
//! | [`names`] | what threads, objects and operations are called |
//! | [`fold`] | which steps are printed |
//! | [`rows`], [`columns`], [`order`] | the breaking-order table: its texts, its columns, its layout |
//! | [`why`], [`wait_for`] | why nothing could go on; the wait-for cycle |
//! | [`notes`](mod@notes) | the same texts for replay files |
//! | [`style`], [`escape`], [`measure`], [`number`] | glyphs and colours; text from the user; terminal columns; counts |

mod columns;
mod escape;
mod fold;
mod frame;
mod headline;
mod measure;
mod names;
mod notes;
mod number;
mod order;
mod receiver;
mod render;
mod rows;
mod source;
mod style;
#[allow(unreachable_pub, reason = "the types every sink shares are written as a public interface")]
pub(crate) mod trace;
mod wait_for;
mod why;

#[cfg(test)]
mod tests;

#[cfg(feature = "cli")]
pub(crate) use escape::line as escaped_line;
pub(crate) use names::thread_names;
pub(crate) use notes::{culprit, full, notes};
pub(crate) use number::{count, thousands};
pub(crate) use render::render;
pub(crate) use source::read_below;
pub(crate) use style::Style;
