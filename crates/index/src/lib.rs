//! The archive of signed documents: what is stored of each, in which files, and how all of it is asked as one.
//!
//! ```text
//! Document ─▶ record bytes ─▶ SegmentWriter ─▶ segment file ─▶ Segment ─▶ Snapshot ─▶ questions
//!             record.rs        segment/writer.rs               segment/    snapshot.rs
//!                                                 merge of neighbours: compaction.rs
//! ```
//!
//! A segment is a file of tables (`lookalike_table`) that never changes. A snapshot is some segments in order of arrival, each with the set
//! of its removed rows ([`bitmap::Bitmap`]). All disk access goes through `lookalike_table::disk::Disk`. FORMAT.md has every byte.
//!
//! ```
//! use lookalike_index::{Document, Part, Segment, Snapshot, Which};
//! use std::sync::Arc;
//!
//! # fn main() -> lookalike_table::Result<()> {
//! let document = |id: &str, features: &[u64]| Document { id: id.into(), features: features.into(), ..Document::default() };
//! let old = Segment::of_documents(&[document("a", &[7, 9]), document("b", &[9])], b"{}")?;
//! let new = Segment::of_documents(&[document("c", &[9])], b"{}")?;
//! let snapshot = Snapshot::new(vec![Part::of(Arc::new(old)), Part::of(Arc::new(new))])?;
//! assert_eq!(snapshot.find_id(b"c")?, Some(2));
//! let mut holders = Vec::new();
//! snapshot.holders(Which::Features, &[7, 9], |place, number| holders.push((place, number)))?;
//! assert_eq!(holders, [(0, 0), (1, 0), (1, 1), (1, 2)]);
//! # Ok(())
//! # }
//! ```

pub mod again;
pub mod bands;
pub mod bitmap;
pub mod compaction;
pub mod earlier;
pub mod fields;
pub mod idle;
pub mod marks;
pub mod moments;
pub mod questions;
pub mod record;
pub mod segment;
pub mod shadows;
pub mod share;
pub mod sign;
pub mod snapshot;
pub mod texts;

pub use bitmap::Bitmap;
pub use compaction::{merge, merge_unless};
pub use lookalike_table::{Error, Result};
pub use record::{Document, Leader};
pub use segment::records::Records;
pub use segment::salvage::{Salvage, Salvaged};
pub use segment::writer::{SegmentWriter, Settings, Written};
pub use segment::{Segment, StoredRow, Which};
pub use snapshot::{Part, Snapshot};

// Forged segments are read by the fuzz target too, which knows this crate by its name.
#[cfg(test)]
extern crate self as lookalike_index;

#[cfg(test)]
mod tests;
