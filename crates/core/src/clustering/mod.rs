//! Keys → candidates → verified edges → clusters, in m log m (Broder 2000, §4), on the one sorted table.
//!
//! ```text
//! Sorted (key, document) ─▶ buckets, components ─▶ glance, exact ─▶ star │ components
//!                  candidates.rs           verify.rs       star.rs, components.rs
//! sketches ──────────────────────────────────────────────▶ greedy.rs
//! ```
//!
//! Documents that share a key are candidates of each other; what holds them together through any chain of keys is a *component*
//! of candidates. Components have nothing to do with each other, so they run on all cores, each in the order of its documents' ranks: the
//! answer does not depend on the number of threads.
//!
//! A pair is decided by its sketches where they may decide, by the exact score otherwise (`Judge`); the caller says what a score is. It may have
//! a direction (how much of the other lies in the hub), so the hub of a pair is always the one that comes first in rank.
//!
//! Keys that very many documents share stay linear: see [`CROWD`]. What that leaves out is counted in [`Clustering::capped`].
//! Exact duplicates are the caller's: one document of each class has keys.
//!
//! Cost: the sort; then O(1) for every shared row, nearly. Memory, beyond the table: 4 bytes a shared row and 12 a bucket of two documents
//! or more, twice while they are put in order; 24 a document; 16 to 40 an edge; and 8 a row of the components at work.

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

/// In a bucket of up to this many documents every pair is proposed. In a larger one half as many hubs, the first ones, are proposed to
/// all that come later, any other hub to half as many that come next; and a document is glanced at through such buckets
/// [`CROWDED_GLANCES`] times at most. So no document is looked at more than this often for each of its keys.
pub const CROWD: usize = 64;
/// Glances at a document through buckets of more than [`CROWD`] documents, at most.
pub const CROWDED_GLANCES: u32 = 256;
/// Glances that a document without a partner gets in the end.
pub const LAST_GLANCES: usize = 64;
/// Exact scores that such a document gets at most.
pub const LAST_EXACTS: usize = 8;

/// What sketches alone say of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glance {
    /// The estimate of the score.
    pub estimate: f32,
    /// Whether the score reaches the threshold, where the interval at 1 − 10⁻⁶ clears it.
    pub verdict: Option<bool>,
}

/// Says what pairs are worth. Answers depend on their arguments only.
pub trait Judge: Sync {
    /// What the sketches say of `other` against `hub`.
    fn glance(&self, hub: u32, other: u32) -> Glance;

    /// Appends the exact score of each of `others` against `hub`, `None` where it is undefined. Many at once, so that the hub is loaded once.
    fn exact(&self, hub: u32, others: &[u32], scores: &mut Vec<Option<f64>>);
}

/// A pair whose score reaches the threshold; `left` comes first in rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The hub.
    pub left: u32,
    /// The other.
    pub right: u32,
    /// The exact score or the estimate; rounded, but never to below the threshold.
    pub score: f32,
    /// Whether the score is exact.
    pub exact: bool,
}

/// A key so common that not all it proposes was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capped {
    /// The key.
    pub key: u64,
    /// Documents that hold it.
    pub documents: u32,
    /// Pairs of a hub and a later document that it proposed and that were not tried for its sake; another key may have had them tried.
    pub untried: u64,
}

/// A cluster so large that someone should look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Giant {
    /// Its leader.
    pub leader: u32,
    /// Its documents, the leader among them.
    pub documents: u32,
    /// The keys that most of its documents hold, with the number of these, most common first.
    pub keys: Vec<(u64, u32)>,
}

/// How candidates become clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Leaders in order of rank; every member reaches the threshold against its leader.
    Star,
    /// All that verified pairs hold together through any chain (Broder's union-find).
    Components,
}

/// Who belongs to whom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clustering {
    /// The leader of each document: itself, if it leads or is alone. The leader of a component is its first document in rank.
    pub leader: Vec<u32>,
    /// Score against the leader, 1 for leaders; of components: the best score among the document's own edges.
    pub score: Vec<f32>,
    /// Whether that score is exact.
    pub exact: Vec<bool>,
    /// Every pair that was found to reach the threshold, ascending by left and right; a document that no cluster took may be in one.
    pub edges: Vec<Edge>,
    /// Keys that were capped, ascending.
    pub capped: Vec<Capped>,
    /// Clusters above 1,000 documents and one in a hundred, largest first.
    pub giants: Vec<Giant>,
    /// Pairs glanced at.
    pub glances: u64,
    /// Pairs scored exactly.
    pub exacts: u64,
}

impl Clustering {
    /// Every document alone.
    fn alone(documents: usize) -> Self {
        let leader = (0..documents as u32).collect();
        Self { leader, score: vec![1.0; documents], exact: vec![true; documents], ..Self::default() }
    }
}

/// Clusters the owners of a table's rows. Documents are numbered from 0 to `rank.len()`; of two documents the one with the smaller
/// rank, or the smaller number if ranks are equal, leads. Errors: the table cannot be read, or an owner has no rank.
pub fn cluster(table: Sorted, rank: &[u32], threshold: f64, method: Method, judge: &impl Judge) -> Result<Clustering> {
    Ok(Candidates::new(table, rank)?.cluster(threshold, method, judge))
}

#[cfg(test)]
mod tests;
