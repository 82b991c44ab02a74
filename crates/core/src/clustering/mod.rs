//! Clusters documents by shared keys: proposed pairs, verified edges, clusters; in m log m on one sorted table (Broder
//! 2000, §4).
//!
//! ```text
//! Sorted (key, document) ─▶ buckets, components ─┬▶ glance, exact ─▶ star │ components │ all pairs
//!                  candidates.rs, local.rs       │   verify.rs      star.rs, components.rs, pairs.rs
//! fingerprints ─▶ neighbours (prints.rs) ────────┘
//! sketches ──────────────────────────────────────────────────────▶ greedy.rs
//! ```
//!
//! Documents of an earlier clustering may come first, settled as they are (settled.rs).
//!
//! **Rank.** Documents are numbered in order of rank: of two documents, the one with the smaller number is preferred.
//!
//! **Proposed pairs.** Two documents are proposed if they share a key and, in the ascending list of the holders of that
//! key, the earlier one is among the first [`FIRST`] or among the last [`LAST`] before the later one ([`Reach`]). The
//! rule knows no later document and no outcome, so the answer does not depend on threads, memory or the method.
//!
//! **Edges** are the proposed pairs that the sketches do not reject and whose exact score reaches the threshold. A sketch
//! never accepts: its hash is public, so anyone can write two texts with equal sketches and little in common. A score may
//! have a direction (how much of the other document is in the hub), so the hub of a pair is always the earlier document.
//! All methods have the same edges; each skips pairs that cannot change its answer.
//!
//! Documents connected through any chain of keys are a *component* of candidates. Components are independent, so they
//! run on all cores, each in the order of its documents. The caller merges exact duplicates first: one document of each
//! class has keys.
//!
//! Cost: the sort, then nearly O(1) per shared row; per key, at most [`FIRST`] + [`LAST`] glances at a document. Memory
//! beyond the table: 4 bytes per shared row and 12 per bucket of two documents or more, twice while they are ordered; 20
//! per document; and 12 per row of the components being processed.

mod candidates;
mod components;
mod giants;
mod greedy;
mod local;
mod pairs;
mod prints;
mod settled;
mod star;
mod verify;

pub use candidates::Candidates;
pub use greedy::{greedy, Representative, Sketches};
pub use pairs::each_pair;
pub use prints::PrintGroups;
pub use settled::{Earlier, NoEarlier, SeenHolders, Settled};
pub use verify::narrow;

use rayon::prelude::*;
use std::ops::Range;
use verify::Verifier;

/// Holders of a key, from the first on, that are proposed to all later holders.
pub const FIRST: usize = 64;
/// Holders of a key that are proposed to the holder that comes after them. Chosen with [`FIRST`] by recall and
/// cost: see docs/dedup.md, "Crowded keys".
pub const LAST: usize = 64;

/// How far the holders of a key reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// So many first holders reach all later ones.
    pub first: usize,
    /// Every other one reaches so many that come next.
    pub last: usize,
}

impl Reach {
    /// The rule for keys of a filter.
    pub const CROWDED: Self = Self { first: FIRST, last: LAST };
    /// All pairs of every key.
    pub const ALL: Self = Self { first: usize::MAX, last: usize::MAX };

    /// Number of pairs of a list of `holders` that are not proposed.
    pub fn left_out(self, holders: usize) -> u64 {
        let rest = holders.saturating_sub(self.first).saturating_sub(self.last) as u64;
        rest * rest.saturating_sub(1) / 2
    }
}

/// The result of comparing the sketches of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glance {
    /// The estimate of the score.
    pub estimate: f32,
    /// Whether the exact score may reach the threshold; if not, the pair is no edge.
    pub is_possible: bool,
}

impl Glance {
    /// The pair is no edge.
    pub const REJECTED: Self = Self { estimate: 0.0, is_possible: false };
}

/// Compares pairs of documents. Answers depend on their arguments only.
pub trait Judge: Sync {
    /// Compares the sketches of `other` and `hub`.
    fn glance(&self, hub: u32, other: u32) -> Glance;

    /// Appends the exact score of each of `others` against `hub`: `None` where it is undefined, and possibly where it
    /// is below `least`, so that counting can end early. One call scores many, so that the hub is loaded once.
    fn exact(&self, hub: u32, others: &[u32], least: f64, scores: &mut Vec<Option<f64>>);

