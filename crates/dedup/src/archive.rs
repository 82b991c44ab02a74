//! What a deduplication needs of an archive of earlier rows.
//!
//! An archive has one document for each distinct text that was kept, and a *shadow* for each distinct text that was
//! removed as a near-duplicate: its content hash, its keys and what it was removed for. Numbers of documents ascend in
//! order of arrival, which is their rank.

use crate::job::Link;
use lookalike_core::clustering::Earlier;
use lookalike_table::Result;

/// What the archive decided about a text that it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The document kept for it.
    pub leader: u64,
    /// The exact score against that one; 1 if the text is its own.
    pub score: f32,
    /// What was measured; [`Link::Identical`] if the text is its own.
    pub link: Link,
}

/// An archive of earlier rows; its [`Earlier`] half has the holders of the filter's keys.
pub trait Archive: Earlier + Sync {
    /// What is known of the text with this content hash: of documents with it the first that is kept, otherwise the
    /// first shadow whose leader is there. Errors: it cannot be read.
    fn find(&self, content: u128) -> Result<Option<Found>>;

    /// The elements of a document's sketch. Errors: it cannot be read.
    fn sketch(&self, number: u64) -> Result<Vec<u32>>;

    /// The text of a document that leads. Errors: it cannot be read, or it was not kept.
    fn text(&self, number: u64) -> Result<Vec<u8>>;

    /// Visits documents, shadows included, with their fingerprints, ascending. Errors: they cannot be read.
    fn each_print(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<()>;

    /// Whether the text of a document has a shingle. Errors: it cannot be read.
    fn has_shingles(&self, number: u64) -> Result<bool>;
}
