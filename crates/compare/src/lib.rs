//! Turns files of any language into entries for the matcher, and the matcher's tokens back into places in those files.
//!
//! ```text
//! text ─▶ SubmittedFile: tokens, picks, spans ─▶ entries ─▶ lookalike_core::matching ─▶ regions, marks
//!         submitted_file.rs                      submissions.rs                         places.rs
//! ```
//!
//! `stored.rs` writes the files of a submission as bytes for an archive, and reads them again without their parsers.
//! `pane.rs` writes a file as HTML; no other code does that with submitted text.
//!
//! Only this crate knows both the meaning of a token and the needs of a comparison. It reads no files, prints nothing,
//! and does not panic on any input.

pub mod pane;
pub mod places;
pub mod reachability;
pub mod stored;
pub mod submissions;
pub mod submitted_file;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod stored_tests;