    /// Whether the work is to end early; the answer is then not used.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// A pair whose score reaches the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The hub: the earlier document.
    pub left: u32,
    /// The other document.
    pub right: u32,
    /// The exact score; never rounded to below the threshold.
    pub score: f32,
}

/// A key so common that not all its pairs are proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capped {
    /// The key.
    pub key: u64,
    /// Number of documents that hold it.
    pub documents: u32,
    /// Number of pairs of its holders that it does not propose. Another key may propose them.
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
    /// All documents connected through any chain of edges (Broder's union-find).
    Components,
}

/// The result of clustering.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clustering {
    /// The leader of each document: itself if it leads or is alone. The leader of a component is its first document.
    pub leader: Vec<u32>,
    /// The exact score against the leader, 1 for leaders; 0 where it is undefined.
    pub score: Vec<f32>,
    /// Keys that do not propose all their pairs, ascending.
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
        Self { leader: (0..documents as u32).collect(), score: vec![1.0; documents], ..Self::default() }
    }
}

/// Proposed pairs, in components that do not depend on each other.
pub trait Proposals: Sync {
    /// One component with local numbers.
    type Local<'a>: Proposer
    where
        Self: 'a;

    /// Number of documents.
    fn documents(&self) -> usize;

    /// Number of components.
    fn components(&self) -> usize;

    /// The documents of a component, ascending.
    fn members(&self, component: usize) -> &[u32];

    /// Makes an empty local component, to be loaded.
    fn local(&self) -> Self::Local<'_>;

    /// Keys that do not propose all their pairs.
    fn capped(&self) -> Vec<Capped>;
}

/// One component with local numbers: *places* of documents in order of rank.
pub trait Proposer: Sync {
    /// Loads a component; the memory is reused.
    fn load(&mut self, component: usize);

    /// Number of documents.
    fn places(&self) -> usize;

    /// The document at a place.
    fn document(&self, place: u32) -> u32;

    /// Whether the document at a place may lead: all but the shadows of an earlier clustering.
    fn may_lead(&self, place: u32) -> bool;

    /// Fills `proposed` with the later places of new documents that are proposed with `place`, each once.
    fn propose(&mut self, place: u32, proposed: &mut Vec<u32>);

    /// Visits each key and the places that hold it.
    fn each_key(&self, visit: impl FnMut(u64, &[u32]));
}

/// Least number of documents per task: enough that the overhead is small, few enough that all cores have work.
const TASK: usize = 4096;

/// Groups components into tasks of at least [`TASK`] documents; the last may have fewer.
fn tasks(proposals: &impl Proposals) -> Vec<Range<usize>> {
    let (mut tasks, mut start, mut size) = (Vec::new(), 0, 0);
    for component in 0..proposals.components() {
        size += proposals.members(component).len();
        if size >= TASK || component + 1 == proposals.components() {
            tasks.push(start..component + 1);
            (start, size) = (component + 1, 0);
        }
    }
    tasks
}

/// Clusters documents along the edges.
pub fn cluster(proposals: &impl Proposals, threshold: f64, method: Method, judge: &impl Judge) -> Clustering {
    let work = |components: Range<usize>| {
        let (mut local, mut verifier) = (proposals.local(), Verifier::new(judge, threshold));
        let mut joins = Vec::new();
        for component in components.take_while(|_| !judge.is_stopped()) {
            local.load(component);
            match method {
                Method::Star => star::star(&mut local, &mut verifier, &mut joins),
                Method::Components => components::components(&mut local, &mut verifier, &mut joins),
            }
        }
        (joins, verifier.glances, verifier.exacts)
    };
    let found: Vec<_> = tasks(proposals).into_par_iter().map(work).collect();
    let mut clustering = Clustering::alone(proposals.documents());
    for (joins, glances, exacts) in found {
        for join in joins {
            clustering.leader[join.document as usize] = join.leader;
            clustering.score[join.document as usize] = join.score;
        }
        clustering.glances += glances;
        clustering.exacts += exacts;
    }
    clustering.capped = proposals.capped();
    clustering.giants = giants::by_keys(proposals, &clustering.leader);
    clustering
}

#[cfg(test)]
mod tests;
