//! Files of any language → entries for the matcher, and the matcher's tokens → places that a person can read.
//!
//! ```text
//! text ─▶ File: tokens, picks, spans ─▶ entries ─▶ lookalike_core::matching ─▶ regions, marks
//!        file.rs                       submissions.rs                          places.rs
//! ```
//!
//! `pane.rs` writes a file as HTML, the only place where the text of a stranger becomes that.
//!
//! This is the only place that knows both what a token means and what a comparison needs. Nothing here reads a file, prints, or
//! panics on any input.

pub mod pane;
pub mod places;
pub mod submissions;
pub mod submitted_file;

#[cfg(test)]
mod tests;
