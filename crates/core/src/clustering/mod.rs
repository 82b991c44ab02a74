//! Clusters documents by shared keys: candidates, verified edges, clusters; in m log m on one sorted table (Broder
//! 2000, §4).
//!
//! ```text
//! Sorted (key, document) ─▶ buckets, components ─▶ glance, exact ─▶ star │ components
//!                  candidates.rs           verify.rs       star.rs, components.rs
//! sketches ──────────────────────────────────────────────▶ greedy.rs
//! ```
//!
//! Documents that share a key are candidates of each other. Documents connected through any chain of keys are a
//! *component* of candidates. Components are independent, so they run on all cores, each in the order of its documents'
//! ranks; the answer does not depend on the number of threads.
//!
//! Clustering is generic over a [`Judge`], which compares two documents: by their sketches if those are decisive,
//! otherwise by the exact score. A score may have a direction (how much of the other document is in the hub), so the
//! hub of a pair is always the document that comes first in rank.
//!
//! Keys that very many documents share take linear time: see [`CROWD`]. [`Clustering::capped`] counts the pairs that
//! are skipped. The caller merges exact duplicates first: one document of each class has keys.
//!
//! Cost: the sort, then nearly O(1) per shared row. Memory beyond the table: 4 bytes per shared row and 12 per bucket
//! of two documents or more, twice while they are ordered; 24 per document; 16 to 40 per edge; and 8 per row of the
//! components being processed.

mod candidates;
mod components;
mod giants;
mod greedy;
mod local;
mod star;
mod verify;

pub use candidates::Candidates;
pub use greedy::{greedy, Representative, Sketches};

use crate::table::external::{Result, Sorted};

/// In a bucket of up to this many documents every pair is proposed. In a larger one, the first hubs, half as many, are
/// proposed to all later documents, and every other hub to half as many that come next. A document is glanced at
/// through such buckets at most [`CROWDED_GLANCES`] times. So no document is compared more often than this per key.
pub const CROWD: usize = 64;
/// Most glances at a document through buckets of more than [`CROWD`] documents.
pub const CROWDED_GLANCES: u32 = 256;
/// Most glances that a document without a link gets at the end.
pub const LAST_GLANCES: usize = 64;
/// Most exact scores that such a document gets.
pub const LAST_EXACTS: usize = 8;

/// The result of comparing the sketches of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glance {
    /// The estimate of the score.
    pub estimate: f32,
    /// Whether the score reaches the threshold; `None` unless the interval at 1 − 10⁻⁶ lies on one side of it.
    pub verdict: Option<bool>,
}

/// Compares pairs of documents. Answers depend on their arguments only.
pub trait Judge: Sync {
    /// Compares the sketches of `other` and `hub`.
    fn glance(&self, hub: u32, other: u32) -> Glance;

    /// Appends the exact score of each of `others` against `hub`, `None` where it is undefined. One call scores many,
    /// so that the hub is loaded once.
    fn exact(&self, hub: u32, others: &[u32], scores: &mut Vec<Option<f64>>);
}

/// A pair whose score reaches the threshold; `left` comes first in rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The hub.
    pub left: u32,
    /// The other document.
    pub right: u32,
    /// The exact score or the estimate; never rounded to below the threshold.
    pub score: f32,
    /// Whether the score is exact.
    pub exact: bool,
}

/// A key too common to try all its pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capped {
    /// The key.
    pub key: u64,
    /// Number of documents that hold it.
    pub documents: u32,
    /// Number of pairs of a hub and a later document that this key proposed and that were not tried through it. Another
    /// key may have proposed them too.
    pub untried: u64,
}

/// An unusually large cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Giant {
    /// Its leader.
    pub leader: u32,
    /// Number of its documents, the leader included.
    pub documents: u32,
    /// The keys that most of its documents hold and the number of those documents, most common first.
    pub keys: Vec<(u64, u32)>,
}

/// The clustering method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Leaders in order of rank; every member reaches the threshold against its leader.
    Star,
    /// All documents connected through any chain of verified pairs (Broder's union-find).
    Components,
}

/// The result of clustering.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clustering {
    /// The leader of each document: itself if it leads or is alone. The leader of a component is its first document in
    /// rank.
    pub leader: Vec<u32>,
    /// The score against the leader, 1 for leaders. With [`Method::Components`], the best score among the document's
    /// own edges.
    pub score: Vec<f32>,
    /// Whether that score is exact.
    pub exact: Vec<bool>,
    /// Every pair found to reach the threshold, ascending by left and right. A document in no cluster may be in one.
    pub edges: Vec<Edge>,
    /// Keys that were capped, ascending.
    pub capped: Vec<Capped>,
    /// Clusters above 1,000 documents and one in a hundred, largest first.
    pub giants: Vec<Giant>,
    /// Number of pairs whose sketches were compared.
    pub glances: u64,
    /// Number of pairs scored exactly.
    pub exacts: u64,
}

impl Clustering {
    /// Makes each document its own leader.
    fn alone(documents: usize) -> Self {
        let leader = (0..documents as u32).collect();
        Self { leader, score: vec![1.0; documents], exact: vec![true; documents], ..Self::default() }
    }
}

/// Clusters the owners of a table's rows. Documents are numbered from 0 to `rank.len()` − 1. Of two documents the one
/// with the smaller rank leads; of equal ranks, the one with the smaller number. Errors: the table cannot be read, or
/// an owner has no rank.
pub fn cluster(table: Sorted, rank: &[u32], threshold: f64, method: Method, judge: &impl Judge) -> Result<Clustering> {
    Ok(Candidates::new(table, rank)?.cluster(threshold, method, judge))
}

#[cfg(test)]
mod tests;
